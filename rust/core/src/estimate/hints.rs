//! What users say about their jobs, in application tags: `hiatus.size=…` and `hiatus.weight=…`. YARN turns tags to lower
//! case. A tag that makes no sense is reported and otherwise ignored: it never fails a job.

use crate::units::Resource;

/// What every hint begins with.
const PREFIX: &str = "hiatus.";

/// Weights that make sense: beyond them a job is alone, or nobody.
const WEIGHTS: std::ops::RangeInclusive<f64> = 0.01..=100.0;

/// A job's whole work, as its user knows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SizeHint {
    /// Run times of all tasks together, in seconds.
    TaskSeconds(f64),
    /// MiB × seconds, the figure that YARN reports of a finished application.
    MemorySeconds(f64),
    /// Virtual cores × seconds, likewise.
    VcoreSeconds(f64),
}

impl SizeHint {
    /// Seconds for which containers of size `one` are busy with it, one after the other.
    pub fn task_seconds(self, one: Resource) -> f64 {
        match self {
            SizeHint::TaskSeconds(seconds) => seconds,
            SizeHint::MemorySeconds(work) => work / one.memory_mb.max(1) as f64,
            SizeHint::VcoreSeconds(work) => work / one.vcores.max(1) as f64,
        }
    }
}

/// The hints of one job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hints {
    /// `hiatus.size=3600`: seconds of tasks; `…=3600mb-seconds` and `…=3600vcore-seconds`: resources over time.
    pub size: Option<SizeHint>,
    /// `hiatus.weight=2`: the job ages as fast as two.
    pub weight: Option<f64>,
    /// What was wrong with the others, for people.
    pub wrong: Vec<String>,
}

impl Hints {
    /// Reads a job's tags. Of several tags for the same thing the last one counts.
    pub fn read(tags: &[String]) -> Hints {
        let mut hints = Hints::default();
        for tag in tags {
            let lower = tag.trim().to_ascii_lowercase();
            let Some((name, value)) = lower.strip_prefix(PREFIX).and_then(|hint| hint.split_once('=')) else {
                continue;
            };
            let understood = match name {
                "size" => size(value).map(|size| hints.size = Some(size)),
                "weight" => {
                    let weight = value.parse().ok().filter(|weight| WEIGHTS.contains(weight));
                    weight.map(|weight| hints.weight = Some(weight))
                }
                // Tags of other policies are none of ours.
                _ => continue,
            };
            if understood.is_none() {
                let allowed = match name {
                    "size" => "seconds of tasks, or a number of mb-seconds or vcore-seconds, above 0".to_string(),
                    _ => format!("a number from {} to {}", WEIGHTS.start(), WEIGHTS.end()),
                };
                hints.wrong.push(format!("{tag}: must be {allowed}; ignored"));
            }
        }
        hints
    }
}

fn size(text: &str) -> Option<SizeHint> {
    let number = |text: &str| text.parse().ok().filter(|size: &f64| size.is_finite() && *size > 0.0);
    if let Some(work) = text.strip_suffix("mb-seconds") {
        number(work).map(SizeHint::MemorySeconds)
    } else if let Some(work) = text.strip_suffix("vcore-seconds") {
        number(work).map(SizeHint::VcoreSeconds)
    } else {
        number(text).map(SizeHint::TaskSeconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tags: &[&str]) -> Hints {
        Hints::read(&tags.iter().map(|tag| tag.to_string()).collect::<Vec<_>>())
    }

    #[test]
    fn sizes_come_as_task_seconds_or_as_yarn_reports_them() {
        let one = Resource::new(2048, 2);
        let seconds = |tag| read(&[tag]).size.map(|size| size.task_seconds(one));
        assert_eq!(seconds("hiatus.size=90"), Some(90.0));
        assert_eq!(seconds("Hiatus.Size=204800MB-seconds"), Some(100.0));
        assert_eq!(seconds("hiatus.size=50vcore-seconds"), Some(25.0));
    }

    #[test]
    fn a_wrong_tag_is_reported_and_changes_nothing() {
        for tag in ["hiatus.size=big", "hiatus.size=-1", "hiatus.size=inf", "hiatus.weight=0", "hiatus.weight=nan"] {
            let hints = read(&[tag]);
            assert_eq!((hints.size, hints.weight, hints.wrong.len()), (None, None, 1), "{tag}");
        }
        let mixed = read(&["etl", "hiatus.weight=1e9", "hiatus.weight=3", "hiatus.deadline=soon"]);
        assert_eq!((mixed.weight, mixed.wrong.len()), (Some(3.0), 1));
    }
}
