//! Speculative execution: an ApplicationMaster has a slow task done once more beside the first attempt. Who ends first counts, and
//! the other goes. Which tasks are slow is told by one of three rules; all else is the same under each: new tasks come first, no task
//! has more than one backup, and none is judged in its first minute.
//!
//! An attempt here works at one speed from its begin to its end, so that a moving mean of its speed (BatchMR's equation 1) is that speed.

use super::app::TaskId;
use super::world::World;
use hiatus_core::fact::Exit;
use hiatus_core::units::{AppId, ContainerId, Millis};
use std::collections::BTreeMap;

/// Which tasks are slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speculation {
    /// Those that are [`GAP`] behind the mean progress of their stage, however many (Hadoop 0.20, `TaskInProgress.hasSpeculativeTask`).
    Hadoop,
    /// Those among the quarter with the least progress per time, the one first that has longest to go (LATE, Zaharia et al. 2008).
    Late,
    /// Those for which a backup would end sooner, the one first of which most is gained (BatchMR, section 3.2, equations 3 to 5).
    BatchMr,
}

/// An attempt is judged when it has run for so long.
const LAG: Millis = Millis(60_000);
const GAP: f64 = 0.2;
const SLOW_SHARE: f64 = 0.25;
/// Backups at a time of a job's stage, as a part of its attempts, and how many there may be in any case (`DefaultSpeculator`). Hadoop's
/// own rule has no such bound.
const CAP: f64 = 0.1;
pub(super) const LEAST_CAP: usize = 10;

/// A phase of a task.
#[derive(Clone, Copy, Debug)]
struct Phase {
    /// The part of the task's time in which it ends.
    ends: f64,
    /// What MapReduce calls the progress then.
    progress: f64,
}

/// Map and sort.
const MAP: [Phase; 2] = [Phase { ends: 0.9, progress: 2.0 / 3.0 }, Phase { ends: 1.0, progress: 1.0 }];
/// Copy, sort and reduce.
const REDUCE: [Phase; 3] = [
    Phase { ends: 0.5, progress: 1.0 / 3.0 },
    Phase { ends: 0.6, progress: 2.0 / 3.0 },
    Phase { ends: 1.0, progress: 1.0 },
];

fn phases(stage: usize) -> &'static [Phase] {
    if stage == 0 {
        &MAP
    } else {
        &REDUCE
    }
}

/// What an ApplicationMaster knows of an attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Attempt {
    pub task: TaskId,
    /// How long it has run.
    pub ran: Millis,
    /// Part of its work done, more than nothing.
    pub done: f64,
    /// How much it works on, in any unit.
    pub data: f64,
}

impl Attempt {
    /// From its begin to its end, in ms, as it goes now.
    fn whole_ms(&self) -> f64 {
        self.ran.0 as f64 / self.done
    }

    /// What MapReduce tells: phases of a task count alike, however long they take.
    fn progress(&self) -> f64 {
        let mut begin = Phase { ends: 0.0, progress: 0.0 };
        for phase in phases(self.task.stage) {
            if self.done < phase.ends {
                let part = (self.done - begin.ends) / (phase.ends - begin.ends);
                return begin.progress + part * (phase.progress - begin.progress);
            }
            begin = *phase;
        }
        1.0
    }

    fn rate(&self) -> f64 {
        self.progress() / self.ran.0.max(1) as f64
    }
}

/// What attempts of a stage have shown of each of its phases: mean data over mean speed, in ms; nothing of those that nobody has reached.
fn mean_phases_ms(stage: usize, known: &[Attempt]) -> Vec<f64> {
    let mut begin = 0.0;
    let mut means = Vec::new();
    for phase in phases(stage) {
        let reached = || known.iter().filter(|attempt| attempt.done > begin);
        let count = reached().count() as f64;
        let data = reached().map(|attempt| attempt.data).sum::<f64>() / count;
        let span = phase.ends - begin;
        let speed = reached().map(|attempt| attempt.data / (span * attempt.whole_ms())).sum::<f64>() / count;
        means.push(if count > 0.0 && speed > 0.0 { data / speed } else { 0.0 });
        begin = phase.ends;
    }
    means
}

/// What a backup gains, in ms (equations 3 to 5, all places being as near to the data).
fn gain_ms(attempt: &Attempt, mean_data: f64, phases_ms: &[f64]) -> f64 {
    let stage = phases(attempt.task.stage);
    let current = stage.iter().position(|phase| attempt.done < phase.ends).unwrap_or(stage.len() - 1);
    let size = attempt.data / mean_data;
    let left = (stage[current].ends - attempt.done).max(0.0) * attempt.whole_ms();
    let remaining = left + size * phases_ms[current + 1..].iter().sum::<f64>();
    remaining - size * phases_ms.iter().sum::<f64>()
}

impl Speculation {
    /// The tasks of a stage to back up now, the most urgent first.
    ///
    /// * `running`: attempts of tasks that have one only
    /// * `known`: these and all that have ended
    /// * `mean_progress`: over all tasks of the stage, 0…1
    fn slow(self, running: &[Attempt], known: &[Attempt], mean_progress: f64) -> Vec<TaskId> {
        let judged = running.iter().filter(|attempt| attempt.ran >= LAG);
        let mut found: Vec<(f64, TaskId)> = match self {
            Speculation::Hadoop => {
                let behind = judged.filter(|attempt| mean_progress - attempt.progress() >= GAP);
                behind.map(|attempt| (-attempt.progress(), attempt.task)).collect()
            }
            Speculation::Late => {
                let mut rates: Vec<f64> = known.iter().map(Attempt::rate).collect();
                rates.sort_by(f64::total_cmp);
                let Some(bound) = rates.get((SLOW_SHARE * rates.len() as f64) as usize) else { return Vec::new() };
                let slow = judged.filter(|attempt| attempt.rate() < *bound);
                slow.map(|attempt| ((1.0 - attempt.progress()) / attempt.rate(), attempt.task)).collect()
            }
            Speculation::BatchMr => {
                let mean_data = known.iter().map(|attempt| attempt.data).sum::<f64>() / known.len() as f64;
                let gains = judged.map(|attempt| {
                    (gain_ms(attempt, mean_data, &mean_phases_ms(attempt.task.stage, known)), attempt.task)
                });
                gains.filter(|(gain, _)| *gain > 0.0).collect()
            }
        };
        found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        found.into_iter().map(|(_, task)| task).collect()
    }
}

impl World {
    /// ApplicationMasters look for slow tasks.
    pub(super) fn speculate(&mut self) {
        let Some(rule) = self.speculation else { return };
        let registered: Vec<_> = self.registered.iter().copied().collect();
        for id in registered {
            if self.back_up(id, rule) {
                self.progress(id);
            }
        }
    }

    /// Whether the application wants backups that it did not want before.
    fn back_up(&mut self, id: AppId, rule: Speculation) -> bool {
        let app = &self.apps[id.0 as usize];
        let containers = || app.containers.iter().filter_map(|id| Some((*id, self.containers.get(id)?.task?)));
        let mut of_stage: BTreeMap<usize, Vec<Attempt>> = BTreeMap::new();
        let mut count: BTreeMap<TaskId, usize> = BTreeMap::new();
        for (id, task) in containers() {
            *count.entry(task).or_default() += 1;
            of_stage.entry(task.stage).or_default().extend(self.attempt(id));
        }
        let mut wanted = Vec::new();
        for (stage, attempts) in of_stage {
            let state = app.stage(stage);
            if state.waiting() > 0 {
                continue;
            }
            let alone =
                attempts.iter().filter(|attempt| count[&attempt.task] == 1 && !state.is_backed_up(attempt.task));
            let running: Vec<Attempt> = alone.copied().collect();
            let known: Vec<Attempt> = attempts.iter().chain(state.ended()).copied().collect();
            let of_running: f64 = running.iter().map(Attempt::progress).sum();
            let mean_progress = (of_running + f64::from(state.done())) / f64::from(state.tasks());
            let backups =
                count.iter().filter(|(task, count)| task.stage == stage && **count > 1).count() + state.backups();
            let most = match rule {
                Speculation::Hadoop => usize::MAX,
                _ => self.backups_at_a_time.max((CAP * attempts.len() as f64) as usize),
            };
            let slow = rule.slow(&running, &known, mean_progress);
            wanted.extend(slow.into_iter().take(most.saturating_sub(backups)));
        }
        let app = self.app_mut(id);
        wanted.iter().for_each(|task| app.want_backup(*task));
        !wanted.is_empty()
    }

    /// What its ApplicationMaster knows of the attempt in the container, if it works on a task and has begun with it.
    pub(super) fn attempt(&self, id: ContainerId) -> Option<Attempt> {
        let container = self.containers.get(&id)?;
        let (task, app) = (container.task?, &self.apps[container.app.0 as usize]);
        let process = self.machines[container.node.0 as usize].manager.processes.get(&id)?;
        let done = process.done(self.now);
        (done > 0.0).then(|| Attempt { task, ran: process.ran(self.now), done, data: app.time(task).0 as f64 })
    }

    /// Another container in which the same task is being done.
    pub(super) fn rival(&self, app: AppId, task: TaskId) -> Option<ContainerId> {
        self.speculation?;
        let mut containers = self.apps[app.0 as usize].containers.iter();
        containers.find(|id| self.containers.get(id).is_some_and(|found| found.task == Some(task))).copied()
    }

    /// The other attempt of its task has ended first.
    pub(super) fn lost_the_race(&mut self, id: ContainerId) {
        let ran = self.ran(id);
        let Some(container) = self.containers.get_mut(&id) else { return };
        container.task = None;
        let app = container.app;
        self.app_mut(app).spent.raced_s += ran.seconds();
        self.complete(id, Exit::Killed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The so-manieth map, of that much data, that has run for so many seconds and done that part.
    fn map(number: u32, data: f64, ran_s: u64, done: f64) -> Attempt {
        Attempt { task: TaskId { stage: 0, number }, ran: Millis(ran_s * 1000), done, data }
    }

    fn slow(rule: Speculation, running: &[Attempt], ended: &[Attempt]) -> Vec<u32> {
        let known: Vec<Attempt> = running.iter().chain(ended).copied().collect();
        let of_running: f64 = running.iter().map(Attempt::progress).sum();
        let mean = (of_running + ended.len() as f64) / known.len() as f64;
        rule.slow(running, &known, mean).into_iter().map(|task| task.number).collect()
    }

    const RULES: [Speculation; 3] = [Speculation::Hadoop, Speculation::Late, Speculation::BatchMr];

    #[test]
    fn a_task_on_a_slow_node_is_backed_up_by_every_rule_and_by_none_in_its_first_minute() {
        let ended: Vec<_> = (1..20).map(|number| map(number, 1.0, 40, 1.0)).collect();
        assert_eq!(RULES.map(|rule| slow(rule, &[map(0, 1.0, 60, 0.2)], &ended)), [[0], [0], [0]]);
        assert!(RULES.iter().all(|rule| slow(*rule, &[map(0, 1.0, 59, 0.1)], &ended).is_empty()));
    }

    #[test]
    fn only_batchmr_leaves_a_task_alone_that_has_more_data_than_others() {
        let ended: Vec<_> = (1..20).map(|number| map(number, 1.0, 40, 1.0)).collect();
        // As fast as the others, with four times their data.
        let large = [map(0, 4.0, 80, 0.5)];
        assert_eq!(RULES.map(|rule| slow(rule, &large, &ended).len()), [1, 1, 0]);
    }

    #[test]
    fn batchmr_backs_up_first_where_most_is_gained_which_a_nearly_finished_task_is_not() {
        let ended: Vec<_> = (2..20).map(|number| map(number, 1.0, 40, 1.0)).collect();
        let running = [map(0, 1.0, 100, 0.8), map(1, 1.0, 100, 0.3)];
        assert_eq!(slow(Speculation::BatchMr, &running, &ended), [1]);
    }

    /// Section 3.2 by hand: one phase's speed is its own, and those to come have the mean's.
    #[test]
    fn b_10_what_a_backup_gains_is_what_equations_3_to_5_say() {
        let known = [map(0, 1.0, 100, 0.5), map(1, 1.0, 40, 1.0), map(2, 2.0, 80, 1.0)];
        // Whole times 200, 40 and 80 s, of data 1, 1 and 2: map phases of 180, 36 and 72 s; the first has not reached the second phase.
        let map_ms = 1000.0 * (4.0 / 3.0) / ((1.0 / 180.0 + 1.0 / 36.0 + 2.0 / 72.0) / 3.0);
        let sort_ms = 1000.0 * 1.5 / ((1.0 / 4.0 + 2.0 / 8.0) / 2.0);
        let means = mean_phases_ms(0, &known);
        assert!((means[0] - map_ms).abs() < 1e-6 && (means[1] - sort_ms).abs() < 1e-6, "{means:?}");
        let size = 1.0 / (4.0 / 3.0);
        let gain = 0.4 * 200_000.0 + size * sort_ms - size * (map_ms + sort_ms);
        assert!((gain_ms(&known[0], 4.0 / 3.0, &means) - gain).abs() < 1e-6);
    }

    #[test]
    fn progress_counts_phases_alike_however_long_they_take() {
        let reduce = |done| Attempt { task: TaskId { stage: 1, number: 0 }, ..map(0, 1.0, 1, done) };
        assert_eq!(
            [0.45, 0.9, 0.95].map(|done| (map(0, 1.0, 1, done).progress() * 1e6).round() / 1e6),
            [0.333333, 0.666667, 0.833333]
        );
        assert_eq!(
            [0.5, 0.6, 0.8].map(|done| (reduce(done).progress() * 1e6).round() / 1e6),
            [0.333333, 0.666667, 0.833333]
        );
    }
}
