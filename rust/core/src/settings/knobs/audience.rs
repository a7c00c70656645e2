//! Which knobs an administrator may want, and which only studies set: the two tables of `docs/operations.md` beside that of all others.

/// The ten that the page begins with.
pub const FIRST: [&str; 10] = [
    "mode",
    "policy",
    "preemption",
    "suspend-types",
    "preemption-within",
    "max-suspended-memory",
    "max-suspension-ms",
    "max-am-share",
    "hints",
    "lend",
];

/// Those that experiments set, to do as a paper does or to see what a part is worth. A cluster has no reason to.
pub const OF_STUDIES: [&str; 29] = [
    // Costs of killing and waiting, for `adaptive`.
    "kill-before-ms",
    "wait-before-end-ms",
    // How Predoop's lenders wait.
    "lend-wait",
    // How HFSP learns sizes.
    "training-tasks",
    "training-share",
    "training-slots",
    "training-preempts",
    "untrained-factor",
    "after-training",
    "late-jobs",
    "ageing-speed",
    // How often FLEX decides.
    "flex-epoch-ms",
    // BatchMR's estimators.
    "batchmr-key",
    "batchmr-cluster-size",
    "batchmr-data-size",
    "batchmr-alpha",
    "batchmr-samples",
    "batchmr-sampling-timeout-ms",
    "batchmr-task-input",
    // GP's rule of starvation.
    "gp-max-kills",
    "gp-interval-ms",
    "gp-period-ms",
    "gp-busy-share",
    "gp-busy-time",
    "gp-quality",
    "gp-single-job",
    "gp-long-task-ms",
    "gp-first-part",
    "gp-timeout-ms",
];
