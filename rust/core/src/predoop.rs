//! Predoop's model (Liang 2014; the two formula slides are empty, so that what stands here are the reconstructions of the
//! specification): when a reduce that waits for maps lends its room, and when it wants it back. Numbers, no cluster.

use crate::units::Millis;

/// A loan that nobody uses or wants ends after this and not at once, lest it begin again: twice what a resume costs (the
/// specification's minimum lending time, §1.6), which reaches its node with the next heartbeat, a second by YARN's default.
pub const LEAST_UNUSED: Millis = Millis(2_000);

/// How far a reduce is with fetching what the maps of its job made, and the job with its maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shuffle {
    /// Maps whose output it has.
    pub fetched: u32,
    /// Maps that are done.
    pub done: u32,
    /// All maps of its job.
    pub total: u32,
}

impl Shuffle {
    /// Outputs that it could fetch now.
    pub fn pending(self) -> u32 {
        self.done.saturating_sub(self.fetched)
    }

    /// Whether it waits for the next map: it has all there is, and that is not all there will be.
    pub fn waits(self) -> bool {
        self.pending() == 0 && self.done < self.total
    }

    /// Maps that it depends on and that are not done.
    pub fn unfinished(self) -> u32 {
        self.total.saturating_sub(self.done)
    }
}

/// t_s: when the reduce will have fetched all that is there now, at `rate` outputs a second; `None` if it fetches nothing.
pub fn idle_from(now: Millis, shuffle: Shuffle, rate: f64) -> Option<Millis> {
    match shuffle.pending() {
        0 => Some(now),
        pending if rate > 0.0 => Some(now + Millis((f64::from(pending) / rate * 1_000.0).ceil() as u64)),
        _ => None,
    }
}

/// A map that runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Running {
    /// How long it has run.
    pub elapsed: Millis,
    /// The part of its input that it has read, 0…1.
    pub read: f64,
}

impl Running {
    /// T_rm: how long it goes on, if all input takes alike; `None`, for ever, while it has read nothing.
    pub fn left(self) -> Option<Millis> {
        let left = self.elapsed.0 as f64 * (1.0 - self.read) / self.read;
        (self.read > 0.0).then_some(Millis(left as u64))
    }
}

/// L_min: the least time from `from` (t_s) on for which the reduce will be idle; `None`, for ever, if no running map has an end.
pub fn least_idle(now: Millis, from: Millis, running: &[Running]) -> Option<Millis> {
    let next = running.iter().filter_map(|map| map.left()).min()?;
    Some((now + next).since(from))
}

/// MAP_AVG: what a map of the job takes: the mean of those that finished, or else of those that run; `None` before there is
/// anything to go by.
pub fn map_average(finished: u32, finished_time: Millis, running: &[Running]) -> Option<Millis> {
    if finished > 0 {
        return Some(Millis(finished_time.0 / u64::from(finished)));
    }
    let whole: Vec<u64> = running.iter().filter_map(|map| map.left().map(|left| map.elapsed.0 + left.0)).collect();
    let sum = whole.iter().fold(0u64, |sum, one| sum.saturating_add(*one));
    (!whole.is_empty()).then(|| Millis(sum / whole.len() as u64))
}

/// Whether an idle time of at least `least` is worth lending for: at least `threshold` (D_p) of what a map takes.
pub fn is_long(least: Option<Millis>, threshold: f64, average: Option<Millis>) -> bool {
    match (least, average) {
        (None, _) => true,
        (Some(least), Some(average)) => least.0 as f64 >= threshold * average.0 as f64,
        (Some(_), None) => false,
    }
}

/// What a loan was made on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// U_r: maps that the lender depends on and that were not done.
    pub unfinished: u32,
    /// Maps of the job that had succeeded by then, as far as anybody saw them.
    pub succeeded: u32,
}

impl Terms {
    /// Whether the lender has enough new output to go on (condition 1): the part `part` (D_r) of the maps that it waited for, at
    /// least one and at most all of them, are among the `succeeded` now.
    pub fn are_met(self, part: f64, succeeded: u32) -> bool {
        let wanted = (part * f64::from(self.unfinished)).ceil().max(1.0);
        f64::from(succeeded.saturating_sub(self.succeeded)) >= wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn s(seconds: f64) -> Millis {
        Millis((seconds * 1_000.0) as u64)
    }

    fn map(elapsed_s: f64, read: f64) -> Running {
        Running { elapsed: s(elapsed_s), read }
    }

    #[test]
    fn t_s_is_now_when_nothing_is_pending_and_else_after_what_is() {
        let of = |fetched| Shuffle { fetched, done: 10, total: 20 };
        assert_eq!(idle_from(s(100.0), of(10), 0.0), Some(s(100.0)));
        assert_eq!(idle_from(s(100.0), of(4), 2.0), Some(s(103.0)));
        assert_eq!(idle_from(s(100.0), of(4), 0.0), None, "it fetches nothing: nobody knows");
        assert!(of(10).waits() && !of(9).waits());
        assert!(!Shuffle { fetched: 20, done: 20, total: 20 }.waits(), "no lending once all maps are done");
        assert_eq!(of(10).unfinished(), 10);
    }

    #[test]
    fn t_rm_is_what_the_rest_of_the_input_takes_and_unknown_at_first() {
        assert_eq!(map(30.0, 0.75).left(), Some(s(10.0)));
        assert_eq!(map(30.0, 1.0).left(), Some(s(0.0)));
        assert_eq!(map(30.0, 0.0).left(), None);
    }

    #[test]
    fn l_min_is_until_the_first_running_map_ends_and_for_ever_if_none_does() {
        let running = [map(30.0, 0.5), map(30.0, 0.75), map(1.0, 0.0)];
        assert_eq!(least_idle(s(100.0), s(100.0), &running), Some(s(10.0)));
        assert_eq!(least_idle(s(100.0), s(104.0), &running), Some(s(6.0)), "it fetches until then");
        assert_eq!(least_idle(s(100.0), s(120.0), &running), Some(s(0.0)), "not below nothing");
        assert_eq!(least_idle(s(100.0), s(100.0), &[]), None, "all maps wait for room");
        assert_eq!(least_idle(s(100.0), s(100.0), &[map(1.0, 0.0)]), None);
    }

    #[test]
    fn map_avg_is_of_the_finished_maps_and_before_of_the_running() {
        let running = [map(30.0, 0.75), map(10.0, 0.5), map(5.0, 0.0)];
        assert_eq!(map_average(4, s(100.0), &running), Some(s(25.0)));
        assert_eq!(map_average(0, s(0.0), &running), Some(s(30.0)));
        assert_eq!(map_average(0, s(0.0), &[map(5.0, 0.0)]), None);
    }

    #[test]
    fn an_idle_time_is_long_from_d_p_of_a_map_on() {
        assert!(is_long(Some(s(8.0)), 0.2, Some(s(40.0))));
        assert!(!is_long(Some(s(7.9)), 0.2, Some(s(40.0))));
        assert!(is_long(None, 0.7, None), "for ever is always long enough");
        assert!(!is_long(Some(s(60.0)), 0.0, None), "of nothing known, nothing is said");
    }

    #[test]
    fn condition_1_wants_the_part_d_r_of_what_was_left_one_map_at_least() {
        let terms = Terms { unfinished: 10, succeeded: 7 };
        assert_eq!((terms.are_met(0.4, 10), terms.are_met(0.4, 11)), (false, true));
        assert_eq!((terms.are_met(1.0, 16), terms.are_met(1.0, 17)), (false, true), "D_r of 100 % can be reached");
        let last = Terms { unfinished: 1, succeeded: 7 };
        assert_eq!((last.are_met(0.2, 7), last.are_met(0.2, 8)), (false, true));
        assert!(!Terms { unfinished: 0, succeeded: 7 }.are_met(0.4, 7));
    }

    proptest! {
        #[test]
        fn waiting_longer_or_wanting_less_never_makes_an_idle_time_short(
            least in 0..100_000u64, more in 0..100_000u64, average in 1..100_000u64, high in 0.0..1.0f64, part in 0.0..1.0f64,
        ) {
            let long = |least, threshold| is_long(Some(Millis(least)), threshold, Some(Millis(average)));
            prop_assert!(!long(least, high) || (long(least + more, high) && long(least, high * part)));
        }

        #[test]
        fn terms_once_met_stay_met_and_are_met_when_all_maps_are_done(
            unfinished in 1..1_000u32, succeeded in 0..1_000u32, done in 0..2_000u32, part in 0.0..=1.0f64,
        ) {
            let terms = Terms { unfinished, succeeded };
            prop_assert!(!terms.are_met(part, done) || terms.are_met(part, done + 1));
            prop_assert!(terms.are_met(part, succeeded + unfinished));
        }
    }
}
