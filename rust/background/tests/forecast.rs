//! What is forecast of a simulated cluster, and what becomes of it.

#![allow(clippy::unwrap_used)] // Helpers of tests are no tests to clippy.

use hiatus_background::forecast::{Forecast, Forecaster, Foresight, Latest, Prospect, Rules, Unknown};
use hiatus_core::fact::Fact;
use hiatus_core::settings::ForecastSettings;
use hiatus_core::units::Millis;
use hiatus_world::job::{gb, secs, Job};
use hiatus_world::{Node, World};
use std::time::{Duration, Instant};

fn cluster(policy: &str) -> World {
    World::new().telling_progress().nodes(2, &Node::of(gb(8))).set("policy", policy)
}

fn ahead(world: &World) -> Forecast {
    Foresight::default().look(world.core(), &Rules::default(), |_| None)
}

fn of(world: &World, forecast: &Forecast, name: &str) -> Result<Prospect, Unknown> {
    forecast.jobs[&world.app_id(name)]
}

#[test]
fn the_end_of_a_lone_job_whose_tasks_are_alike_is_forecast_to_a_part_of_a_task() {
    let mut world = cluster("hfsp").job(Job::new("lone").tasks(150, secs(60)));
    world.run_until(secs(100));
    let prospect = of(&world, &ahead(&world), "lone").unwrap();
    let end = world.run().app("lone").finished.unwrap();
    let off = end.0.abs_diff(prospect.end.0);
    assert!(off < 40_000, "forecast {:?}, {end:?}", prospect);
    assert_eq!(prospect.suspended, 0.0);
}

#[test]
fn a_big_job_that_is_in_the_way_of_a_small_one_is_suspended_before_its_end_and_the_small_one_is_not() {
    let big = || Job::new("big").tasks(60, secs(60));
    // Its second stage is larger than its first. How long those tasks take an earlier run has told.
    let small = || Job::new("small").tasks(4, secs(20)).tasks(12, secs(20)).at(secs(80));
    let mut earlier = cluster("srpt").job(small());
    let small = small().recalls(earlier.run().remembered());
    let mut world = cluster("srpt").job(big()).job(small);
    world.run_until(secs(95));
    let made = ahead(&world);
    let (of_big, of_small) = (of(&world, &made, "big").unwrap(), of(&world, &made, "small").unwrap());
    assert!(of_small.suspended == 0.0 && of_big.suspended > 0.5, "{of_small:?} {of_big:?}");
    let end = world.run().app("small").finished.unwrap();
    assert!(of_small.end.0.abs_diff(end.0) < 20_000, "{of_small:?} {end:?}");
    let mut alone = cluster("srpt").job(big());
    alone.run_until(secs(95));
    assert_eq!(of(&alone, &ahead(&alone), "big").unwrap().suspended, 0.0);
}

#[test]
fn what_has_no_known_total_or_no_known_times_or_is_parked_has_no_end() {
    let job = || Job::new("job").tasks(20, secs(60));
    // Nobody says how many tasks there are.
    let mut silent = World::new().nodes(2, &Node::of(gb(8))).job(job());
    silent.run_until(secs(90));
    assert_eq!(of(&silent, &ahead(&silent), "job"), Err(Unknown::Totals));
    // Of its reduces nothing is known while its maps run.
    let mut two = cluster("hfsp").job(job().tasks(4, secs(30)));
    two.run_until(secs(90));
    assert_eq!(of(&two, &ahead(&two), "job"), Err(Unknown::TaskTimes));
    let mut parked = cluster("hfsp").job(job());
    parked.run_until(secs(90));
    parked.park("job", true);
    parked.run_until(secs(95));
    assert_eq!(of(&parked, &ahead(&parked), "job"), Err(Unknown::Parked));
}

#[test]
fn forecasting_changes_no_decision_and_the_same_state_has_the_same_forecast() {
    let world = || {
        let big = Job::new("big").tasks(60, secs(60));
        World::new()
            .telling_progress()
            .nodes(2, &Node::of(gb(8)))
            .set("policy", "srpt")
            .job(big)
            .job(Job::new("small").tasks(4, secs(5)).at(secs(30)))
    };
    let (mut watched, mut unwatched) = (world(), world());
    for second in (10..300).step_by(10) {
        watched.run_until(secs(second));
        assert_eq!(ahead(&watched).jobs, ahead(&watched).jobs);
    }
    assert_eq!(watched.run().decided, unwatched.run().decided);
}

#[test]
fn a_copy_of_the_core_decides_as_the_core_does() {
    let mut world = cluster("hfsp").job(Job::new("big").tasks(60, secs(60)));
    world.run_until(secs(100));
    let (mut one, mut other) = (world.core().clone(), world.core().clone());
    let app = world.app_id("big");
    let (mut of_one, mut of_other) = (Vec::new(), Vec::new());
    let news = [Fact::AppParked { app, parked: true }];
    one.step(secs(101), &news, &mut of_one);
    other.step(secs(101), &news, &mut of_other);
    assert!(!of_one.is_empty() && of_one == of_other, "{of_one:?}");
}

/// Waits until the forecaster's thread has said something.
fn awaited(forecaster: &Forecaster) -> Latest {
    let patience = Instant::now() + Duration::from_secs(300);
    while matches!(forecaster.latest(), Latest::Awaited) && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(5));
    }
    forecaster.latest()
}

#[test]
fn the_thread_makes_one_of_what_it_is_given_unless_that_is_too_large_or_nobody_wants_it() {
    let mut world = cluster("hfsp").job(Job::new("lone").tasks(60, secs(60)));
    world.run_until(secs(100));
    let begun = |interval, max_size, observes| {
        let mut forecaster = Forecaster::begin(ForecastSettings { interval, max_size, observes }).unwrap();
        forecaster.look(world.core());
        forecaster
    };
    let Latest::Made { forecast, .. } = awaited(&begun(secs(1), 1_000, false)) else { panic!("nothing is made") };
    assert!(of(&world, &forecast, "lone").is_ok());
    let told = forecast.told(world.app_id("lone"), forecast.made).unwrap();
    assert!(told.ends_in_s.unwrap() > 0.0 && told.unknown.is_none());
    assert!(matches!(begun(secs(1), 5, false).latest(), Latest::TooLarge { size } if size > 5));
    assert!(matches!(begun(Millis(0), 1_000, false).latest(), Latest::Off));
    assert!(matches!(begun(secs(1), 1_000, true).latest(), Latest::Observing));
}
