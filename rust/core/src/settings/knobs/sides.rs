//! On which side of a mixed cluster a queue's jobs run (BatchMR).

use super::{Knob, Range::*, DAY_MS};

pub(super) const KNOBS: &[Knob] = topic! {
    queue "batchmr-placer" "" = "off", OneOf(&["off", "on"]),
        "Whether jobs of this queue run on one side of a mixed cluster, its physical or its virtual nodes: where \
         earlier runs, or their own first tasks, took less time.";

    queue "batchmr-key" "" = "class", OneOf(&["class", "literal"]),
        "Which earlier runs count for a job: those of its class (its tag `hiatus.job-class=…`, or its name without \
         digits), or as printed all of like size (`literal`).";

    queue "batchmr-cluster-size" "fraction of the side's nodes" = "0.2", Fraction(0.0, 1.0),
        "An earlier run counts if its side of the cluster was larger or smaller by no more than this (θ_c).";

    queue "batchmr-data-size" "fraction of the input" = "0.15", Fraction(0.0, 1.0),
        "An earlier run counts if its input was larger or smaller by no more than this (θ_d).";

    queue "batchmr-difference" "fraction of the time on physical nodes" = "0.4", Fraction(0.0, 10.0),
        "A job that would take longer on virtual nodes by more than this runs on physical ones, any other on \
         virtual ones (θ_r).";

    queue "batchmr-alpha" "" = "0.3", Fraction(0.01, 0.99),
        "Weight of the newest run in the moving mean of earlier ones (α).";

    queue "batchmr-samples" "tasks" = "4", Whole(0, 1_000),
        "A job of which too little is known runs so many of its first tasks on each side, and the others wait; \
         with 0 it runs on virtual nodes.";

    queue "batchmr-sampling-timeout-ms" "ms" = "120000", Whole(0, 30 * DAY_MS),
        "After this long a job's first tasks have told enough: it runs on the only side on which any was done, or \
         on virtual nodes if none was.";

    queue "batchmr-spill" "" = "off", OneOf(&["off", "on"]),
        "Whether jobs may use the other side, too, while nobody who runs there wants anything.";

    queue "batchmr-task-input" "bytes" = "134217728", Whole(1, 1 << 50),
        "What one task reads: with how many there are, a job's input where no tag `hiatus.input-bytes=…` tells it. \
         The block size, usually.";
};
