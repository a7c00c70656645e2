//! Tasks of one kind of one job, and the first of them, from which its size is learnt.

use super::Container;
use crate::fact::Places;
use crate::units::{ContainerId, Millis, PartitionId};

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
        let unheard = (self.held + self.borrowed).saturating_sub(self.run_time.running);
        let more = all - self.tasks.unwrap_or(all).min(all);
        let before = std::mem::replace(&mut self.asked_again, more.min(unheard).min(count));
        self.tasks = Some(all - self.asked_again);
        let begins = before == 0 && self.asked_again > 0;
        if begins {
            self.again_since = now;
        }
        begins
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
