//! What goes wrong, and how often. All probabilities are per opportunity; none by default.

/// Fault injection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Faults {
    /// A sound Assign is refused.
    pub refuse_assign: f64,
    /// A sound Suspend, Resume or Kill is refused.
    pub refuse_container: f64,
    /// A decision is neither carried out nor refused.
    pub ignore: f64,
    /// The answer to a heartbeat is lost: the node asks again one heartbeat later.
    pub lose_answer: f64,
    /// A node stays silent for a while after a heartbeat.
    pub silence: f64,
    /// A node is lost at a heartbeat, with all it runs.
    pub lose_node: f64,
    /// A node changes its capacity or partition at a heartbeat.
    pub change_node: f64,
    /// A task fails instead of succeeding.
    pub fail_task: f64,
    /// An ApplicationMaster dies when one of its tasks ends.
    pub fail_master: f64,
    /// An ApplicationMaster asks at a tick for what it was given and has not heard of, too, until the next tick.
    pub ask_again: f64,
    /// A fact is told twice.
    pub double_fact: f64,
    /// A completion is told late.
    pub late_fact: f64,
    /// A fact about something nobody knows is told.
    pub unknown_fact: f64,
    /// A job changes its queue or priority at a tick.
    pub change_job: f64,
    /// A job is parked, or woken, at a tick.
    pub park_job: f64,
    /// The ResourceManager restarts at a tick.
    pub restart: f64,
}

impl Faults {
    /// Everything, at rates at which work still gets done.
    pub const ALL: Faults = Faults {
        refuse_assign: 0.05,
        refuse_container: 0.05,
        ignore: 0.02,
        lose_answer: 0.05,
        silence: 0.005,
        lose_node: 0.002,
        change_node: 0.002,
        fail_task: 0.03,
        fail_master: 0.01,
        ask_again: 0.1,
        double_fact: 0.05,
        late_fact: 0.05,
        unknown_fact: 0.05,
        change_job: 0.02,
        park_job: 0.02,
        restart: 0.002,
    };
}
