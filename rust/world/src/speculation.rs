//! Speculative execution: an ApplicationMaster has a slow task done once more beside the first attempt. Who ends first counts, and
//! the other goes. Which tasks are slow is told by one of three rules; all else is the same under each: new tasks come first, no task
//! has more than one backup, and none is judged in its first minute.
//!
//! An attempt here works at one speed from its begin to its end, so that a moving mean of its speed (BatchMR's equation 1) is that speed.

use crate::task::{phases, Attempt, TaskId};
use hiatus_core::units::Millis;

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
    /// How many tasks of a stage with so many attempts may be backed up at a time; `least` may in any case.
    pub(super) fn most_backups(self, attempts: usize, least: usize) -> usize {
        match self {
            Speculation::Hadoop => usize::MAX,
            Speculation::Late | Speculation::BatchMr => least.max((CAP * attempts as f64) as usize),
        }
    }

    /// The tasks of a stage to back up now, the most urgent first.
    ///
    /// * `running`: attempts of tasks that have one only
    /// * `known`: these and all that have ended
    /// * `mean_progress`: over all tasks of the stage, 0…1
    pub(super) fn slow(self, running: &[Attempt], known: &[Attempt], mean_progress: f64) -> Vec<TaskId> {
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
