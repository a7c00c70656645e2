//! A part of the server.

/// The part of the server that someone has, for as long as nothing changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Part {
    /// Work done per second.
    pub rate: f64,
    /// Its inverse, kept because a simulation asks for it far more often than it changes.
    seconds_per_work: f64,
}

impl Part {
    /// No service.
    pub const NONE: Part = Part { rate: 0.0, seconds_per_work: f64::INFINITY };
    /// The whole server.
    pub const ALL: Part = Part { rate: 1.0, seconds_per_work: 1.0 };

    /// `shares` of `all` equal shares; at least one.
    pub fn of(shares: usize, all: usize) -> Part {
        let (shares, all) = (shares as f64, all as f64);
        Part { rate: shares / all, seconds_per_work: all / shares }
    }

    /// Seconds that `work` takes; infinite without service.
    pub fn seconds(self, work: f64) -> f64 {
        if self.rate > 0.0 {
            work * self.seconds_per_work
        } else {
            f64::INFINITY
        }
    }
}
