//! BTF, the types of a kernel or an object: names, sizes, members; and the per-section records of
//! `.BTF.ext`.

use super::elf::{Elf, text_at, u16_at, u32_at};

/// Kinds of types, `BTF_KIND_*`.
pub mod kind {
    pub const PTR: u32 = 2;
    pub const ARRAY: u32 = 3;
    pub const STRUCT: u32 = 4;
    pub const TYPEDEF: u32 = 8;
    pub const FUNC_PROTO: u32 = 13;
    pub const DATASEC: u32 = 15;
}

/// Bytes that follow the 12 common to all types, by kind: fixed, and per member.
const fn more(kind: u32) -> (usize, usize) {
    match kind {
        1 | 14 | 17 => (4, 0),
        3 => (12, 0),
        4 | 5 | 15 | 19 => (0, 12),
        6 | 13 => (0, 8),
        _ => (0, 0),
    }
}

/// A member of a structure.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// Its name.
    pub name: &'a str,
    /// Number of its type.
    pub kind: u32,
    /// Offset in the structure, in bytes.
    pub offset: usize,
}

/// Types.
#[derive(Clone, Debug)]
pub struct Btf<'a> {
    raw: &'a [u8],
    strings: &'a [u8],
    /// Offset of each type; number 0 is `void` and has none.
    places: Vec<usize>,
}

impl<'a> Btf<'a> {
    /// Reads types; `None` if malformed.
    pub fn read(raw: &'a [u8]) -> Option<Self> {
        if u16_at(raw, 0)? != 0xeb9f {
            return None;
        }
        let word = |at| u32_at(raw, at).map(|word| word as usize);
        let header = word(4)?;
        let (types, strings) = (header + word(8)?, header + word(16)?);
        let (end, strings) = (types + word(12)?, raw.get(strings..strings + word(20)?)?);
        let (mut places, mut at) = (vec![0], types);
        while at < end {
            places.push(at);
            let info = u32_at(raw, at + 4)?;
            let (once, each) = more(info >> 24 & 31);
            at += 12 + once + each * (info & 0xffff) as usize;
        }
        Some(Self { raw, strings, places })
    }

    fn word(&self, id: u32, word: usize) -> Option<u32> {
        let place = *self.places.get(id as usize)?;
        if id == 0 { None } else { u32_at(self.raw, place + 4 * word) }
    }
    /// Offset of a type, in bytes.
    pub fn place(&self, id: u32) -> Option<usize> {
        self.places.get(id as usize).copied()
    }
    /// `BTF_KIND_*` of a type.
    pub fn kind(&self, id: u32) -> Option<u32> {
        Some(self.word(id, 1)? >> 24 & 31)
    }
    /// Members of a type.
    pub fn count(&self, id: u32) -> Option<u32> {
        Some(self.word(id, 1)? & 0xffff)
    }
    /// The name of a type.
    pub fn name(&self, id: u32) -> Option<&'a str> {
        text_at(self.strings, self.word(id, 0)? as usize)
    }
    /// A string of the types.
    pub fn string(&self, at: u32) -> Option<&'a str> {
        text_at(self.strings, at as usize)
    }
    /// The size field of a type; for a pointer or a function, the number of its target type.
    pub fn size(&self, id: u32) -> Option<u32> {
        self.word(id, 2)
    }
    /// Elements of an array.
    pub fn elements(&self, id: u32) -> Option<u32> {
        self.word(id, 5)
    }
    /// Word `word` of a type, including those of its members.
    pub fn word_of(&self, id: u32, word: usize) -> Option<u32> {
        self.word(id, word)
    }
    /// Size of a type in bytes, through typedefs and qualifiers.
    pub fn bytes(&self, id: u32) -> Option<u32> {
        let mut id = id;
        // A damaged file may name types in a circle; the kernel allows 32 (MAX_RESOLVE_DEPTH).
        for _ in 0..32 {
            match self.kind(id)? {
                kind::TYPEDEF => id = self.size(id)?,
                kind::PTR => return Some(8),
                _ => return self.size(id),
            }
        }
        None
    }
    /// All types.
    pub fn ids(&self) -> std::ops::Range<u32> {
        1..self.places.len() as u32
    }
    /// The type of this kind with this name.
    pub fn find(&self, name: &str, kind: u32) -> Option<u32> {
        self.ids().find(|id| self.kind(*id) == Some(kind) && self.name(*id) == Some(name))
    }
    /// The members of a structure.
    pub fn members(&self, id: u32) -> Vec<Member<'a>> {
        let read = |member: u32| {
            let at = 3 + 3 * member as usize;
            Some(Member {
                name: self.string(self.word(id, at)?)?,
                kind: self.word(id, at + 1)?,
                offset: (self.word(id, at + 2)? & 0xff_ffff) as usize / 8,
            })
        };
        (0..self.count(id).unwrap_or(0)).filter_map(read).collect()
    }
}

/// The object's types, completed with what the compiler leaves to the linker: section sizes and
/// variable offsets.
pub fn mended(elf: &Elf<'_>) -> Option<Vec<u8>> {
    let raw = elf.sections[elf.find(".BTF")?].data;
    let btf = Btf::read(raw)?;
    let mut mended = raw.to_vec();
    for id in btf.ids().filter(|id| btf.kind(*id) == Some(kind::DATASEC)) {
        let section = elf.find(btf.name(id)?)?;
        let place = btf.place(id)?;
        let mut put = |at: usize, number: usize| {
            mended.get_mut(at..at + 4)?.copy_from_slice(&(number as u32).to_le_bytes());
            Some(())
        };
        put(place + 8, elf.sections[section].data.len())?;
        let row = |number: u32| {
            let at = place + 12 + 12 * number as usize;
            let (variable, size) = (u32_at(raw, at)?, u32_at(raw, at + 8)?);
            let name = btf.name(variable)?;
            let symbol =
                elf.symbols.iter().find(|symbol| symbol.section == section && symbol.name == name)?;
            Some((symbol.value, variable, size))
        };
        let mut rows: Vec<_> = (0..btf.count(id)?).map(row).collect::<Option<_>>()?;
        rows.sort_unstable();
        for (number, (offset, variable, size)) in rows.into_iter().enumerate() {
            let at = place + 12 + 12 * number;
            put(at, variable as usize)?;
            put(at + 4, offset)?;
            put(at + 8, size as usize)?;
        }
    }
    Some(mended)
}

/// Records of `.BTF.ext` of one section: offset in bytes, and the rest of the record.
pub type Records<'a> = Vec<(usize, &'a [u8])>;

/// The records of a section of code.
#[derive(Clone, Debug, Default)]
pub struct Extra<'a> {
    /// Type of each function.
    pub functions: Records<'a>,
    /// Target of each access to a kernel structure.
    pub accesses: Records<'a>,
}

/// The records of the section with this name.
pub fn extra<'a>(elf: &Elf<'a>, btf: &Btf<'_>, section: &str) -> Option<Extra<'a>> {
    let data = elf.sections[elf.find(".BTF.ext")?].data;
    let word = |at| u32_at(data, at).map(|word| word as usize);
    let header = word(4)?;
    let table = |offset: usize| -> Option<Records<'a>> {
        let (mut at, length) = (header + word(offset)?, word(offset + 4)?);
        let end = at + length;
        if length == 0 {
            return Some(Vec::new());
        }
        // A record begins with its offset.
        let size = word(at).filter(|size| *size >= 4)?;
        at += 4;
        while at < end {
            let (name, count) = (btf.string(u32_at(data, at)?)?, word(at + 4)?);
            at += 8;
            if name == section {
                let rows = data.get(at..at + size * count)?.chunks_exact(size);
                return rows.map(|row| Some((u32_at(row, 0)? as usize, &row[4..]))).collect();
            }
            at += size * count;
        }
        Some(Vec::new())
    };
    Some(Extra { functions: table(8)?, accesses: table(24)? })
}
