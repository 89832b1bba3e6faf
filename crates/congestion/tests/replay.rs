//! A recorded connection of every algorithm, replayed to the bit. A change of an algorithm's
//! behaviour shows here; if it is meant, `SELFCLOCK_RENEW=1 cargo test -p selfclock-congestion
//! --test replay` records them anew.

mod path;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Once;

use selfclock_congestion::parameter::Value;
use selfclock_congestion::registry::ENTRIES;
use selfclock_congestion::trace::{Reader, Record, Recorder, TraceError, VERSION, replay, replay_as};
use selfclock_congestion::{Acknowledged, Bytes, Registry, Selection, Setup, Time};

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/traces").join(format!("{name}.trace"))
}

/// Records every algorithm anew.
fn renew() {
    for entry in ENTRIES {
        let selection = Selection::from_label(entry.name).expect("listed");
        fs::write(file(entry.name), path::record(&selection)).expect("written");
    }
}

fn recorded(name: &str) -> Vec<u8> {
    static RENEWED: Once = Once::new();
    if std::env::var_os("SELFCLOCK_RENEW").is_some() {
        RENEWED.call_once(renew);
    }
    fs::read(file(name)).unwrap_or_else(|error| panic!("{name} has no trace ({error}): record it, see above"))
}

#[test]
fn every_algorithm_answers_as_on_record() {
    let mut bytes = 0;
    for entry in ENTRIES {
        let trace = recorded(entry.name);
        let done =
            replay(&Registry::built_in(), &trace).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        assert!(done.events >= 1000 && done.answers >= done.events, "{}: {done:?}", entry.name);
        bytes += trace.len();
    }
    assert!(bytes < 1 << 20, "{bytes} bytes of traces");
}

/// Every recording contains every kind of event.
#[test]
fn every_event_is_on_record() {
    for entry in ENTRIES {
        let trace = recorded(entry.name);
        let records = Reader::new(&trace).expect("a header").map(|record| record.expect("a record"));
        let kinds: BTreeSet<_> = records
            .filter_map(|record| if let Record::Event(event) = record { Some(event) } else { None })
            .map(|event| format!("{event:?}").split(['(', ' ']).next().map(str::to_owned))
            .collect();
        // No handshake is lost; a CE mark is either echoed or counted.
        let responds = Selection::from_label(entry.name).is_ok_and(|it| it.responds_to_marks(false));
        assert_eq!(kinds.len(), if responds { 11 } else { 10 }, "{}: {kinds:?}", entry.name);
    }
}

/// The replay can fail: of another algorithm, of a parameter that is off by one part in a million,
/// and of a changed byte.
#[test]
fn a_change_is_seen() {
    let trace = recorded("cubic");
    let mut cubic = Selection::from_label("cubic").expect("built in");
    assert!(replay_as(&cubic, &trace).is_ok());
    cubic.set("beta", Value::Number(0.700_000_7)).expect("in range");
    let error = replay_as(&cubic, &trace).expect_err("another beta");
    let TraceError::Differs(difference) = error else { panic!("{error}") };
    assert!(difference.events > 10 && difference.recorded != difference.answered);
    assert!(replay_as(&Selection::from_label("reno").expect("built in"), &trace).is_err());
}

/// Anything but a trace is refused, and reading never panics.
#[test]
fn damaged_traces_are_refused() {
    let registry = Registry::built_in();
    let trace = recorded("packet-pair");
    assert_eq!(replay(&registry, b"selfcl"), Err(TraceError::NotATrace));
    assert_eq!(replay(&registry, b""), Err(TraceError::NotATrace));
    let mut newer = trace.clone();
    newer[6] = VERSION + 1;
    assert_eq!(replay(&registry, &newer), Err(TraceError::Version(VERSION + 1)));
    let mut refused = 0;
    for length in (7..trace.len()).step_by(29) {
        // Between two records a trace may end.
        refused += u32::from(replay(&registry, &trace[..length]) == Err(TraceError::Truncated));
    }
    assert!(refused > 100, "{refused}");
    for place in (7..trace.len()).step_by(13) {
        let mut changed = trace.clone();
        changed[place] ^= 1 << (place % 8);
        let _ = replay(&registry, &changed);
    }
}

/// Fuzzer findings worth keeping.
#[test]
fn the_corpus_of_the_fuzzer() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/replay");
    for file in fs::read_dir(folder).expect("the corpus") {
        let _ = replay(&Registry::built_in(), &fs::read(file.expect("a file").path()).expect("bytes"));
    }
}

/// The header has the algorithm, its parameters and the set-up of the connection.
#[test]
fn the_header_makes_the_same_connection() {
    let mut selection = Selection::new("limited", "lotka-volterra").expect("both are built in");
    selection = selection
        .with_estimate("packet-pairs")
        .or_else(|| Selection::new("limited", "lotka-volterra"))
        .expect("built in");
    selection.set("gamma", Value::Number(0.5)).expect("in range");
    selection.set("exp", Value::Choice("taylor4")).expect("a word of it");
    assert_eq!(selection.settings().len(), 2);
    let setup = Setup { mss: Bytes(1000), initial_window: 2.5, seed: 9, ..Setup::default() };
    let mut connection = Recorder::new(&selection, setup);
    connection.on(&Acknowledged::new(Time::ZERO, Bytes(1000)).into());
    let trace = connection.finish();
    assert!(replay(&Registry::built_in(), &trace).is_ok());
    for changed in [Setup { mss: Bytes(999), ..setup }, Setup { initial_window: 2.0, ..setup }] {
        let mut other = Recorder::new(&selection, changed);
        other.on(&Acknowledged::new(Time::ZERO, Bytes(1000)).into());
        assert_ne!(other.finish(), trace);
    }
}

/// A trace taken piece by piece is the same trace.
#[test]
fn a_trace_in_pieces() {
    let cubic = Selection::from_label("cubic").expect("built in");
    let (mut whole, mut pieces) = (Recorder::new(&cubic, Setup::default()), Vec::new());
    let mut taken = whole.clone();
    for round in 0..10 {
        let event = Acknowledged::new(Time::from_picoseconds(round), Bytes(1448)).into();
        whole.on(&event);
        taken.on(&event);
        if round % 3 == 0 {
            let length = taken.pending();
            pieces.extend(taken.take());
            assert!(length > 0 && taken.pending() == 0);
        }
    }
    pieces.extend(taken.finish());
    assert_eq!(pieces, whole.finish());
}
