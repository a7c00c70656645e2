//! Jobs whose penalties are steps, and which of their deadlines can be kept.

use super::penalty::Step;
use super::problem::Instance;
use super::{Seconds, SlotSeconds};

/// A runnable job as the step families see it; deadlines in seconds after the snapshot.
pub(super) struct Stepped {
    pub work: SlotSeconds,
    pub alone: Seconds,
    pub steps: Vec<Step>,
}

impl Stepped {
    fn penalty_before(&self, step: usize) -> f64 {
        step.checked_sub(1).map_or(0.0, |previous| self.steps[previous].penalty)
    }

    /// What missing the deadline of `step` costs, per work it frees.
    fn price(&self, step: usize) -> f64 {
        (self.steps[step].penalty - self.penalty_before(step)) / self.work
    }
}

/// The runnable jobs with their steps.
pub(super) fn stepped_jobs(instance: &Instance) -> Vec<Stepped> {
    let stepped = |&job: &usize| {
        let mut steps = instance.penalty(job).steps();
        for step in &mut steps {
            step.deadline = instance.until(job, step.deadline);
        }
        let work = instance.work(job);
        Stepped { work, alone: instance.alone(job, work), steps }
    };
    instance.runnable.iter().map(stepped).collect()
}

/// The deadline each job shall keep, none for those given up and those without steps: earliest deadline first on one
/// machine with the speed of all slots; where that misses a deadline, the job among those before it whose concession
/// is cheapest per work concedes its step. With one step each and equal penalties this is Moore and Hodgson's optimum.
pub(super) fn step_targets(jobs: &[Stepped], slots: u32) -> Vec<Option<Seconds>> {
    let speed = f64::from(slots);
    let mut step: Vec<usize> =
        jobs.iter().map(|j| j.steps.iter().position(|s| j.alone <= s.deadline).unwrap_or(j.steps.len())).collect();
    let target = |step: &[usize], job: usize| jobs[job].steps.get(step[job]).map(|s: &Step| s.deadline);
    let mut queue: Vec<(Seconds, usize)> = (0..jobs.len()).filter_map(|job| Some((target(&step, job)?, job))).collect();
    queue.sort_by(|a, b| a.0.total_cmp(&b.0));
    loop {
        let mut work = 0.0;
        let overload = queue.iter().position(|&(deadline, job)| {
            work += jobs[job].work;
            work / speed > deadline
        });
        let Some(overload) = overload else { break };
        let price = |at: usize| jobs[queue[at].1].price(step[queue[at].1]);
        let Some(cheapest) = (0..=overload).min_by(|&a, &b| price(a).total_cmp(&price(b))) else { break };
        let (_, job) = queue.remove(cheapest);
        step[job] += 1;
        if let Some(deadline) = target(&step, job) {
            let at = queue.partition_point(|&(other, _)| other <= deadline);
            queue.insert(at, (deadline, job));
        }
    }
    (0..jobs.len()).map(|job| target(&step, job)).collect()
}
