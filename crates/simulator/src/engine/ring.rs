//! A queue of plain values in a ring.
//!
//! Like `VecDeque`, for `Copy` values only: popping only moves a counter. It is in every hot path:
//! packets on a wire, packets in a queue, outstanding segments. A large one grows by an eighth
//! instead of doubling: packets in flight then take little more memory, and cache, than their size.

use super::memory::{self, prefetch_at};

/// Initial capacity of a ring.
const FEWEST: usize = 8;
/// Smaller rings grow by half: ten or twelve segments, of which there may be a hundred thousand
/// windows, take twelve places instead of sixteen.
const SMALL: usize = 4096;

/// A growable ring. Positions are counted from the front.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    /// Slots outside the queue hold old values.
    places: Vec<T>,
    /// Slot of the first value, and of the next one to add: both below the number of slots, if any.
    front: u32,
    end: u32,
    length: u32,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self { places: Vec::new(), front: 0, end: 0, length: 0 }
    }
}

impl<T: Copy> Ring<T> {
    /// The slot of a position, which must not exceed the number of slots.
    #[inline]
    fn place(&self, position: usize) -> usize {
        let place = self.front as usize + position;
        if place < self.places.len() { place } else { place - self.places.len() }
    }

    /// The slot after this one.
    #[inline(always)]
    fn behind(&self, place: u32) -> u32 {
        let next = place + 1;
        if next as usize == self.places.len() { 0 } else { next }
    }

    /// Number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.length as usize
    }

    /// There is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The value at this position.
    #[inline]
    pub fn get(&self, position: usize) -> Option<&T> {
        if position < self.len() { self.places.get(self.place(position)) } else { None }
    }

    /// The value at this position, to change.
    #[inline]
    pub fn get_mut(&mut self, position: usize) -> Option<&mut T> {
        if position >= self.len() {
            return None;
        }
        let place = self.place(position);
        self.places.get_mut(place)
    }

    /// The first value.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.length > 0 { self.places.get(self.front as usize) } else { None }
    }

    /// The first value, to change.
    #[inline]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        if self.length > 0 { self.places.get_mut(self.front as usize) } else { None }
    }

    /// The last value, to change.
    #[inline]
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.get_mut(self.len().wrapping_sub(1))
    }

    /// Adds a value at the end, and returns it in place.
    #[inline]
    pub fn push(&mut self, value: T) -> &mut T {
        if self.len() == self.places.len() {
            self.grow(value);
        }
        let place = self.end;
        self.end = self.behind(place);
        self.length += 1;
        let held = &mut self.places[place as usize];
        *held = value;
        held
    }

    /// Adds a slot at the end, to be filled in place: a value assembled elsewhere would be written
    /// twice, and read before the first write completes. Holds some old value.
    #[inline(always)]
    pub fn push_place(&mut self) -> &mut T
    where
        T: Default,
    {
        if self.len() == self.places.len() {
            self.grow(T::default());
        }
        let place = self.end;
        self.end = self.behind(place);
        self.length += 1;
        &mut self.places[place as usize]
    }

    /// Grows a full ring. Values before the end of the storage move to its new end; those at its
    /// beginning stay.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, filler: T) {
        let before = self.places.len();
        let more = match before {
            0 => FEWEST,
            1..SMALL => before / 2,
            _ => before / 8,
        };
        memory::reserve(&mut self.places, more);
        self.places.resize(before + more, filler);
        let front = self.front as usize;
        if front > 0 {
            self.places.copy_within(front..before, front + more);
            self.front += more as u32;
        } else {
            self.end = before as u32;
        }
    }

    /// Removes the first value.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let value = *self.front()?;
        self.drop_front();
        Some(value)
    }

    /// Removes the first value of a non-empty ring.
    #[inline(always)]
    pub fn take_front(&mut self) -> T {
        let value = self.places[self.front as usize];
        self.drop_front();
        value
    }

    /// Removes the first value of a non-empty ring, without reading it.
    #[inline]
    pub fn drop_front(&mut self) {
        debug_assert!(self.length > 0);
        self.front = self.behind(self.front);
        self.length -= 1;
    }

    /// Prefetches the value this many places behind the first, unless it is at the other end of the
    /// storage: then whatever follows the storage, since a comparison would cost more than a
    /// needless line.
    #[inline(always)]
    pub fn prefetch(&self, position: usize) {
        self.prefetch_place(self.front as usize + position);
    }

    #[inline(always)]
    fn prefetch_place(&self, place: usize) {
        prefetch_at::<0, { usize::MAX }, T>(self.places.as_ptr().wrapping_add(place));
    }

    /// Prefetches the slot of the next value.
    #[inline(always)]
    pub fn prefetch_end(&self) {
        self.prefetch_place(self.end as usize);
    }

    /// Removes all values.
    #[inline]
    pub fn clear(&mut self) {
        (self.end, self.length) = (self.front, 0);
    }

    /// The values from front to end.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).map(|position| &self.places[self.place(position)])
    }

    /// Calls `change` on every value from front to end.
    pub fn for_each_mut(&mut self, mut change: impl FnMut(&mut T)) {
        for position in 0..self.len() {
            let place = self.place(position);
            change(&mut self.places[place]);
        }
    }

    /// Position of the first value for which `before` is false; it must be true for all values
    /// before that and for none after.
    pub fn partition_point(&self, mut before: impl FnMut(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if before(&self.places[self.place(middle)]) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

impl<T: Copy> std::ops::Index<usize> for Ring<T> {
    type Output = T;
    #[inline]
    fn index(&self, position: usize) -> &T {
        assert!(position < self.len(), "position {position} of {}", self.length);
        &self.places[self.place(position)]
    }
}

impl<T: Copy> std::ops::IndexMut<usize> for Ring<T> {
    #[inline]
    fn index_mut(&mut self, position: usize) -> &mut T {
        assert!(position < self.len(), "position {position} of {}", self.length);
        let place = self.place(position);
        &mut self.places[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn behaves_as_a_vec_deque(
            filled in prop_oneof![Just(0_usize), SMALL - 5..2 * SMALL],
            taken in 0_usize..SMALL,
            steps in proptest::collection::vec(0_u8..10, 1..400),
        ) {
            // Also large and with any front, so that it grows by an eighth around its end.
            let mut ring = Ring::default();
            (0..filled).for_each(|value| { ring.push(value); });
            (0..filled).for_each(|value| { ring.drop_front(); ring.push(value); });
            (0..taken.min(filled)).for_each(|_| ring.drop_front());
            let mut model: VecDeque<usize> = (taken.min(filled)..filled).collect();
            for value in filled..ring.places.len() + taken {
                ring.push(value);
                model.push_back(value);
            }
            for (step, value) in steps.into_iter().zip(1_000_000..) {
                match step {
                    0..=5 => { ring.push(value); model.push_back(value); }
                    6..=8 => prop_assert_eq!(ring.pop(), model.pop_front()),
                    _ => if value % 7 == 0 { ring.clear(); model.clear(); }
                }
                prop_assert_eq!(ring.len(), model.len());
                prop_assert_eq!(ring.last_mut(), model.back_mut());
                prop_assert_eq!(ring.front(), model.front());
                prop_assert_eq!(ring.get(3), model.get(3));
                prop_assert_eq!(ring.get_mut(model.len()), None);
                let middle = model.get(model.len() / 2).copied().unwrap_or(0);
                prop_assert_eq!(ring.partition_point(|&held| held < middle), model.partition_point(|&held| held < middle));
            }
            prop_assert!(ring.iter().eq(model.iter()));
        }
    }
}
