//! The compiled kernel part: its contents, the agreement of structures on both sides, and that its
//! source compiles to it.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use selfclock_congestion::{Registry, Setup};
use selfclock_kernel::bridge::Outgoing;
use selfclock_kernel::event::KernelEvent;
use selfclock_kernel::linux::device::{EDGE, TAP};
use selfclock_kernel::linux::load::{BRIDGE, WINDOW};
use selfclock_kernel::linux::object::Object;
use selfclock_kernel::linux::options::{OPTIONS, OptionCounts};
use selfclock_kernel::linux::ring;
use selfclock_kernel::linux::slots::SLOTS;
use selfclock_kernel::objects::{OBJECTS, object_of};

/// The operations, the maps, and that calls and maps are resolved within the code.
#[test]
fn programs_and_maps() {
    let own = ["cwnd_event", "init", "release", "set_state", "ssthresh", "undo_cwnd"];
    has_programs_and_maps(BRIDGE, &[&own[..], &["cong_control"]].concat());
    has_programs_and_maps(WINDOW, &[&own[..], &["cong_avoid", "in_ack_event", "pkts_acked"]].concat());
}

fn has_programs_and_maps(object: &[u8], expected: &[&str]) {
    let object = Object::read(object).expect("an object");
    let members: BTreeSet<_> = object.programs.iter().map(|program| program.member.as_str()).collect();
    assert_eq!(members, expected.iter().copied().collect());
    // TCP_CONG_NON_RESTRICTED: it may be the default of a namespace.
    assert_eq!(object.flags, 1);
    let maps: Vec<_> = object
        .maps
        .iter()
        .map(|map| (map.name.as_str(), map.kind, map.key_size, map.value_size, map.entries, map.flags))
        .collect();
    let expected = [
        ("control", 2, 4, 128, 1, 1 << 10),
        ("events", 27, 0, 0, ring::SIZE as u32, 0),
        ("free_slots", 23, 0, 4, SLOTS, 0),
        ("slots", 2, 4, 128, SLOTS, 1 << 10),
    ];
    let mut sorted = maps.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, expected);
    for program in &object.programs {
        assert_eq!(program.code.len() % 8, 0);
        assert!(
            program.maps.iter().all(|each| program.code[each.at] == 0x18),
            "{}: loads of 64 bits",
            program.member
        );
        // Every call within the program lands on a function.
        let functions: Vec<usize> = program
            .functions
            .chunks_exact(8)
            .map(|row| u32::from_le_bytes([row[0], row[1], row[2], row[3]]) as usize)
            .collect();
        assert_eq!(functions.first(), Some(&0));
        for (index, code) in program.code.chunks_exact(8).enumerate() {
            if code[0] == 0x85 && code[1] >> 4 == 1 {
                let steps = i32::from_le_bytes([code[4], code[5], code[6], code[7]]);
                let target = (index as i64 + 1 + i64::from(steps)) as usize;
                assert!(functions.contains(&target), "{}: {index} calls {target}", program.member);
            }
        }
    }
}

/// The C declaration of the ring's event has the size that is read here; an arbitrary text is not
/// an object.
#[test]
fn both_sides_know_the_same_event() {
    let source = include_str!("../bpf/shared.h");
    let body =
        source.split("struct event {").nth(1).and_then(|rest| rest.split("};").next()).expect("declared");
    let mut size = 0;
    for line in body.lines() {
        let code = line.split("/*").next().unwrap_or_default().trim().trim_end_matches(';');
        let Some((kind, names)) = code.split_once(' ') else { continue };
        let bytes = match kind {
            "u64" => 8,
            "u32" | "s32" => 4,
            "u16" => 2,
            "u8" => 1,
            other => panic!("{other}"),
        };
        for name in names.split(',') {
            let count = name
                .split_once('[')
                .map_or(1, |(_, rest)| rest.trim_end_matches(']').parse().expect("a number of elements"));
            size += bytes * count;
        }
    }
    assert_eq!(size, KernelEvent::SIZE);
    assert!(Object::read(b"no object").is_none());
    assert!(Object::read(&BRIDGE[..BRIDGE.len() / 2]).is_none(), "cut off");
}

/// Notes for the end of `make test` what is not tested here (tests/left_out.py).
fn leave_out(reason: &str) {
    use std::io::Write;
    let Ok(path) = std::env::var("LEFT_OUT") else { return };
    let mut notes = std::fs::OpenOptions::new().create(true).append(true).open(path).expect("a file");
    writeln!(notes, r#"{{"subject": "objects from source", "reason": "{reason}", "count": 1}}"#)
        .expect("a line");
}

/// With the object's compiler installed, the build reproduces it byte for byte.
#[test]
fn the_object_is_what_its_source_compiles_to() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("bpf");
    let version = std::fs::read_to_string(folder.join("COMPILER")).expect("says what it was made with");
    let major = version.trim();
    let (clang, strip) = (format!("clang-{major}"), format!("llvm-strip-{major}"));
    let there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !there(&clang) || !there(&strip) {
        leave_out(&format!("{clang} and {strip} are not installed"));
        return;
    }
    let out = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let made = Command::new("sh").arg(folder.join("build.sh")).arg(out).status().expect("a shell");
    assert!(made.success());
    for (name, object) in
        [("bridge", BRIDGE), ("window", WINDOW), ("tap", TAP), ("edge", EDGE), ("options", OPTIONS)]
    {
        let made = std::fs::read(out.join(format!("{name}.bpf.o"))).expect("made");
        assert!(made == object, "{name}: make kernel-object compiles it again");
    }
}

/// The device programs: one at egress, one in each direction; the first shares the maps of the
/// congestion control.
#[test]
fn programs_for_a_device() {
    let sections = ["tcx/ingress", "tcx/egress"];
    let members = |object: &[u8]| {
        let object = Object::read_sections(object, &sections).expect("an object");
        let mut maps: Vec<_> = object.maps.into_iter().map(|map| map.name).collect();
        maps.sort_unstable();
        let members: Vec<_> = object.programs.into_iter().map(|program| program.member).collect();
        (members, maps)
    };
    let (tap, maps) = members(TAP);
    assert_eq!(tap, ["tcx/egress"]);
    assert!(["control", "device", "events", "slots"].iter().all(|map| maps.iter().any(|own| own == map)));
    let (edge, maps) = members(EDGE);
    assert_eq!(edge, sections);
    assert_eq!(maps, ["device", "flows", "limits", "passages"]);
    assert!(Object::read_sections(b"no object", &sections).is_none());
}

/// The program for options: one, with memory per socket, and structures of the sizes written here.
#[test]
fn a_program_for_options() {
    let object = Object::read_sections(OPTIONS, &["sockops"]).expect("an object");
    assert_eq!(object.programs.len(), 1);
    let size = |name: &str| object.maps.iter().find(|map| map.name == name).expect("declared").value_size;
    assert_eq!(size("outgoing") as usize, Outgoing::SIZE);
    assert_eq!(size("settings") as usize, 8 + Outgoing::SIZE);
    assert_eq!(size("counts") as usize, size_of::<OptionCounts>());
    let storage = object.maps.iter().find(|map| map.name == "progress").expect("declared");
    assert_eq!((storage.kind, storage.flags), (24, 1));
}

/// Every compiled algorithm is found by the label it is listed with, and can be read: the
/// operations, the maps that the loader fills and looks at, and constants within their sections.
#[test]
fn objects_of_algorithms() {
    let registry = Registry::built_in();
    let mut with_constants = Vec::new();
    for (label, bytes) in OBJECTS {
        let selection = registry.read(label).expect("a label of the library");
        assert!(object_of(&selection).is_some_and(|found| found == *bytes), "{label} is not found");
        let words = selection.parameter_words().expect("built in");
        let object = Object::read(bytes).unwrap_or_else(|| panic!("{label} cannot be read"));
        // Three operations in the place of cong_control.
        let only_grows = selection.controller(Setup::default()).only_grows();
        let programs = if only_grows { 9 } else { 7 };
        assert_eq!((object.programs.len(), object.flags), (programs, 1), "{label}");
        let map = |name: &str| object.maps.iter().find(|map| map.name == name);
        assert!(["control", "records", "flows"].iter().all(|name| map(name).is_some()), "{label}");
        assert!(map("parameters").is_some_and(|map| map.value_size as usize >= 8 * words.len()), "{label}");
        for reference in object.programs.iter().flat_map(|program| &program.maps) {
            let named = map(&reference.map).unwrap_or_else(|| panic!("{label}: no {}", reference.map));
            let Some(place) = reference.place else { continue };
            assert!((place as usize) < named.constants.len(), "{label}: {place} in {}", named.name);
            with_constants.push(*label);
        }
    }
    with_constants.dedup();
    // Its logarithm has tables.
    assert_eq!(with_constants, ["highspeed"]);
    let other = registry.read("xcp").expect("an algorithm that is not compiled");
    assert_eq!(object_of(&other), None);
}
