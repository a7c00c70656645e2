//! BatchMR's placer (Luo, Wu, Wu, Zhang): on which side of a mixed cluster, its physical or its virtual machines, a job does
//! better. Pure: what is known comes in, a verdict comes out. From earlier runs where those say enough ([`rules`]), else from
//! the job's own first tasks, some on each side ([`sampling`]). Who asks, and what a verdict keeps whom from, is
//! [`confine`](crate::confine)'s.

pub mod rules;
pub mod sampling;

use crate::fact::Side;
use serde::Serialize;

/// How long a whole job takes on each side, in seconds (the paper's JCT).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Times {
    /// On the physical side.
    pub physical_s: f64,
    /// On the virtual side.
    pub virtual_s: f64,
}

impl Times {
    /// On that side.
    pub fn on(self, side: Side) -> f64 {
        match side {
            Side::Physical => self.physical_s,
            Side::Virtual => self.virtual_s,
        }
    }

    /// By which part of its time on the physical side a job takes longer on the virtual one; below zero if it is faster there.
    pub fn difference(self) -> f64 {
        (self.virtual_s - self.physical_s) / self.physical_s
    }

    /// Where the job belongs: on the virtual side, unless it loses more than `threshold` there (Algorithm 1; a tie is virtual).
    pub fn side(self, threshold: f64) -> Side {
        if self.difference() > threshold {
            Side::Physical
        } else {
            Side::Virtual
        }
    }
}

/// Why a job runs where it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Reason {
    /// Earlier runs say physical.
    RuleP,
    /// Earlier runs say virtual.
    RuleV,
    /// Its first tasks say physical.
    SampleP,
    /// Its first tasks say virtual, or nothing, in time.
    SampleV,
    /// It asks for nodes with a label: its own wish counts.
    Label,
    /// Nobody places it: that is switched off, or there are no two sides.
    Disabled,
}

/// What the placer says of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// Where its tasks may start; anywhere if `None`.
    pub side: Option<Side>,
    /// Why.
    pub reason: Reason,
    /// What was compared, if anything was.
    pub times: Option<Times>,
}

impl Verdict {
    /// By earlier runs.
    pub fn by_rule(times: Times, threshold: f64) -> Verdict {
        let side = times.side(threshold);
        let reason = if side == Side::Physical { Reason::RuleP } else { Reason::RuleV };
        Verdict { side: Some(side), reason, times: Some(times) }
    }

    /// By the job's first tasks.
    pub fn by_sample(side: Side, times: Option<Times>) -> Verdict {
        let reason = if side == Side::Physical { Reason::SampleP } else { Reason::SampleV };
        Verdict { side: Some(side), reason, times }
    }

    /// By its own label.
    pub fn by_label() -> Verdict {
        Verdict { side: None, reason: Reason::Label, times: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tie_goes_to_virtual_and_so_does_what_is_faster_there() {
        let of = |virtual_s| Times { physical_s: 100.0, virtual_s }.side(0.4);
        assert_eq!([of(140.0), of(140.1), of(50.0)], [Side::Virtual, Side::Physical, Side::Virtual]);
    }
}
