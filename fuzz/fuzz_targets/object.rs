//! Compiled objects: ELF and BTF.
#![no_main]

#[path = "../../crates/kernel/tests/common/hostile.rs"]
mod hostile;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::object(bytes));
