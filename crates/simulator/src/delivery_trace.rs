//! Links that send only at given times: the opportunities of a trace, as in Mahimahi's `mm-link`.
//!
//! A trace is a list of times, whole milliseconds from its beginning, at each of which one packet
//! of full size can leave; it repeats forever, with its last time as the period (Netravali et al.,
//! USENIX ATC 2015). Accounting is in bytes: the rest of an opportunity serves the packets behind,
//! and a packet that needs more continues with the next. Capacity is lost when nothing waits. A
//! packet that arrives exactly at an opportunity has missed it.

use std::fmt;
use std::sync::Arc;

use selfclock_congestion::units::{Duration, Rate, Time};

/// Bytes per opportunity: in Mahimahi the largest packet of a tunnel device, 1500 and a frame of
/// four bytes.
pub const OPPORTUNITY: u64 = 1504;
/// The frame of the tunnel device, which counts towards a packet's size there. A packet of 1500 B
/// thus takes exactly one opportunity.
pub const FRAME: u64 = 4;
/// A packet that takes a whole opportunity.
const FULL_PACKET: u64 = OPPORTUNITY - FRAME;

/// Maximum number of opportunities in one millisecond: 1.2 Tbit/s.
pub const MOST_AT_ONCE: u64 = 100_000;
/// Maximum number of different times in a trace: an hour with an opportunity in every millisecond,
/// and 64 MB of memory.
pub const MOST_TIMES: usize = 4_000_000;
/// Latest time of a trace, ms: that of the longest run, 2^63 ps.
pub const LATEST: u64 = (1 << 63) / 1_000_000_000;

/// The opportunities of one repetition of a trace.
#[derive(Clone, PartialEq, Eq)]
pub struct DeliveryTrace {
    /// In ascending order; never empty, and the last is later than zero.
    times: Vec<Opportunities>,
}

/// The opportunities of one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Opportunities {
    /// Time since the beginning of the repetition.
    at: Duration,
    /// Opportunities of the period up to and including these.
    until: u64,
}

/// Why a trace cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A time precedes the previous one, which is given, ms.
    Decreasing(u64),
    /// A time is later than [`LATEST`].
    Late,
    /// There are more than [`MOST_AT_ONCE`] opportunities at one time.
    TooManyAtOnce,
    /// There are more than [`MOST_TIMES`] different times.
    TooManyTimes,
    /// There is no opportunity.
    Empty,
    /// The last opportunity, whose time is the period, is at zero.
    NoPeriod,
}

/// A trace under construction.
#[derive(Clone, Debug, Default)]
pub struct DeliveryTraceBuilder {
    times: Vec<Opportunities>,
}

impl DeliveryTraceBuilder {
    /// Adds `count` opportunities, one or more, at this time, ms.
    pub fn add(&mut self, milliseconds: u64, count: u64) -> Result<(), Refusal> {
        if milliseconds > LATEST {
            return Err(Refusal::Late);
        }
        let at = Duration::from_milliseconds(milliseconds);
        let before_last = self.times.len().checked_sub(2).map_or(0, |index| self.times[index].until);
        let (before, is_new) = match self.times.last() {
            None => (0, true),
            Some(last) if at < last.at => {
                return Err(Refusal::Decreasing(last.at.picoseconds() / 1_000_000_000));
            }
            Some(last) => (last.until, at > last.at),
        };
        let until = before.saturating_add(count);
        if until - if is_new { before } else { before_last } > MOST_AT_ONCE {
            return Err(Refusal::TooManyAtOnce);
        }
        if is_new && self.times.len() == MOST_TIMES {
            return Err(Refusal::TooManyTimes);
        }
        match self.times.last_mut() {
            Some(last) if !is_new => last.until = until,
            _ => self.times.push(Opportunities { at, until }),
        }
        Ok(())
    }

    /// The trace.
    pub fn build(self) -> Result<DeliveryTrace, Refusal> {
        match self.times.last() {
            None => Err(Refusal::Empty),
            Some(last) if last.at.is_zero() => Err(Refusal::NoPeriod),
            Some(_) => Ok(DeliveryTrace { times: self.times }),
        }
    }
}

impl DeliveryTrace {
    fn last(&self) -> Opportunities {
        self.times[self.times.len() - 1]
    }

    /// Time after which it repeats.
    pub fn period(&self) -> Duration {
        self.last().at
    }

    /// Opportunities of one period.
    pub fn opportunities(&self) -> u64 {
        self.last().until
    }

    /// The mean rate at which packets of 1500 B can leave, at least 1 bit/s.
    pub fn rate(&self) -> Rate {
        let bits = u128::from(self.opportunities()) * u128::from(8 * FULL_PACKET) * 1_000_000_000_000;
        let period = u128::from(self.period().picoseconds());
        Rate::from_bits_per_second(((bits + period / 2) / period).max(1) as u64)
    }

    /// Number of opportunities up to and including this time.
    pub fn count_until(&self, time: Time) -> u64 {
        let (now, period) = (time.picoseconds(), self.period().picoseconds());
        let rest = Duration::from_picoseconds(now % period);
        let come = self.times.partition_point(|each| each.at <= rest);
        now / period * self.opportunities() + come.checked_sub(1).map_or(0, |index| self.times[index].until)
    }

    /// Time of the opportunity with this number, counted from zero.
    pub fn time_of(&self, number: u64) -> Time {
        let (period, rest) = (number / self.opportunities(), number % self.opportunities());
        let index = self.times.partition_point(|each| each.until <= rest);
        Time::ZERO + self.period().times(period) + self.times[index].at
    }

    /// Bytes offered by opportunities up to this time, frames included.
    pub fn offered_until(&self, time: Time) -> u64 {
        self.count_until(time) * OPPORTUNITY
    }
}

/// The form in scenarios: times in milliseconds, each with the number of its opportunities if there
/// are several: `1 2x3 5`.
impl fmt::Display for DeliveryTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = 0;
        for (index, each) in self.times.iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            write!(f, "{space}{}", each.at.picoseconds() / 1_000_000_000)?;
            match each.until - before {
                1 => {}
                count => write!(f, "x{count}")?,
            }
            before = each.until;
        }
        Ok(())
    }
}

/// In full: two runs with equal text have equal settings.
impl fmt::Debug for DeliveryTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeliveryTrace({self})")
    }
}

/// Progress of a link through its opportunities.
#[derive(Clone, Debug)]
pub struct Server {
    trace: Arc<DeliveryTrace>,
    /// Bytes of all opportunities, used or lost, before the next one to be used.
    position: u64,
    /// Bytes used.
    used: u64,
    /// Size of the last packet served, and departure of its last byte.
    last: (u32, Time),
}

impl Server {
    /// State before the first opportunity.
    pub fn new(trace: Arc<DeliveryTrace>) -> Self {
        Self { trace, position: 0, used: 0, last: (0, Time::ZERO) }
    }

    /// Discards opportunities unused until now.
    pub fn skip_until(&mut self, now: Time) {
        self.position = self.position.max(self.trace.offered_until(now));
    }

    /// Earliest departure of the next byte.
    pub fn next(&self) -> Time {
        self.trace.time_of(self.position / OPPORTUNITY)
    }

    /// Serves the next packet, of `size` bytes; returns the opportunities of its first and its last
    /// byte.
    pub fn serve(&mut self, size: u32) -> (Time, Time) {
        let start = self.next();
        let bytes = u64::from(size) + FRAME;
        self.used += bytes;
        self.position += bytes;
        let end = self.trace.time_of((self.position - 1) / OPPORTUNITY);
        self.last = (size, end);
        (start, end)
    }

    /// Size of the packet that has partly left now, if any.
    pub fn in_service(&self, now: Time) -> Option<u32> {
        let (size, end) = self.last;
        (end > now).then_some(size)
    }

    /// Bytes used, and bytes offered, up to this time. Everything served had arrived by then.
    pub fn used_and_offered_until(&self, time: Time) -> (u64, u64) {
        let offered = self.trace.offered_until(time);
        // From then on, everything served leaves without a gap.
        (self.used - self.position.saturating_sub(offered).min(self.used), offered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn trace(times: &[(u64, u64)]) -> Result<DeliveryTrace, Refusal> {
        let mut builder = DeliveryTraceBuilder::default();
        times.iter().try_for_each(|&(at, count)| builder.add(at, count))?;
        builder.build()
    }

    fn ms(milliseconds: u64) -> Time {
        Time::ZERO + Duration::from_milliseconds(milliseconds)
    }

    /// The example of Mahimahi's documentation: a file with just "1" is a link of 12 Mbit/s.
    #[test]
    fn one_packet_a_millisecond_is_twelve_megabits() {
        let one = trace(&[(1, 1)]).expect("a trace");
        assert_eq!(one.rate().bits_per_second(), 12_000_000);
        assert_eq!((0..3).map(|number| one.time_of(number)).collect::<Vec<_>>(), [ms(1), ms(2), ms(3)]);
        assert_eq!([0, 1, 7].map(|at| one.count_until(ms(at))), [0, 1, 7]);
    }

    /// A period begins where the previous one ends: opportunities at 5 ms are the last of one and
    /// the first of the next.
    #[test]
    fn a_trace_begins_again_at_its_last_time() {
        let trace = trace(&[(0, 1), (3, 2), (5, 1)]).expect("a trace");
        let times: Vec<Time> = (0..9).map(|number| trace.time_of(number)).collect();
        assert_eq!(times, [0, 3, 3, 5, 5, 8, 8, 10, 10].map(ms));
        assert_eq!([0, 2, 3, 4, 5, 8, 10].map(|at| trace.count_until(ms(at))), [1, 1, 3, 3, 5, 7, 9]);
        assert_eq!(trace.to_string(), "0 3x2 5");
    }

    #[test]
    fn what_is_refused() {
        assert_eq!(trace(&[]), Err(Refusal::Empty));
        assert_eq!(trace(&[(0, 3)]), Err(Refusal::NoPeriod));
        assert_eq!(trace(&[(4, 1), (3, 1)]), Err(Refusal::Decreasing(4)));
        assert_eq!(trace(&[(LATEST + 1, 1)]), Err(Refusal::Late));
        assert_eq!(trace(&[(1, 1), (2, MOST_AT_ONCE), (2, 1)]), Err(Refusal::TooManyAtOnce));
        assert_eq!(trace(&[(1, u64::MAX), (2, u64::MAX)]), Err(Refusal::TooManyAtOnce));
        assert!(trace(&[(1, MOST_AT_ONCE), (2, MOST_AT_ONCE), (LATEST, 1)]).is_ok());
    }

    /// At the end of time nothing overflows, and later departures never happen.
    #[test]
    fn nothing_wraps_at_the_end_of_time() {
        let late = Arc::new(trace(&[(LATEST, 1)]).expect("a trace"));
        assert_eq!(late.rate().bits_per_second(), 1, "no rate is zero");
        assert_eq!(late.time_of(5), Time::NEVER);
        let mut server = Server::new(late);
        let (start, end) = server.serve(u32::MAX);
        assert_eq!((start, end), (ms(LATEST), Time::NEVER));
        let dense = trace(&[(0, MOST_AT_ONCE), (1, MOST_AT_ONCE)]).expect("a trace");
        let last = Time::from_picoseconds(1 << 63);
        assert!(dense.offered_until(last) > dense.offered_until(ms(LATEST - 1)));
    }

    /// Packet by packet against the loop in Mahimahi's description: each opportunity takes what
    /// waits, byte by byte.
    fn by_hand(trace: &DeliveryTrace, packets: &[(u64, u32)]) -> Vec<(Time, Time)> {
        let mut done = vec![(Time::NEVER, Time::NEVER); packets.len()];
        let (mut next, mut left) = (0, 0);
        for number in 0.. {
            let (now, mut bytes) = (trace.time_of(number), OPPORTUNITY);
            while bytes > 0 && next < packets.len() && Time::from_picoseconds(packets[next].0) < now {
                if left == 0 {
                    left = u64::from(packets[next].1) + FRAME;
                    done[next].0 = now;
                }
                let taken = left.min(bytes);
                (left, bytes) = (left - taken, bytes - taken);
                if left == 0 {
                    done[next].1 = now;
                    next += 1;
                }
            }
            if next == packets.len() {
                return done;
            }
        }
        done
    }

    proptest! {
        #[test]
        fn as_opportunity_by_opportunity(
            times in proptest::collection::vec((0_u64..5, 1_u64..4), 1..10),
            packets in proptest::collection::vec((0_u64..4_000, 40_u32..4_000), 1..60),
        ) {
            let mut at = 0;
            let mut builder = DeliveryTraceBuilder::default();
            for (gap, count) in times {
                at += gap;
                builder.add(at, count).expect("in order");
            }
            builder.add(at + 1, 1).expect("in order");
            let trace = Arc::new(builder.build().expect("a trace"));
            let mut now = 0;
            // Some arrive exactly at an opportunity.
            let packets: Vec<(u64, u32)> = packets
                .into_iter()
                .map(|(gap, size)| {
                    now += gap / 500 * 500_000_000;
                    (now, size)
                })
                .collect();
            let mut server = Server::new(trace.clone());
            let served: Vec<(Time, Time)> = packets
                .iter()
                .map(|&(at, size)| {
                    server.skip_until(Time::from_picoseconds(at));
                    server.serve(size)
                })
                .collect();
            prop_assert_eq!(&served, &by_hand(&trace, &packets));
            // At the end everything served is used, and no more than was offered.
            let end = served[served.len() - 1].1;
            let (used, offered) = server.used_and_offered_until(end);
            prop_assert_eq!(used, packets.iter().map(|&(_, size)| u64::from(size) + FRAME).sum::<u64>());
            prop_assert!(used <= offered);
            let (before, _) = server.used_and_offered_until(Time::from_picoseconds(now));
            prop_assert!(before <= used);
        }

        /// Numbers and times are each other's inverse.
        #[test]
        fn numbers_and_times(times in proptest::collection::vec((0_u64..5, 1_u64..4), 1..10), number in 0_u64..100) {
            let mut at = 0;
            let mut builder = DeliveryTraceBuilder::default();
            for (gap, count) in times {
                at += gap;
                builder.add(at, count).expect("in order");
            }
            builder.add(at + 1, 1).expect("in order");
            let trace = builder.build().expect("a trace");
            let time = trace.time_of(number);
            prop_assert!(trace.count_until(time) > number);
            if let Some(before) = time.picoseconds().checked_sub(1) {
                prop_assert!(trace.count_until(Time::from_picoseconds(before)) <= number);
            }
        }
    }
}
