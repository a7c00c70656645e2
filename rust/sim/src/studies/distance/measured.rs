//! Scenes that were run: draw by draw, by several schedulers, beside the bounds.

use rayon::prelude::*;

use super::clairvoyant::Order;
use super::scene::Scene;
use crate::report::Sample;
use crate::studies::small_and_big::{self, Run, Scheduler};
use crate::studies::study::StudyError;
use crate::workload::cluster::Job;

/// What became of a scene's draws.
#[derive(Debug)]
pub(super) struct Measured {
    pub scene: Scene,
    /// Work that came in a second over what the cluster does in one.
    pub load: f64,
    /// Mean sojourn under each of [`Order::ALL`], in seconds, by draw.
    bounds_s: Vec<[f64; Order::ALL.len()]>,
    /// By scheduler, then by draw.
    runs: Vec<(Scheduler, Vec<Run>)>,
}

/// Which draws are run, and by whom.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub label: &'a str,
    pub draws: usize,
    pub seed: u64,
    pub schedulers: &'a [Scheduler],
}

impl Plan<'_> {
    /// Runs all draws of these scenes by all schedulers, in parallel.
    pub fn measure(&self, scenes: Vec<Scene>) -> Result<Vec<Measured>, StudyError> {
        let drawn = |scene: &Scene| (0..self.draws as u64).map(|draw| scene.work.draw(self.seed, draw)).collect();
        let drawn: Vec<Vec<Vec<Job>>> = scenes.iter().map(drawn).collect();
        let (of_scheduler, of_scene) = (self.draws, self.draws * self.schedulers.len());
        let run = |number: u64| {
            let (scene, scheduler, draw) = place(number as usize, of_scene, of_scheduler);
            scenes[scene].run(self.schedulers[scheduler], &drawn[scene][draw], self.seed)
        };
        let runs = small_and_big::runs(self.label, scenes.len() * of_scene, run)?;
        let measured = |((scene, draws), runs): ((Scene, Vec<Vec<Job>>), &[Run])| {
            let pool = scene.pool();
            let bounds_s = draws.par_iter().map(|jobs| Order::ALL.map(|order| pool.mean_s(jobs, order))).collect();
            let runs = self.schedulers.iter().copied().zip(runs.chunks(of_scheduler).map(<[Run]>::to_vec)).collect();
            Measured { load: scene.load(&draws), bounds_s, runs, scene }
        };
        Ok(scenes.into_par_iter().zip(drawn).zip(runs.par_chunks(of_scene)).map(measured).collect())
    }
}

/// Scene, scheduler and draw of a run.
fn place(number: usize, of_scene: usize, of_scheduler: usize) -> (usize, usize, usize) {
    (number / of_scene, number % of_scene / of_scheduler, number % of_scheduler)
}

impl Measured {
    /// The schedulers that were run.
    pub fn schedulers(&self) -> impl Iterator<Item = Scheduler> + '_ {
        self.runs.iter().map(|(scheduler, _)| *scheduler)
    }

    /// Whether that one was.
    pub fn has(&self, scheduler: Scheduler) -> bool {
        self.schedulers().any(|other| other == scheduler)
    }

    /// A measure, a value per draw; none if the scheduler was not run.
    pub fn sample(&self, scheduler: Scheduler, of: impl Fn(&Run) -> f64) -> Sample {
        let runs = self.runs.iter().find(|(other, _)| *other == scheduler);
        Sample::new(runs.map(|(_, runs)| runs.iter().map(of).collect()).unwrap_or_default())
    }

    /// A measure of one scheduler over that of another, draw by draw.
    pub fn ratio(&self, above: Scheduler, below: Scheduler, of: impl Fn(&Run) -> f64) -> Sample {
        quotient(&self.sample(above, &of), &self.sample(below, &of))
    }

    /// A measure over all draws together.
    pub fn total(&self, scheduler: Scheduler, of: impl Fn(&Run) -> f64) -> f64 {
        self.sample(scheduler, of).values().iter().sum()
    }

    /// Mean sojourn over that under a bound, draw by draw.
    pub fn over(&self, scheduler: Scheduler, order: Order) -> Sample {
        quotient(&self.sample(scheduler, |run| run.mean_s), &self.bound_s(order))
    }

    /// A bound over the ideal, draw by draw.
    pub fn bound_over_ideal(&self, order: Order) -> Sample {
        quotient(&self.bound_s(order), &self.bound_s(Order::Srpt))
    }

    fn bound_s(&self, order: Order) -> Sample {
        let at = order as usize;
        Sample::new(self.bounds_s.iter().map(|bounds_s| bounds_s[at]).collect())
    }
}

fn quotient(above: &Sample, below: &Sample) -> Sample {
    Sample::new(above.values().iter().zip(below.values()).map(|(above, below)| above / below).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Preemption;
    use crate::studies::distance::mixes::Mix;
    use crate::studies::distance::scene::{Cluster, Work};

    #[test]
    fn each_run_is_put_where_it_belongs_and_nobody_does_what_only_the_clairvoyant_can() {
        let cluster = Cluster { nodes: 5, node_mb: 16_392, task_mb: 2048, master_share: 1.0 };
        let scene = |mix, gap_s| Scene { name: format!("{mix:?}"), cluster, work: Work::Mix(mix, gap_s) };
        let hfsp = Scheduler::of("hfsp", Preemption::Wait);
        let schedulers = [Scheduler::of("fifo", Preemption::Wait), hfsp];
        let plan = Plan { label: "", draws: 2, seed: 1, schedulers: &schedulers };
        let measured = plan.measure(vec![scene(Mix::Like, 105.0), scene(Mix::Wave, 250.0)]).unwrap();
        for one in &measured {
            let alone = one.scene.run(hfsp, &one.scene.work.draw(1, 1), 1).unwrap();
            assert_eq!(one.sample(hfsp, |run| run.mean_s).values()[1], alone.mean_s);
            for scheduler in schedulers {
                assert!(one.over(scheduler, Order::Srpt).values().iter().all(|over| *over > 0.98));
            }
        }
        assert!(measured[0].over(schedulers[0], Order::Fifo).values().iter().all(|over| (1.0..1.05).contains(over)));
    }
}
