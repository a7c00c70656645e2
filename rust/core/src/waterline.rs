//! FAIR's waterline: the slot allocation of the Hadoop Fair Scheduler (Wolf et al., *FLEX*, Middleware 2010, §1).
//!
//! Every job is filled to the same level, but never below its minimum nor above its maximum. FLEX shares the bounds
//! and their normalisation with it: what FLEX hands over as revised minima comes back unchanged.

use serde::{Deserialize, Serialize};

/// The fewest and the most slots a job may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Guaranteed slots: no allocation is below.
    pub min: u32,
    /// Useful slots (the demand): no allocation is above.
    pub max: u32,
}

/// Bounds that can be kept together in `slots` slots: maxima at most `slots`, minima at most their maxima, and, where
/// the minima do not fit, minima scaled down in proportion (largest remainder, ties to the earlier job).
///
/// While there is a slot for each of them, every job with a minimum keeps at least one, so that scaling starves nobody.
pub fn normalise(slots: u32, bounds: &[Bounds]) -> Vec<Bounds> {
    let clamp = |b: &Bounds| {
        let max = b.max.min(slots);
        Bounds { min: b.min.min(max), max }
    };
    let mut bounds: Vec<Bounds> = bounds.iter().map(clamp).collect();
    let total: u64 = bounds.iter().map(|b| u64::from(b.min)).sum();
    if total > u64::from(slots) {
        scale_minima(slots, &mut bounds);
    }
    bounds
}

fn scale_minima(slots: u32, bounds: &mut [Bounds]) {
    let guaranteed = bounds.iter().filter(|b| b.min > 0).count() as u64;
    let floor = u32::from(guaranteed <= u64::from(slots));
    let room = u64::from(slots) - guaranteed * u64::from(floor);
    let total: u64 = bounds.iter().map(|b| u64::from(b.min.saturating_sub(floor))).sum();
    let mut given = 0;
    let mut remainders = Vec::with_capacity(bounds.len());
    for (job, b) in bounds.iter_mut().enumerate().filter(|(_, b)| b.min > 0) {
        let share = u128::from(b.min - floor) * u128::from(room);
        let (quota, remainder) = (share / u128::from(total), share % u128::from(total));
        b.min = floor + quota as u32;
        given += quota as u64;
        remainders.push((std::cmp::Reverse(remainder), job));
    }
    remainders.sort_unstable();
    for &(_, job) in remainders.iter().take((room - given) as usize) {
        bounds[job].min += 1;
    }
}

/// The slots FAIR gives each job: `min(max, max(min, level))` at the level that uses all slots (or with every job at
/// its maximum), after [`normalise`]. What a whole level leaves over goes one slot each to the earliest jobs at it.
pub fn waterline(slots: u32, bounds: &[Bounds]) -> Vec<u32> {
    let bounds = normalise(slots, bounds);
    let filled = |level: u32| bounds.iter().map(|b| u64::from(level.clamp(b.min, b.max))).sum::<u64>();
    let (mut level, mut above) = (0, u64::from(slots) + 1);
    while above - u64::from(level) > 1 {
        let middle = ((u64::from(level) + above) / 2) as u32;
        if filled(middle) <= u64::from(slots) {
            level = middle;
        } else {
            above = u64::from(middle);
        }
    }
    let mut rest = u64::from(slots) - filled(level);
    let fill = |b: &Bounds| {
        let one_more = rest > 0 && b.min <= level && level < b.max;
        rest -= u64::from(one_more);
        level.clamp(b.min, b.max) + u32::from(one_more)
    };
    bounds.iter().map(fill).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn b(min: u32, max: u32) -> Bounds {
        Bounds { min, max }
    }

    #[test]
    fn flex_1_6_level_between_minima_and_maxima() {
        assert_eq!(waterline(10, &[b(0, 10), b(0, 10)]), [5, 5]);
        assert_eq!(waterline(10, &[b(7, 10), b(0, 10)]), [7, 3]);
        assert_eq!(waterline(10, &[b(0, 2), b(0, 10), b(0, 10)]), [2, 4, 4]);
        assert_eq!(waterline(10, &[b(0, 3), b(0, 4)]), [3, 4], "demand below the slots leaves slots idle");
    }

    #[test]
    fn flex_1_6_remainder_goes_to_the_earlier_jobs() {
        assert_eq!(waterline(11, &[b(0, 10), b(0, 10), b(0, 10)]), [4, 4, 3]);
        assert_eq!(waterline(11, &[b(5, 10), b(0, 10), b(0, 10)]), [5, 3, 3]);
        assert_eq!(waterline(12, &[b(5, 10), b(0, 10), b(0, 10)]), [5, 4, 3]);
    }

    #[test]
    fn flex_1_2_minima_that_do_not_fit_are_scaled() {
        let minima = |slots, bounds: &[Bounds]| normalise(slots, bounds).iter().map(|b| b.min).collect::<Vec<_>>();
        assert_eq!(minima(10, &[b(10, 10), b(10, 10)]), [5, 5]);
        assert_eq!(minima(10, &[b(10, 10), b(1, 10), b(1, 10)]), [8, 1, 1], "one slot is kept for each");
        assert_eq!(minima(2, &[b(3, 3), b(3, 3), b(3, 3)]), [1, 1, 0], "fewer slots than jobs: the earlier ones");
        assert_eq!(minima(10, &[b(9, 4), b(0, 90)]), [4, 0], "a minimum above its maximum is clamped");
    }

    proptest! {
        #[test]
        fn flex_c8_waterline_keeps_bounds_and_uses_all_slots(
            slots in 0u32..200, raw in prop::collection::vec((0u32..60, 0u32..60), 0..12)
        ) {
            let bounds: Vec<Bounds> = raw.iter().map(|&(min, max)| b(min, max)).collect();
            let normal = normalise(slots, &bounds);
            let given = waterline(slots, &bounds);
            let demand: u32 = normal.iter().map(|b| b.max).sum();
            prop_assert_eq!(given.iter().sum::<u32>(), slots.min(demand));
            for (g, b) in given.iter().zip(&normal) {
                prop_assert!(b.min <= *g && *g <= b.max);
            }
        }

        #[test]
        fn flex_c13_scaling_minima_starves_nobody(slots in 1u32..200, raw in prop::collection::vec(1u32..500, 1..12)) {
            let bounds: Vec<Bounds> = raw.iter().map(|&min| b(min, 500)).collect();
            let normal = normalise(slots, &bounds);
            let total: u32 = normal.iter().map(|b| b.min).sum();
            let asked: u32 = raw.iter().map(|&m| m.min(slots)).sum();
            prop_assert_eq!(total, slots.min(asked));
            if bounds.len() as u32 <= slots {
                prop_assert!(normal.iter().all(|b| b.min >= 1));
            }
        }

        #[test]
        fn flex_c14_full_allocations_as_minima_come_back(
            slots in 0u32..200, raw in prop::collection::vec((0u32..60, 0u32..60), 0..12)
        ) {
            let bounds: Vec<Bounds> = raw.iter().map(|&(min, max)| b(min, max)).collect();
            let given = waterline(slots, &bounds);
            let revised: Vec<Bounds> = given.iter().zip(&bounds).map(|(&g, old)| b(g, old.max)).collect();
            prop_assert_eq!(waterline(slots, &revised), given);
        }
    }
}
