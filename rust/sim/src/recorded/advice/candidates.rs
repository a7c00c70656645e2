//! The settings that are tried. There are few, so that the answer comes in minutes and so that the best of them is not best by chance.
//!
//! - First every policy that needs nothing but jobs, with waiting and with suspending. `flex` is not among them: what is best for its
//!   metric is for an administrator to say. Neither is killing, which throws work away.
//! - Then the best of those with one more knob each: those that docs/experiments.md found to matter, and that need nothing of the
//!   nodes. `max-suspended-memory` needs swap, and `lend` needs reports of jobs, which are in no record.

use std::fmt::{self, Display, Formatter};

use hiatus_background::hindsight::setting::Change;
use hiatus_core::settings::CLUSTER_PREFIX;

use crate::cluster::Preemption;

const POLICIES: [&str; 5] = ["hfsp", "srpt", "las", "fair", "fifo"];
const PREEMPTIONS: [Preemption; 2] = [Preemption::Suspend, Preemption::Wait];

/// Knobs that are set together, and with which preemptions and policies they mean anything.
struct Refinement {
    knobs: &'static [(&'static str, &'static str)],
    preemptions: &'static [Preemption],
    policies: &'static [&'static str],
}

const SUSPEND: &[Preemption] = &[Preemption::Suspend];
const REFINEMENTS: [Refinement; 4] = [
    // Guards for short tasks.
    Refinement {
        knobs: &[("min-run-ms", "1000"), ("min-resumed-ms", "2000")],
        preemptions: SUSPEND,
        policies: &POLICIES,
    },
    Refinement { knobs: &[("preemption-threshold", "1")], preemptions: SUSPEND, policies: &["hfsp", "srpt"] },
    Refinement { knobs: &[("training-preempts", "on")], preemptions: SUSPEND, policies: &["hfsp"] },
    Refinement { knobs: &[("max-am-share", "0.5")], preemptions: &PREEMPTIONS, policies: &POLICIES },
];

/// A setting that may be advised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Policy of every queue.
    pub policy: &'static str,
    /// How resources are taken back in every queue.
    pub preemption: Preemption,
    /// Other knobs, without their prefix.
    pub knobs: Vec<(&'static str, &'static str)>,
}

impl Candidate {
    /// Every policy with every preemption.
    pub fn all() -> Vec<Candidate> {
        let of = |policy| PREEMPTIONS.map(|preemption| Candidate { policy, preemption, knobs: Vec::new() });
        POLICIES.into_iter().flat_map(of).collect()
    }

    /// The same with one more thing set.
    pub fn refined(&self) -> Vec<Candidate> {
        let (policy, preemption) = (self.policy, self.preemption);
        let fits = |one: &&Refinement| one.preemptions.contains(&preemption) && one.policies.contains(&policy);
        let refined = |one: &Refinement| Candidate { policy, preemption, knobs: one.knobs.to_vec() };
        REFINEMENTS.iter().filter(fits).map(refined).collect()
    }

    /// As a change of what is recorded.
    pub fn change(&self) -> Change {
        let property = |(knob, value): &(&str, &str)| (format!("{CLUSTER_PREFIX}{knob}"), (*value).to_owned());
        Change {
            policy: Some(self.policy.to_owned()),
            preemption: Some(self.preemption),
            properties: self.knobs.iter().map(property).collect(),
        }
    }

    /// Its knobs in words.
    pub fn knobs(&self) -> String {
        self.knobs.iter().map(|(knob, value)| format!("{knob}={value}")).collect::<Vec<_>>().join(" ")
    }
}

impl Display for Candidate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.policy, self.preemption.name())?;
        self.knobs.iter().try_for_each(|(knob, value)| write!(f, " {knob}={value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hiatus_core::settings::{Settings, CLUSTER_PREFIX};
    use std::collections::BTreeMap;

    #[test]
    fn every_candidate_is_a_setting_that_the_core_takes() {
        let all = Candidate::all();
        for candidate in all.iter().cloned().chain(all.iter().flat_map(Candidate::refined)) {
            let settings = candidate.change().of(&BTreeMap::new());
            let parsed = Settings::parse(&settings);
            assert!(parsed.is_ok(), "{candidate:?}: {:?}", parsed.err().map(|error| error.to_string()));
            assert!(settings.keys().all(|key| key.starts_with(CLUSTER_PREFIX)));
        }
    }

    #[test]
    fn a_knob_is_tried_only_where_it_means_something() {
        let of = |policy, preemption| Candidate { policy, preemption, knobs: Vec::new() }.refined().len();
        let suspend = Preemption::Suspend;
        assert_eq!((of("hfsp", suspend), of("fifo", suspend), of("hfsp", Preemption::Wait)), (4, 2, 1));
    }
}
