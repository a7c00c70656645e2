//! The sampling area, in place: nobody can run a part of somebody's job twice, so the first tasks of a job of which too little
//! is known are split between the sides, and what is left of it runs where they took less. Nothing is done twice.

use super::Times;
use crate::fact::{PerSide, PhaseKey, Side};
use crate::units::Millis;

/// What one side has tried.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Trial {
    /// Proposed in this step, not confirmed yet.
    proposed: u32,
    running: u32,
    finished: u32,
    /// Working times of those together.
    time: Millis,
}

/// A job's first tasks, on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The kind of task that is tried.
    pub phase: PhaseKey,
    /// Since when.
    pub since: Millis,
    /// Tasks to try on each side.
    each: u32,
    trials: PerSide<Trial>,
}

impl Sample {
    /// Tries `each` of the phase's tasks on each side; half of them all, if there are fewer.
    pub fn begin(phase: PhaseKey, tasks: u32, each: u32, since: Millis) -> Sample {
        Sample { phase, since, each: each.min(tasks / 2), trials: PerSide::default() }
    }

    /// How many more tasks may start there now.
    pub fn more_on(&self, side: Side) -> u32 {
        let Trial { proposed, running, finished, .. } = self.trials[Some(side)];
        self.each.saturating_sub(proposed + running + finished)
    }

    /// So many are proposed there in this step.
    pub fn proposed(&mut self, side: Side, count: u32) {
        self.trials[Some(side)].proposed += count;
    }

    /// What was proposed was confirmed or refused.
    pub fn step_over(&mut self) {
        Side::BOTH.into_iter().for_each(|side| self.trials[Some(side)].proposed = 0);
    }

    /// A task was given a container there.
    pub fn began(&mut self, side: Side) {
        self.trials[Some(side)].running += 1;
    }

    /// A task ended there, after so much work if it succeeded; one that did not is tried again.
    pub fn ended(&mut self, side: Side, worked: Option<Millis>) {
        let trial = &mut self.trials[Some(side)];
        trial.running = trial.running.saturating_sub(1);
        if let Some(worked) = worked {
            trial.finished += 1;
            trial.time = trial.time + worked;
        }
    }

    /// Whether all that was to be tried is done; at once, if there is nothing to try.
    pub fn is_done(&self) -> bool {
        Side::BOTH.into_iter().all(|side| self.trials[Some(side)].finished >= self.each)
    }

    /// The only side on which anything was finished.
    pub fn only_side(&self) -> Option<Side> {
        let finished = |side: &Side| self.trials[Some(*side)].finished > 0;
        let mut sides = Side::BOTH.into_iter().filter(finished);
        sides.next().filter(|_| sides.next().is_none())
    }

    /// How long `tasks` take on each side, in waves over the places it has for them; `None` if one side finished nothing.
    pub fn times(&self, tasks: u32, places: PerSide<u32>) -> Option<Times> {
        let time = |side: Side| {
            let Trial { finished, time, .. } = self.trials[Some(side)];
            let waves = tasks.max(1).div_ceil(places[Some(side)].max(1));
            (finished > 0).then(|| f64::from(waves) * time.seconds() / f64::from(finished))
        };
        Some(Times { physical_s: time(Side::Physical)?, virtual_s: time(Side::Virtual)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{PartitionId, Resource};

    const MAPS: PhaseKey =
        PhaseKey { priority: 20, partition: PartitionId(0), resource: Resource { memory_mb: 1024, vcores: 1 } };

    fn end(sample: &mut Sample, side: Side, seconds: u64) {
        sample.began(side);
        sample.ended(side, Some(Millis(seconds * 1000)));
    }

    #[test]
    fn so_many_start_on_each_side_and_what_fails_is_tried_again() {
        let mut sample = Sample::begin(MAPS, 100, 2, Millis(0));
        sample.proposed(Side::Physical, 2);
        assert_eq!((sample.more_on(Side::Physical), sample.more_on(Side::Virtual)), (0, 2));
        sample.step_over();
        sample.began(Side::Physical);
        sample.began(Side::Physical);
        assert_eq!(sample.more_on(Side::Physical), 0);
        sample.ended(Side::Physical, None);
        assert_eq!(sample.more_on(Side::Physical), 1);
        sample.ended(Side::Physical, Some(Millis(1)));
        assert_eq!((sample.more_on(Side::Physical), sample.is_done()), (1, false));
    }

    #[test]
    fn a_side_takes_as_many_waves_as_its_places_need() {
        let mut sample = Sample::begin(MAPS, 100, 1, Millis(0));
        end(&mut sample, Side::Physical, 10);
        assert_eq!((sample.times(100, PerSide::both(10)), sample.only_side()), (None, Some(Side::Physical)));
        end(&mut sample, Side::Virtual, 25);
        assert!(sample.is_done() && sample.only_side().is_none());
        let mut places = PerSide::both(10);
        places[Some(Side::Virtual)] = 40;
        // Ten waves of 10 s against three of 25 s.
        assert_eq!(sample.times(100, places), Some(Times { physical_s: 100.0, virtual_s: 75.0 }));
    }

    #[test]
    fn small_jobs_try_half_of_their_tasks_and_a_single_task_nothing() {
        assert_eq!(Sample::begin(MAPS, 5, 4, Millis(0)).more_on(Side::Virtual), 2);
        assert!(Sample::begin(MAPS, 1, 4, Millis(0)).is_done());
    }
}
