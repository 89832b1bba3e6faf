//! Delivery traces.
#![no_main]

#[path = "../../crates/simulator/tests/common/fuzzed.rs"]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzed::trace(bytes));
