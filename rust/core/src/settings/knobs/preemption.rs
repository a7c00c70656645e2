//! How far Hiatus goes, who is served first, and what is taken from whom.

use super::{Knob, Range::*, DAY_MS};
use crate::settings::words::Word;
use crate::settings::{Candidates, GpClass, Mode, PolicyKind, Primitive, Victims};

pub(super) const KNOBS: &[Knob] = topic! {
    cluster "mode" "" = "suspend", OneOf(Mode::NAMES),
        "How far Hiatus may go: `off` is stock CapacityScheduler; `observe` decides and reports, stock acts; \
         `order` chooses who is served next; `suspend` also takes resources back by suspending containers; \
         `kill` also kills what runs, in queues whose `preemption` says so. `order` and `suspend` kill only what is \
         suspended already, as a last resort: what its full node has kept out for twice `max-suspension-ms`; a map \
         in whose room reduces of its own job are, after `resume-locality-ms`; and what is in the way of a \
         container that could not start for `stall-timeout-ms`.";

    queue "policy" "" = "hfsp", OneOf(PolicyKind::NAMES),
        "Order of the jobs of a queue: by arrival (`fifo`), equal shares (`fair`), least attained service (`las`), \
         least estimated remaining work (`srpt`), least left under virtual fair sharing (`hfsp`), what is best for \
         `flex-metric` (`flex`).";

    queue "preemption" "" = "suspend", OneOf(Primitive::NAMES),
        "What containers of this queue may suffer for a job with a higher claim, as far as `mode` allows: nothing \
         (`wait`); be suspended where the node can (`suspend`), and killed elsewhere (`suspend-or-kill`); be \
         killed everywhere (`kill`); or what costs least (`adaptive`). For a queue that lacks what it is entitled \
         to, `suspend-or-kill` and `adaptive` also kill where a node may keep no more suspended memory.";

    queue "suspend-types" "" = "MAPREDUCE, SPARK", Types,
        "Whose containers of this queue may be suspended for others: those of applications of these types (YARN's, in \
         whatever case; `*` for all), and of those with a tag `hiatus.suspend=yes`. By default those that were seen to \
         survive it. With others the same is done as where a node may keep no more suspended memory.";

    queue "preemption-within" "" = "inherit", OneOf(<Option<bool>>::NAMES),
        "Whether containers of this queue are taken for jobs of the same queue: as CapacityScheduler's \
         `disable_preemption` and `intra-queue-preemption.disable_preemption` say (`inherit`), or whatever those \
         say. Order and placing are the same either way.";

    queue "kill-before-ms" "ms" = "5000", Whole(0, DAY_MS),
        "`adaptive` kills a container that has run for less than this, unless work of its phase was just killed: \
         little is lost.";

    queue "wait-before-end-ms" "ms" = "10000", Whole(0, DAY_MS),
        "`adaptive` leaves a container alone that probably has less than this left to run.";

    queue "victims" "" = "youngest", OneOf(Victims::NAMES),
        "Which containers of this queue go first: of its last job in order the youngest, the smallest, or those \
         with least left to run; or those of the job with most work left, youngest first; a phase's first tasks \
         come last. Or, over all jobs of all queues with that word, those that began last (`gp`, Global \
         Preemption), or an equal part of each job, rounded down or up (`evenly`, `from-each`; what GP is compared \
         with): they go to other queues only, within their own nothing is taken but by `gp-starvation`.";

    queue "gp-class" "" = "guarantee", OneOf(<Option<GpClass>>::NAMES),
        "Whether this queue's jobs are production work, of which orders over all jobs take nothing. By default \
         they are where the queue is guaranteed more than the leaf queues are on average.";

    queue "gp-candidates" "" = "nonproduction", OneOf(Candidates::NAMES),
        "Of whom orders over all jobs take in this queue: of all its non-production jobs, as long as the queue \
         holds more than it is entitled to, or only of those above their own targets.";

    queue "gp-max-kills" "times" = "0", Whole(0, 1_000),
        "Orders over all jobs leave a phase alone whose work was killed so many times in a row without one of its \
         tasks done in between; 0 for no such bound.";

    queue "gp-starvation" "" = "off", OneOf(&["off", "on"]),
        "Under orders over all jobs: whether jobs of this queue with long tasks and more than their targets give \
         way to those that wait, when the partition is busy and much waits: the rule that the knobs below make up.";

    queue "min-run-ms" "ms" = "5000", Whole(0, DAY_MS),
        "A container runs at least this long before it is suspended or killed for another job; twice as long (from \
         a second at least) after each time that work of its phase was killed, until one of its tasks is done.";

    queue "suspension-budget-ms" "ms" = "1800000", Whole(0, 30 * DAY_MS),
        "A container that has been suspended for others in all for as long as it has run, and for so long besides, is \
         suspended for jobs of its own queue no more until it has run longer. A queue that lacks what it is entitled to \
         may take it all the same.";

    queue "preemption-threshold" "fraction" = "0.7", Fraction(0.0, 1.0),
        "A job of this queue loses containers only to jobs of it that have no more left to do than this part of what it \
         has left; at 1 to all that come before it. Priorities, other queues' guarantees and the starvation rule ask for \
         no sizes.";

    queue "max-am-share" "fraction of the queue's guarantee" = "0.25", Fraction(0.0, 1.0),
        "ApplicationMasters of jobs that run no task, or give way with what they run, do not count against \
         CapacityScheduler's `maximum-am-resource-percent` as long as all together hold no more than this and leave room for \
         one container each. At 0 all count.";

    queue "min-resumed-ms" "ms" = "10000", Whole(0, DAY_MS),
        "After a resume, a container runs at least this long before it is suspended again. Where it was resumed in \
         room that nobody else wanted, or another queue lacks what it is entitled to, `min-run-ms` is enough; not \
         where it had been suspended for `max-suspension-ms`.";

    queue "max-suspension-ms" "ms" = "600000", Whole(1_000, 30 * DAY_MS),
        "A container suspended for this long gets the next room on its node; in the mode `kill`, after twice as long, \
         it is killed, so that its job can rerun it elsewhere.";

    queue "resume-locality-ms" "ms" = "300000", Whole(0, 30 * DAY_MS),
        "A suspended container that its job may run, and whose node has no room for so long, is killed in the mode `kill`: \
         it is run again elsewhere. In the mode `suspend` only one whose room reduces of its own job hold, which wait for it, \
         or that has waited so for twice `max-suspension-ms`.";
};
