//! When long jobs give way to those that they starve (GP).

use super::{Knob, Range::*, DAY_MS};

pub(super) const KNOBS: &[Knob] = topic! {
    cluster "gp-interval-ms" "ms" = "10000", Whole(100, DAY_MS),
        "How often it is asked whether long jobs starve others.";

    cluster "gp-period-ms" "ms" = "180000", Whole(1_000, DAY_MS),
        "The time looked back on for that. What a long job gives in part it gives once in such a time.";

    cluster "gp-busy-share" "fraction of the partition" = "0.9", Fraction(0.0, 1.0),
        "The partition is busy while more than this of it is occupied.";

    cluster "gp-busy-time" "fraction of the period" = "0.8", Fraction(0.0, 1.0),
        "Long jobs give way only if the partition was busy for more than this.";

    cluster "gp-quality" "" = "0.5", Fraction(0.01, 1.0),
        "Long jobs give way only if more waited on average than lets the mean of jobs' times alone over their real \
         times be this (π): with 0.5 as much as there is for non-production jobs, with 1 anything.";

    cluster "gp-single-job" "fraction of what waits" = "0.9", Fraction(0.0, 1.0),
        "Long jobs do not give way if a single job is more than this.";

    cluster "gp-long-task-ms" "ms" = "500000", Whole(0, 30 * DAY_MS),
        "A job is long if its tasks take more than this on average; if none is done yet, by what they tell of \
         their progress, or as long as they have run.";

    cluster "gp-first-part" "fraction of what is above the target" = "0.5", Fraction(0.0, 1.0),
        "What a long job gives at first, rounded up to containers.";

    cluster "gp-timeout-ms" "ms" = "360000", Whole(0, DAY_MS),
        "A long job that has starved others for so long without a break gives all above its target.";
};
