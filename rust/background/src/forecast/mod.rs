//! A forecast: when each job will probably end, and whether it is likely to be suspended before. A copy of the core runs ahead on a
//! model of the cluster in which containers end when their estimated work is done, those that are suspended do not work, and nobody
//! new arrives ([`run`]); nine times, with task times drawn from what is known of them ([`times`]). The core knows nothing of this.
//!
//! Why nine: if the truth were one more draw like those, it would lie between the first and the last of nine with a chance of eight
//! in ten, whatever the distribution. How often it does is measured ([`Foresight::held`]).

mod forecaster;
mod run;
mod score;
mod times;

pub use forecaster::{Forecaster, Latest};

use hiatus_core::units::{AppId, Millis};
use hiatus_core::Scheduler;
use run::Run;
use score::Score;
use serde::Serialize;
use std::collections::BTreeMap;
use times::{Evidence, Experience};

/// Runs per forecast: their first and last end are the interval.
pub const RUNS: usize = 9;

/// Part of the truths that the interval is meant to hold, 0…1.
pub const MEANT: f64 = (RUNS - 1) as f64 / (RUNS + 1) as f64;

/// What forward runs are told.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// How often nodes report.
    pub heartbeat: Millis,
    /// Most facts that one run tells its core: what it costs.
    pub facts: u64,
    /// Seed of all draws.
    pub seed: u64,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { heartbeat: Millis(1_000), facts: 300_000, seed: 1 }
    }
}

/// Why nothing is said of a job's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// It was put aside by hand.
    Parked,
    /// Its ApplicationMaster does not run.
    NotBegun,
    /// It does not say how many tasks it has in all: a service, Spark, or nobody asks it.
    Totals,
    /// Of the tasks of one kind nothing is known.
    TaskTimes,
    /// It is further ahead than the runs went.
    TooFar,
}

impl Unknown {
    /// For people.
    pub fn text(self) -> &'static str {
        match self {
            Unknown::Parked => "it is parked",
            Unknown::NotBegun => "it has not begun",
            Unknown::Totals => "it does not say how many tasks it has",
            Unknown::TaskTimes => "how long its tasks take is not known yet",
            Unknown::TooFar => "it is further ahead than the forecast looks",
        }
    }
}

/// What is forecast of one job. Times are the core's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prospect {
    /// When it ends: the middle one of the runs.
    pub end: Millis,
    /// The first of them.
    pub earliest: Millis,
    /// The last of them; `None` if that is further ahead than the runs went.
    pub latest: Option<Millis>,
    /// Part of the runs in which a container of it was suspended for another job before its end, 0…1; all of them if one is so now.
    pub suspended: f64,
}

impl Prospect {
    /// Whether its interval holds that time.
    pub fn holds(&self, end: Millis) -> bool {
        self.earliest <= end && self.latest.is_none_or(|latest| end <= latest)
    }
}

/// A forecast for all jobs.
#[derive(Clone, Debug, Default)]
pub struct Forecast {
    /// The core's time for which it was made.
    pub made: Millis,
    /// Of each job what is forecast, or why nothing is.
    pub jobs: BTreeMap<AppId, Result<Prospect, Unknown>>,
}

/// What is told of a job, for people. Spans from now on, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Told {
    /// Until its end; nothing if that is not known.
    pub ends_in_s: Option<f64>,
    /// The interval's begin.
    pub earliest_s: Option<f64>,
    /// The interval's end; nothing if that is further ahead than the forecast looks.
    pub latest_s: Option<f64>,
    /// Part of the runs in which it was suspended before, 0…1; 1 if part of it is so now.
    pub suspended_before: Option<f64>,
    /// Why its end is not known.
    pub unknown: Option<&'static str>,
}

impl Forecast {
    /// What is told of a job at `now`; nothing of one that was not there yet.
    pub fn told(&self, app: AppId, now: Millis) -> Option<Told> {
        let in_s = |at: Millis| at.since(now).seconds();
        Some(match self.jobs.get(&app)? {
            Ok(prospect) => Told {
                ends_in_s: Some(in_s(prospect.end)),
                earliest_s: Some(in_s(prospect.earliest)),
                latest_s: prospect.latest.map(in_s),
                suspended_before: Some(prospect.suspended),
                unknown: None,
            },
            Err(unknown) => Told {
                ends_in_s: None,
                earliest_s: None,
                latest_s: None,
                suspended_before: None,
                unknown: Some(unknown.text()),
            },
        })
    }
}

/// Makes one forecast after the other, and learns from jobs what to expect of others and what such forecasts are worth.
#[derive(Debug, Default)]
pub struct Foresight {
    experience: Experience,
    score: Score,
}

impl Foresight {
    /// Runs copies of `core` ahead. The same cores and rules give the same forecasts. When a job ended of which one was made `ended`
    /// says; nothing of those that are still there.
    pub fn look(&mut self, core: &Scheduler, rules: &Rules, ended: impl Fn(AppId) -> Option<Millis>) -> Forecast {
        self.experience.see(core);
        let over: Vec<_> = self.score.awaited().filter_map(|app| Some((app, ended(app)?))).collect();
        over.into_iter().for_each(|(app, end)| self.score.ended(app, end));
        self.score.correct(forecast(core, &self.experience, rules))
    }

    /// Jobs that have ended of which a forecast had been made.
    pub fn checked_jobs(&self) -> u32 {
        self.score.jobs()
    }

    /// The part of their forecasts that held the truth, 0…1; `None` before the first has ended.
    pub fn held(&self) -> Option<f64> {
        self.score.held()
    }
}

fn forecast(core: &Scheduler, experience: &Experience, rules: &Rules) -> Forecast {
    let evidence = Evidence::of(core, experience);
    let runs: Vec<_> = (0..RUNS as u64).map(|n| Run::new(core.clone(), &evidence, rules, n).ahead()).collect();
    let job = |app: AppId| {
        if let Some(unknown) = evidence.unknown(app) {
            return Err(unknown);
        }
        let fates = || runs.iter().filter_map(|run| run.get(&app));
        let mut ends: Vec<Option<Millis>> = fates().map(|fate| fate.end).collect();
        ends.sort_unstable_by_key(|end| end.unwrap_or(Millis(u64::MAX)));
        let at = |n: usize| ends.get(n).copied().flatten();
        let (Some(earliest), Some(end)) = (at(0), at(RUNS / 2)) else { return Err(Unknown::TooFar) };
        let suspended = fates().filter(|fate| fate.suspended).count() as f64 / RUNS as f64;
        Ok(Prospect { end, earliest, latest: at(RUNS - 1), suspended })
    };
    let apps = core.cluster().jobs().keys();
    Forecast { made: core.cluster().now(), jobs: apps.map(|app| (*app, job(*app))).collect() }
}
