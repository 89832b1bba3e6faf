//! Congestion control.

use super::{DUMBBELL, flow_with, parse, refused_flow, tcp};

/// Settings that would silently have no effect are refused.
#[test]
fn a_parameter_without_its_partner_is_refused() {
    for (alone, partner) in [
        ("window = \"reno\", beta_ecn = 0.7", "abe = true"),
        ("window = \"cubic\", beta_ecn = 0.7", "abe = true"),
        ("window = \"scalable\", linux_count = 50", "variant = \"linux\""),
        ("window = \"lotka-volterra\", physical_rate = \"1 Mbps\"", "physical = \"oracle\""),
        ("window = \"lotka-volterra\", available_rate = \"1 Mbps\"", "available = \"oracle\""),
    ] {
        let text = |keys: &str| format!("{DUMBBELL}congestion_control = {{ {keys} }}\n");
        let error = parse(&text(alone)).expect_err(alone);
        assert_eq!(error.message, format!("does nothing without {partner}"));
        assert!(error.line().is_some() && error.help.contains(partner), "{error}");
        parse(&text(&format!("{alone}, {partner}"))).expect(partner);
    }
    for name in ["physical", "available"] {
        let text = format!(
            "{DUMBBELL}congestion_control = {{ window = \"lotka-volterra\", {name} = \"oracle\" }}\n"
        );
        assert_eq!(parse(&text).expect_err(name).message, format!("does nothing without {name}_rate"));
    }
}

#[test]
fn names_of_algorithms() {
    let name =
        |value: &str| tcp(&flow_with(&format!("congestion_control = {value}")), 0).control_name.clone();
    assert_eq!(name("\"reno\""), "reno");
    assert_eq!(name("\"packet-pair\""), "packet-pair");
    assert_eq!(name("\"slow-start\""), "reno");
    assert_eq!(name("{ window = \"reno\", start = \"packet-pair\" }"), "packet-pair");
    assert_eq!(name("{}"), "reno");
}

#[test]
fn parameters_of_algorithms() {
    let plan = flow_with(
        "congestion_control = { start = \"packet-pair\", tick = \"1 ms\", probing = \"both-sides\", safe_transmit = false, halved = \"window\" }",
    );
    let control = format!("{:?}", tcp(&plan, 0).control);
    for part in ["tick: 0.001 s", "probing: BothSides", "safe_transmit: false", "halved: Window"] {
        assert!(control.contains(part), "{part} in {control}");
    }
    let plan = flow_with("congestion_control = { segments_per_ack = 2 }");
    assert!(format!("{:?}", tcp(&plan, 0).control).contains("segments_per_ack: 2.0"));
}

#[test]
fn algorithms_that_do_not_exist() {
    let key = "flow[0].congestion_control";
    refused_flow(
        "congestion_control = \"rena\"",
        22,
        key,
        "unknown algorithm \"rena\"",
        "did you mean \"reno\"? allowed: slow-start",
    );
    refused_flow(
        "congestion_control = 3",
        22,
        key,
        "expected the name of an algorithm, or a table, found an integer",
        "",
    );
    let line = "congestion_control = { window = \"packet-pair\" }";
    refused_flow(line, 33, "flow[0].congestion_control.window", "unknown window \"packet-pair\"", "reno");
    let line = "congestion_control = { tick = \"1 ms\" }";
    refused_flow(
        line,
        24,
        "flow[0].congestion_control.tick",
        "unknown parameter",
        "window, start, estimate, model, counting, halved",
    );
}

/// An algorithm that ignores CE marks would take what others give up.
#[test]
fn a_model_takes_only_the_marks_it_responds_to() {
    for (control, ecn, fine) in [
        ("bbr3", "off", true),
        ("bbr3", "accurate", false),
        ("prague", "accurate", true),
        ("prague", "classic", false),
        ("cubic", "classic", true),
    ] {
        let text =
            format!("{DUMBBELL}congestion_control = \"{control}\"\ntransport = {{ ecn = \"{ecn}\" }}\n");
        match parse(&text) {
            Ok(_) => assert!(fine, "{control} {ecn}"),
            Err(error) => {
                assert!(!fine, "{error}");
                assert_eq!(error.key, "flow[0].transport.ecn");
            }
        }
    }
}

/// A model is start and window in one.
#[test]
fn models() {
    for control in ["\"bbr3\"", "{ model = \"bbr3\", headroom = 0.1, probe_wait = \"3 s\" }"] {
        let text = format!("{DUMBBELL}congestion_control = {control}\n");
        parse(&text).expect(control);
    }
    let key = "flow[0].congestion_control";
    for (other, column) in [("window = \"cubic\"", 49), ("start = \"limited\"", 48)] {
        let line = format!("congestion_control = {{ model = \"bbr3\", {other} }}");
        let part = other.split(' ').next().unwrap_or_default();
        let message = "bbr3 is start and window in one";
        refused_flow(&line, column, &format!("{key}.{part}"), message, "leave out either");
    }
    let line = "congestion_control = { model = \"bbr3\", tick = \"1 ms\" }";
    refused_flow(
        line,
        40,
        &format!("{key}.tick"),
        "unknown parameter",
        "allowed: model, startup_pacing_gain",
    );
    let line = "congestion_control = { model = \"bbr2\" }";
    refused_flow(
        line,
        32,
        &format!("{key}.model"),
        "unknown model \"bbr2\"",
        "version 2 of BBR is not built in",
    );
}

#[test]
fn parameters_out_of_range() {
    let refused_parameter = |parameter: &str, message: &str, help: &str| {
        let line = format!("congestion_control = {{ start = \"packet-pair\", {parameter} }}");
        let error = parse(&format!("{DUMBBELL}{line}\n")).expect_err(parameter);
        assert_eq!((error.line(), error.message.as_str()), (Some(11), message), "{error}");
        assert!(error.help.contains(help), "{help:?} in {error}");
    };
    refused_parameter("tick = \"2 s\"", "\"2 s\" is out of range", "0.000001 to 1 s");
    refused_parameter("tick = 10", "10 has no unit", "\"100 ms\"");
    refused_parameter("probing = \"both\"", "unknown value \"both\"", "sender-only, both-sides");
    refused_parameter("safe_transmit = 1", "expected true or false, found an integer", "");
}
