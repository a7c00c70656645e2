//! A waiting line: the places of a plan with what is asked for at each, so that the first in order whose ask fits into some
//! room is found without looking at those before it. A flat tree over the places that keeps the smallest ask of each half,
//! dimension by dimension.

use crate::units::Resource;

/// Where nobody asks for anything; fits nowhere.
const NOTHING: Resource = Resource { memory_mb: i64::MAX, vcores: i64::MAX };

/// The line. Setting an ask and finding the first that fits cost O(log places); if asks differ in shape, a few more.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Places, rounded up to a power of two.
    size: usize,
    /// The tree, from its root at 1; the places begin at `size`.
    least: Vec<Resource>,
}

impl Line {
    /// Begins anew with so many places and what is asked for at some of them.
    pub fn begin(&mut self, places: usize, asks: impl Iterator<Item = (usize, Resource)>) {
        self.size = places.next_power_of_two();
        self.least.clear();
        self.least.resize(2 * self.size, NOTHING);
        for (place, ask) in asks {
            self.least[self.size + place] = ask;
        }
        for at in (1..self.size).rev() {
            self.least[at] = self.least[2 * at].at_most(self.least[2 * at + 1]);
        }
    }

    /// Nobody waits in it, and nobody can be put there.
    pub fn close(&mut self) {
        self.size = 0;
        self.least.clear();
    }

    /// Whether it was begun.
    pub fn is_open(&self) -> bool {
        self.size > 0
    }

    /// The smallest container that is asked for at that place now, if any is.
    pub fn set(&mut self, place: usize, ask: Option<Resource>) {
        let mut at = self.size + place;
        let Some(leaf) = self.least.get_mut(at) else { return };
        *leaf = ask.unwrap_or(NOTHING);
        while at > 1 {
            at /= 2;
            let least = self.least[2 * at].at_most(self.least[2 * at + 1]);
            if std::mem::replace(&mut self.least[at], least) == least {
                return;
            }
        }
    }

    /// What is asked for at that place.
    #[cfg(any(test, debug_assertions))]
    pub fn ask(&self, place: usize) -> Option<Resource> {
        self.least.get(self.size + place).copied().filter(|ask| *ask != NOTHING)
    }

    /// Whether anybody might fit into `room`. If asks differ in shape it may turn out that nobody does.
    pub fn may_fit(&self, room: Resource) -> bool {
        self.least.get(1).is_some_and(|least| least.fits_in(room))
    }

    /// The first place from `from` on whose ask fits into `room`.
    pub fn first(&self, from: usize, room: Resource) -> Option<usize> {
        if from >= self.size || !self.may_fit(room) {
            return None;
        }
        self.first_below(1, 0, self.size, from, room)
    }

    /// The same among the places from `begin` on that are below `at`, of which there are `width`.
    fn first_below(&self, at: usize, begin: usize, width: usize, from: usize, room: Resource) -> Option<usize> {
        if begin + width <= from || !self.least[at].fits_in(room) {
            return None;
        }
        if width == 1 {
            return Some(begin);
        }
        let half = width / 2;
        let left = self.first_below(2 * at, begin, half, from, room);
        left.or_else(|| self.first_below(2 * at + 1, begin + half, half, from, room))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ask() -> impl Strategy<Value = Option<Resource>> {
        prop::option::of((1..6i64, 0..4i64).prop_map(|(memory_mb, vcores)| Resource { memory_mb, vcores }))
    }

    proptest! {
        #[test]
        fn the_first_that_fits_is_the_one_a_walk_finds(
            asks in prop::collection::vec(ask(), 0..40),
            changes in prop::collection::vec((0..40usize, ask()), 0..40),
            from in 0..45usize,
            room in (0..6i64, 0..4i64),
        ) {
            let room = Resource::new(room.0, room.1);
            let (mut line, mut plain) = (Line::default(), asks.clone());
            let at_places = asks.iter().enumerate().filter_map(|(place, ask)| Some((place, (*ask)?)));
            line.begin(asks.len(), at_places);
            for (place, ask) in changes {
                if let Some(old) = plain.get_mut(place) {
                    *old = ask;
                    line.set(place, ask);
                }
            }
            let walk = (from..plain.len()).find(|place| plain[*place].is_some_and(|ask| ask.fits_in(room)));
            prop_assert_eq!(line.first(from, room), walk);
            for (place, ask) in plain.iter().enumerate() {
                prop_assert_eq!(line.ask(place), *ask);
            }
        }
    }
}
