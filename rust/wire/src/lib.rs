//! What crosses the boundary of the Hiatus core as bytes.
//!
//! - [`layout`]: every record, for both languages;
//! - [`convert`]: records to facts, decisions to records;
//! - [`session`]: a core that is spoken to in records;
//! - [`log`]: what went into such a core and what came out of it, as the ResourceManager writes it down.
//!
//! Who carries the bytes, JNI or a file, is not known here.

pub mod convert;
pub mod layout;
pub mod log;
pub mod session;
