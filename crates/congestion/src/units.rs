//! Time, size and rate as separate types, so that a wrong unit does not compile.
//!
//! Time is counted in whole picoseconds: one bit at 400 Gbit/s lasts 2.5 ps, so a byte is exact,
//! sums do not drift, and 2^64 ps is 213 days.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

/// Picoseconds in one second.
pub const PICOSECONDS_PER_SECOND: u64 = 1_000_000_000_000;

/// A point in simulated time, in picoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Time(u64);

/// A length of time, in picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Duration(u64);

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Bytes(pub u64);

/// A rate in bit/s.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Rate(u64);

/// A number of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Packets(pub u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than any event: "never".
    pub const NEVER: Self = Self(u64::MAX);

    /// The time `picoseconds` after the start of the run.
    pub const fn from_picoseconds(picoseconds: u64) -> Self {
        Self(picoseconds)
    }
    /// Picoseconds since the start of the run.
    pub const fn picoseconds(self) -> u64 {
        self.0
    }
    /// Seconds since the start of the run, rounded to the nearest representable value.
    pub fn seconds(self) -> f64 {
        Duration(self.0).seconds()
    }
    /// The length of time since `earlier`; zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
    /// The time `span` later, unchecked: it must be before [`Time::NEVER`].
    #[inline]
    pub const fn after(self, span: Duration) -> Self {
        Self(self.0 + span.0)
    }
    /// Whole periods of a free-running clock that have passed, counted from the start of the run.
    pub const fn ticks(self, period: Duration) -> u64 {
        self.0 / period.0
    }
}

impl Duration {
    /// No time.
    pub const ZERO: Self = Self(0);
    /// The longest representable length of time.
    pub const MAX: Self = Self(u64::MAX);

    /// `picoseconds` ps.
    pub const fn from_picoseconds(picoseconds: u64) -> Self {
        Self(picoseconds)
    }
    /// `microseconds` µs, saturating.
    pub const fn from_microseconds(microseconds: u64) -> Self {
        Self(microseconds.saturating_mul(1_000_000))
    }
    /// `milliseconds` ms, saturating.
    pub const fn from_milliseconds(milliseconds: u64) -> Self {
        Self(milliseconds.saturating_mul(1_000_000_000))
    }
    /// `seconds` s, rounded to the nearest picosecond; negative and NaN become zero, too large
    /// becomes the maximum.
    pub fn from_seconds(seconds: f64) -> Self {
        // `as` saturates and maps NaN to 0. +0.5 then truncation rounds to nearest without libm.
        Self((seconds * PICOSECONDS_PER_SECOND as f64 + 0.5) as u64)
    }
    /// Picoseconds.
    pub const fn picoseconds(self) -> u64 {
        self.0
    }
    /// Seconds, rounded to the nearest representable value.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / PICOSECONDS_PER_SECOND as f64
    }
    /// `self` × `factor`, saturating.
    pub const fn times(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
    /// `self` × `numerator` / `denominator`, rounded down, saturating; zero if the denominator is
    /// zero.
    pub const fn scaled(self, numerator: u64, denominator: u64) -> Self {
        if denominator == 0 {
            return Self(0);
        }
        let scaled = self.0 as u128 * numerator as u128 / denominator as u128;
        if scaled > u64::MAX as u128 { Self(u64::MAX) } else { Self(scaled as u64) }
    }
    /// `self` − `other`, not below zero.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
    /// True for zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Bytes {
    /// No bytes.
    pub const ZERO: Self = Self(0);
    /// The maximum: "no limit".
    pub const MAX: Self = Self(u64::MAX);

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }
    /// `self` − `other`, not below zero.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Rate {
    /// `bits_per_second` bit/s.
    pub const fn from_bits_per_second(bits_per_second: u64) -> Self {
        Self(bits_per_second)
    }
    /// Bit/s.
    pub const fn bits_per_second(self) -> u64 {
        self.0
    }
    /// Transmission time of `size` at this rate, rounded to the nearest picosecond; the maximum at
    /// rate zero.
    pub const fn transmission_time(self, size: Bytes) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        // A packet's time fits in 64 bits, whose division is several times faster: a link with
        // packets of many sizes divides once per packet.
        if let Some(bits) = size.0.checked_mul(8 * PICOSECONDS_PER_SECOND)
            && let Some(numerator) = bits.checked_add(self.0 / 2)
        {
            return Duration(numerator / self.0);
        }
        let numerator = size.0 as u128 * 8 * PICOSECONDS_PER_SECOND as u128 + self.0 as u128 / 2;
        let picoseconds = numerator / self.0 as u128;
        if picoseconds > u64::MAX as u128 { Duration::MAX } else { Duration(picoseconds as u64) }
    }
    /// Number of whole bytes that fit in `span` at this rate.
    pub const fn bytes_in(self, span: Duration) -> Bytes {
        let bytes = self.0 as u128 * span.0 as u128 / (8 * PICOSECONDS_PER_SECOND as u128);
        if bytes > u64::MAX as u128 { Bytes::MAX } else { Bytes(bytes as u64) }
    }
}

impl From<core::time::Duration> for Duration {
    /// Saturates at [`Duration::MAX`], 213 days.
    fn from(span: core::time::Duration) -> Self {
        let picoseconds = span.as_nanos().saturating_mul(1000);
        Self(u64::try_from(picoseconds).unwrap_or(u64::MAX))
    }
}
impl From<Duration> for core::time::Duration {
    /// Rounded down to whole nanoseconds.
    fn from(span: Duration) -> Self {
        Self::from_nanos(span.0 / 1000)
    }
}

impl Add<Duration> for Time {
    type Output = Self;
    /// Saturates at [`Time::NEVER`].
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}
impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}
impl Add for Duration {
    type Output = Self;
    /// Saturates at [`Duration::MAX`].
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}
impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}
impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NEVER { f.write_str("never") } else { write!(f, "{} s", self.seconds()) }
    }
}
impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.seconds())
    }
}
impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}
impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bit/s", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transmission_time_is_exact_where_the_rate_divides() {
        // 1500 B at 5 Gbit/s: 12000 bit / 5e9 bit/s = 2.4 µs.
        let rate = Rate::from_bits_per_second(5_000_000_000);
        assert_eq!(rate.transmission_time(Bytes(1500)), Duration::from_picoseconds(2_400_000));
        // One byte at 400 Gbit/s: 20 ps.
        assert_eq!(Rate::from_bits_per_second(400_000_000_000).transmission_time(Bytes(1)).picoseconds(), 20);
    }

    #[test]
    fn nothing_wraps_at_the_end_of_time() {
        assert_eq!(Time::NEVER + Duration::MAX, Time::NEVER);
        assert_eq!(Rate::from_bits_per_second(0).transmission_time(Bytes(1)), Duration::MAX);
        assert_eq!(Rate::from_bits_per_second(1).transmission_time(Bytes::MAX), Duration::MAX);
        assert_eq!(Rate::from_bits_per_second(u64::MAX).bytes_in(Duration::MAX), Bytes::MAX);
        assert_eq!(Duration::from_seconds(f64::NAN), Duration::ZERO);
        assert_eq!(Duration::from_seconds(-1.0), Duration::ZERO);
    }

    #[test]
    fn without_a_look_at_the_end_of_time() {
        let (time, span) = (Time::from_picoseconds(5), Duration::from_picoseconds(7));
        assert_eq!(time.after(span), time + span);
        assert_eq!(time.after(span).since(time), span);
    }

    #[test]
    fn ticks_count_whole_periods_from_the_start() {
        let tick = Duration::from_milliseconds(10);
        assert_eq!((Time::ZERO + Duration::from_microseconds(9_999)).ticks(tick), 0);
        assert_eq!((Time::ZERO + Duration::from_microseconds(10_000)).ticks(tick), 1);
    }

    /// Inexact quotients round to the nearest picosecond: 8/3 s are 2.666... s and 8/7 s are
    /// 1.142857 s.
    #[test]
    fn transmission_time_is_rounded_where_the_rate_does_not_divide() {
        for (bits_per_second, bytes, picoseconds) in [
            (3, 1, 2_666_666_666_667),
            (7, 1, 1_142_857_142_857),
            (3, 3, 8_000_000_000_000),
            // 1500 B at 1.544 Mbit/s, a T1: 7.772 ms.
            (1_544_000, 1500, 7_772_020_725),
            (2_147_483_647, 9000, 33_527_613),
            // 10 GB take 80,000 s at 1 Mbit/s, in 128-bit arithmetic.
            (1_000_000, 10_000_000_000, 80_000_000_000_000_000),
            (2_147_483_647, 12_345_678_901, 45_991_237_859_238),
            (u64::MAX, 1, 0),
        ] {
            let rate = Rate::from_bits_per_second(bits_per_second);
            assert_eq!(rate.transmission_time(Bytes(bytes)).picoseconds(), picoseconds, "{rate:?}");
        }
    }

    #[test]
    fn bytes_of_a_time() {
        let megabit = Rate::from_bits_per_second(1_000_000);
        assert_eq!(megabit.bytes_in(Duration::from_milliseconds(1500)), Bytes(187_500));
        // A byte counts only when complete.
        assert_eq!(megabit.bytes_in(Duration::from_microseconds(15)), Bytes(1));
    }

    /// 2^63 ps times 4 over 2 is the largest that fits; larger products saturate.
    #[test]
    fn scaled_spans() {
        let span = Duration::from_picoseconds;
        assert_eq!(span(10).scaled(3, 4), span(7));
        assert_eq!(span(u64::MAX / 2).scaled(2, 1), span(u64::MAX - 1));
        assert_eq!(span(u64::MAX).scaled(2, 1), Duration::MAX);
        assert_eq!(span(u64::MAX).scaled(1, 1), Duration::MAX);
        assert_eq!(span(10).scaled(0, 4), Duration::ZERO);
    }

    /// Whole nanoseconds convert exactly; std's larger values saturate, and picoseconds are rounded
    /// down.
    #[test]
    fn lengths_of_time_of_the_standard_library() {
        use core::time::Duration as Std;
        for nanoseconds in [0, 1, 999_999_999, 18_446_744_073_709_551] {
            let span = Duration::from(Std::from_nanos(nanoseconds));
            assert_eq!(span, Duration::from_picoseconds(nanoseconds * 1000));
            assert_eq!(Std::from(span), Std::from_nanos(nanoseconds));
        }
        assert_eq!(Duration::from(Std::MAX), Duration::MAX);
        assert_eq!(Duration::from(Std::from_nanos(18_446_744_073_709_552)), Duration::MAX);
        assert_eq!(Std::from(Duration::from_picoseconds(1999)), Std::from_nanos(1));
    }

    /// The format in errors and failed tests.
    #[test]
    fn shown() {
        assert_eq!(format!("{:?} {:?}", Bytes(5), Rate::from_bits_per_second(7)), "5 B 7 bit/s");
        let mut sum = Bytes(5);
        sum += Bytes(4);
        assert_eq!((sum, sum - Bytes(2)), (Bytes(9), Bytes(7)));
    }
}
