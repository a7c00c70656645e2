//! An advised setting as an administrator writes it down.

use hiatus_background::hindsight::setting::Properties;
use hiatus_core::settings::CLUSTER_PREFIX;

use super::Candidate;

/// Where knobs of queues stand, and those of the cluster may.
const QUEUES: &str = "capacity-scheduler.xml";
/// Where `mode` stands, which is the emergency stop: what `capacity-scheduler.xml` says would win over it.
const SITE: &str = "yarn-site.xml";

/// A property, and what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The file in which it belongs.
    pub file: &'static str,
    /// Its whole name.
    pub property: String,
    /// As it was recorded, if it was set.
    pub now: Option<String>,
    /// What it should be; `None` if it should not be set.
    pub then: Option<String>,
}

/// What to change to come from a setting to an advised one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch(Vec<Line>);

impl Patch {
    /// From what was recorded.
    pub fn new(recorded: &Properties, advised: &Candidate) -> Patch {
        let then = advised.change().of(recorded);
        let gone = recorded.keys().filter(|property| !then.contains_key(*property));
        let line = |property: &String| Line {
            file: if *property == format!("{CLUSTER_PREFIX}mode") { SITE } else { QUEUES },
            property: property.clone(),
            now: recorded.get(property).cloned(),
            then: then.get(property).cloned(),
        };
        Patch(then.keys().chain(gone).map(line).filter(|line| line.now != line.then).collect())
    }

    /// Its lines: what is to be set, by name, and then what is to be taken out.
    pub fn lines(&self) -> &[Line] {
        &self.0
    }

    /// The part for `capacity-scheduler.xml`, to be put between the lines of its `configuration`.
    pub fn xml(&self) -> String {
        let in_queues = self.0.iter().filter(|line| line.file == QUEUES);
        let element = |line: &Line| match &line.then {
            Some(value) => {
                format!("  <property>\n    <name>{}</name>\n    <value>{value}</value>\n  </property>\n", line.property)
            }
            None => format!("  <!-- take out {} -->\n", line.property),
        };
        in_queues.map(element).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Preemption;

    fn advised() -> Candidate {
        let knobs = vec![("min-run-ms", "1000"), ("min-resumed-ms", "2000")];
        Candidate { policy: "hfsp", preemption: Preemption::Suspend, knobs }
    }

    #[test]
    fn the_mode_goes_where_the_emergency_stop_is_and_all_else_to_the_queues() {
        let mode = "yarn.scheduler.hiatus.mode";
        let recorded = Properties::from([(mode.to_owned(), "observe".to_owned())]);
        let patch = Patch::new(&recorded, &advised());
        let of_mode: Vec<_> = patch.lines().iter().filter(|line| line.file == SITE).collect();
        let expected =
            Line { file: SITE, property: mode.into(), now: Some("observe".into()), then: Some("suspend".into()) };
        assert_eq!(of_mode, [&expected]);
        // ConfigCheckTest has Java's own check look at the same file.
        let checked = include_str!("../../../../../java/scheduler/src/test/resources/advice.xml");
        assert_eq!(format!("<configuration>\n{}</configuration>\n", patch.xml()), checked);
    }

    #[test]
    fn what_is_set_already_is_not_said_and_what_queues_say_otherwise_is_taken_out() {
        let set = [
            ("yarn.scheduler.hiatus.mode", "suspend"),
            ("yarn.scheduler.hiatus.min-run-ms", "1000"),
            ("yarn.scheduler.hiatus.policy", "fair"),
            ("yarn.scheduler.capacity.root.etl.hiatus.policy", "fifo"),
            ("yarn.scheduler.capacity.root.etl.hiatus.lend", "maps"),
        ];
        let recorded = set.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let patch = Patch::new(&recorded, &advised());
        let said: Vec<_> = patch.lines().iter().map(|line| (line.property.as_str(), line.then.as_deref())).collect();
        let expected = [
            ("yarn.scheduler.hiatus.min-resumed-ms", Some("2000")),
            ("yarn.scheduler.hiatus.policy", Some("hfsp")),
            ("yarn.scheduler.hiatus.preemption", Some("suspend")),
            ("yarn.scheduler.capacity.root.etl.hiatus.policy", None),
        ];
        assert_eq!(said, expected);
        assert!(patch.xml().ends_with("<!-- take out yarn.scheduler.capacity.root.etl.hiatus.policy -->\n"));
    }
}
