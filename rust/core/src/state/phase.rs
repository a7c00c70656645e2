//! Tasks of one kind of one job, and the first of them, from which its size is learnt.

use super::Container;
use crate::fact::Places;
use crate::units::{ContainerId, Millis, PartitionId};
use std::collections::VecDeque;

/// So long after it was given a container is in what its application asks, though that may have launched it by then: the two come by
/// different ways.
const HEARD: Millis = Millis(5_000);

/// One of the first started tasks of a phase. HFSP learns a phase's size from them (thesis, section 4.2.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstTask {
    /// Its container.
    pub container: ContainerId,
    /// Its working time, see [`Job::worked`](super::Job::worked), once it has succeeded.
    pub finished: Option<Millis>,
    /// Run time after which it had, by what it said, not begun its own work.
    pub(super) waited: Millis,
    /// The part of its work that it reported as done, 0…1; `None` if it never did.
    pub progress: Option<f64>,
}

impl FirstTask {
    /// How long it has run if it has worked for so long.
    pub fn run_time(&self, worked: Millis) -> Millis {
        worked + self.waited
    }
}

/// How long a phase's tasks that are not done have run, all together and without their suspensions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunTime {
    ran: Millis,
    /// When it was that.
    at: Millis,
    /// How many of them run.
    pub running: u32,
}

impl RunTime {
    /// That time.
    pub fn until(&self, now: Millis) -> Millis {
        self.ran + Millis(u64::from(self.running) * now.since(self.at).0)
    }

    pub(super) fn add(&mut self, container: &Container, now: Millis) {
        (self.ran, self.at) = (self.until(now) + container.run_time(now), now);
        self.running += u32::from(container.running_for(now).is_some());
    }

    pub(super) fn remove(&mut self, container: &Container, now: Millis) {
        (self.ran, self.at) = (self.until(now).since(container.run_time(now)), now);
        self.running -= u32::from(container.running_for(now).is_some());
    }
}

/// Tasks of one kind: those that share request priority, partition and size.
#[derive(Clone, Debug, Default)]
pub struct Phase {
    /// Containers wanted.
    pub pending: u32,
    /// Of those, what its application probably asks again because it has not heard of its newest containers.
    pub asked_again: u32,
    /// Where.
    pub places: Places,
    /// Of those, proposed in this step and not yet confirmed.
    pub proposed: u32,
    /// Containers that count, on nodes of the partition asked for.
    pub held: u32,
    /// Containers that count on shared nodes of another partition.
    pub borrowed: u32,
    /// Suspended containers.
    pub suspended: u32,
    /// Those that count and have not run for as long yet as they had been suspended before.
    pub catching_up: u32,
    /// Tasks that succeeded.
    pub finished: u32,
    /// Their working times together, see [`Job::worked`](super::Job::worked).
    pub finished_time: Millis,
    /// How long those have run that are not done.
    pub run_time: RunTime,
    /// The first of its tasks to start that succeeded or still run, in the order of their starts. One that fails, is
    /// killed or lost makes way for the next. Tasks recovered with the ResourceManager are missing: nobody saw them start.
    pub first: Vec<FirstTask>,
    /// Since when a container was wanted and no node had room.
    pub waiting_since: Option<Millis>,
    /// Rounds of kills since one of its tasks was last done, see [`Phase::kill_rounds`].
    pub(super) kill_rounds: u32,
    pub(super) killed_at: Millis,
    /// When containers were given to it, not long before it asked last, or after that.
    given: VecDeque<Millis>,
    /// How many tasks there are, by what was asked last and not again; `None` before anything was asked.
    tasks: Option<u32>,
    /// Since when something is asked again.
    again_since: Millis,
}

impl Phase {
    /// Tasks that are not done: wanted, running or suspended.
    pub fn left(&self) -> u32 {
        self.pending + self.held + self.borrowed + self.suspended
    }

    /// Its application asks for so many, instead of what it did. What it says when it fetches new containers counts those among what it
    /// wants: so many tasks more than there were are not believed at once. Whether they are asked again only now.
    pub(super) fn ask(&mut self, count: u32, now: Millis) -> bool {
        self.pending = count;
        let all = self.finished + self.left();
        let heard = |given: &Millis| now.since(*given) > HEARD;
        self.given.drain(..self.given.iter().take_while(|given| heard(given)).count());
        let not_launched = (self.held + self.borrowed).saturating_sub(self.run_time.running);
        let unheard = not_launched.max(self.given.len() as u32);
        let more = all - self.tasks.unwrap_or(all).min(all);
        let before = std::mem::replace(&mut self.asked_again, more.min(unheard).min(count));
        self.tasks = Some(all - self.asked_again);
        let begins = before == 0 && self.asked_again > 0;
        if begins {
            self.again_since = now;
        }
        begins
    }

    /// It got one of the containers that it asks for.
    pub(super) fn give(&mut self, now: Millis) {
        self.pending = self.pending.saturating_sub(1);
        self.waiting_since = None;
        self.given.push_back(now);
    }

    /// What is asked again since then is asked in earnest.
    pub(super) fn believe(&mut self, since: Millis) -> bool {
        let believed = self.asked_again > 0 && self.again_since == since;
        if believed {
            self.tasks = self.tasks.map(|tasks| tasks + std::mem::take(&mut self.asked_again));
        }
        believed
    }

    /// One of its containers is there, on a node of that partition.
    pub(super) fn add(&mut self, container: &Container, partition: PartitionId, now: Millis) {
        *self.counter(container, partition) += 1;
        self.catching_up += u32::from(container.catches_up_at.is_some());
        if !container.is_master {
            self.run_time.add(container, now);
        }
    }

    /// It is not there any more.
    pub(super) fn remove(&mut self, container: &Container, partition: PartitionId, now: Millis) {
        *self.counter(container, partition) -= 1;
        self.catching_up -= u32::from(container.catches_up_at.is_some());
        if !container.is_master {
            self.run_time.remove(container, now);
        }
    }

    fn counter(&mut self, container: &Container, partition: PartitionId) -> &mut u32 {
        if container.state.is_suspended() {
            &mut self.suspended
        } else if container.phase.partition == partition {
            &mut self.held
        } else {
            &mut self.borrowed
        }
    }

    /// Whether it has or had any tasks.
    pub(super) fn is_alive(&self) -> bool {
        self.left() + self.proposed + self.finished + self.kill_rounds > 0 || !self.first.is_empty()
    }

    /// How many times in a row the core has killed its work, since one of its tasks was done; without the last time if that
    /// container was given out before it: those that run together and are killed one after the other count once.
    pub fn kill_rounds(&self, container: &Container) -> u32 {
        self.kill_rounds.saturating_sub(u32::from(container.allocated < self.killed_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A phase of ten tasks, three of which were given containers at 60 s that have begun to run.
    fn begun() -> Phase {
        let mut phase = Phase::default();
        assert!(!phase.ask(10, Millis(0)));
        (0..3).for_each(|_| phase.give(Millis(60_000)));
        phase.held = 3;
        phase.run_time.running = 3;
        phase
    }

    #[test]
    fn what_was_just_given_may_be_asked_again_even_if_it_runs() {
        let mut phase = begun();
        assert!(phase.ask(9, Millis(60_900)), "two of the three");
        assert_eq!((phase.asked_again, phase.tasks), (2, Some(10)));
        assert!(!phase.ask(7, Millis(61_900)));
        assert_eq!((phase.asked_again, phase.tasks), (0, Some(10)));
    }

    #[test]
    fn what_is_asked_beyond_that_or_later_is_asked_in_earnest() {
        let mut phase = begun();
        assert!(phase.ask(12, Millis(61_000)));
        assert_eq!((phase.asked_again, phase.tasks), (3, Some(12)));
        let mut phase = begun();
        assert!(!phase.ask(9, Millis(66_000)));
        assert_eq!((phase.asked_again, phase.tasks), (0, Some(12)));
    }

    #[test]
    fn what_is_asked_for_long_is_asked_in_earnest() {
        let mut phase = begun();
        assert!(phase.ask(9, Millis(61_000)));
        assert!(!phase.believe(Millis(50_000)), "that was another time");
        assert!(phase.believe(Millis(61_000)));
        assert_eq!((phase.asked_again, phase.tasks), (0, Some(12)));
    }
}
