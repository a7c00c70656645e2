//! What people are told: the core's explanation, and forecast and hindsight beside it.

use hiatus_background::forecast::{Forecast, Latest, Told, MEANT, RUNS};
use hiatus_background::hindsight::{self as hindsight, Compared, Saved};
use hiatus_core::explain::{explain, Explanation};
use hiatus_core::Scheduler;
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
    /// What the settings would have saved.
    hindsight: AboutSaved,
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
    pub fn of(core: &Scheduler, latest: &Latest, hindsight: &hindsight::Latest) -> Explained {
        let forecasts = match latest {
            Latest::Made { forecast, .. } => of_jobs(core, forecast),
            _ => Vec::new(),
        };
        let hindsight = AboutSaved::of(core, hindsight);
        Explained { core: explain(core), forecast: About::of(core, latest), forecasts, hindsight }
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

/// What the settings would have saved, by simulation.
#[derive(Default, Serialize)]
struct AboutSaved {
    /// `off`, `placing`, `awaited`, `no-job`, `impossible`, `failed` or `made`.
    state: &'static str,
    /// Why the last simulation did not come to its end.
    why: Option<String>,
    /// How long ago the jobs and the cluster were those, in seconds.
    age_s: Option<f64>,
    /// How long the simulations took, in ms.
    took_ms: Option<f64>,
    /// How long before that the first of the jobs was submitted, in seconds.
    span_s: Option<f64>,
    /// All jobs.
    all: Option<Means>,
    /// The half of them that had least work.
    small: Option<Means>,
    /// Jobs that ended in that time, or are there, and are not among them.
    left_out: Option<u64>,
    /// Suspensions that it would have taken.
    suspensions: Option<u64>,
    /// Containers that would have been killed.
    kills: Option<u64>,
}

/// Means over some jobs, in seconds from submission to end.
#[derive(Serialize)]
struct Means {
    jobs: usize,
    /// As it was.
    real_s: f64,
    /// Simulated with what decided then.
    simulated_s: f64,
    /// Simulated with the settings.
    configured_s: f64,
}

impl From<Compared> for Means {
    fn from(Compared { jobs, real_s, simulated_s, configured_s }: Compared) -> Means {
        Means { jobs, real_s, simulated_s, configured_s }
    }
}

impl AboutSaved {
    fn of(core: &Scheduler, latest: &hindsight::Latest) -> AboutSaved {
        let about = |state| AboutSaved { state, ..AboutSaved::default() };
        match latest {
            hindsight::Latest::Off => about("off"),
            hindsight::Latest::Placing => about("placing"),
            hindsight::Latest::Awaited => about("awaited"),
            hindsight::Latest::Failed => about("failed"),
            hindsight::Latest::NoJob { left_out } => AboutSaved { left_out: Some(left_out.all()), ..about("no-job") },
            hindsight::Latest::Impossible { why } => AboutSaved { why: Some(why.clone()), ..about("impossible") },
            hindsight::Latest::Made { at, saved, took } => {
                let Saved { since, all, small, left_out, suspensions, kills } = **saved;
                AboutSaved {
                    age_s: Some(core.cluster().now().since(*at).seconds()),
                    took_ms: Some(took.as_secs_f64() * 1000.0),
                    span_s: Some(at.since(since).seconds()),
                    all: Some(all.into()),
                    small: Some(small.into()),
                    left_out: Some(left_out.all()),
                    suspensions: Some(suspensions),
                    kills: Some(kills),
                    ..about("made")
                }
            }
        }
    }
}
