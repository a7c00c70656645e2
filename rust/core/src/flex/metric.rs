//! The metrics by name: which penalty family, which weight, sum or maximum (spec of Wolf et al. 2010, §2.1 and §4.1).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::penalty::{Aggregate, Penalty, Step};
use super::Seconds;

/// A named objective of FLEX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Mean response time.
    AvgResponse,
    /// Total of weight × response time.
    WeightedResponse,
    /// Largest weight × response time.
    MaxWeightedResponse,
    /// Mean of response time / time alone in the cluster.
    AvgStretch,
    /// Largest response time / time alone.
    MaxStretch,
    /// Completion of the last job.
    Makespan,
    /// Jobs that miss their deadline.
    NumberTardy,
    /// Weight of the jobs that miss their deadline.
    WeightedNumberTardy,
    /// Total time after the deadlines.
    TotalTardiness,
    /// Total of weight × time after the deadline.
    WeightedTardiness,
    /// Longest time after a deadline.
    MaxTardiness,
    /// Largest weight × time after the deadline.
    MaxWeightedTardiness,
    /// Mean of completion − deadline.
    AvgLateness,
    /// Total of weight × (completion − deadline).
    WeightedLateness,
    /// Largest completion − deadline.
    MaxLateness,
    /// Largest weight × (completion − deadline).
    MaxWeightedLateness,
    /// Total of the penalties agreed for late completion, in steps.
    Sla,
}

/// What a job brings to a metric. A metric uses what it needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// Importance; 1 unless told otherwise.
    pub weight: f64,
    /// Seconds after submission.
    pub deadline: Option<Seconds>,
    /// Steps of the service level agreement, deadlines in seconds after submission.
    pub steps: Vec<Step>,
    /// Time the whole job would take alone in the cluster: what stretch divides by.
    pub alone: Seconds,
}

/// A metric needs something its job does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MissingTerm {
    /// The metric compares with a deadline, and the job has none.
    #[error("metric {0} needs a deadline (seconds after submission)")]
    Deadline(Metric),
    /// The metric adds up steps, and the job has none.
    #[error("metric {0} needs at least one step [deadline in seconds after submission, penalty]")]
    Steps(Metric),
}

impl MissingTerm {
    /// The key, as in problem files and tags, of what is missing.
    pub fn key(self) -> &'static str {
        match self {
            Self::Deadline(_) => "deadline",
            Self::Steps(_) => "steps",
        }
    }
}

/// No metric has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no metric is called '{0}'; there are {names}", names = Metric::NAMES.join(", "))]
pub struct UnknownMetric(pub String);

impl Metric {
    /// Every metric, in the order of the paper's families.
    pub const ALL: [Self; 17] = [
        Self::AvgResponse,
        Self::WeightedResponse,
        Self::MaxWeightedResponse,
        Self::AvgStretch,
        Self::MaxStretch,
        Self::Makespan,
        Self::NumberTardy,
        Self::WeightedNumberTardy,
        Self::TotalTardiness,
        Self::WeightedTardiness,
        Self::MaxTardiness,
        Self::MaxWeightedTardiness,
        Self::AvgLateness,
        Self::WeightedLateness,
        Self::MaxLateness,
        Self::MaxWeightedLateness,
        Self::Sla,
    ];

    /// All names, in the order of [`Metric::ALL`].
    pub const NAMES: [&'static str; Self::ALL.len()] = {
        let mut names = [""; Self::ALL.len()];
        let mut at = 0;
        while at < names.len() {
            names[at] = Self::ALL[at].name();
            at += 1;
        }
        names
    };

    /// The name used in files, tags and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AvgResponse => "avg-response",
            Self::WeightedResponse => "weighted-response",
            Self::MaxWeightedResponse => "max-weighted-response",
            Self::AvgStretch => "avg-stretch",
            Self::MaxStretch => "max-stretch",
            Self::Makespan => "makespan",
            Self::NumberTardy => "number-tardy",
            Self::WeightedNumberTardy => "weighted-number-tardy",
            Self::TotalTardiness => "total-tardiness",
            Self::WeightedTardiness => "weighted-tardiness",
            Self::MaxTardiness => "max-tardiness",
            Self::MaxWeightedTardiness => "max-weighted-tardiness",
            Self::AvgLateness => "avg-lateness",
            Self::WeightedLateness => "weighted-lateness",
            Self::MaxLateness => "max-lateness",
            Self::MaxWeightedLateness => "max-weighted-lateness",
            Self::Sla => "sla",
        }
    }

    /// Sum, mean or maximum of the jobs' penalties.
    pub const fn aggregate(self) -> Aggregate {
        match self {
            Self::AvgResponse | Self::AvgStretch | Self::AvgLateness => Aggregate::Mean,
            Self::WeightedResponse
            | Self::NumberTardy
            | Self::WeightedNumberTardy
            | Self::TotalTardiness
            | Self::WeightedTardiness
            | Self::WeightedLateness
            | Self::Sla => Aggregate::Sum,
            Self::MaxWeightedResponse
            | Self::MaxStretch
            | Self::Makespan
            | Self::MaxTardiness
            | Self::MaxWeightedTardiness
            | Self::MaxLateness
            | Self::MaxWeightedLateness => Aggregate::Max,
        }
    }

    /// Whether the metric looks at a common clock, not at the time since each job's submission: the makespan.
    /// Jobs of such a problem have age 0.
    pub const fn ignores_age(self) -> bool {
        matches!(self, Self::Makespan)
    }

    /// The penalty function of a job with these terms.
    ///
    /// # Errors
    /// When the metric needs a deadline or steps and there are none.
    pub fn penalty(self, terms: &Terms) -> Result<Penalty, MissingTerm> {
        let deadline = || terms.deadline.ok_or(MissingTerm::Deadline(self));
        Ok(match self {
            Self::AvgResponse | Self::Makespan => Penalty::Response { weight: 1.0 },
            Self::WeightedResponse | Self::MaxWeightedResponse => Penalty::Response { weight: terms.weight },
            Self::AvgStretch | Self::MaxStretch => Penalty::Response { weight: 1.0 / terms.alone },
            Self::NumberTardy => Penalty::Tardy { deadline: deadline()?, weight: 1.0 },
            Self::WeightedNumberTardy => Penalty::Tardy { deadline: deadline()?, weight: terms.weight },
            Self::TotalTardiness | Self::MaxTardiness => Penalty::Tardiness { deadline: deadline()?, weight: 1.0 },
            Self::WeightedTardiness | Self::MaxWeightedTardiness => {
                Penalty::Tardiness { deadline: deadline()?, weight: terms.weight }
            }
            Self::AvgLateness | Self::MaxLateness => Penalty::Lateness { deadline: deadline()?, weight: 1.0 },
            Self::WeightedLateness | Self::MaxWeightedLateness => {
                Penalty::Lateness { deadline: deadline()?, weight: terms.weight }
            }
            Self::Sla if terms.steps.is_empty() => return Err(MissingTerm::Steps(self)),
            Self::Sla => Penalty::Sla { steps: terms.steps.clone() },
        })
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Metric {
    type Err = UnknownMetric;

    fn from_str(name: &str) -> Result<Self, UnknownMetric> {
        Self::ALL.into_iter().find(|m| m.name() == name).ok_or_else(|| UnknownMetric(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flex_1_3_every_metric_is_found_by_its_name_and_no_other() {
        for metric in Metric::ALL {
            assert_eq!(metric.name().parse(), Ok(metric));
        }
        let unknown = "mean-response".parse::<Metric>().expect_err("not a metric");
        assert!(unknown.to_string().contains("mean-response") && unknown.to_string().contains("avg-response"));
    }

    #[test]
    fn flex_1_3_stretch_weighs_by_the_time_alone() {
        let terms = Terms { weight: 7.0, deadline: None, steps: Vec::new(), alone: 4.0 };
        assert_eq!(Metric::AvgStretch.penalty(&terms), Ok(Penalty::Response { weight: 0.25 }));
        assert_eq!(Metric::Makespan.penalty(&terms), Ok(Penalty::Response { weight: 1.0 }));
    }

    #[test]
    fn flex_1_3_a_missing_deadline_or_step_is_named() {
        let terms = Terms { weight: 1.0, deadline: None, steps: Vec::new(), alone: 1.0 };
        for metric in Metric::ALL {
            match metric.penalty(&terms) {
                Err(missing) => assert_eq!(missing.key(), if metric == Metric::Sla { "steps" } else { "deadline" }),
                Ok(penalty) => assert!(matches!(penalty, Penalty::Response { .. }), "{metric}"),
            }
        }
    }
}
