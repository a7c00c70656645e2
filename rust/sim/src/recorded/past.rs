//! What a log has of the cluster whose core was recorded: its nodes and queues, and the jobs from their first day to their last.

use std::io::Read;

use hiatus_background::hindsight::{Bounds, Onlooker, Past};
use hiatus_core::decision::Decision;
use hiatus_core::fact::Fact;
use hiatus_core::units::Millis;
use hiatus_wire::convert::{self, BadRecord};
use hiatus_wire::log::{Entry, Log, LogError};

use crate::cluster::Node;

/// What happened, and what of it cannot be simulated.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// The cluster, with the nodes when there were the most of them, and its jobs; times of submission count from the log's first
    /// step.
    pub past: Past,
    /// How often the core was given other properties than the first ones.
    pub reconfigured: u64,
    /// How often a node came, went or changed after there were the most.
    pub node_changes: u64,
    /// Nodes that are left out because their label makes them a partition of their own.
    pub labelled_nodes: u64,
    /// How often a container was suspended.
    pub suspensions: u64,
    /// How often one was killed by a decision.
    pub kills: u64,
}

/// What stops the reading.
#[derive(Debug, thiserror::Error)]
pub enum PastError {
    /// The log cannot be read on. What is before that is in the [`Account`] all the same.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A record is of another build.
    #[error(transparent)]
    Record(#[from] BadRecord),
    /// Properties are no JSON object of strings.
    #[error("the properties in the log are not a JSON object of strings: {0}")]
    Properties(#[from] serde_json::Error),
}

/// Reads a log into an [`Account`].
#[derive(Debug)]
struct Reader {
    account: Account,
    onlooker: Onlooker,
    first: Option<i64>,
    steps: u64,
    /// When there were the most of them, and how many that is.
    nodes: Vec<Node>,
    most: usize,
}

/// Reads a whole log. What could be read is returned even if the log ends badly, with why.
pub fn past<R: Read>(log: &mut Log<R>) -> (Account, Result<(), PastError>) {
    let onlooker = Onlooker::new(Bounds::NONE);
    let mut reader =
        Reader { account: Account::default(), onlooker, first: None, steps: 0, nodes: Vec::new(), most: 0 };
    let outcome = reader.read(log);
    (reader.finish(), outcome)
}

impl Reader {
    fn read<R: Read>(&mut self, log: &mut Log<R>) -> Result<(), PastError> {
        let mut facts = Vec::new();
        while let Some(entry) = log.next_entry()? {
            match entry {
                Entry::Configured { properties } if self.steps == 0 => {
                    self.account.past.properties = serde_json::from_str(properties)?;
                }
                Entry::Configured { .. } => self.account.reconfigured += 1,
                Entry::Stepped { now_ms } => {
                    let first = *self.first.get_or_insert(now_ms);
                    self.onlooker.step(Millis(u64::try_from(now_ms - first).unwrap_or_default()));
                    self.steps += 1;
                }
                Entry::Fact(record) => {
                    facts.clear();
                    convert::facts(record, &mut facts)?;
                    facts.iter().for_each(|fact| self.hear(fact));
                }
                Entry::Answer(record) => {
                    if let Some(Decision::Kill { container, .. }) = convert::decided(record) {
                        self.onlooker.killed(container);
                    }
                }
                Entry::Answered | Entry::Ended => {}
            }
        }
        Ok(())
    }

    fn hear(&mut self, fact: &Fact) {
        if matches!(fact, Fact::NodeRemoved { .. }) {
            self.keep_nodes();
            self.account.node_changes += 1;
        }
        self.account.suspensions += u64::from(matches!(fact, Fact::Demoted { .. }));
        self.onlooker.hear(fact);
        if matches!(fact, Fact::Node(_)) {
            let there = self.onlooker.nodes().len();
            self.account.node_changes += u64::from(there < self.most);
            self.most = self.most.max(there);
        }
    }

    fn keep_nodes(&mut self) {
        if self.onlooker.nodes().len() >= self.most {
            self.nodes = self.onlooker.nodes().cloned().collect();
        }
    }

    fn finish(mut self) -> Account {
        self.keep_nodes();
        let properties = std::mem::take(&mut self.account.past.properties);
        let past = Past { properties, nodes: self.nodes, ..self.onlooker.past() };
        Account { past, kills: self.onlooker.kills(), ..self.account }
    }
}
