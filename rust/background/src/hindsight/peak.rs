//! The most there was of something within a window.

use hiatus_core::units::Millis;
use std::collections::VecDeque;

/// An amount that rises and falls, and how high it was. It remembers no more levels than it went through since it was highest.
#[derive(Clone, Debug, Default)]
pub struct Peak {
    now: i64,
    /// When a higher level was left, and which: later ones are lower.
    left: VecDeque<(Millis, i64)>,
}

impl Peak {
    /// So much more; what was left before `since` does not matter any more.
    pub fn add(&mut self, more: i64, at: Millis, since: Millis) {
        let before = self.now;
        self.now += more;
        // Levels that were no higher than what it was now are covered by that.
        while self.left.back().is_some_and(|(_, level)| *level <= before.max(self.now)) {
            self.left.pop_back();
        }
        if self.now < before {
            self.left.push_back((at, before));
        }
        while self.left.front().is_some_and(|(at, _)| *at < since) {
            self.left.pop_front();
        }
    }

    /// The most since then.
    pub fn most(&self, since: Millis) -> i64 {
        self.left.iter().find(|(at, _)| *at >= since).map_or(self.now, |(_, level)| *level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_is_of_the_window_and_of_what_was_there_when_it_began() {
        let mut peak = Peak::default();
        for (at, more) in [(10, 3), (20, 2), (30, -4), (40, 2), (50, -1)] {
            peak.add(more, Millis(at), Millis(0));
        }
        // 3 from 10, 5 from 20, 1 from 30, 3 from 40, 2 from 50.
        let most = |since| peak.most(Millis(since));
        assert_eq!([0, 30, 31, 50, 51].map(most), [5, 5, 3, 3, 2]);
        peak.add(-2, Millis(100), Millis(60));
        assert_eq!(peak.left.len(), 1, "what is too long ago is forgotten: {peak:?}");
        assert_eq!((peak.most(Millis(60)), peak.most(Millis(101))), (2, 0));
    }

    #[test]
    fn levels_that_come_again_and_again_are_remembered_once() {
        let mut peak = Peak::default();
        for n in 0..1_000 {
            peak.add(if n % 2 == 0 { 1 } else { -1 }, Millis(n), Millis(0));
        }
        assert!(peak.left.len() <= 1, "{peak:?}");
        assert_eq!(peak.most(Millis(999)), 1);
    }
}
