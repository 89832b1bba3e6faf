//! The fingerprints in `tests/golden.toml`, made again: the same in every build, on every machine, until an entry in the
//! changes says otherwise. `make golden` makes those of all scenarios, in a release and in a debug build.

#[allow(dead_code)]
#[path = "../examples/fingerprint.rs"]
mod fingerprint;

use std::path::Path;

/// Scenarios that take a debug build less than some seconds.
const CHEAP: [&str; 4] = [
    "examples/packet-pair-vs-reno.toml",
    "python/selfclock/papers/packet_pair/figure_05.toml",
    "python/selfclock/papers/packet_pair/figure_07.toml",
    "python/selfclock/papers/packet_pair/figure_10.toml",
];

#[test]
fn results_are_those_on_record() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let golden = std::fs::read_to_string(root.join("tests/golden.toml")).expect("a file of this repository");
    let golden: toml::Table = golden.parse().expect("TOML");
    for file in CHEAP {
        let made = fingerprint::of_file(&root.join(file)).expect("a scenario");
        assert_eq!(
            golden["fingerprints"][file].as_str(),
            Some(made.as_str()),
            "{file} gives another result: if it is meant to, write an entry in CHANGELOG.md and run `make golden`"
        );
    }
}
