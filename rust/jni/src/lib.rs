//! The boundary between the ResourceManager's JVM and the Hiatus core: `libhiatus`.
//!
//! Facts come in as fixed records in a direct buffer, decisions go out the same way; `hiatus-wire` defines both, and the
//! Java side is generated from it. There is no policy here and no upcall into Java.

pub mod core;
pub mod entry;
mod explained;
pub mod java;
pub mod said;
