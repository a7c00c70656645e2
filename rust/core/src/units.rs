//! Units and identifiers. A quantity carries its unit in its type, so that milliseconds never meet megabytes.

use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// A point in time, or a span of it, in milliseconds. The origin is the caller's: only differences matter to the core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Millis(pub u64);

impl Millis {
    /// The span from `earlier` to `self`; zero if the clock went backwards.
    pub fn since(self, earlier: Millis) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }

    /// The same span in seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1000.0
    }
}

impl Add for Millis {
    type Output = Millis;
    fn add(self, other: Millis) -> Millis {
        Millis(self.0.saturating_add(other.0))
    }
}

/// An amount of a node's or the cluster's resources. Where vcores do not count the caller reports nodes with plenty of
/// them, and memory alone decides. Negative amounts stand for over-commitment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Resource {
    /// Memory in MiB.
    pub memory_mb: i64,
    /// Virtual cores.
    pub vcores: i64,
}

impl Resource {
    /// Nothing at all.
    pub const ZERO: Resource = Resource { memory_mb: 0, vcores: 0 };

    /// `memory_mb` MiB and `vcores` virtual cores.
    pub fn new(memory_mb: i64, vcores: i64) -> Resource {
        Resource { memory_mb, vcores }
    }

    /// Whether `self` fits into `room` in every dimension.
    pub fn fits_in(self, room: Resource) -> bool {
        self.memory_mb <= room.memory_mb && self.vcores <= room.vcores
    }

    /// Without what is over-committed.
    pub fn at_least_nothing(self) -> Resource {
        Resource::new(self.memory_mb.max(0), self.vcores.max(0))
    }

    /// No more of anything than in `other`.
    pub fn at_most(self, other: Resource) -> Resource {
        Resource::new(self.memory_mb.min(other.memory_mb), self.vcores.min(other.vcores))
    }

    /// `self`, `count` times.
    pub fn times(self, count: u32) -> Resource {
        Resource::new(self.memory_mb * i64::from(count), self.vcores * i64::from(count))
    }

    /// How often `self` fits into `room`; a resource of nothing fits `u32::MAX` times.
    pub fn times_in(self, room: Resource) -> u32 {
        let per = |need: i64, have: i64| if need <= 0 { i64::MAX } else { have.max(0) / need };
        let times = per(self.memory_mb, room.memory_mb).min(per(self.vcores, room.vcores));
        u32::try_from(times).unwrap_or(u32::MAX)
    }

    /// The larger of the fractions that `self` is of `total`, dimension by dimension (dominant share); dimensions of
    /// which there is nothing do not count.
    pub fn dominant_share(self, total: Resource) -> f64 {
        let part = |mine: i64, all: i64| if all > 0 { mine as f64 / all as f64 } else { 0.0 };
        part(self.memory_mb, total.memory_mb).max(part(self.vcores, total.vcores))
    }
}

impl Add for Resource {
    type Output = Resource;
    fn add(self, other: Resource) -> Resource {
        Resource::new(self.memory_mb + other.memory_mb, self.vcores + other.vcores)
    }
}

impl Sub for Resource {
    type Output = Resource;
    fn sub(self, other: Resource) -> Resource {
        Resource::new(self.memory_mb - other.memory_mb, self.vcores - other.vcores)
    }
}

impl AddAssign for Resource {
    fn add_assign(&mut self, other: Resource) {
        *self = *self + other;
    }
}

impl SubAssign for Resource {
    fn sub_assign(&mut self, other: Resource) {
        *self = *self - other;
    }
}

/// Service: resources held over time. Kept by dimension, because what is dominant depends on the cluster's size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResourceSeconds {
    /// MiB × seconds.
    pub memory_mb: f64,
    /// Virtual cores × seconds.
    pub vcores: f64,
}

impl ResourceSeconds {
    /// `held` for `span`.
    pub fn of(held: Resource, span: Millis) -> ResourceSeconds {
        let s = span.seconds();
        ResourceSeconds { memory_mb: held.memory_mb as f64 * s, vcores: held.vcores as f64 * s }
    }

    /// The time for which the whole of `total` would be busy with this service, in seconds of the dominant resource.
    pub fn dominant_seconds(self, total: Resource) -> f64 {
        let part = |mine: f64, all: i64| if all > 0 { mine / all as f64 } else { 0.0 };
        part(self.memory_mb, total.memory_mb).max(part(self.vcores, total.vcores))
    }
}

impl AddAssign for ResourceSeconds {
    fn add_assign(&mut self, other: ResourceSeconds) {
        self.memory_mb += other.memory_mb;
        self.vcores += other.vcores;
    }
}

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);
    };
}

/// A class of applications that are runs of one job: what it is called, as a number that stays the same for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobClass(pub u64);

handle!(
    /// A node. Handles are given by the caller and never reused.
    NodeId
);
handle!(
    /// A queue, leaf or parent.
    QueueId
);
handle!(
    /// An application.
    AppId
);
handle!(
    /// A container.
    ContainerId
);
handle!(
    /// A node label's partition; 0 is the default partition.
    PartitionId
);
handle!(
    /// A user, as interned by the caller.
    UserId
);
