//! The sides of a mixed cluster, and what there is for each.

use std::ops::{Index, IndexMut};

/// A class of nodes of a mixed cluster, by BatchMR's names; the administrator says which nodes those are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Physical machines.
    Physical,
    /// Virtual machines.
    Virtual,
}

impl Side {
    /// Both.
    pub const BOTH: [Side; 2] = [Side::Physical, Side::Virtual];

    /// The other one.
    pub fn other(self) -> Side {
        match self {
            Side::Physical => Side::Virtual,
            Side::Virtual => Side::Physical,
        }
    }
}

/// One thing for the nodes of each side, and one for nodes that are on none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PerSide<T>([T; 3]);

impl<T: Copy + Default> PerSide<T> {
    /// The same for both sides, and the default for the rest.
    pub fn both(one: T) -> PerSide<T> {
        PerSide([T::default(), one, one])
    }
}

impl<T> PerSide<T> {
    /// What `of` says for each.
    pub fn from_fn(of: impl FnMut(Option<Side>) -> T) -> PerSide<T> {
        PerSide(PerSide::<T>::PLACES.map(of))
    }

    /// Where nodes may be.
    pub const PLACES: [Option<Side>; 3] = [None, Some(Side::Physical), Some(Side::Virtual)];

    /// What is for which.
    pub fn all(&self) -> impl Iterator<Item = (Option<Side>, &T)> {
        PerSide::<T>::PLACES.into_iter().zip(&self.0)
    }
}

impl<T> Index<Option<Side>> for PerSide<T> {
    type Output = T;

    fn index(&self, side: Option<Side>) -> &T {
        let [none, physical, virtual_] = &self.0;
        match side {
            None => none,
            Some(Side::Physical) => physical,
            Some(Side::Virtual) => virtual_,
        }
    }
}

impl<T> IndexMut<Option<Side>> for PerSide<T> {
    fn index_mut(&mut self, side: Option<Side>) -> &mut T {
        let [none, physical, virtual_] = &mut self.0;
        match side {
            None => none,
            Some(Side::Physical) => physical,
            Some(Side::Virtual) => virtual_,
        }
    }
}
