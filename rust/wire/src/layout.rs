//! The one definition of every record that crosses the boundary. The Java side is generated from it by
//! `cargo run -p hiatus-jni --bin generate-records`; a test fails when the generated file is stale.
//!
//! A record is little-endian: kind (u32), length of the whole record in bytes (u32), its fields without padding, then
//! UTF-8 text up to the length. Facts travel from Java to Rust, answers from Rust to Java; marks stand between them in a log.

/// A type of field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// 32 bits.
    U32,
    /// 32 bits, signed.
    I32,
    /// 64 bits, signed.
    I64,
    /// 64 bits, floating point.
    F64,
}

/// Bytes of kind and length before the fields.
pub const HEADER: usize = 8;

/// What a step returns, beside the bytes of its answers: set if another step is worth while before there are new facts.
pub const MORE: i64 = 1 << 32;
/// And this if the core said something that is to be fetched.
pub const SAID: i64 = 1 << 33;
/// And this while reduces of any queue lend their room: then it matters where every task is.
pub const LENDS: i64 = 1 << 34;
/// And this if applications wait to be let in, and their order was computed anew.
pub const ADMITS: i64 = 1 << 35;

/// A record's layout, as generators see it.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Name in both languages.
    pub name: &'static str,
    /// What it says.
    pub doc: &'static str,
    /// Number that tells it from all others.
    pub kind: u32,
    /// Fields in order.
    pub fields: &'static [(&'static str, Type)],
    /// Whether text follows the fields.
    pub text: bool,
}

/// Something with a fixed layout.
pub trait Record: Sized {
    /// Its layout.
    const LAYOUT: Layout;
    /// Its fields from the bytes that follow the header, and the text behind them; `None` if they are too few or the
    /// text is no UTF-8.
    fn read(bytes: &[u8]) -> Option<(Self, &str)>;
    /// Appends the whole record.
    fn write(&self, text: &str, out: &mut Vec<u8>);
}

macro_rules! type_of {
    (u32) => {
        Type::U32
    };
    (i32) => {
        Type::I32
    };
    (i64) => {
        Type::I64
    };
    (f64) => {
        Type::F64
    };
}

macro_rules! records {
    ($all:ident: $($(#[doc = $doc:literal])* $kind:literal $name:ident $(+ $text:ident)? { $($field:ident: $type:ident),* $(,)? })*) => {
        $(
            $(#[doc = $doc])*
            #[allow(missing_docs, reason = "the fields are those of the fact or answer of the same name")]
            #[derive(Clone, Copy, Debug, PartialEq)]
            pub struct $name { $(pub $field: $type),* }

            impl $name {
                /// Number that tells it from all others.
                pub const KIND: u32 = $kind;
            }

            impl Record for $name {
                const LAYOUT: Layout = Layout {
                    name: stringify!($name),
                    doc: concat!($($doc),*),
                    kind: $kind,
                    fields: &[$((stringify!($field), type_of!($type))),*],
                    text: !concat!("", $(stringify!($text))?).is_empty(),
                };

                fn read(bytes: &[u8]) -> Option<(Self, &str)> {
                    #[allow(unused_mut, reason = "a record may have no fields")]
                    let mut at = 0;
                    $(
                        let (field, _) = bytes.get(at..)?.split_first_chunk::<{ size_of::<$type>() }>()?;
                        let $field = $type::from_le_bytes(*field);
                        at += size_of::<$type>();
                    )*
                    Some((Self { $($field),* }, std::str::from_utf8(bytes.get(at..)?).ok()?))
                }

                fn write(&self, text: &str, out: &mut Vec<u8>) {
                    let length = HEADER $(+ size_of::<$type>() + 0 * stringify!($field).len())* + text.len();
                    out.extend_from_slice(&u32::to_le_bytes($kind));
                    out.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
                    $(out.extend_from_slice(&self.$field.to_le_bytes());)*
                    out.extend_from_slice(text.as_bytes());
                }
            }
        )*
        /// Layouts of this direction, in the order of their kinds.
        pub const $all: &[Layout] = &[$($name::LAYOUT),*];
    };
}

records! { FACTS:
    #[doc = "A node, what it offers, and what its RAM and swap hold together, 0 if unknown; flags: 1 its partition may be shared, 2 it can suspend, 4 it is being decommissioned, 8 it is on the physical side of a mixed cluster, 16 on the virtual one."]
    1 Node { node: u32, memory_mb: i64, vcores: i64, partition: u32, flags: u32, ram_and_swap_mb: i64 }
    #[doc = "A node left."]
    2 NodeRemoved { node: u32 }
    #[doc = "A node reported in, with so many containers paused and so many that cannot start yet."]
    3 Heartbeat { node: u32, paused: u32, waiting: u32 }
    #[doc = "A queue; its path is the text. Flags: 1 it has a parent, 2 others may take from it, 4 its own jobs may take from each other."]
    4 Queue + text { queue: u32, parent: u32, flags: u32 }
    #[doc = "A queue is gone."]
    5 QueueRemoved { queue: u32 }
    #[doc = "A queue's fractions of one partition."]
    6 QueueShare { queue: u32, partition: u32, guaranteed: f64, maximum: f64 }
    #[doc = "An application, told of so many ms after 1970; flags: 1 unmanaged; the number of the class of jobs that it is a run of; the text is its name, its type and its tags, one a line."]
    7 App + text { app: u32, queue: u32, user: u32, priority: i32, told_at_ms: i64, flags: u32, job_class: i64 }
    #[doc = "An application's queue or priority changed."]
    8 AppChanged { app: u32, queue: u32, priority: i32 }
    #[doc = "Whether the queue lets the application run (1) or not (0)."]
    9 AppActive { app: u32, active: u32 }
    #[doc = "An attempt ended; its containers live on (1) or not (0)."]
    10 AttemptEnded { app: u32, keep_containers: u32 }
    #[doc = "An application is over, and has done its work (1) or not (0)."]
    11 AppRemoved { app: u32, succeeded: u32 }
    #[doc = "All asks of the application follow anew, and the nodes that it has blacklisted."]
    12 AsksReplaced { app: u32 }
    #[doc = "The application wants so many containers, at places that it names (0), on any node (1), or where something is of which the core knows nothing (2)."]
    13 Asked { app: u32, priority: i32, partition: u32, memory_mb: i64, vcores: i64, count: u32, places: u32 }
    #[doc = "A container exists; flags: 1 ApplicationMaster; found: 0 new, 1 running, 2 suspended."]
    14 Allocated { container: u32, app: u32, node: u32, priority: i32, partition: u32, memory_mb: i64, vcores: i64, flags: u32, found: u32 }
    #[doc = "A node started the container."]
    15 Launched { container: u32 }
    #[doc = "The container was demoted."]
    16 Demoted { container: u32 }
    #[doc = "The container was promoted."]
    17 Promoted { container: u32 }
    #[doc = "The container ended; exit: 0 succeeded, 1 failed, 2 killed."]
    18 Completed { container: u32, exit: u32 }
    #[doc = "Assign was refused; reason: 0 locality, 1 limit, 2 room, 3 gone, 4 observed."]
    19 AssignRejected { app: u32, node: u32, reason: u32 }
    #[doc = "Suspend, Resume or Kill was refused; reasons as for AssignRejected."]
    20 ContainerRejected { container: u32, reason: u32 }
    #[doc = "Somebody put the application aside by hand (1) or took it up again (0)."]
    21 AppParked { app: u32, parked: u32 }
    #[doc = "The same for one container."]
    22 ContainerParked { container: u32, parked: u32 }
    #[doc = "A task said which part of its own work is done, 0 to 1; less than 0: it has not begun that."]
    23 Progress { container: u32, done: f64 }
    #[doc = "The application said how many tasks of a request priority it has, and how many of them are done."]
    24 Tasks { app: u32, priority: i32, total: u32, done: u32 }
    #[doc = "The application, or one of its class, ran before; flags: 1 of its class, 2 on virtual nodes; when it ended, in ms after 1970, how long it took, on how many nodes of that side, and the bytes of its input."]
    25 Ran { app: u32, flags: u32, at_ms: i64, took_ms: i64, nodes: u32, input: i64 }
    #[doc = "A map of a MapReduce job said which part of its input it has read, 0 to 1, and whether it sorts and writes what it made (1)."]
    26 MapTold { container: u32, read: f64, partitions: u32 }
    #[doc = "A reduce of a MapReduce job said of how many maps it has the output, how many are done, and how many there are."]
    27 ReduceTold { container: u32, fetched: u32, done: u32, total: u32 }
    #[doc = "So many tasks of that request priority took so long each in an earlier run of the application's class, which ended so many ms after 1970."]
    28 TasksTook { app: u32, priority: i32, at_ms: i64, each_ms: i64, count: u32 }
    #[doc = "Which fraction of a leaf queue each user is sure of, and how many times its guarantee none gets more of."]
    29 UserLimits { queue: u32, sure: f64, most: f64 }
    #[doc = "The application takes no container on the node."]
    30 Blacklisted { app: u32, node: u32 }
    #[doc = "An application whose containers do not end with their tasks told of a stage; flags: 1 the first of what it tells now, which takes the place of all before, 2 more may follow of which it does not know yet; the request priority of its containers, its tasks, those that run and are done, what each of these took, and how many a container runs at a time."]
    31 Stage { app: u32, flags: u32, priority: i32, tasks: u32, running: u32, done: u32, each_ms: i64, slots: u32 }
    #[doc = "An application told what an executor is worth to it: 0 it idles, 1 it has tasks, 2 it keeps what others may want of it."]
    32 Executor { container: u32, worth: u32 }
}

records! { ANSWERS:
    #[doc = "Give the application up to so many containers on the node, and no more than so much room."]
    101 Assign { app: u32, node: u32, count: u32, memory_mb: i64, vcores: i64 }
    #[doc = "Demote the container; reason: 0 its room is for the application `by`, 1 it is parked, 2 it lends its room, 3 its room is the lender's again, container `by`, 4 it was so and nobody knows why."]
    102 Suspend { container: u32, reason: u32, by: u32 }
    #[doc = "Promote the container."]
    103 Resume { container: u32 }
    #[doc = "Kill the container as a preempted one; cause: 0 its room is for the application `by`, 1 it was suspended for too long, 2 its node had no room for it for too long, 3 it was suspended and in the way of a container that could not start."]
    104 Kill { container: u32, cause: u32, by: u32 }
    #[doc = "Give the application one container of that request priority on the node, and none of any other: the room is lent."]
    105 Lend { app: u32, node: u32, priority: i32 }
    #[doc = "What concerns admission of an application: 0 it gives way and does not count, 1 it waits and has its ApplicationMaster, 2 it waits, in this order, 3 it does, and there is room for it beyond the limit."]
    106 Admission { app: u32, what: u32 }
    #[doc = "What the core knows of a node, for comparing the books."]
    110 NodeView { node: u32, used_memory_mb: i64, used_vcores: i64, counted: u32, suspended: u32 }
    #[doc = "What the core knows of an application, for comparing the books."]
    111 AppView { app: u32, pending: u32, counted: u32, suspended: u32 }
    #[doc = "Counters since the core was made; of the phases that ended lately, how many had been estimated and by which factor those estimates were off on average."]
    112 TallyView { suspended: i64, resumed: i64, rejected: i64, strange_facts: i64, claims_expired: i64, wasted_ms: i64, starvation_firings: i64, estimates: u32, estimate_off: f64 }
    #[doc = "What the jobs of a queue hold and want now, and for how long their containers have been suspended together. Of the phases that ended lately, how many had been estimated and by which factor those estimates were off on average."]
    113 QueueLoad { queue: u32, jobs: i64, running: i64, pending: i64, pending_mb: i64, suspended: i64, suspended_mb: i64, suspended_ms: i64, estimates: u32, estimate_off: f64 }
}

records! { MARKS:
    #[doc = "A log begins, of a build with this ABI number: it was then so many ms after 1970, and this on the clock of the steps."]
    201 Begun { abi: i32, at_ms: i64, now_ms: i64 }
    #[doc = "The core is made, or given other properties: the text is a JSON object of strings."]
    202 Configured + text { }
    #[doc = "A step at that time; its facts follow, then its answers."]
    203 Stepped { now_ms: i64 }
    #[doc = "These were all answers of the step."]
    204 Answered { }
    #[doc = "The log ends here as it should."]
    205 Ended { }
}

/// The ABI number: a hash of all layouts and of the product's version. Two builds with the same number understand each
/// other.
pub const ABI: i32 = {
    let mut hash = fnv(FNV_START, env!("CARGO_PKG_VERSION"));
    let mut direction = 0;
    while direction < 3 {
        let layouts = [FACTS, ANSWERS, MARKS][direction];
        let mut at = 0;
        while at < layouts.len() {
            let layout = &layouts[at];
            hash = fnv(fnv(hash, layout.name), layout.doc) ^ layout.kind;
            let mut field = 0;
            while field < layout.fields.len() {
                let (name, kind) = layout.fields[field];
                hash = fnv(hash, name) ^ kind as u32;
                field += 1;
            }
            at += 1;
        }
        direction += 1;
    }
    hash.cast_signed()
};

const FNV_START: u32 = 0x811c_9dc5;

const fn fnv(mut hash: u32, text: &str) -> u32 {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    hash
}
