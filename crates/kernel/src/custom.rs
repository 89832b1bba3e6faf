//! A user's own algorithm beside its object: `selfclock kernel build` makes a program of its crate
//! that describes the algorithm and replays records of it, with the types that are in the object.

use std::ffi::OsString;
use std::fmt::{Debug, Write as _};
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use selfclock_congestion::composition::Composition;
use selfclock_congestion::custom::Custom;
use selfclock_congestion::entry::Entry;
use selfclock_congestion::parameter::{Kind, Words};
use selfclock_congestion::registry::RegistrationError;
use selfclock_congestion::{Controller, Registry, Selection, Setup};

use crate::log::{LogError, Reader, replay_under, traces};
use crate::series::{Series, series_under};

/// Version of the description and of what an object shares with its loader.
pub const LAYOUT: u32 = 1;

/// Parameters with the settings of a selection. Settings of another part are ignored.
pub fn configured<P: Custom + Default>(selection: &Selection) -> P {
    let mut parameters = P::default();
    for &(name, value) in selection.settings() {
        let _ = parameters.set(name, value);
    }
    parameters
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\0'..='\x1f' => write!(out, "\\u{:04x}", letter as u32).expect("memory"),
            _ => out.push(letter),
        }
    }
    out + "\""
}

fn kind(kind: Kind) -> (&'static str, &'static [&'static str]) {
    match kind {
        Kind::Switch => ("switch", &[]),
        Kind::Number => ("number", &[]),
        Kind::Duration => ("duration", &[]),
        Kind::Bytes => ("bytes", &[]),
        Kind::Rate => ("rate", &[]),
        Kind::Count => ("count", &[]),
        Kind::Packets => ("packets", &[]),
        Kind::Choice(words) => ("choice", words),
        Kind::Several(_) | Kind::Counts | Kind::OrWord(..) | Kind::Either(..) => ("none", &[]),
    }
}

/// Describes an algorithm as JSON: its row in the registry, with the default word of each
/// parameter.
///
/// # Errors
/// The names of its parameters, if one of them has no form in the kernel.
pub fn describe<P: Custom + Words + Default>() -> Result<String, String> {
    let (own, mut words) = (P::default(), Vec::new());
    let Entry { name, part, about, source, parameters, marks, .. } = own.entry();
    let given = Words::to_words(&own, |word| words.push(word));
    if given.is_none() || words.len() != parameters.len() {
        let names: Vec<_> = parameters.iter().map(|parameter| parameter.name).collect();
        return Err(format!(
            "{name}: its parameters ({}) do not all have the form of a 64-bit word: ParameterType::to_word",
            names.join(", ")
        ));
    }
    let rows = parameters.iter().zip(words).map(|(parameter, word)| {
        let (kind, choices) = kind(parameter.kind);
        let choices: Vec<_> = choices.iter().map(|choice| quoted(choice)).collect();
        format!(
            "{{\"name\": {}, \"about\": {}, \"unit\": {}, \"source\": {}, \"default\": {}, \"kind\": \"{kind}\", \
             \"choices\": [{}], \"range\": [\"{}\", \"{}\"], \"word\": {word}}}",
            quoted(parameter.name),
            quoted(parameter.about),
            quoted(parameter.unit),
            quoted(parameter.source),
            quoted(parameter.default),
            choices.join(", "),
            parameter.range.0,
            parameter.range.1,
        )
    });
    Ok(format!(
        "{{\"layout\": {LAYOUT}, \"name\": {}, \"part\": \"{}\", \"about\": {}, \"source\": {}, \"marks\": \"{}\", \
         \"parameters\": [{}]}}",
        quoted(name),
        part.name(),
        quoted(about),
        quoted(source),
        marks.name(),
        rows.collect::<Vec<_>>().join(", ")
    ))
}

/// The program: `describe`, `replay RECORD`, `traces RECORD DIRECTORY` or `series RECORD
/// NANOSECONDS`. `register` adds the algorithm to a registry, `make` makes a connection of it.
pub fn main<P: Custom + Words + Default, A: Composition + Debug>(
    register: impl FnOnce(&mut Registry) -> Result<(), RegistrationError>,
    make: impl Fn(&Selection, Setup) -> Controller<A>,
) -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match run::<P, A>(&arguments, register, make) {
        Ok(said) => {
            print!("{said}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the output of [`main`] for these arguments.
///
/// # Errors
/// A line that says what is wrong; of a record that does not replay, where and how it differs.
pub fn run<P: Custom + Words + Default, A: Composition + Debug>(
    arguments: &[OsString],
    register: impl FnOnce(&mut Registry) -> Result<(), RegistrationError>,
    make: impl Fn(&Selection, Setup) -> Controller<A>,
) -> Result<String, String> {
    let mut registry = Registry::built_in();
    register(&mut registry).map_err(|error| format!("{}: {error}", P::default().entry().name))?;
    let (what, rest) = arguments.split_first().ok_or("describe, replay, traces or series?")?;
    if what == "describe" {
        return describe::<P>();
    }
    let record = rest.first().ok_or("which record?")?;
    let log = fs::read(record).map_err(|error| format!("{}: {error}", record.display()))?;
    let said = |error: LogError| error.to_string();
    let reader = Reader::new(&log).map_err(said)?;
    let selection = reader.selection(&registry).map_err(said)?;
    let make = |setup| make(&selection, setup);
    match (what.to_str(), rest.get(1)) {
        (Some("replay"), None) => {
            let done = replay_under(&log, make).map_err(said)?;
            let phases: Vec<_> =
                done.phases.iter().map(|(phase, count)| format!("{}: {count}", quoted(phase))).collect();
            Ok(format!(
                "{{\"algorithm\": {}, \"about\": {}, \"events\": {}, \"answers\": {}, \"options\": {}, \"flows\": {}, \"phases\": {{{}}}}}\n",
                quoted(&selection.label()),
                quoted(reader.about()),
                done.events,
                done.answers,
                done.options,
                done.flows,
                phases.join(", ")
            ))
        }
        (Some("traces"), Some(directory)) => {
            let mut failed = None;
            traces(&registry, &log, |last, trace| {
                let name = format!("flow-{}-{}-{}.trace", last.id, last.port, last.peer_port);
                if let Err(error) = fs::write(Path::new(directory).join(&name), trace) {
                    failed = Some(format!("{name}: {error}"));
                }
            })
            .map_err(said)?;
            failed.map_or(Ok(String::new()), Err)
        }
        (Some("series"), Some(interval)) => {
            let interval =
                interval.to_str().and_then(|text| text.parse().ok()).ok_or("which interval, in ns?")?;
            Ok(table(series_under(&log, interval, make).map_err(said)?))
        }
        _ => Err("describe, replay RECORD, traces RECORD DIRECTORY or series RECORD NANOSECONDS".to_owned()),
    }
}

/// The series as CSV, with every digit.
fn table(series: Series) -> String {
    let rows = series.time_s.len();
    let columns = series.columns();
    let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
    let mut out = names.join(",") + "\n";
    for row in 0..rows {
        let cells: Vec<_> = columns.iter().map(|(_, column)| column.text(row)).collect();
        out += &(cells.join(",") + "\n");
    }
    out
}
