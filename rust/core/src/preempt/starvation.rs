//! Whether long jobs starve others, and how much they give way then (Cheng, Zhang, Boutaba: *Mitigating the Negative Impact of
//! Preemption on Heterogeneous MapReduce Workloads*, sections IV and VI). It knows of no cluster: it is told what is seen.
//!
//! A long job above its share gives way if the partition was busy for most of a period, more waited meanwhile than the
//! quality aimed at allows, and no single job is almost all that waits. At first it gives a part of what it has too much,
//! once a period; if that has gone on without a break for a time, all.
//!
//! All amounts are fractions of the partition, by dominant share.

use crate::entitlement::EPSILON;
use crate::settings::StarvationSettings;
use crate::units::{AppId, Millis};
use std::collections::{BTreeMap, VecDeque};

/// Values are noted this often at most.
const SAMPLING: Millis = Millis(1_000);

/// What is seen at one time.
#[derive(Clone, Debug, Default)]
pub struct StarvationSnapshot {
    /// What is occupied.
    pub busy: f64,
    /// What there is for non-production jobs: all that production jobs do not hold, and their guarantee at least (A).
    pub available: f64,
    /// Who waits for how much.
    pub waiting: Vec<(AppId, f64)>,
    /// Long jobs above their shares, and by how much.
    pub long: Vec<(AppId, f64)>,
}

impl StarvationSnapshot {
    /// What waits beside long jobs: those do not starve themselves.
    fn demand(&self) -> f64 {
        let is_long = |app: &AppId| self.long.iter().any(|(long, _)| long == app);
        self.waiting.iter().filter(|(app, _)| !is_long(app)).map(|(_, waits)| waits).sum()
    }
}

/// What the conditions came to, when it was last asked. Condition 1 is that there is a long job above its share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions {
    /// The part of the period for which the partition was busy: condition 2.
    pub busy_time: f64,
    /// What waited on average over the period: condition 3.
    pub waiting: f64,
    /// What has to wait for that: n_task.
    pub least_waiting: f64,
    /// The largest job's part of what waits now: condition 4.
    pub largest: f64,
}

impl Conditions {
    /// Those of the last three that do not hold, for people.
    pub fn unfulfilled<'a>(&self, rules: &StarvationSettings) -> impl Iterator<Item = &'a str> {
        let busy = self.busy_time > rules.busy_time;
        let waits = self.waiting > self.least_waiting;
        let alone = self.largest > rules.single_job;
        let which = [
            (busy, "the partition was not busy for long enough"),
            (waits, "too little waited"),
            (!alone, "a single job is almost all that waits"),
        ];
        which.into_iter().filter(|(holds, _)| !holds).map(|(_, text)| text)
    }
}

/// A long job, and what it has been asked to give.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Suspect {
    /// Since when without a break it starves others; `None` if it does not.
    pub since: Option<Millis>,
    /// When it was last asked for a part of what it holds above its share.
    asked_for_part: Option<Millis>,
    /// Whether it has been asked for all of that, since it starves others.
    asked_for_all: bool,
    /// What others may still take from it.
    pub gives: f64,
}

/// Looks at one partition, time and again.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    busy: Record,
    demand: Record,
    seen: Option<Millis>,
    asked: Option<Millis>,
    conditions: Option<Conditions>,
    suspects: BTreeMap<AppId, Suspect>,
    fired: Option<Millis>,
    firings: u64,
}

impl Watch {
    /// Whether it should be shown what is to be seen now.
    pub fn is_due(&self, now: Millis) -> bool {
        self.seen.is_none_or(|seen| now.since(seen) >= SAMPLING)
    }

    /// Takes note of what is to be seen, and asks its question if it is time to.
    pub fn see(&mut self, now: Millis, snapshot: &StarvationSnapshot, rules: &StarvationSettings) {
        self.seen = Some(now);
        self.busy.note(now, snapshot.busy, rules.period);
        self.demand.note(now, snapshot.demand(), rules.period);
        if self.asked.is_none_or(|asked| now.since(asked) >= rules.interval) {
            self.asked = Some(now);
            self.ask(now, snapshot, rules);
        }
    }

    fn ask(&mut self, now: Millis, snapshot: &StarvationSnapshot, rules: &StarvationSettings) {
        let all: f64 = snapshot.waiting.iter().map(|(_, waits)| waits).sum();
        let largest = snapshot.waiting.iter().map(|(_, waits)| *waits).fold(0.0, f64::max);
        let conditions = Conditions {
            busy_time: self.busy.time_above(rules.busy_share, now, rules.period),
            waiting: self.demand.mean(now, rules.period),
            // Little's law: a mean of time alone over real time of π allows L_service (1 − π) / π to wait.
            least_waiting: snapshot.available * (1.0 - rules.quality) / rules.quality,
            largest: if all > 0.0 { largest / all } else { 0.0 },
        };
        self.conditions = Some(conditions);
        let holds = conditions.unfulfilled(rules).next().is_none();
        let overflow: BTreeMap<AppId, f64> = snapshot.long.iter().copied().filter(|_| holds).collect();
        // Whoever does not starve others now begins anew, but is asked for a part no sooner again for that.
        self.suspects.retain(|app, suspect| {
            if !overflow.contains_key(app) {
                *suspect = Suspect { asked_for_part: suspect.asked_for_part, ..Suspect::default() };
            }
            suspect.since.is_some() || suspect.asked_for_part.is_some_and(|asked| now.since(asked) < rules.period)
        });
        for (app, overflow) in overflow {
            let suspect = self.suspects.entry(app).or_default();
            let since = *suspect.since.get_or_insert(now);
            let fires = if now.since(since) >= rules.timeout {
                suspect.gives = overflow;
                !std::mem::replace(&mut suspect.asked_for_all, true)
            } else {
                let part_is_due = suspect.asked_for_part.is_none_or(|asked| now.since(asked) >= rules.period);
                if part_is_due {
                    suspect.gives = overflow * rules.first_part;
                    suspect.asked_for_part = Some(now);
                }
                part_is_due
            };
            self.firings += u64::from(fires);
            self.fired = if fires { Some(now) } else { self.fired };
        }
    }

    /// Whether the job starves others now.
    pub fn suspects(&self, app: AppId) -> bool {
        self.suspects.get(&app).is_some_and(|suspect| suspect.since.is_some())
    }

    /// The jobs that starve others now.
    pub fn starving(&self) -> impl Iterator<Item = (AppId, &Suspect)> {
        self.suspects.iter().filter(|(_, suspect)| suspect.since.is_some()).map(|(app, suspect)| (*app, suspect))
    }

    /// What others may take from each of them.
    pub fn giving(&self) -> BTreeMap<AppId, f64> {
        self.starving()
            .filter(|(_, suspect)| suspect.gives > EPSILON)
            .map(|(app, suspect)| (app, suspect.gives))
            .collect()
    }

    /// After something was taken: what is left of that.
    pub fn gave(&mut self, left: &BTreeMap<AppId, f64>) {
        for (app, left) in left {
            if let Some(suspect) = self.suspects.get_mut(app) {
                suspect.gives = *left;
            }
        }
    }

    /// What the conditions came to when it was last asked.
    pub fn conditions(&self) -> Option<Conditions> {
        self.conditions
    }

    /// When a job was last asked to give way.
    pub fn fired(&self) -> Option<Millis> {
        self.fired
    }

    /// How often jobs were asked to give way.
    pub fn firings(&self) -> u64 {
        self.firings
    }
}

/// A quantity over the last period: each value holds until the next. Before the first it was 0.
#[derive(Clone, Debug, Default)]
struct Record(VecDeque<(Millis, f64)>);

impl Record {
    fn note(&mut self, now: Millis, value: f64, period: Millis) {
        if self.0.back().is_none_or(|(_, last)| *last != value) {
            self.0.push_back((now, value));
        }
        while self.0.get(1).is_some_and(|(next, _)| now.since(*next) >= period) {
            self.0.pop_front();
        }
    }

    /// Each value with the part of the period for which it held.
    fn parts(&self, now: Millis, period: Millis) -> impl Iterator<Item = (f64, f64)> + '_ {
        let ages = self.0.iter().map(move |(at, _)| now.since(*at).min(period).0 as f64);
        let ends = ages.clone().skip(1).chain([0.0]);
        self.0.iter().zip(ages.zip(ends)).map(move |((_, value), (age, end))| (*value, (age - end) / period.0 as f64))
    }

    fn mean(&self, now: Millis, period: Millis) -> f64 {
        self.parts(now, period).map(|(value, part)| value * part).sum()
    }

    fn time_above(&self, level: f64, now: Millis, period: Millis) -> f64 {
        self.parts(now, period).filter(|(value, _)| *value > level).map(|(_, part)| part).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    const LONG: AppId = AppId(1);

    fn rules() -> StarvationSettings {
        Settings::default().cluster.starvation
    }

    /// A full partition with a job of long tasks, 0.4 above its share; two others wait for 1.5 times of what there is.
    fn starving() -> StarvationSnapshot {
        let waiting = vec![(LONG, 5.0), (AppId(2), 1.0), (AppId(3), 0.5)];
        StarvationSnapshot { busy: 1.0, available: 1.0, waiting, long: vec![(LONG, 0.4)] }
    }

    /// A watch that was shown the snapshot each second from `from_s` to `to_s`.
    fn show(watch: &mut Watch, snapshot: &StarvationSnapshot, seconds: std::ops::RangeInclusive<u64>) {
        for second in seconds {
            let now = Millis(second * 1_000);
            assert!(watch.is_due(now));
            watch.see(now, snapshot, &rules());
        }
    }

    fn gives_after(snapshot: &StarvationSnapshot, seconds: u64) -> f64 {
        let mut watch = Watch::default();
        show(&mut watch, snapshot, 0..=seconds);
        watch.giving().get(&LONG).copied().unwrap_or(0.0)
    }

    #[test]
    fn a_long_job_that_starves_others_gives_half_of_what_is_above_its_share() {
        assert_eq!(gives_after(&starving(), 400), 0.2);
    }

    #[test]
    fn condition_1_nobody_gives_who_is_not_long_or_not_above_its_share() {
        assert_eq!(gives_after(&StarvationSnapshot { long: Vec::new(), ..starving() }, 400), 0.0);
    }

    #[test]
    fn condition_2_nobody_gives_unless_more_than_90_percent_were_busy_for_more_than_80_percent_of_three_minutes() {
        assert_eq!(gives_after(&StarvationSnapshot { busy: 0.9, ..starving() }, 400), 0.0);
        // It asks every ten seconds: at 140 s it has been busy for 140 of 180 s, at 150 s for more than 144.
        assert_eq!((gives_after(&starving(), 149), gives_after(&starving(), 150)), (0.0, 0.2));
    }

    #[test]
    fn condition_3_nobody_gives_unless_more_waits_than_there_is_for_non_production_jobs() {
        let waits = |share| StarvationSnapshot {
            waiting: vec![(AppId(2), share / 2.0), (AppId(3), share / 2.0)],
            ..starving()
        };
        assert_eq!((gives_after(&waits(1.0), 400), gives_after(&waits(1.01), 400)), (0.0, 0.2));
        let less_is_there = StarvationSnapshot { available: 0.2, ..waits(0.3) };
        assert_eq!(gives_after(&less_is_there, 400), 0.2, "production jobs hold the rest");
    }

    #[test]
    fn condition_3_what_the_long_job_waits_for_does_not_count() {
        let waiting = vec![(LONG, 5.0), (AppId(2), 0.5), (AppId(3), 0.4)];
        assert_eq!(gives_after(&StarvationSnapshot { waiting, ..starving() }, 400), 0.0);
    }

    #[test]
    fn condition_3_is_the_mean_over_the_period() {
        let mut watch = Watch::default();
        let calm = StarvationSnapshot { waiting: Vec::new(), ..starving() };
        show(&mut watch, &calm, 0..=300);
        // 1.5 of the partition have waited for 110 of 180 s, then for 120.
        show(&mut watch, &starving(), 301..=419);
        assert!(watch.giving().is_empty());
        show(&mut watch, &starving(), 420..=430);
        assert_eq!(watch.giving(), BTreeMap::from([(LONG, 0.2)]));
    }

    #[test]
    fn condition_4_nobody_gives_if_a_single_job_is_more_than_90_percent_of_what_waits() {
        let waits =
            |large, small| StarvationSnapshot { waiting: vec![(AppId(2), large), (AppId(3), small)], ..starving() };
        assert_eq!((gives_after(&waits(9.2, 0.8), 400), gives_after(&waits(9.0, 1.0), 400)), (0.0, 0.2));
    }

    #[test]
    fn a_part_is_asked_for_once_a_period_and_all_after_six_minutes_without_a_break() {
        let mut watch = Watch::default();
        show(&mut watch, &starving(), 0..=150);
        assert_eq!((watch.firings(), watch.fired()), (1, Some(Millis(150_000))));
        watch.gave(&BTreeMap::from([(LONG, 0.0)]));
        show(&mut watch, &starving(), 151..=329);
        assert!(watch.giving().is_empty() && watch.suspects(LONG));
        show(&mut watch, &starving(), 330..=330);
        assert_eq!((watch.giving()[&LONG], watch.firings()), (0.2, 2));
        show(&mut watch, &starving(), 331..=509);
        assert_eq!(watch.giving()[&LONG], 0.2);
        show(&mut watch, &starving(), 510..=520);
        assert_eq!((watch.giving()[&LONG], watch.firings()), (0.4, 3));
    }

    #[test]
    fn a_break_begins_the_six_minutes_anew_and_takes_back_what_was_not_taken_yet() {
        let mut watch = Watch::default();
        show(&mut watch, &starving(), 0..=340);
        let alone = StarvationSnapshot { waiting: vec![(AppId(2), 5.0)], ..starving() };
        show(&mut watch, &alone, 341..=350);
        assert!(watch.giving().is_empty() && !watch.suspects(LONG));
        // It starves others from 360 s on, and gave a part at 330 s.
        show(&mut watch, &starving(), 351..=509);
        assert_eq!((watch.giving(), watch.firings()), (BTreeMap::new(), 2));
        show(&mut watch, &starving(), 510..=719);
        assert_eq!(watch.giving()[&LONG], 0.2);
        show(&mut watch, &starving(), 720..=720);
        assert_eq!(watch.giving()[&LONG], 0.4);
    }
}
