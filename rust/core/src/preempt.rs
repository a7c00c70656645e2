//! Preemption: takes room for jobs that hold less than their targets from jobs that come after them, or hold more than their own,
//! when nothing else gives them room. Two choices of the queue that loses, independent of each other: how its containers go
//! ([`how`], the primitive), and which of them go first ([`victims`]). The same for all: whether a container may go at all
//! ([`permission`]), and the choice of whole sets ([`selector`]).
//!
//! By default containers of the lowest-ranked job go first, and of these the youngest (HFSP thesis, section 4.4.3); the first tasks
//! of a phase, from which its size is learnt, come last of a job's. Or by one order over all jobs of all queues that want it
//! so (Global Preemption), for other queues; then the starvation rule says who gives way within a queue. Only whole sets are taken, that together let one
//! container start, or go on, on one node (law 5); what is freed is claimed for it (law 4).
//!
//! A suspended container comes before a new one, but only at home, where its memory is. Where home stays full for long,
//! although its job may run it, it is killed and so run again elsewhere (thesis, section 6.3.1).

mod claims;
mod freeing;
mod gp_class;
mod how;
mod no_victim_reason;
mod pending_claims;
mod permission;
mod selector;
mod snapshot;
mod starvation;
mod suspensions;
mod users;
mod victims;

use crate::plan::{PartitionPlan, Planner};
use crate::settings::{QueueSettings, Settings};
use crate::state::{Cluster, For};
use crate::units::{AppId, Millis, PartitionId, Resource};
use crate::visits::Visits;
use freeing::{Freed, FreeingRound};
use selector::VictimSelector;
use std::collections::BTreeMap;

pub use claims::review_claims;
pub use no_victim_reason::NoVictimReason;
pub use permission::{preempts_within_queue, room_for_suspended_mb};
pub use starvation::Watch;
pub use suspensions::{end_suspensions, kill};

/// Containers that may be looked at in vain without any consequence.
const LOOKS_FOR_NOTHING: u64 = 1_000;

/// So many looked at in vain cost a millisecond of backoff: what takes a hundredth of that time.
const LOOKS_PER_MS_OF_BACKOFF: u64 = 100;

/// Takes room, and remembers where there was none to take.
#[derive(Clone, Debug, Default)]
pub struct Preemptor {
    /// Until when nobody looks for victims in a partition: many were looked at in vain a moment ago.
    backs_off_until: BTreeMap<PartitionId, Millis>,
    /// Who looks whether long jobs starve others, by partition.
    watches: BTreeMap<PartitionId, Watch>,
    /// For whom no room could be made when it was last tried, and why: by job.
    no_victims: BTreeMap<PartitionId, Vec<(AppId, NoVictimReason)>>,
    /// What is kept for jobs that would be started something else first, for which there is no room: by job and size.
    useless: BTreeMap<PartitionId, Vec<(AppId, Resource)>>,
}

impl Preemptor {
    /// Frees room for the jobs below their targets, in the order of the plan; what it looked at for that.
    pub fn preempt(
        &mut self,
        cluster: &mut Cluster,
        planner: &Planner,
        plan: &PartitionPlan,
        settings: &Settings,
    ) -> Visits {
        let partition = plan.partition();
        let giving = self.watch(cluster, plan, partition, settings);
        let mut selector = VictimSelector::new(cluster, planner, plan, settings, giving);
        if self.backs_off_until.get(&partition).is_some_and(|until| *until > cluster.now()) {
            selector.back_off();
        }
        if let Some(useless) = self.useless.remove(&partition) {
            cluster.retain_claims(|cluster, node, claim| {
                let here = cluster.nodes().get(&node).is_some_and(|node| node.partition == partition);
                !here || claim.purpose != For::Start || !useless.contains(&(claim.app, claim.resource))
            });
        }
        let freed = FreeingRound::new(cluster, plan, settings, &mut selector).run(cluster);
        let Freed { no_victims: mut reasons, useless } = freed;
        if !useless.is_empty() {
            // Nobody takes room and gives it back in one step: what was freed for some would have been for nothing.
            self.useless.insert(partition, useless);
            cluster.request_plan();
        }
        // People ask of many jobs at once. Of one job's the first counts.
        reasons.sort_by_key(|(app, _)| *app);
        reasons.dedup_by_key(|(app, _)| *app);
        self.no_victims.insert(partition, reasons);
        if let Some(watch) = self.watches.get_mut(&partition) {
            watch.gave(selector.giving());
        }
        let visits = selector.visits();
        if !selector.took_any() && visits.containers > LOOKS_FOR_NOTHING {
            let backoff = Millis(visits.containers / LOOKS_PER_MS_OF_BACKOFF);
            self.backs_off_until.insert(partition, cluster.now() + backoff);
        }
        visits
    }

    /// Looks whether long jobs starve others, where that is wanted; what those give way with.
    fn watch(
        &mut self,
        cluster: &Cluster,
        plan: &PartitionPlan,
        partition: PartitionId,
        settings: &Settings,
    ) -> BTreeMap<AppId, f64> {
        if !settings.any_starvation_rule() {
            self.watches.clear();
            return BTreeMap::new();
        }
        let (watch, now) = (self.watches.entry(partition).or_default(), cluster.now());
        if watch.is_due(now) {
            watch.see(now, &snapshot::of(cluster, plan, partition, settings), &settings.cluster.starvation);
        }
        watch.giving()
    }

    /// Why no room could be made for the job when that was last tried; `None` if there was, or it needed none.
    pub fn no_victim_reason(&self, app: AppId, partition: PartitionId) -> Option<NoVictimReason> {
        let of_partition = self.no_victims.get(&partition)?;
        let at = of_partition.binary_search_by_key(&app, |(other, _)| *other).ok()?;
        of_partition.get(at).map(|(_, reason)| *reason)
    }

    /// Who looks whether long jobs starve others, by partition.
    pub fn watches(&self) -> impl Iterator<Item = (PartitionId, &Watch)> {
        self.watches.iter().map(|(partition, watch)| (*partition, watch))
    }
}

fn settings_of<'a>(cluster: &Cluster, settings: &'a Settings, app: AppId) -> &'a QueueSettings {
    settings.queue(cluster.queue_path(app))
}
