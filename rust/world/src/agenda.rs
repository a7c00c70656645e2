//! What happens when: a heap ordered by time, then by the order in which things were scheduled.

use hiatus_core::units::Millis;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Events to come. Two at the same time happen in the order in which they were scheduled.
#[derive(Debug)]
pub(super) struct Agenda<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    scheduled: u64,
}

#[derive(Debug)]
struct Entry<E> {
    at: Millis,
    number: u64,
    event: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl<E> Agenda<E> {
    pub(super) fn new() -> Agenda<E> {
        Agenda { heap: BinaryHeap::new(), scheduled: 0 }
    }

    pub(super) fn schedule(&mut self, at: Millis, event: E) {
        self.scheduled += 1;
        self.heap.push(Reverse(Entry { at, number: self.scheduled, event }));
    }

    /// When the next event happens.
    pub(super) fn next(&self) -> Option<Millis> {
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    /// The next event, if it happens at that time.
    pub(super) fn pop_at(&mut self, at: Millis) -> Option<E> {
        if self.next() == Some(at) {
            self.heap.pop().map(|Reverse(entry)| entry.event)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_and_then_in_the_order_in_which_they_were_scheduled() {
        let mut agenda = Agenda::new();
        for (at, event) in [(5, 'c'), (1, 'a'), (5, 'd'), (1, 'b')] {
            agenda.schedule(Millis(at), event);
        }
        let mut order = String::new();
        while let Some(at) = agenda.next() {
            order.extend(agenda.pop_at(at));
        }
        assert_eq!(order, "abcd");
        assert_eq!(agenda.pop_at(Millis(1)), None);
    }
}
