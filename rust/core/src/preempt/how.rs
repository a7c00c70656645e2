//! By which primitive a container gives up its room: a choice of the queue that loses, independent of which containers go first.

use super::no_victim_reason::NoVictimReason;
use crate::settings::{Mode, Primitive, QueueSettings};
use crate::units::Millis;

/// How a container gives up its room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    Suspend,
    Kill,
}

/// For whom a container goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beneficiary {
    /// A job of its own queue, which comes before its own.
    OwnQueue,
    /// Another queue that lacks what it is entitled to, while its own has more. Nothing that can last keeps it from that (law
    /// 11): taking in turns is impossible between queues (law 2).
    OtherQueue,
}

/// A container that could be taken: running, and no ApplicationMaster.
#[derive(Clone, Copy)]
pub(super) struct Candidate<'a> {
    /// How far the product may go.
    pub mode: Mode,
    /// Run time in all: what killing it wastes.
    pub ran: Millis,
    /// Run time since it last started or was resumed.
    pub running_for: Millis,
    /// Run time that it probably has left: what waiting for its end costs. Few ask.
    pub left: &'a dyn Fn() -> Millis,
    /// Whether it was suspended before.
    pub resumed: bool,
    /// Whether it then had stood still for as long as a container may (`max-suspension-ms`).
    pub overdue: bool,
    /// Whether that ended in room which nobody else wanted, and not in its job's turn.
    pub in_spare_room: bool,
    /// Whether it has been suspended for others for as long as it may ([`Container::is_worn`](crate::state::Container::is_worn)).
    pub worn: bool,
    /// Times in a row that work of its phase was killed, see [`Phase::kill_rounds`](crate::state::Phase::kill_rounds).
    pub kill_rounds: u32,
    /// Whether its application may be suspended for others at all.
    pub may_be_suspended: bool,
    /// Whether its node can suspend at all.
    pub node_can_suspend: bool,
    /// Whether its node may keep its memory.
    pub memory_fits: bool,
}

/// How the candidate may go, or what keeps it.
pub(super) fn how(queue: &QueueSettings, of: &Candidate<'_>, beneficiary: Beneficiary) -> Result<How, NoVictimReason> {
    let entitled = beneficiary == Beneficiary::OtherQueue;
    let least = match of.resumed {
        false => queue.min_run,
        // It gets on for a while, whoever wants its room: it would else be suspended again at once, for ever.
        true if of.overdue => queue.min_resumed,
        true if entitled || of.in_spare_room => queue.min_run.min(queue.min_resumed),
        true => queue.min_resumed,
    };
    let spared = of.ran < patience(queue.min_run, of.kill_rounds);
    let long_enough = match least.since(of.running_for) {
        Millis(0) if entitled || !spared => Ok(()),
        Millis(0) => Err(NoVictimReason::Killed),
        left if of.resumed => Err(NoVictimReason::MinResumed(left)),
        left => Err(NoVictimReason::MinRun(left)),
    };
    let may_suspend = || match of {
        _ if of.mode < Mode::Suspend => Err(NoVictimReason::Waits),
        _ if !of.may_be_suspended => Err(NoVictimReason::NeverSuspended),
        _ if !of.node_can_suspend => Err(NoVictimReason::NodeCannotSuspend),
        _ if !entitled && of.worn => Err(NoVictimReason::Budget),
        _ if !of.memory_fits => Err(NoVictimReason::SuspendedMemory),
        _ => Ok(How::Suspend),
    };
    let may_kill = of.mode == Mode::Kill;
    let suspend = long_enough.and_then(|()| may_suspend());
    let kill = long_enough.and(if may_kill { Ok(How::Kill) } else { Err(NoVictimReason::Waits) });
    let escalate = || suspend.or_else(|why| kill.map_err(|_| why));
    match queue.preemption {
        Primitive::Wait => Err(NoVictimReason::Waits),
        Primitive::Suspend => suspend,
        Primitive::SuspendOrKill if of.node_can_suspend && !entitled => suspend,
        Primitive::SuspendOrKill => escalate(),
        // Where the mode forbids killing, the rung below it counts.
        Primitive::Kill if may_kill => kill,
        Primitive::Kill => suspend,
        // Little is lost with what has just begun: no minimum run time protects it until work of its phase was killed.
        Primitive::Adaptive if may_kill && of.ran < queue.kill_before && !spared && !of.overdue => Ok(How::Kill),
        Primitive::Adaptive if entitled => escalate(),
        Primitive::Adaptive if (of.left)() < queue.wait_before_end => Err(NoVictimReason::NearEnd),
        Primitive::Adaptive => suspend,
    }
}

/// Run time that is spared: it doubles, from a second at least, whenever work of the phase is killed, at once or after too
/// long a suspension, until one of its tasks is done. Jobs that take turns in taking from each other would never end otherwise
/// (law 8).
fn patience(min_run: Millis, kill_rounds: u32) -> Millis {
    match kill_rounds {
        0 => Millis(0),
        rounds => Millis(min_run.0.max(1_000).saturating_mul(1 << rounds.min(40))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use std::collections::BTreeMap;

    /// A container in the middle of its work, on a node that can suspend it, where everything is allowed.
    const MIDDLE: Candidate<'static> = Candidate {
        mode: Mode::Kill,
        ran: Millis(60_000),
        running_for: Millis(60_000),
        left: &|| Millis(60_000),
        resumed: false,
        overdue: false,
        in_spare_room: false,
        worn: false,
        kill_rounds: 0,
        may_be_suspended: true,
        node_can_suspend: true,
        memory_fits: true,
    };

    fn how_for(beneficiary: Beneficiary, preemption: &str, of: Candidate<'_>) -> Option<How> {
        let key = "yarn.scheduler.hiatus.preemption".to_string();
        let settings = Settings::parse(&BTreeMap::from([(key, preemption.to_string())])).unwrap();
        how(settings.queue("root.default"), &of, beneficiary).ok()
    }

    fn how_under(preemption: &str, of: Candidate<'_>) -> Option<How> {
        how_for(Beneficiary::OwnQueue, preemption, of)
    }

    #[test]
    fn gap_22_adaptive_kills_before_5_s_waits_in_the_last_10_s_and_suspends_between() {
        let adaptive = |ran_ms, left_ms| {
            let ran = Millis(ran_ms);
            how_under("adaptive", Candidate { ran, running_for: ran, left: &|| Millis(left_ms), ..MIDDLE })
        };
        assert_eq!(adaptive(4_999, 60_000), Some(How::Kill));
        assert_eq!(adaptive(5_000, 60_000), Some(How::Suspend));
        assert_eq!(adaptive(60_000, 10_000), Some(How::Suspend));
        assert_eq!(adaptive(60_000, 9_999), None);
        assert_eq!(adaptive(4_999, 1_000), Some(How::Kill), "killing costs less than either");
    }

    #[test]
    fn gap_22_adaptive_waits_where_the_node_may_keep_no_more_memory_or_cannot_suspend() {
        assert_eq!(how_under("adaptive", Candidate { memory_fits: false, ..MIDDLE }), None);
        assert_eq!(how_under("adaptive", Candidate { node_can_suspend: false, ..MIDDLE }), None);
        let worn = Candidate { resumed: true, worn: true, ..MIDDLE };
        assert_eq!(how_under("adaptive", worn), None, "gap 25");
    }

    #[test]
    fn each_primitive_does_what_it_says_and_never_more_than_the_mode_allows() {
        let rigid = Candidate { node_can_suspend: false, ..MIDDLE };
        for (preemption, on_any, on_rigid) in [
            ("wait", None, None),
            ("suspend", Some(How::Suspend), None),
            ("suspend-or-kill", Some(How::Suspend), Some(How::Kill)),
            ("kill", Some(How::Kill), Some(How::Kill)),
            ("adaptive", Some(How::Suspend), None),
        ] {
            assert_eq!(
                (how_under(preemption, MIDDLE), how_under(preemption, rigid)),
                (on_any, on_rigid),
                "{preemption}"
            );
            let below = |of: Candidate<'_>| how_under(preemption, Candidate { mode: Mode::Suspend, ..of });
            let suspends = on_any.map(|_| How::Suspend);
            assert_eq!((below(MIDDLE), below(rigid)), (suspends, None), "{preemption} in mode suspend");
            assert_eq!(how_under(preemption, Candidate { mode: Mode::Order, ..MIDDLE }), None, "{preemption}");
        }
    }

    #[test]
    fn law_5_what_has_just_begun_or_was_just_resumed_is_left_alone_but_by_adaptive() {
        let begun = Candidate { ran: Millis(4_000), running_for: Millis(4_000), ..MIDDLE };
        let resumed = Candidate { running_for: Millis(9_000), resumed: true, ..MIDDLE };
        for preemption in ["suspend", "suspend-or-kill", "kill"] {
            assert_eq!((how_under(preemption, begun), how_under(preemption, resumed)), (None, None), "{preemption}");
        }
        assert_eq!((how_under("adaptive", begun), how_under("adaptive", resumed)), (Some(How::Kill), None));
    }

    #[test]
    fn what_was_resumed_in_room_that_nobody_wanted_is_taken_back_after_the_minimum_run_time() {
        let spare = |ran_ms| {
            let running_for = Millis(ran_ms);
            how_under("suspend", Candidate { running_for, resumed: true, in_spare_room: true, ..MIDDLE })
        };
        assert_eq!((spare(4_999), spare(5_000)), (None, Some(How::Suspend)));
    }

    #[test]
    fn law_11_nothing_that_can_last_keeps_a_queue_from_what_it_is_entitled_to() {
        let worn = Candidate {
            running_for: Millis(5_000),
            resumed: true,
            worn: true,
            kill_rounds: 30,
            left: &|| Millis(1),
            ..MIDDLE
        };
        let full = Candidate { memory_fits: false, ..worn };
        let (suspend, kill) = (Some(How::Suspend), Some(How::Kill));
        for (preemption, of_worn, of_full) in [
            ("wait", None, None),
            ("suspend", suspend, None),
            ("suspend-or-kill", suspend, kill),
            ("kill", kill, kill),
            ("adaptive", suspend, kill),
        ] {
            let others = |of| how_for(Beneficiary::OtherQueue, preemption, of);
            assert_eq!((others(worn), others(full)), (of_worn, of_full), "{preemption}");
            assert_eq!((how_under(preemption, worn), how_under(preemption, full)), (None, None), "{preemption}");
            let early = Candidate { running_for: Millis(4_999), ..worn };
            assert_eq!(others(early), None, "{preemption}: it would get nowhere");
        }
    }

    #[test]
    fn law_23_what_has_stood_still_for_as_long_as_it_may_gets_on_for_a_while_whoever_wants_its_room() {
        for preemption in ["suspend", "suspend-or-kill", "kill", "adaptive"] {
            let overdue = |ran_s: u64| {
                let (ran, running_for) = (Millis(1), Millis(ran_s * 1_000));
                let of = Candidate { ran, running_for, resumed: true, overdue: true, in_spare_room: true, ..MIDDLE };
                [Beneficiary::OwnQueue, Beneficiary::OtherQueue]
                    .map(|beneficiary| how_for(beneficiary, preemption, of).is_some())
            };
            assert_eq!((overdue(9), overdue(10)), ([false; 2], [true; 2]), "{preemption}");
        }
    }

    #[test]
    fn law_8_what_is_killed_again_and_again_gets_twice_the_time_each_time() {
        let killed = |ran_s: u64, kill_rounds| {
            let ran = Millis(ran_s * 1_000);
            how_under("kill", Candidate { ran, running_for: ran, kill_rounds, ..MIDDLE })
        };
        for (rounds, least_s) in [(0, 5), (1, 10), (2, 20), (5, 160)] {
            let kill = Some(How::Kill);
            assert_eq!((killed(least_s - 1, rounds), killed(least_s, rounds)), (None, kill), "round {rounds}");
        }
        let begun = Candidate { ran: Millis(4_000), running_for: Millis(4_000), kill_rounds: 1, ..MIDDLE };
        assert_eq!(how_under("adaptive", begun), None, "it would be killed before its fifth second for ever");
    }
}
