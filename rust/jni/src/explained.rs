//! What people are told: the core's explanation, and the forecast beside it.

use hiatus_core::explain::{explain, Explanation};
use hiatus_core::Scheduler;
use hiatus_forecast::{Forecast, Latest, Told, MEANT, RUNS};
use serde::Serialize;

/// Everything.
#[derive(Serialize)]
pub struct Explained {
    #[serde(flatten)]
    core: Explanation,
    /// How it stands with forecasts.
    forecast: About,
    /// Of each job that was there when the last one was made.
    forecasts: Vec<OfJob>,
}

/// About the last forecast.
#[derive(Default, Serialize)]
struct About {
    /// `off`, `observing`, `awaited`, `too-large`, `failed` or `made`.
    state: &'static str,
    /// Nodes, jobs and containers, if those are too many.
    size: Option<usize>,
    /// How long ago it was made, in seconds.
    age_s: Option<f64>,
    /// How long it took, in ms.
    took_ms: Option<f64>,
    /// Runs behind each interval.
    runs: usize,
    /// Part of the truths that intervals are meant to hold, 0…1.
    meant: f64,
    /// Part of the truths that they held, 0…1, of jobs that have ended.
    held: Option<f64>,
    /// So many jobs.
    checked_jobs: u32,
}

/// What is forecast of one job.
#[derive(Serialize)]
struct OfJob {
    application: String,
    #[serde(flatten)]
    told: Told,
}

impl Explained {
    /// At this moment.
    pub fn of(core: &Scheduler, latest: &Latest) -> Explained {
        let forecasts = match latest {
            Latest::Made { forecast, .. } => of_jobs(core, forecast),
            _ => Vec::new(),
        };
        Explained { core: explain(core), forecast: About::of(core, latest), forecasts }
    }
}

fn of_jobs(core: &Scheduler, forecast: &Forecast) -> Vec<OfJob> {
    let cluster = core.cluster();
    let of_job = |app| {
        let (job, told) = (cluster.jobs().get(app)?, forecast.told(*app, cluster.now())?);
        Some(OfJob { application: job.name.clone(), told })
    };
    forecast.jobs.keys().filter_map(of_job).collect()
}

impl About {
    fn of(core: &Scheduler, latest: &Latest) -> About {
        let about = |state| About { state, runs: RUNS, meant: MEANT, ..About::default() };
        match latest {
            Latest::Off => about("off"),
            Latest::Observing => about("observing"),
            Latest::Awaited => about("awaited"),
            Latest::Failed => about("failed"),
            Latest::TooLarge { size } => About { size: Some(*size), ..about("too-large") },
            Latest::Made { forecast, took, jobs, held } => About {
                age_s: Some(core.cluster().now().since(forecast.made).seconds()),
                took_ms: Some(took.as_secs_f64() * 1000.0),
                held: *held,
                checked_jobs: *jobs,
                ..about("made")
            },
        }
    }
}
