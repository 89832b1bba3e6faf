//! The packets of one host or of one link as a pcapng capture, which Wireshark, tshark, tcpdump and
//! scapy read.
//!
//! The capture of a host is what tcpdump would see there, in both directions: a packet that the
//! host sends, stamped when its transmission on the first link begins ([`PacketEvent::Transmit`])
//! and flagged outbound, and a packet that reaches the host as its destination, stamped when it
//! does ([`PacketEvent::Deliver`]) and flagged inbound. Each neighbour of the host that its flows
//! send to or hear from is an interface, named after the link to it. Packets that the host forwards
//! are not its own.
//!
//! The capture of a link is what a tap at its transmitter would see: one packet for each
//! [`PacketEvent::Transmit`], stamped when its transmission begins.
//!
//! Times are nanoseconds since the start of the run, rounded down. Packets are in the order of
//! their exact times. Nothing in the file depends on the machine or its clock: the same run gives
//! the same bytes.
//!
//! # What is in a packet
//! * Link type 101, raw IP. IPv4, then TCP with all its options, or UDP. The headers are complete
//!   and their checksums right. The TCP and UDP checksums are those of a payload of zeros, which is
//!   not stored.
//! * **Payload** of a QUIC stack's datagrams, if the plan keeps it ([`RecordPlan::payload`]): their
//!   real bytes. The TLS secrets of a connection stand before the first packet that they protect,
//!   in a decryption secrets block, so Wireshark and tshark decrypt it by themselves. Datagrams
//!   sent outside the time that is recorded have headers alone.
//! * **Addresses**: node *i* of the plan has 10.0.0.0 + *i* + 1: 10.0.0.1, 10.0.0.2, and so on. The
//!   names of the nodes that talk over the link stand in a name resolution block, so Wireshark can
//!   show them.
//! * **Ports**: flow *f* sends from port 50000 + *f* mod 4096 to port 40000 + *f* div 4096,
//!   whatever its nodes are, so a flow is found by its ports in the captures of all links. Short
//!   connections are numbered after the flows, in the order in which they start. Wireshark takes
//!   these ports for no protocol above TCP, nor those of the first 4.7 million flows for one above
//!   UDP. They last for 37 million.
//! * **Identification** of IP: the low 16 bits of [`PacketRecord::packet`]. Time to live is always
//!   64: nodes do not count hops.
//! * **Sequence numbers**: byte *n* of the payload has number [`INITIAL_SEQUENCE`] + 1 + *n*,
//!   modulo 2^32. The one is the SYN's, counted with or without a handshake, so Wireshark's
//!   relative numbers are ours plus one.
//! * **Window**: what the receiver advertises, scaled by the smallest shift (at most 14, RFC 7323)
//!   that makes the plan's receive window fit in 16 bits, rounded up, never above 65535. Without a
//!   handshake a reader does not see the shift; Wireshark takes it as a preference. Data segments
//!   advertise 65535: nothing is sent to their sender.
//! * **ECN**: the codepoint in the IP header and the TCP flags ECE and CWR of RFC 3168. Of accurate
//!   feedback nothing is written: its counts are not modelled as they stand on the wire.
//! * **Resource discovery** packets of FICCRD: IP protocol 253, APR and ER in bit/s as 64-bit
//!   numbers, then a byte that is 1 on the way back.
//! * **Options**: those of the record. On a SYN and its answer: what the plan's transport
//!   negotiates. If SACK blocks do not fit beside timestamps and the algorithm's option, the last
//!   ones are left out. Wireshark takes packet-pair's option of kind 6 for Echo, which has the same
//!   kind: it notes that a mark has not Echo's 6 bytes, and may warn of the no-operation options
//!   that pad a reply. With `option_kind = "253"` it shows an experiment.
//!
//! # Lengths
//! The captured length is that of the headers, and of the payload where it is kept. The original
//! length is the size on the wire, except where the plan counts less for headers than real ones
//! take (0 bytes, say): there it is that of the real headers and the payload, because a shorter
//! packet could not be read as one with this payload. The length in the IP header is that of
//! headers and payload, also where the plan counts more (framing, say). Above 65535 bytes it is 0
//! for TCP, as in captures of segmentation offload, and stays at 65535 for UDP.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::time::Duration as StdDuration;

use etherparse::checksum::Sum16BitWords;
use etherparse::{IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader, UdpHeader};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::name_resolution::{Ipv4Record, NameResolutionBlock, Record};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::blocks::unknown::UnknownBlock;
use pcap_file::{DataLink, Endianness, PcapError};
use selfclock_congestion::PeerOption;
use selfclock_congestion::units::Time;

use super::packets::{PacketEvent, PacketRecord};
use super::payload::Payloads;
use crate::packet::{MAXIMUM_SACK_BLOCKS, PacketKind, ResourceDiscovery};
#[cfg(doc)]
use crate::plan::RecordPlan;
use crate::plan::{Ecn, FlowPlan, Plan, Transport};

/// Sequence number of a SYN, in both directions. The first byte of payload has the next number.
pub const INITIAL_SEQUENCE: u32 = 0;

/// `if_tsresol`: timestamps count units of 10^-9 s. Wireshark 4.0 shows wrong times for
/// picoseconds, because it multiplies the fraction of a second by 10^9 in 64 bits.
const NANOSECONDS: u8 = 9;
const PICOSECONDS_PER_NANOSECOND: u64 = 1000;
/// Longest header: 20 bytes of IPv4, 8 of its options, 60 of TCP.
const LONGEST_HEADER: usize = 88;
/// Headers of a datagram, bytes.
const SHORTEST_DATAGRAM: u32 = (Ipv4Header::MIN_LEN + UdpHeader::LEN) as u32;
/// Longest block of TCP options.
const LONGEST_OPTIONS: usize = 40;
/// Fields of a resource discovery packet, bytes.
const RESOURCE_DISCOVERY: usize = 17;
/// Longest text of the plan that is written, bytes; the format ends at 65535.
const LONGEST_TEXT: usize = 4096;

/// Decryption secrets block, and of the secrets in it the type "TLSK" (pcapng, section 4.7).
const DECRYPTION_SECRETS: u32 = 0x0000_000A;
const TLS_KEY_LOG: u32 = 0x544c_534b;

const FIRST_SENDER_PORT: u16 = 50_000;
const SENDER_PORTS: u32 = 4096;
const FIRST_RECEIVER_PORT: u16 = 40_000;
const RECEIVER_PORTS: u32 = 9152;

/// `epb_flags`: a packet came in, or went out.
const INBOUND: u32 = 0b01;
const OUTBOUND: u32 = 0b10;

/// Where packets are captured.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tap {
    /// At the transmitter of the link with this index in [`Plan::links`].
    Link(usize),
    /// At the host with this index in [`Plan::nodes`].
    Host(usize),
}

impl Tap {
    /// The host whose capture has this record: that which sends the packet, as its transmission on
    /// the first link begins, or that which it is delivered to.
    pub fn host_of(plan: &Plan, packet: &PacketRecord) -> Option<usize> {
        let way = Way::of(plan.flows.get(packet.flow as usize)?, packet);
        match packet.event {
            PacketEvent::Transmit => (way.links.first() == Some(&(packet.link as usize))).then_some(way.from),
            PacketEvent::Deliver => Some(way.to),
            _ => None,
        }
    }

    /// Packets of the flow may be seen here.
    fn has_flow(self, flow: &FlowPlan) -> bool {
        match self {
            Self::Link(link) => flow.forward.contains(&link) || flow.reverse.contains(&link),
            Self::Host(host) => flow.from == host || flow.to == host,
        }
    }

    fn sees(self, plan: &Plan, packet: &PacketRecord) -> bool {
        match self {
            Self::Link(link) => packet.event == PacketEvent::Transmit && packet.link as usize == link,
            Self::Host(host) => Self::host_of(plan, packet) == Some(host),
        }
    }
}

/// Where a packet goes.
struct Way<'a> {
    from: usize,
    to: usize,
    links: &'a [usize],
}

impl<'a> Way<'a> {
    fn of(flow: &'a FlowPlan, packet: &PacketRecord) -> Self {
        let back = match packet.kind {
            PacketKind::ResourceDiscovery => packet.resource.is_some_and(|resource| resource.backward),
            kind => kind.returns(),
        };
        if back { Self::back(flow) } else { Self::forth(flow) }
    }

    fn forth(flow: &'a FlowPlan) -> Self {
        Self { from: flow.from, to: flow.to, links: &flow.forward }
    }

    fn back(flow: &'a FlowPlan) -> Self {
        Self { from: flow.to, to: flow.from, links: &flow.reverse }
    }
}

/// The interfaces of a capture: links that give them their names, and the number of that which each
/// link at the tap belongs to.
struct Interfaces {
    named: Vec<usize>,
    number: BTreeMap<usize, u32>,
}

impl Interfaces {
    fn of(plan: &Plan, tap: Tap) -> Self {
        let host = match tap {
            Tap::Link(link) => return Self { named: vec![link], number: BTreeMap::from([(link, 0)]) },
            Tap::Host(host) => host,
        };
        let mut card_of = BTreeMap::new();
        for way in plan.flows.iter().flat_map(|flow| [Way::forth(flow), Way::back(flow)]) {
            if let (true, Some(&link)) = (way.from == host, way.links.first()) {
                card_of.insert(link, link);
            }
            if let (true, Some(&link)) = (way.to == host, way.links.last()) {
                let neighbour = plan.links[link].from;
                let out = plan.links.iter().position(|link| (link.from, link.to) == (host, neighbour));
                card_of.insert(link, out.unwrap_or(link));
            }
        }
        let named: Vec<usize> = card_of.values().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let number = |card: &usize| named.binary_search(card).expect("each is among them") as u32;
        let number = card_of.iter().map(|(&link, card)| (link, number(card))).collect();
        Self { named, number }
    }
}

/// A capture of one host or one link, written packet by packet; see the [module](self) for what is
/// in it.
pub struct Capture<'a, W: Write> {
    file: PcapNgWriter<W>,
    plan: &'a Plan,
    tap: Tap,
    interfaces: Interfaces,
    /// Secrets that were written or passed over.
    secrets: usize,
}

impl<'a, W: Write> Capture<'a, W> {
    /// Begins a capture. Every packet is a few small writes, so `out` should be buffered.
    ///
    /// # Errors
    /// Those of `out`; and [`io::ErrorKind::InvalidInput`] if the plan has no such host or link, or
    /// more nodes than addresses (16 million).
    pub fn new(out: W, plan: &'a Plan, tap: Tap) -> io::Result<Self> {
        match tap {
            Tap::Link(link) if link >= plan.links.len() => {
                return Err(invalid(format!("no link {link}: the plan has {}", plan.links.len())));
            }
            Tap::Host(host) if host >= plan.nodes.len() => {
                return Err(invalid(format!("no host {host}: the plan has {} nodes", plan.nodes.len())));
            }
            _ => {}
        }
        let interfaces = Interfaces::of(plan, tap);
        let section = SectionHeaderBlock {
            // Fixed: the bytes may not depend on the machine that writes them.
            endianness: Endianness::Little,
            options: vec![
                SectionHeaderOption::Comment(
                    format!("scenario {:?}, seed {}", clip(&plan.name), plan.seed).into(),
                ),
                SectionHeaderOption::UserApplication(concat!("selfclock ", env!("CARGO_PKG_VERSION")).into()),
            ],
            ..Default::default()
        };
        let mut file = PcapNgWriter::with_section_header(out, section).map_err(io_error)?;
        for link in interfaces.named.iter().map(|&link| &plan.links[link]) {
            file.write_pcapng_block(InterfaceDescriptionBlock {
                linktype: DataLink::RAW,
                snaplen: if plan.record.payload { u16::MAX.into() } else { LONGEST_HEADER as u32 },
                options: vec![
                    InterfaceDescriptionOption::IfName(clip(&link.name).into()),
                    InterfaceDescriptionOption::IfSpeed(link.rate.bits_per_second()),
                    InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
                ],
            })
            .map_err(io_error)?;
        }
        if let Some(names) = names(plan, tap)? {
            file.write_pcapng_block(names).map_err(io_error)?;
        }
        Ok(Self { file, plan, tap, interfaces, secrets: 0 })
    }

    /// Ends the capture.
    pub fn into_inner(self) -> W {
        self.file.into_inner()
    }

    /// Writes the packet if it is seen here. Records come in the order of time; those of other
    /// places and of other events are passed over.
    ///
    /// # Errors
    /// Those of `out`; and [`io::ErrorKind::InvalidInput`] if the record does not belong to the
    /// plan (a flow it does not have, a TCP segment in a UDP flow), or if there are more flows than
    /// ports (37 million).
    pub fn add(&mut self, packet: &PacketRecord, payloads: &Payloads) -> io::Result<()> {
        if !self.tap.sees(self.plan, packet) {
            return Ok(());
        }
        self.add_secrets(packet.time, payloads)?;
        let payload = payloads.of(packet.packet).unwrap_or_default();
        let header = Header::new(self.plan, packet, payload)?;
        let headers = &header.bytes[..header.length];
        let data = match payload {
            [] => Cow::Borrowed(headers),
            payload => Cow::Owned([headers, payload].concat()),
        };
        let (link, options) = match (self.tap, packet.event) {
            (Tap::Link(link), _) => (link, Vec::new()),
            (Tap::Host(_), PacketEvent::Transmit) => {
                (packet.link as usize, vec![EnhancedPacketOption::Flags(OUTBOUND)])
            }
            (Tap::Host(_), _) => {
                let links = Way::of(&self.plan.flows[packet.flow as usize], packet).links;
                (links.last().copied().unwrap_or_default(), vec![EnhancedPacketOption::Flags(INBOUND)])
            }
        };
        self.file
            .write_pcapng_block(EnhancedPacketBlock {
                interface_id: self.interfaces.number.get(&link).copied().unwrap_or_default(),
                timestamp: StdDuration::from_nanos(packet.time.picoseconds() / PICOSECONDS_PER_NANOSECOND),
                original_len: packet.size.max(header.real_length),
                data,
                options,
            })
            .map_err(io_error)?;
        Ok(())
    }

    /// Writes the secrets of connections that are seen here, as far as they are known by `time`.
    fn add_secrets(&mut self, time: Time, payloads: &Payloads) -> io::Result<()> {
        while let Some(secrets) = payloads.secrets().get(self.secrets).filter(|secrets| secrets.time <= time)
        {
            self.secrets += 1;
            if self.plan.flows.get(secrets.flow as usize).is_some_and(|flow| self.tap.has_flow(flow)) {
                let block = decryption_secrets(&secrets.key_log);
                let block = UnknownBlock::new(DECRYPTION_SECRETS, block.len() as u32, &block);
                self.file.write_pcapng_block(block).map_err(io_error)?;
            }
        }
        Ok(())
    }
}

/// The body of a decryption secrets block: type, length, and the lines, filled up to words.
fn decryption_secrets(key_log: &str) -> Vec<u8> {
    let length = key_log.len() as u32;
    let mut body = [TLS_KEY_LOG.to_le_bytes(), length.to_le_bytes()].concat();
    body.extend_from_slice(key_log.as_bytes());
    body.resize(body.len().next_multiple_of(4), 0);
    body
}

/// Writes the packets that a tap sees as one pcapng file: a [`Capture`] of the records of a run, in
/// the order of time.
///
/// # Errors
/// As [`Capture::new`] and [`Capture::add`].
pub fn write(
    out: &mut impl Write,
    plan: &Plan,
    packets: impl IntoIterator<Item = PacketRecord>,
    payloads: &Payloads,
    tap: Tap,
) -> io::Result<()> {
    let mut capture = Capture::new(out, plan, tap)?;
    packets.into_iter().try_for_each(|packet| capture.add(&packet, payloads))
}

/// The headers of one packet.
struct Header {
    bytes: [u8; LONGEST_HEADER],
    /// Bytes used.
    length: usize,
    /// Headers and payload, bytes.
    real_length: u32,
}

impl Header {
    fn new(plan: &Plan, packet: &PacketRecord, payload: &[u8]) -> io::Result<Self> {
        let flow = plan.flows.get(packet.flow as usize).ok_or_else(|| {
            invalid(format!(
                "packet {} is of flow {}: the plan has {}",
                packet.packet,
                packet.flow,
                plan.flows.len()
            ))
        })?;
        let sender = Endpoint { address: address(flow.from)?, port: sender_port(packet.connection) };
        let receiver = Endpoint { address: address(flow.to)?, port: receiver_port(packet.connection)? };
        let dscp = flow.dscp;
        match (flow.protocol.tcp(), packet.kind) {
            (Some(tcp), PacketKind::Data | PacketKind::Syn) => {
                Ok(Self::tcp(&tcp.transport, packet, sender, receiver, dscp))
            }
            (Some(tcp), PacketKind::Ack | PacketKind::SynAck) => {
                Ok(Self::tcp(&tcp.transport, packet, receiver, sender, dscp))
            }
            (None, PacketKind::Datagram) => Ok(Self::udp(packet, sender, receiver, dscp, payload)),
            (None, PacketKind::Reply) => Ok(Self::udp(packet, receiver, sender, dscp, payload)),
            (_, PacketKind::ResourceDiscovery) => {
                Ok(Self::resource_discovery(packet, sender, receiver, dscp))
            }
            (tcp, kind) => Err(invalid(format!(
                "packet {} of flow {}, which is {}, is of kind {}",
                packet.packet,
                packet.flow,
                if tcp.is_some() { "TCP" } else { "UDP" },
                kind.name()
            ))),
        }
    }

    fn tcp(transport: &Transport, packet: &PacketRecord, from: Endpoint, to: Endpoint, dscp: u8) -> Self {
        let handshake = matches!(packet.kind, PacketKind::Syn | PacketKind::SynAck);
        let sequence = if handshake { INITIAL_SEQUENCE } else { wire_sequence(packet.sequence) };
        let mut header = TcpHeader::new(from.port, to.port, sequence, window(transport, packet));
        header.syn = handshake;
        header.ack = packet.kind != PacketKind::Syn;
        header.ece = packet.ece;
        header.cwr = packet.cwr;
        // RFC 3168, section 6.1.1: a SYN with both flags asks for ECN, a SYN-ACK with ECE alone
        // agrees.
        if transport.ecn == Ecn::Classic && handshake {
            header.ece = true;
            header.cwr = packet.kind == PacketKind::Syn;
        }
        if header.ack {
            // On data this is the byte after the SYN: the sender of acknowledgements sends nothing
            // else.
            header.acknowledgment_number = wire_sequence(packet.acknowledgement);
        }
        let options = if handshake { handshake_options(transport, packet) } else { segment_options(packet) };
        header.set_options_raw(options.used()).expect("no more than 40 bytes");

        let payload = if packet.kind == PacketKind::Data { packet.payload } else { 0 };
        let length = payload.saturating_add(header.header_len_u16() as u32);
        header.checksum = pseudo_header(from, to, IpNumber::TCP, length)
            .add_slice(&header.to_bytes())
            .ones_complement()
            .to_be();
        Self::ip(packet, from, to, IpNumber::TCP, &header.to_bytes(), length, dscp)
    }

    fn udp(packet: &PacketRecord, from: Endpoint, to: Endpoint, dscp: u8, payload: &[u8]) -> Self {
        // No option makes a UDP header longer, so the size on the wire gives the payload. Unlike
        // TCP, UDP has no segmentation that could explain a larger packet, so what IPv4 cannot hold
        // counts as framing.
        let length = packet.size.clamp(SHORTEST_DATAGRAM, u16::MAX as u32) - Ipv4Header::MIN_LEN as u32;
        let mut header = UdpHeader {
            source_port: from.port,
            destination_port: to.port,
            length: length as u16,
            checksum: 0,
        };
        header.checksum = pseudo_header(from, to, IpNumber::UDP, length)
            .add_slice(&header.to_bytes())
            .add_slice(payload)
            .to_ones_complement_with_no_zero()
            .to_be();
        Self::ip(packet, from, to, IpNumber::UDP, &header.to_bytes(), length, dscp)
    }

    /// Resource discovery: IP protocol 253, "use for experimentation and testing" (RFC 3692). APR
    /// and ER in bit/s, 64 bits each, then a byte that is 1 on the way back.
    fn resource_discovery(packet: &PacketRecord, sender: Endpoint, receiver: Endpoint, dscp: u8) -> Self {
        let resource =
            packet.resource.unwrap_or(ResourceDiscovery { rate: 0.0, allowed: 0.0, backward: false });
        let (from, to) = if resource.backward { (receiver, sender) } else { (sender, receiver) };
        let mut inner = [0; RESOURCE_DISCOVERY];
        inner[..8].copy_from_slice(&(resource.rate as u64).to_be_bytes());
        inner[8..16].copy_from_slice(&(resource.allowed as u64).to_be_bytes());
        inner[16] = resource.backward.into();
        let length = packet.size.saturating_sub(Ipv4Header::MIN_LEN as u32).max(RESOURCE_DISCOVERY as u32);
        Self::ip(packet, from, to, IpNumber(253), &inner, length, dscp)
    }

    /// Puts an IP header before the header of the transport. `length` is that of the IP payload,
    /// bytes.
    fn ip(
        packet: &PacketRecord,
        from: Endpoint,
        to: Endpoint,
        protocol: IpNumber,
        inner: &[u8],
        length: u32,
        dscp: u8,
    ) -> Self {
        let mut header =
            Ipv4Header::new(0, 64, protocol, from.address, to.address).expect("no payload is not too long");
        header.dscp = IpDscp::try_new(dscp).expect("a codepoint has six bits");
        if let Some(option) = packet.option.filter(|option| option.is_in_ip_header()) {
            let (bytes, length) = option.encode();
            header.options = bytes[..length].try_into().expect("whole words, no more than 40 bytes");
        }
        let header_length = header.header_len();
        let real_length = length.saturating_add(header_length as u32);
        header.total_len = u16::try_from(real_length).unwrap_or(0);
        header.identification = packet.packet as u16;
        header.ecn = IpEcn::try_new(packet.ecn as u8).expect("a codepoint has two bits");
        header.header_checksum = header.calc_header_checksum();

        let mut bytes = [0; LONGEST_HEADER];
        let end = header_length + inner.len();
        bytes[..header_length].copy_from_slice(&header.to_bytes());
        bytes[header_length..end].copy_from_slice(inner);
        Self { bytes, length: end, real_length }
    }
}

#[derive(Clone, Copy)]
struct Endpoint {
    address: [u8; 4],
    port: u16,
}

/// The part of a TCP or UDP checksum that the IP header gives. A payload of zeros adds nothing to
/// it.
fn pseudo_header(from: Endpoint, to: Endpoint, protocol: IpNumber, length: u32) -> Sum16BitWords {
    Sum16BitWords::new()
        .add_4bytes(from.address)
        .add_4bytes(to.address)
        .add_2bytes([0, protocol.0])
        .add_4bytes(length.to_be_bytes())
}

/// Address of a node.
fn address(node: usize) -> io::Result<[u8; 4]> {
    // 10.0.0.0 and 10.255.255.255 are no addresses of a host.
    match u32::try_from(node) {
        Ok(node) if node < (1 << 24) - 2 => Ok((0x0a00_0001 + node).to_be_bytes()),
        _ => Err(invalid(format!("no address for node {node}: 10.0.0.0/8 ends before it"))),
    }
}

/// Port from which a flow sends.
fn sender_port(flow: u32) -> u16 {
    FIRST_SENDER_PORT + (flow % SENDER_PORTS) as u16
}

/// Port to which a flow sends.
fn receiver_port(flow: u32) -> io::Result<u16> {
    match flow / SENDER_PORTS {
        port if port < RECEIVER_PORTS => Ok(FIRST_RECEIVER_PORT + port as u16),
        _ => {
            Err(invalid(format!("no port for flow {flow}: ports last for {}", SENDER_PORTS * RECEIVER_PORTS)))
        }
    }
}

/// The number that a byte of payload has on the wire.
fn wire_sequence(byte: u64) -> u32 {
    // Truncation is the modulo of the format.
    (byte as u32).wrapping_add(INITIAL_SEQUENCE).wrapping_add(1)
}

/// The window field.
fn window(transport: &Transport, packet: &PacketRecord) -> u16 {
    let bytes = match packet.kind {
        // The data sender receives no data; a full field says nothing that an analysis could
        // stumble over.
        PacketKind::Data | PacketKind::Datagram | PacketKind::Reply | PacketKind::ResourceDiscovery => {
            return u16::MAX;
        }
        // RFC 7323 section 2.2: the window of a segment with a SYN is not scaled.
        PacketKind::Syn | PacketKind::SynAck => transport.first_window().get(),
        // Rounded up, so that no segment the sender may send seems to be beyond the window.
        PacketKind::Ack => packet.receive_window.div_ceil(1 << transport.window_shift()),
    };
    u16::try_from(bytes).unwrap_or(u16::MAX)
}

/// TCP options being written.
struct Options {
    bytes: [u8; LONGEST_OPTIONS],
    length: usize,
}

impl Options {
    const NO_OPERATION: u8 = 1;

    fn new() -> Self {
        Self { bytes: [0; LONGEST_OPTIONS], length: 0 }
    }
    fn used(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }
    fn put_number(&mut self, number: u32) {
        self.put(&number.to_be_bytes());
    }
    fn put_timestamps(&mut self, (value, echo): (u32, u32)) {
        self.put(&[8, 10]);
        self.put_number(value);
        self.put_number(echo);
    }
}

/// Options of a SYN or its answer: 32 bytes at most. In the order of Linux, which pads timestamps
/// with SACK-permitted where it can.
fn handshake_options(transport: &Transport, packet: &PacketRecord) -> Options {
    let mut options = Options::new();
    options.put(&[2, 4]);
    options.put(&u16::try_from(transport.mss.get()).unwrap_or(u16::MAX).to_be_bytes());
    let sack = transport.recovery.uses_sack();
    // A connection with timestamps negotiates them here, even if the record of the SYN carries
    // none.
    let timestamps = packet.timestamps.or(transport.timestamps.then_some((0, 0)));
    if sack || timestamps.is_some() {
        if timestamps.is_none() || !sack {
            options.put(&[Options::NO_OPERATION; 2]);
        }
        if sack {
            options.put(&[4, 2]);
        }
        if let Some(timestamps) = timestamps {
            options.put_timestamps(timestamps);
        }
    }
    if transport.window_scaling {
        options.put(&[Options::NO_OPERATION, 3, 3, transport.window_shift()]);
    }
    put_peer_option(&mut options, packet);
    options
}

/// Options of any other segment.
fn segment_options(packet: &PacketRecord) -> Options {
    let mut options = Options::new();
    if let Some(timestamps) = packet.timestamps {
        options.put(&[Options::NO_OPERATION; 2]);
        options.put_timestamps(timestamps);
    }
    let peer_option = tcp_option(packet).map_or(0, |option| option.encode().1);
    let room = LONGEST_OPTIONS - options.length - peer_option;
    let blocks = (packet.sack_blocks as usize).min(MAXIMUM_SACK_BLOCKS).min((room - 4) / 8);
    if blocks > 0 {
        options.put(&[Options::NO_OPERATION, Options::NO_OPERATION, 5, 2 + 8 * blocks as u8]);
        for &(first, end) in &packet.sack[..blocks] {
            options.put_number(wire_sequence(first));
            options.put_number(wire_sequence(end));
        }
    }
    put_peer_option(&mut options, packet);
    options
}

/// The algorithm's option, if it is one of the TCP header.
fn tcp_option(packet: &PacketRecord) -> Option<PeerOption> {
    packet.option.filter(|option| !option.is_in_ip_header())
}

fn put_peer_option(options: &mut Options, packet: &PacketRecord) {
    if let Some(option) = tcp_option(packet) {
        let (bytes, length) = option.encode();
        options.put(&bytes[..length]);
    }
}

/// Names of the nodes that talk where a tap is; `None` if none has a name that can be written.
fn names(plan: &Plan, tap: Tap) -> io::Result<Option<NameResolutionBlock<'_>>> {
    let crosses = |flow: &&FlowPlan| tap.has_flow(flow);
    let nodes: BTreeSet<usize> =
        plan.flows.iter().filter(crosses).flat_map(|flow| [flow.from, flow.to]).collect();
    let mut records = Vec::new();
    for node in nodes {
        // A name ends at a zero byte, so one that contains it cannot be written.
        if let Some(name) = plan.nodes.get(node).filter(|name| !name.is_empty() && !name.contains('\0')) {
            records.push(Record::Ipv4(Ipv4Record {
                ip_addr: Cow::Owned(address(node)?.to_vec()),
                names: vec![clip(name).into()],
            }));
        }
    }
    Ok((!records.is_empty()).then_some(NameResolutionBlock { records, options: Vec::new() }))
}

/// The beginning of a text, as long as it may be in the file.
fn clip(text: &str) -> &str {
    let end = (0..=text.len().min(LONGEST_TEXT)).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests;
