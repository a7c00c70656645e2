//! Which of a few settings would have been best for the jobs of a record, and whether that is more than the model can tell.
//!
//! The jobs are simulated with what decided then, which tells the model's error, and with each [`Candidate`]. The best is advised only
//! if the low end of its gain's interval is above that error; one more knob only if that is so of what it adds.

mod candidates;
mod gain;
mod patch;
mod tables;

pub use candidates::Candidate;
pub use gain::Gain;
pub use patch::Patch;

use std::time::{Duration, Instant};

use hiatus_background::hindsight::Past;
use rayon::prelude::*;

use super::model::Model;
use super::size_class;
use crate::cluster::{Outcome, SimulationError};
use crate::workload::cluster::Job;

/// An interval of fewer jobs means little.
const FEWEST_JOBS: usize = 30;

/// A setting, and how the jobs would have fared.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The setting.
    pub candidate: Candidate,
    /// What came of it.
    pub result: Result<Simulated, String>,
}

/// How the jobs would have fared with a setting.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// Sojourns in seconds, in the order of the jobs.
    pub sojourns_s: Vec<f64>,
    /// Over all jobs, compared with the recorded setting simulated.
    pub gain: Gain,
    /// Containers suspended.
    pub suspensions: u64,
    /// Containers killed, suspended ones included.
    pub kills: u64,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Set that candidate, by its place in [`Advice::tried`].
    Change(usize),
    /// Change nothing: there are only so many jobs.
    TooFew(usize),
    /// Change nothing: none of the candidates is better.
    NothingBetter,
    /// Change nothing: the best, by its place, may be no better than the model is wrong.
    WithinError(usize),
    /// Change nothing: time was up before any candidate was simulated.
    NoTime,
}

/// All that was tried, and what to do.
#[derive(Clone, Debug)]
pub struct Advice {
    /// How much work each job has, in seconds of tasks.
    pub work_s: Vec<f64>,
    /// Its sojourn as it was.
    pub recorded_s: Vec<f64>,
    /// The same simulated with what decided then.
    pub simulated_s: Vec<f64>,
    /// The model's error: what sums of sojourns by size class are off, as a part of all. Errors of classes do not cancel out.
    pub model_error: f64,
    /// The candidates, in the order in which they were tried.
    pub tried: Vec<Tried>,
    /// What to do.
    pub verdict: Verdict,
    seed: u64,
}

/// Tries the candidates on the jobs of `past`. After `limit` no more of them is tried; what could not be is said. ApplicationMasters may
/// hold `master_share` of each queue, one at least.
///
/// # Errors
/// A property is wrong, a job cannot run, or the recorded setting takes longer than `limit`: [`SimulationError::Unwanted`].
pub fn advise(past: &Past, master_share: f64, limit: Duration, seed: u64) -> Result<Advice, SimulationError> {
    let began = Instant::now();
    let wanted = || began.elapsed() < limit;
    let model = Model::new(past, master_share, seed);
    let simulated_s = sojourns(&model.as_recorded(&wanted)?);
    let try_all = |candidates: Vec<Candidate>| -> Vec<Tried> {
        let tried = candidates.into_par_iter().map(|candidate| {
            let result =
                model.with(&candidate.change(), &wanted).map(|outcome| Simulated::of(&outcome, &simulated_s, seed));
            let why = |error| match error {
                SimulationError::Unwanted => "not tried: time was up".to_owned(),
                error => format!("not simulated: {error}"),
            };
            Tried { candidate, result: result.map_err(why) }
        });
        tried.collect()
    };
    let mut tried = try_all(Candidate::all());
    if let Some(best) = best(&tried) {
        tried.extend(try_all(tried[best].candidate.refined()));
    }
    let work_s: Vec<f64> = model.jobs().iter().map(Job::work_s).collect();
    let recorded_s = model.recorded_s();
    let model_error = error(&work_s, &recorded_s, &simulated_s);
    let verdict = judge(&tried, recorded_s.len(), model_error, seed);
    Ok(Advice { work_s, recorded_s, simulated_s, model_error, tried, verdict, seed })
}

impl Simulated {
    fn of(outcome: &Outcome, before_s: &[f64], seed: u64) -> Simulated {
        let sojourns_s = sojourns(outcome);
        Simulated {
            gain: Gain::of(before_s, &sojourns_s, seed),
            sojourns_s,
            suspensions: outcome.count.suspended,
            kills: outcome.count.preempted + outcome.count.expired,
        }
    }
}

impl Advice {
    /// The best of what was tried, whether it is advised or not.
    pub fn best(&self) -> Option<(&Candidate, &Simulated)> {
        let which = match self.verdict {
            Verdict::Change(which) | Verdict::WithinError(which) => Some(which),
            _ => best(&self.tried),
        };
        let tried = &self.tried[which?];
        tried.result.as_ref().ok().map(|simulated| (&tried.candidate, simulated))
    }

    /// What is advised, if it is to change anything.
    pub fn advised(&self) -> Option<&Candidate> {
        match self.verdict {
            Verdict::Change(which) => Some(&self.tried[which].candidate),
            _ => None,
        }
    }
}

fn sojourns(outcome: &Outcome) -> Vec<f64> {
    outcome.jobs.iter().map(|job| job.sojourn_s()).collect()
}

/// What the model is off in each size class, added up, as a part of all sojourns.
fn error(work_s: &[f64], recorded_s: &[f64], simulated_s: &[f64]) -> f64 {
    let classes = size_class::members(work_s).into_iter().filter(|(name, _)| *name != size_class::ALL);
    let off = |jobs: Vec<usize>| jobs.iter().map(|job| simulated_s[*job] - recorded_s[*job]).sum::<f64>().abs();
    classes.map(|(_, jobs)| off(jobs)).sum::<f64>() / recorded_s.iter().sum::<f64>()
}

/// The one with the largest gain; of equals the first.
fn best(tried: &[Tried]) -> Option<usize> {
    let gain = |which: &usize| tried[*which].result.as_ref().map_or(f64::NEG_INFINITY, |simulated| simulated.gain.mean);
    let done = (0..tried.len()).filter(|which| tried[*which].result.is_ok());
    done.rev().max_by(|one, other| gain(one).total_cmp(&gain(other)))
}

/// Settings without knobs are judged by what they save, one with a knob by what it saves more than the best without.
fn judge(tried: &[Tried], jobs: usize, error: f64, seed: u64) -> Verdict {
    if jobs < FEWEST_JOBS {
        return Verdict::TooFew(jobs);
    }
    let bare = tried.iter().take_while(|tried| tried.candidate.knobs.is_empty()).count();
    let (Some(pair), Some(all)) = (best(&tried[..bare]), best(tried)) else { return Verdict::NoTime };
    let (Ok(of_pair), Ok(of_all)) = (&tried[pair].result, &tried[all].result) else { return Verdict::NoTime };
    let further = Gain::of(&of_pair.sojourns_s, &of_all.sojourns_s, seed);
    match of_pair.gain {
        _ if further.low > error && of_all.gain.low > error => Verdict::Change(all),
        gain if gain.low > error => Verdict::Change(pair),
        gain if gain.mean > 0.0 => Verdict::WithinError(pair),
        _ => Verdict::NothingBetter,
    }
}

#[cfg(test)]
mod tests;
