//! A scenario's network for real packets: packets and times in, packets out. It touches neither
//! clock nor device.

use crate::connection::{Connection, Connections, Place};
use crate::error::EmulationError;
use crate::fragment::{Datagram, Fragment, Fragments};
use crate::header::{Header, Segment, set_ce, set_window};
use crate::lateness::Lateness;
use crate::paths::{Paths, Seen, emulated};
use crate::report::{EmulationReport, HostReport, Outcome, Report, flow_report};
use crate::samples::FlowColumns;
use crate::settings::Settings;
use selfclock_congestion::units::Time;
use selfclock_simulator::plan::Plan;
use selfclock_simulator::record::packets::{Codepoint, PacketKind, Packets};
use selfclock_simulator::wires::{Direction, Fate, Left, LinkState, Parcel, Wires, WiresOutcome};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

/// A host of the scenario that sends and receives real packets.
#[derive(Clone, Debug)]
pub struct Host {
    /// Name of its node.
    pub name: String,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
    /// The networks behind it: address and prefix length in bits. A packet to no host's address
    /// goes to the longest matching prefix.
    pub networks: Vec<(IpAddr, u8)>,
}

impl Host {
    /// A host with these addresses and nothing behind it.
    pub fn new(name: &str, addresses: &[IpAddr]) -> Self {
        Self { name: name.to_owned(), addresses: addresses.to_vec(), networks: Vec::new() }
    }
}

/// Whether the address is multicast, broadcast, or unspecified.
fn is_for_many(address: IpAddr) -> bool {
    address.is_multicast() || address.is_unspecified() || address == IpAddr::V4(Ipv4Addr::BROADCAST)
}

/// Whether the address begins with the first `length` bits of the prefix.
fn begins_with(address: IpAddr, prefix: IpAddr, length: u8) -> bool {
    let (address, prefix, bits) = match (address, prefix) {
        (IpAddr::V4(address), IpAddr::V4(prefix)) => (address.to_bits().into(), prefix.to_bits().into(), 32),
        (IpAddr::V6(address), IpAddr::V6(prefix)) => (address.to_bits(), prefix.to_bits(), 128),
        _ => return false,
    };
    let difference: u128 = address ^ prefix;
    difference.checked_shr(bits - u32::from(length).min(bits)).unwrap_or(0) == 0
}

/// A packet in flight, with the header data needed on arrival.
#[derive(Clone, Debug)]
struct Load {
    bytes: Vec<u8>,
    connection: Option<usize>,
    /// The end of the connection that sent it.
    end: usize,
    to: usize,
    ecn: Codepoint,
    payload: u32,
    segment: Option<Segment>,
    /// The part of a datagram that it carries.
    fragment: Option<(Datagram, Fragment)>,
    /// Shift of its window, if known and changeable.
    shift: Option<u8>,
}

/// A packet that has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a> {
    /// Index of the host that it was sent to.
    pub host: usize,
    /// When it should be handed to that host.
    pub at: Time,
    /// Its current bytes.
    pub bytes: &'a [u8],
}

/// Discarded packets, by reason.
#[derive(Clone, Copy, Debug, Default)]
struct Ignored {
    unreadable: u64,
    to_nobody: u64,
    without_path: u64,
    refused: u64,
}

/// Links, queues and routers of a scenario, and the real packets on them.
#[derive(Clone, Debug)]
pub struct Emulation {
    settings: Settings,
    hosts: Vec<Host>,
    /// Node of each host.
    nodes: Vec<usize>,
    by_address: BTreeMap<IpAddr, usize>,
    /// The networks behind hosts, the longest prefix first.
    networks: Vec<(u8, IpAddr, usize)>,
    paths: Paths,
    wires: Wires<Box<Load>>,
    connections: Connections,
    fragments: Fragments,
    lateness: Lateness,
    packets: u64,
    ignored: Ignored,
    /// Payloads of ended packets, whose memory is reused.
    #[allow(clippy::vec_box, reason = "the network carries the box, and it is that which is used again")]
    spare: Vec<Box<Load>>,
}

impl Emulation {
    /// The idle network of a scenario between these hosts.
    ///
    /// # Errors
    /// An unknown host, a duplicate address, or no path between any two.
    pub fn new(scenario: &Plan, hosts: Vec<Host>, settings: Settings) -> Result<Self, EmulationError> {
        if hosts.len() < 2 {
            return Err(EmulationError::TooFewHosts(hosts.len()));
        }
        let mut nodes = Vec::new();
        let mut by_address: BTreeMap<IpAddr, usize> = BTreeMap::new();
        for (index, host) in hosts.iter().enumerate() {
            let name = host.name.clone();
            let Some(node) = scenario.nodes.iter().position(|node| *node == name) else {
                let nodes = scenario.nodes.iter().map(ToString::to_string).collect();
                return Err(EmulationError::UnknownHost { name, nodes });
            };
            if nodes.contains(&node) {
                return Err(EmulationError::HostTwice { name });
            }
            nodes.push(node);
            for &address in &host.addresses {
                if let Some(first) = by_address.insert(address, index) {
                    let first = hosts[first].name.clone();
                    return Err(EmulationError::AddressTwice { address, first, second: name });
                }
            }
        }
        let behind = |(host, each): (usize, &Host)| {
            each.networks.iter().map(|&(prefix, length)| (length, prefix, host)).collect::<Vec<_>>()
        };
        let mut networks: Vec<_> = hosts.iter().enumerate().flat_map(behind).collect();
        networks.sort_by_key(|&(length, ..)| std::cmp::Reverse(length));
        let paths = Paths::new(scenario, &nodes, &settings)?;
        let wires = Wires::new(&paths.plan);
        let connections = Connections::new(&paths, paths.plan.record.interval);
        Ok(Self {
            settings,
            hosts,
            nodes,
            by_address,
            networks,
            paths,
            wires,
            connections,
            fragments: Fragments::default(),
            lateness: Lateness::default(),
            packets: 0,
            ignored: Ignored::default(),
            spare: Vec::new(),
        })
    }

    /// The plan of its network: the scenario's links, and a slot for each connection.
    pub fn plan(&self) -> &Plan {
        &self.paths.plan
    }

    /// The hosts.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// A host sends a packet now. Everything due before must have been taken with
    /// [`Emulation::advance`].
    pub fn send(&mut self, now: Time, host: usize, bytes: &[u8]) {
        self.packets += 1;
        let Some(mut header) = Header::read(bytes) else {
            self.ignored.unreadable += 1;
            return;
        };
        let Some(to) = self.host_of(header.destination.0).filter(|&to| to != host) else {
            self.ignored.to_nobody += 1;
            return;
        };
        let Some((path, forward)) = self.paths.of(self.nodes[host], self.nodes[to], header.dscp) else {
            self.ignored.without_path += 1;
            return;
        };
        let fragment = self.fragments.on_sent(now, &mut header);
        let begins_datagram = fragment.is_none_or(|(_, fragment)| fragment.offset == 0);
        let names = [&self.hosts[host].name, &self.hosts[to].name].map(String::as_str);
        let end = usize::from(!forward);
        let place = self.connections.of(now, &header, (path, end), &self.paths, names);
        let Place { connection, slot } = place;
        if let Some((datagram, _)) = fragment.filter(|_| begins_datagram) {
            self.fragments.belongs(datagram, connection);
        }
        let size = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
        let mut parcel = Parcel { ecn: header.ecn, payload: header.payload, ..Parcel::datagram(size) };
        let mut shift = None;
        if let Some(index) = connection {
            self.connections.touch(index, now);
            let connection = self.connections.get_mut(index);
            match &header.segment {
                Some(segment) => {
                    describe(connection, now, end, segment, &mut parcel);
                    shift = connection.shift(end).filter(|_| !segment.syn);
                }
                None => {
                    connection.data[end].segments += u64::from(begins_datagram);
                    parcel.sequence = connection.data[end].sent;
                    connection.data[end].sent += u64::from(header.payload);
                }
            }
        } else if let Some(segment) = &header.segment {
            parcel.kind = kind(segment, header.payload);
        }
        let Header { ecn, payload, segment, .. } = header;
        let mut load = self.spare.pop().unwrap_or_else(|| {
            Box::new(Load {
                bytes: Vec::new(),
                connection,
                end,
                to,
                ecn,
                payload,
                segment: None,
                fragment,
                shift,
            })
        });
        let mut kept = std::mem::take(&mut load.bytes);
        kept.clear();
        kept.extend_from_slice(bytes);
        *load = Load { bytes: kept, connection, end, to, ecn, payload, segment, fragment, shift };
        let direction = if forward { Direction::Forward } else { Direction::Backward };
        self.wires.send(now, slot, direction, &parcel, load);
    }

    /// The host with this address, or in front of its network. Packets to groups have none.
    fn host_of(&self, address: IpAddr) -> Option<usize> {
        self.by_address.get(&address).copied().or_else(|| {
            if is_for_many(address) {
                return None;
            }
            let mut behind = self.networks.iter();
            behind.find(|&&(length, prefix, _)| begins_with(address, prefix, length)).map(|&(.., host)| host)
        })
    }

    /// Time of the network's next event; `None` if there is none before the next packet.
    pub fn next_event(&self) -> Option<Time> {
        self.wires.next_event()
    }

    /// Runs everything up to `now`. `deliver` gets each arrived packet, in the order of time, and
    /// returns when its host received it; `None` if the host refused it.
    pub fn advance(&mut self, now: Time, mut deliver: impl FnMut(Delivery<'_>) -> Option<Time>) {
        let Self { wires, connections, fragments, lateness, ignored, spare, .. } = self;
        for Left { fate, load, .. } in wires.advance(now) {
            let mut load = load;
            let connection = load.connection;
            match fate {
                Fate::Dropped => {
                    if let Some(index) = connection {
                        connections.get_mut(index).dropped += 1;
                    }
                }
                Fate::Arrived { at, ecn, receive_window } => {
                    change(&mut load, ecn, receive_window);
                    match deliver(Delivery { host: load.to, at, bytes: &load.bytes }) {
                        Some(done) => {
                            lateness.add(done.since(at));
                            if let Some(index) = connection {
                                connections.touch(index, done);
                                arrived(connections.get_mut(index), done, ecn, &load);
                            }
                            let whole = load
                                .fragment
                                .and_then(|(datagram, fragment)| fragments.on_arrived(datagram, fragment));
                            if let Some((index, payload)) = whole {
                                connections.get_mut(index).data[load.end].on_whole_datagram(payload);
                            }
                        }
                        None => ignored.refused += 1,
                    }
                }
            }
            spare.push(load);
        }
    }

    /// Takes the packet events before the last call, if recorded.
    pub fn take_packets(&mut self) -> Packets {
        self.wires.take_packets()
    }

    /// Slot and name of each new connection with its own slot since the last call. Records of its
    /// packets carry the slot.
    pub fn take_new_names(&mut self) -> Vec<(usize, String)> {
        let new = self.connections.take_new();
        let all = self.connections.all();
        let named = new.into_iter().filter(|&index| all[index].owns_slot);
        named.map(|index| (all[index].slot, all[index].name.clone())).collect()
    }

    /// Current activity of each link.
    pub fn link_states(&mut self) -> Vec<LinkState> {
        (0..self.paths.plan.links.len()).map(|link| self.wires.link_state(link)).collect()
    }

    /// Lateness of the packets that have left.
    pub fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// Packets received from hosts, and connections.
    pub fn totals(&self) -> (u64, usize) {
        (self.packets, self.connections.all().len())
    }

    /// Ends it at `end`, which must not precede any earlier time.
    pub fn finish(mut self, end: Time) -> Outcome {
        // Events until then count in the records; their packets are discarded.
        self.wires.advance(end).for_each(drop);
        let WiresOutcome { links, link_series, packets, events } = self.wires.finish(end);
        self.connections.take_last_samples(end);
        let plan = &self.paths.plan;
        let interval = self.connections.sampler.interval;
        let (mut flows, mut seen, mut flow_series) = (Vec::new(), Vec::new(), FlowColumns::default());
        for connection in self.connections.all() {
            let direction = connection.main_direction();
            if let Some(interval) = interval {
                let samples = &connection.samples[direction];
                flow_series.add(flows.len() as u32, connection.is_tcp(), interval, samples);
            }
            let path = &self.paths.paths[connection.path];
            let (from, to) = if direction == 0 { (path.from, path.to) } else { (path.to, path.from) };
            seen.push(Seen {
                name: connection.name.clone(),
                from,
                to,
                algorithm: connection.is_tcp().then(|| "tcp".to_owned()),
                start: connection.start,
            });
            flows.push(flow_report(
                connection,
                direction,
                [plan.nodes[from].as_str(), plan.nodes[to].as_str()],
                end,
            ));
        }
        let Ignored { unreadable, to_nobody, without_path, refused } = self.ignored;
        let host = |host: &Host| HostReport {
            name: host.name.clone(),
            addresses: host.addresses.iter().map(IpAddr::to_string).collect(),
        };
        let emulation = EmulationReport {
            hosts: self.hosts.iter().map(host).collect(),
            flows_per_path: self.settings.flows_per_path,
            packets: self.packets,
            lateness: self.lateness.report(self.settings.bound),
            longest_pause_s: 0.0,
            fifo: false,
            locked: false,
            notes: Vec::new(),
            connections_sharing: self.connections.sharing,
            untracked: self.connections.untracked,
            to_nobody,
            without_path,
            unreadable,
            refused,
        };
        let report = Report {
            scenario: plan.name.clone(),
            seed: plan.seed,
            simulated_s: end.seconds(),
            events,
            packet_hops: links.iter().map(|link| link.packets).sum(),
            flows,
            links,
            emulation,
        };
        Outcome { report, plan: emulated(plan, &seen), seen, flow_series, link_series, packets }
    }
}

fn kind(segment: &Segment, payload: u32) -> PacketKind {
    match (segment.syn, segment.acknowledgement.is_some(), payload > 0) {
        (true, false, _) => PacketKind::Syn,
        (true, true, _) => PacketKind::SynAck,
        (false, _, true) => PacketKind::Data,
        (false, _, false) => PacketKind::Ack,
    }
}

/// A segment from this end of its connection: stores its data, and describes it to the network.
fn describe(connection: &mut Connection, now: Time, end: usize, segment: &Segment, parcel: &mut Parcel) {
    parcel.kind = kind(segment, parcel.payload);
    (parcel.ece, parcel.cwr) = (segment.ece, segment.cwr);
    if segment.syn {
        parcel.retransmission = connection.ends[end].syn == Some(segment.sequence);
        connection.ends[end].syn = Some(segment.sequence);
        connection.ends[end].scale = segment.scale;
        connection.data[end].begin(now, segment.sequence);
        // A SYN acknowledges no data, except the other's SYN.
        connection.ends[end].window = Some(segment.window.into());
        return;
    }
    let window = connection.shift(end).map(|shift| u64::from(segment.window) << shift);
    connection.ends[end].window = window;
    if let Some(number) = segment.acknowledgement {
        let next = connection.data[1 - end].on_ack_sent(number);
        if parcel.kind == PacketKind::Ack {
            parcel.sequence = next;
            parcel.receive_window = window;
        }
    }
    if parcel.kind == PacketKind::Data {
        let (first, again) = connection.data[end].on_sent(now, segment.sequence, parcel.payload);
        (parcel.sequence, parcel.retransmission) = (first, again);
    }
    connection.ends[end].fin |= segment.fin;
    connection.over |= segment.rst || connection.ends.iter().all(|end| end.fin);
}

/// Applies the network's changes to a packet.
fn change(load: &mut Load, ecn: Codepoint, receive_window: Option<u64>) {
    if ecn == Codepoint::Ce && load.ecn != Codepoint::Ce {
        set_ce(&mut load.bytes);
    }
    if let (Some(window), Some(shift), Some(segment)) = (receive_window, load.shift, &load.segment) {
        // Rounded down to zero it would stop a flow that the router only slows down.
        let field = (window >> shift).max(u64::from(window > 0)).min(segment.window.into());
        set_window(&mut load.bytes, segment.offset, field as u16);
    }
}

/// A packet of this connection has reached its host.
fn arrived(connection: &mut Connection, done: Time, ecn: Codepoint, load: &Load) {
    connection.marked += u64::from(ecn == Codepoint::Ce && load.ecn != Codepoint::Ce);
    let end = load.end;
    let size = load.bytes.len() as u64;
    if load.fragment.is_some() {
        connection.data[end].arrived_bytes += size;
    } else if load.segment.is_none() {
        connection.data[end].arrived_bytes += size;
        connection.data[end].on_whole_datagram(load.payload);
    } else if load.payload > 0 {
        connection.data[end].on_arrived(load.payload, size);
    }
    let Some(segment) = &load.segment else { return };
    let Some(number) = segment.acknowledgement else { return };
    let data = &mut connection.data[1 - end];
    data.on_begun(done);
    if segment.syn {
        return;
    }
    let before = data.acknowledged;
    data.on_ack_arrived(done, number, &segment.sack);
    if data.acknowledged > before {
        connection.acknowledged_at[1 - end] = done;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_for_many_is_for_nobody() {
        for text in ["224.0.0.22", "255.255.255.255", "0.0.0.0", "ff02::2", "::"] {
            assert!(is_for_many(text.parse().expect("an address")), "{text}");
        }
        assert!(!is_for_many("10.0.0.1".parse().expect("an address")));
    }

    #[test]
    fn prefixes() {
        let address = |text: &str| text.parse().expect("an address");
        for (of, prefix, length, expected) in [
            ("10.1.2.3", "10.1.0.0", 16, true),
            ("10.1.2.3", "10.2.0.0", 16, false),
            ("10.1.2.3", "10.1.2.3", 32, true),
            ("10.1.2.2", "10.1.2.3", 32, false),
            ("192.0.2.1", "0.0.0.0", 0, true),
            ("2001:db8::1", "0.0.0.0", 0, false),
            ("2001:db8::1", "::", 0, true),
            ("2001:db8::1", "2001:db8::", 32, true),
            ("2001:db9::1", "2001:db8::", 32, false),
        ] {
            assert_eq!(
                begins_with(address(of), address(prefix), length),
                expected,
                "{of} in {prefix}/{length}"
            );
        }
    }
}
