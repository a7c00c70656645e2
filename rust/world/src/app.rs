//! An application: its ApplicationMaster's view of its tasks, and its asks as the ResourceManager knows them.

use crate::job::{Job, Stage};
use crate::task::{Attempt, TaskId};
use hiatus_core::fact::PhaseKey;
use hiatus_core::units::{ContainerId, Millis, NodeId, PartitionId, QueueId};
use std::collections::{BTreeMap, BTreeSet};

/// YARN priority of the ApplicationMaster's own container.
const MASTER_PRIORITY: i32 = 0;

/// Where an application is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// Not submitted yet.
    Ahead,
    /// Submitted; its queue's ApplicationMaster share is exhausted.
    Pending,
    /// May run.
    Active,
    /// Over.
    Gone,
}

/// How far a stage is.
#[derive(Clone, Debug)]
pub(super) struct StageState {
    tasks: u32,
    done: u32,
    /// The first task that nobody has begun.
    next: u32,
    /// Begun and lost: to be done again.
    again: BTreeSet<u32>,
    /// To be done once more beside the first attempt.
    backups: BTreeSet<u32>,
    /// Attempts that have ended well, where somebody wants to know.
    ended: Vec<Attempt>,
}

impl StageState {
    pub(super) fn tasks(&self) -> u32 {
        self.tasks
    }

    pub(super) fn done(&self) -> u32 {
        self.done
    }

    pub(super) fn ended(&self) -> &[Attempt] {
        &self.ended
    }

    /// Backups that wait for their containers.
    pub(super) fn backups(&self) -> usize {
        self.backups.len()
    }

    /// Whether a backup of the task waits for its container.
    pub(super) fn is_backed_up(&self, task: TaskId) -> bool {
        self.backups.contains(&task.number)
    }

    /// Tasks that want a container and have none.
    pub(super) fn waiting(&self) -> u32 {
        self.tasks - self.next + self.again.len() as u32
    }

    /// Containers that it wants: backups do not keep later stages waiting.
    fn wanted(&self) -> u32 {
        self.waiting() + self.backups.len() as u32
    }

    /// Tasks that hold containers.
    fn begun(&self) -> u32 {
        self.next - self.again.len() as u32 - self.done
    }

    fn take(&mut self) -> Option<u32> {
        if let Some(task) = self.again.pop_first() {
            return Some(task);
        }
        (self.next < self.tasks).then(|| {
            self.next += 1;
            self.next - 1
        })
    }
}

/// How many reduces MapReduce's ApplicationMaster asks for while maps wait (`RMContainerAllocator.scheduleReduces`).
fn ramped_up(maps: &StageState, reduces: &StageState, most: f64, headroom: u32) -> u32 {
    if maps.begun() == 0 {
        // Its maps starve: it takes back what it asked for its reduces.
        return 0;
    }
    let total = maps.begun() + reduces.begun() + headroom;
    let for_reduces = (f64::from(maps.done) / f64::from(maps.tasks)).min(most) * f64::from(total);
    let wanted = maps.waiting() + maps.begun();
    let spared = f64::from(total.saturating_sub(wanted));
    (for_reduces.max(spared) as u32).saturating_sub(reduces.begun())
}

/// What became of an application's containers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Tasks that were killed, failed or lost.
    pub lost_tasks: u64,
    /// Seconds for which those had run: their work is done again.
    pub wasted_s: f64,
    /// How often a container was suspended.
    pub suspensions: u64,
    /// Memory of suspended containers, in MiB × seconds, until they went on or ended, by the ResourceManager's books.
    pub suspended_mb_s: f64,
    /// Second attempts of tasks that were begun.
    pub backups: u64,
    /// Seconds for which attempts ran whose task another attempt did first.
    pub raced_s: f64,
}

/// An application.
#[derive(Clone, Debug)]
pub struct App {
    /// What it is.
    pub job: Job,
    /// Its leaf queue.
    pub queue: QueueId,
    /// Where it is in its life.
    pub life: Life,
    /// Number of its attempt, from 0.
    pub attempt: u32,
    /// Its ApplicationMaster's container.
    pub master: Option<ContainerId>,
    /// The ApplicationMaster of this attempt is up.
    pub registered: bool,
    /// Outstanding asks.
    pub asks: BTreeMap<PhaseKey, u32>,
    /// Offers it may still decline before it takes any.
    pub patience: u32,
    /// When its first ApplicationMaster ran.
    pub first_master: Option<Millis>,
    /// When the first task ran.
    pub first_task: Option<Millis>,
    /// When it was over.
    pub finished: Option<Millis>,
    /// Its live containers.
    pub containers: BTreeSet<ContainerId>,
    /// What became of its containers so far.
    pub spent: Spent,
    /// Somebody put it aside.
    pub parked: bool,
    /// It gave a container back to make room for an earlier stage, and got none since.
    pub(super) gave_back: bool,
    /// Since when it blocks itself.
    pub(super) blocked_since: Option<Millis>,
    stages: Vec<StageState>,
}

impl App {
    pub(super) fn new(job: Job) -> App {
        let stage = |stage: &Stage| StageState {
            tasks: stage.times.count(),
            done: 0,
            next: 0,
            again: BTreeSet::new(),
            backups: BTreeSet::new(),
            ended: Vec::new(),
        };
        App {
            queue: QueueId(0),
            life: Life::Ahead,
            attempt: 0,
            master: None,
            registered: false,
            stages: job.stages.iter().map(stage).collect(),
            asks: BTreeMap::new(),
            patience: job.patience,
            first_master: None,
            first_task: None,
            finished: None,
            containers: BTreeSet::new(),
            spent: Spent::default(),
            parked: false,
            gave_back: false,
            blocked_since: None,
            job,
        }
    }

    /// Whether the ResourceManager knows it.
    pub fn is_live(&self) -> bool {
        matches!(self.life, Life::Pending | Life::Active)
    }

    /// The phase of its ApplicationMaster.
    pub fn master_key(&self) -> PhaseKey {
        PhaseKey { priority: MASTER_PRIORITY, partition: self.job.partition, resource: self.job.master }
    }

    /// The phase of a stage.
    pub fn stage_key(&self, stage: usize) -> PhaseKey {
        let priority = match stage {
            0 => PhaseKey::MAPS,
            n => PhaseKey::REDUCES + 1 - n as i32,
        };
        let partition: Option<PartitionId> = self.job.stages[stage].partition;
        let resource = self.job.stages[stage].size;
        PhaseKey { priority, partition: partition.unwrap_or(self.job.partition), resource }
    }

    /// Of its asks for nodes of the partition the one that the ResourceManager serves first.
    pub(super) fn first_ask(&self, partition: PartitionId) -> Option<PhaseKey> {
        self.asks.iter().find(|(key, count)| **count > 0 && key.partition == partition).map(|(key, _)| *key)
    }

    /// Whether its ApplicationMaster wants no container on the node.
    pub(super) fn shuns(&self, node: NodeId) -> bool {
        self.registered && self.job.blacklist.contains(&node)
    }

    /// What it says of its tasks, if asked: by the request priority of a stage, how many there are and how many are done.
    pub(super) fn tasks(&self) -> impl Iterator<Item = (i32, u32, u32)> + '_ {
        let stages = self.stages.iter().enumerate();
        stages.map(|(stage, state)| (self.stage_key(stage).priority, state.tasks, state.done))
    }

    /// How many of its first stage's tasks are done, and how many there are.
    pub(super) fn maps(&self) -> (u32, u32) {
        self.stages.first().map_or((0, 0), |maps| (maps.done, maps.tasks))
    }

    /// Whether all tasks are done.
    pub fn is_done(&self) -> bool {
        self.stages.iter().all(|stage| stage.done == stage.tasks)
    }

    /// Tasks that are not done.
    pub fn tasks_left(&self) -> u32 {
        self.stages.iter().map(|stage| stage.tasks - stage.done).sum()
    }

    /// Whether the tasks of a stage may begin to work: all before it are done.
    pub fn is_open(&self, stage: usize) -> bool {
        self.job.at_once || self.stages[..stage].iter().all(|before| before.done == before.tasks)
    }

    /// What a live ApplicationMaster should have asked for. Tasks that have to wait for others are not asked for while one
    /// of those waits for a container, so that they never hold its room.
    /// With a shuffle that takes time they are asked for early, within MapReduce's ramp-up limit of what the job holds and the
    /// `headroom` tasks that it could start.
    pub fn wanted(&self, headroom: u32) -> Vec<(PhaseKey, u32)> {
        let mut wanted = Vec::with_capacity(self.stages.len());
        let mut may_start = self.registered;
        for (index, stage) in self.stages.iter().enumerate() {
            if let Some(before) = index.checked_sub(1).filter(|_| !self.job.at_once).map(|before| &self.stages[before])
            {
                let enough = f64::from(before.done) >= self.job.stages[index].slowstart * f64::from(before.tasks);
                may_start &= enough;
                let early = self.job.shuffle.filter(|_| index == 1 && before.waiting() > 0);
                let most = early.map(|shuffle| ramped_up(before, stage, shuffle.ramp_up, headroom));
                may_start &= before.waiting() == 0 || most.is_some();
                let count = if may_start { stage.wanted().min(most.unwrap_or(u32::MAX)) } else { 0 };
                wanted.push((self.stage_key(index), count));
                continue;
            }
            wanted.push((self.stage_key(index), if may_start { stage.wanted() } else { 0 }));
        }
        wanted
    }

    /// A stage whose tasks hold containers though an earlier one needs room and holds none: it must give one back.
    pub(super) fn blocks_itself(&self) -> Option<usize> {
        let starves = |stage: &StageState| stage.waiting() > 0 && stage.begun() == 0 && !self.job.at_once;
        let starving = self.stages.iter().position(starves)?;
        (starving + 1..self.stages.len()).rev().find(|later| self.stages[*later].begun() > 0)
    }

    /// Gives a container of that phase its task, backups last; `None` if there is none (any more).
    pub(super) fn take(&mut self, key: PhaseKey) -> Option<TaskId> {
        let stage = (0..self.stages.len()).find(|stage| self.stage_key(*stage) == key)?;
        let number = self.stages[stage].take().or_else(|| {
            let backup = self.stages[stage].backups.pop_first();
            self.spent.backups += u64::from(backup.is_some());
            backup
        });
        number.map(|number| TaskId { stage, number })
    }

    /// How far a stage is.
    pub(super) fn stage(&self, stage: usize) -> &StageState {
        &self.stages[stage]
    }

    /// The task is to be done once more beside its first attempt.
    pub(super) fn want_backup(&mut self, task: TaskId) {
        self.stages[task.stage].backups.insert(task.number);
    }

    /// How an attempt went that has ended well.
    pub(super) fn note(&mut self, attempt: Attempt) {
        self.stages[attempt.task.stage].ended.push(attempt);
    }

    /// How long the task runs.
    pub(super) fn time(&self, task: TaskId) -> Millis {
        self.job.stages[task.stage].times.of(task.number)
    }

    /// The task is done, or has to be done again. True if its whole stage is done with it.
    pub(super) fn settle(&mut self, task: TaskId, done: bool) -> bool {
        let stage = &mut self.stages[task.stage];
        stage.backups.remove(&task.number);
        if done {
            stage.done += 1;
        } else {
            stage.again.insert(task.number);
        }
        done && stage.done == stage.tasks
    }
}
