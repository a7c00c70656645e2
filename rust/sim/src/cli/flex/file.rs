//! The problem file of `hiatus flex`, checked key by key.

use std::collections::HashSet;
use std::io;

use hiatus_core::flex::{Aggregate, Job, Metric, MissingTerm, Problem, ProblemError, Step, Terms};
use serde::Deserialize;

/// What is wrong with a problem file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// Not JSON, a key that is missing, unknown or of the wrong type.
    #[error("{path}: {source}")]
    Syntax { path: String, source: serde_json::Error },
    #[error("jobs[{job}].id: '{id}' is also the id of jobs[{earlier}]; ids must differ")]
    Duplicate { job: usize, earlier: usize, id: String },
    #[error("jobs[{job}].{}: {source}", source.key())]
    Missing { job: usize, source: MissingTerm },
    #[error("jobs[{job}].{key}: must be {rule}, not {value}")]
    Number { job: usize, key: &'static str, rule: &'static str, value: f64 },
    #[error("jobs[{job}].steps[{step}]: {rule}")]
    Step { job: usize, step: usize, rule: &'static str },
    #[error(
        "objective: jobs[{job}] counts tardy jobs or SLA penalties, of which only the sum can be minimised; \
         choose minisum, or another metric"
    )]
    Minimax { job: usize },
}

impl FileError {
    /// The core's complaint in terms of the file's keys.
    pub(crate) fn from_problem(error: ProblemError) -> FileError {
        match error {
            ProblemError::Number { job, key, rule, value } => FileError::Number { job, key, rule, value },
            ProblemError::Steps { job, step, rule } => FileError::Step { job, step, rule },
            ProblemError::Minimax { job } => FileError::Minimax { job },
        }
    }
}

/// A problem whose jobs have names.
#[derive(Debug)]
pub(crate) struct Named {
    pub metric: Metric,
    pub ids: Vec<String>,
    pub problem: Problem,
}

impl Named {
    /// What the solver will read differently from how it was written.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let above = |(at, job): (usize, &Job)| {
            let max = job.max.min(self.problem.slots);
            let text =
                || format!("jobs[{at}].min: {} is above the {max} slots the job can use and is lowered", job.min);
            (job.min > max).then(text)
        };
        let mut warnings: Vec<String> = self.problem.jobs.iter().enumerate().filter_map(above).collect();
        let total: u64 = self.problem.jobs.iter().map(|job| u64::from(job.min.min(job.max))).sum();
        if total > u64::from(self.problem.slots) {
            let slots = self.problem.slots;
            warnings.push(format!("jobs: the minima add up to {total}, above slots {slots}, and are scaled down"));
        }
        warnings
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProblemIn {
    slots: u32,
    jobs: Vec<JobIn>,
    metric: Option<Metric>,
    objective: Option<Objective>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JobIn {
    id: Id,
    work: f64,
    #[serde(default)]
    min: u32,
    max: Option<u32>,
    weight: Option<f64>,
    deadline: Option<f64>,
    #[serde(default)]
    steps: Vec<(f64, f64)>,
    metric: Option<Metric>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "an id is a text or a whole number")]
enum Id {
    Text(String),
    Number(u64),
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Objective {
    #[serde(alias = "sum")]
    Minisum,
    #[serde(alias = "max")]
    Minimax,
}

/// The problem in `text`, under `metric` if given, else the file's, else the average response time.
pub(crate) fn parse(text: &str, metric: Option<Metric>) -> Result<Named, FileError> {
    let mut json = serde_json::Deserializer::from_str(text);
    let file: ProblemIn = serde_path_to_error::deserialize(&mut json)
        .map_err(|error| FileError::Syntax { path: error.path().to_string(), source: error.into_inner() })?;
    json.end().map_err(|source| FileError::Syntax { path: ".".to_owned(), source })?;

    let metric = metric.or(file.metric).unwrap_or(Metric::AvgResponse);
    let aggregate = match file.objective {
        None => metric.aggregate(),
        Some(Objective::Minimax) => Aggregate::Max,
        Some(Objective::Minisum) if metric.aggregate().is_minimax() => Aggregate::Sum,
        Some(Objective::Minisum) => metric.aggregate(),
    };
    let ids: Vec<String> = file.jobs.iter().map(|job| job.id.to_text()).collect();
    let mut seen = HashSet::new();
    if let Some(job) = ids.iter().position(|id| !seen.insert(id)) {
        let earlier = ids.iter().position(|id| *id == ids[job]).unwrap_or(0);
        return Err(FileError::Duplicate { job, earlier, id: ids[job].clone() });
    }
    let jobs = file.jobs.iter().enumerate().map(|(at, job)| job.build(at, file.slots, job.metric.unwrap_or(metric)));
    let problem = Problem { slots: file.slots, aggregate, jobs: jobs.collect::<Result<_, _>>()? };
    problem.check().map_err(FileError::from_problem)?;
    Ok(Named { metric, ids, problem })
}

impl Id {
    fn to_text(&self) -> String {
        match self {
            Id::Text(text) => text.clone(),
            Id::Number(number) => number.to_string(),
        }
    }
}

impl JobIn {
    fn build(&self, at: usize, slots: u32, metric: Metric) -> Result<Job, FileError> {
        let refuse = |key, rule, value| Err(FileError::Number { job: at, key, rule, value });
        // Checked here too: stretch divides by it, and would complain of a weight nobody wrote.
        if self.work <= 0.0 {
            return refuse("work", "a number of slot-seconds above 0", self.work);
        }
        let weight = self.weight.unwrap_or(1.0);
        if weight < 0.0 {
            return refuse("weight", "0 or more", weight);
        }
        let max = self.max.unwrap_or(slots);
        let terms = Terms {
            weight,
            deadline: self.deadline,
            steps: self.steps.iter().map(|&(deadline, penalty)| Step { deadline, penalty }).collect(),
            alone: self.work / f64::from(max.min(slots).max(1)),
        };
        let penalty = metric.penalty(&terms).map_err(|source| FileError::Missing { job: at, source })?;
        Ok(Job { work: self.work, min: self.min, max, age: 0.0, penalty })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hiatus_core::flex::Penalty;

    fn error(text: &str) -> String {
        parse(text, None).expect_err("must be refused").to_string()
    }

    fn with_job(job: &str) -> String {
        error(&format!(r#"{{"slots": 10, "metric": "avg-response", "jobs": [{{"id": "a", "work": 1}}, {{{job}}}]}}"#))
    }

    #[test]
    fn defaults_are_average_response_no_minimum_all_slots_and_weight_one() {
        let named = parse(r#"{"slots": 10, "jobs": [{"id": 7, "work": 20}]}"#, None).expect("valid");
        assert_eq!((named.metric, named.ids), (Metric::AvgResponse, vec!["7".to_owned()]));
        let job = Job { work: 20.0, min: 0, max: 10, age: 0.0, penalty: Penalty::Response { weight: 1.0 } };
        assert_eq!(named.problem, Problem { slots: 10, aggregate: Aggregate::Mean, jobs: vec![job] });
    }

    #[test]
    fn the_command_line_wins_over_the_file_and_a_job_over_both() {
        let text = r#"{"slots": 10, "metric": "makespan", "jobs": [{"id": "a", "work": 20, "max": 4},
            {"id": "b", "work": 9, "deadline": 3, "metric": "number-tardy"}]}"#;
        let named = parse(text, Some(Metric::AvgStretch)).expect("valid");
        assert_eq!(named.problem.aggregate, Aggregate::Mean);
        assert_eq!(named.problem.jobs[0].penalty, Penalty::Response { weight: 0.2 });
        assert_eq!(named.problem.jobs[1].penalty, Penalty::Tardy { deadline: 3.0, weight: 1.0 });
    }

    #[test]
    fn objective_replaces_the_metrics_own() {
        let aggregate = |metric: &str, objective: &str| {
            let text = format!(r#"{{"slots": 1, "jobs": [], "metric": "{metric}", "objective": "{objective}"}}"#);
            parse(&text, None).expect("valid").problem.aggregate
        };
        assert_eq!(aggregate("avg-response", "minimax"), Aggregate::Max);
        assert_eq!(aggregate("avg-response", "minisum"), Aggregate::Mean);
        assert_eq!(aggregate("max-tardiness", "minisum"), Aggregate::Sum);
    }

    #[test]
    fn flex_1_3_minimax_of_tardy_jobs_and_sla_is_refused() {
        for (metric, key) in [("number-tardy", r#""deadline": 1"#), ("sla", r#""steps": [[1, 1]]"#)] {
            let text = format!(
                r#"{{"slots": 1, "metric": "{metric}", "objective": "minimax", "jobs": [{{"id": "a", "work": 1, {key}}}]}}"#
            );
            assert!(error(&text).starts_with("objective: jobs[0]"), "{}", error(&text));
        }
    }

    #[test]
    fn every_error_names_its_key() {
        for (job, start) in [
            (r#""id": "b", "work": 0"#, "jobs[1].work: must be a number of slot-seconds above 0, not 0"),
            (r#""id": "b", "work": -3"#, "jobs[1].work: must be"),
            (r#""id": "b", "work": 1e999"#, "jobs[1].work: number out of range"),
            (r#""id": "b", "work": "many""#, "jobs[1].work: invalid type"),
            (r#""id": "b", "work": 1, "weight": -1"#, "jobs[1].weight: must be 0 or more, not -1"),
            (r#""id": "b", "work": 1, "min": -1"#, "jobs[1].min: invalid value"),
            (r#""id": "b", "work": 1, "max": 1.5"#, "jobs[1].max: invalid type"),
            (r#""id": "b", "work": 1, "metric": "max-tardiness""#, "jobs[1].deadline: metric max-tardiness needs"),
            (r#""id": "b", "work": 1, "metric": "sla""#, "jobs[1].steps: metric sla needs"),
            (
                r#""id": "b", "work": 1, "metric": "sla", "steps": [[2, 1], [1, 2]]"#,
                "jobs[1].steps[1]: must have a later deadline",
            ),
            (r#""id": "b", "work": 1, "steps": [[2]]"#, "jobs[1].steps[0]: invalid length"),
            (r#""id": "a", "work": 1"#, "jobs[1].id: 'a' is also the id of jobs[0]"),
            (r#""id": [], "work": 1"#, "jobs[1].id: an id is a text or a whole number"),
            (r#""id": "b", "work": 1, "metric": "fast""#, "jobs[1].metric: unknown variant `fast`"),
            (r#""work": 1"#, "jobs[1]: missing field `id`"),
            (r#""id": "b", "work": 1, "wieght": 1"#, "jobs[1].wieght: unknown field `wieght`"),
        ] {
            let error = with_job(job);
            assert!(error.starts_with(start), "{job}: {error}");
        }
        assert!(error(r#"{"slots": -1, "jobs": []}"#).starts_with("slots: invalid value"));
        assert!(error(r#"{"jobs": []}"#).contains("missing field `slots`"));
        assert!(error("").contains("EOF"));
        assert!(error(r#"{"slots": 1, "jobs": []} {}"#).contains("trailing characters at line 1"));
    }

    #[test]
    fn minima_that_will_be_changed_are_pointed_out() {
        let text = r#"{"slots": 10, "jobs": [{"id": 1, "work": 1, "min": 5, "max": 3},
            {"id": 2, "work": 1, "min": 9}]}"#;
        let warnings = parse(text, None).expect("valid").warnings();
        assert!(warnings[0].starts_with("jobs[0].min: 5 is above the 3 slots"), "{warnings:?}");
        assert!(warnings[1].contains("add up to 12"), "{warnings:?}");
    }
}
