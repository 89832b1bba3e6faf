//! Fragments of IP packets: which flow those without ports belong to, and which datagrams arrive
//! whole.
//!
//! Only the first fragment has the header of UDP or ICMP; the others have its addresses, protocol
//! and identification (RFC 791, section 3.2; RFC 8200, section 4.5). TCP does not take part: its
//! segments are as large as the path carries.

use crate::header::{Header, TCP, UDP};
use selfclock_congestion::units::{Duration, Time};
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

/// Maximum number of datagrams known at a time; beyond it the oldest are forgotten. One second of
/// datagrams of two fragments at 1 Gbit/s are 40,000.
const MOST_DATAGRAMS: usize = 1 << 16;

/// An identification may come back after the time that a receiver waits for missing fragments: 30 s
/// in Linux (`net.ipv4.ipfrag_time`).
const FORGOTTEN_AFTER: Duration = Duration::from_milliseconds(30_000);

/// Length of a UDP header, bytes.
const UDP_HEADER: u32 = 8;

/// The part of a datagram that a packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Identification of the datagram.
    pub identification: u32,
    /// Where it begins, bytes.
    pub offset: u32,
    /// Bytes of IP payload.
    pub length: u32,
    /// It is not the last.
    pub more: bool,
}

/// Identity of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Datagram {
    source: IpAddr,
    destination: IpAddr,
    protocol: u8,
    identification: u32,
}

/// A datagram, as far as its fragments have told.
#[derive(Clone, Copy, Debug)]
struct Known {
    since: Time,
    /// Ports of both ends, from the first fragment.
    ports: Option<(u16, u16)>,
    /// Its connection, set by the first fragment.
    connection: Option<usize>,
    /// Bytes of IP payload that have arrived, and those of the whole, from the last fragment.
    arrived: u32,
    whole: Option<u32>,
}

/// Datagrams whose fragments are on their way.
#[derive(Clone, Debug, Default)]
pub struct Fragments {
    known: BTreeMap<Datagram, Known>,
    /// In the order in which they began, with those that have ended.
    begun: VecDeque<(Datagram, Time)>,
}

impl Fragments {
    /// A host sends a fragment: gives its header the ports of the first one. A fragment that comes
    /// before the first keeps port 0: its flow is not known.
    pub fn on_sent(&mut self, now: Time, header: &mut Header) -> Option<(Datagram, Fragment)> {
        let fragment = header.fragment.filter(|_| header.protocol != TCP)?;
        let datagram = Datagram {
            source: header.source.0,
            destination: header.destination.0,
            protocol: header.protocol,
            identification: fragment.identification,
        };
        let is_first = fragment.offset == 0;
        // A second first fragment is that of another datagram.
        let is_new = self.known.get(&datagram).is_none_or(|known| {
            now.since(known.since) > FORGOTTEN_AFTER || (is_first && known.ports.is_some())
        });
        if is_new {
            self.begin(datagram, now);
        }
        let known = self.known.get_mut(&datagram)?;
        if is_first {
            known.ports = Some((header.source.1, header.destination.1));
        } else if let Some(ports) = known.ports {
            (header.source.1, header.destination.1) = ports;
        }
        Some((datagram, fragment))
    }

    fn begin(&mut self, datagram: Datagram, now: Time) {
        let unknown = Known { since: now, ports: None, connection: None, arrived: 0, whole: None };
        self.known.insert(datagram, unknown);
        self.begun.push_back((datagram, now));
        if self.begun.len() > MOST_DATAGRAMS {
            let oldest = self.begun.pop_front();
            if let Some((datagram, since)) = oldest
                && self.known.get(&datagram).is_some_and(|known| known.since == since)
            {
                self.known.remove(&datagram);
            }
        }
    }

    /// The first fragment of a datagram is one of this connection.
    pub fn belongs(&mut self, datagram: Datagram, connection: Option<usize>) {
        if let Some(known) = self.known.get_mut(&datagram) {
            known.connection = connection;
        }
    }

    /// A fragment arrives. Returns connection and payload of its datagram if that is whole now.
    pub fn on_arrived(&mut self, datagram: Datagram, fragment: Fragment) -> Option<(usize, u32)> {
        let known = self.known.get_mut(&datagram)?;
        known.arrived += fragment.length;
        if !fragment.more {
            known.whole = Some(fragment.offset + fragment.length);
        }
        let whole = known.whole.filter(|&whole| whole == known.arrived)?;
        let connection = known.connection;
        self.known.remove(&datagram);
        let header = if datagram.protocol == UDP { UDP_HEADER } else { 0 };
        Some((connection?, whole.saturating_sub(header)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfclock_simulator::record::packets::Codepoint;

    fn header(identification: u32, offset: u32, more: bool, ports: (u16, u16)) -> Header {
        let address = |last: u8| IpAddr::from([10, 0, 0, last]);
        Header {
            source: (address(1), ports.0),
            destination: (address(2), ports.1),
            protocol: UDP,
            dscp: 0,
            ecn: Codepoint::NotEct,
            payload: 1480,
            segment: None,
            fragment: Some(Fragment { identification, offset, length: 1480, more }),
        }
    }

    fn at(seconds: u64) -> Time {
        Time::ZERO + Duration::from_milliseconds(seconds * 1000)
    }

    /// 4,440 bytes of IP payload are 4,432 of UDP. They arrive in another order, after a datagram
    /// of the same identification, one of whose fragments was lost.
    #[test]
    fn datagrams_that_arrive_whole_count_for_their_flow() {
        let mut fragments = Fragments::default();
        for (round, lost) in [(0, true), (1, false)] {
            let mut sent = Vec::new();
            for (number, more) in [(0, true), (1, true), (2, false)] {
                let ports = if number == 0 { (4000, 5000) } else { (0, 0) };
                let mut header = header(7, number * 1480, more, ports);
                let (datagram, fragment) = fragments.on_sent(at(round), &mut header).expect("a fragment");
                assert_eq!((header.source.1, header.destination.1), (4000, 5000));
                if number == 0 {
                    fragments.belongs(datagram, Some(3));
                }
                sent.push((datagram, fragment));
            }
            let found = [2, 0, 1].map(|at| {
                let (datagram, fragment) = sent[at];
                if lost && at == 0 { None } else { fragments.on_arrived(datagram, fragment) }
            });
            assert_eq!(found, [None, None, (!lost).then_some((3, 4432))]);
        }
    }

    /// A fragment before the first has no flow, but its datagram is counted.
    #[test]
    fn the_first_may_come_last() {
        let mut fragments = Fragments::default();
        let mut last = header(9, 1480, false, (0, 0));
        let (datagram, second) = fragments.on_sent(at(0), &mut last).expect("a fragment");
        assert_eq!(last.source.1, 0);
        let (_, first) = fragments.on_sent(at(0), &mut header(9, 0, true, (4000, 5000))).expect("one");
        fragments.belongs(datagram, Some(1));
        assert_eq!(fragments.on_arrived(datagram, first), None);
        assert_eq!(fragments.on_arrived(datagram, second), Some((1, 2952)));
    }

    #[test]
    fn old_datagrams_are_forgotten() {
        let mut fragments = Fragments::default();
        fragments.on_sent(at(0), &mut header(1, 0, true, (4000, 5000)));
        let mut late = header(1, 1480, false, (0, 0));
        fragments.on_sent(at(31), &mut late);
        assert_eq!(late.source.1, 0);
        for identification in 0..2 * MOST_DATAGRAMS as u32 {
            fragments.on_sent(at(40), &mut header(identification, 0, true, (4000, 5000)));
        }
        assert_eq!(fragments.known.len(), MOST_DATAGRAMS);
        assert_eq!(fragments.begun.len(), MOST_DATAGRAMS);
    }
}
