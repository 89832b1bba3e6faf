//! Delivery traces: files in Mahimahi's format, and the same in a scenario's text.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{Place, Problem};
use crate::delivery_trace::{DeliveryTrace, DeliveryTraceBuilder, LATEST, MOST_AT_ONCE, MOST_TIMES, Refusal};

/// Maximum file size, in bytes: minutes of a 1 Gbit/s link.
const LARGEST_FILE: u64 = 256 << 20;
/// Maximum line length, in bytes: anything longer is not a number.
const LONGEST_LINE: u64 = 64;
/// Length of an invalid line's excerpt in messages, in characters.
const SHOWN: usize = 20;
/// Description of the format.
const FORMAT: &str = "each line is the time of one opportunity, whole milliseconds from the beginning, such as 17; no line is empty or a comment";

/// Why a trace was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", if .help.is_empty() { String::new() } else { format!(" ({})", .help) })]
pub struct DeliveryTraceError {
    /// The error, with the line in a file.
    pub message: String,
    /// Allowed values.
    pub help: String,
}

impl DeliveryTraceError {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }

    fn of(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Decreasing(before) => {
                Self::new(format!("is earlier than the previous time, {before}"), "times must not decrease")
            }
            Refusal::Late => Self::new("is too late", format!("at most {LATEST} ms, 106 days")),
            Refusal::TooManyAtOnce => {
                Self::new("too many opportunities at one time", format!("at most {MOST_AT_ONCE}, 1.2 Tbit/s"))
            }
            Refusal::TooManyTimes => Self::new("too many different times", format!("at most {MOST_TIMES}")),
            Refusal::Empty => Self::new("holds no opportunity", FORMAT),
            Refusal::NoPeriod => Self::new(
                "ends at 0 ms",
                "the last time is the period with which the trace is repeated, and must be later than zero",
            ),
        }
    }

    /// Prefixes the message with the line or word.
    fn at(self, what: &str) -> Self {
        Self { message: format!("{what} {}", self.message), ..self }
    }
}

fn digits(text: &str) -> Option<u64> {
    // Like Mahimahi: no sign, no point, no exponent.
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // A number that does not fit is too late anyway.
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

fn shown(text: &str) -> String {
    let short: String = text.chars().take(SHOWN).collect();
    let more = if short.len() < text.len() { "..." } else { "" };
    format!("{:?}", format!("{short}{more}"))
}

/// Reads a file: one time in milliseconds per line. Windows line ends are allowed. `name`
/// identifies the file in messages.
pub fn parse(bytes: impl std::io::Read, name: &str) -> Result<DeliveryTrace, DeliveryTraceError> {
    let mut builder = DeliveryTraceBuilder::default();
    let mut reader = BufReader::with_capacity(1 << 16, bytes.take(LARGEST_FILE + 1));
    let mut line = Vec::new();
    let (mut number, mut size) = (0_u64, 0);
    loop {
        line.clear();
        number += 1;
        let read = (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line);
        let at = |what: String| format!("{name}:{number}: {what}");
        match read {
            Ok(0) => break,
            Ok(read) => size += read as u64,
            Err(error) => return Err(DeliveryTraceError::new(at(error.to_string()), "")),
        }
        if size > LARGEST_FILE {
            return Err(DeliveryTraceError::new(
                format!("{name} is larger than {} MiB", LARGEST_FILE >> 20),
                "",
            ));
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        if text.is_empty() {
            return Err(DeliveryTraceError::new(at("is empty".to_owned()), FORMAT));
        }
        let Some(time) = digits(text) else {
            // Any file may be named: what is not even like a time is not repeated.
            let is_like_one = |c: char| c.is_ascii_digit() || " .,+-x".contains(c);
            let what = if text.chars().all(is_like_one) { shown(text) } else { "this line".to_owned() };
            return Err(DeliveryTraceError::new(at(format!("{what} is no time")), FORMAT));
        };
        builder.add(time, 1).map_err(|refusal| DeliveryTraceError::of(refusal).at(&at(text.to_owned())))?;
    }
    builder.build().map_err(|refusal| DeliveryTraceError::of(refusal).at(name))
}

/// Reads a text such as `1 2x3 5`, as [`DeliveryTrace`] writes it.
pub fn parse_inline(text: &str) -> Result<DeliveryTrace, DeliveryTraceError> {
    let mut builder = DeliveryTraceBuilder::default();
    for word in text.split_ascii_whitespace() {
        let (time, count) = word.split_once('x').unwrap_or((word, "1"));
        let (Some(time), Some(count @ 1..)) = (digits(time), digits(count)) else {
            let help = "times in milliseconds, each with the number of its opportunities if it has several: \"1 2x3 5\"";
            return Err(DeliveryTraceError::new(format!("{} is no time", shown(word)), help));
        };
        builder.add(time, count).map_err(|refusal| DeliveryTraceError::of(refusal).at(word))?;
    }
    builder.build().map_err(|refusal| DeliveryTraceError::of(refusal).at("the text"))
}

fn load(path: &Path, name: &str) -> Result<DeliveryTrace, DeliveryTraceError> {
    let cannot = |message: String| DeliveryTraceError::new(format!("{name}: {message}"), "");
    let found = std::fs::metadata(path).map_err(|error| cannot(error.to_string()))?;
    // A pipe without a writer would block forever.
    if !found.is_file() {
        return Err(cannot("is not a file".to_owned()));
    }
    parse(File::open(path).map_err(|error| cannot(error.to_string()))?, name)
}

/// The delivery traces of a scenario, each read once.
#[derive(Debug, Default)]
pub struct DeliveryTraces {
    /// Base of relative paths.
    folder: PathBuf,
    known: BTreeMap<String, Arc<DeliveryTrace>>,
    /// Positions of the paths in the scenario's text.
    places: Vec<(Range<usize>, String)>,
}

impl DeliveryTraces {
    /// For a scenario whose relative paths start at this folder.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), ..Self::default() }
    }

    /// The trace in the file at this path, written at this place.
    pub fn get(&mut self, path: &str, place: &Place) -> Result<Arc<DeliveryTrace>, Problem> {
        let trace = match self.known.get(path) {
            Some(trace) => trace.clone(),
            None => {
                let read = load(&self.folder.join(path), path).map(Arc::new);
                read.map_err(|refusal| place.problem(refusal.message, refusal.help))?
            }
        };
        self.known.insert(path.to_owned(), trace.clone());
        self.places.push((place.span.clone(), path.to_owned()));
        Ok(trace)
    }

    /// The scenario's text with the traces in place of their paths: enough to repeat the run
    /// without, or with changed, files.
    pub fn inline(mut self, text: &str) -> String {
        let mut inlined = text.to_owned();
        self.places.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
        // A link that stands for several is read more than once.
        self.places.dedup();
        for (span, path) in self.places {
            if let Some(trace) = self.known.get(&path) {
                let name = Path::new(&path)
                    .file_name()
                    .map_or_else(String::new, |name| name.to_string_lossy().into());
                let name = toml_edit::Value::from(name);
                inlined.replace_range(span, &format!("{{ name = {name}, opportunities = \"{trace}\" }}"));
            }
        }
        inlined
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        parse(text.as_bytes(), "f").expect_err(text).message
    }

    #[test]
    fn a_file_is_one_time_a_line() {
        let trace = parse("0\n3\n3\n5\n".as_bytes(), "f").expect("a trace");
        assert_eq!(trace.to_string(), "0 3x2 5");
        for same in ["0\n3\n3\n5", "0\r\n3\r\n3\r\n5\r\n", "00\n03\n3\n5\n"] {
            assert_eq!(parse(same.as_bytes(), "f"), Ok(trace.clone()), "{same:?}");
        }
        assert_eq!(parse_inline("0 3x2 5"), Ok(trace));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, said) in [
            ("", "f holds no opportunity"),
            ("0\n0\n", "f ends at 0 ms"),
            ("1\n\n2\n", "f:2: is empty"),
            ("1\n2\n\n", "f:3: is empty"),
            ("# a comment\n1\n", "f:1: this line is no time"),
            ("root:*:20228:0:99999\n", "f:1: this line is no time"),
            ("1\n-2\n", "f:2: \"-2\" is no time"),
            ("1.5\n", "f:1: \"1.5\" is no time"),
            ("1 \n", "f:1: \"1 \" is no time"),
            ("1\n7\n6\n", "f:3: 6 is earlier than the previous time, 7"),
            ("1\n99999999999999999999999\n", "f:2: 99999999999999999999999 is too late"),
        ] {
            assert_eq!(message(text), said, "{text:?}");
        }
        let long = message(&"9".repeat(1000));
        assert!(long.contains("is too late") || long.contains("no time"), "{long}");
        let many = message(&"1\n".repeat(MOST_AT_ONCE as usize + 1));
        assert_eq!(many, "f:100001: 1 too many opportunities at one time");
        assert!(parse(&b"\xff\n1"[..], "f").is_err());
    }

    /// Endless input is abandoned at the limit, and no line is held whole.
    #[test]
    fn a_file_without_end_is_refused() {
        assert_eq!(parse(std::io::repeat(b'\n'), "f").expect_err("lines").message, "f:1: is empty");
        assert!(parse(std::io::repeat(b'1'), "f").is_err());
        struct Ones;
        impl std::io::Read for Ones {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                let length = buffer.len() / 2 * 2;
                buffer[..length].chunks_mut(2).for_each(|pair| pair.copy_from_slice(b"1\n"));
                Ok(length)
            }
        }
        assert!(parse(Ones, "f").expect_err("ones").message.contains("too many"));
    }

    #[test]
    fn inline_text_is_read_strictly() {
        for text in ["", "1x0 2", "x2", "1x", "1xx2", "-1", "2 1", "0x7", "1x99999999999999999999"] {
            assert!(parse_inline(text).is_err(), "{text:?}");
        }
    }
}
