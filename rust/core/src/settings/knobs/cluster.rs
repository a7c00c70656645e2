//! Nodes, plans, claims and time limits of the whole cluster, forecasts and hindsight.

use super::{Knob, Range::*, DAY_MS};

pub(super) const KNOBS: &[Knob] = topic! {
    cluster "max-suspended-memory" "fraction of the node's memory" = "0.5", Fraction(0.0, 16.0),
        "Memory that suspended containers of one node may keep, as containers' sizes; above it nothing more is \
         suspended there. Give nodes swap of that size: where a node says how much RAM and swap it has, it keeps \
         no more than those hold beside running containers that fill it.";

    cluster "plan-interval-ms" "ms" = "100", Whole(0, 60_000),
        "Order and targets are computed anew at most this often, and at least every ten times as long.";

    cluster "forecast-interval-ms" "ms" = "0", Whole(0, DAY_MS),
        "How often the ends of jobs are forecast, as long as that costs no more than a tenth of a core; `0`: \
         never.";

    cluster "forecast-max-size" "nodes, jobs and containers" = "20000", Whole(0, 10_000_000),
        "In a larger cluster nothing is forecast: the copy of the state is made under the scheduler's lock.";

    cluster "hindsight-interval-ms" "ms" = "600000", Whole(0, DAY_MS),
        "In mode `observe`: how often it is simulated what Hiatus would have saved, as long as that costs no more \
         than a tenth of a core; `0`: never.";

    cluster "hindsight-window-ms" "ms" = "21600000", Whole(60_000, 7 * DAY_MS),
        "Jobs that ended within this time are simulated.";

    cluster "hindsight-max-size" "jobs and containers" = "200000", Whole(100, 10_000_000),
        "No more are remembered for that: of more than these, those that ended last.";

    cluster "claim-timeout-ms" "ms" = "30000", Whole(1_000, DAY_MS),
        "Room kept on a node for the request it was freed for is given back when unused for this long, and no more \
         is freed for that job for as long again; for twice as long each time until it is given something.";

    cluster "large-ask-delay-ms" "ms" = "3000", Whole(0, DAY_MS),
        "When the first job in order finds no node with room for its next container for this long, room is \
         collected for it on one node.";

    cluster "large-ask-timeout-ms" "ms" = "600000", Whole(1_000, DAY_MS),
        "Room that is collected as containers end and not enough after this long is given back.";

    cluster "stall-timeout-ms" "ms" = "60000", Whole(1_000, DAY_MS),
        "A container that is given out but not started for this long on a node with suspended ones gets one of \
         those killed out of its way; on a node that has become smaller than what it has given out, and suspends \
         none yet, the newest is suspended.";

    cluster "silent-node-ms" "ms" = "10000", Whole(1_000, DAY_MS),
        "Nothing is placed on, or freed on, a node that has not reported for this long, until it reports again.";

    cluster "refused-rest-ms" "ms" = "10000", Whole(100, DAY_MS),
        "When the ResourceManager refuses a container to a job for a limit of its queue or user, no room is freed \
         for that job for this long; a container whose suspension it refuses is left alone for as long.";
};
