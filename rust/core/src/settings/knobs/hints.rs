//! What users' tags may do.

use super::{Knob, Range::*, MOST_PENALTY};

pub(super) const KNOBS: &[Knob] = topic! {
    queue "hints" "" = "honour", OneOf(&["honour", "ignore"]),
        "Whether application tags such as `hiatus.size=3600`, `hiatus.weight=0.5` and `hiatus.deadline=+600` \
         count.";

    queue "hints-max-weight" "" = "1", Fraction(0.01, 100.0),
        "The most that a tag `hiatus.weight` counts, under `hfsp` and `flex`. With 1, users can make their jobs \
         less important than others and not more.";

    queue "hints-max-penalty" "" = "1", Fraction(0.0, MOST_PENALTY),
        "The most that a step of a tag `hiatus.sla` costs, under `flex`.";

    queue "hints-metric" "" = "ignore", OneOf(&["honour", "ignore"]),
        "Whether a tag `hiatus.metric` counts, under `flex`. Penalties of different metrics are added up: a job \
         that pays by the second outweighs all that pay once.";

    queue "hints-gp-class" "" = "ignore", OneOf(&["honour", "ignore"]),
        "Whether a tag `hiatus.gp-class=production` or `…=non-production` counts instead of `gp-class`.";

    queue "hints-suspend" "" = "ignore", OneOf(&["honour", "ignore"]),
        "Whether a tag `hiatus.suspend=no` keeps a job from being suspended whose type is one of `suspend-types`. \
         `…=yes` always counts.";
};
