//! The thread that simulates: nobody waits for it. It is given what an onlooker knows, which is all that its caller's lock pays for
//! beside the onlooker.

use crate::setting::Properties;
use crate::{saved, Bounds, Onlooker, Past, Saved};
use hiatus_core::fact::Fact;
use hiatus_core::settings::HindsightSettings;
use hiatus_core::units::Millis;
use hiatus_core::Scheduler;
use parking_lot::Mutex;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::sync::Arc;
use std::thread::Builder;
use std::time::{Duration, Instant};

/// For so many times as long as it simulated the thread rests: it has a tenth of a core at most.
const RESTS: u32 = 9;

/// What is known now.
#[derive(Clone, Debug)]
pub enum Latest {
    /// None is wanted.
    Off,
    /// The core decides: what its settings do is seen on the cluster.
    Placing,
    /// No job has come and ended yet, or the first simulation is not done.
    Awaited,
    /// The last simulation did not come to its end.
    Impossible {
        /// Why.
        why: String,
    },
    /// It failed, which would be a defect; nothing is simulated any more.
    Failed,
    /// The last answer.
    Made {
        /// When the facts were those, by the core's time.
        at: Millis,
        /// The answer.
        saved: Arc<Saved>,
        /// How long the simulations took.
        took: Duration,
    },
}

#[derive(Debug)]
struct Shared {
    latest: Mutex<Latest>,
    idle: AtomicBool,
}

#[derive(Debug)]
struct Working {
    onlooker: Onlooker,
    pasts: SyncSender<(Millis, Past)>,
    /// Nothing before the first step.
    due: Option<Millis>,
}

/// What settings would have saved, as a core's caller has it.
#[derive(Debug)]
pub struct Hindsight {
    settings: HindsightSettings,
    properties: Properties,
    shared: Arc<Shared>,
    working: Option<Working>,
}

impl Hindsight {
    /// Begins to look on, from the core's state now; where that is not wanted there is no thread, and nothing is remembered.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn begin(core: &Scheduler, properties: Properties) -> std::io::Result<Hindsight> {
        let settings = core.settings().cluster.hindsight;
        let first = match settings {
            HindsightSettings { interval: Millis(0), .. } => Latest::Off,
            HindsightSettings { observes: false, .. } => Latest::Placing,
            _ => Latest::Awaited,
        };
        let wanted = matches!(first, Latest::Awaited);
        let shared = Arc::new(Shared { latest: Mutex::new(first), idle: AtomicBool::new(true) });
        let mut hindsight = Hindsight { settings, properties, shared, working: None };
        if wanted {
            let (pasts, received) = sync_channel(1);
            let of_thread = hindsight.shared.clone();
            Builder::new().name("hiatus-hindsight".into()).spawn(move || run(&received, &of_thread))?;
            let bounds = Bounds { window: settings.window, size: settings.max_size };
            let onlooker = Onlooker::of(core.cluster(), bounds);
            hindsight.working = Some(Working { onlooker, pasts, due: None });
        }
        Ok(hindsight)
    }

    /// The core has other properties now. What happened stays known, unless it is to be looked at otherwise.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn configure(&mut self, core: &Scheduler, properties: Properties) -> std::io::Result<()> {
        if core.settings().cluster.hindsight == self.settings {
            self.properties = properties;
        } else {
            *self = Hindsight::begin(core, properties)?;
        }
        Ok(())
    }

    /// After a step: hears its facts, and gives the thread what is known if it is time for that and it has done the last.
    pub fn look(&mut self, core: &Scheduler, facts: &[Fact]) {
        let Some(working) = &mut self.working else { return };
        let now = core.cluster().now();
        working.onlooker.step(now);
        facts.iter().for_each(|fact| working.onlooker.hear(fact));
        if now < *working.due.get_or_insert(now + self.settings.interval)
            || !working.onlooker.knows_jobs()
            || !self.shared.idle.load(Ordering::Acquire)
        {
            return;
        }
        working.due = Some(now + self.settings.interval);
        self.shared.idle.store(false, Ordering::Release);
        let past = Past { properties: self.properties.clone(), ..working.onlooker.past() };
        // A thread that has ended has said why.
        let _ = working.pasts.try_send((now, past));
    }

    /// What is known now.
    pub fn latest(&self) -> Latest {
        self.shared.latest.lock().clone()
    }
}

fn run(pasts: &Receiver<(Millis, Past)>, shared: &Shared) {
    // Whatever is wrong with it is no reason to stop anything else.
    if catch_unwind(AssertUnwindSafe(|| go_on(pasts, shared))).is_err() {
        *shared.latest.lock() = Latest::Failed;
        log::error!("hindsight: it failed, which is a defect. Hiatus goes on without it.");
    }
}

fn go_on(pasts: &Receiver<(Millis, Past)>, shared: &Shared) {
    while let Ok((at, past)) = pasts.recv() {
        let began = Instant::now();
        let answer = saved(&past);
        drop(past);
        let took = began.elapsed();
        match answer {
            Ok(Some(saved)) => *shared.latest.lock() = Latest::Made { at, saved: Arc::new(saved), took },
            Ok(None) => {}
            Err(error) => *shared.latest.lock() = Latest::Impossible { why: error.to_string() },
        }
        std::thread::sleep(took * RESTS);
        shared.idle.store(true, Ordering::Release);
    }
}
