//! The worked example of docs/write-a-policy.md: it compiles, does what the page says of it, and stands there word by word.

// ---- the example
use hiatus_core::policy::{by_arrival, Policy, Supply, Target};
use hiatus_core::view::JobView;

/// Who wants least is served first.
#[derive(Clone, Debug)]
struct Smallest;

impl Policy for Smallest {
    fn plan(&mut self, supply: &Supply<'_>, jobs: &[JobView]) -> Vec<Target> {
        let mut order: Vec<&JobView> = jobs.iter().collect();
        order.sort_by(|a, b| a.demand.total_cmp(&b.demand).then_with(|| by_arrival(a, b)));
        // ApplicationMasters run already, and nobody takes them.
        let mut left = supply.entitled - jobs.iter().map(|job| job.masters).sum::<f64>();
        let mut targets = Vec::new();
        for job in order {
            let more = (job.demand - job.masters).min(left).max(0.0);
            left -= more;
            let share = job.masters + more;
            targets.push(Target { app: job.app, share, keeps: job.masters, ahead: 0.0 });
        }
        targets
    }
}
// ---- its end

use hiatus_core::hints::Hints;
use hiatus_core::settings::Settings;
use hiatus_core::units::{AppId, Millis, Resource};

fn job(app: u32, demand: f64, masters: f64) -> JobView {
    JobView {
        app: AppId(app),
        submitted: Millis(u64::from(app)),
        priority: 0,
        held: 0.0,
        demand,
        masters,
        attained: 0.0,
        remaining: 0.0,
        hints: Hints::default(),
        phases: Vec::new(),
        changed: true,
    }
}

#[test]
fn it_serves_who_wants_least_and_leaves_masters_alone() {
    let settings = Settings::default();
    let total = Resource::new(1024, 1);
    let supply =
        Supply { now: Millis(0), total, entitled: 1.0, attainable: 1.0, settings: settings.queue("root.default") };
    let targets = Smallest.plan(&supply, &[job(1, 0.9, 0.1), job(2, 0.3, 0.1), job(3, 0.3, 0.1)]);
    let told: Vec<_> = targets.iter().map(|target| (target.app.0, (target.share * 10.0).round() as i64)).collect();
    assert_eq!(told, [(2, 3), (3, 3), (1, 4)]);
    assert!(targets.iter().all(|target| (target.keeps - 0.1).abs() < 1e-9 && target.ahead <= 0.0), "{targets:?}");
}

#[test]
fn the_page_has_it_word_by_word() {
    let page = include_str!("../../../docs/write-a-policy.md");
    let source = include_str!("write_a_policy.rs");
    let (_, example) = source.split_once("// ---- the example\n").expect("its beginning");
    let (example, _) = example.split_once("// ---- its end").expect("its end");
    assert!(page.contains(example), "docs/write-a-policy.md does not have the example as it stands here");
}
