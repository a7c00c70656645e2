//! How much of a partition each queue is entitled to right now: its guarantee as far as it can use it, and of what the
//! others leave idle a part in proportion to its guarantee, up to its maximum. A parent's entitlement is shared among
//! its children in the same way. What a queue's first job needs to get on comes before all guarantees: a queue of 1 % whose
//! ApplicationMaster alone is more than that would else stand still for ever beside one that never has enough.

use crate::state::Cluster;
use crate::units::{PartitionId, QueueId};
use std::collections::BTreeMap;

/// One who shares: all figures are fractions of the partition.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Claimant {
    /// Given before any guarantee: what its first job needs to get on.
    pub least: f64,
    /// Given before anybody gets more than that.
    pub guaranteed: f64,
    /// Upper bound: the smaller of maximum and demand.
    pub wanted: f64,
}

/// Shares `total` among the claimants: nobody gets more than wanted, nobody less than the smaller of wanted and
/// least, nor of wanted and guaranteed (if these fit), and the rest in proportion to the guarantees of those who still want; those
/// without any guarantee share what even they leave, equally.
pub fn share(total: f64, claimants: &[Claimant]) -> Vec<f64> {
    let mut given = vec![0.0; claimants.len()];
    for promise in [|c: &Claimant| c.least, |c: &Claimant| c.guaranteed] {
        let missing = |(c, given): (&Claimant, &f64)| (promise(c).min(c.wanted) - given).max(0.0);
        let missing: Vec<f64> = claimants.iter().zip(&given).map(missing).collect();
        let (left, promised): (f64, f64) = (total - given.iter().sum::<f64>(), missing.iter().sum());
        // Over-promised (for what first jobs need, in a bad moment of a refresh, or by nodes lost in between): all give way alike.
        let part = if promised > left { left.max(0.0) / promised } else { 1.0 };
        given.iter_mut().zip(missing).for_each(|(given, missing)| *given += part * missing);
    }
    pour(total, claimants, |claimant| claimant.guaranteed, &mut given);
    pour(total, claimants, |_| 1.0, &mut given);
    given
}

/// Pours what is left of `total` into those who want more, in proportion to their `weight`, until it or they run out.
fn pour(total: f64, claimants: &[Claimant], weight: impl Fn(&Claimant) -> f64, given: &mut [f64]) {
    let thirsty = |(claimant, given): &(&Claimant, f64)| weight(claimant) > 0.0 && *given < claimant.wanted;
    // Each round satisfies one claimant at least or pours everything, so there are at most as many rounds.
    for _ in claimants {
        let left = total - given.iter().sum::<f64>();
        let all = || claimants.iter().zip(given.iter().copied()).filter(thirsty);
        let weights: f64 = all().map(|(claimant, _)| weight(claimant)).sum();
        if left <= EPSILON || weights <= 0.0 {
            return;
        }
        // The level at which the first of them is satisfied, or everything is poured.
        let levels = all().map(|(claimant, given)| (claimant.wanted - given) / weight(claimant));
        let level = levels.fold(left / weights, f64::min);
        for (claimant, given) in claimants.iter().zip(given.iter_mut()) {
            if thirsty(&(claimant, *given)) {
                *given = (*given + level * weight(claimant)).min(claimant.wanted);
            }
        }
    }
}

/// Weighted max-min fairness: shares `total` among those who bring a weight and an upper bound each. Nobody gets more than
/// its bound, and those who get less get alike by weight. O(n log n).
pub fn max_min(total: f64, claims: &[(f64, f64)]) -> Vec<f64> {
    let mut by_level: Vec<usize> = (0..claims.len()).filter(|&i| claims[i].0 > 0.0).collect();
    by_level.sort_by(|&a, &b| (claims[a].1 / claims[a].0).total_cmp(&(claims[b].1 / claims[b].0)));
    let mut given = vec![0.0; claims.len()];
    let mut left = total.max(0.0);
    let mut weight: f64 = by_level.iter().map(|&i| claims[i].0).sum();
    for i in by_level {
        let (own, bound) = claims[i];
        given[i] = (left * own / weight).min(bound).max(0.0);
        left -= given[i];
        weight -= own;
    }
    given
}

/// Fractions closer than this are the same: far below one container of the largest cluster.
pub const EPSILON: f64 = 1e-9;

/// How many containers, each of share `one`, are within `share`.
pub fn containers_within(share: f64, one: f64) -> u32 {
    if one > 0.0 {
        ((share + EPSILON) / one).max(0.0) as u32
    } else {
        u32::MAX
    }
}

/// Entitlements of all queues of one partition, given what each leaf wants, and its first job needs, and which part of the partition can
/// be used. Of that guarantees are parts, too: a queue that is guaranteed 80 % of nodes of which 75 % can be used does not keep all of that from others.
pub fn of_leaves(
    cluster: &Cluster,
    partition: PartitionId,
    usable: f64,
    demand: &BTreeMap<QueueId, f64>,
    least: &BTreeMap<QueueId, f64>,
) -> BTreeMap<QueueId, f64> {
    let mut by_parent: Vec<_> = cluster.queues().iter().map(|(id, queue)| (queue.parent, *id)).collect();
    by_parent.sort_unstable();
    let mut entitled = BTreeMap::new();
    descend(&Tree { cluster, partition, usable, demand, least, by_parent }, None, usable, &mut entitled);
    entitled
}

struct Tree<'a> {
    cluster: &'a Cluster,
    partition: PartitionId,
    usable: f64,
    demand: &'a BTreeMap<QueueId, f64>,
    least: &'a BTreeMap<QueueId, f64>,
    /// Every queue with its parent, in the order of these.
    by_parent: Vec<(Option<QueueId>, QueueId)>,
}

impl Tree<'_> {
    fn children(&self, parent: Option<QueueId>) -> &[(Option<QueueId>, QueueId)] {
        let first = self.by_parent.partition_point(|(other, _)| *other < parent);
        let count = self.by_parent[first..].iter().take_while(|(other, _)| *other == parent).count();
        &self.by_parent[first..first + count]
    }

    /// What the first jobs of the queue and of all below it need.
    fn least(&self, id: QueueId) -> f64 {
        let below: f64 = self.children(Some(id)).iter().map(|(_, child)| self.least(*child)).sum();
        self.least.get(&id).copied().unwrap_or(0.0) + below
    }

    /// What the queue and all below it could use, within their maxima.
    fn wanted(&self, id: QueueId) -> f64 {
        let own = self.demand.get(&id).copied().unwrap_or(0.0);
        let below: f64 = self.children(Some(id)).iter().map(|(_, child)| self.wanted(*child)).sum();
        let maximum = self.cluster.queues().get(&id).map_or(0.0, |q| q.shares(self.partition).maximum);
        (own + below).min(maximum)
    }
}

fn descend(tree: &Tree<'_>, parent: Option<QueueId>, total: f64, entitled: &mut BTreeMap<QueueId, f64>) {
    let children = tree.children(parent);
    if children.is_empty() {
        return;
    }
    let claimants: Vec<Claimant> = children
        .iter()
        .map(|(_, id)| Claimant {
            least: tree.least(*id),
            guaranteed: tree.cluster.queues().get(id).map_or(0.0, |q| q.shares(tree.partition).guaranteed)
                * tree.usable,
            wanted: tree.wanted(*id),
        })
        .collect();
    for ((_, id), given) in children.iter().zip(share(total, &claimants)) {
        entitled.insert(*id, given);
        descend(tree, Some(*id), given, entitled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn claimants(pairs: &[(f64, f64)]) -> Vec<Claimant> {
        pairs.iter().map(|&(guaranteed, wanted)| Claimant { least: 0.0, guaranteed, wanted }).collect()
    }

    #[test]
    fn idle_guarantees_go_to_the_others_in_proportion_to_theirs() {
        let got = share(1.0, &claimants(&[(0.2, 1.0), (0.3, 1.0), (0.5, 0.0)]));
        assert!((got[0] - 0.4).abs() < 1e-9 && (got[1] - 0.6).abs() < 1e-9 && got[2] == 0.0, "{got:?}");
    }

    #[test]
    fn a_queue_without_guarantee_gets_what_nobody_else_wants() {
        let got = share(1.0, &claimants(&[(1.0, 0.7), (0.0, 1.0)]));
        assert!((got[1] - 0.3).abs() < 1e-9, "{got:?}");
    }

    #[test]
    fn what_a_first_job_needs_comes_before_guarantees_and_those_give_way_alike() {
        let of = |least, guaranteed, wanted| Claimant { least, guaranteed, wanted };
        let got = share(1.0, &[of(0.2, 0.01, 0.5), of(0.1, 0.66, 1.0), of(0.0, 0.33, 1.0)]);
        let part = 0.7 / 0.89;
        let wanted = [0.2, 0.1 + 0.56 * part, 0.33 * part];
        assert!(got.iter().zip(wanted).all(|(got, wanted)| (got - wanted).abs() < 1e-9), "{got:?}, {wanted:?}");
        assert_eq!(share(1.0, &[of(0.2, 0.01, 0.1), of(0.0, 0.99, 1.0)]), [0.1, 0.9], "no more than it wants");
        assert_eq!(share(1.0, &[of(1.5, 0.5, 2.0), of(0.5, 0.5, 2.0)]), [0.75, 0.25]);
    }

    #[test]
    fn max_min_gives_small_claims_all_and_the_others_alike_by_weight() {
        assert_eq!(max_min(1.0, &[(1.0, 0.25), (1.0, 1.0), (2.0, 1.0)]), [0.25, 0.25, 0.5]);
        assert_eq!(max_min(1.0, &[(1.0, 0.25), (1.0, 0.5)]), [0.25, 0.5], "more than all want");
        assert_eq!(max_min(-1.0, &[(1.0, 0.25)]), [0.0]);
    }

    proptest! {
        #[test]
        fn law_2_guarantees_are_kept_and_nothing_wanted_is_left_idle(
            raw in prop::collection::vec((0.0..1.0f64, 0.0..1.5f64), 1..8)
        ) {
            let promised: f64 = raw.iter().map(|(g, _)| g).sum::<f64>().max(1.0);
            let all = claimants(&raw.iter().map(|&(g, w)| (g / promised, w)).collect::<Vec<_>>());
            let got = share(1.0, &all);
            for (claimant, given) in all.iter().zip(&got) {
                prop_assert!(*given <= claimant.wanted + 1e-9);
                prop_assert!(*given >= claimant.guaranteed.min(claimant.wanted) - 1e-9);
            }
            let wanted: f64 = all.iter().map(|c| c.wanted).sum();
            prop_assert!((got.iter().sum::<f64>() - wanted.min(1.0)).abs() < 1e-6);
        }
    }
}
