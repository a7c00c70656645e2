//! What has been so for some time.

use hiatus_core::units::Millis;
use std::collections::BTreeMap;

/// Since when things have been as they are, without a break: for what a look does not find, it begins anew.
#[derive(Debug)]
pub(super) struct Lasting<K, V = Millis> {
    before: BTreeMap<K, V>,
    found: BTreeMap<K, V>,
}

impl<K, V> Default for Lasting<K, V> {
    fn default() -> Lasting<K, V> {
        Lasting { before: BTreeMap::new(), found: BTreeMap::new() }
    }
}

impl<K: Ord, V: Copy> Lasting<K, V> {
    /// When the thing, which this look finds, was first found so: `now`, unless the look before found it.
    pub(super) fn since(&mut self, key: K, now: V) -> V {
        let since = self.before.get(&key).copied().unwrap_or(now);
        self.found.insert(key, since);
        since
    }

    /// The thing begins anew.
    pub(super) fn forget(&mut self, key: &K) {
        self.before.remove(key);
    }

    /// This look is over.
    pub(super) fn looked(&mut self) {
        self.before = std::mem::take(&mut self.found);
    }
}
