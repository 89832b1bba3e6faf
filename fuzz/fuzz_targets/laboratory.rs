//! Requests of the page in the browser: each is answered in JSON.
#![no_main]

#[path = "../../crates/browser/tests/common/hostile.rs"]
mod hostile;

libfuzzer_sys::fuzz_target!(|text: &str| hostile::requests(text));
