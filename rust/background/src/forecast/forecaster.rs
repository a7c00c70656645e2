//! The thread that runs ahead: nobody waits for it. It is given a copy of the core, which is all that its caller's lock pays for.

use crate::forecast::{Forecast, Foresight, Rules};
use crate::worker::{Wanted, Worker};
use hiatus_core::settings::ForecastSettings;
use hiatus_core::units::Millis;
use hiatus_core::Scheduler;
use std::sync::Arc;
use std::time::{Duration, Instant};

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

/// Forecasts as a core's caller has them.
#[derive(Debug)]
pub struct Forecaster {
    settings: ForecastSettings,
    /// Who makes them, or why nobody does.
    maker: Result<Worker<Scheduler, Latest>, Latest>,
    due: Millis,
}

impl Forecaster {
    /// Begins; where none is wanted there is no thread.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn begin(settings: ForecastSettings) -> std::io::Result<Forecaster> {
        let maker = match settings {
            ForecastSettings { interval: Millis(0), .. } => Err(Latest::Off),
            ForecastSettings { observes: true, .. } => Err(Latest::Observing),
            _ => Ok(Worker::begin("forecast", Latest::Awaited, Latest::Failed, making())?),
        };
        Ok(Forecaster { settings, maker, due: Millis(0) })
    }

    /// By which settings.
    pub fn settings(&self) -> ForecastSettings {
        self.settings
    }

    /// After a step: gives the thread a copy if it is time for a forecast and it has done the last one.
    pub fn look(&mut self, core: &Scheduler) {
        let now = core.cluster().now();
        let Ok(maker) = &self.maker else { return };
        if now < self.due || !maker.is_idle() {
            return;
        }
        self.due = now + self.settings.interval;
        let cluster = core.cluster();
        let size = cluster.nodes().len() + cluster.jobs().len() + cluster.containers().len();
        if size > self.settings.max_size {
            maker.tell(Latest::TooLarge { size });
        } else {
            maker.give(core.clone());
        }
    }

    /// What is known now.
    pub fn latest(&self) -> Latest {
        self.maker.as_ref().map_or_else(Latest::clone, Worker::latest)
    }
}

fn making() -> impl FnMut(Scheduler, Wanted<'_>) -> Option<Latest> {
    let (mut foresight, mut before) = (Foresight::default(), Millis(0));
    move |core, _| {
        let began = Instant::now();
        let now = core.cluster().now();
        // It ended between two looks: take the middle.
        let middle = Millis(before.0 + now.since(before).0 / 2);
        let ended = |app| (!core.cluster().jobs().contains_key(&app)).then_some(middle);
        let forecast = Arc::new(foresight.look(&core, &Rules::default(), ended));
        before = now;
        drop(core);
        let (jobs, held) = (foresight.checked_jobs(), foresight.held());
        Some(Latest::Made { forecast, took: began.elapsed(), jobs, held })
    }
}
