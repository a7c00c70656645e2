//! A thread beside a core: it is given work when it has done the last, and nobody waits for it ([`Worker`]).

use parking_lot::Mutex;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, RecvTimeoutError, SyncSender};
use std::sync::Arc;
use std::thread::Builder;
use std::time::Instant;

/// For so many times as long as it worked the thread rests: it has a tenth of a core at most.
const RESTS: u32 = 9;

#[derive(Debug)]
struct Shared<L> {
    latest: Mutex<L>,
    idle: AtomicBool,
    wanted: AtomicBool,
}

/// A thread that makes of each `W` what is known from then on, an `L`. It ends soon after this is dropped, whatever it does.
#[derive(Debug)]
pub struct Worker<W, L> {
    work: SyncSender<W>,
    shared: Arc<Shared<L>>,
}

/// Whether what is worked on is still wanted.
pub type Wanted<'a> = &'a dyn Fn() -> bool;

impl<W: Send + 'static, L: Clone + Send + 'static> Worker<W, L> {
    /// Begins; `first` is known meanwhile, and `failed` if the work panics, which would be a defect. Who works long has to ask
    /// whether it is still wanted. What it makes is known from then on; `None` leaves what was known.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn begin(
        name: &'static str,
        first: L,
        failed: L,
        work: impl FnMut(W, Wanted<'_>) -> Option<L> + Send + 'static,
    ) -> std::io::Result<Worker<W, L>> {
        let (idle, wanted) = (AtomicBool::new(true), AtomicBool::new(true));
        let shared = Arc::new(Shared { latest: Mutex::new(first), idle, wanted });
        let (given, received) = sync_channel(1);
        let of_thread = shared.clone();
        let run = move || {
            // Whatever is wrong with it is no reason to stop anything else.
            if catch_unwind(AssertUnwindSafe(|| go_on(&received, &of_thread, work))).is_err() {
                *of_thread.latest.lock() = failed;
                log::error!("{name}: it failed, which is a defect. Hiatus goes on without it.");
            }
        };
        Builder::new().name(format!("hiatus-{name}")).spawn(run)?;
        Ok(Worker { work: given, shared })
    }

    /// Whether it has done the last work, and rested.
    pub fn is_idle(&self) -> bool {
        self.shared.idle.load(Ordering::Acquire)
    }

    /// Gives it work. It must be idle.
    pub fn give(&self, work: W) {
        self.shared.idle.store(false, Ordering::Release);
        // A thread that has ended has said why.
        let _ = self.work.try_send(work);
    }

    /// What is known now.
    pub fn latest(&self) -> L {
        self.shared.latest.lock().clone()
    }

    /// From now on that is known, without work.
    pub fn tell(&self, latest: L) {
        *self.shared.latest.lock() = latest;
    }
}

impl<W, L> Drop for Worker<W, L> {
    fn drop(&mut self) {
        self.shared.wanted.store(false, Ordering::Release);
    }
}

fn go_on<W, L>(given: &Receiver<W>, shared: &Shared<L>, mut work: impl FnMut(W, Wanted<'_>) -> Option<L>) {
    while let Ok(next) = given.recv() {
        let began = Instant::now();
        if let Some(made) = work(next, &|| shared.wanted.load(Ordering::Relaxed)) {
            *shared.latest.lock() = made;
        }
        // Nothing is given meanwhile, so that only the end of all interrupts it.
        if !matches!(given.recv_timeout(began.elapsed() * RESTS), Err(RecvTimeoutError::Timeout)) {
            return;
        }
        shared.idle.store(true, Ordering::Release);
    }
}
