//! The policy `flex`.

use super::{Knob, Range::*};
use crate::flex::Metric;

pub(super) const KNOBS: &[Knob] = topic! {
    queue "flex-metric" "" = Metric::AvgResponse.name(), OneOf(&Metric::NAMES),
        "What `flex` makes as small as it can.";

    queue "flex-epoch-ms" "ms" = "500", Whole(0, 60_000),
        "`flex` decides anew at most this often.";

    queue "flex-slack" "fraction of the queue" = "0.75", Fraction(0.0, 1.0),
        "What `flex` may give to whom it likes. The rest is shared as under `fair`.";

    queue "flex-sure-share" "fraction of the queue" = "0.5", Fraction(0.0, 1.0),
        "Whatever the slack, `flex` makes every job sure of one container as long as all these take no more than \
         this, and the earliest jobs where they would. With 0, and all slack, the metric alone counts: whom it \
         puts last waits.";

    queue "flex-max-share" "fraction of what the queue may hold" = "1", Fraction(0.0, 1.0),
        "The most that `flex` means one job to hold, and one container at least; what nobody else wants it may \
         have on top.";

    queue "flex-deadline-s" "s after submission" = "0", Whole(0, 10 * 365 * 86_400),
        "Deadline of a job without a tag `hiatus.deadline`; 0 for none, which is one that is never missed.";

    queue "flex-weight" "" = "1", Fraction(0.01, 100.0),
        "Weight of a job without a tag `hiatus.weight`, in the metrics that have weights.";

    queue "flex-sla" "s after submission:penalty" = "none", Steps,
        "What a job without a tag `hiatus.sla` costs from when on, for the metric `sla`: `600:1/1200:5`.";
};
