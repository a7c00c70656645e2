//! The thread that runs ahead: nobody waits for it. It is given a copy of the core, which is all that its caller's lock pays for.

use crate::{Forecast, Foresight, Rules};
use hiatus_core::settings::ForecastSettings;
use hiatus_core::units::Millis;
use hiatus_core::Scheduler;
use parking_lot::Mutex;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::sync::Arc;
use std::thread::Builder;
use std::time::{Duration, Instant};

/// For so many times as long as a forecast took the thread rests: it has a tenth of a core at most.
const RESTS: u32 = 9;

/// What is known now.
#[derive(Clone, Debug)]
pub enum Latest {
    /// None is wanted.
    Off,
    /// The core only looks on: what it would do tells nothing.
    Observing,
    /// The first is not made yet.
    Awaited,
    /// The cluster is too large.
    TooLarge {
        /// Nodes, jobs and containers.
        size: usize,
    },
    /// It failed, which would be a defect; none is made any more.
    Failed,
    /// The last one.
    Made {
        /// The forecast.
        forecast: Arc<Forecast>,
        /// How long it took.
        took: Duration,
        /// Jobs that have ended of which one had been made.
        jobs: u32,
        /// The part of those forecasts that held the truth, 0…1.
        held: Option<f64>,
    },
}

#[derive(Debug)]
struct Shared {
    latest: Mutex<Latest>,
    idle: AtomicBool,
}

/// Forecasts as a core's caller has them.
#[derive(Debug)]
pub struct Forecaster {
    settings: ForecastSettings,
    copies: Option<SyncSender<Scheduler>>,
    shared: Arc<Shared>,
    due: Millis,
}

impl Forecaster {
    /// Begins; where none is wanted there is no thread.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn begin(settings: ForecastSettings) -> std::io::Result<Forecaster> {
        let first = match settings {
            ForecastSettings { interval: Millis(0), .. } => Latest::Off,
            ForecastSettings { observes: true, .. } => Latest::Observing,
            _ => Latest::Awaited,
        };
        let wanted = matches!(first, Latest::Awaited);
        let latest = Mutex::new(first);
        let shared = Arc::new(Shared { latest, idle: AtomicBool::new(true) });
        let mut forecaster = Forecaster { settings, copies: None, shared, due: Millis(0) };
        if wanted {
            let (copies, received) = sync_channel(1);
            let of_thread = forecaster.shared.clone();
            Builder::new().name("hiatus-forecast".into()).spawn(move || run(&received, &of_thread))?;
            forecaster.copies = Some(copies);
        }
        Ok(forecaster)
    }

    /// By which settings.
    pub fn settings(&self) -> ForecastSettings {
        self.settings
    }

    /// After a step: gives the thread a copy if it is time for a forecast and it has done the last one.
    pub fn look(&mut self, core: &Scheduler) {
        let now = core.cluster().now();
        let Some(copies) = &self.copies else { return };
        if now < self.due || !self.shared.idle.load(Ordering::Acquire) {
            return;
        }
        self.due = now + self.settings.interval;
        let cluster = core.cluster();
        let size = cluster.nodes().len() + cluster.jobs().len() + cluster.containers().len();
        if size > self.settings.max_size {
            *self.shared.latest.lock() = Latest::TooLarge { size };
            return;
        }
        self.shared.idle.store(false, Ordering::Release);
        // A thread that has ended has said why.
        let _ = copies.try_send(core.clone());
    }

    /// What is known now.
    pub fn latest(&self) -> Latest {
        self.shared.latest.lock().clone()
    }
}

fn run(copies: &Receiver<Scheduler>, shared: &Shared) {
    // Whatever is wrong with it is no reason to stop anything else.
    if catch_unwind(AssertUnwindSafe(|| go_on(copies, shared))).is_err() {
        *shared.latest.lock() = Latest::Failed;
        log::error!("forecast: it failed, which is a defect. Hiatus goes on without forecasts.");
    }
}

fn go_on(copies: &Receiver<Scheduler>, shared: &Shared) {
    let (mut foresight, mut before) = (Foresight::default(), Millis(0));
    while let Ok(core) = copies.recv() {
        let began = Instant::now();
        let now = core.cluster().now();
        // It ended between two looks: take the middle.
        let middle = Millis(before.0 + now.since(before).0 / 2);
        let ended = |app| (!core.cluster().jobs().contains_key(&app)).then_some(middle);
        let made = Arc::new(foresight.look(&core, &Rules::default(), ended));
        before = now;
        drop(core);
        let took = began.elapsed();
        let (jobs, held) = (foresight.checked_jobs(), foresight.held());
        *shared.latest.lock() = Latest::Made { forecast: made, took, jobs, held };
        std::thread::sleep(took * RESTS);
        shared.idle.store(true, Ordering::Release);
    }
}
