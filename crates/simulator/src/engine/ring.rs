//! A queue of plain values in a ring of a power-of-two size.
//!
//! What `VecDeque` does, for `Copy` values only: an index is masked instead of compared, and popping moves nothing but a
//! counter. It stands in every hot path: packets on a wire, packets in a queue, segments outstanding.

use super::memory::{self, prefetch};

/// A growable ring. Positions are counted from the front.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    /// Length zero or a power of two; places outside of the queue hold old values.
    places: Vec<T>,
    front: usize,
    length: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self { places: Vec::new(), front: 0, length: 0 }
    }
}

impl<T: Copy> Ring<T> {
    #[inline]
    fn place(&self, position: usize) -> usize {
        self.front.wrapping_add(position) & self.places.len().wrapping_sub(1)
    }

    /// Number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.length
    }

    /// There is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The value at this position.
    #[inline]
    pub fn get(&self, position: usize) -> Option<&T> {
        if position < self.length { self.places.get(self.place(position)) } else { None }
    }

    /// The value at this position, to change.
    #[inline]
    pub fn get_mut(&mut self, position: usize) -> Option<&mut T> {
        let place = self.place(position);
        if position < self.length { self.places.get_mut(place) } else { None }
    }

    /// The first value.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.get(0)
    }

    /// The first value, to change.
    #[inline]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        self.get_mut(0)
    }

    /// The last value, to change.
    #[inline]
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.get_mut(self.length.wrapping_sub(1))
    }

    /// Adds a value at the end, and returns it where it is.
    #[inline]
    pub fn push(&mut self, value: T) -> &mut T {
        if self.length == self.places.len() {
            self.grow(value);
        }
        let place = self.place(self.length);
        self.length += 1;
        let held = &mut self.places[place];
        *held = value;
        held
    }

    /// Adds a place at the end, for a value to be written there part by part: put together elsewhere and then copied, it would
    /// be written twice, and read before the first time is over. Holds some old value.
    #[inline(always)]
    pub fn push_place(&mut self) -> &mut T
    where
        T: Default,
    {
        if self.length == self.places.len() {
            self.grow(T::default());
        }
        let place = self.place(self.length);
        self.length += 1;
        &mut self.places[place]
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, filler: T) {
        let capacity = (self.places.len() * 2).max(8);
        let mut places = memory::vector(capacity);
        places.extend(self.iter().copied());
        places.resize(capacity, filler);
        self.places = places;
        self.front = 0;
    }

    /// Removes the first value.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let value = *self.front()?;
        self.drop_front();
        Some(value)
    }

    /// Removes the first value, which there must be, without reading it.
    #[inline]
    pub fn drop_front(&mut self) {
        debug_assert!(self.length > 0);
        self.front = self.place(1);
        self.length -= 1;
    }

    /// Asks for the memory of the value at this position, or of where it would be.
    #[inline(always)]
    pub fn prefetch(&self, position: usize) {
        if let Some(value) = self.places.get(self.place(position)) {
            prefetch::<0, { usize::MAX }, T>(value);
        }
    }

    /// Removes all values.
    #[inline]
    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// The values from front to end.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.length).map(|position| &self.places[self.place(position)])
    }

    /// Calls `change` on every value from front to end.
    pub fn for_each_mut(&mut self, mut change: impl FnMut(&mut T)) {
        for position in 0..self.length {
            let place = self.place(position);
            change(&mut self.places[place]);
        }
    }

    /// Position of the first value for which `before` is false; it must be true for all before that and for none after.
    pub fn partition_point(&self, mut before: impl FnMut(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.length);
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
        assert!(position < self.length, "position {position} of {}", self.length);
        &self.places[self.place(position)]
    }
}

impl<T: Copy> std::ops::IndexMut<usize> for Ring<T> {
    #[inline]
    fn index_mut(&mut self, position: usize) -> &mut T {
        assert!(position < self.length, "position {position} of {}", self.length);
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
        fn behaves_as_a_vec_deque(steps in proptest::collection::vec(0_u8..10, 1..400)) {
            let mut ring = Ring::default();
            let mut model = VecDeque::new();
            for (value, step) in steps.into_iter().enumerate() {
                match step {
                    0..=5 => { ring.push(value); model.push_back(value); }
                    6..=8 => prop_assert_eq!(ring.pop(), model.pop_front()),
                    _ => if value % 7 == 0 { ring.clear(); model.clear(); }
                }
                prop_assert_eq!(ring.len(), model.len());
                prop_assert!(ring.iter().eq(model.iter()));
                prop_assert_eq!(ring.front(), model.front());
                prop_assert_eq!(ring.get(3), model.get(3));
                prop_assert_eq!(ring.get_mut(model.len()), None);
                let middle = model.get(model.len() / 2).copied().unwrap_or(0);
                prop_assert_eq!(ring.partition_point(|&held| held < middle), model.partition_point(|&held| held < middle));
            }
        }
    }
}
