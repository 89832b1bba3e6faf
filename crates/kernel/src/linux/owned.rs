//! This program's congestion controls in the kernel, found by what the kernel itself states.
//!
//! The kernel holds a map of kind STRUCT_OPS as long as the name is registered or a connection uses
//! it, whether or not a process lives. Its value names the programs, and these name their maps. So
//! nothing is pinned, a killed process is found again, and nothing that another program can write
//! is believed: not a map's name, nor numbers in a page. Kind, sizes and flags of each map must be
//! those of this program's objects before it is mapped or read.

use std::io;

use super::bpf::{MapFd, all_maps, map_kind, program, word};
use super::load::{Operations, STRUCT_OPS, kernel_types};
use super::object::MapSpec;
use super::register::OPERATIONS;
use super::sys::user;

/// A congestion control of this program.
#[derive(Debug)]
pub struct Owned {
    /// The map that is registered, or was.
    pub operations: MapFd,
    /// Its name, as the kernel has it.
    pub name: String,
    /// The maps of its programs.
    maps: Vec<MapFd>,
}

impl Owned {
    /// The map that is declared like this: name with `prefix`, kind, sizes and flags.
    pub fn map(&self, prefix: &str, spec: &MapSpec) -> Option<&MapFd> {
        let name = format!("{prefix}{}", spec.name);
        self.maps.iter().find(|map| {
            let shape = map.shape();
            let sizes = (shape.key_size, shape.value_size, shape.entries, shape.flags);
            shape.is_named(&name)
                && shape.kind == spec.kind
                && sizes == (spec.key_size, spec.value_size, spec.entries, spec.flags)
        })
    }
}

/// All of root's, and those of this process's user. Needs CAP_SYS_ADMIN.
pub fn owned() -> io::Result<Vec<Owned>> {
    let is_candidate = |map: &MapFd| {
        let shape = map.shape();
        (shape.kind, shape.key_size, shape.entries) == (map_kind::STRUCT_OPS, 4, 1)
            && shape.is_named(OPERATIONS)
    };
    let candidates: Vec<_> = all_maps()?.filter(is_candidate).collect();
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    let types = kernel_types().map_err(|error| io::Error::other(error.to_string()))?;
    let structure = Operations::find(&types).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(candidates.into_iter().filter_map(|map| read(map, &structure)).collect())
}

/// Reads a candidate; `None` if it is another program's, or was never filled.
fn read(operations: MapFd, structure: &Operations<'_>) -> Option<Owned> {
    let shape = operations.shape();
    if shape.structure != structure.around || Some(shape.value_size) != structure.size() {
        return None;
    }
    let value = operations.lookup(&[0; 4]).ok()?;
    let numbers =
        structure.functions().into_iter().filter(|at| at + 8 <= value.len()).map(|at| word(&value, at));
    let mut ids = Vec::new();
    for number in numbers.filter(|number| *number != 0) {
        // It may have gone meanwhile.
        let program = program(number).ok()?;
        if program.kind != STRUCT_OPS || ![0, user()].contains(&program.owner) {
            return None;
        }
        ids.extend(program.maps);
    }
    ids.sort_unstable();
    ids.dedup();
    let at = structure.offset("name")?;
    let name = value.get(at..at + 16)?.split(|byte| *byte == 0).next()?;
    Some(Owned {
        name: std::str::from_utf8(name).ok()?.to_owned(),
        maps: ids.into_iter().filter_map(|id| MapFd::by_id(id).ok()).collect(),
        operations,
    })
}
