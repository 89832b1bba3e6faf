//! Overrides.

use super::{DUMBBELL, GRAPH, edited, parse, plan_with, tcp};
use crate::plan::RecordPlan;
use crate::scenario::{Scenario, ScenarioError};
use selfclock_congestion::units::{Bytes, Duration};

#[test]
fn overrides_edit_the_text_and_keep_the_rest() {
    let text = DUMBBELL.replace("duration = \"10 s\"", "duration = \"10 s\" # short");
    let overrides =
        ["duration=20s", "seed=3", "flow[0].transport.mss=512 B", "flow.*.transport.header=\"20 B\""];
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    let scenario = Scenario::parse(&text, "s.toml", &overrides).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((scenario.plan.duration, scenario.plan.seed), (Duration::from_milliseconds(20_000), 3));
    assert_eq!(tcp(&scenario.plan, 0).transport.mss, Bytes(512));
    assert!(scenario.text.contains("duration = \"20s\" # short"), "{}", scenario.text);
    assert!(
        scenario.text.contains("transport = { mss = \"512 B\", header = \"20 B\" }"),
        "{}",
        scenario.text
    );
    assert_eq!(parse(&scenario.text).map(|again| again.text), Ok(scenario.text));
}

#[test]
fn overrides_reach_every_kind_of_table() {
    let plan = plan_with(GRAPH, &["network.link.1.rate=2 Mbps", "network.nodes.0=a", "flow.*.name=x"]);
    assert_eq!(plan.links[2].rate.bits_per_second(), 2_000_000);
    let inline = "schema = 1\nduration = \"1 s\"\nnetwork = { topology = \"dumbbell\", bottleneck = { rate = \"1 Mbps\", delay = \"1 ms\" }, access = { rate = \"1 Mbps\", delay = \"1 ms\" } }\nflow = [{ name = \"a\" }, { name = \"b\" }]\n";
    let plan = plan_with(inline, &["flow.1.transport.mss=99 B", "network.access.delay=7 ms"]);
    assert_eq!(tcp(&plan, 1).transport.mss, Bytes(99));
    assert_eq!(plan.links[2].delay, Duration::from_milliseconds(7));
    assert_eq!(tcp(&plan, 0).transport.mss, Bytes(1448));
}

fn override_error(overrides: &[&str]) -> ScenarioError {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    Scenario::parse(DUMBBELL, "s.toml", &overrides).expect_err("the override should be refused")
}

#[test]
fn an_error_of_an_override_names_it() {
    let error = override_error(&["seed=2", "flow.0.start=10", "flow.0.stop=9 s"]);
    assert_eq!(
        error.to_string(),
        "--set:1:14: flow[0].start: 10 has no unit\n  |\n1 | flow.0.start=10\n  |              ^^ write a time such as \"10 s\" or \"100 ms\""
    );
    assert_eq!(override_error(&["flow[1].start=1 s"]).key, "flow[1]");
    let error = override_error(&["flow.0.from=source2", "flow.0.count=2", "network.hosts=1"]);
    assert_eq!((error.key.as_str(), error.source_name.as_str()), ("flow[0].from", "--set"), "{error}");
}

#[test]
fn bad_paths() {
    for (text, column, message) in [
        ("seed", 1, "no \"=\""),
        ("=3", 1, "the path has an empty key"),
        ("network..rate=3", 1, "the path has an empty key"),
        ("flow.1.start=1 s", 6, "\"1\" is not an element"),
        ("flow.start=1 s", 6, "\"start\" is not an element"),
        ("flow.0={}", 6, "an element of a list"),
        ("duration.x=1 s", 10, "the parent of \"x\" is not a table"),
        ("sede=3", 6, "unknown key"),
        ("flow.0.trnasport.mss=512 B", 22, "unknown key"),
    ] {
        let error = override_error(&[text]);
        assert_eq!((error.column(), error.message.as_str()), (Some(column), message), "{error}");
    }
}

#[test]
fn the_file_alone_must_be_valid() {
    let overrides = ["duration=10 s".to_owned()];
    let error = Scenario::parse(&edited("\"10 s\"", "10"), "s.toml", &overrides).unwrap_err();
    assert_eq!((error.source_name.as_str(), error.line()), ("s.toml", Some(2)), "{error}");
}

/// Further overrides act on a scenario as on its text.
#[test]
fn a_scenario_with_further_overrides_is_the_text_with_them() {
    let overrides = |list: &[&str]| list.iter().map(|&one| one.to_owned()).collect::<Vec<_>>();
    let first = Scenario::parse(DUMBBELL, "a.toml", &overrides(&["seed=7"])).expect("a scenario");
    let second = first.with(&overrides(&["duration=3 s"])).expect("a scenario");
    let both =
        Scenario::parse(DUMBBELL, "a.toml", &overrides(&["seed=7", "duration=3 s"])).expect("a scenario");
    assert_eq!((second.plan.seed, second.plan.duration), (7, Duration::from_milliseconds(3000)));
    assert_eq!(format!("{:?}", second.plan), format!("{:?}", both.plan));
    assert_eq!(first.plan.duration, Duration::from_milliseconds(10_000), "the first is as it was");
    let error = first.with(&overrides(&["durations=3 s"])).expect_err("no such key");
    assert!(error.to_string().contains("durations"), "{error}");
}

/// An override of another key once restored the seed of the text.
#[test]
fn a_seed_stays_until_an_override_sets_another() {
    let scenario = Scenario::parse(DUMBBELL, "a.toml", &[]).expect("a scenario").with_seed(u64::MAX);
    let with = |change: &str| scenario.with(&[change.to_owned()]).expect("a scenario").plan;
    assert_eq!(with("duration=3 s").seed, u64::MAX);
    assert_eq!(with("seed=1").seed, 1);
    let unrecorded = scenario.unrecorded();
    let with = |change: &str| unrecorded.with(&[change.to_owned()]).expect("a scenario").plan.record;
    assert_eq!(with("duration=3 s"), RecordPlan::NOTHING);
    assert!(with("record.packets=true").packets);
}
