//! Records of real connections: the format, and the corpora in `tests/logs`, each replayed to the
//! bit.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use selfclock_congestion::trace::replay as replay_trace;
use selfclock_congestion::{Registry, Selection};
use selfclock_kernel::bridge::Answer;
use selfclock_kernel::event::{KernelEvent, kind};
use selfclock_kernel::log::{Entry, LogError, Reader, VERSION, Writer, replay, traces};
use selfclock_kernel::objects::OBJECTS;
use selfclock_kernel::phase::{PHASES, Phases, phase};
use selfclock_kernel::series::series;

fn entries() -> Vec<Entry> {
    let event = |number: u64| KernelEvent {
        id: 1 + number % 2,
        slot: (number % 2) as u32,
        number: 1 + number / 2,
        now: number * 1_000_003,
        rtt_us: if number.is_multiple_of(3) { -1 } else { i32::MAX },
        mss: 1448,
        family: 2,
        kind: if number == 9 { kind::RELEASE } else { kind::ACK },
        snd_una: u32::MAX.wrapping_add(number as u32),
        ..KernelEvent::default()
    };
    let entry = |number| Entry {
        event: event(number),
        answer: (number != 9).then(|| Answer {
            cwnd: number as u32,
            pacing: u64::MAX / (1 + number),
            ..Answer::default()
        }),
    };
    (0..10).map(entry).collect()
}

fn written() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &Selection::default(), "a test").expect("memory");
    entries().iter().for_each(|entry| writer.write(entry).expect("memory"));
    writer.finish().expect("memory")
}

/// Writing and reading agree: two interleaved connections, extreme values, an end without an
/// answer.
#[test]
fn a_log_is_read_as_it_was_written() {
    let log = written();
    let reader = Reader::new(&log).expect("a log");
    assert_eq!(reader.about(), "a test");
    assert_eq!(reader.selection(&Registry::built_in()).expect("built in").label(), "reno");
    let read: Vec<_> = reader.collect::<Result<_, _>>().expect("whole");
    assert_eq!(read, entries());
}

/// A truncated or garbled log is an error; nothing panics, and no partial event is accepted.
#[test]
fn damaged_logs() {
    let log = written();
    for length in 0..log.len() {
        let failed = Reader::new(&log[..length]).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        assert!(
            matches!(failed, Err(LogError::NotALog | LogError::Incomplete(0..=10))),
            "{length}: {failed:?}"
        );
    }
    let mut other = log.clone();
    other[8] = VERSION + 1;
    let error = Reader::new(&other).expect_err("another version");
    assert_eq!(
        error.to_string(),
        format!("the record is of version {}; this program reads version {VERSION}", VERSION + 1)
    );
    for place in 0..log.len() {
        for bit in 0..8 {
            let mut garbled = log.clone();
            garbled[place] ^= 1 << bit;
            let _ = replay(&Registry::built_in(), &garbled, None);
        }
    }
}

/// Records of decisions that the kernel made itself have names that begin like this.
const IN_KERNEL: &str = "in-kernel-";

fn corpora() -> BTreeMap<String, Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs");
    let files = fs::read_dir(folder).expect("there").map(|file| file.expect("readable").path());
    files
        .map(|path| {
            let name = path.file_stem().expect("named").to_string_lossy().into_owned();
            (name, fs::read(path).expect("readable"))
        })
        .collect()
}

/// Real connections of Linux 6.18: the same decisions, to the bit; as traces they replay too.
#[test]
fn recorded_connections_replay() {
    let registry = Registry::built_in();
    let corpora = corpora();
    assert!(corpora.len() >= 10);
    for (name, log) in &corpora {
        let done = replay(&registry, log, None).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(done.events > 500 && done.answers > 500, "{name}: {done:?}");
        let mut told = 0;
        traces(&registry, log, |_, trace| {
            told += replay_trace(&registry, &trace).unwrap_or_else(|error| panic!("{name}: {error}")).events;
        })
        .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(told > done.events / 2, "{name}: {told}");
    }
}

/// Required contents of the corpora, without which equality would prove little. The kernel's own
/// decisions are on record for every algorithm compiled for it.
#[test]
fn corpora_have_every_kind_of_event() {
    let mut seen = Phases::new();
    let mut in_kernel = Phases::new();
    for (name, log) in corpora() {
        let kernel = name.starts_with(IN_KERNEL);
        for entry in Reader::new(&log).expect("a log") {
            let what = phase(&entry.expect("whole").event);
            *seen.entry(what).or_default() += 1;
            *in_kernel.entry(what).or_default() += u64::from(kernel);
        }
    }
    // No packets of a device and no options are in the corpora.
    let elsewhere = ["segment sent", "option of the peer", "data with an option", "segment with an option"];
    for what in PHASES.into_iter().filter(|what| !elsewhere.contains(what)) {
        assert!(seen.contains_key(what), "no {what} in {seen:?}");
        assert!(in_kernel[what] > 0, "no {what} in {in_kernel:?}");
    }
    let corpora = corpora();
    for (label, _) in OBJECTS {
        assert!(corpora.contains_key(&format!("{IN_KERNEL}{label}")), "no record of {label}");
    }
}

/// A differing answer is found, at the first event where it differs.
#[test]
fn another_algorithm_answers_otherwise() {
    let registry = Registry::built_in();
    let log = &corpora()["reno"];
    let other = registry.read("reno:threshold=whole-segments").expect("built in");
    let Err(LogError::Differs(difference)) = replay(&registry, log, Some(&other)) else {
        panic!("it rounds down")
    };
    assert_ne!(difference.recorded, difference.answered);
    // Half a segment of the threshold, which shows when the window grows from there.
    assert_ne!(Some(&difference.state), difference.recorded_state.as_ref());
    let said = LogError::Differs(difference).to_string();
    assert!(said.starts_with("event ") && said.contains("on record"), "{said}");
}

/// The table of flows: sampled every 10 ms from the first event on, acknowledged bytes never
/// decrease, and the last sample agrees with the last event.
#[test]
fn a_record_as_a_table() {
    let log = &corpora()["reno"];
    let table = series(&Registry::built_in(), log, 10_000_000).expect("a record");
    let busiest = *table
        .flow
        .iter()
        .max_by_key(|id| table.flow.iter().filter(|other| other == id).count())
        .expect("some");
    let rows: Vec<usize> = (0..table.flow.len()).filter(|row| table.flow[*row] == busiest).collect();
    assert!(rows.len() > 50);
    for pair in rows.windows(2) {
        assert!((table.time_s[pair[1]] - table.time_s[pair[0]] - 0.01).abs() < 1e-9);
        assert!(table.acknowledged_bytes[pair[0]] <= table.acknowledged_bytes[pair[1]]);
    }
    for row in rows {
        assert!(table.sent_bytes[row] >= table.acknowledged_bytes[row] && table.cwnd_bytes[row] >= 1448.0);
        assert!(table.srtt_s[row] < 1.0 && table.pacing_bps[row].is_nan());
    }
}
