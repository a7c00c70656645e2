//! A second single-server simulator, written from the definitions alone: every job's shares are worked out anew at
//! every event, from its remaining size, remaining estimate, attained service and remaining virtual size. It shares
//! no code and no data structure with the one under test.

use hiatus_sim::studies::single::PolicyKind;
use hiatus_sim::workload::Job;

/// Attained services closer than this, in seconds, are the same; what is left of something below this part of it is
/// nothing.
const SAME: f64 = 1e-9;

struct State {
    size: f64,
    remaining: f64,
    attained: f64,
    believed: f64,
    weight: f64,
    /// What is left in the virtual fair server, for the FSP family.
    virtual_left: f64,
    /// The rank at which it became late, once it is.
    late: Option<usize>,
    id: usize,
}

/// Completion times of `jobs`.
pub fn completions(policy: PolicyKind, jobs: &[Job]) -> Vec<f64> {
    let mut ended = vec![f64::NAN; jobs.len()];
    let mut states: Vec<State> = Vec::new(); // in the real or the virtual server
    let (mut now, mut arrived, mut lateness, mut steps) = (0.0, 0, 0, 0);
    loop {
        mark_late(policy, &mut states, &mut lateness);
        let share = shares(policy, &states);
        let virtual_share = virtual_shares(policy, &states);
        let until_arrival = jobs.get(arrived).map_or(f64::INFINITY, |job| job.arrival - now);
        let mut step = until_arrival;
        for (i, state) in states.iter().enumerate() {
            if share[i] > 0.0 {
                step = step.min(state.remaining / share[i]);
                if state.late.is_none() && is_srpte(policy) {
                    step = step.min((state.believed - state.attained) / share[i]);
                }
                // A group catches up with a job that waits with more service.
                let ahead = states.iter().zip(&share).filter(|(_, share)| is_las(policy) && **share == 0.0);
                let ahead = ahead.map(|(other, _)| other.attained - state.attained).filter(|ahead| *ahead > SAME);
                step = ahead.fold(step, |step, ahead| step.min(ahead / share[i]));
            }
            if virtual_share[i] > 0.0 {
                step = step.min(state.virtual_left / virtual_share[i]);
            }
        }
        if step.is_infinite() {
            return ended;
        }
        now = if step == until_arrival { jobs[arrived].arrival } else { now + step };
        steps += 1;
        assert!(steps < 100 * jobs.len(), "{policy}: the naive simulator is stuck at {now}");
        for (i, state) in states.iter_mut().enumerate() {
            state.attained += step * share[i];
            state.virtual_left -= step * virtual_share[i];
            if share[i] > 0.0 {
                state.remaining -= step * share[i];
                if state.remaining <= SAME * state.size {
                    state.remaining = 0.0;
                    ended[state.id] = now;
                }
            }
        }
        states.retain(|state| state.remaining > 0.0 || in_virtual_server(policy, state));
        while arrived < jobs.len() && jobs[arrived].arrival <= now {
            let Job { size, estimate, weight, .. } = jobs[arrived];
            let believed = if matches!(policy, PolicyKind::Srpt | PolicyKind::Fsp) { size } else { estimate };
            let weight = if matches!(policy, PolicyKind::Gps | PolicyKind::Psbs) { weight } else { 1.0 };
            let virtual_left = believed;
            let (remaining, attained, late, id) = (size, 0.0, None, arrived);
            states.push(State { size, remaining, attained, believed, weight, virtual_left, late, id });
            arrived += 1;
        }
    }
}

fn is_fsp(policy: PolicyKind) -> bool {
    use PolicyKind::*;
    matches!(policy, Fsp | Fspe | FspePs | FspeLas | FspeDc | Psbs)
}

fn is_srpte(policy: PolicyKind) -> bool {
    use PolicyKind::*;
    matches!(policy, Srpte | SrptePs | SrpteLas)
}

fn is_las(policy: PolicyKind) -> bool {
    use PolicyKind::*;
    matches!(policy, Las | SrpteLas | FspeLas)
}

fn in_virtual_server(policy: PolicyKind, state: &State) -> bool {
    is_fsp(policy) && state.virtual_left > SAME * state.believed
}

fn mark_late(policy: PolicyKind, states: &mut [State], lateness: &mut usize) {
    for state in states.iter_mut().filter(|state| state.remaining > 0.0 && state.late.is_none()) {
        let late = (is_fsp(policy) && !in_virtual_server(policy, state))
            || (is_srpte(policy) && state.attained >= (1.0 - SAME) * state.believed);
        if late {
            *lateness += 1;
            state.late = Some(*lateness);
        }
    }
}

fn virtual_shares(policy: PolicyKind, states: &[State]) -> Vec<f64> {
    let present = |state: &State| in_virtual_server(policy, state);
    let total: f64 = states.iter().filter(|state| present(state)).map(|state| state.weight).sum();
    states.iter().map(|state| if present(state) { state.weight / total } else { 0.0 }).collect()
}

fn shares(policy: PolicyKind, states: &[State]) -> Vec<f64> {
    use PolicyKind::*;
    let present: Vec<usize> = (0..states.len()).filter(|&i| states[i].remaining > 0.0).collect();
    let least_attained = |among: &[usize]| -> Vec<usize> {
        let least = among.iter().map(|&i| states[i].attained).fold(f64::INFINITY, f64::min);
        among.iter().copied().filter(|&i| states[i].attained - least < SAME).collect()
    };
    let smallest = |among: &[usize], key: &dyn Fn(&State) -> f64| -> Vec<usize> {
        among.iter().copied().min_by(|&a, &b| key(&states[a]).total_cmp(&key(&states[b]))).into_iter().collect()
    };
    let late: Vec<usize> = present.iter().copied().filter(|&i| states[i].late.is_some()).collect();
    let on_time: Vec<usize> = present.iter().copied().filter(|&i| states[i].late.is_none()).collect();
    let first_late = smallest(&late, &|state| state.late.unwrap_or(0) as f64);
    let front = match is_fsp(policy) {
        // Under weights the virtual server serves each at its weight: who ends first has least left per weight.
        true => smallest(&on_time, &|state| state.virtual_left / state.weight),
        false => smallest(&on_time, &|state| state.believed - state.attained),
    };
    let either = |late_served: Vec<usize>| if late.is_empty() { front.clone() } else { late_served };
    let both = |mut late_served: Vec<usize>| {
        late_served.extend(&front);
        late_served
    };
    let served = match policy {
        Fifo => present.iter().copied().take(1).collect(),
        Ps | Gps => present.clone(),
        Las => least_attained(&present),
        Srpt => front,
        Fsp | Srpte | Fspe => either(first_late),
        FspePs | Psbs => either(late.clone()),
        FspeLas => either(least_attained(&late)),
        FspeDc | SrptePs => both(late.clone()),
        SrpteLas => both(least_attained(&late)),
    };
    let total: f64 = served.iter().map(|&i| states[i].weight).sum();
    let mut shares = vec![0.0; states.len()];
    for &i in &served {
        shares[i] = states[i].weight / total;
    }
    shares
}
