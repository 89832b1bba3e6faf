//! Repeats seeds and findings of the fuzzer of requests.

#[path = "common/hostile.rs"]
mod hostile;

#[test]
fn requests() {
    let folder = format!("{}/../../fuzz/corpus/laboratory", env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    for file in std::fs::read_dir(folder).expect("the corpus") {
        // Like the fuzzer: bytes that are not text are not an input.
        if let Ok(text) = std::fs::read_to_string(file.expect("a file").path()) {
            hostile::requests(&text);
            seen += 1;
        }
    }
    assert!(seen > 3);
}
