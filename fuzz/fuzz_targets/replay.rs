//! Traces of connections: read, and replayed as far as they go.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = selfclock_congestion::trace::replay(&selfclock_congestion::Registry::built_in(), bytes);
});
