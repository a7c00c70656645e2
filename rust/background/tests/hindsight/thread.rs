//! The thread that simulates, beside a core.

use super::*;

fn core(more: &[(&str, &str)]) -> (Scheduler, Properties) {
    let mut properties = observing();
    properties.extend(more.iter().map(|(knob, value)| (property(knob), (*value).to_owned())));
    (Scheduler::new(Settings::parse(&properties).unwrap()), properties)
}

#[test]
fn where_it_is_not_wanted_it_says_why() {
    let begun = |more| {
        let (core, properties) = core(more);
        Hindsight::begin(&core, properties).unwrap()
    };
    assert!(matches!(begun(&[("hindsight-interval-ms", "0")]).latest(), Latest::Off));
    assert!(matches!(begun(&[("mode", "suspend")]).latest(), Latest::Placing));
}

/// A core that looks on at what stock does, and hindsight beside it.
struct Beside {
    core: Scheduler,
    properties: Properties,
    hindsight: Hindsight,
    now: Millis,
}

impl Beside {
    /// All is over.
    fn stock() -> Beside {
        let (core, properties) = core(&[("hindsight-interval-ms", "60000")]);
        let hindsight = Hindsight::begin(&core, properties.clone()).unwrap();
        let mut beside = Beside { core, properties, hindsight, now: Millis(0) };
        for step in stock().steps {
            beside.step(step.now, &step.facts);
            // What is looked at otherwise is begun anew, and what is not goes on.
            beside.hindsight.configure(&beside.core, beside.properties.clone()).unwrap();
        }
        beside
    }

    fn step(&mut self, now: Millis, facts: &[Fact]) {
        self.now = now;
        self.core.step(now, facts, &mut Vec::new());
        self.hindsight.look(&self.core, facts);
    }

    /// Lets time pass, by minutes, until that is known.
    fn until(&mut self, what: impl Fn(&Latest) -> bool) -> Latest {
        let patience = Instant::now() + Duration::from_secs(300);
        while !what(&self.hindsight.latest()) {
            assert!(Instant::now() < patience, "{:?}", self.hindsight.latest());
            std::thread::sleep(Duration::from_millis(5));
            self.step(self.now + secs(1), &[]);
        }
        self.hindsight.latest()
    }
}

#[test]
fn it_is_simulated_again_if_something_has_changed_and_told_anew_if_not() {
    let mut beside = Beside::stock();
    let all = |latest: &Latest| matches!(latest, Latest::Made { saved, .. } if saved.all.jobs == 19);
    let Latest::Made { at, took, saved } = beside.until(all) else { unreachable!() };
    assert!(at >= Millis(60_000) && saved.all.real_s > 0.0, "{saved:?}");
    let later = |latest: &Latest| matches!(latest, Latest::Made { at: then, .. } if *then > at);
    let Latest::Made { took: again, saved: same, .. } = beside.until(later) else { unreachable!() };
    assert_eq!((again, same), (took, saved), "another simulation takes another time");
    beside.properties.insert(property("policy"), "fifo".to_owned());
    beside.hindsight.configure(&beside.core, beside.properties.clone()).unwrap();
    let otherwise = |latest: &Latest| matches!(latest, Latest::Made { took: again, .. } if *again != took);
    let Latest::Made { saved, .. } = beside.until(otherwise) else { unreachable!() };
    assert_eq!(saved.all.jobs, 19, "what happened stays known");
}

#[test]
fn it_says_that_no_job_can_be_simulated_and_that_it_is_impossible() {
    let mut beside = Beside::stock();
    let share = |maximum| Fact::QueueShare { queue: QueueId(1), partition: PartitionId(0), guaranteed: 1.0, maximum };
    beside.step(beside.now + secs(1), &[share(0.0)]);
    let latest = beside.until(|latest| matches!(latest, Latest::NoJob { .. }));
    assert!(matches!(latest, Latest::NoJob { left_out } if left_out.gone == 19));
    beside.step(beside.now + secs(1), &[share(2.0 / 32.0)]);
    let latest = beside.until(|latest| matches!(latest, Latest::Impossible { .. }));
    assert!(matches!(latest, Latest::Impossible { why } if why.contains("do not finish")));
}

#[test]
fn while_the_first_job_runs_the_first_answer_is_awaited() {
    let (core, properties) = core(&[("hindsight-interval-ms", "1")]);
    let hindsight = Hindsight::begin(&core, properties.clone()).unwrap();
    let mut beside = Beside { core, properties, hindsight, now: Millis(0) };
    let mut real = world(&placing(&observing()));
    real.run_until(secs(60));
    let mut simulated = 0;
    for step in real.steps {
        beside.step(step.now, &step.facts);
        simulated += u64::from(!matches!(beside.hindsight.latest(), Latest::Awaited));
    }
    assert_eq!(simulated, 0);
}

#[test]
fn where_no_job_has_ended_for_longer_than_the_window_the_next_one_is_awaited() {
    let mut beside = Beside::stock();
    beside.until(|latest| matches!(latest, Latest::Made { .. }));
    beside.step(beside.now + secs(6 * 3600), &[]);
    beside.until(|latest| matches!(latest, Latest::Awaited));
}

#[test]
fn a_change_of_its_knobs_begins_anew() {
    let mut beside = Beside::stock();
    beside.until(|latest| matches!(latest, Latest::Made { .. }));
    let (core, properties) = core(&[("hindsight-interval-ms", "30000")]);
    beside.core.configure(core.settings().clone());
    beside.hindsight.configure(&beside.core, properties).unwrap();
    assert!(matches!(beside.hindsight.latest(), Latest::Awaited));
}
