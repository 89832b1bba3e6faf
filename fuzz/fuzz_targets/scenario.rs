//! Scenario files.
#![no_main]

#[path = "../../crates/simulator/tests/common/fuzzed.rs"]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|text: &str| fuzzed::scenario(text));
