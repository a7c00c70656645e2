//! Records to facts, decisions to records.

mod views;

pub use views::{admissions, node_views, tally_view, views};

use crate::layout::{self, Record as _, HEADER};
use hiatus_core::decision::{Cause, Decision, Reason};
use hiatus_core::fact::{
    AppFact, ContainerFact, Exit, Fact, Found, NodeFact, PhaseKey, Places, QueueFact, Rejection, Run, Side, TaskReport,
};
use hiatus_core::predoop::Shuffle;
use hiatus_core::recurring::Record;
use hiatus_core::stages::{Executor, Stage};
use hiatus_core::units::{AppId, ContainerId, JobClass, Millis, NodeId, PartitionId, QueueId, Resource, UserId};
use thiserror::Error;

/// Bytes that are no records: the two sides were not built together, or the buffer was damaged.
#[derive(Debug, Error)]
pub enum BadRecord {
    /// The buffer ends within a record.
    #[error("record at byte {at} is cut off: {left} bytes left")]
    CutOff {
        /// Where it begins.
        at: usize,
        /// Bytes from there to the end.
        left: usize,
    },
    /// No such kind, or its fields do not make sense.
    #[error("record of kind {kind} at byte {at} cannot be read")]
    Unreadable {
        /// Where it begins.
        at: usize,
        /// What it says it is.
        kind: u32,
    },
}

/// Reads all facts of a buffer.
///
/// # Errors
/// The first record that cannot be read; none of the facts should be used then.
pub fn facts(bytes: &[u8], out: &mut Vec<Fact>) -> Result<(), BadRecord> {
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let cut_off = BadRecord::CutOff { at, left: rest.len() };
        let Some((header, _)) = rest.split_first_chunk::<HEADER>() else { return Err(cut_off) };
        let [k0, k1, k2, k3, l0, l1, l2, l3] = *header;
        let (kind, length) = (u32::from_le_bytes([k0, k1, k2, k3]), u32::from_le_bytes([l0, l1, l2, l3]) as usize);
        let Some(fields) = rest.get(HEADER..length) else { return Err(cut_off) };
        out.push(fact(kind, fields).ok_or(BadRecord::Unreadable { at, kind })?);
        at += length;
    }
    Ok(())
}

/// Length of the record that begins here, header included; `None` at the end.
pub fn length(bytes: &[u8]) -> Option<usize> {
    let [_, _, _, _, length @ ..] = *bytes.first_chunk::<HEADER>()?;
    usize::try_from(u32::from_le_bytes(length)).ok()
}

fn fact(kind: u32, bytes: &[u8]) -> Option<Fact> {
    Some(match kind {
        1 => {
            let (r, _) = layout::Node::read(bytes)?;
            Fact::Node(NodeFact {
                node: NodeId(r.node),
                total: Resource::new(r.memory_mb, r.vcores),
                partition: PartitionId(r.partition),
                shareable: r.flags & 1 != 0,
                can_suspend: r.flags & 2 != 0,
                decommissioning: r.flags & 4 != 0,
                ram_and_swap_mb: (r.ram_and_swap_mb > 0).then_some(r.ram_and_swap_mb),
                side: match r.flags & 24 {
                    8 => Some(Side::Physical),
                    16 => Some(Side::Virtual),
                    _ => None,
                },
            })
        }
        2 => Fact::NodeRemoved { node: NodeId(layout::NodeRemoved::read(bytes)?.0.node) },
        3 => {
            let (r, _) = layout::Heartbeat::read(bytes)?;
            Fact::Heartbeat { node: NodeId(r.node), paused: r.paused, waiting: r.waiting }
        }
        4 => {
            let (r, path) = layout::Queue::read(bytes)?;
            Fact::Queue(QueueFact {
                queue: QueueId(r.queue),
                parent: (r.flags & 1 != 0).then_some(QueueId(r.parent)),
                path: path.to_string(),
                preemptable: r.flags & 2 != 0,
                preemptable_within: r.flags & 4 != 0,
            })
        }
        5 => Fact::QueueRemoved { queue: QueueId(layout::QueueRemoved::read(bytes)?.0.queue) },
        6 => {
            let (r, _) = layout::QueueShare::read(bytes)?;
            Fact::QueueShare {
                queue: QueueId(r.queue),
                partition: PartitionId(r.partition),
                guaranteed: r.guaranteed,
                maximum: r.maximum,
            }
        }
        7 => {
            let (r, text) = layout::App::read(bytes)?;
            let mut lines = text.lines().map(String::from);
            Fact::App(AppFact {
                app: AppId(r.app),
                queue: QueueId(r.queue),
                user: UserId(r.user),
                priority: r.priority,
                told_at_ms: u64::try_from(r.told_at_ms).unwrap_or_default(),
                name: lines.next().unwrap_or_default(),
                application_type: lines.next().unwrap_or_default(),
                tags: lines.collect(),
                class: JobClass(r.job_class.cast_unsigned()),
                unmanaged: r.flags & 1 != 0,
            })
        }
        8 => {
            let (r, _) = layout::AppChanged::read(bytes)?;
            Fact::AppChanged { app: AppId(r.app), queue: QueueId(r.queue), priority: r.priority }
        }
        9 => {
            let (r, _) = layout::AppActive::read(bytes)?;
            Fact::AppActive { app: AppId(r.app), active: r.active != 0 }
        }
        10 => {
            let (r, _) = layout::AttemptEnded::read(bytes)?;
            Fact::AttemptEnded { app: AppId(r.app), keep_containers: r.keep_containers != 0 }
        }
        11 => {
            let (r, _) = layout::AppRemoved::read(bytes)?;
            Fact::AppRemoved { app: AppId(r.app), succeeded: r.succeeded != 0 }
        }
        12 => Fact::AsksReplaced { app: AppId(layout::AsksReplaced::read(bytes)?.0.app) },
        13 => {
            let (r, _) = layout::Asked::read(bytes)?;
            let phase = phase(r.priority, r.partition, r.memory_mb, r.vcores);
            Fact::Asked { app: AppId(r.app), phase, count: r.count, places: places(r.places)? }
        }
        14 => {
            let (r, _) = layout::Allocated::read(bytes)?;
            Fact::Allocated(ContainerFact {
                container: ContainerId(r.container),
                app: AppId(r.app),
                node: NodeId(r.node),
                phase: phase(r.priority, r.partition, r.memory_mb, r.vcores),
                is_master: r.flags & 1 != 0,
                state: match r.found {
                    0 => Found::New,
                    1 => Found::Running,
                    2 => Found::Suspended,
                    _ => return None,
                },
            })
        }
        15 => Fact::Launched { container: ContainerId(layout::Launched::read(bytes)?.0.container) },
        16 => Fact::Demoted { container: ContainerId(layout::Demoted::read(bytes)?.0.container) },
        17 => Fact::Promoted { container: ContainerId(layout::Promoted::read(bytes)?.0.container) },
        18 => {
            let (r, _) = layout::Completed::read(bytes)?;
            let exit = match r.exit {
                0 => Exit::Succeeded,
                1 => Exit::Failed,
                2 => Exit::Killed,
                _ => return None,
            };
            Fact::Completed { container: ContainerId(r.container), exit }
        }
        19 => {
            let (r, _) = layout::AssignRejected::read(bytes)?;
            Fact::AssignRejected { app: AppId(r.app), node: NodeId(r.node), reason: rejection(r.reason)? }
        }
        20 => {
            let (r, _) = layout::ContainerRejected::read(bytes)?;
            Fact::ContainerRejected { container: ContainerId(r.container), reason: rejection(r.reason)? }
        }
        21 => {
            let (r, _) = layout::AppParked::read(bytes)?;
            Fact::AppParked { app: AppId(r.app), parked: r.parked != 0 }
        }
        22 => {
            let (r, _) = layout::ContainerParked::read(bytes)?;
            Fact::ContainerParked { container: ContainerId(r.container), parked: r.parked != 0 }
        }
        23 => {
            let (r, _) = layout::Progress::read(bytes)?;
            Fact::Progress {
                container: ContainerId(r.container),
                done: (r.done >= 0.0 || r.done.is_nan()).then_some(r.done),
            }
        }
        24 => {
            let (r, _) = layout::Tasks::read(bytes)?;
            Fact::Tasks { app: AppId(r.app), priority: r.priority, total: r.total, done: r.done }
        }
        25 => {
            let (r, _) = layout::Ran::read(bytes)?;
            let run = Run {
                same_class: r.flags & 1 != 0,
                side: if r.flags & 2 != 0 { Side::Virtual } else { Side::Physical },
                at_ms: u64::try_from(r.at_ms).ok()?,
                took: Millis(u64::try_from(r.took_ms).ok()?),
                nodes: r.nodes,
                input: u64::try_from(r.input).ok()?,
            };
            Fact::Ran { app: AppId(r.app), run }
        }
        26 => {
            let (r, _) = layout::MapTold::read(bytes)?;
            let report = TaskReport::Map { read: r.read, partitions: r.partitions != 0 };
            Fact::TaskReport { container: ContainerId(r.container), report }
        }
        27 => {
            let (r, _) = layout::ReduceTold::read(bytes)?;
            let report = TaskReport::Shuffle(Shuffle { fetched: r.fetched, done: r.done, total: r.total });
            Fact::TaskReport { container: ContainerId(r.container), report }
        }
        28 => {
            let (r, _) = layout::TasksTook::read(bytes)?;
            let (at_ms, each) = (u64::try_from(r.at_ms).ok()?, Millis(u64::try_from(r.each_ms).ok()?));
            Fact::TasksTook { app: AppId(r.app), priority: r.priority, at_ms, each, count: r.count }
        }
        29 => {
            let (r, _) = layout::UserLimits::read(bytes)?;
            Fact::UserLimits { queue: QueueId(r.queue), sure: r.sure, most: r.most }
        }
        30 => {
            let (r, _) = layout::Blacklisted::read(bytes)?;
            Fact::Blacklisted { app: AppId(r.app), node: NodeId(r.node) }
        }
        31 => {
            let (r, _) = layout::Stage::read(bytes)?;
            let stage = Stage {
                first: r.flags & 1 != 0,
                more: r.flags & 2 != 0,
                priority: r.priority,
                tasks: r.tasks,
                running: r.running,
                done: r.done,
                each: Millis(u64::try_from(r.each_ms).ok()?),
                slots: r.slots,
            };
            Fact::Stage { app: AppId(r.app), stage }
        }
        32 => {
            let (r, _) = layout::Executor::read(bytes)?;
            Fact::Executor { container: ContainerId(r.container), executor: executor(r.worth)? }
        }
        _ => return None,
    })
}

fn phase(priority: i32, partition: u32, memory_mb: i64, vcores: i64) -> PhaseKey {
    PhaseKey { priority, partition: PartitionId(partition), resource: Resource::new(memory_mb, vcores) }
}

fn executor(number: u32) -> Option<Executor> {
    [Executor::Idle, Executor::Busy, Executor::Keeps].get(number as usize).copied()
}

fn places(number: u32) -> Option<Places> {
    [Places::Named, Places::Anywhere, Places::Unjudged].get(number as usize).copied()
}

fn rejection(number: u32) -> Option<Rejection> {
    use Rejection::{Gone, Limit, Locality, Observed, Room};
    [Locality, Limit, Room, Gone, Observed].get(number as usize).copied()
}

/// Appends what history tells of an application as facts, for whoever hands those in with its others.
pub fn remembered(app: AppId, record: &Record, out: &mut Vec<u8>) {
    for fact in record.facts(app) {
        match fact {
            Fact::Ran { app: AppId(app), run } => layout::Ran {
                app,
                flags: u32::from(run.same_class) | u32::from(run.side == Side::Virtual) << 1,
                at_ms: run.at_ms.cast_signed(),
                took_ms: run.took.0.cast_signed(),
                nodes: run.nodes,
                input: run.input.cast_signed(),
            }
            .write("", out),
            Fact::TasksTook { app: AppId(app), priority, at_ms, each, count } => {
                layout::TasksTook { app, priority, at_ms: at_ms.cast_signed(), each_ms: each.0.cast_signed(), count }
                    .write("", out);
            }
            _ => {}
        }
    }
}

/// Appends the decision's record.
pub fn decision(decision: Decision, out: &mut Vec<u8>) {
    match decision {
        Decision::Assign { app, node, count, room } => {
            let (memory_mb, vcores) = (room.memory_mb, room.vcores);
            layout::Assign { app: app.0, node: node.0, count, memory_mb, vcores }.write("", out);
        }
        Decision::AssignLent { app, node, priority } => {
            layout::Lend { app: app.0, node: node.0, priority }.write("", out)
        }
        Decision::Suspend { container, reason } => {
            let (reason, by) = match reason {
                Reason::Preempted { by } => (0, by.0),
                Reason::Parked => (1, 0),
                Reason::Lent => (2, 0),
                Reason::Recalled { by } => (3, by.0),
                Reason::Found => (4, 0),
                Reason::Overcommitted => (5, 0),
            };
            layout::Suspend { container: container.0, reason, by }.write("", out);
        }
        Decision::Resume { container } => layout::Resume { container: container.0 }.write("", out),
        Decision::Kill { container, cause } => {
            let (cause, by) = match cause {
                Cause::Preempted { by } => (0, by.0),
                Cause::SuspendedTooLong => (1, 0),
                Cause::KeptOut => (2, 0),
                Cause::InTheWay => (3, 0),
            };
            layout::Kill { container: container.0, cause, by }.write("", out);
        }
    }
}

/// The decision that a whole record says; `None` if it says none.
pub fn decided(record: &[u8]) -> Option<Decision> {
    let (header, fields) = record.split_first_chunk::<4>()?;
    let fields = fields.get(HEADER - header.len()..)?;
    Some(match u32::from_le_bytes(*header) {
        layout::Assign::KIND => {
            let (r, _) = layout::Assign::read(fields)?;
            let room = Resource::new(r.memory_mb, r.vcores);
            Decision::Assign { app: AppId(r.app), node: NodeId(r.node), count: r.count, room }
        }
        layout::Lend::KIND => {
            let (r, _) = layout::Lend::read(fields)?;
            Decision::AssignLent { app: AppId(r.app), node: NodeId(r.node), priority: r.priority }
        }
        layout::Suspend::KIND => {
            let (r, _) = layout::Suspend::read(fields)?;
            let reason = match r.reason {
                0 => Reason::Preempted { by: AppId(r.by) },
                1 => Reason::Parked,
                2 => Reason::Lent,
                3 => Reason::Recalled { by: ContainerId(r.by) },
                4 => Reason::Found,
                5 => Reason::Overcommitted,
                _ => return None,
            };
            Decision::Suspend { container: ContainerId(r.container), reason }
        }
        layout::Resume::KIND => Decision::Resume { container: ContainerId(layout::Resume::read(fields)?.0.container) },
        layout::Kill::KIND => {
            let (r, _) = layout::Kill::read(fields)?;
            let cause = match r.cause {
                0 => Cause::Preempted { by: AppId(r.by) },
                1 => Cause::SuspendedTooLong,
                2 => Cause::KeptOut,
                3 => Cause::InTheWay,
                _ => return None,
            };
            Decision::Kill { container: ContainerId(r.container), cause }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hiatus_core::recurring::{OnSide, Tasks};

    #[test]
    fn a_fact_survives_the_crossing() {
        let mut bytes = Vec::new();
        layout::Heartbeat { node: 7, paused: 2, waiting: 1 }.write("", &mut bytes);
        layout::App { app: 1, queue: 2, user: 3, priority: -4, told_at_ms: 5, flags: 1, job_class: -6 }
            .write("application_1_0001\nSPARK\na\nb", &mut bytes);
        let mut out = Vec::new();
        facts(&bytes, &mut out).unwrap();
        assert_eq!(out[0], Fact::Heartbeat { node: NodeId(7), paused: 2, waiting: 1 });
        let Fact::App(app) = &out[1] else { panic!("{out:?}") };
        let (name, tags) = (app.name.as_str(), app.tags.len());
        assert_eq!(app.application_type, "SPARK");
        assert_eq!((name, tags, app.priority, app.told_at_ms, app.unmanaged), ("application_1_0001", 2, -4, 5, true));
        assert_eq!(app.class, JobClass(u64::MAX - 5));
    }

    #[test]
    fn sides_and_earlier_runs_survive_it_too() {
        let mut bytes = Vec::new();
        let node = layout::Node { node: 1, memory_mb: 2, vcores: 3, partition: 0, flags: 18, ram_and_swap_mb: 0 };
        node.write("", &mut bytes);
        layout::Node { flags: 8, ..node }.write("", &mut bytes);
        layout::Node { flags: 7, ..node }.write("", &mut bytes);
        layout::Ran { app: 4, flags: 3, at_ms: 5, took_ms: 6, nodes: 7, input: 8 }.write("", &mut bytes);
        let mut out = Vec::new();
        facts(&bytes, &mut out).unwrap();
        let side = |fact: &Fact| if let Fact::Node(node) = fact { node.side } else { panic!("{fact:?}") };
        let sides: Vec<_> = out[..3].iter().map(side).collect();
        assert_eq!(sides, [Some(Side::Virtual), Some(Side::Physical), None]);
        let run = Run { same_class: true, side: Side::Virtual, at_ms: 5, took: Millis(6), nodes: 7, input: 8 };
        assert_eq!(out[3], Fact::Ran { app: AppId(4), run });
    }

    #[test]
    fn what_is_remembered_is_told_as_facts() {
        let side = OnSide { side: Side::Virtual, took: Millis(6), nodes: 7 };
        let tasks = Tasks { priority: -1, count: 2, time: Millis(10) };
        let record = Record { class: JobClass(1), at_ms: 5, input: 8, sides: vec![side], tasks: vec![tasks] };
        let (mut bytes, mut out) = (Vec::new(), Vec::new());
        remembered(AppId(4), &record, &mut bytes);
        facts(&bytes, &mut out).unwrap();
        assert_eq!(out, record.facts(AppId(4)).collect::<Vec<_>>());
        assert_eq!(out.len(), 2);
    }

    #[test]
    fn what_tasks_tell_survives_the_crossing() {
        let mut bytes = Vec::new();
        layout::MapTold { container: 1, read: 0.5, partitions: 1 }.write("", &mut bytes);
        layout::ReduceTold { container: 2, fetched: 3, done: 4, total: 5 }.write("", &mut bytes);
        let mut out = Vec::new();
        facts(&bytes, &mut out).unwrap();
        let report = TaskReport::Map { read: 0.5, partitions: true };
        assert_eq!(out[0], Fact::TaskReport { container: ContainerId(1), report });
        let report = TaskReport::Shuffle(Shuffle { fetched: 3, done: 4, total: 5 });
        assert_eq!(out[1], Fact::TaskReport { container: ContainerId(2), report });
    }

    #[test]
    fn what_executors_are_worth_survives_it_and_nothing_else_is_taken_for_that() {
        let told = |worth| {
            let (mut bytes, mut out) = (Vec::new(), Vec::new());
            layout::Executor { container: 1, worth }.write("", &mut bytes);
            facts(&bytes, &mut out).map(|()| out)
        };
        for (worth, executor) in [Executor::Idle, Executor::Busy, Executor::Keeps].into_iter().enumerate() {
            assert_eq!(told(worth as u32).unwrap(), [Fact::Executor { container: ContainerId(1), executor }]);
        }
        assert!(told(3).is_err());
    }

    #[test]
    fn decisions_survive_the_crossing_back() {
        let (app, node, container) = (AppId(1), NodeId(2), ContainerId(3));
        let all = [
            Decision::Assign { app, node, count: 4, room: Resource::new(5, 6) },
            Decision::AssignLent { app, node, priority: -7 },
            Decision::Resume { container },
        ];
        let reasons = [
            Reason::Preempted { by: app },
            Reason::Parked,
            Reason::Lent,
            Reason::Recalled { by: ContainerId(9) },
            Reason::Found,
            Reason::Overcommitted,
        ];
        let causes = [Cause::Preempted { by: app }, Cause::SuspendedTooLong, Cause::KeptOut, Cause::InTheWay];
        let suspensions = reasons.map(|reason| Decision::Suspend { container, reason });
        let kills = causes.map(|cause| Decision::Kill { container, cause });
        for one in all.into_iter().chain(suspensions).chain(kills) {
            let mut record = Vec::new();
            decision(one, &mut record);
            assert_eq!(decided(&record), Some(one));
            assert_eq!(decided(&record[..record.len() - 1]), None);
        }
    }

    #[test]
    fn damaged_buffers_are_refused_with_the_place() {
        let mut bytes = Vec::new();
        layout::Launched { container: 1 }.write("", &mut bytes);
        layout::Launched { container: 2 }.write("", &mut bytes);
        let mut out = Vec::new();
        assert!(matches!(facts(&bytes[..bytes.len() - 1], &mut out), Err(BadRecord::CutOff { at: 12, left: 11 })));
        bytes[12] = 99;
        assert!(matches!(facts(&bytes, &mut out), Err(BadRecord::Unreadable { at: 12, kind: 99 })));
    }
}
