//! Errors, and their messages.

use super::{DUMBBELL, GRAPH, PARKING_LOT, edited, parse, plan, refused, refused_flow};
use crate::scenario::Scenario;
use proptest::prelude::*;

#[test]
fn an_error_reads_well() {
    let error = parse(&format!("{DUMBBELL}start = \"10\"\n")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "s.toml:11:9: flow[0].start: \"10\" has no unit\n   |\n11 | start = \"10\"\n   |         ^^^^ write a time such as \"10 s\" or \"100 ms\""
    );
}

#[test]
fn units_are_never_guessed() {
    refused(&edited("\"10 s\"", "10"), (2, 12), "duration", "10 has no unit", "a time such as \"10 s\"");
    refused(&edited("\"10 s\"", "1.5"), (2, 12), "duration", "1.5 has no unit", "");
    refused(&edited("\"10 s\"", "nan"), (2, 12), "duration", "nan has no unit", "");
    refused(
        &edited("\"10 s\"", "\"10 Mbps\""),
        (2, 12),
        "duration",
        "\"10 Mbps\": \"Mbps\" is a unit of rate",
        "ms",
    );
    let key = "network.bottleneck.rate";
    refused(&edited("\"500 kbps\"", "\"5 MB/s\""), (6, 23), key, "\"5 MB/s\": unknown unit \"MB/s\"", "Mbps");
    refused(&edited("\"500 kbps\"", "\"-5 Mbps\""), (6, 23), key, "\"-5 Mbps\" is negative", "write a rate");
    refused(&edited("\"500 kbps\"", "\"0 bps\""), (6, 23), key, "a rate must be above zero", "write a rate");
    refused(
        &edited("\"500 kbps\"", "\"99999999999 Gbps\""),
        (6, 23),
        key,
        "\"99999999999 Gbps\" is too large",
        "",
    );
}

#[test]
fn unknown_keys_list_the_allowed_ones() {
    refused(
        &format!("sede = 1\n{DUMBBELL}"),
        (1, 1),
        "sede",
        "unknown key",
        "did you mean \"seed\"? allowed: schema, name",
    );
    refused(
        &edited("delay =", "dealy ="),
        (6, 35),
        "network.bottleneck.dealy",
        "unknown key",
        "did you mean \"delay\"?",
    );
    refused(&edited("[[flow]]", "hops = 2\n[[flow]]"), (9, 1), "network.hops", "unknown key", "hosts");
    refused_flow(
        "transport = { mms = \"1 B\" }",
        15,
        "flow[0].transport.mms",
        "unknown key",
        "did you mean \"mss\"?",
    );
    refused(
        &format!("{DUMBBELL}[record]\npacket = true\n"),
        (12, 1),
        "record.packet",
        "unknown key",
        "interval, packets",
    );
}

#[test]
fn missing_keys_point_at_their_table() {
    refused("", (1, 1), "", "missing key \"schema\"", "");
    refused(&edited("schema = 1", ""), (1, 1), "", "missing key \"schema\"", "");
    refused(&edited("topology = \"dumbbell\"", ""), (4, 1), "network", "missing key \"topology\"", "");
    refused(&edited("rate = \"500 kbps\", ", ""), (6, 14), "network.bottleneck", "missing key \"rate\"", "");
    refused("schema = 1\nduration = \"1 s\"\n", (1, 1), "", "missing key \"network\"", "");
    refused(&GRAPH.replace("from = \"a\"\nto = \"b\"\n", ""), (20, 1), "flow[0]", "missing key \"from\"", "");
    let empty = format!("flow = []\n{}", edited("[[flow]]\nname = \"tcp\"\n", ""));
    refused(&empty, (1, 8), "flow", "is empty", "at least one is needed");
}

#[test]
fn wrong_types() {
    refused(
        &edited("schema = 1", "schema = \"1\""),
        (1, 10),
        "schema",
        "expected an integer, found a string",
        "",
    );
    refused(&edited("schema = 1", "schema = 2"), (1, 10), "schema", "2 is out of range", "allowed: 1");
    refused(
        &edited("\"10 s\"", "true"),
        (2, 12),
        "duration",
        "expected a string with a number and a unit, found true or false",
        "",
    );
    refused(
        "schema = 1\nduration = \"1 s\"\nnetwork = 3\n",
        (3, 11),
        "network",
        "expected a table, found an integer",
        "",
    );
    refused(
        &edited("name = \"tcp\"", "name = 3"),
        (10, 8),
        "flow[0].name",
        "expected a name, found an integer",
        "",
    );
    refused(&edited("name = \"tcp\"", "name = \"../x\""), (10, 8), "flow[0].name", "not a name", "no slash");
    // Hidden names, folders, and characters that reverse the text after them (UTR 36, 3.1).
    for name in ["..", ".", ".git", "a\\u202egnp.exe", "a\\u200bb", "\\uFEFFa"] {
        let wrong = format!("name = \"{name}\"");
        refused(
            &edited("name = \"tcp\"", &wrong),
            (10, 8),
            "flow[0].name",
            "not a name",
            "no dot at the beginning",
        );
    }
    refused(
        &edited("\"dumbbell\"", "\"dumbell\""),
        (5, 12),
        "network.topology",
        "unknown value \"dumbell\"",
        "did you mean \"dumbbell\"?",
    );
    refused_flow(
        "transport = { handshake = 1 }",
        27,
        "flow[0].transport.handshake",
        "expected true or false, found an integer",
        "",
    );
    refused_flow(
        "transport = { recovery = \"cubic\" }",
        26,
        "flow[0].transport.recovery",
        "unknown value \"cubic\"",
        "tahoe, reno, newreno, sack",
    );
    refused_flow(
        "transport = { delayed_ack = \"on\" }",
        29,
        "flow[0].transport.delayed_ack",
        "expected a table, found a string",
        "the only word allowed is \"off\"",
    );
    let router = "[[router]]\nmechanism = \"ficcrd\"\nnodes = [\"left\"]\n";
    refused(
        &format!("{DUMBBELL}{router}discovery_interval = 1\n"),
        (14, 22),
        "router[0].discovery_interval",
        "1 has no unit",
        "write a time such as \"10 s\" or \"100 ms\", or \"off\"",
    );
}

#[test]
fn syntax_errors_have_a_place() {
    let error = parse("schema = 1\nduration = \n").unwrap_err();
    assert_eq!(error.line(), Some(2), "{error}");
    let error = parse(&edited("[network]", "[network")).unwrap_err();
    assert_eq!(error.line(), Some(4), "{error}");
    let error = parse(&format!("{DUMBBELL}name = \"again\"\n")).unwrap_err();
    assert_eq!((error.line(), error.column()), (Some(11), Some(1)), "{error}");
}

#[test]
fn numbers_out_of_range() {
    refused(&edited("\"10 s\"", "\"0 s\""), (2, 12), "duration", "must be above zero", "");
    refused(&edited("\"10 s\"", "\"3000 h\""), (2, 12), "duration", "longer than 106 days", "2^63 ps");
    for queue in ["0 packets", "0 B", "0 bdp"] {
        let text = edited("5 packets", queue);
        refused(&text, (6, 61), "network.bottleneck.queue", "a queue must hold something", "unlimited");
    }
    refused(
        &edited("bottleneck", "hosts = 0\nbottleneck"),
        (6, 9),
        "network.hosts",
        "0 is out of range",
        "allowed: from 1",
    );
    refused_flow("count = 0", 9, "flow[0].count", "0 is out of range", "allowed: from 1");
    refused(&format!("seed = -1\n{DUMBBELL}"), (1, 8), "seed", "-1 is out of range", "allowed: from 0");
    refused_flow(
        "transport = { mss = \"0 B\" }",
        21,
        "flow[0].transport.mss",
        "0 B is out of range",
        "1 B to 65535 B",
    );
    refused_flow(
        "transport = { mss = \"64 KiB\" }",
        21,
        "flow[0].transport.mss",
        "65536 B is out of range",
        "1 B to 65535 B",
    );
    refused_flow(
        "transport = { initial_window = \"0.5 segments\" }",
        32,
        "flow[0].transport.initial_window",
        "less than one segment",
        "",
    );
    let text = edited("duration = \"10 s\"", "duration = \"10 s\"\nmeasure_from = \"10 s\"");
    refused(&text, (3, 16), "measure_from", "is not before the end of the run", "earlier than duration");
    refused_flow("stop = \"0 s\"", 8, "flow[0].stop", "stops before it starts", "later than start");
    for probability in ["1.5", "-0.1"] {
        let text = edited("queue = \"5 packets\"", &format!("loss = {{ probability = {probability} }}"));
        let message = format!("{probability} is out of range");
        refused(&text, (6, 76), "network.bottleneck.loss.probability", &message, "allowed: 0 to 1");
    }
    let text = edited("queue = \"5 packets\"", "loss = { probability = nan }");
    refused(
        &text,
        (6, 76),
        "network.bottleneck.loss.probability",
        "nan is not a finite number",
        "allowed: 0 to 1",
    );
}

#[test]
fn deep_nesting_is_an_error() {
    let deep = "[".repeat(100_000);
    assert!(parse(&format!("schema = {deep}")).is_err());
    let _ = Scenario::parse(DUMBBELL, "s.toml", &[format!("seed={deep}")]).expect_err("not an integer");
    let path = "x.".repeat(10_000);
    let _ = Scenario::parse(DUMBBELL, "s.toml", &[format!("{path}x=1")]).expect_err("too deep");
}

#[test]
fn line_ends_and_byte_order_marks_of_other_systems() {
    assert_eq!(plan(&DUMBBELL.replace('\n', "\r\n")).flows.len(), 1);
    let text = edited("\"10 s\"", "10").replace('\n', "\r\n");
    refused(&text, (2, 12), "duration", "10 has no unit", "");
    assert_eq!(plan(&format!("\u{feff}{DUMBBELL}")).flows.len(), 1);
}

proptest! {
    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = parse(&text);
    }

    /// A valid text with a piece cut out or replaced.
    #[test]
    fn no_damage_panics(
        which in 0..3usize, start in 0..500usize, length in 0..40usize, patch in "[ -~\n]{0,12}",
    ) {
        let text = [DUMBBELL, GRAPH, PARKING_LOT][which];
        let start = start.min(text.len());
        let end = (start + length).min(text.len());
        if let Err(error) = parse(&format!("{}{patch}{}", &text[..start], &text[end..])) {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn no_override_panics(text in "[a-z0-9.*=\\[\\] \"{}]{0,30}") {
        let _ = Scenario::parse(DUMBBELL, "s.toml", &[text]);
    }

    #[test]
    fn no_value_panics(key in 0..6usize, value in "[ -~]{0,20}") {
        let keys = ["duration", "seed", "flow.0.count", "network.hosts", "flow.0.transport", "record.interval"];
        let _ = Scenario::parse(DUMBBELL, "s.toml", &[format!("{}={value}", keys[key])]);
    }
}
