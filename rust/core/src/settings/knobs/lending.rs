//! Idle reduces lend their room to maps (Predoop).

use super::{Knob, Range::*};

pub(super) const KNOBS: &[Knob] = topic! {
    queue "lend" "" = "off", OneOf(&["off", "maps"]),
        "Whether a reduce of this queue that has fetched all that maps have made, and waits for more, is suspended \
         and its room lent to maps of MapReduce jobs in queues with that word, and whether this queue's maps \
         borrow (Predoop). What borrows is suspended when the lender goes on, whatever `preemption` says; nobody \
         else takes it.";

    queue "lend-threshold" "fraction of a map's run time" = "0.2", Fraction(0.0, 100.0),
        "A reduce lends only if the next map of its job will not be done for at least this long (D_p).";

    queue "lend-resume-part" "fraction of the missing maps" = "0.4", Fraction(0.0, 1.0),
        "A lender goes on when so much of the maps that it waited for is done (D_r), and no borrower is sorting \
         and writing what it made; or when for 2 s nobody used or wanted its room, or at the end of \
         `max-suspension-ms`.";

    queue "lend-wait" "" = "off", OneOf(&["off", "on"]),
        "Whether a lender waits for the end of borrowers that are all done within `lend-threshold`, instead of \
         having them suspended.";
};
