//! What happened in the cluster, as told to the core. Facts are never questions and never contain policy; the core
//! believes them over anything it assumed.

pub use crate::side::{PerSide, Side};

use crate::predoop::Shuffle;
use crate::stages::{Executor, Stage};
use crate::units::{AppId, ContainerId, JobClass, Millis, NodeId, PartitionId, QueueId, Resource, UserId};

/// One thing that happened. Facts of one step are applied in the order given.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// A node joined, or its capacity, rack, partition or ability to suspend changed.
    Node(NodeFact),
    /// A node left; everything that ran there is gone with it.
    NodeRemoved {
        /// The node.
        node: NodeId,
    },
    /// A node reported in. What is decided now reaches it in the answer to its next heartbeat, and was obeyed at the one after.
    Heartbeat {
        /// The node.
        node: NodeId,
        /// Containers that the node says it has paused right now.
        paused: u32,
        /// Containers given out and not startable there yet: what they need is still in use.
        waiting: u32,
    },
    /// A queue appeared or its shares changed.
    Queue(QueueFact),
    /// A queue disappeared.
    QueueRemoved {
        /// The queue.
        queue: QueueId,
    },
    /// What a queue owns of one partition.
    QueueShare {
        /// The queue.
        queue: QueueId,
        /// The partition.
        partition: PartitionId,
        /// Guaranteed fraction of the whole partition, 0…1.
        guaranteed: f64,
        /// Maximum fraction of the whole partition, 0…1.
        maximum: f64,
    },
    /// What users may hold of a leaf queue; without it, as much as the queue.
    UserLimits {
        /// The queue.
        queue: QueueId,
        /// What each is sure of where others compete, as a fraction of what the queue holds (`minimum-user-limit-percent`), 0…1.
        sure: f64,
        /// What none gets more of, in times what the queue is guaranteed (`user-limit-factor`); infinite if nothing stands against it.
        most: f64,
    },
    /// An application was submitted or recovered.
    App(AppFact),
    /// The application, or one of its class, ran before. Optional: who has a history tells, before there are asks for tasks.
    Ran {
        /// The application that is there now.
        app: AppId,
        /// The earlier run.
        run: Run,
    },
    /// Tasks of an earlier run of the application's class took so long. Optional, too: policies begin with that.
    TasksTook {
        /// The application that is there now.
        app: AppId,
        /// The request priority of their containers.
        priority: i32,
        /// When that run ended, in milliseconds since 1970.
        at_ms: u64,
        /// Their mean working time, suspensions aside.
        each: Millis,
        /// How many there were.
        count: u32,
    },
    /// An application's priority (YARN's: larger is more important) or queue changed.
    AppChanged {
        /// The application.
        app: AppId,
        /// The leaf queue it is in now.
        queue: QueueId,
        /// Its YARN priority now.
        priority: i32,
    },
    /// The queue lets the application run (its ApplicationMaster is within the AM share), or no longer does.
    AppActive {
        /// The application.
        app: AppId,
        /// Whether its asks may be served.
        active: bool,
    },
    /// Somebody put an application aside by hand, or took it up again. While it is parked its asks rest, and its containers, the
    /// ApplicationMaster's aside, are suspended where that is possible. Told again when a core begins anew.
    AppParked {
        /// The application.
        app: AppId,
        /// Whether it is put aside.
        parked: bool,
    },
    /// The same for one container. It stays parked when its application is woken.
    ContainerParked {
        /// The container.
        container: ContainerId,
        /// Whether it is put aside.
        parked: bool,
    },
    /// An attempt of the application ended: its asks are gone, and its containers unless they are kept.
    AttemptEnded {
        /// The application.
        app: AppId,
        /// Whether containers live on into the next attempt.
        keep_containers: bool,
    },
    /// The application is over.
    AppRemoved {
        /// The application.
        app: AppId,
        /// Whether it did its work, so that its times are worth remembering.
        succeeded: bool,
    },
    /// All asks of the application follow anew in [`Fact::Asked`], and its blacklist in [`Fact::Blacklisted`]; what is not repeated is no
    /// longer wanted.
    AsksReplaced {
        /// The application.
        app: AppId,
    },
    /// The application takes no container on the node: it, or YARN for its ApplicationMaster, has blacklisted the node or its rack.
    Blacklisted {
        /// The application.
        app: AppId,
        /// The node.
        node: NodeId,
    },
    /// The application wants containers.
    Asked {
        /// The application.
        app: AppId,
        /// YARN request priority, partition and container size.
        phase: PhaseKey,
        /// How many containers.
        count: u32,
        /// Where it wants them.
        places: Places,
    },
    /// A container was given out, or found running when the ResourceManager or node came back.
    Allocated(ContainerFact),
    /// The node started the container.
    Launched {
        /// The container.
        container: ContainerId,
    },
    /// A task said how much of its work is done. Optional: whoever can ask, tells.
    Progress {
        /// The container.
        container: ContainerId,
        /// Part of its own work done, 0…1; `None` if it has not begun that, but waits for other tasks or fetches what they made.
        done: Option<f64>,
    },
    /// A task of a MapReduce job said where it is. Optional: without it the job lends nothing.
    TaskReport {
        /// The container.
        container: ContainerId,
        /// What it said.
        report: TaskReport,
    },
    /// An application said how many tasks of one kind it has, whether or not it has asked for their containers yet. Optional, too.
    Tasks {
        /// The application.
        app: AppId,
        /// The request priority of their containers.
        priority: i32,
        /// How many there are, done or not.
        total: u32,
        /// How many of them are done.
        done: u32,
    },
    /// An application whose containers do not end with their tasks told of its stages, one after the other. Optional, too.
    Stage {
        /// The application.
        app: AppId,
        /// What it told.
        stage: Stage,
    },
    /// An application told what an executor is worth to it. Optional, too.
    Executor {
        /// The container.
        container: ContainerId,
        /// What it told.
        executor: Executor,
    },
    /// The container no longer counts against its queue and node: it may be paused whenever its room is needed.
    Demoted {
        /// The container.
        container: ContainerId,
    },
    /// The container counts again, and the node keeps it running.
    Promoted {
        /// The container.
        container: ContainerId,
    },
    /// The container ended.
    Completed {
        /// The container.
        container: ContainerId,
        /// How it ended.
        exit: Exit,
    },
    /// Placing containers of an application on a node was refused.
    AssignRejected {
        /// The application.
        app: AppId,
        /// The node.
        node: NodeId,
        /// Why.
        reason: Rejection,
    },
    /// Suspending, resuming or killing a container was refused.
    ContainerRejected {
        /// The container.
        container: ContainerId,
        /// Why.
        reason: Rejection,
    },
}

/// A node as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeFact {
    /// The node.
    pub node: NodeId,
    /// What it offers to containers.
    pub total: Resource,
    /// Its partition.
    pub partition: PartitionId,
    /// Whether the partition's idle room may serve asks of the default partition.
    pub shareable: bool,
    /// Whether its executor announced that it can suspend containers.
    pub can_suspend: bool,
    /// Whether it is being decommissioned: it leaves as soon as nothing runs there, or when its time is over.
    pub decommissioning: bool,
    /// What its RAM and its swap hold together, in MiB; `None` if it did not say.
    pub ram_and_swap_mb: Option<i64>,
    /// On which side of a mixed cluster it is, if it is on any.
    pub side: Option<Side>,
}

/// An application that ran on one side of the cluster, as history has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Whether it was of the application's own class ([`job_class`](crate::recurring::job_class)).
    pub same_class: bool,
    /// Where it ran.
    pub side: Side,
    /// When it ended, in milliseconds since 1970.
    pub at_ms: u64,
    /// How long it took, from the start of its ApplicationMaster on: what it waited before that says nothing of the side.
    pub took: Millis,
    /// Nodes of that side then.
    pub nodes: u32,
    /// Bytes of its input.
    pub input: u64,
}

/// A queue as it is now; its shares come in [`Fact::QueueShare`].
#[derive(Clone, Debug, PartialEq)]
pub struct QueueFact {
    /// The queue.
    pub queue: QueueId,
    /// Its parent; the root has none.
    pub parent: Option<QueueId>,
    /// Full path, as in `root.a.b`: the key of its settings.
    pub path: String,
    /// Whether other queues may take resources from it (the administrator's `disable_preemption` is off).
    pub preemptable: bool,
    /// Whether its own jobs may take them from each other (`intra-queue-preemption.disable_preemption` is off, too).
    pub preemptable_within: bool,
}

/// The application type of MapReduce's jobs, whose request priorities tell maps from reduces.
pub const MAP_REDUCE: &str = "MAPREDUCE";

/// An application at its submission or recovery.
#[derive(Clone, Debug, PartialEq)]
pub struct AppFact {
    /// The application.
    pub app: AppId,
    /// The leaf queue.
    pub queue: QueueId,
    /// The user.
    pub user: UserId,
    /// YARN priority: larger is more important.
    pub priority: i32,
    /// The time of day when this is told, in milliseconds since 1970: what absolute deadlines refer to.
    pub told_at_ms: u64,
    /// Name for explanations, as in `application_1_0001`.
    pub name: String,
    /// Which jobs it is a run of, see [`class_id`](crate::recurring::class_id).
    pub class: JobClass,
    /// Application tags, in which users leave hints.
    pub tags: Vec<String>,
    /// Whether its ApplicationMaster runs outside of the cluster's containers, so that all it asks for is for tasks.
    pub unmanaged: bool,
    /// Its YARN application type, as in [`MAP_REDUCE`] or `SPARK`.
    pub application_type: String,
}

/// A container at its allocation or recovery.
#[derive(Clone, Debug, PartialEq)]
pub struct ContainerFact {
    /// The container.
    pub container: ContainerId,
    /// Its application.
    pub app: AppId,
    /// Where it is.
    pub node: NodeId,
    /// The phase that asked for it.
    pub phase: PhaseKey,
    /// Whether it is the ApplicationMaster.
    pub is_master: bool,
    /// Where it is in its life.
    pub state: Found,
}

/// What state a container is in when the core first hears of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Just given out, an ask was spent on it.
    New,
    /// Recovered, running and counted.
    Running,
    /// Recovered, demoted: it was suspended when the ResourceManager went down.
    Suspended,
}

/// Where an application wants containers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Places {
    /// At hosts or racks that it names, or elsewhere in the end.
    #[default]
    Named,
    /// On any node as well as on any other.
    Anywhere,
    /// Where something is that the core knows nothing of, such as another kind of resource or one certain host. They are offered what
    /// room there is; none is made for them, as it may not be what they lack.
    Unjudged,
}

/// What distinguishes phases of one application: MapReduce's maps (priority 20) and reduces (10) fall out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhaseKey {
    /// YARN request priority; a smaller number goes first.
    pub priority: i32,
    /// The partition asked for.
    pub partition: PartitionId,
    /// Size of one container.
    pub resource: Resource,
}

impl PhaseKey {
    /// Request priority with which MapReduce asks for maps.
    pub const MAPS: i32 = 20;

    /// With which it asks for maps again that failed: before all else.
    const FAILED_MAPS: i32 = 5;

    /// With which it asks for reduces.
    pub const REDUCES: i32 = 10;

    /// Whether a MapReduce job asks for maps with it.
    pub fn is_of_maps(&self) -> bool {
        matches!(self.priority, PhaseKey::MAPS | PhaseKey::FAILED_MAPS)
    }

    /// Whether a MapReduce job asks for reduces with it.
    pub fn is_of_reduces(&self) -> bool {
        self.priority == PhaseKey::REDUCES
    }

    /// Where MapReduce wants such containers: maps have their input somewhere.
    pub fn places(&self) -> Places {
        if self.is_of_maps() {
            Places::Named
        } else {
            Places::Anywhere
        }
    }
}

/// Where a task of a MapReduce job says it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TaskReport {
    /// A map.
    Map {
        /// The part of its input that it has read, 0…1.
        read: f64,
        /// Whether it sorts and writes what it made, which must not be interrupted.
        partitions: bool,
    },
    /// A reduce: how far it is with fetching what maps made.
    Shuffle(Shuffle),
}

impl TaskReport {
    /// Whether it can be true.
    pub fn is_sensible(&self) -> bool {
        match self {
            TaskReport::Map { read, .. } => (0.0..=1.0).contains(read),
            TaskReport::Shuffle(Shuffle { fetched, done, total }) => fetched <= done && done <= total,
        }
    }
}

/// How a container ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It did its work.
    Succeeded,
    /// It failed by itself.
    Failed,
    /// It was killed, lost or released.
    Killed,
}

/// Why a decision was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rejection {
    /// The application waits for a more local node (delay scheduling).
    Locality,
    /// A limit of CapacityScheduler: queue maximum, user limit, placement constraint, blacklist.
    Limit,
    /// The container does not fit there by the ResourceManager's own books.
    Room,
    /// Application, node or container is gone, or its state forbids it.
    Gone,
    /// The decision was only observed (mode `observe`).
    Observed,
}
