//! The sizes of jobs' phases: by which rule each is sized, and the one update when training is over.

use super::virtual_cluster::VirtualCluster;
use super::waves::Waves;
use crate::estimate::left::{size_error_s, Guess, Left, SURE};
use crate::estimate::training::{Estimator, Expected, History, Learnt, Sample, Training};
use crate::fact::PhaseKey;
use crate::hints::SizeHint;
use crate::policy::{EstimateError, Supply};
use crate::state::ByHandle;
use crate::units::{AppId, Resource};
use crate::view::{JobView, PhaseView, TaskView};
use std::collections::{BTreeMap, VecDeque};

/// How many errors of past estimates are kept.
const ERRORS: usize = 1_000;

/// By which rule a phase is sized.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    /// Fewer tasks than training needs: no size at all.
    Tiny,
    /// S_f, learnt from its first tasks.
    Final,
    /// What its application tells of it, and tells anew all the time: its containers do not end with their tasks.
    Told,
    /// S_i as its user says, until its first tasks have told better or it is used up.
    Hint,
    /// S_i, while its first tasks run.
    Training,
    /// S_i, and none of its tasks has run.
    Initial,
}

impl Source {
    fn name(self) -> &'static str {
        match self {
            Source::Tiny => "tiny",
            Source::Final => "final",
            Source::Told => "told",
            Source::Hint => "hint",
            Source::Training => "training",
            Source::Initial => "initial",
        }
    }
}

/// What is known of a phase.
#[derive(Clone, Copy, Debug)]
struct Size {
    source: Source,
    task_s: f64,
    /// What its own first tasks told, once it is trained.
    own: Option<Sample>,
    /// What a task was expected to take before any was seen, in seconds.
    first_s: Option<f64>,
    tasks: u32,
    /// Nobody knows how long its tasks are.
    guessed: bool,
    /// It has tasks to do.
    open: bool,
}

/// Phases that lack training tasks, of one job.
#[derive(Debug, Default)]
pub struct Trainee {
    /// Initial size, in seconds of the partition.
    pub size_s: f64,
    /// Tasks started or done.
    pub advanced: u32,
    /// Its phases that are not trained.
    pub phases: Vec<Untrained>,
    /// Jobs are known to differ in tasks like those.
    pub differs: bool,
    /// What one of those probably takes, in seconds; where nobody has told anything yet, until it tells at the latest.
    pub task_s: f64,
}

impl Trainee {
    /// Whether any of its tasks trains.
    pub fn trains(&self) -> bool {
        self.phases.iter().any(|phase| phase.train > 0)
    }
}

/// Containers for training tasks of one phase.
#[derive(Clone, Copy, Debug)]
pub struct Untrained {
    /// Those that train.
    pub train: u32,
    /// These and those that it lacks.
    pub wanted: u32,
    /// The share of each.
    pub one: f64,
}

/// Sizes of all jobs.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    jobs: ByHandle<AppId, BTreeMap<PhaseKey, Size>>,
    history: History,
    errors: VecDeque<EstimateError>,
}

impl Sizes {
    /// Takes a job's phases as they are now into account, here and in the virtual cluster.
    pub fn observe(&mut self, job: &JobView, supply: &Supply<'_>, virtually: &mut VirtualCluster) {
        let rules = &supply.settings.hfsp;
        let estimator = estimator(supply);
        let hints = job.hints.under(&supply.settings.hints);
        let weight = hints.weight.unwrap_or(1.0);
        self.use_up_hint(job.app, virtually);
        for phase in &job.phases {
            let sizes = self.jobs.entry(job.app).or_default();
            let tasks = phase.tasks();
            if let Some(task_s) = phase.told_task_s() {
                let told = Size {
                    source: Source::Told,
                    task_s,
                    own: None,
                    first_s: None,
                    tasks,
                    guessed: false,
                    open: phase.to_do() > 0,
                };
                let before = sizes.insert(phase.key, told);
                if before.is_none_or(|size| size.source == Source::Tiny) {
                    virtually.enter(job.app, weight, phase.key, Waves::new(tasks, task_s));
                } else if before.is_some_and(|size| (size.task_s, size.tasks) != (task_s, tasks)) {
                    virtually.update(job.app, phase.key, |waves| {
                        waves.set_tasks(tasks);
                        waves.retain(task_s);
                    });
                }
                continue;
            }
            if let Some((mistaken, size)) = mistaken(sizes, job, phase).and_then(|key| sizes.remove_entry(&key)) {
                sizes.insert(phase.key, size);
                virtually.rename(job.app, mistaken, phase.key);
            }
            let Some(size) = sizes.get_mut(&phase.key) else {
                let (source, task_s) = match hinted(sizes, job.app, phase, hints.size, virtually) {
                    Some(task_s) => (Source::Hint, task_s),
                    None if tasks < rules.training_tasks => (Source::Tiny, 0.0),
                    None => (Source::Initial, estimator.initial(self.history.expected(phase))),
                };
                let first_s = Some(task_s).filter(|_| source == Source::Initial);
                sizes.insert(
                    phase.key,
                    Size { source, task_s, own: None, first_s, tasks, guessed: false, open: phase.to_do() > 0 },
                );
                if source != Source::Tiny {
                    virtually.enter(job.app, weight, phase.key, Waves::new(tasks, task_s));
                }
                continue;
            };
            if size.tasks != tasks {
                // Tasks of a phase that had been done come back when their output was lost: if it is virtually done it
                // stays so (gap 38). Otherwise there is more to do, or less.
                let reopened = !size.open && tasks > size.tasks && virtually.is_done(job.app, phase.key);
                if size.source == Source::Hint {
                    size.task_s *= f64::from(size.tasks) / f64::from(tasks);
                    let task_s = size.task_s;
                    virtually.update(job.app, phase.key, |waves| waves.rescale(tasks, task_s));
                } else if !reopened {
                    virtually.update(job.app, phase.key, |waves| waves.set_tasks(tasks));
                }
                size.tasks = tasks;
            }
            size.open = phase.to_do() > 0;
            let first = first(phase, rules.training_tasks);
            match size.source {
                Source::Tiny if tasks >= rules.training_tasks => {
                    size.source = Source::Initial;
                    size.task_s = estimator.initial(self.history.expected(phase));
                    size.first_s = Some(size.task_s);
                    virtually.enter(job.app, weight, phase.key, Waves::new(tasks, size.task_s));
                }
                Source::Tiny => {
                    let old = |task: &&TaskView| matches!(task, TaskView::Running { worked, .. } if *worked >= rules.training_timeout);
                    let judged: Vec<TaskView> = first.iter().filter(old).copied().collect();
                    if let Some(learnt) = estimator.learn(&judged) {
                        virtually.enter(job.app, weight, phase.key, Waves::new(tasks, learnt.task_s));
                        size.settle(learnt, phase, virtually, job.app, false);
                    }
                }
                Source::Initial | Source::Training | Source::Hint => {
                    if size.source == Source::Initial && !first.is_empty() {
                        size.source = Source::Training;
                    }
                    let all_there =
                        first.len() >= rules.training_tasks as usize || phase.to_do() <= phase.held + phase.suspended;
                    if let Some(learnt) = Some(first).filter(|_| all_there).and_then(|first| estimator.learn(first)) {
                        // What others tell is worth more than that nobody says how far these are, until that is used up.
                        match self.history.expected(phase) {
                            Some(Expected::OfItsClass(_) | Expected::OfOthers(_)) if learnt.guessed => {
                                (size.source, size.guessed) = (Source::Final, true);
                            }
                            _ => size.settle(learnt, phase, virtually, job.app, rules.retain_ageing),
                        }
                    }
                }
                Source::Final if size.guessed && size.open => match Sample::finished(phase) {
                    Some(own) if phase.finished >= rules.training_tasks => {
                        (size.task_s, size.own, size.guessed) = (own.task_s, Some(own), false);
                        virtually.update(job.app, phase.key, |waves| waves.retain(own.task_s));
                    }
                    None if virtually.is_done(job.app, phase.key) => {
                        if let Some(learnt) = estimator.learn(first) {
                            size.settle(learnt, phase, virtually, job.app, false);
                        }
                    }
                    _ => {}
                },
                // It has fallen silent.
                Source::Told => size.source = Source::Initial,
                Source::Final => {}
            }
        }
    }

    /// A job that has had, in the virtual cluster, all that its user asked for and is not done is sized like any other: a hint makes nobody
    /// late.
    fn use_up_hint(&mut self, app: AppId, virtually: &VirtualCluster) {
        let Some(sizes) = self.jobs.get_mut(&app) else { return };
        let is_hinted = |size: &Size| size.source == Source::Hint;
        if sizes.iter().any(|(key, size)| is_hinted(size) && virtually.is_done(app, *key)) {
            sizes.values_mut().filter(|size| is_hinted(size)).for_each(|size| size.source = Source::Initial);
        }
    }

    /// What is known of all jobs that are there, once they are observed, counts for all whose phases are not trained: nobody is corrected
    /// alone.
    pub fn follow(&mut self, jobs: &[JobView], supply: &Supply<'_>, virtually: &mut VirtualCluster) {
        let told = |app: AppId, phase: &PhaseView| match self.jobs.get(&app)?.get(&phase.key)? {
            Size { source: Source::Final, guessed: false, own, .. } => *own,
            Size { source: Source::Tiny, .. } => Sample::finished(phase),
            _ => None,
        };
        self.history.look(jobs, told);
        let estimator = estimator(supply);
        for (job, phase) in jobs.iter().flat_map(|job| job.phases.iter().map(move |phase| (job, phase))) {
            let size = self.jobs.get_mut(&job.app).and_then(|sizes| sizes.get_mut(&phase.key));
            let Some(size) = size else { continue };
            let task_s = match (size.source, size.own) {
                (Source::Initial | Source::Training, _) => estimator.initial(self.history.expected(phase)),
                (Source::Final, Some(own)) if !size.guessed => self.history.among(phase, own),
                _ => continue,
            };
            // A trained phase's place in the virtual cluster is not changed for less than anybody knows.
            let known_by_s = if size.source == Source::Final { SURE * task_s } else { 0.0 };
            if (size.task_s - task_s).abs() > known_by_s {
                size.task_s = task_s;
                virtually.update(job.app, phase.key, |waves| waves.retain(task_s));
            }
        }
    }

    /// What the job really has left, in seconds of the partition: by its tasks that are done, or by its sizes before any is.
    pub fn left_s(&self, job: &JobView) -> f64 {
        job.phases.iter().map(|phase| Left::of_tasks_s(phase, self.task_left_s(job, phase))).sum()
    }

    /// What a task of the phase takes, by those that are done, or by its size before any is.
    fn task_left_s(&self, job: &JobView, phase: &PhaseView) -> f64 {
        Sample::finished(phase).map_or_else(|| self.task_s(job, phase), |own| self.history.among(phase, own))
    }

    /// By how much that may be wrong.
    pub fn error_left_s(&self, job: &JobView) -> f64 {
        job.phases.iter().map(|phase| Left::error_s(phase, self.task_s(job, phase))).sum()
    }

    /// What a task of the phase takes, by its size.
    pub fn guess(&self, job: &JobView, phase: &PhaseView) -> Guess {
        let is_sure = |size: &Size| match size.source {
            Source::Hint | Source::Told => true,
            Source::Final => !size.guessed,
            Source::Tiny | Source::Training | Source::Initial => false,
        };
        Guess { task_s: self.task_s(job, phase), is_sure: self.size(job, phase).is_some_and(is_sure) }
    }

    /// By how much its size may be wrong, in seconds of the partition.
    pub fn error_s(&self, job: &JobView) -> f64 {
        job.phases.iter().map(|phase| size_error_s(phase, self.task_s(job, phase))).sum()
    }

    fn task_s(&self, job: &JobView, phase: &PhaseView) -> f64 {
        self.size(job, phase).map_or(0.0, |size| size.task_s)
    }

    fn size(&self, job: &JobView, phase: &PhaseView) -> Option<&Size> {
        self.jobs.get(&job.app)?.get(&phase.key)
    }

    /// Whether time alone may tell more about the job: one of its phases is not sized for good, or it was never seen.
    pub fn may_learn(&self, app: AppId) -> bool {
        let sizes = self.jobs.get(&app);
        let is_sure = |size: &Size| matches!(size.source, Source::Final | Source::Told) && !size.guessed;
        sizes.is_none_or(|sizes| sizes.values().any(|size| size.open && !is_sure(size)))
    }

    /// Whether nothing but tiny phases is to be done, or nothing is known of the job yet.
    pub fn is_tiny(&self, job: &JobView) -> bool {
        let open = |phase: &&PhaseView| phase.left() > 0;
        let sizes = self.jobs.get(&job.app);
        job.phases
            .iter()
            .filter(open)
            .all(|phase| sizes.and_then(|sizes| sizes.get(&phase.key)).is_none_or(|size| size.source == Source::Tiny))
    }

    /// What the job needs for training, if one of its phases is not trained.
    pub fn training(&self, job: &JobView, supply: &Supply<'_>) -> Option<Trainee> {
        let sizes = self.jobs.get(&job.app)?;
        let mut trainee = Trainee::default();
        for phase in &job.phases {
            let size = sizes.get(&phase.key).filter(|size| size.source >= Source::Hint);
            // From a task that waits for maps nothing is learnt: it comes when it is its job's turn. So it does where earlier jobs
            // have told the size already.
            let may_train = phase.left() > 0 && !phase.gated && !self.history.tells(phase);
            let Some(size) = size.filter(|_| may_train) else { continue };
            let rules = &supply.settings.hfsp;
            let first = first(phase, rules.training_tasks);
            let finished = first.iter().filter(|task| matches!(task, TaskView::Finished { .. })).count() as u32;
            // After the time-out its progress has told what it can.
            let trains = |task: &&TaskView| matches!(task, TaskView::Running { worked, runs: true, .. } if *worked < rules.training_timeout);
            let train = first.iter().filter(trains).count() as u32;
            let wanted = (rules.training_tasks - finished).min(phase.left()).max(train);
            trainee.size_s += size.task_s * f64::from(size.tasks) * phase.one;
            trainee.advanced += first.len() as u32;
            trainee.differs |= self.history.differs(phase);
            let told = matches!(self.history.expected(phase), Some(Expected::OfItsClass(_) | Expected::OfOthers(_)));
            let task_s = if told { size.task_s } else { size.task_s.min(rules.training_timeout.seconds()) };
            trainee.task_s = trainee.task_s.max(task_s);
            trainee.phases.push(Untrained { train, wanted, one: phase.one });
        }
        (!trainee.phases.is_empty()).then_some(trainee)
    }

    /// A job has left: what it teaches about others is kept. Whether its work was done. What its user said of it holds no longer: it
    /// would take its share until the virtual cluster had given it all that.
    pub fn depart(&mut self, app: AppId, phases: &[PhaseView], virtually: &mut VirtualCluster) -> bool {
        let Some(sizes) = self.jobs.remove(&app) else { return true };
        self.history.note(phases);
        let mut done = true;
        for phase in phases {
            let Some(size) = sizes.get(&phase.key) else { continue };
            done &= phase.finished >= size.tasks;
            let mean = phase.finished_task_s().unwrap_or(0.0);
            if size.source == Source::Hint {
                virtually.update(app, phase.key, |waves| waves.retain(mean));
            }
            if size.source == Source::Final && phase.finished > 0 {
                let first = size.first_s.map(|first| first / mean);
                self.errors.push_back(EstimateError {
                    app,
                    priority: phase.key.priority,
                    ratio: size.task_s / mean,
                    first,
                });
            }
        }
        while self.errors.len() > ERRORS {
            self.errors.pop_front();
        }
        done
    }

    /// Errors of past estimates, oldest first.
    pub fn errors(&self) -> Vec<EstimateError> {
        self.errors.iter().copied().collect()
    }

    /// The least certain rule by which one of the job's phases is sized, and its size in seconds of `total`.
    pub fn explain(&self, app: AppId, total: Resource) -> Option<(&'static str, f64)> {
        let sizes = self.jobs.get(&app)?;
        let open = || sizes.iter().filter(|(_, size)| size.open);
        let of =
            |(key, size): (&PhaseKey, &Size)| size.task_s * f64::from(size.tasks) * key.resource.dominant_share(total);
        let source = open().map(|(_, size)| size.source).max().unwrap_or(Source::Tiny);
        Some((source.name(), sizes.iter().map(of).fold(0.0, |sum, size| sum + size)))
    }
}

impl Size {
    /// The phase's size is known now: S_f, what its tasks that are not done have left.
    fn settle(&mut self, learnt: Learnt, phase: &PhaseView, virtually: &mut VirtualCluster, app: AppId, retain: bool) {
        (self.source, self.task_s, self.guessed) = (Source::Final, learnt.task_s, learnt.guessed);
        self.own = Some(Sample { task_s: learnt.task_s, tasks: f64::from(learnt.tasks) });
        let untouched = phase.tasks().saturating_sub(learnt.tasks);
        virtually.update(app, phase.key, |waves| {
            if retain {
                waves.retain(learnt.task_s);
            } else {
                waves.replace(learnt.task_s, untouched, learnt.begun, learnt.left_s);
            }
        });
    }
}

/// The phase as it was thought to be while it was to come, with containers of another size.
fn mistaken(sizes: &BTreeMap<PhaseKey, Size>, job: &JobView, phase: &PhaseView) -> Option<PhaseKey> {
    let like = |key: &&PhaseKey| (key.priority, key.partition) == (phase.key.priority, phase.key.partition);
    let is_gone = |key: &&PhaseKey| job.phases.iter().all(|phase| phase.key != **key);
    let is_new = !sizes.contains_key(&phase.key);
    sizes.keys().filter(like).find(is_gone).filter(|_| is_new).copied()
}

/// What a task of a phase takes that was not known before, in seconds, as the job's user says; `None` if nothing is said of it. A hint is
/// about the whole job: phases that are sized by it share it, a task like the other, and once those before are known the next gets what
/// they have left of it.
fn hinted(
    sizes: &mut BTreeMap<PhaseKey, Size>,
    app: AppId,
    phase: &PhaseView,
    hint: Option<SizeHint>,
    virtually: &mut VirtualCluster,
) -> Option<f64> {
    let hint = hint?;
    let tasks = f64::from(phase.tasks());
    let work = |sizes: &BTreeMap<PhaseKey, Size>, of: fn(&Size) -> bool| {
        let those = sizes.values().filter(|size| of(size));
        those.fold((0.0, 0.0), |(all_s, tasks), size| {
            (all_s + size.task_s * f64::from(size.tasks), tasks + f64::from(size.tasks))
        })
    };
    let (shared_s, others) = work(sizes, |size| size.source == Source::Hint);
    if others > 0.0 {
        let each = shared_s / (others + tasks);
        for (key, size) in sizes.iter_mut().filter(|(_, size)| size.source == Source::Hint) {
            size.task_s = each;
            virtually.update(app, *key, |waves| waves.rescale(size.tasks, each));
        }
        return Some(each);
    }
    let known = sizes.values().all(|size| size.source == Source::Final);
    let (before_s, _) = work(sizes, |_| true);
    Some((hint.task_seconds(phase.key.resource) - before_s) / tasks).filter(|each| known && *each > 0.0)
}

fn estimator(supply: &Supply<'_>) -> impl Estimator {
    let rules = &supply.settings.hfsp;
    Training {
        timeout: rules.training_timeout,
        caution: rules.untrained_factor,
        default_task: supply.settings.default_task,
    }
}

/// The training tasks of a phase: the first that started, whoever started them (gap 40).
fn first(phase: &PhaseView, training_tasks: u32) -> &[TaskView] {
    &phase.first[..phase.first.len().min(training_tasks as usize)]
}
