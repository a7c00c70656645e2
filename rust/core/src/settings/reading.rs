//! How properties become settings.
//!
//! A property `yarn.scheduler.hiatus.<knob>` sets a knob for the whole cluster, and
//! `yarn.scheduler.capacity.<queue-path>.hiatus.<knob>` for one queue and all below it. Settings are parsed as a whole:
//! one wrong value refuses them all, so that a bad refresh leaves the old ones in force.

use super::knobs::{knobs, Knob, CLUSTER_PREFIX, OF_RESOURCE_MANAGER, QUEUE_INFIX, QUEUE_PREFIX};
use super::suspend_types::SuspendTypes;
use super::words::Word;
use super::{
    ClusterSettings, FlexSettings, ForecastSettings, GpSettings, HfspSettings, HindsightSettings, HintRules,
    LendSettings, PlacerSettings, QueueSettings, Settings, StarvationSettings,
};
use crate::flex::read_steps;
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
    #[error("{key}: no such property; the nearest is {nearest}; the settings in force are kept")]
    UnknownKnob {
        /// Whole property name.
        key: String,
        /// Whole name of the property that is most like it.
        nearest: String,
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
            Err(error) => unreachable!("the defaults of knobs are within their ranges: {error}"),
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
                if OF_RESOURCE_MANAGER.contains(&name) {
                    continue;
                }
                let knob = find(name).ok_or_else(|| unknown(key, name, CLUSTER_PREFIX, cluster_names()))?;
                check(key, knob, &value)?;
                cluster_values.insert(knob.name, value);
            } else if let Some((path, name)) = key.strip_prefix(QUEUE_PREFIX).and_then(|k| k.rsplit_once(QUEUE_INFIX)) {
                let prefix = format!("{QUEUE_PREFIX}{path}{QUEUE_INFIX}");
                let knob = find(name).ok_or_else(|| unknown(key, name, &prefix, queue_names()))?;
                if !knob.per_queue {
                    return Err(SettingsError::NotPerQueue { key: key.clone(), knob: knob.name.into() });
                }
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
            cluster: ClusterSettings::read(&cluster),
        })
    }
}

impl ClusterSettings {
    fn read(values: &Values<'_>) -> ClusterSettings {
        let observes = values.is("mode", "observe");
        ClusterSettings {
            mode: values.word("mode"),
            max_suspended_memory: values.number("max-suspended-memory"),
            plan_interval: values.millis("plan-interval-ms"),
            claim_timeout: values.millis("claim-timeout-ms"),
            large_ask_delay: values.millis("large-ask-delay-ms"),
            large_ask_timeout: values.millis("large-ask-timeout-ms"),
            stall_timeout: values.millis("stall-timeout-ms"),
            silent_node: values.millis("silent-node-ms"),
            refused_rest: values.millis("refused-rest-ms"),
            starvation: StarvationSettings {
                interval: values.millis("gp-interval-ms"),
                period: values.millis("gp-period-ms"),
                busy_share: values.number("gp-busy-share"),
                busy_time: values.number("gp-busy-time"),
                quality: values.number("gp-quality"),
                single_job: values.number("gp-single-job"),
                long_task: values.millis("gp-long-task-ms"),
                first_part: values.number("gp-first-part"),
                timeout: values.millis("gp-timeout-ms"),
            },
            forecast: ForecastSettings {
                interval: values.millis("forecast-interval-ms"),
                max_size: values.number("forecast-max-size"),
                observes,
            },
            hindsight: HindsightSettings {
                interval: values.millis("hindsight-interval-ms"),
                window: values.millis("hindsight-window-ms"),
                max_size: values.number("hindsight-max-size"),
                observes,
            },
        }
    }
}

impl QueueSettings {
    fn read(values: &Values<'_>) -> QueueSettings {
        QueueSettings {
            policy: values.word("policy"),
            preemption: values.word("preemption"),
            suspend_types: values.types("suspend-types"),
            preemption_within: values.word("preemption-within"),
            victims: values.word("victims"),
            kill_before: values.millis("kill-before-ms"),
            wait_before_end: values.millis("wait-before-end-ms"),
            min_run: values.millis("min-run-ms"),
            suspension_budget: values.millis("suspension-budget-ms"),
            preemption_threshold: values.number("preemption-threshold"),
            max_am_share: values.number("max-am-share"),
            min_resumed: values.millis("min-resumed-ms"),
            max_suspension: values.millis("max-suspension-ms"),
            resume_locality: values.millis("resume-locality-ms"),
            default_task: values.millis("default-task-ms"),
            lend: LendSettings {
                on: values.is("lend", "maps"),
                threshold: values.number("lend-threshold"),
                resume_part: values.number("lend-resume-part"),
                wait: values.is("lend-wait", "on"),
            },
            gp: GpSettings {
                class: values.word("gp-class"),
                candidates: values.word("gp-candidates"),
                max_kills: values.if_any("gp-max-kills"),
                starvation: values.is("gp-starvation", "on"),
            },
            hints: HintRules {
                honour: values.is("hints", "honour"),
                max_weight: values.number("hints-max-weight"),
                max_penalty: values.number("hints-max-penalty"),
                metric: values.is("hints-metric", "honour"),
                gp_class: values.is("hints-gp-class", "honour"),
                spared: values.is("hints-suspend", "honour"),
            },
            hfsp: HfspSettings {
                training_tasks: values.number("training-tasks"),
                training_timeout: values.millis("training-timeout-ms"),
                training_share: values.number("training-share"),
                training_slots: values.if_any("training-slots"),
                training_preempts: values.is("training-preempts", "on"),
                untrained_factor: values.number("untrained-factor"),
                retain_ageing: values.is("after-training", "retain-ageing"),
                late_shared: values.is("late-jobs", "shared"),
                ageing_speed: values.number("ageing-speed"),
            },
            flex: FlexSettings {
                metric: values.word("flex-metric"),
                epoch: values.millis("flex-epoch-ms"),
                slack: values.number("flex-slack"),
                sure_share: values.number("flex-sure-share"),
                max_share: values.number("flex-max-share"),
                deadline: values.if_any("flex-deadline-s"),
                weight: values.number("flex-weight"),
                steps: read_steps(values.text("flex-sla")).unwrap_or_default(),
            },
            placer: PlacerSettings {
                on: values.is("batchmr-placer", "on"),
                literal: values.is("batchmr-key", "literal"),
                cluster_size: values.number("batchmr-cluster-size"),
                data_size: values.number("batchmr-data-size"),
                difference: values.number("batchmr-difference"),
                alpha: values.number("batchmr-alpha"),
                samples: values.number("batchmr-samples"),
                sampling_timeout: values.millis("batchmr-sampling-timeout-ms"),
                spill: values.is("batchmr-spill", "on"),
                task_input: values.number("batchmr-task-input"),
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
    /// Every name is read whenever settings are, the defaults first of all: one that is no knob's passes no test.
    fn text(&self, name: &'static str) -> &str {
        let set = self.own.get(name).or_else(|| self.inherited.and_then(|values| values.get(name)));
        match (set, find(name)) {
            (Some(set), _) => set,
            (None, Some(knob)) => knob.default,
            (None, None) => unreachable!("{name} is read and is no knob"),
        }
    }

    fn is(&self, name: &'static str, word: &str) -> bool {
        self.text(name) == word
    }

    fn word<T: Word>(&self, name: &'static str) -> T {
        let text = self.text(name);
        T::named(text).unwrap_or_else(|| unreachable!("{name} allows {text}, which is none of its words"))
    }

    fn types(&self, name: &'static str) -> SuspendTypes {
        let text = self.text(name);
        SuspendTypes::read(text).unwrap_or_else(|| unreachable!("{name} allows {text}, which are no application types"))
    }

    fn number<T: FromStr>(&self, name: &'static str) -> T {
        let text = self.text(name);
        text.parse().unwrap_or_else(|_| unreachable!("{name} allows {text}, which is not of the type it is read as"))
    }

    fn millis(&self, name: &'static str) -> Millis {
        Millis(self.number(name))
    }

    /// The number; `None` for 0, which stands for none.
    fn if_any<T: FromStr + Default + PartialOrd>(&self, name: &'static str) -> Option<T> {
        Some(self.number(name)).filter(|number| *number > T::default())
    }
}

fn check(key: &str, knob: &Knob, value: &str) -> Result<(), SettingsError> {
    match knob.range.allows(value) {
        true => Ok(()),
        false => Err(SettingsError::BadValue { key: key.into(), value: value.into(), range: knob.range.to_string() }),
    }
}

fn find(name: &str) -> Option<&'static Knob> {
    knobs().find(|knob| knob.name == name)
}

fn cluster_names() -> impl Iterator<Item = &'static str> {
    knobs().map(|knob| knob.name).chain(OF_RESOURCE_MANAGER.iter().copied())
}

fn queue_names() -> impl Iterator<Item = &'static str> {
    knobs().filter(|knob| knob.per_queue).map(|knob| knob.name)
}

fn unknown(key: &str, name: &str, prefix: &str, known: impl Iterator<Item = &'static str>) -> SettingsError {
    let likeness = |known: &&str| strsim::normalized_damerau_levenshtein(name, known);
    let nearest = known.max_by(|a, b| likeness(a).total_cmp(&likeness(b))).unwrap_or_default();
    SettingsError::UnknownKnob { key: key.into(), nearest: format!("{prefix}{nearest}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{PolicyKind, Range};

    fn parse(properties: &[(&str, &str)]) -> Result<Settings, SettingsError> {
        Settings::parse(&properties.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect())
    }

    #[test]
    fn every_default_is_within_its_own_range() {
        for knob in knobs() {
            assert!(knob.range.allows(knob.default), "{}", knob.name);
        }
    }

    #[test]
    fn a_queue_inherits_from_its_parent_and_the_parent_from_the_cluster() {
        let settings = parse(&[
            ("yarn.scheduler.hiatus.min-run-ms", "7"),
            ("yarn.scheduler.capacity.root.a.hiatus.policy", "fair"),
            ("yarn.scheduler.capacity.root.a.b.hiatus.min-run-ms", "9"),
            ("yarn.scheduler.capacity.root.hiatus.b.hiatus.min-run-ms", "11"),
            ("yarn.scheduler.capacity.root.a.capacity", "50"),
        ])
        .unwrap();
        assert_eq!(settings.queue("root.a.b.c").policy, PolicyKind::Fair);
        assert_eq!(settings.queue("root.a.b").min_run, Millis(9));
        assert_eq!(settings.queue("root.a").min_run, Millis(7));
        assert_eq!(settings.queue("root.hiatus.b").min_run, Millis(11));
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
    fn a_misspelt_knob_is_refused_with_the_nearest_right_name() {
        for (wrong, right) in [
            ("yarn.scheduler.hiatus.polcy", "yarn.scheduler.hiatus.policy"),
            ("yarn.scheduler.hiatus.min-run", "yarn.scheduler.hiatus.min-run-ms"),
            ("yarn.scheduler.hiatus.rm.step-intervall-ms", "yarn.scheduler.hiatus.rm.step-interval-ms"),
            ("yarn.scheduler.hiatus.step-interval-ms", "yarn.scheduler.hiatus.rm.step-interval-ms"),
            ("yarn.scheduler.hiatus.native.pth", "yarn.scheduler.hiatus.native.extract-dir"),
            ("yarn.scheduler.capacity.root.a.hiatus.hint", "yarn.scheduler.capacity.root.a.hiatus.hints"),
            ("yarn.scheduler.capacity.root.a.hiatus.victim.s", "yarn.scheduler.capacity.root.a.hiatus.victims"),
        ] {
            let error = parse(&[(wrong, "fifo")]).unwrap_err();
            assert_eq!(error, SettingsError::UnknownKnob { key: wrong.into(), nearest: right.into() });
        }
    }

    #[test]
    fn a_knob_of_the_cluster_is_refused_for_a_queue() {
        let error = parse(&[("yarn.scheduler.capacity.root.a.hiatus.mode", "off")]).unwrap_err();
        assert!(error.to_string().ends_with("as yarn.scheduler.hiatus.mode"), "{error}");
    }

    #[test]
    fn knobs_of_the_resource_manager_are_left_to_it() {
        for name in OF_RESOURCE_MANAGER {
            assert_eq!(parse(&[(&format!("{CLUSTER_PREFIX}{name}"), "x")]), Ok(Settings::default()), "{name}");
        }
    }

    #[test]
    fn every_word_that_a_knob_allows_means_something_and_no_two_the_same_but_for_off_and_observe() {
        for knob in knobs() {
            let Range::OneOf(words) = knob.range else { continue };
            let of = |word: &&str| parse(&[(&format!("{CLUSTER_PREFIX}{}", knob.name), word)]).unwrap();
            let settings: Vec<_> = words.iter().map(of).collect();
            let alike = settings.iter().enumerate().filter(|(at, one)| settings[..*at].contains(one)).count();
            assert_eq!(alike, usize::from(knob.name == "mode"), "{}", knob.name);
        }
    }

    #[test]
    fn every_knob_is_read() {
        for knob in knobs() {
            let low_and_high = |low: String, high: String| if knob.default == low { high } else { low };
            let other = match knob.range {
                Range::Whole(low, high) => low_and_high(low.to_string(), high.to_string()),
                Range::Fraction(low, high) => low_and_high(low.to_string(), high.to_string()),
                Range::OneOf(words) => words.iter().rfind(|word| **word != knob.default).unwrap().to_string(),
                Range::Steps => "1:1".to_string(),
                Range::Types => "*".to_string(),
            };
            let settings = parse(&[(&format!("{CLUSTER_PREFIX}{}", knob.name), &other)]).unwrap();
            assert_ne!(settings, Settings::default(), "{}", knob.name);
        }
    }
}
