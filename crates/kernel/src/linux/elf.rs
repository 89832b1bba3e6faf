//! Sections, symbols and relocations of a relocatable 64-bit little-endian ELF file, as a BPF
//! compiler writes it.

/// A section.
#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    /// Its name.
    pub name: &'a str,
    /// `SHT_*`.
    pub kind: u32,
    /// Its contents.
    pub data: &'a [u8],
    /// Number of a linked section: of a symbol table, its strings.
    pub link: usize,
    /// Of relocations, the section they apply to.
    pub info: usize,
}

/// A symbol.
#[derive(Clone, Copy, Debug)]
pub struct Symbol<'a> {
    /// Its name; empty for a section.
    pub name: &'a str,
    /// It is a function.
    pub is_function: bool,
    /// Number of its section.
    pub section: usize,
    /// Its offset in the section.
    pub value: usize,
    /// Its size in bytes.
    pub size: usize,
}

/// A place to be filled in.
#[derive(Clone, Copy, Debug)]
pub struct Relocation<'a> {
    /// Offset from the start of the section, in bytes.
    pub offset: usize,
    /// The symbol of a relocation.
    pub symbol: Symbol<'a>,
}

/// An object file.
#[derive(Clone, Debug)]
pub struct Elf<'a> {
    /// By their numbers.
    pub sections: Vec<Section<'a>>,
    /// All of them.
    pub symbols: Vec<Symbol<'a>>,
}

const SYMBOLS: u32 = 2;
const RELOCATIONS: u32 = 9;

pub(super) fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*data.get(at..)?.first_chunk()?))
}
pub(super) fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*data.get(at..)?.first_chunk()?))
}
pub(super) fn u64_at(data: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*data.get(at..)?.first_chunk()?))
}
fn size_at(data: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u64_at(data, at)?).ok()
}
/// The text up to the next zero byte.
pub(super) fn text_at(data: &[u8], at: usize) -> Option<&str> {
    let rest = data.get(at..)?;
    std::str::from_utf8(rest.split(|byte| *byte == 0).next()?).ok()
}

impl<'a> Elf<'a> {
    /// Reads an object; `None` if malformed.
    pub fn read(file: &'a [u8]) -> Option<Self> {
        if !file.starts_with(b"\x7fELF\x02\x01") {
            return None;
        }
        let table = size_at(file, 40)?;
        let (count, names) = (usize::from(u16_at(file, 60)?), usize::from(u16_at(file, 62)?));
        let header = |number: usize| file.get(table.checked_add(number * 64)?..);
        let data = |number: usize| {
            let header = header(number)?;
            let (offset, size) = (size_at(header, 24)?, size_at(header, 32)?);
            file.get(offset..offset.checked_add(size)?)
        };
        let names = data(names)?;
        let sections = (0..count).map(|number| {
            let header = header(number)?;
            Some(Section {
                name: text_at(names, u32_at(header, 0)? as usize)?,
                kind: u32_at(header, 4)?,
                data: data(number).unwrap_or_default(),
                link: u32_at(header, 40)? as usize,
                info: u32_at(header, 44)? as usize,
            })
        });
        let sections: Vec<_> = sections.collect::<Option<_>>()?;
        let symbols = match sections.iter().find(|section| section.kind == SYMBOLS) {
            Some(table) => read_symbols(table.data, sections.get(table.link)?.data)?,
            None => Vec::new(),
        };
        Some(Self { sections, symbols })
    }

    /// Number of the section with this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.sections.iter().position(|section| section.name == name)
    }

    /// The relocations of a section.
    pub fn relocations(&self, section: usize) -> Option<Vec<Relocation<'a>>> {
        let own = |table: &&Section<'a>| table.kind == RELOCATIONS && table.info == section;
        let Some(table) = self.sections.iter().find(own) else { return Some(Vec::new()) };
        let read = |row: &[u8]| {
            let symbol = *self.symbols.get(u32_at(row, 12)? as usize)?;
            Some(Relocation { offset: size_at(row, 0)?, symbol })
        };
        table.data.chunks_exact(16).map(read).collect()
    }
}

fn read_symbols<'a>(table: &'a [u8], strings: &'a [u8]) -> Option<Vec<Symbol<'a>>> {
    let read = |row: &'a [u8]| {
        Some(Symbol {
            name: text_at(strings, u32_at(row, 0)? as usize)?,
            is_function: row.get(4)? & 15 == 2,
            section: usize::from(u16_at(row, 6)?),
            value: size_at(row, 8)?,
            size: size_at(row, 16)?,
        })
    };
    table.chunks_exact(24).map(read).collect()
}
