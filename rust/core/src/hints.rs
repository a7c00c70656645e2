//! What users say about their jobs, in application tags such as `hiatus.size=…` and `hiatus.deadline=…`. YARN turns tags
//! to lower case. A tag that makes no sense is reported and otherwise ignored: it never fails a job.

use crate::flex::{read_steps, Metric, Seconds, Step};
use crate::settings::{GpClass, HintRules, Word};
use crate::units::Resource;
use std::borrow::Cow;

/// What every hint begins with.
const PREFIX: &str = "hiatus.";

/// Weights that make sense: beyond them a job is alone, or nobody.
const WEIGHTS: std::ops::RangeInclusive<f64> = 0.01..=100.0;

/// Sizes that make sense, in seconds or in resources over time.
const SIZES: std::ops::RangeInclusive<f64> = 1e-3..=1e15;

/// Absolute deadlines begin in 2001, so that somebody who forgot the `+` of a relative one is told.
const EARLIEST_DEADLINE_MS: u64 = 1_000_000_000_000;

/// Seconds of the latest deadline that makes sense after a submission: ten years.
const LATEST_DEADLINE_S: f64 = 315_360_000.0;

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

    /// What is left when containers of size `one` have been busy with it for so many seconds, one after the other; nothing if
    /// that was all.
    pub fn without(self, one: Resource, task_s: f64) -> Option<SizeHint> {
        let left = self.task_seconds(one) - task_s;
        (left > 0.0).then(|| match self {
            SizeHint::TaskSeconds(_) => SizeHint::TaskSeconds(left),
            SizeHint::MemorySeconds(_) => SizeHint::MemorySeconds(left * one.memory_mb.max(1) as f64),
            SizeHint::VcoreSeconds(_) => SizeHint::VcoreSeconds(left * one.vcores.max(1) as f64),
        })
    }
}

/// The hints of one job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hints {
    /// `hiatus.size=3600`: seconds of tasks; `…=3600mb-seconds` and `…=3600vcore-seconds`: resources over time.
    pub size: Option<SizeHint>,
    /// `hiatus.weight=2`: the job ages as fast as two (`hfsp`), or counts as much (`flex`).
    pub weight: Option<f64>,
    /// `hiatus.metric=number-tardy`: the job's own penalty (`flex`).
    pub metric: Option<Metric>,
    /// `hiatus.deadline=+600`: seconds after submission; `…=1763733600000`: milliseconds since 1970 (`flex`). Kept in
    /// seconds after submission.
    pub deadline: Option<Seconds>,
    /// `hiatus.sla=600:1/1200:5`: seconds after submission, and the penalty from then on (`flex`); empty if it says none.
    pub steps: Vec<Step>,
    /// `hiatus.gp-class=production`: what the job is to the victim orders `gp` and `evenly`.
    pub gp_class: Option<GpClass>,
    /// `hiatus.suspend=yes`: its containers may be suspended for others, whatever its type; `…=no`: they may not.
    pub suspend: Option<bool>,
    /// `hiatus.input-bytes=20000000000`: what the job reads, for BatchMR's placer.
    pub input_bytes: Option<u64>,
    /// What was wrong with the others, for people.
    pub wrong: Vec<String>,
}

impl Hints {
    /// Reads the tags of a job that is heard of at `now_ms`, in milliseconds since 1970. Of several tags for the same
    /// thing the last one counts.
    pub fn read(tags: &[String], now_ms: u64) -> Hints {
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
                "metric" => value.parse().ok().map(|metric| hints.metric = Some(metric)),
                "deadline" => deadline(value, now_ms).map(|deadline| hints.deadline = Some(deadline)),
                "sla" => read_steps(value).map(|steps| hints.steps = steps),
                "input-bytes" => value.parse().ok().map(|bytes| hints.input_bytes = Some(bytes)),
                "suspend" => yes_or_no(value).map(|may| hints.suspend = Some(may)),
                "gp-class" => <Option<GpClass>>::named(value).flatten().map(|class| hints.gp_class = Some(class)),
                // Tags of others are none of ours.
                _ => continue,
            };
            if understood.is_none() {
                hints.wrong.push(format!("{tag}: must be {}; ignored", allowed(name)));
            }
        }
        hints
    }

    /// What of them counts under a queue's rules, with what was wrong or cut told in [`Hints::wrong`].
    pub fn under(&self, rules: &HintRules) -> Cow<'_, Hints> {
        if !rules.honour {
            return Cow::Owned(Hints { wrong: self.wrong.clone(), ..Hints::default() });
        }
        let heavy = self.weight.filter(|weight| *weight > rules.max_weight);
        let dear = self.steps.last().filter(|step| step.penalty > rules.max_penalty);
        let foreign = self.metric.filter(|_| !rules.metric);
        let presumed = self.gp_class.filter(|_| !rules.gp_class);
        let spared = self.suspend.filter(|_| self.suspend_under(rules).is_none());
        if heavy.is_none() && dear.is_none() && foreign.is_none() && presumed.is_none() && spared.is_none() {
            return Cow::Borrowed(self);
        }
        let mut cut = self.clone();
        if let Some(weight) = heavy {
            cut.weight = Some(rules.max_weight);
            cut.wrong.push(format!("{PREFIX}weight={weight}: counts as {0}, the most here", rules.max_weight));
        }
        if let Some(Step { penalty, .. }) = dear {
            cut.steps.iter_mut().for_each(|step| step.penalty = step.penalty.min(rules.max_penalty));
            cut.wrong.push(format!("{PREFIX}sla: {penalty} counts as {0}, the most here", rules.max_penalty));
        }
        if let Some(metric) = foreign {
            cut.metric = None;
            cut.wrong.push(format!("{PREFIX}metric={metric}: jobs have no metrics of their own here; ignored"));
        }
        if presumed.is_some() {
            cut.gp_class = None;
            cut.wrong.push(format!("{PREFIX}gp-class: jobs have the class of their queue here; ignored"));
        }
        if spared.is_some() {
            cut.suspend = None;
            cut.wrong.push(format!("{PREFIX}suspend=no: the type alone says who is spared here; ignored"));
        }
        Cow::Owned(cut)
    }

    /// What counts of [`Hints::suspend`] under a queue's rules. Without a copy of all others: it is asked of each container.
    pub fn suspend_under(&self, rules: &HintRules) -> Option<bool> {
        self.suspend.filter(|may| rules.honour && (*may || rules.spared))
    }
}

fn yes_or_no(text: &str) -> Option<bool> {
    match text {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

fn allowed(name: &str) -> String {
    match name {
        "size" => format!(
            "seconds of tasks, or a number of mb-seconds or vcore-seconds, from {} to {:e}",
            SIZES.start(),
            SIZES.end()
        ),
        "weight" => format!("a number from {} to {}", WEIGHTS.start(), WEIGHTS.end()),
        "metric" => format!("one of {}", Metric::NAMES.join(", ")),
        "gp-class" => "production or non-production".to_string(),
        "suspend" => "yes or no".to_string(),
        "input-bytes" => "a whole number of bytes".to_string(),
        "deadline" => {
            "+ and seconds after submission, or milliseconds since 1970, at most ten years after submission".to_string()
        }
        _ => "steps SECONDS:PENALTY with / between them, seconds and penalties rising".to_string(),
    }
}

/// Seconds after the job is heard of; below 0 if the deadline was before.
fn deadline(text: &str, now_ms: u64) -> Option<Seconds> {
    let after = match text.strip_prefix('+') {
        Some(seconds) => seconds.parse().ok().filter(|after| *after >= 0.0)?,
        None => {
            let at: u64 = text.parse().ok().filter(|at| *at >= EARLIEST_DEADLINE_MS)?;
            (at as f64 - now_ms as f64) / 1000.0
        }
    };
    (after <= LATEST_DEADLINE_S).then_some(after)
}

fn size(text: &str) -> Option<SizeHint> {
    let number = |text: &str| text.parse().ok().filter(|size| SIZES.contains(size));
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

    const NOW_MS: u64 = 1_763_733_600_000;

    fn rules() -> HintRules {
        HintRules { honour: true, max_weight: 2.0, max_penalty: 3.0, metric: false, gp_class: false, spared: false }
    }

    fn read(tags: &[&str]) -> Hints {
        Hints::read(&tags.iter().map(|tag| tag.to_string()).collect::<Vec<_>>(), NOW_MS)
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
    fn deadlines_are_relative_or_absolute_and_both_count_from_submission() {
        let deadline = |tag| read(&[tag]).deadline;
        assert_eq!(deadline("hiatus.deadline=+90.5"), Some(90.5));
        assert_eq!(deadline("hiatus.deadline=1763733660000"), Some(60.0));
        assert_eq!(deadline("hiatus.deadline=1763733590000"), Some(-10.0), "it was late before it came");
    }

    #[test]
    fn metric_and_sla_steps_are_read() {
        let hints = read(&["hiatus.metric=Number-Tardy", "hiatus.sla=600:1/1200:5"]);
        let steps = [Step { deadline: 600.0, penalty: 1.0 }, Step { deadline: 1200.0, penalty: 5.0 }];
        assert_eq!((hints.metric, hints.steps.as_slice()), (Some(Metric::NumberTardy), steps.as_slice()));
        assert!(hints.wrong.is_empty());
    }

    #[test]
    fn a_wrong_tag_is_reported_and_changes_nothing() {
        let wrong = [
            ["size=big", "size=-1", "size=inf", "size=1e-9", "size=1e300", "weight=0", "weight=nan"].as_slice(),
            &["deadline=soon", "deadline=600", "deadline=+-1", "deadline=+nan", "deadline=+1e9"],
            &["metric=fastest", "sla=600", "sla=", "sla=600:2/1200:1", "sla=600:1/600:2", "sla=nan:1"],
        ];
        for hint in wrong.concat() {
            let tag = format!("hiatus.{hint}");
            let hints = read(&[&tag]);
            assert_eq!(Hints { wrong: Vec::new(), ..hints.clone() }, Hints::default(), "{tag}");
            assert!(hints.wrong.len() == 1 && hints.wrong[0].starts_with(&tag), "{:?}", hints.wrong);
        }
        let mixed = read(&["etl", "hiatus.weight=1e9", "hiatus.weight=3", "hiatus.colour=red"]);
        assert_eq!((mixed.weight, mixed.wrong.len()), (Some(3.0), 1));
    }

    #[test]
    fn what_a_queue_does_not_allow_is_cut_and_told() {
        let rules = rules();
        let within = read(&["hiatus.weight=2", "hiatus.sla=600:1/1200:3"]);
        assert_eq!(*within.under(&rules), within);
        let greedy = read(&["hiatus.weight=5", "hiatus.sla=0:1/600:1e300", "hiatus.size=1"]);
        let cut = greedy.under(&rules);
        let steps = [Step { deadline: 0.0, penalty: 1.0 }, Step { deadline: 600.0, penalty: 3.0 }];
        assert_eq!((cut.weight, cut.steps.as_slice(), cut.size), (Some(2.0), steps.as_slice(), greedy.size));
        assert!(
            cut.wrong.len() == 2 && cut.wrong.iter().all(|wrong| wrong.contains("the most here")),
            "{:?}",
            cut.wrong
        );
    }

    #[test]
    fn a_class_counts_only_where_the_queue_allows_it() {
        let rules = |gp_class| HintRules { gp_class, ..rules() };
        let important = read(&["hiatus.gp-class=production"]);
        assert_eq!(important.under(&rules(true)).gp_class, Some(GpClass::Production));
        let cut = important.under(&rules(false)).into_owned();
        assert_eq!((cut.gp_class, cut.wrong.len()), (None, 1), "{:?}", cut.wrong);
        assert_eq!(read(&["hiatus.gp-class=vip"]).wrong.len(), 1);
    }

    #[test]
    fn anybody_may_ask_to_be_suspended_and_not_to_be_only_where_the_queue_allows_it() {
        let heard = |tag, spared| read(&[tag]).under(&HintRules { spared, ..rules() }).into_owned();
        assert_eq!(heard("hiatus.suspend=yes", false).suspend, Some(true));
        assert_eq!(heard("Hiatus.Suspend=NO", true).suspend, Some(false));
        let cut = heard("hiatus.suspend=no", false);
        assert_eq!((cut.suspend, cut.wrong.len()), (None, 1), "{:?}", cut.wrong);
        assert_eq!(read(&["hiatus.suspend=maybe"]).wrong.len(), 1);
    }

    #[test]
    fn a_deaf_queue_hears_nothing_but_what_is_wrong_is_told() {
        let deaf = HintRules { honour: false, metric: true, gp_class: true, spared: true, ..rules() };
        let heard = read(&["hiatus.weight=2", "hiatus.size=big", "hiatus.deadline=+9", "hiatus.suspend=yes"])
            .under(&deaf)
            .into_owned();
        assert_eq!((heard.wrong.len(), Hints { wrong: Vec::new(), ..heard }), (1, Hints::default()));
    }
}
