//! What the containers of an application tell of its stages.

use hiatus_core::fact::{ContainerFact, Found, PhaseKey};
use hiatus_core::units::{ContainerId, Millis};
use hiatus_world::job::{Stage, Times, MOST_STAGES};

/// A container, while its application lives.
#[derive(Debug)]
pub(super) struct Container {
    pub id: ContainerId,
    pub phase: PhaseKey,
    pub is_master: bool,
    pub launched: Option<Millis>,
    /// Spans in which it was demoted.
    pub suspended: Vec<(Millis, Option<Millis>)>,
    pub ended: Option<Millis>,
    /// By a decision.
    pub killed: bool,
}

impl Container {
    pub fn new(fact: &ContainerFact, now: Millis) -> Container {
        let (id, phase, is_master) = (fact.container, fact.phase, fact.is_master);
        let launched = (fact.state != Found::New).then_some(now);
        Container { id, phase, is_master, launched, suspended: Vec::new(), ended: None, killed: false }
    }

    /// How long it ran after `since`, suspensions left out; nothing if it did not come to its own end.
    fn worked(&self, since: Millis) -> Option<Millis> {
        let (launched, ended) = (self.launched?, self.ended.filter(|_| !self.killed)?);
        // What ends before the stage before it does not wait for that one.
        let from = if ended > since { launched.max(since) } else { launched };
        let stood: u64 =
            self.suspended.iter().map(|(begin, end)| end.unwrap_or(ended).since((*begin).max(from)).0).sum();
        Some(Millis(ended.since(from).0.saturating_sub(stood)))
    }
}

/// Kinds of tasks, by request priority and size, in the order in which they began; one begins to work when the one before is done.
/// `None` if they are more kinds than a job may have: then the rest is not looked at, because the scheduler's lock is held.
pub(super) fn stages<'a>(tasks: impl IntoIterator<Item = &'a Container>) -> Option<Vec<Stage>> {
    let mut kinds: Vec<(PhaseKey, Vec<&Container>)> = Vec::new();
    for task in tasks.into_iter().filter(|task| task.worked(Millis(0)).is_some()) {
        let are_most = kinds.len() == MOST_STAGES;
        match kinds.iter_mut().find(|(kind, _)| *kind == task.phase) {
            Some((_, of_kind)) => of_kind.push(task),
            None if are_most => return None,
            None => kinds.push((task.phase, vec![task])),
        }
    }
    let mut before: Vec<Millis> = Vec::new();
    // When all kinds before were done: not until then does the simulated one begin to work.
    let mut last = Millis(0);
    let mut stages = Vec::new();
    for (kind, of_kind) in kinds {
        let begun = of_kind.iter().filter_map(|task| task.launched).min().unwrap_or_default();
        let done = before.iter().filter(|end| **end <= begun).count() as f64;
        stages.push(Stage {
            times: Times::Each(of_kind.iter().filter_map(|task| task.worked(last)).collect()),
            size: kind.resource,
            partition: Some(kind.partition),
            slowstart: if before.is_empty() { 1.0 } else { done / before.len() as f64 },
        });
        before = of_kind.iter().filter_map(|task| task.ended).collect();
        last = before.iter().copied().fold(last, Millis::max);
    }
    Some(stages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hiatus_core::units::{AppId, NodeId, PartitionId, Resource};

    fn ran(kind: i32) -> Container {
        let phase = PhaseKey { priority: kind, partition: PartitionId(0), resource: Resource::new(1024, 1) };
        let (id, node, app) = (ContainerId(kind as u32), NodeId(0), AppId(0));
        let fact = ContainerFact { container: id, app, node, phase, is_master: false, state: Found::New };
        Container { launched: Some(Millis(1)), ended: Some(Millis(2)), ..Container::new(&fact, Millis(0)) }
    }

    #[test]
    fn what_runs_beside_any_stage_before_its_own_works_when_all_of_those_are_done() {
        let spans = [(1, 0, 100), (2, 10, 20), (3, 30, 150)];
        let ran = spans.map(|(kind, launched, ended)| Container {
            launched: Some(Millis(launched)),
            ended: Some(Millis(ended)),
            ..ran(kind)
        });
        let works = stages(&ran).unwrap_or_default().into_iter().map(|stage| stage.times.of(0).0);
        assert_eq!(works.collect::<Vec<_>>(), [100, 10, 50]);
    }

    #[test]
    fn of_a_job_with_too_many_kinds_of_tasks_no_more_is_looked_at_than_shows_that() {
        let containers: Vec<Container> = (0..1_000).map(ran).collect();
        let visits = |kinds: usize| {
            let mut visits = 0;
            let stages = stages(containers[..kinds].iter().inspect(|_| visits += 1));
            (stages.map(|stages| stages.len()), visits)
        };
        assert_eq!(visits(MOST_STAGES), (Some(MOST_STAGES), MOST_STAGES));
        assert_eq!(visits(1_000), (None, MOST_STAGES + 1));
    }
}
