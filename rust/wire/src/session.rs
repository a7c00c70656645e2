//! A core that is spoken to in records: in the ResourceManager, and wherever that is done again.

use crate::convert::{self, BadRecord};
use hiatus_core::decision::Decision;
use hiatus_core::fact::Fact;
use hiatus_core::settings::{Settings, SettingsError};
use hiatus_core::units::Millis;
use hiatus_core::Scheduler;
use std::collections::BTreeMap;
use thiserror::Error;

/// What is refused.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The properties are refused.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The properties are not a JSON object of strings.
    #[error("properties are not a JSON object of strings: {0}")]
    Properties(#[from] serde_json::Error),
    /// The facts hold something else than records.
    #[error(transparent)]
    Record(#[from] BadRecord),
}

/// Parses properties as the ResourceManager's side tells them.
///
/// # Errors
/// See [`SessionError::Settings`] and [`SessionError::Properties`].
pub fn settings(json: &str) -> Result<Settings, SessionError> {
    Ok(read(json)?.1)
}

fn read(json: &str) -> Result<(BTreeMap<String, String>, Settings), SessionError> {
    let properties = serde_json::from_str(json)?;
    let settings = Settings::parse(&properties)?;
    Ok((properties, settings))
}

/// One scheduler, and what its steps need again and again.
#[derive(Debug)]
pub struct Session {
    scheduler: Scheduler,
    properties: BTreeMap<String, String>,
    facts: Vec<Fact>,
    decisions: Vec<Decision>,
}

impl Session {
    /// A scheduler that knows of nothing yet, with these properties.
    ///
    /// # Errors
    /// If they are refused.
    pub fn new(json: &str) -> Result<Session, SessionError> {
        let (properties, settings) = read(json)?;
        Ok(Session { scheduler: Scheduler::new(settings), properties, facts: Vec::new(), decisions: Vec::new() })
    }

    /// Puts other settings in force.
    ///
    /// # Errors
    /// If the properties are refused; the old ones stay.
    pub fn configure(&mut self, json: &str) -> Result<(), SessionError> {
        let (properties, settings) = read(json)?;
        self.scheduler.configure(settings);
        self.properties = properties;
        Ok(())
    }

    /// One step over the facts in `records`; its decisions are appended to `out` as records.
    ///
    /// # Errors
    /// If a record cannot be read; no fact of the batch is used then.
    pub fn step(&mut self, now_ms: i64, records: &[u8], out: &mut Vec<u8>) -> Result<(), SessionError> {
        self.facts.clear();
        self.decisions.clear();
        convert::facts(records, &mut self.facts)?;
        let now = Millis(u64::try_from(now_ms).unwrap_or(0));
        self.scheduler.step(now, &self.facts, &mut self.decisions);
        for decision in self.decisions.drain(..) {
            convert::decision(decision, out);
        }
        Ok(())
    }

    /// The properties in force.
    pub fn properties(&self) -> &BTreeMap<String, String> {
        &self.properties
    }

    /// The facts of the last step.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// The scheduler.
    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }
}
