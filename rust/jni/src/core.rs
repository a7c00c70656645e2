//! The cores behind the handles that Java holds.

use crate::convert::{self, BadRecord};
use hiatus_core::decision::Decision;
use hiatus_core::fact::Fact;
use hiatus_core::settings::{Settings, SettingsError};
use hiatus_core::units::Millis;
use hiatus_core::Scheduler;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use thiserror::Error;

/// What can go wrong at the boundary.
#[derive(Debug, Error)]
pub enum CoreError {
    /// The properties are refused.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The properties are not a JSON object of strings.
    #[error("properties are not a JSON object of strings: {0}")]
    Properties(#[from] serde_json::Error),
    /// A buffer holds something else than records.
    #[error(transparent)]
    Record(#[from] BadRecord),
    /// A length is beyond the buffer.
    #[error("buffer of {capacity} bytes cannot hold {length}")]
    BufferTooShort {
        /// Bytes announced.
        length: usize,
        /// Bytes there are.
        capacity: usize,
    },
    /// No core has this handle: never made, or destroyed.
    #[error("no core has handle {0}")]
    NoSuchCore(i64),
    /// An earlier call panicked half-way; the state cannot be trusted.
    #[error("this core panicked earlier and must be made anew")]
    Broken,
    /// The JVM refused.
    #[error("JVM: {0}")]
    Jvm(String),
}

/// One scheduler and what belongs to its crossing.
pub struct Core {
    scheduler: Scheduler,
    facts: Vec<Fact>,
    decisions: Vec<Decision>,
    /// Answers in whole records, of which those from `given` on wait to be fetched.
    answers: Vec<u8>,
    given: usize,
    busy: bool,
}

/// All cores by handle. A handle is never given twice.
struct Registry {
    last: i64,
    cores: BTreeMap<i64, Arc<Mutex<Core>>>,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry { last: 0, cores: BTreeMap::new() });

/// Parses properties as Java sends them.
///
/// # Errors
/// See [`CoreError::Settings`] and [`CoreError::Properties`].
pub fn settings(json: &str) -> Result<Settings, CoreError> {
    let properties: BTreeMap<String, String> = serde_json::from_str(json)?;
    Ok(Settings::parse(&properties)?)
}

impl Core {
    /// Makes a core and gives its handle.
    ///
    /// # Errors
    /// If the properties are refused.
    pub fn create(json: &str) -> Result<i64, CoreError> {
        let core = Core {
            scheduler: Scheduler::new(settings(json)?),
            facts: Vec::new(),
            decisions: Vec::new(),
            answers: Vec::new(),
            given: 0,
            busy: false,
        };
        let mut registry = REGISTRY.lock();
        registry.last += 1;
        let handle = registry.last;
        registry.cores.insert(handle, Arc::new(Mutex::new(core)));
        Ok(handle)
    }

    /// Ends a core.
    ///
    /// # Errors
    /// If there is none of that handle.
    pub fn destroy(handle: i64) -> Result<(), CoreError> {
        REGISTRY.lock().cores.remove(&handle).map(|_| ()).ok_or(CoreError::NoSuchCore(handle))
    }

    /// Calls `work` with the core of that handle, alone. A core in which `work` panicked refuses all that follows.
    ///
    /// # Errors
    /// If there is none, it is broken, or `work` fails.
    pub fn with<T>(handle: i64, work: impl FnOnce(&mut Core) -> Result<T, CoreError>) -> Result<T, CoreError> {
        let core = REGISTRY.lock().cores.get(&handle).cloned().ok_or(CoreError::NoSuchCore(handle))?;
        let mut core = core.lock();
        if std::mem::replace(&mut core.busy, true) {
            return Err(CoreError::Broken);
        }
        let result = work(&mut core);
        core.busy = false;
        result
    }

    /// Puts other settings in force.
    ///
    /// # Errors
    /// If the properties are refused; the old ones stay.
    pub fn configure(&mut self, json: &str) -> Result<(), CoreError> {
        self.scheduler.configure(settings(json)?);
        Ok(())
    }

    /// One step; its answers are fetched with [`Core::give`].
    ///
    /// # Errors
    /// If a record cannot be read; no fact of the batch is used then.
    pub fn step(&mut self, now_ms: i64, records: &[u8]) -> Result<(), CoreError> {
        self.facts.clear();
        self.decisions.clear();
        convert::facts(records, &mut self.facts)?;
        let now = Millis(u64::try_from(now_ms).unwrap_or(0));
        self.scheduler.step(now, &self.facts, &mut self.decisions);
        self.begin_answers();
        for decision in self.decisions.drain(..) {
            convert::decision(decision, &mut self.answers);
        }
        Ok(())
    }

    /// Whether another step is worth while before there are new facts.
    pub fn has_more(&self) -> bool {
        self.scheduler.has_more()
    }

    /// Whether reduces of any queue lend their room.
    pub fn lends(&self) -> bool {
        self.scheduler.settings().any_lending()
    }

    /// Prepares other answers than a step's.
    pub fn write(&mut self, records: impl FnOnce(&Scheduler, &mut Vec<u8>)) {
        self.begin_answers();
        records(&self.scheduler, &mut self.answers);
    }

    /// Moves as many whole answers into `buffer` as fit, and says how many bytes they take.
    pub fn give(&mut self, buffer: &mut [u8]) -> i32 {
        let left = self.answers.get(self.given..).unwrap_or_default();
        let mut used = 0;
        while let Some(length) = left.get(used..).and_then(convert::length) {
            if used + length > buffer.len() {
                break;
            }
            used += length;
        }
        buffer[..used].copy_from_slice(&left[..used]);
        self.given += used;
        i32::try_from(used).unwrap_or(i32::MAX)
    }

    fn begin_answers(&mut self) {
        self.answers.clear();
        self.given = 0;
    }

    /// Why everything is as it is, as JSON.
    ///
    /// # Errors
    /// If it cannot be written as JSON, which would be a defect.
    pub fn explain(&self) -> Result<String, CoreError> {
        Ok(serde_json::to_string(&hiatus_core::explain::explain(&self.scheduler))?)
    }
}
