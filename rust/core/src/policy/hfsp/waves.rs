//! A phase in the virtual cluster: many equal tasks, kept as a few numbers. Tasks in progress advance in lockstep, as one
//! *wave*; those that join it later are averaged in. So a phase costs the same with ten tasks as with ten thousand, and
//! still has the parallelism of the tasks it has left (HFSP thesis, section 4.3).

/// What counts as nothing, in tasks and in seconds: far below what anybody could see.
const NOTHING: f64 = 1e-9;

/// The tasks of a phase, as far as they are served in the virtual cluster. Work is in seconds of one container.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Waves {
    /// Work of one task.
    task_s: f64,
    /// All tasks.
    tasks: u32,
    /// Tasks that are virtually done.
    done: u32,
    /// Tasks in progress.
    wave: u32,
    /// What each of those has left.
    left_s: f64,
    /// Service received in all.
    served_s: f64,
}

impl Waves {
    /// `tasks` tasks of `task_s` seconds each, none begun.
    pub fn new(tasks: u32, task_s: f64) -> Waves {
        Waves { tasks, task_s, ..Waves::default() }
    }

    /// Tasks that are not virtually done: no more containers than these can serve it.
    pub fn tasks_left(&self) -> u32 {
        if self.task_s > 0.0 {
            self.tasks.saturating_sub(self.done)
        } else {
            0
        }
    }

    /// Work left.
    pub fn remaining_s(&self) -> f64 {
        f64::from(self.wave) * self.left_s + f64::from(self.waiting()) * self.task_s
    }

    /// The tasks have turned out to be so many. What is done stays done.
    pub fn set_tasks(&mut self, tasks: u32) {
        self.tasks = tasks;
        self.wave = self.wave.min(tasks.saturating_sub(self.done));
    }

    /// The same work has turned out to be of so many tasks, of `task_s` seconds each.
    pub fn rescale(&mut self, tasks: u32, task_s: f64) {
        let done = if self.tasks > 0 { f64::from(self.done) / f64::from(self.tasks) } else { 0.0 };
        let of_wave = self.left_s * f64::from(self.wave);
        self.tasks = tasks;
        self.task_s = task_s;
        self.done = (done * f64::from(tasks)) as u32;
        self.wave = self.wave.min(tasks - self.done);
        self.left_s = if self.wave > 0 { (of_wave / f64::from(self.wave)).min(task_s) } else { 0.0 };
    }

    /// The size is known better now: `untouched` tasks of `task_s` seconds are left, and `begun` ones with `left_s`
    /// seconds each. What was served before does not count but as what is done of them (gap 11, `replace`).
    pub fn replace(&mut self, task_s: f64, untouched: u32, begun: u32, left_s: f64) {
        self.done = self.tasks.saturating_sub(untouched + begun);
        (self.task_s, self.wave, self.left_s) = (task_s, begun, left_s);
        self.served_s = (f64::from(self.tasks) * task_s - self.remaining_s()).max(0.0);
    }

    /// The size is known better now, and what was served before still counts (gap 11, `retain-ageing`).
    pub fn retain(&mut self, task_s: f64) {
        let done = if task_s > 0.0 { (self.served_s / task_s).min(f64::from(self.tasks)) } else { 0.0 };
        self.done = done as u32;
        self.wave = u32::from(self.done < self.tasks && done.fract() > NOTHING);
        self.left_s = task_s * (1.0 - done.fract());
        self.task_s = task_s;
    }

    /// Begins as many tasks as `containers` (a whole number or not) can serve.
    pub fn begin(&mut self, containers: f64) {
        let more = whole(containers).saturating_sub(self.wave).min(self.waiting());
        if more > 0 {
            let left = self.left_s * f64::from(self.wave) + self.task_s * f64::from(more);
            self.wave += more;
            self.left_s = left / f64::from(self.wave);
        }
    }

    /// Time after which it has fewer tasks left than `containers`, or none, if it is served by so many from now on.
    pub fn seconds_to_change(&self, containers: f64) -> f64 {
        let side_by_side = f64::from(whole(containers));
        let first = self.left_s * f64::from(self.wave) / containers;
        let waiting = f64::from(self.waiting());
        if waiting < containers - NOTHING {
            return first;
        }
        let waves = ((waiting - containers + NOTHING) / side_by_side).floor() + 1.0;
        first + waves * side_by_side * self.task_s / containers
    }

    /// Serves it by `containers` for `seconds`, no longer than [`Waves::seconds_to_change`].
    pub fn serve(&mut self, containers: f64, seconds: f64) {
        let mut work = containers * seconds;
        self.served_s += work;
        let of_wave = self.left_s * f64::from(self.wave);
        if work < of_wave - NOTHING {
            self.left_s -= work / f64::from(self.wave);
            return;
        }
        work = (work - of_wave).max(0.0);
        self.done += self.wave;
        (self.wave, self.left_s) = (0, 0.0);
        let side_by_side = whole(containers).max(1);
        let of_wave = self.task_s * f64::from(side_by_side);
        if of_wave <= 0.0 {
            return;
        }
        let waves = ((work + NOTHING) / of_wave).floor().min(f64::from(self.waiting() / side_by_side));
        self.done += waves as u32 * side_by_side;
        work = (work - waves * of_wave).max(0.0);
        self.wave = side_by_side.min(self.waiting());
        if self.wave > 0 {
            self.left_s = (self.task_s - work / f64::from(self.wave)).max(0.0);
        }
    }

    /// Tasks not begun.
    fn waiting(&self) -> u32 {
        self.tasks_left().saturating_sub(self.wave)
    }
}

/// How many tasks run side by side in so many containers.
fn whole(containers: f64) -> u32 {
    (containers - NOTHING).ceil().max(0.0) as u32
}
