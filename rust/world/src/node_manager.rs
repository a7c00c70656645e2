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

/// How far a reduce is with fetching what maps made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fetching {
    /// How long it takes for one map.
    pub each: Millis,
    /// Maps that are done.
    pub available: u32,
    /// All maps.
    pub total: u32,
    spent: Millis,
}

impl Fetching {
    /// Before anything is fetched.
    pub fn new(each: Millis, available: u32, total: u32) -> Fetching {
        Fetching { each, available, total, spent: Millis(0) }
    }

    fn of(&self, maps: u32) -> Millis {
        Millis(self.each.0 * u64::from(maps))
    }

    /// How much longer it takes to fetch what is there.
    fn pending(&self) -> Millis {
        self.of(self.available).since(self.spent)
    }

    /// Maps whose output it has after it has fetched for `span` more.
    pub fn fetched(&self, span: Millis) -> u32 {
        let all = self.spent.0 + span.0.min(self.pending().0);
        all.checked_div(self.each.0).map_or(self.available, |maps| maps as u32)
    }
}

/// What reduces did with the containers that they held, suspensions aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReduceTime {
    /// How long they ran and counted.
    pub held: Millis,
    /// For how much of that they waited for maps and had nothing to fetch.
    pub idle: Millis,
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
    /// What it fetches while it waits.
    pub fetching: Option<Fetching>,
    /// How often it began to run: a timer of an earlier run is void.
    pub run: u32,
    ran: Millis,
    as_reduce: ReduceTime,
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

    /// Maps whose output it has, if it fetches any.
    pub fn fetched(&self, now: Millis) -> Option<u32> {
        let span = match self.activity {
            Activity::Running { since } if self.gated => now.since(since),
            _ => Millis(0),
        };
        self.fetching.map(|fetching| fetching.fetched(span))
    }

    /// Notes how far it got until `now`.
    fn settle(&mut self, now: Millis) {
        if let Activity::Running { since } = self.activity {
            let span = now.since(since);
            self.ran = self.ran + span;
            let mut idle = Millis(0);
            if !self.gated {
                self.left = Millis(self.left.0.saturating_sub(span.0));
            } else if let Some(fetching) = &mut self.fetching {
                let fetched = span.min(fetching.pending());
                fetching.spent = fetching.spent + fetched;
                idle = span.since(fetched);
            }
            if self.guaranteed && self.fetching.is_some() {
                self.as_reduce.held = self.as_reduce.held + span;
                self.as_reduce.idle = self.as_reduce.idle + idle;
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
    /// What it has to fetch first.
    pub fetching: Option<Fetching>,
}

impl From<Millis> for Work {
    fn from(time: Millis) -> Work {
        Work { time, gated: false, fetching: None }
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
    /// What the reduces that ended here did.
    pub reduces: ReduceTime,
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
        // Where all maps are done it fetches in one go, and then works.
        let all = work.fetching.filter(|_| !work.gated).map_or(Millis(0), |fetching| fetching.of(fetching.total));
        let time = work.time + all;
        self.arrivals += 1;
        let process = Process {
            resource,
            guaranteed: true,
            activity: Activity::Queued,
            work: time,
            left: time,
            gated: work.gated,
            fetching: work.fetching,
            run: 0,
            ran: Millis(0),
            as_reduce: ReduceTime::default(),
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
        let rest = process.fetching.map_or(Millis(0), |fetching| fetching.of(fetching.total).since(fetching.spent));
        (process.left, process.work) = (process.left + rest, process.work + rest);
        if process.is_running() {
            self.timers.push(Timer { container: id, run: process.run, at: now + process.left });
        }
    }

    /// So many maps are done now.
    pub fn offer(&mut self, now: Millis, id: ContainerId, available: u32) {
        let Some(process) = self.processes.get_mut(&id).filter(|process| process.gated) else { return };
        process.settle(now);
        if let Some(fetching) = &mut process.fetching {
            fetching.available = available;
        }
    }

    /// Takes a message. False if a promoted container has to queue.
    pub fn obey(&mut self, now: Millis, message: Message) -> bool {
        match message {
            Message::Demote(id) => {
                if let Some(process) = self.processes.get_mut(&id) {
                    process.settle(now);
                    process.guaranteed = false;
                }
            }
            Message::Promote(id) => {
                let Some(process) = self.processes.get_mut(&id) else { return true };
                process.settle(now);
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
        let mut ended = self.processes.remove(&id);
        if let Some(process) = &mut ended {
            process.settle(now);
            self.reduces.held = self.reduces.held + process.as_reduce.held;
            self.reduces.idle = self.reduces.idle + process.as_reduce.idle;
        }
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
    use crate::job::{gb, secs};

    #[test]
    fn a_task_that_waits_for_the_stage_before_works_off_nothing_until_it_is_open() {
        let (mut node, id) = (NodeManager::new(gb(1)), ContainerId(1));
        node.start(secs(0), id, gb(1), Work { time: secs(10), gated: true, fetching: None });
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

    #[test]
    fn a_reduce_fetches_what_is_there_idles_until_there_is_more_and_does_neither_while_it_is_paused() {
        let (mut node, reduce, map) = (NodeManager::new(gb(1)), ContainerId(1), ContainerId(2));
        let fetching = Some(Fetching::new(secs(2), 3, 5));
        node.start(secs(0), reduce, gb(1), Work { time: secs(10), gated: true, fetching });
        let fetched = |node: &NodeManager, at| node.processes[&reduce].fetched(secs(at));
        assert_eq!((fetched(&node, 3), fetched(&node, 6), fetched(&node, 9)), (Some(1), Some(3), Some(3)));
        node.obey(secs(10), Message::Demote(reduce));
        node.start(secs(10), map, gb(1), secs(20));
        node.offer(secs(12), reduce, 4);
        assert_eq!(fetched(&node, 20), Some(3), "it is paused");
        node.obey(secs(30), Message::Promote(reduce));
        node.end(secs(30), map);
        assert_eq!((fetched(&node, 31), fetched(&node, 32)), (Some(3), Some(4)));
        node.open(secs(34), reduce);
        assert_eq!(
            node.timers.last().map(|timer| timer.at),
            Some(secs(34 + 2 + 10)),
            "one more to fetch, then it works"
        );
        node.end(secs(46), reduce);
        assert_eq!((node.reduces.held, node.reduces.idle), (secs(10 + 16), secs(4 + 2)));
    }
}
