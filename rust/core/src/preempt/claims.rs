//! Claims end: when nobody needs them any more, or they were not used in time (law 4).

use crate::settings::Settings;
use crate::state::{Claim, Cluster, For};
use crate::units::{AppId, Resource};
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
            let needed = *left > 0;
            *left = left.saturating_sub(1);
            // Room collected as containers end is patient; room that was taken from somebody is less so.
            let limit = if claim.is_freed() { limits.claim_timeout } else { limits.large_ask_timeout };
            let late = now.since(claim.made) > limit;
            if needed && late {
                unused.push(claim.app);
            }
            needed && !late
        }
    });
    for app in unused {
        cluster.claim_expired(app, settings.cluster.claim_timeout);
    }
}

/// How many containers of the claim's size its job may start and asks for.
fn asked(cluster: &Cluster, claim: &Claim) -> u32 {
    let job = cluster.jobs().get(&claim.app).filter(|job| job.may_start());
    let phases = job.into_iter().flat_map(|job| &job.phases);
    phases.filter(|(key, _)| key.resource == claim.resource).map(|(_, phase)| phase.pending).sum()
}
