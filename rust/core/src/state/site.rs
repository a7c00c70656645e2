//! Where a job's tasks may start, apart from what it asks for: its application never hears of it.

use super::{set, Cluster, Container, For};
use crate::batchmr::sampling::Sample;
use crate::batchmr::Verdict;
use crate::fact::{PerSide, PhaseKey, Side};
use crate::units::{AppId, NodeId, PartitionId, Resource};
use std::collections::BTreeSet;

/// The site of one job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Site {
    /// Where it belongs, once that is known.
    pub verdict: Option<Verdict>,
    /// Bytes of its input, as the rules were asked.
    pub input: u64,
    /// Its first tasks, while they are to tell.
    pub sample: Option<Sample>,
    /// Whether it may start anywhere all the same, because its side cannot serve it or the other one idles.
    pub open: bool,
    /// Whether it ever might, so that its time says nothing of its side.
    pub strayed: bool,
}

impl Site {
    /// The side that its tasks keep to.
    pub fn side(&self) -> Option<Side> {
        self.verdict.filter(|_| !self.open).and_then(|verdict| verdict.side)
    }

    /// How many more tasks of that kind may start on a node of that side. Asks for a label are the user's own choice.
    pub fn most_on(&self, key: &PhaseKey, side: Option<Side>) -> u32 {
        if key.partition != PartitionId(0) || self.open {
            return u32::MAX;
        }
        match (&self.sample, self.side()) {
            // The ResourceManager starts those before its first tasks, whatever they wait for.
            (Some(sample), _) if *key < sample.phase => u32::MAX,
            (Some(sample), _) => side.filter(|_| *key == sample.phase).map_or(0, |side| sample.more_on(side)),
            (None, Some(own)) if side != Some(own) => 0,
            _ => u32::MAX,
        }
    }
}

impl Cluster {
    /// Jobs whose tasks keep to one side, or try both.
    pub fn sited(&self) -> &BTreeSet<AppId> {
        &self.sited
    }

    /// How many more containers of that kind the job may start on the node, as far as its site goes.
    pub(crate) fn most_on(&self, app: AppId, key: &PhaseKey, node: NodeId) -> u32 {
        let side = self.nodes.get(&node).and_then(|node| node.side);
        self.jobs.get(&app).map_or(0, |job| job.most_on(key, side))
    }

    /// How many more containers of that kind the job may start on all nodes together, as far as its site goes.
    pub(crate) fn most_anywhere(&self, app: AppId, key: &PhaseKey) -> u32 {
        let Some(job) = self.jobs.get(&app) else { return 0 };
        PerSide::<()>::PLACES.into_iter().map(|side| job.most_on(key, side)).fold(0, u32::saturating_add)
    }

    /// The job may start elsewhere from now on; what is kept for it where it may not is given back.
    pub(crate) fn put_site(&mut self, app: AppId, site: Site) {
        self.with_job(app, |job, _| job.site = site);
        let Some(job) = self.jobs.get(&app) else { return };
        let confined = job.site.sample.is_some() || job.site.verdict.is_some_and(|verdict| verdict.side.is_some());
        set(&mut self.sited, app, confined);
        let keys: Vec<PhaseKey> = job.phases.keys().copied().collect();
        let of_side = |side| keys.iter().filter(|key| job.most_on(key, side) > 0).map(|key| key.resource).collect();
        let useful: PerSide<BTreeSet<Resource>> = PerSide::from_fn(of_side);
        self.retain_claims(|cluster, node, claim| {
            let side = cluster.nodes.get(&node).and_then(|node| node.side);
            claim.app != app || claim.purpose != For::Start || useful[side].contains(&claim.resource)
        });
        // Nodes with room are worth a look for it again.
        self.new_demand = true;
    }

    /// Something of a job's sample began or ended on that node.
    pub(super) fn sampled(&mut self, container: &Container, change: impl FnOnce(&mut Sample, Side)) {
        let Some(side) = self.nodes.get(&container.node).and_then(|node| node.side) else { return };
        let is_sample = |sample: &Sample| sample.phase == container.phase && !container.is_master;
        let samples = self.jobs.get(&container.app).and_then(|job| job.site.sample.as_ref()).is_some_and(is_sample);
        if samples {
            self.with_job(container.app, |job, _| job.site.sample.as_mut().map(|sample| change(sample, side)));
        }
    }
}
