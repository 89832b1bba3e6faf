//! Values with many holders and few changes.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A name of a node, link or flow. Up to 23 bytes are stored inline: a hundred thousand flows have
/// seven hundred thousand names.
pub type Name = smol_str::SmolStr;

/// A value that its copies share until one of them is changed. Ten thousand identical flows are
/// described once, and a run shares the description with its scenario.
#[derive(Clone, Default, PartialEq)]
pub struct Shared<T>(Arc<T>);

impl<T> Shared<T> {
    /// Not yet shared.
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }

    /// Whether both are copies of one value and share it.
    pub fn is_one(one: &Self, other: &Self) -> bool {
        Arc::ptr_eq(&one.0, &other.0)
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

/// Copies shared data before changing it.
impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl<'a, T> IntoIterator for &'a Shared<Vec<T>> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a, T: Clone> IntoIterator for &'a mut Shared<Vec<T>> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        Arc::make_mut(&mut self.0).iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_is_changed_is_its_own() {
        let first = Shared::new(vec![1, 2]);
        let mut second = first.clone();
        assert!(std::ptr::eq(&*first, &*second));
        second.push(3);
        assert_eq!((first.len(), second.len()), (2, 3));
        assert_eq!(format!("{second:?}"), "[1, 2, 3]");
    }
}
