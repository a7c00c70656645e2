//! The thread that has the database: nobody else waits for a disk. It is asked and told over a channel, and what it knows is
//! fetched when it is there.

use crate::store::{Bounds, HistoryError, Store};
use hiatus_core::recurring::{Note, Record};
use hiatus_core::units::{AppId, JobClass};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender, TrySendError};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Notes that wait for the disk; who comes later is not remembered.
const MOST_WAITING: usize = 10_000;
/// So many notes are dealt with at once.
const BATCH: usize = 1_000;
/// Who has the database open may be a ResourceManager that stops.
const RETRY: Duration = Duration::from_secs(1);

/// History as a core's caller has it: notes go in, what is known of applications comes out, and no call waits for a disk.
/// Whatever is wrong with the database is said in the log, once, and ends history, and nothing else.
#[derive(Debug)]
pub struct Keeper {
    notes: Option<SyncSender<Note>>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    lost: bool,
}

#[derive(Debug, Default)]
struct Shared {
    known: Mutex<VecDeque<(AppId, Vec<Record>)>>,
    /// Something is in `known`.
    news: AtomicBool,
    closing: AtomicBool,
}

impl Keeper {
    /// Begins to keep history in that directory. The database is opened behind this call.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn begin(dir: &Path, bounds: Bounds) -> std::io::Result<Keeper> {
        let (notes, received) = sync_channel(MOST_WAITING);
        let shared = Arc::new(Shared::default());
        let (of_thread, dir) = (shared.clone(), dir.to_owned());
        let thread =
            Builder::new().name("hiatus-history".into()).spawn(move || run(&dir, bounds, &received, &of_thread))?;
        Ok(Keeper { notes: Some(notes), shared, thread: Some(thread), lost: false })
    }

    /// Takes up what a step noted.
    pub fn note(&mut self, notes: &[Note]) {
        let Some(sender) = &self.notes else { return };
        for note in notes {
            // Where it was disconnected history has ended, and has said so.
            let full = matches!(sender.try_send(note.clone()), Err(TrySendError::Full(_)));
            if full && !std::mem::replace(&mut self.lost, true) {
                log::warn!(
                    "history: the disk does not keep up with {MOST_WAITING} notes; some jobs are not remembered"
                );
            }
        }
    }

    /// What is known of the next application that was asked about, if that is there.
    pub fn known(&self) -> Option<(AppId, Vec<Record>)> {
        if !self.shared.news.load(Ordering::Acquire) {
            return None;
        }
        let mut known = self.shared.known.lock();
        let next = known.pop_front();
        self.shared.news.store(!known.is_empty(), Ordering::Release);
        next
    }

    /// Writes down what was noted, and waits for that.
    pub fn finish(mut self) {
        self.shared.closing.store(true, Ordering::Release);
        self.notes = None;
        if let Some(thread) = self.thread.take() {
            // It ends by itself, and has said why if that was too early.
            let _ = thread.join();
        }
    }
}

impl Drop for Keeper {
    /// Does not wait: the thread writes down what it has, and ends.
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::Release);
    }
}

fn run(dir: &Path, bounds: Bounds, notes: &Receiver<Note>, shared: &Shared) {
    // A file that is damaged in a way that the database does not notice may make it panic.
    let kept = catch_unwind(AssertUnwindSafe(|| keep(dir, bounds, notes, shared)));
    match kept {
        Ok(Ok(())) => {}
        Ok(Err(error)) => log::error!("history: {error}. Hiatus goes on without history."),
        Err(_) => log::error!(
            "history: {}: reading it failed: move it away. Hiatus goes on without history.",
            dir.join(crate::FILE).display()
        ),
    }
}

fn keep(dir: &Path, bounds: Bounds, notes: &Receiver<Note>, shared: &Shared) -> Result<(), HistoryError> {
    let Some(mut store) = open(dir, bounds, shared)? else { return Ok(()) };
    log::info!("history: {} runs of earlier jobs are known in {}", store.runs()?, dir.display());
    while let Ok(first) = notes.recv() {
        let (mut ended, mut came): (Vec<Record>, Vec<(AppId, JobClass)>) = Default::default();
        for note in std::iter::once(first).chain(notes.try_iter().take(BATCH - 1)) {
            match note {
                Note::Ended(record) => ended.push(record),
                Note::Came { app, class } => came.push((app, class)),
            }
        }
        if !ended.is_empty() {
            store.remember(&ended)?;
        }
        for (app, class) in came {
            let records = store.recall(class)?;
            if !records.is_empty() {
                shared.known.lock().push_back((app, records));
                shared.news.store(true, Ordering::Release);
            }
        }
    }
    Ok(())
}

/// Waits for whoever has the database open; `None` if nobody wants it any more meanwhile.
fn open(dir: &Path, bounds: Bounds, shared: &Shared) -> Result<Option<Store>, HistoryError> {
    let mut waited = false;
    loop {
        match Store::open(dir, bounds) {
            Err(HistoryError::InUse { path }) => in_use(&path, &mut waited),
            opened => return opened.map(Some),
        }
        if shared.closing.load(Ordering::Acquire) {
            return Ok(None);
        }
        std::thread::sleep(RETRY);
    }
}

fn in_use(path: &Path, waited: &mut bool) {
    if !std::mem::replace(waited, true) {
        log::warn!("history: {}: another process has it open; nothing is known until that lets it go", path.display());
    }
}
