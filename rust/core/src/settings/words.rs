//! What is called by a word in the configuration: each kind of value has one list of its words and what they mean, which knobs allow
//! and reading uses.

use super::{Candidates, GpClass, Mode, PolicyKind, Primitive, Victims};
use crate::flex::Metric;

/// A kind of value that is told by words.
pub trait Word: Sized + 'static {
    /// All words.
    const NAMES: &'static [&'static str];

    /// What the word means; `None` if it is none of them.
    fn named(name: &str) -> Option<Self>;
}

macro_rules! words {
    ($kind:ty { $($word:literal => $value:expr),+ $(,)? }) => {
        impl Word for $kind {
            const NAMES: &'static [&'static str] = &[$($word),+];

            fn named(name: &str) -> Option<Self> {
                match name {
                    $($word => Some($value),)+
                    _ => None,
                }
            }
        }
    };
}

words!(Mode {
    // These two never reach the cluster: they compute what `suspend` would do.
    "off" => Mode::Suspend,
    "observe" => Mode::Suspend,
    "order" => Mode::Order,
    "suspend" => Mode::Suspend,
    "kill" => Mode::Kill,
});

words!(PolicyKind {
    "fifo" => PolicyKind::Fifo,
    "fair" => PolicyKind::Fair,
    "las" => PolicyKind::Las,
    "srpt" => PolicyKind::Srpt,
    "hfsp" => PolicyKind::Hfsp,
    "flex" => PolicyKind::Flex,
});

words!(Primitive {
    "wait" => Primitive::Wait,
    "suspend" => Primitive::Suspend,
    "suspend-or-kill" => Primitive::SuspendOrKill,
    "kill" => Primitive::Kill,
    "adaptive" => Primitive::Adaptive,
});

// Whether jobs take from their own queue; `None`: as that is told.
words!(Option<bool> {
    "inherit" => None,
    "on" => Some(true),
    "off" => Some(false),
});

words!(Victims {
    "youngest" => Victims::Youngest,
    "smallest-memory" => Victims::SmallestMemory,
    "nearest-to-completion" => Victims::NearestToCompletion,
    "largest-job" => Victims::LargestJob,
    "gp" => Victims::Gp,
    "evenly" => Victims::Evenly,
    "from-each" => Victims::FromEach,
});

// Of a queue's jobs; `None`: as its guarantee says.
words!(Option<GpClass> {
    "guarantee" => None,
    "production" => Some(GpClass::Production),
    "non-production" => Some(GpClass::NonProduction),
});

words!(Candidates {
    "nonproduction" => Candidates::NonProduction,
    "overshare" => Candidates::OverShare,
});

impl Word for Metric {
    const NAMES: &'static [&'static str] = &Metric::NAMES;

    fn named(name: &str) -> Option<Metric> {
        name.parse().ok()
    }
}
