//! The same facts to the same core: law 9, shown on what really happened.

use std::io::Read;

use hiatus_wire::convert;
use hiatus_wire::log::{Entry, Log, LogError};
use hiatus_wire::session::{Session, SessionError};

/// Where a replay and the log part, or the log ends badly.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The log cannot be read on.
    #[error(transparent)]
    Log(#[from] LogError),
    /// What the core once took it refuses now.
    #[error("step {step}: the core refuses what it took when it was recorded: {source}")]
    Refused {
        /// Which step of the log, from 1.
        step: u64,
        /// Why.
        source: SessionError,
    },
    /// Another decision.
    #[error(transparent)]
    Differs(Box<Difference>),
}

/// The first decision that is not the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the decisions differ at step {step}, {} s into the log ({at_ms} ms after 1970), decision {decision}:\n  \
     recorded: {recorded}\n  replayed: {replayed}",
    *into_ms as f64 / 1000.0
)]
pub struct Difference {
    /// Which step of the log, from 1.
    pub step: u64,
    /// Time from the log's first step to this, in ms.
    pub into_ms: i64,
    /// The same, in ms after 1970.
    pub at_ms: i64,
    /// Which decision of the step, from 1.
    pub decision: u64,
    /// What the log says.
    pub recorded: String,
    /// What the core says now.
    pub replayed: String,
}

/// How far a replay came, all being the same up to there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Steps that were taken.
    pub steps: u64,
    /// Facts told in them.
    pub facts: u64,
    /// Decisions that were the same, byte for byte.
    pub decisions: u64,
    /// How often the core was given properties, the first time included.
    pub configurations: u64,
    /// When the first step was, in ms after 1970.
    pub from_ms: i64,
    /// From the first step to the last, in ms.
    pub lasted_ms: i64,
    /// Whether the core was ended before all answers of its last step had been fetched: those that had been are compared.
    pub ends_within_a_step: bool,
}

/// A step being replayed.
#[derive(Debug, Default)]
struct Step {
    now_ms: i64,
    facts: Vec<u8>,
    /// Whether the core has been asked.
    taken: bool,
    /// What it answered, of which the log has told so much.
    answers: Vec<u8>,
    told: usize,
    decision: u64,
}

impl Step {
    /// The core's next answer; empty behind the last.
    fn next(&self) -> &[u8] {
        let rest = &self.answers[self.told..];
        &rest[..convert::length(rest).unwrap_or_default()]
    }

    /// Asks the core, unless it has been asked.
    fn take(&mut self, core: Option<&mut Session>, step: u64) -> Result<(), ReplayError> {
        if let Some(core) = core.filter(|_| !self.taken) {
            self.taken = true;
            core.step(self.now_ms, &self.facts, &mut self.answers)
                .map_err(|source| ReplayError::Refused { step, source })?;
        }
        Ok(())
    }
}

/// Replays a whole log; `done` says how far it came, if it did not come to the end as well.
///
/// # Errors
/// The first difference, or where the log cannot be read on.
pub fn replay<R: Read>(log: &mut Log<R>, done: &mut Replayed) -> Result<(), ReplayError> {
    let mut core: Option<Session> = None;
    let mut step = Step { taken: true, ..Step::default() };
    let mut first_ms = None;
    loop {
        // What the log lends ends with the next call.
        let (at_ms, Some(entry)) = (log.epoch_ms(step.now_ms), log.next_entry()?) else { return Ok(()) };
        if !matches!(entry, Entry::Fact(_)) {
            step.take(core.as_mut(), done.steps)?;
        }
        let differs = |step: &Step, done: &Replayed, recorded: &[u8]| {
            ReplayError::Differs(Box::new(Difference {
                step: done.steps,
                into_ms: done.lasted_ms,
                at_ms,
                decision: step.decision + 1,
                recorded: words(recorded),
                replayed: words(step.next()),
            }))
        };
        match entry {
            Entry::Configured { properties } => {
                let refused = |source| ReplayError::Refused { step: done.steps, source };
                match &mut core {
                    Some(core) => core.configure(properties).map_err(refused)?,
                    None => core = Some(Session::new(properties).map_err(refused)?),
                }
                done.configurations += 1;
            }
            Entry::Stepped { now_ms } => {
                let first = *first_ms.get_or_insert(now_ms);
                done.steps += 1;
                done.lasted_ms = now_ms - first;
                step.facts.clear();
                step.answers.clear();
                step = Step { now_ms, facts: step.facts, answers: step.answers, ..Step::default() };
                done.from_ms = log.epoch_ms(first);
            }
            Entry::Fact(record) => {
                step.facts.extend_from_slice(record);
                done.facts += 1;
            }
            Entry::Answer(record) => {
                if step.next() != record {
                    return Err(differs(&step, done, record));
                }
                step.told += record.len();
                step.decision += 1;
                done.decisions += 1;
            }
            Entry::Answered => {
                if !step.next().is_empty() {
                    return Err(differs(&step, done, &[]));
                }
            }
            Entry::Ended => done.ends_within_a_step = step.told < step.answers.len(),
        }
    }
}

fn words(record: &[u8]) -> String {
    match convert::decided(record) {
        Some(decision) => format!("{decision:?}"),
        None if record.is_empty() => "nothing more".to_owned(),
        None => format!("an answer that is no decision: {record:?}"),
    }
}
