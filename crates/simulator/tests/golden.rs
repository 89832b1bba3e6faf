//! Recomputes the fingerprints in `tests/golden.toml`: equal in every build and on every machine,
//! until an entry in the changelog says otherwise. `make golden` computes those of all scenarios,
//! in a release and in a debug build.

#[allow(dead_code)]
#[path = "../examples/fingerprint.rs"]
mod fingerprint;

use fingerprint::short::Short;
use std::collections::BTreeMap;
use std::path::Path;

/// Scenarios that take a debug build at most a few seconds.
const CHEAP: [&str; 4] = [
    "examples/packet-pair-vs-reno.toml",
    "python/selfclock/papers/packet_pair/figure_05.toml",
    "python/selfclock/papers/packet_pair/figure_07.toml",
    "python/selfclock/papers/packet_pair/figure_10.toml",
];

fn golden() -> toml::Table {
    let file = fingerprint::short::folder().with_extension("toml");
    let golden = std::fs::read_to_string(file).expect("a file of this repository");
    golden.parse().expect("TOML")
}

/// Instructions for a fingerprint that differs.
const REMEDY: &str = "if it is meant to, write an entry in CHANGELOG.md and run `make golden`";

#[test]
fn results_are_those_on_record() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for file in CHEAP {
        let made = fingerprint::of_file(&root.join(file)).expect("a scenario");
        let known = golden()["fingerprints"][file].as_str().map(str::to_owned);
        assert_eq!(known, Some(made), "{file} gives another result: {REMEDY}");
    }
}

/// Asserts that the short scenarios of a path are unchanged.
fn check(path: &str) {
    let golden = golden();
    let of_path: Vec<Short> = fingerprint::short::all().into_iter().filter(|it| it.path == path).collect();
    assert!(of_path.len() > 20, "{path}");
    for short in of_path {
        let name = format!("{path}: {}", short.name);
        let made = fingerprint::of_short(&short).unwrap_or_else(|error| panic!("{name}: {error}"));
        let known = golden["short"].get(&name).and_then(toml::Value::as_str);
        assert_eq!(known, Some(made.as_str()), "{name} gives another result: {REMEDY}");
    }
}

/// A test per path, so that they run in parallel.
macro_rules! paths {
    ($($path:ident),+) => {
        $(#[test] fn $path() { check(stringify!($path)); })+

        #[test]
        fn every_path_has_a_test() {
            assert_eq!([$(stringify!($path)),+], fingerprint::short::PATHS);
        }
    };
}
paths!(narrow, wide, lossy, changing, marked, classic, short, measured, slow);

/// Every recorded fingerprint belongs to a scenario that is run.
#[test]
fn every_fingerprint_is_checked() {
    let golden = golden();
    let known = golden["short"].as_table().expect("a table").len();
    assert_eq!(known, fingerprint::short::all().len());
}

/// Detects parameters that are read but never used: each changes the run under the conditions given
/// for it.
#[test]
fn every_parameter_tells() {
    let golden = golden();
    let mut without: BTreeMap<Vec<String>, String> = BTreeMap::new();
    let mut silent = Vec::new();
    for short in fingerprint::short::all() {
        let Some(unchanged) = &short.unchanged else { continue };
        let unchanged = Short { overrides: unchanged.clone(), unchanged: None, name: String::new(), ..short };
        let was = without
            .entry(unchanged.overrides.clone())
            .or_insert_with(|| fingerprint::of_short(&unchanged).expect("a scenario"));
        let name = format!("{}: {}", short.path, short.name);
        if golden["short"][&name].as_str() == Some(was.as_str()) {
            silent.push(name);
        }
    }
    assert!(silent.is_empty(), "these change nothing: {silent:#?}");
}
