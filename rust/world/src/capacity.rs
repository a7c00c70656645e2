//! Properties of CapacityScheduler's queues over the queues of a cluster: what an administrator would change in
//! `capacity-scheduler.xml`. What a simulated cluster does not honour is refused by name, and nothing is ignored.

use crate::spec::Queue;
use hiatus_core::settings::{CLUSTER_PREFIX, OF_RESOURCE_MANAGER, QUEUE_INFIX, QUEUE_PREFIX};
use hiatus_core::state::UserLimits;
use std::collections::{BTreeMap, BTreeSet};

/// By how much sums may differ from a whole; as CapacityScheduler has it.
const PRECISION: f64 = 0.0005;

/// The properties that are honoured, by their names behind a queue's path. None is the end of one that stands behind it.
pub const HONOURED: [&str; 8] = [
    QUEUES,
    MAXIMUM_CAPACITY,
    CAPACITY,
    SURE,
    MOST,
    MASTERS,
    "intra-queue-preemption.disable_preemption",
    "disable_preemption",
];
const QUEUES: &str = "queues";
const MAXIMUM_CAPACITY: &str = "maximum-capacity";
const CAPACITY: &str = "capacity";
const SURE: &str = "minimum-user-limit-percent";
const MOST: &str = "user-limit-factor";
const MASTERS: &str = "maximum-am-resource-percent";

/// Those that are honoured without a path as well: what leaf queues have that do not say otherwise.
const OF_ALL: [&str; 3] = [SURE, MOST, MASTERS];

/// A property that means nothing here, or nothing sensible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PropertyError {
    /// Nobody would read it.
    #[error(
        "{key}: simulations honour no such property; they do {CLUSTER_PREFIX}…, {QUEUE_PREFIX}QUEUE{QUEUE_INFIX}…, and of \
         CapacityScheduler's queues {}",
        HONOURED.join(", ")
    )]
    Unknown {
        /// Its whole name.
        key: String,
    },
    /// There is no ResourceManager to do it.
    #[error("{key}: is the ResourceManager's, and does nothing in a simulation")]
    OfResourceManager {
        /// Its whole name.
        key: String,
    },
    /// Its value is not what it may be.
    #[error("{key} = \"{value}\": must be {wanted}")]
    Value {
        /// Its whole name.
        key: String,
        /// What was found.
        value: String,
        /// What is allowed.
        wanted: &'static str,
    },
    /// It is of a queue that is not there.
    #[error("{key}: there is no queue {path}; queues: {queues}")]
    NoQueue {
        /// Its whole name.
        key: String,
        /// The queue's path.
        path: String,
        /// Those that are there.
        queues: String,
    },
    /// A new queue has nothing.
    #[error("{QUEUE_PREFIX}{path}.capacity: must be set, as {path} is new")]
    Missing {
        /// The queue's path.
        path: String,
    },
    /// Children have more or less than their parent.
    #[error("{QUEUE_PREFIX}{parent}.….capacity: the capacities of {parent}'s queues sum to {percent} %, and must to 100: {children}")]
    Sum {
        /// The parent's path.
        parent: String,
        /// What they sum to.
        percent: String,
        /// What each has.
        children: String,
    },
    /// Weights and percentages cannot be added.
    #[error("{QUEUE_PREFIX}{parent}.….capacity: either all of {parent}'s queues have weights or none has: {children}")]
    Mixed {
        /// The parent's path.
        parent: String,
        /// What each has.
        children: String,
    },
    /// A queue may not hold what it is guaranteed.
    #[error("{QUEUE_PREFIX}{path}.maximum-capacity: {path} is guaranteed {guaranteed} % of the cluster, and may grow to {maximum} % only")]
    Maximum {
        /// The queue's path.
        path: String,
        /// What it is guaranteed.
        guaranteed: String,
        /// What it may grow to.
        maximum: String,
    },
}

/// What a queue has of its parent's.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Share {
    Percent(f64),
    Weight(f64),
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Share::Percent(percent) => write!(f, "{} %", rounded(*percent)),
            Share::Weight(weight) => write!(f, "{weight}w"),
        }
    }
}

/// What is said of one queue.
#[derive(Clone, Debug, Default, PartialEq)]
struct Said {
    queues: Option<Vec<String>>,
    share: Option<Share>,
    /// Of its parent's maximum, 0…1.
    maximum: Option<f64>,
    sure: Option<f64>,
    most: Option<f64>,
    /// What ApplicationMasters may hold of its guarantee.
    masters: Option<f64>,
    preemptable: Option<bool>,
    allowed_within: Option<bool>,
}

/// Properties of queues, read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueProperties {
    /// By path.
    said: BTreeMap<String, Said>,
    /// For leaf queues that say nothing themselves.
    of_all: Said,
    /// A property of each path that is named, for whoever asks which is wrong.
    keys: BTreeMap<String, String>,
}

/// Tells the core's own properties from those of CapacityScheduler's queues.
///
/// # Errors
/// The first that is neither, or whose value is wrong. The core's own values are not looked at.
pub fn split(properties: &[(String, String)]) -> Result<(Vec<(String, String)>, QueueProperties), PropertyError> {
    let mut own = Vec::new();
    let mut queues = QueueProperties::default();
    for (key, value) in properties {
        let unknown = || PropertyError::Unknown { key: key.clone() };
        if let Some(knob) = key.strip_prefix(CLUSTER_PREFIX) {
            if OF_RESOURCE_MANAGER.contains(&knob) {
                return Err(PropertyError::OfResourceManager { key: key.clone() });
            }
            own.push((key.clone(), value.clone()));
            continue;
        }
        let name = key.strip_prefix(QUEUE_PREFIX).ok_or_else(unknown)?;
        let of = |known: &&str| name.strip_suffix(*known).and_then(|path| path.strip_suffix('.'));
        let known = HONOURED.iter().find_map(|known| Some((of(known)?, *known))).filter(|(path, _)| is_path(path));
        if OF_ALL.contains(&name) {
            queues.of_all.read(key, name, value)?;
        } else if let Some((path, known)) = known {
            queues.said.entry(path.to_owned()).or_default().read(key, known, value)?;
            queues.keys.insert(path.to_owned(), key.clone());
        } else {
            let (path, _) = name.rsplit_once(QUEUE_INFIX).ok_or_else(unknown)?;
            queues.keys.insert(path.to_owned(), key.clone());
            own.push((key.clone(), value.clone()));
        }
    }
    Ok((own, queues))
}

/// Whether it may be a queue's; parts of queues have properties of the same names, which are not honoured.
fn is_path(path: &str) -> bool {
    const PARTS: [&str; 3] = ["accessible-node-labels", "leaf-queue-template", "auto-queue-creation-v2"];
    let mut names = path.split('.');
    names.next() == Some("root") && names.all(|name| !PARTS.contains(&name))
}

impl Said {
    fn read(&mut self, key: &str, name: &str, value: &str) -> Result<(), PropertyError> {
        let value = value.trim();
        let wrong = |wanted| PropertyError::Value { key: key.to_owned(), value: value.to_owned(), wanted };
        let number = |low: f64, high: f64, wanted| {
            let number = value.parse().ok().filter(|number: &f64| (low..=high).contains(number));
            number.ok_or_else(|| wrong(wanted))
        };
        let unless_none = |high: f64, wanted| {
            if value == "-1" {
                return Ok(None);
            }
            number(0.0, high, wanted).map(Some)
        };
        match name {
            QUEUES => {
                let names: Vec<String> = value.split(',').map(|name| name.trim().to_owned()).collect();
                let one_each = names.iter().collect::<BTreeSet<_>>().len() == names.len();
                let good = one_each && names.iter().all(|name| !name.is_empty() && !name.contains('.'));
                self.queues = Some(names).filter(|_| good);
                self.queues
                    .as_ref()
                    .ok_or_else(|| wrong("names of queues without paths, with commas between them, each once"))?;
            }
            CAPACITY => {
                self.share = Some(Share::read(value).ok_or_else(|| {
                    wrong("a percentage from 0 to 100, or a weight such as 3w; absolute resources are not simulated")
                })?)
            }
            MAXIMUM_CAPACITY => {
                let percent = unless_none(
                    100.0,
                    "a percentage from 0 to 100, or -1 for no maximum; absolute resources are not simulated",
                )?;
                self.maximum = Some(percent.map_or(1.0, |percent| percent / 100.0));
            }
            SURE => self.sure = Some(number(0.0, 100.0, "a percentage from 0 to 100")? / 100.0),
            MOST => {
                let most = unless_none(f64::MAX, "a number from 0, or -1 for no limit")?;
                self.most = Some(most.unwrap_or(f64::INFINITY));
            }
            MASTERS => self.masters = Some(number(0.0, 1.0, "a number from 0 to 1")?),
            _ => {
                let disabled: bool = value.parse().map_err(|_| wrong("true or false"))?;
                let which = if name == "disable_preemption" { &mut self.preemptable } else { &mut self.allowed_within };
                *which = Some(!disabled);
            }
        }
        Ok(())
    }
}

impl Share {
    fn read(value: &str) -> Option<Share> {
        let number =
            |text: &str, most: f64| text.trim().parse().ok().filter(|number: &f64| (0.0..=most).contains(number));
        match value.strip_suffix('w') {
            Some(weight) => number(weight, f64::MAX).map(Share::Weight),
            None => number(value.strip_suffix('%').unwrap_or(value), 100.0).map(Share::Percent),
        }
    }
}

impl QueueProperties {
    /// Those queues, the root aside, as they are with these properties. ApplicationMasters may hold what a queue has of that already, or
    /// `master_share` of its guarantee if that is more; or what a property says.
    ///
    /// # Errors
    /// The first that CapacityScheduler would refuse, or that is of no queue.
    pub fn apply(&self, queues: &[Queue], master_share: f64) -> Result<Vec<Queue>, PropertyError> {
        let mut tree = Tree::of(queues);
        for (parent, names) in self.said.iter().filter_map(|(path, said)| Some((path, said.queues.as_ref()?))) {
            tree.replace(parent, names);
        }
        if let Some((path, key)) = self.keys.iter().find(|(path, _)| !tree.has(path)) {
            let (key, path, queues) = (key.clone(), path.clone(), tree.paths().join(", "));
            return Err(PropertyError::NoQueue { key, path, queues });
        }
        let mut all = Vec::new();
        if self.said.is_empty() {
            all.extend(tree.queues.into_values());
        } else {
            self.divide(&tree, &Queue::new("root", 1.0), &Queue::new("root", 1.0), &mut all)?;
        }
        // New ones come last, so that who comes first of equals is who it was.
        all.sort_by_key(|queue| queues.iter().position(|old| old.path == queue.path).unwrap_or(usize::MAX));
        Ok(all.into_iter().map(|queue| self.limited(queue, master_share)).collect())
    }

    fn of(&self, path: &str) -> Said {
        self.said.get(path).cloned().unwrap_or_default()
    }

    /// Divides what the parent has now among its queues, and so on; `before` is what it had.
    fn divide(&self, tree: &Tree, before: &Queue, now: &Queue, all: &mut Vec<Queue>) -> Result<(), PropertyError> {
        let children: Vec<&Queue> = tree.children(&now.path).collect();
        for (child, part) in children.iter().zip(self.parts(tree, before, now, &children)?) {
            let part_of = |whole: f64, part: f64| if whole > 0.0 { part / whole } else { 0.0 };
            let maximum = self.of(&child.path).maximum.unwrap_or_else(|| part_of(before.maximum, child.maximum));
            let (guaranteed, maximum) = (now.guaranteed * part, now.maximum * maximum);
            if guaranteed > maximum + PRECISION {
                let (path, percent) = (child.path.clone(), |share: f64| rounded(100.0 * share));
                return Err(PropertyError::Maximum {
                    path,
                    guaranteed: percent(guaranteed),
                    maximum: percent(maximum),
                });
            }
            let divided = Queue { guaranteed, maximum, ..(*child).clone() };
            all.push(divided.clone());
            self.divide(tree, child, &divided, all)?;
        }
        Ok(())
    }

    /// Which part of its parent's guarantee each of the children has.
    fn parts(&self, tree: &Tree, before: &Queue, now: &Queue, children: &[&Queue]) -> Result<Vec<f64>, PropertyError> {
        let old = |child: &Queue| match before.guaranteed > 0.0 {
            true => child.guaranteed / before.guaranteed,
            false => 0.0,
        };
        let said = |child: &Queue| self.of(&child.path).share;
        if self.of(&before.path).queues.is_none() && children.iter().all(|child| said(child).is_none()) {
            return Ok(children.iter().map(|child| old(child)).collect());
        }
        let mut shares = Vec::new();
        for child in children {
            let kept = || tree.is_old(&child.path).then(|| Share::Percent(100.0 * old(child)));
            let missing = || PropertyError::Missing { path: child.path.clone() };
            shares.push(said(child).or_else(kept).ok_or_else(missing)?);
        }
        let parent = before.path.clone();
        let each = || children.iter().zip(&shares).map(|(child, share)| format!("{} {share}", child.path));
        let list = || each().collect::<Vec<_>>().join(", ");
        let weight = |share: &Share| matches!(share, Share::Weight(_));
        if shares.iter().any(weight) && !shares.iter().all(weight) {
            return Err(PropertyError::Mixed { parent, children: list() });
        }
        let amount = |share: &Share| match *share {
            Share::Percent(percent) => percent / 100.0,
            Share::Weight(weight) => weight,
        };
        let sum: f64 = shares.iter().map(amount).sum();
        let nothing_of_nothing = sum == 0.0 && now.guaranteed == 0.0;
        if !shares.iter().any(weight) && (sum - 1.0).abs() > PRECISION && !nothing_of_nothing {
            return Err(PropertyError::Sum { parent, percent: rounded(100.0 * sum), children: list() });
        }
        Ok(shares.iter().map(|share| if sum > 0.0 { amount(share) / sum } else { 0.0 }).collect())
    }

    /// With the limits that are said of it, and what it inherits.
    fn limited(&self, queue: Queue, master_share: f64) -> Queue {
        let said = self.of(&queue.path);
        let UserLimits { sure, most } = queue.users;
        let users = UserLimits {
            sure: said.sure.or(self.of_all.sure).unwrap_or(sure),
            most: said.most.or(self.of_all.most).unwrap_or(most),
        };
        let masters = said.masters.or(self.of_all.masters).map(|part| part * queue.guaranteed);
        let masters = masters.unwrap_or_else(|| queue.master_share.max(master_share * queue.guaranteed));
        let preemptable = self.inherited(&queue.path, |said| said.preemptable).unwrap_or(queue.preemptable);
        // Of a queue that nobody may take from it is not known whether its own jobs might otherwise.
        let allowed = self.inherited(&queue.path, |said| said.allowed_within);
        let allowed = allowed.unwrap_or(queue.preemptable_within || !queue.preemptable);
        Queue { users, preemptable, preemptable_within: preemptable && allowed, ..queue.master_share(masters) }
    }

    /// What is said of the queue, or else of the nearest above it of which anything is.
    fn inherited<T>(&self, path: &str, of: impl Fn(&Said) -> Option<T>) -> Option<T> {
        let lineage = std::iter::successors(Some(path), |path| path.rsplit_once('.').map(|(parent, _)| parent));
        lineage.filter_map(|path| self.said.get(path)).find_map(of)
    }
}

/// Queues below the root by path, in the order of their names.
struct Tree {
    queues: BTreeMap<String, Queue>,
    /// Paths of those that were there before.
    old: BTreeSet<String>,
}

impl Tree {
    /// Parents that are missing have what their children have.
    fn of(queues: &[Queue]) -> Tree {
        let mut tree: BTreeMap<String, Queue> =
            queues.iter().map(|queue| (queue.path.clone(), queue.clone())).collect();
        for queue in queues {
            let mut above = queue.path.as_str();
            while let Some((parent, _)) = above.rsplit_once('.').filter(|(parent, _)| parent.contains('.')) {
                if queues.iter().all(|other| other.path != parent) {
                    let missing =
                        tree.entry(parent.to_owned()).or_insert_with(|| Queue::new(parent, 0.0).master_share(0.0));
                    missing.guaranteed += queue.guaranteed;
                }
                above = parent;
            }
        }
        Tree { old: tree.keys().cloned().collect(), queues: tree }
    }

    fn has(&self, path: &str) -> bool {
        path == "root" || self.queues.contains_key(path)
    }

    fn is_old(&self, path: &str) -> bool {
        self.old.contains(path)
    }

    fn paths(&self) -> Vec<&str> {
        std::iter::once("root").chain(self.queues.keys().map(String::as_str)).collect()
    }

    fn children<'a>(&'a self, parent: &'a str) -> impl Iterator<Item = &'a Queue> {
        self.queues.values().filter(move |queue| queue.path.rsplit_once('.').is_some_and(|(above, _)| above == parent))
    }

    /// The parent has these queues, and no others any more.
    fn replace(&mut self, parent: &str, names: &[String]) {
        let wanted: Vec<String> = names.iter().map(|name| format!("{parent}.{name}")).collect();
        let below = format!("{parent}.");
        self.queues.retain(|path, _| {
            !path.starts_with(&below)
                || wanted.iter().any(|wanted| path == wanted || path.starts_with(&format!("{wanted}.")))
        });
        for path in wanted {
            self.queues.entry(path.clone()).or_insert_with(|| Queue::new(&path, 0.0).master_share(0.0));
        }
    }
}

fn rounded(percent: f64) -> String {
    format!("{}", (percent * 100.0).round() / 100.0)
}
