//! A compiled object, prepared for the kernel: functions linked into programs, maps and types read.

use super::btf::{self, Btf, Records, kind};
use super::elf::{Elf, Relocation, Section, u32_at};

/// A map that the object declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapSpec {
    /// Its name.
    pub name: String,
    /// `BPF_MAP_TYPE_*`.
    pub kind: u32,
    /// Bytes of a key.
    pub key_size: u32,
    /// Bytes of a value.
    pub value_size: u32,
    /// How many.
    pub entries: u32,
    /// `BPF_F_*`.
    pub flags: u32,
    /// Types of key and value, by their numbers in the object; 0 without.
    pub types: (u32, u32),
    /// Constants that programs read in it: nobody changes them. Empty: none.
    pub constants: Vec<u8>,
}

/// A map that is named in the code of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Where in the code.
    pub at: usize,
    /// Name of the map.
    pub map: String,
    /// Place of a constant in the map's only value; `None`: the map itself is meant.
    pub place: Option<u32>,
}

/// A program with all functions it calls.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The member of `tcp_congestion_ops` that it implements; for a device program, its section.
    pub member: String,
    /// Instructions.
    pub code: Vec<u8>,
    /// The maps that the code references.
    pub maps: Vec<Reference>,
    /// `struct bpf_func_info`: first instruction and type of each function.
    pub functions: Vec<u8>,
    /// `struct bpf_core_relo`: accesses to kernel structures, whose offsets the kernel fills in.
    pub accesses: Vec<u8>,
}

/// An object.
#[derive(Clone, Debug, Default)]
pub struct Object {
    /// Its maps.
    pub maps: Vec<MapSpec>,
    /// Its programs.
    pub programs: Vec<Program>,
    /// `tcp_congestion_ops.flags`.
    pub flags: u32,
    /// Its BTF types, ready to load.
    pub btf: Vec<u8>,
}

const OPS: &str = ".struct_ops.link";
const INSTRUCTION: usize = 8;
/// Bytes of the largest program that the kernel takes: a million instructions
/// (BPF_COMPLEXITY_LIMIT_INSNS).
const LARGEST: usize = 1_000_000 * INSTRUCTION;
/// Most programs of an object: more than the structure has functions.
const MOST_PROGRAMS: usize = 64;
/// Sections of constants have names that begin like this.
const CONSTANTS: &str = ".rodata";

impl Object {
    /// Reads an object; `None` if it cannot be loaded.
    pub fn read(file: &[u8]) -> Option<Self> {
        let elf = Elf::read(file)?;
        let btf = btf::mended(&elf)?;
        let types = Btf::read(&btf)?;
        let ops = elf.find(OPS)?;
        let members = types.members(types.find("tcp_congestion_ops", kind::STRUCT)?);
        let member = |offset| members.iter().find(|member| member.offset == offset).map(|member| member.name);
        let mut programs = Vec::new();
        for Relocation { offset, symbol, .. } in elf.relocations(ops)? {
            let mut program = Linker::link(&elf, &types, symbol.section)?;
            program.member = member(offset)?.to_owned();
            if programs.len() == MOST_PROGRAMS {
                return None;
            }
            programs.push(program);
        }
        let flags = members.iter().find(|member| member.name == "flags")?.offset;
        let flags = u32_at(elf.sections[ops].data, flags)?;
        let maps = maps(&elf, &types)?;
        Some(Self { maps, programs, flags, btf })
    }
}

impl Object {
    /// Reads an object with one program per listed section that it contains, named after the
    /// section.
    pub fn read_sections(file: &[u8], sections: &[&str]) -> Option<Self> {
        let elf = Elf::read(file)?;
        let btf = btf::mended(&elf)?;
        let types = Btf::read(&btf)?;
        let mut programs = Vec::new();
        for name in sections {
            let Some(section) = elf.find(name) else { continue };
            let mut program = Linker::link(&elf, &types, section)?;
            program.member = (*name).to_owned();
            programs.push(program);
        }
        let maps = maps(&elf, &types)?;
        Some(Self { maps, programs, flags: 0, btf })
    }
}

/// The maps: variables of a section, each a structure whose member types describe it, and one for
/// each section of constants.
fn maps(elf: &Elf<'_>, types: &Btf<'_>) -> Option<Vec<MapSpec>> {
    let section = types.find(".maps", kind::DATASEC)?;
    let row = |number: u32| {
        let at = 3 + 3 * number as usize;
        types.word_of(section, at)
    };
    let declared = (0..types.count(section)?).map(|number| map(types, row(number)?));
    let is_constant =
        |section: &&Section<'_>| section.name.starts_with(CONSTANTS) && !section.data.is_empty();
    let constants = elf.sections.iter().filter(is_constant).map(|section| Some(constants(section)));
    declared.chain(constants).collect()
}

/// A map whose only value is a section of constants.
fn constants(section: &Section<'_>) -> MapSpec {
    const ARRAY: u32 = 2;
    const READ_ONLY_FOR_PROGRAMS: u32 = 1 << 7;
    MapSpec {
        name: section.name.to_owned(),
        kind: ARRAY,
        key_size: 4,
        value_size: section.data.len() as u32,
        entries: 1,
        flags: READ_ONLY_FOR_PROGRAMS,
        types: (0, 0),
        constants: section.data.to_vec(),
    }
}

fn map(types: &Btf<'_>, variable: u32) -> Option<MapSpec> {
    let mut spec = MapSpec { name: types.name(variable)?.to_owned(), ..MapSpec::default() };
    for member in types.members(types.size(variable)?) {
        // A pointer that encodes the member's value: an array of this length, or a type of that
        // size.
        let pointed = types.size(member.kind)?;
        let number = || (types.kind(pointed) == Some(kind::ARRAY)).then(|| types.elements(pointed)).flatten();
        match member.name {
            "type" => spec.kind = number()?,
            "max_entries" => spec.entries = number()?,
            "map_flags" => spec.flags = number()?,
            "value_size" => spec.value_size = number()?,
            "key" => (spec.key_size, spec.types.0) = (types.bytes(pointed)?, pointed),
            "value" => (spec.value_size, spec.types.1) = (types.bytes(pointed)?, pointed),
            _ => return None,
        }
    }
    Some(spec)
}

/// A function in the program that is being linked.
#[derive(Clone, Copy, Debug)]
struct Piece {
    section: usize,
    start: usize,
    end: usize,
    /// Its offset in the program.
    base: usize,
}

struct Linker<'e, 'a> {
    elf: &'e Elf<'a>,
    program: Program,
    pieces: Vec<Piece>,
}

impl Linker<'_, '_> {
    /// Links the program of a section with the functions that it calls.
    fn link(elf: &Elf<'_>, types: &Btf<'_>, section: usize) -> Option<Program> {
        let mut linker = Linker { elf, program: Program::default(), pieces: Vec::new() };
        linker.add(section, 0, elf.sections.get(section)?.data.len())?;
        let mut done = 0;
        while let Some(piece) = linker.pieces.get(done).copied() {
            linker.resolve(piece)?;
            linker.describe(types, piece)?;
            done += 1;
        }
        Some(linker.program)
    }

    fn add(&mut self, section: usize, start: usize, end: usize) -> Option<usize> {
        let base = self.program.code.len();
        let code = self.elf.sections.get(section)?.data.get(start..end)?;
        if code.len() % INSTRUCTION != 0 || base + code.len() > LARGEST {
            return None;
        }
        self.program.code.extend_from_slice(code);
        self.pieces.push(Piece { section, start, end, base });
        Some(base)
    }

    /// Offset of the function that starts here, linked on first use.
    fn function(&mut self, section: usize, start: usize) -> Option<usize> {
        let own = |piece: &&Piece| piece.section == section && piece.start == start;
        if let Some(piece) = self.pieces.iter().find(own) {
            return Some(piece.base);
        }
        let function = self
            .elf
            .symbols
            .iter()
            .find(|symbol| symbol.is_function && symbol.section == section && symbol.value == start)?;
        self.add(section, start, start.checked_add(function.size)?)
    }

    fn resolve(&mut self, piece: Piece) -> Option<()> {
        let relocations = self.elf.relocations(piece.section)?;
        for offset in (piece.start..piece.end).step_by(INSTRUCTION) {
            let at = piece.base + offset - piece.start;
            let relocation = relocations.iter().find(|relocation| relocation.offset == offset);
            let (code, registers) = (self.program.code[at], self.program.code[at + 1]);
            if code == 0x85 && registers >> 4 == 1 {
                let steps = i64::from(u32_at(&self.program.code, at + 4)? as i32) + 1;
                let (section, from) = match relocation {
                    Some(Relocation { symbol, .. }) => (symbol.section, symbol.value),
                    None => (piece.section, offset),
                };
                let target = i64::try_from(from).ok()?.checked_add(steps * INSTRUCTION as i64)?;
                let base = self.function(section, usize::try_from(target).ok()?)?;
                let distance = (base as i64 - at as i64) / INSTRUCTION as i64 - 1;
                self.program.code[at + 4..at + 8].copy_from_slice(&(distance as i32).to_le_bytes());
            } else if let Some(Relocation { symbol, .. }) = relocation {
                let section = self.elf.sections.get(symbol.section)?;
                // A load of 64 bits has two instructions.
                if offset + 2 * INSTRUCTION > piece.end {
                    return None;
                }
                let (map, place) = match section.name {
                    ".maps" => (symbol.name, None),
                    name if name.starts_with(CONSTANTS) => {
                        let place =
                            (u32_at(&self.program.code, at + 4)? as usize).checked_add(symbol.value)?;
                        (name, Some(u32::try_from(place).ok().filter(|_| place < section.data.len())?))
                    }
                    _ => return None,
                };
                self.program.maps.push(Reference { at, map: map.to_owned(), place });
            }
        }
        Some(())
    }

    fn describe(&mut self, types: &Btf<'_>, piece: Piece) -> Option<()> {
        let extra = btf::extra(self.elf, types, self.elf.sections.get(piece.section)?.name)?;
        let moved = |records: &Records<'_>, unit: usize, out: &mut Vec<u8>| {
            for (offset, rest) in records.iter().filter(|record| (piece.start..piece.end).contains(&record.0))
            {
                out.extend_from_slice(&(((piece.base + offset - piece.start) / unit) as u32).to_le_bytes());
                out.extend_from_slice(rest);
            }
        };
        // The kernel counts functions in instructions, accesses in bytes.
        moved(&extra.functions, INSTRUCTION, &mut self.program.functions);
        moved(&extra.accesses, 1, &mut self.program.accesses);
        Some(())
    }
}
