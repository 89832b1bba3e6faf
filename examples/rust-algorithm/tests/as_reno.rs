//! With its default parameters the example is Reno: the same packets at the same times.

use my_aimd::Parameters;
use my_aimd::window::WindowParameters;
use selfclock_congestion::registry::{RegistrationError, Registry};
use selfclock_simulator::scenario::{Scenario, ScenarioError, schema};
use selfclock_simulator::{Outcome, Simulation};

/// Losses of every kind, timeouts and marks are in it.
fn scenario(control: &str, overrides: &[&str]) -> Result<Scenario, ScenarioError> {
    let mut registry = Registry::built_in();
    registry.register_model(Parameters::default()).expect("a new name");
    registry.register_window(WindowParameters::default()).expect("a new name");
    let text = format!(
        r#"
        schema = 1
        duration = "8 s"
        [network]
        topology = "dumbbell"
        bottleneck = {{ rate = "5 Mbps", delay = "15 ms", queue = "12 packets", loss = {{ probability = 0.01 }} }}
        access = {{ rate = "100 Mbps", delay = "1 ms" }}
        [record]
        packets = true
        [[flow]]
        count = 3
        start_jitter = "50 ms"
        congestion_control = {control}
        "#
    );
    let overrides: Vec<String> = overrides.iter().map(|change| (*change).to_owned()).collect();
    Scenario::parse_with(&registry, &text, "test", &overrides)
}

fn run(scenario: &Scenario) -> Outcome {
    Simulation::new(&scenario.plan).run().expect("the algorithm does not fail")
}

#[test]
fn same_packets_as_reno() {
    let settings = [
        &["profile=modern"][..],
        &["profile=classic"],
        &["transport.recovery=newreno"],
        &[
            "transport.ecn=classic",
            "network.bottleneck.queue={ limit = \"12 packets\", mark_above = \"4 packets\" }",
        ],
    ];
    for overrides in settings {
        let reno = run(&scenario("\"reno\"", overrides).unwrap());
        let with_own = scenario("\"my-aimd\"", overrides).unwrap();
        assert!(with_own.plan.has_custom_algorithms());
        let own = run(&with_own);
        assert!(reno.packets.len() > 4_000, "{overrides:?}");
        assert_eq!(format!("{:?}", own.packets), format!("{:?}", reno.packets), "{overrides:?}");
        assert_eq!(format!("{:?}", own.flow_series), format!("{:?}", reno.flow_series), "{overrides:?}");
        assert_eq!(own.summary.flows[0].algorithm, "my-aimd");
        let other = run(&scenario("{ model = \"my-aimd\", decrease = 0.7 }", overrides).unwrap());
        assert_ne!(format!("{:?}", other.packets), format!("{:?}", reno.packets), "the parameter matters");
    }
}

/// As a window algorithm it goes with built-in starts, which pace, probe and end slow start as they
/// do before Reno.
#[test]
fn any_start_goes_with_the_window_algorithm() {
    for start in ["slow-start", "hystart++", "swift-start", "packet-pair"] {
        for overrides in [&["profile=modern"][..], &["profile=classic"]] {
            let under = |window| {
                let control = format!("{{ window = \"{window}\", start = \"{start}\" }}");
                run(&scenario(&control, overrides).unwrap())
            };
            let (reno, own) = (under("reno"), under("my-window"));
            assert!(reno.packets.len() > 4_000, "{start}");
            assert_eq!(format!("{:?}", own.packets), format!("{:?}", reno.packets), "{start}, {overrides:?}");
        }
    }
}

#[test]
fn its_parameters_are_checked_like_any() {
    let error = scenario("{ model = \"my-aimd\", decrease = 1 }", &[]).unwrap_err();
    assert_eq!(error.message, "1 is out of range");
    assert!(error.help.contains("0.1 to 0.99"), "{}", error.help);
    let error = scenario("{ model = \"my-aimd\", decreese = 1 }", &[]).unwrap_err();
    assert!(error.help.contains("did you mean \"decrease\"?"), "{}", error.help);
    let error = scenario("\"my-aimb\"", &[]).unwrap_err();
    assert!(error.help.contains("did you mean \"my-aimd\"?"), "{}", error.help);
    let error = scenario("{ model = \"my-aimd\", start = \"slow-start\" }", &[]).unwrap_err();
    assert!(error.message.contains("start and window in one"), "{}", error.message);
}

/// Registering affects one registry and no other.
#[test]
fn another_registry_does_not_know_it() {
    let text = scenario("\"my-aimd\"", &[]).unwrap().text;
    let error = Scenario::parse(&text, "test", &[]).unwrap_err();
    assert!(error.message.contains("my-aimd"), "{}", error.message);
    let mut registry = Registry::built_in();
    assert_eq!(registry.register_model(Parameters::default()), Ok(()));
    assert_eq!(
        registry.register_model(Parameters::default()),
        Ok::<(), RegistrationError>(()),
        "the later one counts"
    );
    assert_eq!(registry.entries().filter(|entry| entry.name == "my-aimd").count(), 1);
}

/// A schema for completion in editors.
#[test]
fn the_schema_has_the_algorithms_of_its_registry() {
    let mut registry = Registry::built_in();
    assert!(!schema(&registry).to_string().contains("my-aimd"));
    registry.register_model(Parameters::default()).expect("a new name");
    let text = schema(&registry).to_string();
    // As a word, as a model, and with each parameter.
    assert_eq!(text.matches("\"my-aimd\"").count(), 2);
    assert_eq!(text.matches("my-aimd: ").count(), 2);
}
