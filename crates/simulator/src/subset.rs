//! The flows or links of a plan in a part of the network.

use std::sync::Arc;

/// Number of values whose memory is freed together.
const FREED_TOGETHER: usize = 1024;

/// In place of a non-member.
const ELSEWHERE: u32 = u32::MAX;

/// Members of a plan's list, each with its local position. By default all of them, in order.
///
/// A part of a network uses the plan's indices in packets, timers and records, and has state only
/// for its members.
#[derive(Clone, Debug, Default)]
pub struct Subset {
    places: Option<Arc<[u32]>>,
}

impl Subset {
    /// The members in this part; `parts` has the part of each.
    pub fn of_part(parts: &[u32], part: u32) -> Self {
        let mut next = 0..;
        let place = |&of: &u32| if of == part { next.next().unwrap_or(ELSEWHERE) } else { ELSEWHERE };
        Self { places: Some(parts.iter().map(place).collect()) }
    }

    /// None at all.
    pub fn none() -> Self {
        Self { places: Some(Arc::default()) }
    }

    /// The local position of a list element; out of range for non-members.
    #[inline(always)]
    pub fn place(&self, index: usize) -> usize {
        match &self.places {
            None => index,
            Some(places) => places.get(index).map_or(usize::MAX, |&place| place as usize),
        }
    }

    /// Whether it is a member.
    pub fn holds(&self, index: usize) -> bool {
        self.places.as_ref().is_none_or(|places| places.get(index).is_some_and(|&place| place != ELSEWHERE))
    }

    /// The members of a list of this length, in its order.
    pub fn members(&self, all: usize) -> impl Iterator<Item = usize> {
        (0..all).filter(|&index| self.holds(index))
    }

    /// Those members of a list of this length that satisfy a condition.
    pub fn only(&self, all: usize, wanted: impl Fn(usize) -> bool) -> Self {
        if !self.members(all).any(&wanted) {
            return Self::none();
        }
        let mut next = 0..;
        let mut place = |index| {
            if self.holds(index) && wanted(index) { next.next().unwrap_or(ELSEWHERE) } else { ELSEWHERE }
        };
        Self { places: Some((0..all).map(&mut place).collect()) }
    }

    /// Number of members of a list of this length.
    pub fn count(&self, all: usize) -> usize {
        if self.places.is_none() { all } else { self.members(all).count() }
    }
}

/// A value for each member of a list of a plan, by its index there.
#[derive(Clone, Debug)]
pub struct Held<T> {
    values: Vec<T>,
    members: Subset,
    /// Length of the list.
    all: usize,
}

impl<T> Held<T> {
    /// Empty, with room for each member of a list of this length.
    pub fn with_room(members: Subset, all: usize) -> Self {
        Self { values: crate::engine::memory::vector(members.count(all)), members, all }
    }

    /// Adds the value of the next member.
    pub fn push(&mut self, value: T) {
        self.values.push(value);
    }

    /// Whether it is a member.
    pub fn holds(&self, index: usize) -> bool {
        self.members.holds(index)
    }

    /// The value of a member.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.values.get(self.members.place(index))
    }

    /// The value of a member, mutable.
    #[inline(always)]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.values.get_mut(self.members.place(index))
    }

    /// Number of values.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// All values, each with its index in the list.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (usize, &mut T)> {
        self.members.members(self.all).zip(&mut self.values)
    }

    /// The same, read-only.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.members.members(self.all).zip(&self.values)
    }

    /// All values from the last on, each with its index in the list. Their memory is freed as they
    /// are taken.
    pub fn into_iter_from_end(self) -> impl Iterator<Item = (usize, T)> {
        let Self { mut values, members, all } = self;
        let mut indices = (0..all).rev().filter(move |&index| members.holds(index));
        std::iter::from_fn(move || {
            let value = values.pop()?;
            if values.len().is_multiple_of(FREED_TOGETHER) {
                values.shrink_to_fit();
            }
            Some((indices.next()?, value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_its_members_alone() {
        let parts = [1, 0, 1, 2, 1];
        let members = Subset::of_part(&parts, 1);
        assert_eq!((members.members(5).collect::<Vec<_>>(), members.count(5)), (vec![0, 2, 4], 3));
        let mut held = Held::with_room(members, 5);
        ["a", "b", "c"].into_iter().for_each(|value| held.push(value));
        assert_eq!((held.get(0), held.get(2), held.get(4)), (Some(&"a"), Some(&"b"), Some(&"c")));
        assert_eq!((held.get(1), held.get(3), held.get(5), held.holds(3)), (None, None, None, false));
        held.iter_mut().filter(|&(index, _)| index == 2).for_each(|(_, value)| *value = "z");
        assert_eq!(held.iter().collect::<Vec<_>>(), [(0, &"a"), (2, &"z"), (4, &"c")]);
        assert_eq!(held.len(), 3);
        assert_eq!(held.into_iter_from_end().collect::<Vec<_>>(), [(4, "c"), (2, "z"), (0, "a")]);
    }

    #[test]
    fn the_whole_has_all_in_their_order() {
        let all = Subset::default();
        assert_eq!((all.place(7), all.count(9), all.members(2).collect::<Vec<_>>()), (7, 9, vec![0, 1]));
        assert_eq!((Subset::none().count(9), Subset::none().holds(0)), (0, false));
    }
}
