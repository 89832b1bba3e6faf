//! Repeats the findings of the fuzzers of `fuzz/`.

#[path = "common/fuzzed.rs"]
mod fuzzed;

fn each(target: &str, run: impl Fn(&[u8])) {
    let folder = format!("{}/../../fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    for file in std::fs::read_dir(folder).expect("the corpus") {
        run(&std::fs::read(file.expect("a file").path()).expect("bytes"));
        seen += 1;
    }
    assert!(seen > 0, "{target}");
}

fn each_text(target: &str, run: impl Fn(&str)) {
    each(target, |bytes| {
        // Like the fuzzer: bytes that are not text are not an input.
        if let Ok(text) = std::str::from_utf8(bytes) {
            run(text);
        }
    });
}

#[test]
fn scenarios() {
    each_text("scenario", fuzzed::scenario);
}

#[test]
fn grids() {
    each_text("grid", fuzzed::grid);
}

#[test]
fn traces() {
    each("trace", fuzzed::trace);
}

#[test]
fn options() {
    each("options", fuzzed::options);
}
