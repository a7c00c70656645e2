//! How forecasts compare with what came: how often the truth lay in the interval, and what that says of the next ones.

use crate::forecast::{Forecast, Prospect, MEANT};
use hiatus_core::units::{AppId, Millis};
use std::collections::{BTreeMap, VecDeque};

/// Forecasts that are kept of one job; then every other one of them is dropped, and of those that follow, too.
const KEPT: usize = 64;

/// Forecasts of ended jobs from which the next ones are corrected, and how many there must be for that.
const LEARNT: usize = 2_000;
const ENOUGH: usize = 30;

/// One forecast of one job, when it was made, as the runs gave it and as it was told.
#[derive(Clone, Copy, Debug)]
struct Given {
    made: Millis,
    raw: Prospect,
    told: Prospect,
}

#[derive(Clone, Debug, Default)]
struct OfJob {
    given: Vec<Given>,
    /// One in so many is kept.
    every: u32,
    passed: u32,
}

/// What became of forecasts. Runs know nothing of jobs to come, of limits that are CapacityScheduler's, and of estimates that are
/// wrong: by what factors the time that was left lay beyond their interval's ends is learnt, and the next intervals are moved by that
/// (Romano, Patterson, Candès, "Conformalized Quantile Regression", 2019, with each end by itself).
#[derive(Clone, Debug, Default)]
pub(crate) struct Score {
    awaited: BTreeMap<AppId, OfJob>,
    /// Logarithms of the time that was left over that to the interval's begin, and to its end.
    beyond: VecDeque<(f64, f64)>,
    jobs: u32,
    forecasts: u32,
    held: u32,
}

impl Score {
    /// Corrects a forecast by what became of earlier ones, and awaits what becomes of it.
    pub fn correct(&mut self, mut forecast: Forecast) -> Forecast {
        let (made, moved) = (forecast.made, self.moved());
        for (app, raw) in forecast.jobs.iter_mut().filter_map(|(app, told)| Some((*app, told.as_mut().ok()?))) {
            let told = raw.moved(made, moved);
            let of_job = self.awaited.entry(app).or_default();
            of_job.passed += 1;
            if of_job.passed >= of_job.every {
                of_job.passed = 0;
                of_job.given.push(Given { made, raw: *raw, told });
            }
            if of_job.given.len() > KEPT {
                let mut number = 0;
                of_job.given.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                of_job.every = 2 * of_job.every.max(1);
            }
            *raw = told;
        }
        forecast
    }

    /// By which factors the time to the interval's begin and to its end is multiplied.
    fn moved(&self) -> (f64, f64) {
        if self.beyond.len() < ENOUGH {
            return (1.0, 1.0);
        }
        let quantile = |mut of: Vec<f64>, part: f64| {
            of.sort_unstable_by(f64::total_cmp);
            of.get(((of.len() - 1) as f64 * part).round() as usize).copied().unwrap_or(0.0).exp()
        };
        let tail = (1.0 - MEANT) / 2.0;
        let (begins, ends) = self.beyond.iter().copied().unzip();
        (quantile(begins, tail), quantile(ends, 1.0 - tail))
    }

    /// The job ended then.
    pub fn ended(&mut self, app: AppId, end: Millis) {
        let Some(of_job) = self.awaited.remove(&app) else { return };
        self.jobs += 1;
        for Given { made, raw, told } in of_job.given {
            self.forecasts += 1;
            self.held += u32::from(told.holds(end));
            let log = |of: Millis| (of.since(made).seconds() + 1.0).ln();
            // An end further ahead than the runs went holds whatever comes.
            let beyond_end = raw.latest.map_or(f64::NEG_INFINITY, |latest| log(end) - log(latest));
            self.beyond.push_back((log(end) - log(raw.earliest), beyond_end));
            if self.beyond.len() > LEARNT {
                self.beyond.pop_front();
            }
        }
    }

    /// Jobs of which a forecast was given, in the order of their handles.
    pub fn awaited(&self) -> impl Iterator<Item = AppId> + '_ {
        self.awaited.keys().copied()
    }

    /// Jobs that have ended, and of which a forecast was given.
    pub fn jobs(&self) -> u32 {
        self.jobs
    }

    /// The part of their forecasts that held the truth, 0…1; `None` before the first has ended.
    pub fn held(&self) -> Option<f64> {
        (self.forecasts > 0).then(|| f64::from(self.held) / f64::from(self.forecasts))
    }
}

impl Prospect {
    /// With the interval's ends moved by those factors.
    fn moved(&self, made: Millis, (begin, end): (f64, f64)) -> Prospect {
        let at = |of: Millis, factor: f64| {
            made + Millis((((of.since(made).seconds() + 1.0) * factor - 1.0).max(0.0) * 1000.0) as u64)
        };
        let earliest = at(self.earliest, begin);
        let latest = self.latest.map(|latest| at(latest, end).max(earliest));
        let middle = self.end.max(earliest);
        Prospect { end: latest.map_or(middle, |latest| middle.min(latest)), earliest, latest, ..*self }
    }
}
