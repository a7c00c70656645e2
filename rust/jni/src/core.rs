//! The cores behind the handles that Java holds.

use crate::explained::Explained;
use crate::said;
use hiatus_background::forecast::Forecaster;
use hiatus_background::hindsight::Hindsight;
use hiatus_core::Scheduler;
use hiatus_history::{Bounds, Keeper};
use hiatus_wire::convert;
use hiatus_wire::session::{Session, SessionError};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use thiserror::Error;

/// What can go wrong at the boundary.
#[derive(Debug, Error)]
pub enum CoreError {
    /// Properties are refused, or a buffer holds something else than records.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// What is to be told cannot be written as JSON.
    #[error("cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
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
    /// The system gives no thread for history, forecasts or hindsight.
    #[error("no thread for history, forecasts or hindsight: {0}")]
    Thread(#[from] std::io::Error),
    /// The JVM refused.
    #[error("JVM: {0}")]
    Jvm(String),
}

/// One scheduler and what belongs to its crossing.
pub struct Core {
    session: Session,
    /// Answers in whole records, of which those from `given` on wait to be fetched.
    answers: Vec<u8>,
    given: usize,
    /// Who remembers what jobs did, and where.
    history: Option<(PathBuf, Bounds, Keeper)>,
    /// Who runs copies ahead.
    forecaster: Forecaster,
    /// Who simulates what the settings would have saved.
    hindsight: Hindsight,
    busy: bool,
}

/// What is known of so many bytes is told at once; the rest waits for the next call.
const MOST_KNOWN: usize = 1 << 15;

/// All cores by handle. A handle is never given twice.
struct Registry {
    last: i64,
    cores: BTreeMap<i64, Arc<Mutex<Core>>>,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry { last: 0, cores: BTreeMap::new() });

impl Core {
    /// Makes a core and gives its handle.
    ///
    /// # Errors
    /// If the properties are refused.
    pub fn create(json: &str) -> Result<i64, CoreError> {
        let session = Session::new(json)?;
        let forecaster = Forecaster::begin(session.scheduler().settings().cluster.forecast)?;
        let hindsight = Hindsight::begin(session.scheduler(), session.properties().clone())?;
        let core = Core { session, answers: Vec::new(), given: 0, history: None, forecaster, hindsight, busy: false };
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
        said::hear_core();
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
    /// If the properties are refused: the old ones stay. If the system gives no thread.
    pub fn configure(&mut self, json: &str) -> Result<(), CoreError> {
        self.session.configure(json)?;
        let wanted = self.session.scheduler().settings().cluster.forecast;
        if wanted != self.forecaster.settings() {
            self.forecaster = Forecaster::begin(wanted)?;
        }
        self.hindsight.configure(self.session.scheduler(), self.session.properties().clone())?;
        Ok(())
    }

    /// One step; its answers are fetched with [`Core::give`].
    ///
    /// # Errors
    /// If a record cannot be read; no fact of the batch is used then.
    pub fn step(&mut self, now_ms: i64, records: &[u8]) -> Result<(), CoreError> {
        self.begin_answers();
        self.session.step(now_ms, records, &mut self.answers)?;
        if let Some((_, _, keeper)) = &mut self.history {
            keeper.note(self.session.scheduler().notes());
        }
        self.forecaster.look(self.session.scheduler());
        self.hindsight.look(self.session.scheduler(), self.session.facts());
        Ok(())
    }

    /// From now on what jobs did is remembered in that directory, or nowhere. Nobody waits for a disk.
    ///
    /// # Errors
    /// If the system gives no thread; what is wrong with the directory is said in the log.
    pub fn keep_history(&mut self, wanted: Option<(PathBuf, Bounds)>) -> Result<(), CoreError> {
        let kept = self.history.as_ref().map(|(dir, bounds, _)| (dir.clone(), *bounds));
        if kept != wanted {
            self.history = None;
            if let Some((dir, bounds)) = wanted {
                let keeper = Keeper::begin(&dir, bounds)?;
                self.history = Some((dir, bounds, keeper));
            }
        }
        Ok(())
    }

    /// Prepares, as facts for the next step, what has become known of applications since this was last asked.
    pub fn tell_known(&mut self) {
        self.begin_answers();
        let Some((_, _, keeper)) = &self.history else { return };
        while let Some((app, records)) =
            Some(self.answers.len()).filter(|bytes| *bytes < MOST_KNOWN).and_then(|_| keeper.known())
        {
            records.iter().for_each(|record| convert::remembered(app, record, &mut self.answers));
        }
    }

    /// Whether another step is worth while before there are new facts.
    pub fn has_more(&self) -> bool {
        self.session.scheduler().has_more()
    }

    /// Whether applications wait to be let in, and their order was computed anew.
    pub fn admits(&self) -> bool {
        self.session.scheduler().reviews_admission()
    }

    /// Whether reduces of any queue lend their room.
    pub fn lends(&self) -> bool {
        self.session.scheduler().settings().any_lending()
    }

    /// Prepares other answers than a step's.
    pub fn write(&mut self, records: impl FnOnce(&Scheduler, &mut Vec<u8>)) {
        self.begin_answers();
        records(self.session.scheduler(), &mut self.answers);
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
        let (forecast, hindsight) = (self.forecaster.latest(), self.hindsight.latest());
        Ok(serde_json::to_string(&Explained::of(self.session.scheduler(), &forecast, &hindsight))?)
    }
}
