//! A NodeManager as stock Hadoop 3.4 behaves: an opportunistic (demoted) container is paused only when a guaranteed one
//! needs its room, newest first, and resumes by itself when there is room. Nothing but the end of a container, or the
//! arrival of one, makes it look again: a demotion alone does not.

use hiatus_core::units::{ContainerId, Millis, Resource};
use std::collections::BTreeMap;

/// What the ResourceManager tells a node in the answer to a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// It may be paused.
    Demote(ContainerId),
    /// It must run.
    Promote(ContainerId),
    /// It must end.
    Kill(ContainerId),
}

/// What a process on the node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Arrived, and there was no room for it.
    Queued,
    /// It runs.
    Running {
        /// Since when.
        since: Millis,
    },
    /// It is stopped.
    Paused,
}

/// A container on its node.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its size.
    pub resource: Resource,
    /// The node's view: what the ResourceManager decided may still be on its way.
    pub guaranteed: bool,
    /// What it does.
    pub activity: Activity,
    /// Work in all.
    pub work: Millis,
    /// Work left.
    pub left: Millis,
    /// It waits for the stage before it: it runs, but does not work off what is left.
    pub gated: bool,
    /// How often it began to run: a timer of an earlier run is void.
    pub run: u32,
    ran: Millis,
    arrival: u64,
}

impl Process {
    /// Part of its work done, 0…1.
    pub fn done(&self, now: Millis) -> f64 {
        let working = match self.activity {
            Activity::Running { since } if !self.gated => now.since(since),
            _ => Millis(0),
        };
        let left = self.left.0.saturating_sub(working.0);
        1.0 - left as f64 / self.work.0.max(left).max(1) as f64
    }

    /// How long it has run, pauses aside.
    pub fn ran(&self, now: Millis) -> Millis {
        match self.activity {
            Activity::Running { since } => self.ran + now.since(since),
            _ => self.ran,
        }
    }

    /// Whether it runs right now.
    pub fn is_running(&self) -> bool {
        matches!(self.activity, Activity::Running { .. })
    }

    /// Notes how far it got until `now`.
    fn settle(&mut self, now: Millis) {
        if let Activity::Running { since } = self.activity {
            let span = now.since(since);
            self.ran = self.ran + span;
            if !self.gated {
                self.left = Millis(self.left.0.saturating_sub(span.0));
            }
            self.activity = Activity::Running { since: now };
        }
    }
}

/// A process will be done at `at` if it is still in that run.
#[derive(Clone, Copy, Debug)]
pub struct Timer {
    /// The process.
    pub container: ContainerId,
    /// Its run.
    pub run: u32,
    /// When it is done.
    pub at: Millis,
}

/// What a container that arrives at a node has to do.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// How long.
    pub time: Millis,
    /// Not before [`NodeManager::open`].
    pub gated: bool,
}

impl From<Millis> for Work {
    fn from(time: Millis) -> Work {
        Work { time, gated: false }
    }
}

/// A node's containers.
#[derive(Clone, Debug, Default)]
pub struct NodeManager {
    /// What it offers.
    pub total: Resource,
    /// Its containers.
    pub processes: BTreeMap<ContainerId, Process>,
    /// Processes that began to run since somebody last took this.
    pub timers: Vec<Timer>,
    /// What continuing a paused process costs, in ms per GiB: its memory may have to come back from disk.
    pub resume_ms_per_gb: u64,
    running: Resource,
    arrivals: u64,
}

impl NodeManager {
    /// A node without containers.
    pub fn new(total: Resource) -> NodeManager {
        NodeManager { total, ..NodeManager::default() }
    }

    /// Where continuing a paused process costs so many ms per GiB.
    pub fn resume_cost(self, resume_ms_per_gb: u64) -> NodeManager {
        NodeManager { resume_ms_per_gb, ..self }
    }

    /// A guaranteed container arrives. False if it has to queue.
    pub fn start(&mut self, now: Millis, id: ContainerId, resource: Resource, work: impl Into<Work>) -> bool {
        let work = work.into();
        self.arrivals += 1;
        let process = Process {
            resource,
            guaranteed: true,
            activity: Activity::Queued,
            work: work.time,
            left: work.time,
            gated: work.gated,
            run: 0,
            ran: Millis(0),
            arrival: self.arrivals,
        };
        self.processes.insert(id, process);
        self.try_run(now, id)
    }

    /// What the process waited for is there: it begins to work.
    pub fn open(&mut self, now: Millis, id: ContainerId) {
        let Some(process) = self.processes.get_mut(&id).filter(|process| process.gated) else { return };
        process.settle(now);
        process.gated = false;
        if process.is_running() {
            self.timers.push(Timer { container: id, run: process.run, at: now + process.left });
        }
    }

    /// Takes a message. False if a promoted container has to queue.
    pub fn obey(&mut self, now: Millis, message: Message) -> bool {
        match message {
            Message::Demote(id) => {
                if let Some(process) = self.processes.get_mut(&id) {
                    process.guaranteed = false;
                }
            }
            Message::Promote(id) => {
                let Some(process) = self.processes.get_mut(&id) else { return true };
                process.guaranteed = true;
                return process.is_running() || self.try_run(now, id);
            }
            Message::Kill(id) => {
                self.end(now, id);
            }
        }
        true
    }

    /// The process is over: others may go on. Gives it back as it was.
    pub fn end(&mut self, now: Millis, id: ContainerId) -> Option<Process> {
        let ended = self.processes.remove(&id);
        if ended.as_ref().is_some_and(Process::is_running) {
            self.running -= ended.as_ref().map_or(Resource::ZERO, |process| process.resource);
        }
        let waiting: Vec<_> = self.by_arrival(|process| !process.is_running());
        let (guaranteed, opportunistic): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|id| self.processes[id].guaranteed);
        for id in guaranteed.into_iter().chain(opportunistic) {
            self.try_run(now, id);
        }
        ended
    }

    /// How many are paused and need not run.
    pub fn paused(&self) -> u32 {
        self.count(|process| process.activity == Activity::Paused && !process.guaranteed)
    }

    /// How many should run and have no room.
    pub fn waiting(&self) -> u32 {
        self.count(|process| !process.is_running() && process.guaranteed)
    }

    fn count(&self, which: impl Fn(&Process) -> bool) -> u32 {
        self.processes.values().filter(|process| which(process)).count() as u32
    }

    fn by_arrival(&self, which: impl Fn(&Process) -> bool) -> Vec<ContainerId> {
        let mut found: Vec<_> = self.processes.iter().filter(|(_, process)| which(process)).collect();
        found.sort_by_key(|(_, process)| process.arrival);
        found.into_iter().map(|(id, _)| *id).collect()
    }

    /// Runs the process if there is room; for a guaranteed one room is made.
    fn try_run(&mut self, now: Millis, id: ContainerId) -> bool {
        let (resource, guaranteed) = (self.processes[&id].resource, self.processes[&id].guaranteed);
        let mut room = self.total - self.running;
        let mut to_pause = Vec::new();
        if guaranteed && !resource.fits_in(room) {
            let mut pausable = self.by_arrival(|process| !process.guaranteed && process.is_running());
            while !resource.fits_in(room) {
                let Some(newest) = pausable.pop() else { break };
                room += self.processes[&newest].resource;
                to_pause.push(newest);
            }
        }
        if !resource.fits_in(room) {
            return false;
        }
        for id in to_pause {
            self.pause(now, id);
        }
        if let Some(process) = self.processes.get_mut(&id) {
            if process.activity == Activity::Paused {
                let cost = process.resource.memory_mb.max(0) as u64 * self.resume_ms_per_gb / 1024;
                process.left = process.left + Millis(cost);
                process.work = process.work + Millis(cost);
            }
            self.running += process.resource;
            process.activity = Activity::Running { since: now };
            process.run += 1;
            if process.gated {
                self.timers.push(Timer { container: id, run: process.run, at: Millis(u64::MAX) });
            } else {
                self.timers.push(Timer { container: id, run: process.run, at: now + process.left });
            }
        }
        true
    }

    fn pause(&mut self, now: Millis, id: ContainerId) {
        let Some(process) = self.processes.get_mut(&id).filter(|process| process.is_running()) else { return };
        process.settle(now);
        process.activity = Activity::Paused;
        self.running -= process.resource;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::cluster::{gb, secs};

    #[test]
    fn a_task_that_waits_for_the_stage_before_works_off_nothing_until_it_is_open() {
        let (mut node, id) = (NodeManager::new(gb(1)), ContainerId(1));
        node.start(secs(0), id, gb(1), Work { time: secs(10), gated: true });
        assert_eq!(node.processes[&id].done(secs(30)), 0.0);
        node.open(secs(30), id);
        let process = &node.processes[&id];
        assert_eq!((process.done(secs(34)), process.ran(secs(34))), (0.4, secs(34)));
        assert_eq!(node.timers.last().map(|timer| timer.at), Some(secs(40)));
    }

    #[test]
    fn a_pause_keeps_the_work_and_continuing_costs_what_it_is_said_to_cost() {
        let mut node = NodeManager::new(gb(1)).resume_cost(2_000);
        let (old, new) = (ContainerId(1), ContainerId(2));
        node.start(secs(0), old, gb(1), secs(10));
        node.obey(secs(1), Message::Demote(old));
        node.start(secs(4), new, gb(1), secs(5));
        assert_eq!((node.processes[&old].done(secs(8)), node.processes[&old].ran(secs(8))), (0.4, secs(4)));
        node.end(secs(9), new);
        assert_eq!(node.processes[&old].left, secs(8));
    }
}
