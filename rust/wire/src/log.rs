//! What went into a core and what came out of it, as the ResourceManager writes it down: records one after the other, as they
//! crossed, with marks ([`MARKS`](crate::layout::MARKS)) between them. A log is one life of one core, from its making on.
//!
//! ```text
//! Begun  Configured  ( Stepped fact… answer… Answered | Configured )…  Ended
//! ```
//!
//! Between a step's answers and `Answered` there may be a `Configured`: the ResourceManager carries out many answers in parts.

use crate::convert;
use crate::layout::{self, Record, ABI, ANSWERS, FACTS, HEADER};
use std::io::{self, ErrorKind, Read};
use thiserror::Error;

/// No record is longer: properties are the longest.
const MOST_BYTES: usize = 1 << 24;

/// What cannot be read. Offsets are in the unpacked log.
#[derive(Debug, Error)]
pub enum LogError {
    /// It does not begin as a log.
    #[error("this is no log of Hiatus: it does not begin with the mark of one")]
    NoLog,
    /// Its records may mean something else.
    #[error(
        "the log was written by another build of Hiatus (its ABI number is {found}, here it is {ABI}): use the `hiatus` of \
         that build"
    )]
    OtherBuild {
        /// The ABI number in it.
        found: i32,
    },
    /// It ends before its end.
    #[error(
        "the log is cut off at byte {at} (unpacked): its writer was killed or still writes, or the file was cut; what is before that is used"
    )]
    CutOff {
        /// Where the first record that is missing would begin.
        at: u64,
    },
    /// It cannot be read or unpacked.
    #[error(
        "the log is damaged, or cannot be read, behind byte {at} (unpacked): {source}; what is before that is used"
    )]
    Unreadable {
        /// Up to here it could.
        at: u64,
        /// Why not.
        source: io::Error,
    },
    /// What stands there is no record, or not where it may be.
    #[error(
        "the log is damaged at byte {at} (unpacked): no record of kind {kind} and {length} bytes may stand there; what is \
         before that is used"
    )]
    Strange {
        /// Where it begins.
        at: u64,
        /// What it says it is.
        kind: u32,
        /// As long as it says it is.
        length: u32,
    },
}

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entry<'a> {
    /// The core is made, or configured anew.
    Configured {
        /// A JSON object of strings.
        properties: &'a str,
    },
    /// A step; its facts follow.
    Stepped {
        /// The time that the core was given, in ms.
        now_ms: i64,
    },
    /// A fact of the step.
    Fact(&'a [u8]),
    /// An answer to it, in order.
    Answer(&'a [u8]),
    /// The step's answers are complete.
    Answered,
    /// The log is complete.
    Ended,
}

/// What the last entry leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// There is no core yet.
    Begun,
    /// A step's facts.
    Facts,
    /// A step's answers.
    Answers,
    /// Nothing.
    Between,
    /// Nothing follows.
    Ended,
}

/// Reads a log from the beginning.
#[derive(Debug)]
pub struct Log<R> {
    from: R,
    at: u64,
    record: Vec<u8>,
    begun: layout::Begun,
    place: Place,
}

impl<R: Read> Log<R> {
    /// Opens a log that is unpacked already.
    ///
    /// # Errors
    /// It is none, or another build's.
    pub fn open(from: R) -> Result<Log<R>, LogError> {
        let begun = layout::Begun { abi: 0, at_ms: 0, now_ms: 0 };
        let mut log = Log { from, at: 0, record: Vec::new(), begun, place: Place::Begun };
        match log.read_record() {
            Ok(layout::Begun::KIND) => {}
            Err(LogError::Unreadable { at, source }) => return Err(LogError::Unreadable { at, source }),
            _ => return Err(LogError::NoLog),
        }
        (log.begun, _) = layout::Begun::read(&log.record[HEADER..]).ok_or(LogError::NoLog)?;
        match log.begun.abi {
            ABI => Ok(log),
            found => Err(LogError::OtherBuild { found }),
        }
    }

    /// When that time of a step was, in ms after 1970.
    pub fn epoch_ms(&self, now_ms: i64) -> i64 {
        self.begun.at_ms.saturating_add(now_ms.saturating_sub(self.begun.now_ms))
    }

    /// Bytes of the unpacked log before the next entry.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// The next entry; `None` behind the last one.
    ///
    /// # Errors
    /// The log is cut off or damaged here.
    pub fn next_entry(&mut self) -> Result<Option<Entry<'_>>, LogError> {
        if self.place == Place::Ended {
            return Ok(None);
        }
        let at = self.at;
        let kind = self.read_record()?;
        let strange = LogError::Strange { at, kind, length: self.record.len() as u32 };
        let (entry, then) = entry(kind, &self.record, self.place).ok_or(strange)?;
        self.place = then;
        if entry == Entry::Ended {
            // What is packed has a checksum at its end, which is not looked at before all has been read.
            match self.from.read(&mut [0]) {
                Ok(0) => {}
                Ok(_) => return Err(LogError::Strange { at: self.at, kind: 0, length: 0 }),
                Err(source) => return Err(LogError::Unreadable { at, source }),
            }
        }
        Ok(Some(entry))
    }

    /// Reads a whole record, header included, and returns its kind.
    fn read_record(&mut self) -> Result<u32, LogError> {
        let at = self.at;
        self.record.resize(HEADER, 0);
        self.fill(0)?;
        let [k0, k1, k2, k3, ..] = self.record[..] else { return Err(LogError::CutOff { at }) };
        let kind = u32::from_le_bytes([k0, k1, k2, k3]);
        let length = convert::length(&self.record).unwrap_or_default();
        if !(HEADER..=MOST_BYTES).contains(&length) {
            return Err(LogError::Strange { at, kind, length: length as u32 });
        }
        self.record.resize(length, 0);
        self.fill(HEADER)?;
        self.at += length as u64;
        Ok(kind)
    }

    fn fill(&mut self, from: usize) -> Result<(), LogError> {
        let at = self.at;
        self.from.read_exact(&mut self.record[from..]).map_err(|source| match source.kind() {
            ErrorKind::UnexpectedEof => LogError::CutOff { at },
            _ => LogError::Unreadable { at, source },
        })
    }
}

/// The entry that a record is, if it may stand in that place, and what it leaves open.
fn entry(kind: u32, record: &[u8], place: Place) -> Option<(Entry<'_>, Place)> {
    let fields = record.get(HEADER..)?;
    let is = |layouts: &[layout::Layout]| layouts.iter().any(|layout| layout.kind == kind);
    Some(match (kind, place) {
        (layout::Configured::KIND, place) => {
            let (_, properties) = layout::Configured::read(fields)?;
            let then = match place {
                Place::Begun => Place::Between,
                Place::Facts => Place::Answers,
                other => other,
            };
            (Entry::Configured { properties }, then)
        }
        (layout::Stepped::KIND, Place::Between) => {
            (Entry::Stepped { now_ms: layout::Stepped::read(fields)?.0.now_ms }, Place::Facts)
        }
        (_, Place::Facts) if is(FACTS) => (Entry::Fact(record), Place::Facts),
        (_, Place::Facts | Place::Answers) if is(ANSWERS) => (Entry::Answer(record), Place::Answers),
        (layout::Answered::KIND, Place::Facts | Place::Answers) => (Entry::Answered, Place::Between),
        (layout::Ended::KIND, _) => (Entry::Ended, Place::Ended),
        _ => return None,
    })
}
