//! Records of connections under the kernel.
#![no_main]

#[path = "../../crates/kernel/tests/common/hostile.rs"]
mod hostile;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::log(bytes));
