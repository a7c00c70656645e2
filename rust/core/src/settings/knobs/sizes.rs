//! What sizes of jobs are taken to be, and how `hfsp` learns them.

use super::{Knob, Range::*, DAY_MS};
use crate::settings::FIRST_TASKS;

pub(super) const KNOBS: &[Knob] = topic! {
    queue "default-task-ms" "ms" = "60000", Whole(1, 30 * DAY_MS),
        "Expected run time of a task while no task of its phase has finished.";

    queue "training-tasks" "tasks" = "5", Whole(1, FIRST_TASKS as u64),
        "`hfsp` learns the size of a phase from so many of its first tasks; a phase with fewer is tiny and comes \
         first.";

    queue "training-timeout-ms" "ms" = "60000", Whole(1_000, DAY_MS),
        "A first task that works longer is judged by its progress, or by its run time if nobody tells. A reduce \
         that waits for maps does not work.";

    queue "training-share" "fraction of what the queue may hold" = "0.25", Fraction(0.0, 1.0),
        "Phases whose size `hfsp` has not learnt yet may get so much for their first tasks ahead of all others, \
         and one container at least; 0 for nothing at all. First tasks that run keep their room against their own \
         queue, up to half of what it may hold. Of a job whose class is remembered nothing is learnt ahead of its \
         turn.";

    queue "training-slots" "containers" = "0", Whole(0, 1_000_000),
        "The same as a number, whatever the queue may hold; `0`: as `training-share` says.";

    queue "training-preempts" "" = "off", OneOf(&["off", "on"]),
        "Whether room is taken from others for first tasks ahead of their turn, as in the thesis; otherwise they \
         wait for room that becomes free. Jobs that are alike end earlier if nothing is taken.";

    queue "untrained-factor" "" = "1", Fraction(1.0, 1_000_000.0),
        "How many times as large as earlier ones `hfsp` takes a phase to be before it has learnt its size.";

    queue "after-training" "" = "retain-ageing", OneOf(&["replace", "retain-ageing"]),
        "When `hfsp` has learnt a size: whether it replaces what was left of the first one, or what the phase has \
         aged so far still counts.";

    queue "late-jobs" "" = "in-order", OneOf(&["in-order", "shared"]),
        "How `hfsp` serves jobs that should be done by their estimate: one after the other, who has little left first, or \
         all alike.";

    queue "ageing-speed" "" = "1", Fraction(0.01, 100.0),
        "How fast time passes in the virtual cluster of `hfsp`: larger is closer to first come, first served.";
};
