//! The algorithms compiled for the kernel, from the simulator's source.

use selfclock_congestion::Selection;

/// Labels such as `cubic+hystart++`, with their objects, sorted by label.
pub const OBJECTS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/objects.rs"));

/// The object of an algorithm; `None` if there is none.
pub fn object_of(selection: &Selection) -> Option<&'static [u8]> {
    let label = selection.label();
    // A label has more than one spelling: `reno+hystart++` is `hystart++`.
    let same = |other: &str| Selection::from_label(other).is_ok_and(|other| other.label() == label);
    let (_, object) = OBJECTS.iter().find(|(other, _)| same(other))?;
    // The label does not show that a window lacks its usual estimator.
    selection.unusual_estimate().is_none().then_some(*object)
}
