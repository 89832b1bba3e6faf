//! The algorithms that are compiled for the kernel, from the same source as those of the simulator.

use selfclock_congestion::Selection;

/// Labels of the algorithms, such as `cubic+hystart++`, and their objects, in the order of the
/// labels.
pub const OBJECTS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/objects.rs"));

/// The object of an algorithm; `None` if there is none.
pub fn object_of(selection: &Selection) -> Option<&'static [u8]> {
    let label = selection.label();
    // A label may be written in more than one way: `reno+hystart++` is `hystart++`.
    let same = |other: &str| Selection::from_label(other).is_ok_and(|other| other.label() == label);
    let (_, object) = OBJECTS.iter().find(|(other, _)| same(other))?;
    // The label does not say that a window is without its usual estimator.
    selection.unusual_estimate().is_none().then_some(*object)
}
