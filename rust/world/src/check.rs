//! Whether jobs can run at all, before anything is simulated.

use crate::error::SimulationError;
use crate::job::Job;
use crate::spec::{Node, Queue};
use crate::world::World;
use hiatus_core::settings::Settings;
use hiatus_core::units::{PartitionId, Resource};
use std::collections::BTreeMap;

/// What a cluster can hold of a job.
pub struct Fit<'a> {
    world: &'a World,
    leaves: Vec<String>,
    /// What all nodes offer, in MiB.
    offered_mb: BTreeMap<PartitionId, i64>,
}

impl World {
    /// Whether the settings are valid and every job can run.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), SimulationError> {
        Settings::parse(&self.properties)?;
        let fit = self.fit();
        self.apps.iter().try_for_each(|app| fit.job(&app.job))
    }

    /// What it can hold.
    pub fn fit(&self) -> Fit<'_> {
        let mut offered_mb = BTreeMap::new();
        for machine in &self.machines {
            *offered_mb.entry(machine.spec.partition).or_default() += machine.spec.total.memory_mb;
        }
        let leaves = if self.queues.is_empty() { vec!["root.default".to_owned()] } else { self.leaves() };
        Fit { world: self, leaves, offered_mb }
    }
}

impl Fit<'_> {
    /// Whether such a job can run.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn job(&self, job: &Job) -> Result<(), SimulationError> {
        if !self.leaves.contains(&job.queue) {
            let (job, queue, leaves) = (job.name.clone(), job.queue.clone(), self.leaves.join(", "));
            return Err(SimulationError::Queue { job, queue, leaves });
        }
        self.container(job, "ApplicationMaster", job.master, job.partition, 0)?;
        for (n, stage) in job.stages.iter().enumerate() {
            let partition = stage.partition.unwrap_or(job.partition);
            let beside_mb = if partition == job.partition { job.master.memory_mb } else { 0 };
            self.container(job, &format!("task of stage {}", n + 1), stage.size, partition, beside_mb)?;
        }
        Ok(())
    }

    /// Whether a node can hold such a container, and its queue beside so much.
    fn container(
        &self,
        job: &Job,
        what: &str,
        size: Resource,
        partition: PartitionId,
        beside_mb: i64,
    ) -> Result<(), SimulationError> {
        let serves = |node: &Node| node.partition == partition || (node.shareable && partition == PartitionId(0));
        if !self.world.machines.iter().any(|machine| serves(&machine.spec) && size.fits_in(machine.spec.total)) {
            let Resource { memory_mb, vcores } = size;
            let (job, what, partition) = (job.name.clone(), what.to_owned(), partition.0);
            return Err(SimulationError::Size { job, what, memory_mb, vcores, partition });
        }
        let offered_mb = self.offered_mb.get(&partition).copied().unwrap_or_default() as f64;
        let too_small = |queue: &&Queue| {
            let maximum = queue.shares(partition).maximum;
            maximum < 1.0 && (size.memory_mb + beside_mb) as f64 > maximum * offered_mb + 0.5
        };
        let mut above = self.world.queues.iter().filter(|queue| queue.is_or_holds(&job.queue));
        above.find(too_small).map_or(Ok(()), |queue| {
            let (job, what, memory_mb, queue) = (job.name.clone(), what.to_owned(), size.memory_mb, queue.path.clone());
            Err(SimulationError::Maximum { job, what, memory_mb, queue })
        })
    }
}
