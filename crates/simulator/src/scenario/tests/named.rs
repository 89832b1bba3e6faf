//! Named components: queue disciplines and router mechanisms.

use super::{DUMBBELL, edited, plan};
use crate::named::{Entry, Named};
use crate::plan::{DisciplinePlan, MechanismPlan};
use crate::router::mechanism::Placement;
use selfclock_congestion::parameter::{Kind, Parameter};

/// A value for a required setting.
fn some_value(parameter: &Parameter) -> String {
    match parameter.kind {
        Kind::Rate => "\"1 Mbps\"".to_owned(),
        Kind::Bytes => "\"1 kB\"".to_owned(),
        Kind::Duration => "\"10 ms\"".to_owned(),
        Kind::Number => "0.5".to_owned(),
        Kind::Several(words) => format!("[{:?}]", words[0]),
        Kind::Choice(words) => format!("{:?}", words[0]),
        kind => panic!("{}: {kind:?}", parameter.name),
    }
}

/// The written form of a setting's default; `None` if it is in words.
fn written_default(parameter: &Parameter) -> Option<String> {
    let default = parameter.default;
    let is_word = match parameter.kind {
        Kind::Choice(words) => words.contains(&default),
        Kind::OrWord(_, word) => word == default,
        _ => false,
    };
    match parameter.kind {
        Kind::Switch => Some(default.to_owned()),
        Kind::Number | Kind::Count => default.parse::<f64>().is_ok().then(|| default.to_owned()),
        _ => (is_word || default.starts_with(|first: char| first.is_ascii_digit()))
            .then(|| format!("{default:?}")),
    }
}

/// Reads the choice of an entry with and without each default; returns how many defaults can be
/// written.
fn write_defaults<T: Named + PartialEq + std::fmt::Debug>(
    entry: Entry,
    read: impl Fn(&[String]) -> T,
    structure: &[String],
) -> usize {
    assert!(!entry.about.is_empty() && !entry.source.is_empty(), "{}", entry.name);
    let mut needed = structure.to_vec();
    let required = entry.parameters.iter().filter(|parameter| parameter.default.is_empty());
    needed.extend(required.map(|parameter| format!("{} = {}", parameter.name, some_value(parameter))));
    let mut written = 0;
    for parameter in entry.parameters.iter().filter(|parameter| !parameter.default.is_empty()) {
        assert!(!parameter.source.is_empty(), "{}: {} has no source", entry.name, parameter.name);
        let Some(default) = written_default(parameter) else { continue };
        let with = [&needed[..], &[format!("{} = {default}", parameter.name)]].concat();
        assert_eq!(read(&with), read(&needed), "{}: {}", entry.name, parameter.name);
        written += 1;
    }
    written
}

/// The displayed default is the effective one: written out, it changes nothing.
#[test]
fn shown_defaults_are_those_that_are_used() {
    let queue = |keys: &[String]| {
        let table = format!("queue = {{ {} }}", keys.join(", "));
        plan(&edited("queue = \"5 packets\"", &table)).links[0].discipline
    };
    let mut written = 0;
    for entry in DisciplinePlan::all().map(|plan| plan.entry()) {
        written +=
            write_defaults::<DisciplinePlan>(entry, queue, &[format!("discipline = {:?}", entry.name)]);
    }
    let router =
        |keys: &[String]| plan(&format!("{DUMBBELL}[[router]]\n{}\n", keys.join("\n"))).routers[0].mechanism;
    for mechanism in MechanismPlan::all() {
        let entry = mechanism.entry();
        let place = match mechanism.placement() {
            Placement::Nodes => "nodes = [\"left\"]",
            Placement::Links | Placement::LinksOrAllOfRouters => "links = [\"bottleneck\"]",
        };
        let mut keys = vec![format!("mechanism = {:?}", entry.name), place.to_owned()];
        // One of three settings selects the lost packets.
        keys.extend((entry.name == "loss").then(|| "probability = 0.1".to_owned()));
        written += write_defaults::<MechanismPlan>(entry, router, &keys);
    }
    assert!(written > 45, "{written}");
}
