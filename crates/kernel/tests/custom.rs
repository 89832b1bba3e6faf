//! The program that replays records of a user's own algorithm.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use selfclock_congestion::composition::Pair;
use selfclock_congestion::custom::Custom;
use selfclock_congestion::entry::Entry as Row;
use selfclock_congestion::event::{Acknowledged, LossDetected, Timeout};
use selfclock_congestion::parameter::{Kind, ParameterError, Value, Words};
use selfclock_congestion::part::WindowPart;
use selfclock_congestion::start::slow_start::{Parameters as SlowStartParameters, SlowStart};
use selfclock_congestion::state::WindowState;
use selfclock_congestion::{Controller, Registry, Selection, Setup, parameters};
use selfclock_kernel::bridge::Bridge;
use selfclock_kernel::custom::{configured, describe, run};
use selfclock_kernel::log::{Entry, Reader, Writer};
use selfclock_kernel::series::series_under;

parameters! {
    /// Of a window that grows by a constant.
    Parameters {
        /// A "quoted" step.
        step: f64 = 0.25, shown "0.25", unit "segments", range (0.0, f64::INFINITY), source "a test";
    }
}

/// Adds a constant at every ACK.
#[derive(Clone, Copy, Debug)]
pub struct Steps(f64);

impl WindowPart for Steps {
    fn grow(&mut self, _: &Acknowledged, state: &mut WindowState) {
        state.cwnd += self.0;
    }
    fn on_loss(&mut self, _: &LossDetected, state: &mut WindowState) {
        state.ssthresh = (state.cwnd / 2.0).max(2.0);
        state.cwnd = state.ssthresh;
    }
    fn on_timeout(&mut self, _: &Timeout, state: &mut WindowState) {
        state.ssthresh = (state.cwnd / 2.0).max(2.0);
    }
}

impl Custom for Parameters {
    type Part = Steps;

    fn entry(&self) -> Row {
        Row { name: "steps", about: "a \\ and a\nline", parameters: Self::TABLE, ..Row::WINDOW }
    }
    fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError> {
        self.set(name, value)
    }
    fn build(&self) -> Steps {
        Steps(self.step)
    }
}

fn make(selection: &Selection, setup: Setup) -> Controller<Pair<SlowStart, Steps>> {
    let start = SlowStart::new(SlowStartParameters::default());
    Controller::of_parts(setup, start, configured::<Parameters>(selection).build())
}

fn program(words: &[&str]) -> Result<String, String> {
    let arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
    run::<Parameters, _>(&arguments, |registry| registry.register_window(Parameters::default()), make)
}

/// The events of a real connection under Reno, answered by this window with `step`.
fn record(folder: &Path, step: &str) -> PathBuf {
    let real =
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs/in-kernel-reno.log")).expect("there");
    let mut registry = Registry::built_in();
    registry.register_window(Parameters::default()).expect("a new name");
    let selection = registry.read(step).expect("valid");
    let mut bridge = Bridge::new(|setup| make(&selection, setup));
    let mut writer = Writer::new(Vec::new(), &selection, "a test").expect("memory");
    for entry in Reader::new(&real).expect("a log") {
        let event = entry.expect("whole").event;
        let (answer, _) = bridge.on(&event);
        writer.write(&Entry { event, answer }).expect("memory");
    }
    let file = folder.join("events.log");
    fs::write(&file, writer.finish().expect("memory")).expect("a folder");
    file
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("can be made");
    folder
}

/// JSON, with what a loader needs to accept settings: kind, range, and the default as a word.
#[test]
fn it_describes_itself() {
    assert_eq!(Parameters::TABLE[0].kind, Kind::Number);
    let word = 0.25_f64.to_bits();
    let expected = format!(
        "{{\"layout\": 1, \"name\": \"steps\", \"part\": \"window\", \"about\": \"a \\\\ and a\\u000aline\", \"source\": \"\", \
         \"marks\": \"once\", \"parameters\": [{{\"name\": \"step\", \"about\": \" A \\\"quoted\\\" step.\", \"unit\": \
         \"segments\", \"source\": \"a test\", \"default\": \"0.25\", \"kind\": \"number\", \"choices\": [], \"range\": \
         [\"0\", \"inf\"], \"word\": {word}}}]}}"
    );
    assert_eq!(describe::<Parameters>().expect("words"), expected);
    assert_eq!(program(&["describe"]).expect("the same"), expected);
    assert_eq!(Parameters::from_words(|| 0.5_f64.to_bits()).step, 0.5);
    assert_eq!(Parameters::COUNT, 1);
}

/// A record with a setting is replayed with it; a changed record is refused with both decisions.
#[test]
fn it_replays_its_records() {
    let folder = folder("own-replay");
    let file = record(&folder, "steps:step=0.75");
    let name = file.to_str().expect("ASCII");
    let said = program(&["replay", name]).expect("equal");
    assert!(said.contains("\"algorithm\": \"steps\"") && said.contains("\"about\": \"a test\""), "{said}");
    program(&["traces", name, folder.to_str().expect("ASCII")]).expect("written");
    let traces = fs::read_dir(&folder).expect("there").flatten();
    assert!(traces.filter(|entry| entry.path().extension().is_some_and(|it| it == "trace")).count() > 0);
    let table = program(&["series", name, "10000000"]).expect("read");
    let log = fs::read(&file).expect("there");
    let mut registry = Registry::built_in();
    registry.register_window(Parameters::default()).expect("a new name");
    let selection = registry.read("steps:step=0.75").expect("valid");
    let series = series_under(&log, 10_000_000, |setup| make(&selection, setup)).expect("read");
    assert_eq!(table.lines().count(), series.time_s.len() + 1);
    assert!(table.starts_with("time_s,flow,cwnd_bytes,"), "{table:.80}");
    // The default step decides otherwise.
    let plain = Selection::default();
    let differs =
        selfclock_kernel::log::replay_under(&log, |setup| make(&plain, setup)).expect_err("another step");
    assert!(differs.to_string().contains("is answered otherwise than on record"), "{differs}");
}

/// One line each.
#[test]
fn what_it_cannot() {
    let none: &[&str] = &[];
    for (words, said) in [
        (none, "describe, replay, traces or series?"),
        (&["replay"], "which record?"),
        (&["replay", "/nowhere"], "/nowhere: "),
        (&["replay", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")], "this is no record"),
    ] {
        let error = program(words).expect_err("refused");
        assert!(error.contains(said) && !error.contains('\n'), "{error}");
    }
    let file = record(&folder("own-refused"), "steps");
    let name = file.to_str().expect("ASCII");
    assert!(program(&["series", name, "soon"]).expect_err("no number").contains("which interval"));
    assert!(program(&["shred", name]).expect_err("no such word").contains("replay RECORD"));
    assert!(program(&["traces", name, "/nowhere"]).expect_err("no folder").contains(".trace: "));
}
