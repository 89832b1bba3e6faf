//! Any bytes are read or refused: run by the fuzzers of `fuzz/` and by `tests/hostile.rs`.
#![allow(dead_code)]

use selfclock_congestion::registry::Registry;
use selfclock_kernel::log::{replay, traces};

/// An object or a damaged one, in either form.
#[cfg(target_os = "linux")]
pub fn object(bytes: &[u8]) {
    use selfclock_kernel::linux::object::Object;
    let _ = Object::read(bytes);
    let _ = Object::read_sections(bytes, &["tcx/ingress", "tcx/egress", "sockops"]);
    let _ = selfclock_kernel::linux::resident::description(bytes);
}

/// A record, or an error that can be printed.
pub fn log(bytes: &[u8]) {
    let registry = Registry::built_in();
    if let Err(error) = replay(&registry, bytes, None) {
        assert!(!error.to_string().is_empty());
    }
    let _ = traces(&registry, bytes, |_, _| {});
}
