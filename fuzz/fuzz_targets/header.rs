//! Packets of emulated hosts.
#![no_main]

use selfclock_emulator::Header;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = Header::read(bytes);
});
