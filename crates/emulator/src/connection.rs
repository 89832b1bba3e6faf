//! The connections of packets, by protocol, addresses and ports, and their slots in the plan.

use crate::header::{Header, TCP, UDP};
use crate::passive::Data;
use crate::paths::{Path, Paths};
use crate::samples::{MOST_SAMPLES, Sample, Sampler, halve};
use selfclock_congestion::units::{Duration, Time};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// Maximum number of connections in results; queues and routers process the others, too.
pub const MOST_CONNECTIONS: usize = 100_000;

/// Idle time after which a connection's slot may be reused: longer if its end was not seen.
const IDLE_AFTER_END: Duration = Duration::from_milliseconds(10_000);
const IDLE: Duration = Duration::from_milliseconds(60_000);

/// Identity shared by the packets of a connection, in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    protocol: u8,
    lower: (IpAddr, u16),
    higher: (IpAddr, u16),
}

impl Key {
    fn of(header: &Header) -> Self {
        let (lower, higher) = if header.source <= header.destination {
            (header.source, header.destination)
        } else {
            (header.destination, header.source)
        };
        Self { protocol: header.protocol, lower, higher }
    }
}

/// Options and parameters announced by one end of a TCP connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct End {
    /// Sequence number of its SYN, if that was seen.
    pub syn: Option<u32>,
    /// Window scale option of its SYN.
    pub scale: Option<u8>,
    /// Window that it advertised last, bytes.
    pub window: Option<u64>,
    /// It has sent a FIN.
    pub fin: bool,
}

/// A connection: TCP, or packets of another protocol between the same addresses and ports.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Its name: hosts and ports, the initiator first.
    pub name: String,
    /// Its path.
    pub path: usize,
    /// Its flow in the plan.
    pub slot: usize,
    /// Whether no other connection shares that flow.
    pub owns_slot: bool,
    /// Protocol number of IP.
    pub protocol: u8,
    /// The end that began it, and addresses and ports of both.
    pub initiator: usize,
    pub addresses: [SocketAddr; 2],
    /// First and last packet.
    pub start: Time,
    pub last: Time,
    /// Whether it was reset, or both ends have finished.
    pub over: bool,
    /// Its ends: the one at its path's `from` first.
    pub ends: [End; 2],
    /// Packet size of each of them.
    pub data: [Data; 2],
    /// Time at which the last byte of each was acknowledged.
    pub acknowledged_at: [Time; 2],
    /// Packets that were dropped on the path, and that arrived CE-marked by it.
    pub dropped: u64,
    pub marked: u64,
    /// Series of each direction, from its first payload on.
    pub samples: [Vec<Sample>; 2],
    next_tick: u64,
}

impl Connection {
    /// It is TCP.
    pub fn is_tcp(&self) -> bool {
        self.protocol == TCP
    }

    /// The direction that carried most of the payload.
    pub fn main_direction(&self) -> usize {
        let payload = |direction: usize| {
            let data: &Data = &self.data[direction];
            if self.is_tcp() { data.sent } else { data.arrived_payload.max(data.sent) }
        };
        usize::from(payload(1) > payload(0))
    }

    /// Shift of the windows advertised by an end; `None` if a SYN was not seen. RFC 7323: both must
    /// have offered it.
    pub fn shift(&self, end: usize) -> Option<u8> {
        let [Some(_), Some(_)] = self.ends.map(|end| end.syn) else { return None };
        match (self.ends[end].scale, self.ends[1 - end].scale) {
            (Some(own), Some(_)) => Some(own),
            _ => Some(0),
        }
    }

    /// Takes the samples due before its next event, now. Returns their number.
    pub fn sample_before(&mut self, now: Time, sampler: &Sampler) -> usize {
        let mut taken = 0;
        while sampler.is_before(self.next_tick, now) {
            for direction in 0..2 {
                let data = &self.data[direction];
                if data.segments > 0 {
                    let window = self.ends[1 - direction].window;
                    self.samples[direction].push(Sample::of(self.next_tick, data, window));
                    taken += 1;
                }
            }
            self.next_tick += 1;
        }
        taken
    }

    fn is_idle(&self, now: Time) -> bool {
        now.since(self.last) > if self.over { IDLE_AFTER_END } else { IDLE }
    }
}

/// All connections.
#[derive(Clone, Debug)]
pub struct Connections {
    all: Vec<Connection>,
    by_key: BTreeMap<Key, usize>,
    /// Number of connections with this name before numbering.
    names: BTreeMap<String, u32>,
    /// Unused slots of each path, and the holders of the others.
    fresh: Vec<usize>,
    owners: Vec<Option<usize>>,
    /// Sampling times of series.
    pub sampler: Sampler,
    /// Connections that share a slot, because all were taken.
    pub sharing: u64,
    /// Packets of connections beyond [`MOST_CONNECTIONS`].
    pub untracked: u64,
    /// Connections since the last call of [`Connections::take_new`].
    new: Vec<usize>,
}

/// Connection and slot of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Index of its connection; `None` beyond the maximum.
    pub connection: Option<usize>,
    /// Its flow in the plan.
    pub slot: usize,
}

impl Connections {
    /// None yet.
    pub fn new(paths: &Paths, interval: Option<Duration>) -> Self {
        Self {
            all: Vec::new(),
            by_key: BTreeMap::new(),
            names: BTreeMap::new(),
            fresh: vec![0; paths.paths.len()],
            owners: vec![None; paths.plan.flows.len()],
            sampler: Sampler { interval, taken: 0 },
            sharing: 0,
            untracked: 0,
            new: Vec::new(),
        }
    }

    /// The connection of a packet from this end of this path, created by its first packet. `names`:
    /// of the sending host, and of the other.
    pub fn of(
        &mut self,
        now: Time,
        header: &Header,
        (path, end): (usize, usize),
        paths: &Paths,
        names: [&str; 2],
    ) -> Place {
        let key = Key::of(header);
        let known = self.by_key.get(&key).copied().filter(|&index| !self.begins_anew(index, header));
        if let Some(index) = known {
            return Place { connection: Some(index), slot: self.all[index].slot };
        }
        if self.all.len() >= MOST_CONNECTIONS {
            self.untracked += 1;
            return Place { connection: None, slot: shared_slot(&key, path, paths) };
        }
        let index = self.all.len();
        let (slot, owns_slot) = match self.free_slot(now, path, paths) {
            Some(slot) => {
                self.owners[slot] = Some(index);
                (slot, true)
            }
            None => {
                self.sharing += 1;
                (shared_slot(&key, path, paths), false)
            }
        };
        let name = self.name(header, names);
        let mut addresses = [SocketAddr::from(header.source), SocketAddr::from(header.destination)];
        addresses.rotate_left(end);
        self.all.push(Connection {
            name,
            path,
            slot,
            owns_slot,
            protocol: header.protocol,
            initiator: end,
            addresses,
            start: now,
            last: now,
            over: false,
            ends: Default::default(),
            data: Default::default(),
            acknowledged_at: [now; 2],
            dropped: 0,
            marked: 0,
            samples: Default::default(),
            next_tick: self.sampler.next_tick(now),
        });
        self.by_key.insert(key, index);
        self.new.push(index);
        Place { connection: Some(index), slot }
    }

    /// Whether this is a SYN with a different number from that of the connection which uses, or
    /// used, these ports.
    fn begins_anew(&self, index: usize, header: &Header) -> bool {
        let Some(segment) = header.segment.as_ref().filter(|segment| segment.syn) else { return false };
        let connection = &self.all[index];
        segment.acknowledgement.is_none()
            && connection.ends.iter().filter_map(|end| end.syn).all(|number| number != segment.sequence)
            && (connection.over || connection.ends.iter().any(|end| end.syn.is_some()))
    }

    /// A free slot, or one whose connection is over.
    fn free_slot(&mut self, now: Time, path: usize, paths: &Paths) -> Option<usize> {
        let Path { first_slot, .. } = paths.paths[path];
        if self.fresh[path] < paths.slots_per_path {
            self.fresh[path] += 1;
            return Some(first_slot + self.fresh[path] - 1);
        }
        let idle = |&slot: &usize| self.owners[slot].is_none_or(|owner| self.all[owner].is_idle(now));
        (first_slot..first_slot + paths.slots_per_path).find(idle)
    }

    fn name(&mut self, header: &Header, [from, to]: [&str; 2]) -> String {
        let name = match header.protocol {
            TCP => format!("{from}:{}-{to}:{}", header.source.1, header.destination.1),
            UDP => format!("{from}:{}-{to}:{} udp", header.source.1, header.destination.1),
            1 | 58 => format!("{from}-{to} icmp"),
            other => format!("{from}-{to} ip {other}"),
        };
        let count = self.names.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { name } else { format!("{name} #{count}") }
    }

    /// The connection with this index.
    pub fn get_mut(&mut self, index: usize) -> &mut Connection {
        &mut self.all[index]
    }

    /// All of them, in order of their start.
    pub fn all(&self) -> &[Connection] {
        &self.all
    }

    /// A connection has an event now: its samples are taken first.
    pub fn touch(&mut self, index: usize, now: Time) {
        let connection = &mut self.all[index];
        self.sampler.taken += connection.sample_before(now, &self.sampler);
        connection.last = connection.last.max(now);
        if self.sampler.taken > MOST_SAMPLES {
            self.thin_out();
        }
    }

    fn thin_out(&mut self) {
        self.sampler.interval = self.sampler.interval.map(|interval| interval.times(2));
        self.sampler.taken = 0;
        for connection in &mut self.all {
            connection.samples.iter_mut().for_each(halve);
            connection.next_tick = connection.next_tick.div_ceil(2);
            self.sampler.taken += connection.samples.iter().map(Vec::len).sum::<usize>();
        }
    }

    /// At the end each connection has a sample from after its last packet.
    pub fn take_last_samples(&mut self, end: Time) {
        let Some(interval) = self.sampler.interval else { return };
        for connection in &mut self.all {
            let after = connection.last + interval + Duration::from_picoseconds(1);
            connection.sample_before(after.min(end + Duration::from_picoseconds(1)), &self.sampler);
        }
    }

    /// New ones since the last call.
    pub fn take_new(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.new)
    }
}

/// The shared slot of a connection when all are taken, the same for all its packets.
fn shared_slot(key: &Key, path: usize, paths: &Paths) -> usize {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ u64::from(key.protocol);
    for (address, port) in [key.lower, key.higher] {
        let bytes: [u8; 16] = match address {
            IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
            IpAddr::V6(address) => address.octets(),
        };
        // FNV-1a (draft-eastlake-fnv).
        for byte in bytes.into_iter().chain(port.to_be_bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    paths.paths[path].first_slot + (hash % paths.slots_per_path as u64) as usize
}
