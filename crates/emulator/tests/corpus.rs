//! Repeats seeds and findings of the fuzzer of packets.

use selfclock_emulator::Header;

/// A header, or none; its segment lies within the packet.
#[test]
fn packets() {
    let folder = format!("{}/../../fuzz/corpus/header", env!("CARGO_MANIFEST_DIR"));
    let (mut read, mut refused) = (0, 0);
    for file in std::fs::read_dir(folder).expect("the corpus") {
        let bytes = std::fs::read(file.expect("a file").path()).expect("bytes");
        match Header::read(&bytes) {
            Some(header) => {
                read += 1;
                assert!(header.segment.is_none_or(|segment| segment.offset + 20 <= bytes.len()));
            }
            None => refused += 1,
        }
    }
    assert!(read > 10 && refused > 0, "{read} read, {refused} refused");
}
