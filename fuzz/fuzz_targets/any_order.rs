//! Algorithms under events in any order: the harness is that of the property test.
#![no_main]

#[path = "../../crates/congestion/tests/harness/mod.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| harness::bytes::run(bytes));
