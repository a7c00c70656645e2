//! ApplicationMasters look for slow tasks, by their [`Speculation`], and have them done once more.

use crate::speculation::Speculation;
use crate::task::{Attempt, TaskId};
use crate::world::World;
use hiatus_core::fact::Exit;
use hiatus_core::units::{AppId, ContainerId};
use std::collections::BTreeMap;

impl World {
    /// ApplicationMasters look for slow tasks.
    pub(super) fn speculate(&mut self) {
        let Some(rule) = self.speculation else { return };
        let registered: Vec<_> = self.registered.iter().copied().collect();
        for id in registered {
            if self.back_up(id, rule) {
                self.progress(id);
            }
        }
    }

    /// Whether the application wants backups that it did not want before.
    fn back_up(&mut self, id: AppId, rule: Speculation) -> bool {
        let app = &self.apps[id.0 as usize];
        let containers = || app.containers.iter().filter_map(|id| Some((*id, self.containers.get(id)?.task?)));
        let mut of_stage: BTreeMap<usize, Vec<Attempt>> = BTreeMap::new();
        let mut count: BTreeMap<TaskId, usize> = BTreeMap::new();
        for (id, task) in containers() {
            *count.entry(task).or_default() += 1;
            of_stage.entry(task.stage).or_default().extend(self.attempt(id));
        }
        let mut wanted = Vec::new();
        for (stage, attempts) in of_stage {
            let state = app.stage(stage);
            if state.waiting() > 0 {
                continue;
            }
            let alone =
                attempts.iter().filter(|attempt| count[&attempt.task] == 1 && !state.is_backed_up(attempt.task));
            let running: Vec<Attempt> = alone.copied().collect();
            let known: Vec<Attempt> = attempts.iter().chain(state.ended()).copied().collect();
            let of_running: f64 = running.iter().map(Attempt::progress).sum();
            let mean_progress = (of_running + f64::from(state.done())) / f64::from(state.tasks());
            let backups =
                count.iter().filter(|(task, count)| task.stage == stage && **count > 1).count() + state.backups();
            let most = rule.most_backups(attempts.len(), self.backups_at_a_time);
            let slow = rule.slow(&running, &known, mean_progress);
            wanted.extend(slow.into_iter().take(most.saturating_sub(backups)));
        }
        let app = self.app_mut(id);
        wanted.iter().for_each(|task| app.want_backup(*task));
        !wanted.is_empty()
    }

    /// What its ApplicationMaster knows of the attempt in the container, if it works on a task and has begun with it.
    pub(super) fn attempt(&self, id: ContainerId) -> Option<Attempt> {
        let container = self.containers.get(&id)?;
        let (task, app) = (container.task?, &self.apps[container.app.0 as usize]);
        let process = self.machines[container.node.0 as usize].manager.processes.get(&id)?;
        let done = process.done(self.now);
        (done > 0.0).then(|| Attempt { task, ran: process.ran(self.now), done, data: app.time(task).0 as f64 })
    }

    /// Another container in which the same task is being done.
    pub(super) fn rival(&self, app: AppId, task: TaskId) -> Option<ContainerId> {
        self.speculation?;
        let mut containers = self.apps[app.0 as usize].containers.iter();
        containers.find(|id| self.containers.get(id).is_some_and(|found| found.task == Some(task))).copied()
    }

    /// The other attempt of its task has ended first.
    pub(super) fn lost_the_race(&mut self, id: ContainerId) {
        let ran = self.ran(id);
        let Some(container) = self.containers.get_mut(&id) else { return };
        container.task = None;
        let app = container.app;
        self.app_mut(app).spent.raced_s += ran.seconds();
        self.complete(id, Exit::Killed);
    }
}
