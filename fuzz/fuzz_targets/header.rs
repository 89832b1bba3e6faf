//! Packets of emulated hosts: a header, or none; its segment lies within the packet.
#![no_main]

use selfclock_emulator::Header;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Some(segment) = Header::read(bytes).and_then(|header| header.segment) {
        assert!(segment.offset + 20 <= bytes.len());
    }
});
