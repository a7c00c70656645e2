//! Ways in which the scheduler may take back what somebody holds.

use std::str::FromStr;

/// How resources are taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preemption {
    /// Not at all: as containers end.
    Wait,
    /// By suspending.
    Suspend,
    /// By killing.
    Kill,
    /// By what costs least: killing, waiting or suspending.
    Adaptive,
}

impl Preemption {
    /// As it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Preemption::Wait => "wait",
            Preemption::Suspend => "suspend",
            Preemption::Kill => "kill",
            Preemption::Adaptive => "adaptive",
        }
    }

    /// The mode that allows it.
    pub fn mode(self) -> &'static str {
        match self {
            Preemption::Wait => "order",
            Preemption::Suspend => "suspend",
            Preemption::Kill | Preemption::Adaptive => "kill",
        }
    }
}

impl FromStr for Preemption {
    type Err = String;

    fn from_str(text: &str) -> Result<Preemption, String> {
        let all = [Preemption::Wait, Preemption::Suspend, Preemption::Kill, Preemption::Adaptive];
        let found = all.into_iter().find(|preemption| preemption.name() == text);
        found.ok_or_else(|| "must be wait, suspend, kill or adaptive".to_owned())
    }
}
