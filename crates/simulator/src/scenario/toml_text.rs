//! The text of a TOML file.

use toml::de::{DeTable, DeValue};

use super::error::{Place, Problem};

/// Most parts of a dotted key. The deepest of a scenario has five; a parser's time and memory grow
/// with the square of the parts.
const DEEPEST: usize = 32;

/// Parses a text, whose keys have a limited number of parts.
pub(super) fn parse(text: &str) -> Result<DeValue<'_>, Problem> {
    if let Some(span) = too_deep(text) {
        let place = Place { key: String::new(), span };
        return Err(place.problem("a key of too many parts", format!("at most {DEEPEST} parts between dots")));
    }
    let table = DeTable::parse(text).map_err(|error| {
        let place = Place { key: String::new(), span: error.span().unwrap_or(0..0) };
        place.problem(error.message().replace('\n', ", "), "")
    })?;
    Ok(DeValue::Table(table.into_inner()))
}

/// The first key with too many parts: dots outside of strings and comments between two other marks.
fn too_deep(text: &str) -> Option<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let (mut at, mut begins, mut dots) = (0, 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'#' => at += bytes[at..].iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len() - at),
            quote @ (b'"' | b'\'') => {
                at = end_of_string(bytes, at, quote);
                continue;
            }
            b'.' => {
                dots += 1;
                if dots >= DEEPEST {
                    return Some(begins..at);
                }
            }
            b'=' | b',' | b'[' | b']' | b'{' | b'}' | b'\n' => dots = 0,
            b' ' | b'\t' | b'\r' => {}
            _ if dots == 0 && at > 0 && b"=,[]{}\n \t".contains(&bytes[at - 1]) => begins = at,
            _ => {}
        }
        at += 1;
    }
    None
}

/// The place after a string that begins here; the end of the text if it does not end.
fn end_of_string(bytes: &[u8], start: usize, quote: u8) -> usize {
    let triple = [quote; 3];
    let is_long = bytes[start..].starts_with(&triple);
    let mut at = start + if is_long { 3 } else { 1 };
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quote == b'"' => at += 1,
            byte if byte == quote && !is_long => return at + 1,
            _ if is_long && bytes[at..].starts_with(&triple) => return at + 3,
            b'\n' if !is_long => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> bool {
        too_deep(text).is_some()
    }

    /// The limit is of one key: not of a file, a string, a comment or a list of numbers.
    #[test]
    fn parts_of_a_key_are_counted() {
        let key = |parts: usize| vec!["a"; parts].join(".");
        assert!(!refused(&format!("{} = 1\n", key(DEEPEST))));
        assert!(refused(&format!("{} = 1\n", key(DEEPEST + 1))));
        assert!(refused(&format!("x = {{ {} = 1 }}\n", key(DEEPEST + 1))));
        assert!(refused(&format!("[[{}]]\n", key(DEEPEST + 1))));
        assert!(refused(&format!("{} = 1\n", vec!["\"a\""; DEEPEST + 1].join(" . "))));
        for harmless in [
            format!("x = \"{}\"\n", key(100)),
            format!("x = '{}'\n", key(100)),
            format!("x = \"\"\"a \\\" b\n{}\"\"\"\n", key(100)),
            format!("x = '''\n{}'''\n", key(100)),
            format!("# {}\n", key(100)),
            format!("x = [{}]\n", vec!["1.5"; 100].join(", ")),
            "a.b = 1\n".repeat(100),
        ] {
            assert!(!refused(&harmless), "{harmless}");
            assert!(parse(&harmless).is_ok() || harmless.starts_with("a.b"), "{harmless}");
        }
    }

    /// Regression: 40 kB of such a key took 10 s and 2.3 GB.
    #[test]
    fn a_deep_key_is_refused_at_once() {
        let text = format!("schema = 1\n{} = 1\n", vec!["a"; 200_000].join("."));
        let problem = parse(&text).expect_err("refused");
        assert_eq!(problem.place.span.start, "schema = 1\n".len());
    }
}
