//! Quantities: a number and a unit, read exactly.
//!
//! "4.8 kbps" is 4800 bit/s because the digits are read as an integer and scaled, never as a binary
//! fraction. Fractions of a picosecond or of a bit per second are rounded to the nearest; a
//! fraction of a byte or a packet is refused.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::names;
use crate::units::{Bytes, Duration, Rate};

names! {
    /// Dimension of a quantity.
    pub enum Dimension {
        /// A length of time.
        Time => "a time",
        /// A rate.
        Rate => "a rate",
        /// A number of bytes.
        Size => "a size",
        /// A number of packets.
        Packets => "a number of packets",
        /// A number of segments of the flow's MSS.
        Segments => "a number of segments",
        /// A multiple of the bandwidth-delay product.
        Bdp => "a bandwidth-delay product",
    }
}

/// A number with its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// A length of time.
    Time(Duration),
    /// A rate.
    Rate(Rate),
    /// A number of bytes.
    Size(Bytes),
    /// A number of packets.
    Packets(u64),
    /// A number of segments, possibly fractional.
    Segments(f64),
    /// A multiple of the bandwidth-delay product.
    Bdp(f64),
}

/// A unit of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unit {
    /// As written after a number.
    pub name: &'static str,
    /// In the dimension's smallest unit: ps, bit/s, bytes, or ones.
    pub size: u64,
    /// Where it occurs.
    pub used: Use,
}

names! {
    /// Where a unit occurs. All are read.
    pub enum Use {
        /// It is only read.
        Input => "input",
        /// Scenario files that programs write have it.
        Text => "text",
        /// Tables and figures have it.
        Figures => "figures",
        /// Both have it.
        TextAndFigures => "text and figures",
    }
}

impl Unit {
    const fn new(name: &'static str, size: u64, used: Use) -> Self {
        Self { name, size, used }
    }
}

/// Why a text is not an accepted quantity, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The error.
    pub message: String,
    /// Allowed values.
    pub help: String,
}

/// Maximum length of a fraction: 10^20 × the largest scale stays below 2^128.
const MOST_DECIMAL_PLACES: usize = 20;

impl Dimension {
    /// The units, in the order of messages.
    pub const fn units(self) -> &'static [Unit] {
        use Use::{Figures, Input, Text, TextAndFigures};
        match self {
            Self::Time => {
                const {
                    &[
                        Unit::new("ps", 1, Text),
                        Unit::new("ns", 1_000, TextAndFigures),
                        Unit::new("us", 1_000_000, TextAndFigures),
                        Unit::new("\u{b5}s", 1_000_000, Input),
                        Unit::new("\u{3bc}s", 1_000_000, Input),
                        Unit::new("ms", 1_000_000_000, TextAndFigures),
                        Unit::new("s", 1_000_000_000_000, TextAndFigures),
                        Unit::new("min", 60_000_000_000_000, Input),
                        Unit::new("h", 3_600_000_000_000_000, Input),
                    ]
                }
            }
            Self::Rate => {
                const {
                    &[
                        Unit::new("bps", 1, Text),
                        Unit::new("kbps", 1_000, Text),
                        Unit::new("Mbps", 1_000_000, Text),
                        Unit::new("Gbps", 1_000_000_000, Text),
                        Unit::new("Tbps", 1_000_000_000_000, Text),
                        Unit::new("bit/s", 1, Figures),
                        Unit::new("kbit/s", 1_000, Figures),
                        Unit::new("Mbit/s", 1_000_000, Figures),
                        Unit::new("Gbit/s", 1_000_000_000, Figures),
                        Unit::new("Tbit/s", 1_000_000_000_000, Figures),
                    ]
                }
            }
            Self::Size => {
                const {
                    &[
                        Unit::new("B", 1, TextAndFigures),
                        Unit::new("kB", 1_000, TextAndFigures),
                        Unit::new("MB", 1_000_000, TextAndFigures),
                        Unit::new("GB", 1_000_000_000, TextAndFigures),
                        Unit::new("KiB", 1 << 10, Input),
                        Unit::new("MiB", 1 << 20, Input),
                        Unit::new("GiB", 1 << 30, Input),
                    ]
                }
            }
            Self::Packets => const { &[Unit::new("packets", 1, Text), Unit::new("packet", 1, Input)] },
            Self::Segments => const { &[Unit::new("segments", 1, Text), Unit::new("segment", 1, Input)] },
            Self::Bdp => const { &[Unit::new("bdp", 1, Text)] },
        }
    }

    /// A number of its smallest unit as programs write it: whole, in the largest unit that allows
    /// it.
    pub fn written(self, number: u64) -> String {
        let texts = self.units().iter().filter(|unit| matches!(unit.used, Use::Text | Use::TextAndFigures));
        let whole = texts.filter(|unit| number != 0 && number.is_multiple_of(unit.size));
        let (size, name) =
            whole.map(|unit| (unit.size, unit.name)).max().unwrap_or((1, self.units()[0].name));
        format!("{} {name}", number / size)
    }

    const fn examples(self) -> &'static str {
        match self {
            Self::Time => "\"10 s\" or \"100 ms\"",
            Self::Rate => "\"10 Mbps\" or \"500 kbps\"",
            Self::Size => "\"1500 B\" or \"64 kB\"",
            Self::Packets => "\"50 packets\"",
            Self::Segments => "\"20 segments\"",
            Self::Bdp => "\"1 bdp\"",
        }
    }

    /// Whether it may be rounded to a whole number of its smallest unit.
    const fn rounds(self) -> bool {
        matches!(self, Self::Time | Self::Rate)
    }
}

/// "write a time such as ..."
pub fn example(accepted: &[Dimension]) -> String {
    let examples: Vec<String> = accepted
        .iter()
        .map(|dimension| format!("{} such as {}", dimension.name(), dimension.examples()))
        .collect();
    format!("write {}", examples.join(", or "))
}

/// A regular expression (ECMA 262) that every accepted text matches.
pub fn pattern(accepted: &[Dimension]) -> String {
    format!("^\\s*[0-9]+(\\.[0-9]+)?\\s*({})\\s*$", unit_names(accepted).join("|"))
}

fn unit_names(accepted: &[Dimension]) -> Vec<&'static str> {
    accepted.iter().flat_map(|dimension| dimension.units()).map(|unit| unit.name).collect()
}

/// Reads a quantity of one of the accepted dimensions.
pub fn parse(text: &str, accepted: &[Dimension]) -> Result<Quantity, Refusal> {
    let refuse = |message: String| Refusal { message, help: example(accepted) };
    let unsigned = text.trim();
    let unsigned = unsigned.strip_prefix('-').unwrap_or(unsigned);
    let negative = unsigned.len() < text.trim().len();
    let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
    let (number, unit) = (&unsigned[..end], unsigned[end..].trim());
    if number.is_empty() {
        return Err(refuse(format!("{text:?} does not begin with a number")));
    }
    if unit.is_empty() {
        return Err(refuse(format!("{text:?} has no unit")));
    }
    if let Some(message) = foreign_number(&unsigned[end..]) {
        return Err(refuse(format!("{text:?}: {message}")));
    }
    let (dimension, scale) = find_unit(unit, accepted).map_err(|message| {
        let names = unit_names(accepted);
        // Only differences of case: "MB/s" is near "Mbps" and eight times as much, and so is
        // "MBps".
        let same = names.iter().find(|name| name.eq_ignore_ascii_case(unit));
        let same = same.filter(|name| !(name.ends_with("bps") && unit.contains('B')));
        let meant = same.map_or_else(String::new, |name| format!("did you mean {name:?}? "));
        let help = format!("{meant}allowed units: {}", names.join(", "));
        Refusal { message: format!("{text:?}: {message}"), help }
    })?;
    if negative {
        return Err(refuse(format!("{text:?} is negative")));
    }
    scaled(number, dimension, scale).map_err(|message| {
        let help = if message == TOO_LARGE { largest(dimension, scale, unit) } else { example(accepted) };
        Refusal { message: format!("{text:?} {message}"), help }
    })
}

/// Text after the digits that shows another number notation.
fn foreign_number(rest: &str) -> Option<&'static str> {
    let mut letters = rest.chars();
    let (first, second) = (letters.next()?, letters.next());
    let digit = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_digit());
    match first {
        ',' if digit(second) => Some("a comma is not read: decimals have a point, thousands have no mark"),
        '_' if digit(second) => Some("an underscore is not read: write the digits alone"),
        'e' | 'E' if digit(second) || (matches!(second, Some('+' | '-')) && digit(letters.next())) => {
            Some("an exponent is not read: write the digits, or a larger unit")
        }
        _ => None,
    }
}

const TOO_LARGE: &str = "is too large";

/// "allowed: at most 18446744073 Gbps".
fn largest(dimension: Dimension, scale: u64, unit: &str) -> String {
    match dimension {
        Dimension::Segments | Dimension::Bdp => String::new(),
        _ => format!("allowed: at most {} {unit}", u64::MAX / scale),
    }
}

fn find_unit(unit: &str, accepted: &[Dimension]) -> Result<(Dimension, u64), String> {
    let in_dimension = |dimension: Dimension| {
        dimension.units().iter().find(|known| known.name == unit).map(|known| (dimension, known.size))
    };
    if let Some(found) = accepted.iter().find_map(|&dimension| in_dimension(dimension)) {
        return Ok(found);
    }
    Err(match Dimension::ALL.into_iter().find_map(in_dimension) {
        Some((other, _)) => format!("{unit:?} is a unit of {}", &other.name()[2..]),
        None => format!("unknown unit {unit:?}"),
    })
}

fn scaled(number: &str, dimension: Dimension, scale: u64) -> Result<Quantity, String> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || fraction.is_empty() || fraction.contains('.') {
        return Err(format!("has a malformed number {number:?}"));
    }
    if fraction.len() > MOST_DECIMAL_PLACES {
        return Err(format!("has more than {MOST_DECIMAL_PLACES} decimal places"));
    }
    let too_large = || TOO_LARGE.to_owned();
    let whole: u64 = whole.parse().map_err(|_| too_large())?;
    match dimension {
        Dimension::Segments => return Ok(Quantity::Segments(number.parse().map_err(|_| too_large())?)),
        Dimension::Bdp => return Ok(Quantity::Bdp(number.parse().map_err(|_| too_large())?)),
        _ => {}
    }
    // At most 20 digits: fits in u128, and so does its product with the largest scale.
    let digits: u128 = fraction.parse().map_err(|_| too_large())?;
    let divisor = 10_u128.pow(fraction.len() as u32);
    let part = digits * u128::from(scale);
    if !dimension.rounds() && !part.is_multiple_of(divisor) {
        return Err("is not a whole number".to_owned());
    }
    let total = u128::from(whole) * u128::from(scale) + (part + divisor / 2) / divisor;
    let total = u64::try_from(total).map_err(|_| too_large())?;
    Ok(match dimension {
        Dimension::Time => Quantity::Time(Duration::from_picoseconds(total)),
        Dimension::Rate => Quantity::Rate(Rate::from_bits_per_second(total)),
        Dimension::Size => Quantity::Size(Bytes(total)),
        _ => Quantity::Packets(total),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn time(text: &str) -> u64 {
        match parse(text, &[Dimension::Time]) {
            Ok(Quantity::Time(span)) => span.picoseconds(),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn rate(text: &str) -> u64 {
        match parse(text, &[Dimension::Rate]) {
            Ok(Quantity::Rate(rate)) => rate.bits_per_second(),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn size(text: &str) -> u64 {
        match parse(text, &[Dimension::Size]) {
            Ok(Quantity::Size(size)) => size.get(),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn refusal(text: &str, accepted: &[Dimension]) -> (String, String) {
        let refusal = parse(text, accepted).expect_err(text);
        (refusal.message, refusal.help)
    }

    #[test]
    fn every_unit() {
        for (text, picoseconds) in [
            ("3 ps", 3),
            ("3 ns", 3_000),
            ("3 us", 3_000_000),
            ("3 µs", 3_000_000),
            ("3 μs", 3_000_000),
            ("3 ms", 3_000_000_000),
            ("3 s", 3_000_000_000_000),
            ("3 min", 180_000_000_000_000),
            ("3 h", 10_800_000_000_000_000),
        ] {
            assert_eq!(time(text), picoseconds, "{text}");
        }
        for (prefix, factor) in
            [("", 1), ("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000), ("T", 1_000_000_000_000)]
        {
            assert_eq!(rate(&format!("7 {prefix}bps")), 7 * factor);
            assert_eq!(rate(&format!("7 {prefix}bit/s")), 7 * factor);
        }
        for (text, bytes) in [
            ("2 B", 2),
            ("2 kB", 2_000),
            ("2 MB", 2_000_000),
            ("2 GB", 2_000_000_000),
            ("2 KiB", 2_048),
            ("2 MiB", 2_097_152),
            ("2 GiB", 2_147_483_648),
        ] {
            assert_eq!(size(text), bytes, "{text}");
        }
        assert_eq!(parse("1 packet", &[Dimension::Packets]), Ok(Quantity::Packets(1)));
        assert_eq!(parse("5 packets", &[Dimension::Packets]), Ok(Quantity::Packets(5)));
        assert_eq!(parse("2.5 segments", &[Dimension::Segments]), Ok(Quantity::Segments(2.5)));
        assert_eq!(parse("1 segment", &[Dimension::Segments]), Ok(Quantity::Segments(1.0)));
        assert_eq!(parse("0.5bdp", &[Dimension::Bdp]), Ok(Quantity::Bdp(0.5)));
    }

    #[test]
    fn decimals_are_exact() {
        assert_eq!(rate("4.8 kbps"), 4_800);
        assert_eq!(rate("1.544 Mbps"), 1_544_000);
        assert_eq!(time("0.1 ms"), 100_000_000);
        assert_eq!(time("0.000000000001 s"), 1);
        assert_eq!(time("18446744.073709551615 s"), u64::MAX);
        assert_eq!(size("1.5 kB"), 1_500);
        assert_eq!(size("0.5 KiB"), 512);
    }

    #[test]
    fn finer_than_the_smallest_unit_is_rounded_for_times_and_rates_only() {
        assert_eq!(time("0.01666666666666666666 s"), 16_666_666_667);
        assert_eq!(rate("0.5 bps"), 1);
        assert_eq!(refusal("1.5 B", &[Dimension::Size]).0, "\"1.5 B\" is not a whole number");
        assert_eq!(refusal("0.5 packets", &[Dimension::Packets]).0, "\"0.5 packets\" is not a whole number");
    }

    #[test]
    fn spaces_do_not_matter() {
        assert_eq!(rate("100Mbps"), 100_000_000);
        assert_eq!(rate("  100   Mbps "), 100_000_000);
    }

    #[test]
    fn what_is_not_a_quantity_says_what_to_write() {
        let time = "write a time such as \"10 s\" or \"100 ms\"";
        for (text, message) in [
            ("10", "\"10\" has no unit"),
            ("", "\"\" does not begin with a number"),
            ("fast", "\"fast\" does not begin with a number"),
            ("nan s", "\"nan s\" does not begin with a number"),
            ("inf s", "\"inf s\" does not begin with a number"),
            ("-inf s", "\"-inf s\" does not begin with a number"),
            ("-1 s", "\"-1 s\" is negative"),
            ("1.2.3 s", "\"1.2.3 s\" has a malformed number \"1.2.3\""),
            ("1. s", "\"1. s\" has a malformed number \"1.\""),
            (".5 s", "\".5 s\" has a malformed number \".5\""),
            ("0.000000000000000000001 s", "\"0.000000000000000000001 s\" has more than 20 decimal places"),
        ] {
            assert_eq!(refusal(text, &[Dimension::Time]), (message.to_owned(), time.to_owned()), "{text}");
        }
        for text in ["18446745 s", "99999999999999999999999999999999999999999999 s"] {
            let help = "allowed: at most 18446744 s".to_owned();
            assert_eq!(refusal(text, &[Dimension::Time]), (format!("{text:?} is too large"), help));
        }
    }

    #[test]
    fn a_wrong_unit_lists_the_right_ones() {
        let (message, help) = refusal("10 MB/s", &[Dimension::Rate]);
        assert_eq!(message, "\"10 MB/s\": unknown unit \"MB/s\"");
        assert_eq!(help, "allowed units: bps, kbps, Mbps, Gbps, Tbps, bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s");
        assert_eq!(refusal("10 Mibps", &[Dimension::Rate]).0, "\"10 Mibps\": unknown unit \"Mibps\"");
        assert_eq!(refusal("10 s", &[Dimension::Rate]).0, "\"10 s\": \"s\" is a unit of time");
        assert!(refusal("10 MBps", &[Dimension::Rate]).1.starts_with("allowed"), "bytes are not bits");
        let help = refusal("10 mbps", &[Dimension::Rate]).1;
        assert!(help.starts_with("did you mean \"Mbps\"? allowed units: bps"), "{help}");
        for (text, word) in [("1e9 bps", "exponent"), ("1E+7 bps", "exponent"), ("10,5 Mbps", "comma")] {
            assert!(refusal(text, &[Dimension::Rate]).0.contains(word), "{text}");
        }
        assert_eq!(
            refusal("10 Mbps", &[Dimension::Packets, Dimension::Bdp]).1,
            "allowed units: packets, packet, bdp"
        );
    }

    proptest! {
        #[test]
        fn no_text_panics(text in any::<String>()) {
            for dimension in Dimension::ALL {
                let _ = parse(&text, &[dimension]);
            }
        }

        #[test]
        fn no_number_panics(number in "[0-9]{0,45}\\.?[0-9]{0,45}", unit in 0..9usize) {
            for dimension in Dimension::ALL {
                let units = dimension.units();
                let _ = parse(&format!("{number} {}", units[unit % units.len()].name), &[dimension]);
            }
        }

        #[test]
        fn whole_numbers_of_the_smallest_unit_come_back(number in any::<u64>()) {
            prop_assert_eq!(time(&format!("{number} ps")), number);
            prop_assert_eq!(rate(&format!("{number} bps")), number);
            prop_assert_eq!(size(&format!("{number} B")), number);
        }
    }
}
