//! The compiled kernel part: what is in it, that both sides know the same structures, and that it
//! is what its source compiles to.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

use selfclock_congestion::Registry;
use selfclock_kernel::event::KernelEvent;
use selfclock_kernel::linux::device::{EDGE, TAP};
use selfclock_kernel::linux::load::BRIDGE;
use selfclock_kernel::linux::object::Object;
use selfclock_kernel::linux::ring;
use selfclock_kernel::linux::slots::SLOTS;
use selfclock_kernel::objects::{OBJECTS, object_of};

/// The operations, the maps, and that calls and maps are resolved within the code.
#[test]
fn programs_and_maps() {
    let object = Object::read(BRIDGE).expect("an object");
    let mut members: Vec<_> = object.programs.iter().map(|program| program.member.as_str()).collect();
    members.sort_unstable();
    let expected = ["cong_control", "cwnd_event", "init", "release", "set_state", "ssthresh", "undo_cwnd"];
    assert_eq!(members, expected);
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

/// The event of the ring as the C side declares it has the size that is read here; a text that is
/// no object is none.
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

/// Where the compiler that the object was made with is installed, it makes the same bytes again.
#[test]
fn the_object_is_what_its_source_compiles_to() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("bpf");
    let version = std::fs::read_to_string(folder.join("COMPILER")).expect("says what it was made with");
    let major = version.trim();
    let (clang, strip) = (format!("clang-{major}"), format!("llvm-strip-{major}"));
    let there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !there(&clang) || !there(&strip) {
        eprintln!("left out: {clang} and {strip} are not installed");
        return;
    }
    let out = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let made = Command::new("sh").arg(folder.join("build.sh")).arg(out).status().expect("a shell");
    assert!(made.success());
    for (name, object) in [("bridge", BRIDGE), ("tap", TAP), ("edge", EDGE)] {
        let made = std::fs::read(out.join(format!("{name}.bpf.o"))).expect("made");
        assert!(made == object, "{name}: make kernel-object compiles it again");
    }
}

/// The programs for a device: one at the way out, one at each way; the first shares the maps of the
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
        assert_eq!((object.programs.len(), object.flags), (7, 1), "{label}");
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
