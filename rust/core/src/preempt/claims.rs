//! Claims end: when nobody needs them any more, or they were not used in time (law 4).

use crate::fact::PhaseKey;
use crate::settings::Settings;
use crate::state::{Claim, Cluster, For, Phase};
use crate::units::{AppId, NodeId, Resource};
use std::collections::BTreeMap;

/// Gives back claims that nobody needs any more, or that were not used in time.
pub fn review_claims(cluster: &mut Cluster, settings: &Settings) {
    let now = cluster.now();
    let mut wanted: BTreeMap<(AppId, Resource), u32> = BTreeMap::new();
    let mut unused = Vec::new();
    let limits = &settings.cluster;
    let silent = |cluster: &Cluster, node| cluster.nodes().get(&node).is_none_or(|node| !node.is_live(now));
    cluster.retain_claims(|cluster, node, claim| match claim.purpose {
        For::Resume(id) => {
            let late = claim.is_freed() && now.since(claim.made) > limits.claim_timeout;
            cluster.is_suspended(id) && !late
        }
        // Nothing starts there; other nodes may have what it needs.
        For::Start if silent(cluster, node) => false,
        For::Start => {
            let left = wanted.entry((claim.app, claim.resource)).or_insert_with(|| asked(cluster, claim));
            let needed = *left > 0 && may_start(cluster, node, claim);
            *left = left.saturating_sub(u32::from(needed));
            // Room collected as containers end is patient; room that was taken from somebody is less so.
            let limit = if claim.is_freed() { limits.claim_timeout } else { limits.large_ask_timeout };
            let late = now.since(claim.made) > limit;
            if needed && late {
                unused.push((claim.app, claim.resource));
            }
            needed && !late
        }
    });
    for (app, resource) in unused {
        // Of several kinds the ResourceManager starts none behind that one.
        let other = |claim: &Claim| claim.app == app && claim.purpose == For::Start && claim.resource != resource;
        cluster.retain_claims(|_, _, claim| !other(claim));
        cluster.claim_expired(app, settings.cluster.claim_timeout);
    }
}

/// Whether its job may start such a container there: it may have blacklisted the node since, or keep to another side.
fn may_start(cluster: &Cluster, node: NodeId, claim: &Claim) -> bool {
    cluster.jobs().get(&claim.app).filter(|job| !job.blacklist.contains(&node)).is_some_and(|job| {
        let asked = |(key, phase): (&PhaseKey, &Phase)| key.resource == claim.resource && phase.pending > 0;
        job.phases.iter().any(|kind| asked(kind) && cluster.most_on(claim.app, kind.0, node) > 0)
    })
}

/// How many containers of the claim's size its job may start and asks for.
fn asked(cluster: &Cluster, claim: &Claim) -> u32 {
    let job = cluster.jobs().get(&claim.app).filter(|job| job.may_start());
    let phases = job.into_iter().flat_map(|job| &job.phases);
    phases.filter(|(key, _)| key.resource == claim.resource).map(|(_, phase)| phase.pending).sum()
}
