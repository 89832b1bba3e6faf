//! The short scenarios of `tests/golden`: every algorithm on each of the paths, every parameter of
//! each algorithm with another value, and the additions of `variants.toml`.
//!
//! Algorithms and parameters are taken from the registry: none can lack a fingerprint.

use selfclock_congestion::entry::Entry;
use selfclock_congestion::parameter::{Kind, Parameter};
use selfclock_congestion::registry::{ENTRIES, Selection};
use std::path::PathBuf;

/// The scenarios that every algorithm runs on.
pub const PATHS: [&str; 9] =
    ["narrow", "wide", "lossy", "changing", "marked", "classic", "short", "measured", "slow"];
/// Paths on which all flows use the algorithm.
const ALIKE: [&str; 3] = ["lossy", "marked", "classic"];

/// A scenario file with modifications.
#[derive(Clone)]
pub struct Short {
    /// Name of the file, without extension.
    pub path: &'static str,
    /// Its name among those of that file.
    pub name: String,
    /// In the syntax of `--set`.
    pub overrides: Vec<String>,
    /// The overrides without the changed parameter, if one is changed.
    pub unchanged: Option<Vec<String>>,
}

/// The folder of the scenarios.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden")
}

/// All of them.
pub fn all() -> Vec<Short> {
    let mut all = Vec::new();
    for path in PATHS {
        for entry in ENTRIES {
            let runs = match path {
                "marked" => {
                    Selection::from_label(entry.name).is_ok_and(|selection| selection.responds_to_marks(true))
                }
                // It needs its routers.
                _ => entry.name != "xcp" || path == "wide",
            };
            if runs {
                let overrides = vec![choice(path, entry, "")];
                all.push(Short { path, name: entry.name.to_owned(), overrides, unchanged: None });
            }
        }
    }
    for entry in ENTRIES {
        for parameter in entry.parameters {
            let Home { path, beside, changes } = home(entry, parameter);
            let overrides = |more: &str| {
                let changes = changes.iter().map(|&change| change.to_owned());
                std::iter::once(choice(path, entry, &format!("{beside}{more}"))).chain(changes).collect()
            };
            for value in others(entry, parameter) {
                let change = format!("{} = {value}", parameter.name);
                all.push(Short {
                    path,
                    name: format!("{}, {change}", entry.name),
                    overrides: overrides(&format!(", {change}")),
                    // An algorithm that needs a partner is refused without it, so nothing is
                    // compared.
                    unchanged: Some(match (entry.name, parameter.name) {
                        ("lotka-volterra", name)
                            if name.starts_with("physical") || name.starts_with("available") =>
                        {
                            vec![choice(path, entry, "")]
                        }
                        _ => overrides(""),
                    }),
                });
            }
        }
    }
    let variants =
        std::fs::read_to_string(folder().join("variants.toml")).expect("a file of this repository");
    let variants: toml::Table = variants.parse().expect("TOML");
    for (path, of_path) in variants {
        let path = PATHS.into_iter().find(|known| *known == path).expect("the name of a scenario");
        for (name, overrides) in of_path.as_table().expect("a table for each path") {
            let overrides = overrides.as_array().expect("a list").iter();
            let overrides = overrides.map(|change| change.as_str().expect("path=value").to_owned()).collect();
            all.push(Short { path, name: name.clone(), overrides, unchanged: None });
        }
    }
    all
}

/// Gives the flows of a path this algorithm; `more` follows its name in the table.
fn choice(path: &str, entry: &Entry, more: &str) -> String {
    let flow = if ALIKE.contains(&path) { "*" } else { "0" };
    let kind = entry.part.name();
    format!("flow.{flow}.congestion_control={{ {kind} = {:?}{more} }}", entry.name)
}

/// Conditions under which a parameter has an effect.
struct Home {
    path: &'static str,
    /// Other choices, as they follow the name of the algorithm.
    beside: &'static str,
    /// Other changes there.
    changes: &'static [&'static str],
}

fn home(entry: &Entry, parameter: &Parameter) -> Home {
    let (path, beside): (_, &str) = match (entry.name, parameter.name) {
        (_, "abe") => ("marked", ""),
        (_, "beta_ecn") => ("marked", ", abe = true"),
        ("hystart++", "max_rtt_threshold") => ("narrow", ", min_rtt_divisor = 1"),
        ("hystart++", "css_rounds") => ("slow", ""),
        ("hystart++", "min_rtt_divisor") => {
            ("narrow", ", min_rtt_threshold = \"0.1 ms\", max_rtt_threshold = \"1 s\"")
        }
        ("scalable", "linux_count") => ("narrow", ", variant = \"linux\""),
        ("lotka-volterra", "physical") => ("measured", ", physical_rate = \"60 Mbps\""),
        ("lotka-volterra", "available") => ("measured", ", available_rate = \"20 Mbps\""),
        ("lotka-volterra", "physical_rate") => ("measured", ", physical = \"oracle\""),
        ("lotka-volterra", "available_rate") => ("measured", ", available = \"oracle\""),
        ("packet-pair", "zero_ticks") | ("swift-start", "no_estimate") => ("narrow", ""),
        ("packet-pair", "ack_ratio" | "ack_ratio_of") => ("classic", ", probing = \"both-sides\""),
        ("packet-pair" | "hoe", _) => ("classic", ""),
        ("adaptive", "gradient_tolerance" | "congested_minimum" | "competition_hold") => ("lossy", ""),
        ("adaptive", "competing_rounds") => ("lossy", ", competition_hold = \"round-trips\""),
        ("prague", "loss_beta") | ("reno", "threshold") => ("lossy", ""),
        ("bbr3", "startup_losses" | "loss_threshold" | "beta" | "headroom") => ("lossy", ""),
        ("prague", _) => ("marked", ""),
        ("bbr3", "probe_wait" | "reno_rounds") => ("narrow", ""),
        ("limited" | "quick-start" | "xcp", _) | ("altcp", "rtt_factor" | "rtt_form") => ("wide", ""),
        ("altcp", "first_layer") => ("lossy", ""),
        ("icim", "pair_spacing") => ("measured", ", capacity = \"pairs\""),
        ("icim", "expiry") => ("measured", ", window = \"lotka-volterra\""),
        ("swift-start" | "icim" | "imtcp" | "capacity" | "lotka-volterra", _) => ("measured", ""),
        ("bbr3" | "bbr-startup", _) => ("slow", ""),
        _ => ("narrow", ""),
    };
    let changes: &[&str] = match (entry.name, parameter.name) {
        // The second and the third ACK are a round trip apart.
        ("hoe", "acks") => &["transport.delayed_ack.every=2"],
        // Four segments to an ACK by the one rule, two by the other.
        ("packet-pair", "ack_ratio" | "ack_ratio_of") => {
            &["network.reverse={ rate = \"4.8 kbps\", delay = \"200 ms\", queue = \"5 packets\" }"]
        }
        // Duplicate ACKs are dropped, so that the end of recovery opens the window at once.
        ("hoe", "burst") => &[
            "network.reverse={ rate = \"4.8 kbps\", delay = \"200 ms\", queue = \"5 packets\" }",
            "transport.delayed_ack.every=2",
            "duration=60 s",
        ],
        ("xcp", "loss_beta") => &["network.bottleneck.loss={ probability = 0.0005 }"],
        ("modified-swift-start", "jump_bound") => {
            &["flow.0.transport.misbehaviour={ interval_factor = 0.1 }"]
        }
        // Several packets come with each interrupt.
        // Nobody replies.
        ("packet-pair", "unanswered_pair") => &["transport.peer_knows_option=false"],
        ("icim", "clock") => &["network.access.coalescing_stamps=arrival"],
        ("icim", "within_interrupt") => &[
            "network.access.coalescing=0.2 ms",
            "network.bottleneck.rate=200 Mbps",
            "transport.initial_ssthresh=600 segments",
            "duration=3 s",
        ],
        // Too little is left after 2 s for any measurement.
        ("icim", "expiry") => &[
            "network.bottleneck.rate=100 Mbps",
            "network.bottleneck.delay=28 ms",
            "flow.1.traffic.rate=70 Mbps",
            "flow.1.start=2 s",
            "transport.delayed_ack={ every = 2 }",
            "duration=16 s",
        ],
        ("adaptive", "congested_part_at_start") => &["transport.initial_ssthresh=60 segments"],
        // The round trip grows by a tenth in the middle of slow start: more than a sixteenth, less
        // than an eighth.
        ("hystart++", "min_rtt_divisor") => {
            &["network.bottleneck.changes=[{ at = \"0.09 s\", delay = \"22 ms\" }]"]
        }
        // The queue grows before the receive window has opened.
        ("hystart++", "min_rtt_threshold") => &["transport.receive_window=unlimited"],
        ("hystart++", "css_rounds") => &["network.bottleneck.queue=20 bdp"],
        ("bbr-startup", "full_bandwidth_rounds") => &["network.bottleneck.queue=unlimited"],
        ("hystart++" | "slow-start", "segments_per_ack") => &["transport.delayed_ack.every=20"],
        // K_R is above 1 from a round trip of 8 ms on.
        ("altcp", "at_least_ltcp") => {
            &["network.bottleneck.delay=1 ms", "network.bottleneck.queue=200 packets"]
        }
        _ => &[],
    };
    Home { path, beside, changes }
}

/// Alternative values of a parameter, as TOML: every other word, the other position of a switch,
/// twice the default or half of it; a value with an effect where that has none here.
fn others(entry: &Entry, parameter: &Parameter) -> Vec<String> {
    let number = |text: &str, unit: f64| {
        // Only an ACK for more than this tells it from no limit.
        if text.starts_with("no limit") {
            return 2.0;
        }
        // One that depends on the transport starts with its value in the profile `modern`.
        let default: f64 =
            text.split([' ', ',']).next().and_then(|text| text.parse().ok()).expect("a number");
        let (least, most) = (parameter.range.0 / unit, parameter.range.1 / unit);
        match (entry.name, parameter.name) {
            ("modified-swift-start", "largest_jump") => 20.0,
            ("scalable", "legacy_window") | ("bic" | "highspeed", "low_window") => 1000.0,
            ("icim", "minimum_window") => 300.0,
            ("adaptive", "maximum_k") => 2.0,
            // ProbeRTT, every 5 s, renews the estimate within 10 s.
            ("bbr3", "min_rtt_window") => 5.0,
            ("bbr3", "reno_rounds") | ("vegas", "gamma") => 20.0,
            _ if default * 2.0 <= most && default > 0.0 => default * 2.0,
            _ if default / 2.0 >= least && default > 0.0 => default / 2.0,
            _ => (default + most) / 2.0,
        }
    };
    match parameter.kind {
        Kind::Switch => vec![(parameter.default == "false").to_string()],
        // Equal to the transport's setting here: bytes count.
        Kind::Choice(_) if (entry.name, parameter.name) == ("reno", "counting") => {
            vec!["\"per-ack\"".to_owned()]
        }
        Kind::Choice(words) => {
            words.iter().filter(|word| **word != parameter.default).map(|word| format!("{word:?}")).collect()
        }
        Kind::Number => vec![number(parameter.default, 1.0).to_string()],
        Kind::Count
        | Kind::Packets
        | Kind::OrWord(..)
        | Kind::Either(..)
        | Kind::Several(_)
        | Kind::Counts => {
            unreachable!("no algorithm has a parameter of this kind")
        }
        // The defaults are unknown rates.
        Kind::Rate => vec!["\"30 Mbps\"".to_owned()],
        Kind::Duration | Kind::Bytes => {
            let (value, unit) = parameter.default.split_once(' ').expect("a number and a unit");
            let size = match unit {
                "ms" => 1e-3,
                "us" => 1e-6,
                _ => 1.0,
            };
            vec![format!("\"{} {unit}\"", number(value, size))]
        }
    }
}
