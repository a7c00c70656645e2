//! How properties become settings.
//!
//! A property `yarn.scheduler.hiatus.<knob>` sets a knob for the whole cluster, and
//! `yarn.scheduler.capacity.<queue-path>.hiatus.<knob>` for one queue and all below it. Settings are parsed as a whole:
//! one wrong value refuses them all, so that a bad refresh leaves the old ones in force.

use super::knobs::{Knob, CLUSTER_PREFIX, KNOBS, QUEUE_INFIX, QUEUE_PREFIX};
use super::{ClusterSettings, FlexSettings, HfspSettings, Mode, Primitive, QueueSettings, Settings, Victims};
use crate::flex::{read_steps, Metric};
use crate::policy::PolicyKind;
use crate::units::Millis;
use std::collections::BTreeMap;
use std::str::FromStr;
use thiserror::Error;

/// A property that cannot be used. None of its companions is used either.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// The value is not of the knob's range.
    #[error("{key} = \"{value}\": must be {range}; the settings in force are kept")]
    BadValue {
        /// Whole property name.
        key: String,
        /// What was found.
        value: String,
        /// What is allowed.
        range: String,
    },
    /// There is no such knob.
    #[error("{key}: no such property; known ones end in: {known}")]
    UnknownKnob {
        /// Whole property name.
        key: String,
        /// Names of all knobs of that scope.
        known: String,
    },
    /// The knob is for the cluster only.
    #[error("{key}: {knob} is set for the whole cluster, as {CLUSTER_PREFIX}{knob}")]
    NotPerQueue {
        /// Whole property name.
        key: String,
        /// The knob.
        knob: String,
    },
}

impl Default for Settings {
    fn default() -> Self {
        match Settings::parse(&BTreeMap::new()) {
            Ok(settings) => settings,
            Err(error) => unreachable!("the defaults of KNOBS are within their ranges: {error}"),
        }
    }
}

impl Settings {
    /// Reads properties by their whole names; those with neither prefix are ignored.
    ///
    /// # Errors
    /// The first property that is wrong, with its range.
    pub fn parse(properties: &BTreeMap<String, String>) -> Result<Settings, SettingsError> {
        let mut cluster_values = BTreeMap::new();
        let mut queue_values: BTreeMap<String, BTreeMap<&'static str, String>> = BTreeMap::new();
        for (key, value) in properties {
            let value = value.trim().to_string();
            if let Some(name) = key.strip_prefix(CLUSTER_PREFIX) {
                // Names with a dot belong to other rooms of the product, such as the boundary's `native.path`.
                if name.contains('.') {
                    continue;
                }
                let knob = known(key, name, |_| true)?;
                check(key, knob, &value)?;
                cluster_values.insert(knob.name, value);
            } else if let Some((path, name)) = key.strip_prefix(QUEUE_PREFIX).and_then(|k| k.split_once(QUEUE_INFIX)) {
                let knob = known(key, name, |knob| knob.per_queue)?;
                check(key, knob, &value)?;
                queue_values.entry(path.to_string()).or_default().insert(knob.name, value);
            }
        }
        let cluster = Values { own: &cluster_values, inherited: None };
        let queues = queue_values.keys().map(|path| {
            // What a queue does not say itself its nearest ancestor says for it.
            let mut own = BTreeMap::new();
            for (ancestor, values) in &queue_values {
                if path == ancestor || path.starts_with(&format!("{ancestor}.")) {
                    own.extend(values.iter().map(|(k, v)| (*k, v.clone())));
                }
            }
            (path.clone(), QueueSettings::read(&Values { own: &own, inherited: Some(&cluster_values) }))
        });
        Ok(Settings {
            queues: queues.collect(),
            defaults: QueueSettings::read(&cluster),
            cluster: ClusterSettings {
                mode: match cluster.text("mode") {
                    "order" => Mode::Order,
                    "kill" => Mode::Kill,
                    // `off` and `observe` never reach the cluster: they compute what `suspend` would do.
                    _ => Mode::Suspend,
                },
                max_suspended_memory: cluster.number("max-suspended-memory"),
                plan_interval: Millis(cluster.number("plan-interval-ms")),
                claim_timeout: Millis(cluster.number("claim-timeout-ms")),
                large_ask_delay: Millis(cluster.number("large-ask-delay-ms")),
                large_ask_timeout: Millis(cluster.number("large-ask-timeout-ms")),
                stall_timeout: Millis(cluster.number("stall-timeout-ms")),
            },
        })
    }
}

impl QueueSettings {
    fn read(values: &Values<'_>) -> QueueSettings {
        QueueSettings {
            policy: PolicyKind::named(values.text("policy")).unwrap_or_default(),
            preemption: match values.text("preemption") {
                "wait" => Primitive::Wait,
                "suspend-or-kill" => Primitive::SuspendOrKill,
                "kill" => Primitive::Kill,
                "adaptive" => Primitive::Adaptive,
                _ => Primitive::Suspend,
            },
            victims: match values.text("victims") {
                "smallest-memory" => Victims::SmallestMemory,
                "nearest-to-completion" => Victims::NearestToCompletion,
                "largest-job" => Victims::LargestJob,
                _ => Victims::Youngest,
            },
            kill_before: Millis(values.number("kill-before-ms")),
            wait_before_end: Millis(values.number("wait-before-end-ms")),
            min_run: Millis(values.number("min-run-ms")),
            max_suspensions: values.number("max-suspensions"),
            min_resumed: Millis(values.number("min-resumed-ms")),
            max_suspension: Millis(values.number("max-suspension-ms")),
            resume_locality: Millis(values.number("resume-locality-ms")),
            default_task: Millis(values.number("default-task-ms")),
            hints: values.text("hints") == "honour",
            hfsp: HfspSettings {
                training_tasks: values.number("training-tasks"),
                training_timeout: Millis(values.number("training-timeout-ms")),
                training_share: values.number("training-share"),
                untrained_factor: values.number("untrained-factor"),
                retain_ageing: values.text("after-training") == "retain-ageing",
                late_shared: values.text("late-jobs") == "shared",
                ageing_speed: values.number("ageing-speed"),
            },
            flex: FlexSettings {
                metric: values.text("flex-metric").parse().unwrap_or(Metric::AvgResponse),
                epoch: Millis(values.number("flex-epoch-ms")),
                slack: values.number("flex-slack"),
                sure_share: values.number("flex-sure-share"),
                max_share: values.number("flex-max-share"),
                deadline: Some(values.number("flex-deadline-s")).filter(|deadline| *deadline > 0.0),
                weight: values.number("flex-weight"),
                steps: read_steps(values.text("flex-sla")).unwrap_or_default(),
            },
        }
    }
}

/// Values already checked against their ranges, falling back to what is inherited and then to the defaults.
struct Values<'a> {
    own: &'a BTreeMap<&'static str, String>,
    inherited: Option<&'a BTreeMap<&'static str, String>>,
}

impl Values<'_> {
    fn text(&self, name: &'static str) -> &str {
        let set = self.own.get(name).or_else(|| self.inherited.and_then(|values| values.get(name)));
        set.map_or_else(|| KNOBS.iter().find(|knob| knob.name == name).map_or("", |knob| knob.default), String::as_str)
    }

    fn number<T: FromStr + Default>(&self, name: &'static str) -> T {
        self.text(name).parse().unwrap_or_default()
    }
}

fn check(key: &str, knob: &Knob, value: &str) -> Result<(), SettingsError> {
    match knob.range.allows(value) {
        true => Ok(()),
        false => Err(SettingsError::BadValue { key: key.into(), value: value.into(), range: knob.range.to_string() }),
    }
}

fn known(key: &str, name: &str, scope: fn(&Knob) -> bool) -> Result<&'static Knob, SettingsError> {
    match KNOBS.iter().find(|knob| knob.name == name) {
        Some(knob) if scope(knob) => Ok(knob),
        Some(knob) => Err(SettingsError::NotPerQueue { key: key.into(), knob: knob.name.into() }),
        None => {
            let names: Vec<_> = KNOBS.iter().filter(|knob| scope(knob)).map(|knob| knob.name).collect();
            Err(SettingsError::UnknownKnob { key: key.into(), known: names.join(", ") })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(properties: &[(&str, &str)]) -> Result<Settings, SettingsError> {
        Settings::parse(&properties.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect())
    }

    #[test]
    fn every_default_is_within_its_own_range() {
        for knob in KNOBS {
            assert!(knob.range.allows(knob.default), "{}", knob.name);
        }
    }

    #[test]
    fn a_queue_inherits_from_its_parent_and_the_parent_from_the_cluster() {
        let settings = parse(&[
            ("yarn.scheduler.hiatus.min-run-ms", "7"),
            ("yarn.scheduler.capacity.root.a.hiatus.policy", "fair"),
            ("yarn.scheduler.capacity.root.a.b.hiatus.min-run-ms", "9"),
            ("yarn.scheduler.capacity.root.a.capacity", "50"),
        ])
        .unwrap();
        assert_eq!(settings.queue("root.a.b.c").policy, PolicyKind::Fair);
        assert_eq!(settings.queue("root.a.b").min_run, Millis(9));
        assert_eq!(settings.queue("root.a").min_run, Millis(7));
        assert_eq!(settings.queue("root.other").policy, PolicyKind::Hfsp);
    }

    #[test]
    fn a_wrong_value_names_key_value_and_range() {
        let error = parse(&[("yarn.scheduler.capacity.root.a.hiatus.min-run-ms", "soon")]).unwrap_err();
        let text = error.to_string();
        for part in ["root.a.hiatus.min-run-ms", "soon", "from 0 to"] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn unknown_and_misplaced_knobs_are_refused() {
        assert!(matches!(parse(&[("yarn.scheduler.hiatus.polcy", "fifo")]), Err(SettingsError::UnknownKnob { .. })));
        assert!(matches!(
            parse(&[("yarn.scheduler.capacity.root.a.hiatus.mode", "off")]),
            Err(SettingsError::NotPerQueue { .. })
        ));
    }

    #[test]
    fn properties_of_other_rooms_are_left_alone() {
        assert_eq!(parse(&[("yarn.scheduler.hiatus.native.path", "x")]), Ok(Settings::default()));
    }
}
