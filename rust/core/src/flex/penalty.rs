//! What completing a job at a time costs: FLEX's menu of metrics (Wolf et al. 2010, §2.1, Fig. 1).

use serde::{Deserialize, Serialize};

use super::Seconds;

/// Completion times are sums of quotients: a job is late only if it misses its deadline by more than this share of
/// the deadline, so that rounding does not make a job tardy.
const LATE_BY: f64 = 1e-9;

/// One step of a service level agreement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Pseudo-deadline, in seconds after the job's submission.
    pub deadline: Seconds,
    /// Total penalty of a job that completes after it (and not after the next one).
    pub penalty: f64,
}

/// Penalty of one job as a non-decreasing function of its completion time, in seconds after its submission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Penalty {
    /// Fig. 1(a): response time; its minimax is the makespan, weight 1 / (time alone) gives the stretch.
    Response {
        /// Penalty per second.
        weight: f64,
    },
    /// Fig. 1(b): a tardy job costs its weight, however late.
    Tardy {
        /// Seconds after submission.
        deadline: Seconds,
        /// Penalty of a tardy job.
        weight: f64,
    },
    /// Fig. 1(c): every second after the deadline costs the weight.
    Tardiness {
        /// Seconds after submission.
        deadline: Seconds,
        /// Penalty per second.
        weight: f64,
    },
    /// Fig. 1(d): as tardiness, and every second before the deadline earns the weight.
    Lateness {
        /// Seconds after submission.
        deadline: Seconds,
        /// Penalty, or reward, per second.
        weight: f64,
    },
    /// Fig. 1(e): service level agreement, steps of rising penalty at rising deadlines.
    Sla {
        /// In order of their deadlines; nothing is owed before the first.
        steps: Vec<Step>,
    },
}

fn late(completion: Seconds, deadline: Seconds) -> bool {
    completion - deadline > LATE_BY * deadline.abs().max(1.0)
}

impl Penalty {
    /// The penalty of completing `completion` seconds after submission (infinity: never).
    pub fn at(&self, completion: Seconds) -> f64 {
        match self {
            // 0 × infinity is not a number, but a job without weight costs nothing whenever it ends.
            Self::Response { weight } | Self::Tardiness { weight, .. } | Self::Lateness { weight, .. }
                if *weight == 0.0 =>
            {
                0.0
            }
            Self::Response { weight } => weight * completion,
            Self::Tardy { deadline, weight } => f64::from(u8::from(late(completion, *deadline))) * weight,
            Self::Tardiness { deadline, weight } => weight * (completion - deadline).max(0.0),
            Self::Lateness { deadline, weight } => weight * (completion - deadline),
            Self::Sla { steps } => {
                steps.iter().take_while(|s| late(completion, s.deadline)).last().map_or(0.0, |s| s.penalty)
            }
        }
    }

    /// The latest completion (seconds after submission) whose penalty is at most `value`: the effective deadline of
    /// a minimax problem. Infinity where any completion will do, minus infinity where none will.
    pub fn latest_within(&self, value: f64) -> Seconds {
        match self {
            Self::Response { weight } => per_weight(value, *weight),
            Self::Lateness { deadline, weight } => deadline + per_weight(value, *weight),
            Self::Tardiness { .. } | Self::Tardy { .. } | Self::Sla { .. } if value < 0.0 => f64::NEG_INFINITY,
            Self::Tardiness { deadline, weight } => deadline + per_weight(value, *weight),
            Self::Tardy { deadline, weight } if value < *weight => *deadline,
            Self::Tardy { .. } => f64::INFINITY,
            Self::Sla { steps } => steps.iter().find(|s| s.penalty > value).map_or(f64::INFINITY, |s| s.deadline),
        }
    }

    /// Completion times at which the slope changes or the value jumps.
    pub fn breaks(&self) -> Vec<Seconds> {
        match self {
            Self::Response { .. } | Self::Lateness { .. } => Vec::new(),
            Self::Tardy { deadline, .. } | Self::Tardiness { deadline, .. } => vec![*deadline],
            Self::Sla { steps } => steps.iter().map(|s| s.deadline).collect(),
        }
    }

    /// The first deadline, if the family has one.
    pub fn deadline(&self) -> Option<Seconds> {
        match self {
            Self::Response { .. } => None,
            Self::Tardy { deadline, .. } | Self::Tardiness { deadline, .. } | Self::Lateness { deadline, .. } => {
                Some(*deadline)
            }
            Self::Sla { steps } => steps.first().map(|s| s.deadline),
        }
    }

    /// `(slope, intercept)` of a line that is nowhere above the penalty: exact for response and lateness, the rising
    /// part for tardiness, the constant 0 for the step families. Lower bounds and Smith's rule use it.
    pub fn line_below(&self) -> (f64, f64) {
        match self {
            Self::Response { weight } => (*weight, 0.0),
            Self::Tardiness { deadline, weight } | Self::Lateness { deadline, weight } => (*weight, -weight * deadline),
            Self::Tardy { .. } | Self::Sla { .. } => (0.0, 0.0),
        }
    }

    /// The steps of the two families that have nothing else: number of tardy jobs and SLA. Empty for the others.
    pub fn steps(&self) -> Vec<Step> {
        match self {
            Self::Tardy { deadline, weight } => vec![Step { deadline: *deadline, penalty: *weight }],
            Self::Sla { steps } => steps.clone(),
            Self::Response { .. } | Self::Tardiness { .. } | Self::Lateness { .. } => Vec::new(),
        }
    }

    /// Whether a maximum over jobs means anything: not for the step families (§2.1: "only the minisum problem is
    /// appropriate").
    pub fn allows_minimax(&self) -> bool {
        !matches!(self, Self::Tardy { .. } | Self::Sla { .. })
    }
}

fn per_weight(value: f64, weight: f64) -> Seconds {
    if weight > 0.0 {
        value / weight
    } else if value >= 0.0 {
        f64::INFINITY
    } else {
        f64::NEG_INFINITY
    }
}

/// How the penalties of all jobs become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aggregate {
    /// Minisum: the total.
    Sum,
    /// Minisum: the total divided by the number of jobs; the same schedules as [`Aggregate::Sum`].
    Mean,
    /// Minimax: the largest.
    Max,
}

impl Aggregate {
    /// The aggregate of some penalties; 0 of none.
    pub fn of(self, penalties: impl ExactSizeIterator<Item = f64>) -> f64 {
        let jobs = penalties.len();
        match self {
            _ if jobs == 0 => 0.0,
            Self::Sum => penalties.sum(),
            Self::Mean => penalties.sum::<f64>() / jobs as f64,
            Self::Max => penalties.fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// Whether this is the maximum.
    pub fn is_minimax(self) -> bool {
        self == Self::Max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: fn() -> Vec<Penalty> = || {
        vec![
            Penalty::Response { weight: 2.0 },
            Penalty::Tardy { deadline: 10.0, weight: 3.0 },
            Penalty::Tardiness { deadline: 10.0, weight: 2.0 },
            Penalty::Lateness { deadline: 10.0, weight: 2.0 },
            Penalty::Sla { steps: vec![Step { deadline: 10.0, penalty: 1.0 }, Step { deadline: 20.0, penalty: 5.0 }] },
        ]
    };

    #[test]
    fn flex_1_3_values_at_the_break_points() {
        let values = |z: f64| ALL().iter().map(|p| p.at(z)).collect::<Vec<_>>();
        assert_eq!(values(0.0), [0.0, 0.0, 0.0, -20.0, 0.0]);
        assert_eq!(values(10.0), [20.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(values(10.5), [21.0, 3.0, 1.0, 1.0, 1.0]);
        assert_eq!(values(20.0), [40.0, 3.0, 20.0, 20.0, 1.0]);
        assert_eq!(values(20.5), [41.0, 3.0, 21.0, 21.0, 5.0]);
    }

    #[test]
    fn flex_1_3_a_completion_a_rounding_error_after_its_deadline_is_in_time() {
        let tardy = Penalty::Tardy { deadline: 0.3, weight: 1.0 };
        assert_eq!(tardy.at(0.1 + 0.2), 0.0);
        assert_eq!(tardy.at(0.3 + 1e-6), 1.0);
    }

    #[test]
    fn flex_1_3_never_completing_costs_the_most_and_no_weight_costs_nothing() {
        let values: Vec<f64> = ALL().iter().map(|p| p.at(f64::INFINITY)).collect();
        assert_eq!(values, [f64::INFINITY, 3.0, f64::INFINITY, f64::INFINITY, 5.0]);
        assert_eq!(Penalty::Response { weight: 0.0 }.at(f64::INFINITY), 0.0);
        assert_eq!(Penalty::Lateness { deadline: 1.0, weight: 0.0 }.at(f64::INFINITY), 0.0);
    }

    #[test]
    fn flex_1_10_effective_deadline_is_the_latest_completion_within_a_value() {
        for penalty in ALL() {
            for value in [0.0, 1.0, 4.0, 7.5] {
                let z = penalty.latest_within(value);
                assert!(!z.is_finite() || penalty.at(z) <= value, "{penalty:?} at {z}");
                assert!(!z.is_finite() || penalty.at(z + 1e-3) > value, "{penalty:?} after {z}");
            }
        }
        assert_eq!(ALL()[2].latest_within(-1.0), f64::NEG_INFINITY);
        assert_eq!(ALL()[3].latest_within(-4.0), 8.0);
    }

    #[test]
    fn flex_1_11_the_line_below_is_nowhere_above() {
        for penalty in ALL() {
            let (slope, intercept) = penalty.line_below();
            for tenth in 0..400 {
                let z = f64::from(tenth) / 10.0;
                assert!(slope * z + intercept <= penalty.at(z) + 1e-12, "{penalty:?} at {z}");
            }
        }
    }
}
