//! The packets of one link as a pcapng capture, which Wireshark, tshark, tcpdump and scapy read.
//!
//! The capture is what a tap at the transmitter of the link would see: one packet for each
//! [`PacketEvent::Transmit`], stamped when its transmission begins, in nanoseconds since the start of the run,
//! rounded down. Packets are in the order of their exact times. Nothing in the file depends on the machine or
//! its clock: the same run gives the same bytes.
//!
//! # What is in a packet
//! * Link type 101, raw IP. IPv4, then TCP with all its options, or UDP. The headers are complete and their
//!   checksums right; the payload is not stored. The TCP and UDP checksums are those of a payload of zeros.
//! * **Addresses**: node *i* of the plan has 10.0.0.0 + *i* + 1: 10.0.0.1, 10.0.0.2, and so on. The names of the
//!   nodes that talk over the link stand in a name resolution block, so Wireshark can show them.
//! * **Ports**: flow *f* sends from port 50000 + *f* mod 4096 to port 40000 + *f* div 4096, whatever its nodes
//!   are, so a flow is found by its ports in the captures of all links. Short connections are numbered after the flows, in
//!   the order in which they start. Wireshark takes these ports for no
//!   protocol above TCP, nor those of the first 4.7 million flows for one above UDP. They last for 37 million.
//! * **Identification** of IP: the low 16 bits of [`PacketRecord::packet`]. Time to live is always 64: nodes do
//!   not count hops.
//! * **Sequence numbers**: byte *n* of the payload has number [`INITIAL_SEQUENCE`] + 1 + *n*, modulo 2^32. The one
//!   is the SYN's, counted with or without a handshake, so Wireshark's relative numbers are ours plus one.
//! * **Window**: what the receiver advertises, scaled by the smallest shift (at most 14, RFC 7323) that makes the
//!   plan's receive window fit in 16 bits, rounded up, never above 65535. Without a handshake a reader does not
//!   see the shift; Wireshark takes it as a preference. Data segments advertise 65535: nothing is sent to their
//!   sender.
//! * **ECN**: the codepoint in the IP header and the TCP flags ECE and CWR of RFC 3168. Of accurate feedback nothing is
//!   written: its counts are not modelled as they stand on the wire.
//! * **Resource discovery** packets of FICCRD: IP protocol 253, APR and ER in bit/s as 64-bit numbers, then a byte that is 1
//!   on the way back.
//! * **Options**: those of the record. On a SYN and its answer: what the plan's transport negotiates. If SACK
//!   blocks do not fit beside timestamps and the algorithm's option, the last ones are left out. Wireshark takes
//!   packet-pair's option of kind 6 for Echo, which has the same kind: it notes that a mark has not Echo's 6 bytes, and
//!   may warn of the no-operation options that pad a reply. With `option_kind = "253"` it shows an experiment.
//!
//! # Lengths
//! The captured length is that of the headers. The original length is the size on the wire, except where the plan
//! counts less for headers than real ones take (0 bytes, say): there it is that of the real headers and the
//! payload, because a shorter packet could not be read as one with this payload. The length in the IP header is
//! that of headers and payload, also where the plan counts more (framing, say). Above 65535 bytes it is 0 for TCP,
//! as in captures of segmentation offload, and stays at 65535 for UDP.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::time::Duration as StdDuration;

use etherparse::checksum::Sum16BitWords;
use etherparse::{IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader, UdpHeader};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::name_resolution::{Ipv4Record, NameResolutionBlock, Record};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};
use selfclock_congestion::PeerOption;

use super::packets::{PacketEvent, PacketRecord};
use crate::packet::{MAXIMUM_SACK_BLOCKS, PacketKind, ResourceDiscovery};
use crate::plan::{Ecn, FlowPlan, Plan, Transport};

/// Sequence number of a SYN, in both directions. The first byte of payload has the next number.
pub const INITIAL_SEQUENCE: u32 = 0;

/// `if_tsresol`: timestamps count units of 10^-9 s. Wireshark 4.0 shows wrong times for picoseconds, because it
/// multiplies the fraction of a second by 10^9 in 64 bits.
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

const FIRST_SENDER_PORT: u16 = 50_000;
const SENDER_PORTS: u32 = 4096;
const FIRST_RECEIVER_PORT: u16 = 40_000;
const RECEIVER_PORTS: u32 = 9152;

/// Writes the packets that a link transmitted as one pcapng file; see the [module](self) for what is in it.
///
/// `packets` are the records of a run of `plan`, in any order; those of other links and of other events are passed
/// over. `link` is an index into [`Plan::links`]. Every packet is a few small writes, so `out` should be buffered.
///
/// # Errors
/// Those of `out`; and [`io::ErrorKind::InvalidInput`] if the plan has no such link, if a record does not belong
/// to the plan (a flow it does not have, a TCP segment in a UDP flow), or if there are more nodes or flows than
/// addresses and ports (16 million, 37 million).
pub fn write(out: &mut impl Write, plan: &Plan, packets: &[PacketRecord], link: usize) -> io::Result<()> {
    let interface = plan
        .links
        .get(link)
        .ok_or_else(|| invalid(format!("no link {link}: the plan has {}", plan.links.len())))?;

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
    file.write_pcapng_block(InterfaceDescriptionBlock {
        linktype: DataLink::RAW,
        snaplen: LONGEST_HEADER as u32,
        options: vec![
            InterfaceDescriptionOption::IfName(clip(&interface.name).into()),
            InterfaceDescriptionOption::IfSpeed(interface.rate.bits_per_second()),
            InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
        ],
    })
    .map_err(io_error)?;
    if let Some(names) = names(plan, link)? {
        file.write_pcapng_block(names).map_err(io_error)?;
    }

    // The engine may compute a transmission ahead of its time. The sort is stable: at equal times its order holds.
    let mut captured: Vec<&PacketRecord> =
        packets.iter().filter(|p| p.event == PacketEvent::Transmit && p.link as usize == link).collect();
    captured.sort_by_key(|p| p.time);
    for packet in captured {
        let header = Header::new(plan, packet)?;
        file.write_pcapng_block(EnhancedPacketBlock {
            interface_id: 0,
            timestamp: StdDuration::from_nanos(packet.time.picoseconds() / PICOSECONDS_PER_NANOSECOND),
            original_len: packet.size.max(header.real_length),
            data: Cow::Borrowed(&header.bytes[..header.length]),
            options: Vec::new(),
        })
        .map_err(io_error)?;
    }
    Ok(())
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
    fn new(plan: &Plan, packet: &PacketRecord) -> io::Result<Self> {
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
            (None, PacketKind::Datagram) => Ok(Self::udp(packet, sender, receiver, dscp)),
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
        // RFC 3168, section 6.1.1: a SYN with both flags asks for ECN, a SYN-ACK with ECE alone agrees.
        if transport.ecn == Ecn::Classic && handshake {
            header.ece = true;
            header.cwr = packet.kind == PacketKind::Syn;
        }
        if header.ack {
            // On data this is the byte after the SYN: the sender of acknowledgements sends nothing else.
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

    fn udp(packet: &PacketRecord, from: Endpoint, to: Endpoint, dscp: u8) -> Self {
        // No option makes a UDP header longer, so the size on the wire gives the payload. Unlike TCP, UDP has no
        // segmentation that could explain a larger packet, so what IPv4 cannot hold counts as framing.
        let length = packet.size.clamp(SHORTEST_DATAGRAM, u16::MAX as u32) - Ipv4Header::MIN_LEN as u32;
        let mut header = UdpHeader {
            source_port: from.port,
            destination_port: to.port,
            length: length as u16,
            checksum: 0,
        };
        header.checksum = pseudo_header(from, to, IpNumber::UDP, length)
            .add_slice(&header.to_bytes())
            .to_ones_complement_with_no_zero()
            .to_be();
        Self::ip(packet, from, to, IpNumber::UDP, &header.to_bytes(), length, dscp)
    }

    /// Resource discovery: IP protocol 253, "use for experimentation and testing" (RFC 3692). APR and ER in bit/s, 64 bits
    /// each, then a byte that is 1 on the way back.
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

    /// Puts an IP header before the header of the transport. `length` is that of the IP payload, bytes.
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

/// The part of a TCP or UDP checksum that the IP header gives. A payload of zeros adds nothing to it.
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
        // The data sender receives no data; a full field says nothing that an analysis could stumble over.
        PacketKind::Data | PacketKind::Datagram | PacketKind::ResourceDiscovery => return u16::MAX,
        // RFC 7323 section 2.2: the window of a segment with a SYN is not scaled.
        PacketKind::Syn | PacketKind::SynAck => transport.receive_window.get(),
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

/// Options of a SYN or its answer: 32 bytes at most. In the order of Linux, which pads timestamps with
/// SACK-permitted where it can.
fn handshake_options(transport: &Transport, packet: &PacketRecord) -> Options {
    let mut options = Options::new();
    options.put(&[2, 4]);
    options.put(&u16::try_from(transport.mss.get()).unwrap_or(u16::MAX).to_be_bytes());
    let sack = transport.recovery.uses_sack();
    // A connection with timestamps negotiates them here, even if the record of the SYN carries none.
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

/// Names of the nodes that talk over a link; `None` if none has a name that can be written.
fn names(plan: &Plan, link: usize) -> io::Result<Option<NameResolutionBlock<'_>>> {
    let crosses = |flow: &&FlowPlan| flow.forward.contains(&link) || flow.reverse.contains(&link);
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
mod tests {
    use super::*;
    use crate::packet::Codepoint;
    use crate::plan::{Arrivals, LinkPlan, Protocol, RecordPlan, Recovery, Source, TcpPlan, UdpPlan};
    use etherparse::TcpOptionElement;
    use pcap_file::pcapng::{Block, PcapNgReader};
    use proptest::prelude::*;
    use selfclock_congestion::PeerOption;
    use selfclock_congestion::option::{PacketPairKind, PacketPairOption, PairMark, QuickStartOption};
    use selfclock_congestion::registry::Selection;
    use selfclock_congestion::units::{Bytes, Duration, Rate, Time};

    /// `a` —link 0→ `b`, `b` —link 1→ `a`; flow 0 is TCP, flow 1 is UDP.
    fn plan(transport: Transport) -> Plan {
        let link = |name, from, to| {
            LinkPlan::new(
                name,
                (from, to),
                Rate::from_bits_per_second(10_000_000),
                Duration::from_milliseconds(5),
            )
        };
        let flow = |name: &str, protocol| FlowPlan {
            name: name.into(),
            from: 0,
            to: 1,
            forward: vec![0],
            reverse: vec![1],
            start: Time::ZERO,
            start_jitter: Duration::ZERO,
            stop: Time::NEVER,
            dscp: 0,
            protocol,
        };
        let tcp = TcpPlan {
            control: Selection::new("slow-start", "reno").unwrap(),
            control_name: "reno".into(),
            source: Source::Bulk,
            transport,
        };
        let udp = UdpPlan::steady(Bytes(500), Rate::from_bits_per_second(1_000_000), Arrivals::Constant);
        Plan {
            name: "two nodes".into(),
            seed: 7,
            duration: Duration::from_milliseconds(1000),
            nodes: vec!["a".into(), "b".into()].into(),
            links: vec![link("a-b", 0, 1), link("b-a", 1, 0)].into(),
            flows: vec![flow("tcp", Protocol::Tcp(crate::Shared::new(tcp))), flow("udp", Protocol::Udp(udp))]
                .into(),
            routers: Vec::new(),
            groups: Vec::new(),
            record: RecordPlan { interval: None, packets: true },
        }
    }

    /// A full segment of the modern profile on link 0.
    fn data() -> PacketRecord {
        PacketRecord {
            time: Time::from_picoseconds(1_234_567_890_123),
            event: PacketEvent::Transmit,
            link: 0,
            flow: 0,
            connection: 0,
            kind: PacketKind::Data,
            retransmission: false,
            ecn: Codepoint::NotEct,
            ece: false,
            cwr: false,
            marked: 0,
            packet: 0x1_0005,
            sequence: 1448,
            payload: 1448,
            size: 1500,
            acknowledgement: 0,
            receive_window: 0,
            timestamps: Some((17, 4)),
            sack: [(0, 0); MAXIMUM_SACK_BLOCKS],
            sack_blocks: 0,
            option: None,
            resource: None,
        }
    }

    /// An acknowledgement on link 1.
    fn acknowledgement() -> PacketRecord {
        PacketRecord {
            link: 1,
            kind: PacketKind::Ack,
            sequence: 0,
            payload: 0,
            size: 52,
            acknowledgement: 2896,
            receive_window: 1 << 20,
            ..data()
        }
    }

    fn bytes(plan: &Plan, packets: &[PacketRecord], link: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut bytes, plan, packets, link).unwrap();
        bytes
    }

    struct Captured {
        nanoseconds: u128,
        original_length: u32,
        data: Vec<u8>,
    }

    impl Captured {
        fn ip(&self) -> Ipv4Header {
            let (header, _) = Ipv4Header::from_slice(&self.data).unwrap();
            assert_eq!(header.header_checksum, header.calc_header_checksum());
            header
        }

        /// The TCP header. Its checksum must be that of a payload of zeros.
        fn tcp(&self) -> TcpHeader {
            let ip = self.ip();
            assert_eq!(ip.protocol, IpNumber::TCP);
            let (header, rest) = TcpHeader::from_slice(&self.data[ip.header_len()..]).unwrap();
            assert!(rest.is_empty(), "payload is not stored");
            let zeros = vec![0; ip.total_len as usize - ip.header_len() - header.header_len()];
            assert_eq!(header.checksum, header.calc_checksum_ipv4(&ip, &zeros).unwrap());
            header
        }

        fn options(&self) -> Vec<TcpOptionElement> {
            let tcp = self.tcp();
            let known =
                |element: &Result<TcpOptionElement, _>| !matches!(element, Ok(TcpOptionElement::Noop));
            tcp.options_iterator().filter(known).map(|element| element.unwrap()).collect()
        }
    }

    /// The packets in a capture of `link`.
    fn captured(plan: &Plan, packets: &[PacketRecord], link: usize) -> Vec<Captured> {
        let bytes = bytes(plan, packets, link);
        let mut reader = PcapNgReader::new(&bytes[..]).unwrap();
        let mut found = Vec::new();
        while let Some(block) = reader.next_block() {
            if let Block::EnhancedPacket(packet) = block.unwrap() {
                assert!(packet.data.len() <= packet.original_len as usize);
                found.push(Captured {
                    nanoseconds: packet.timestamp.as_nanos(),
                    original_length: packet.original_len,
                    data: packet.data.into_owned(),
                });
            }
        }
        found
    }

    fn one(plan: &Plan, packet: PacketRecord) -> Captured {
        let mut found = captured(plan, &[packet], packet.link as usize);
        assert_eq!(found.len(), 1);
        found.remove(0)
    }

    #[test]
    fn file_says_where_it_comes_from() {
        let plan = plan(Transport::modern());
        let bytes = bytes(&plan, &[], 1);
        let mut reader = PcapNgReader::new(&bytes[..]).unwrap();
        assert_eq!(
            reader.section().options,
            [
                SectionHeaderOption::Comment("scenario \"two nodes\", seed 7".into()),
                SectionHeaderOption::UserApplication(
                    format!("selfclock {}", env!("CARGO_PKG_VERSION")).into()
                ),
            ]
        );
        let interface = reader.next_block().unwrap().unwrap().into_owned();
        let Block::InterfaceDescription(interface) = interface else { panic!("{interface:?}") };
        assert_eq!(u32::from(interface.linktype), 101);
        assert_eq!(
            interface.options,
            [
                InterfaceDescriptionOption::IfName("b-a".into()),
                InterfaceDescriptionOption::IfSpeed(10_000_000),
                InterfaceDescriptionOption::IfTsResol(9),
            ]
        );
        let names = reader.next_block().unwrap().unwrap().into_owned();
        let Block::NameResolution(names) = names else { panic!("{names:?}") };
        let record = |ip: [u8; 4], name: &'static str| {
            Record::Ipv4(Ipv4Record { ip_addr: ip.to_vec().into(), names: vec![name.into()] })
        };
        assert_eq!(names.records, [record([10, 0, 0, 1], "a"), record([10, 0, 0, 2], "b")]);
        assert!(reader.next_block().is_none());
    }

    #[test]
    fn data_segment() {
        let packet = one(&plan(Transport::modern()), data());
        assert_eq!(packet.nanoseconds, 1_234_567_890);
        assert_eq!((packet.data.len(), packet.original_length), (52, 1500));
        let ip = packet.ip();
        assert_eq!((ip.source, ip.destination), ([10, 0, 0, 1], [10, 0, 0, 2]));
        assert_eq!((ip.total_len, ip.identification, ip.dont_fragment), (1500, 5, true));
        let tcp = packet.tcp();
        assert_eq!((tcp.source_port, tcp.destination_port), (50_000, 40_000));
        assert_eq!((tcp.sequence_number, tcp.acknowledgment_number), (1449, 1));
        assert!(tcp.ack && !tcp.syn && !tcp.fin && !tcp.rst);
        assert_eq!(packet.options(), [TcpOptionElement::Timestamp(17, 4)]);
    }

    #[test]
    fn acknowledgement_comes_back_with_sack_blocks_and_scaled_window() {
        let mut transport = Transport::modern();
        transport.receive_window = Bytes(1 << 20);
        let mut packet = acknowledgement();
        packet.sack[..3].copy_from_slice(&[(5792, 7240), (10_136, 11_584), (14_480, 15_928)]);
        packet.sack_blocks = 3;
        packet.receive_window = (1 << 20) - 1;
        let packet = one(&plan(transport), packet);
        let ip = packet.ip();
        assert_eq!((ip.source, ip.destination), ([10, 0, 0, 2], [10, 0, 0, 1]));
        assert_eq!((ip.total_len as usize, packet.original_length), (packet.data.len(), 80));
        let tcp = packet.tcp();
        assert_eq!((tcp.source_port, tcp.destination_port), (40_000, 50_000));
        assert_eq!((tcp.sequence_number, tcp.acknowledgment_number), (1, 2897));
        // 2^20 needs a shift of 5: 2^20 >> 4 is one more than the field holds.
        assert_eq!(tcp.window_size, 1 << 15);
        assert_eq!(
            packet.options(),
            [
                TcpOptionElement::Timestamp(17, 4),
                TcpOptionElement::SelectiveAcknowledgement(
                    (5793, 7241),
                    [Some((10_137, 11_585)), Some((14_481, 15_929)), None]
                ),
            ]
        );
    }

    #[test]
    fn congestion_marks_stand_in_both_headers() {
        let transport = Transport { ecn: Ecn::Classic, ..Transport::modern() };
        let plan = plan(transport);
        let packet = one(&plan, PacketRecord { ecn: Codepoint::Ce, cwr: true, ..data() });
        assert_eq!(packet.ip().ecn, IpEcn::THREE);
        assert!(packet.tcp().cwr && !packet.tcp().ece);
        let packet = one(&plan, PacketRecord { ece: true, ..acknowledgement() });
        assert_eq!(packet.ip().ecn, IpEcn::ZERO);
        assert!(packet.tcp().ece && !packet.tcp().cwr);
        let syn = PacketRecord { kind: PacketKind::Syn, sequence: 0, payload: 0, size: 60, ..data() };
        let packet = one(&plan, syn);
        assert!(packet.tcp().ece && packet.tcp().cwr);
        let packet = one(&plan, PacketRecord { link: 1, kind: PacketKind::SynAck, ..syn });
        assert!(packet.tcp().ece && !packet.tcp().cwr);
    }

    #[test]
    fn four_sack_blocks_fit_without_timestamps() {
        let mut packet = acknowledgement();
        packet.timestamps = None;
        packet.sack = [(10, 20), (30, 40), (50, 60), (70, 80)];
        packet.sack_blocks = 4;
        let packet = one(&plan(Transport::modern()), packet);
        let blocks = [Some((31, 41)), Some((51, 61)), Some((71, 81))];
        assert_eq!(packet.options(), [TcpOptionElement::SelectiveAcknowledgement((11, 21), blocks)]);
    }

    #[test]
    fn handshake_negotiates_what_the_plan_says() {
        let transport = Transport::modern();
        let syn = PacketRecord { kind: PacketKind::Syn, sequence: 0, payload: 0, size: 60, ..data() };
        let answer = PacketRecord { link: 1, kind: PacketKind::SynAck, acknowledgement: 0, ..syn };
        let options = [
            TcpOptionElement::MaximumSegmentSize(1448),
            TcpOptionElement::SelectiveAcknowledgementPermitted,
            TcpOptionElement::Timestamp(17, 4),
            TcpOptionElement::WindowScale(14),
        ];
        let plan_modern = plan(transport.clone());
        let packet = one(&plan_modern, syn);
        let tcp = packet.tcp();
        assert!(tcp.syn && !tcp.ack);
        assert_eq!((tcp.sequence_number, tcp.acknowledgment_number, tcp.window_size), (0, 0, 65_535));
        assert_eq!(packet.options(), options);
        assert_eq!((packet.data.len(), packet.original_length), (60, 60));
        let packet = one(&plan_modern, answer);
        let tcp = packet.tcp();
        assert!(tcp.syn && tcp.ack);
        assert_eq!((tcp.sequence_number, tcp.acknowledgment_number), (0, 1));
        assert_eq!(packet.options(), options);

        let plain = Transport {
            mss: Bytes(536),
            recovery: Recovery::Reno,
            window_scaling: false,
            timestamps: false,
            receive_window: Bytes(8192),
            ..transport.clone()
        };
        let bare = PacketRecord { timestamps: None, ..syn };
        let packet = one(&plan(plain.clone()), bare);
        assert_eq!(packet.options(), [TcpOptionElement::MaximumSegmentSize(536)]);
        assert_eq!(packet.tcp().window_size, 8192);

        let sack = Transport { recovery: Recovery::Sack, ..plain.clone() };
        let permitted = TcpOptionElement::SelectiveAcknowledgementPermitted;
        assert_eq!(one(&plan(sack), bare).options(), [TcpOptionElement::MaximumSegmentSize(536), permitted]);
        let timestamps = Transport { timestamps: true, ..plain };
        let zeros = TcpOptionElement::Timestamp(0, 0);
        assert_eq!(
            one(&plan(timestamps), bare).options(),
            [TcpOptionElement::MaximumSegmentSize(536), zeros]
        );
    }

    #[test]
    fn the_option_of_the_algorithm_is_on_the_wire() {
        let option = PeerOption::PacketPair(PacketPairOption {
            kind: PacketPairKind::Six,
            mark: Some((PairMark::Second, 3)),
            reply: Some((3, 0x1234)),
        });
        let mut packet = acknowledgement();
        packet.option = Some(option);
        packet.sack = [(10, 20), (30, 40), (50, 60), (70, 80)];
        packet.sack_blocks = 4;
        let tcp = one(&plan(Transport::modern()), packet).tcp();
        assert_eq!(PeerOption::decode(tcp.options.as_slice()), Ok(Some(option)));
        // 12 bytes each for timestamps and the option leave room for one block.
        assert_eq!(tcp.options.as_slice().len(), 36);
        assert_eq!(&tcp.options.as_slice()[12..24], [1, 1, 5, 10, 0, 0, 0, 11, 0, 0, 0, 21]);
        assert_eq!(&tcp.options.as_slice()[24..], [6, 4, 2, 3, 1, 1, 6, 6, 3, 3, 0x12, 0x34]);
    }

    /// A Quick-Start Request stands in the IP header (RFC 4782, section 3.1), the answer in the TCP header.
    #[test]
    fn quick_start_asks_in_the_ip_header() {
        let request = PeerOption::QuickStart(QuickStartOption::Request { rate: 5, ttl: 9, nonce: 77 });
        let mut packet = PacketRecord { kind: PacketKind::Syn, payload: 0, size: 48, ..data() };
        packet.option = Some(request);
        let captured = one(&plan(Transport::classic()), packet);
        assert_eq!(PeerOption::decode(captured.ip().options.as_slice()), Ok(Some(request)));
        assert_eq!(PeerOption::decode(captured.tcp().options.as_slice()), Ok(None));
        let response = QuickStartOption::Response { rate: 5, ttl_difference: 55, nonce: 77 };
        let mut packet = PacketRecord { kind: PacketKind::SynAck, ..acknowledgement() };
        packet.option = Some(PeerOption::QuickStart(response));
        let captured = one(&plan(Transport::classic()), packet);
        assert!(captured.ip().options.as_slice().is_empty());
        assert_eq!(PeerOption::decode(captured.tcp().options.as_slice()), Ok(packet.option));
    }

    #[test]
    fn sequence_numbers_wrap() {
        let plan = plan(Transport::modern());
        let mut packet = data();
        packet.sequence = (1 << 32) - 1;
        assert_eq!(one(&plan, packet).tcp().sequence_number, 0);
        packet.sequence = (5 << 32) + 41;
        assert_eq!(one(&plan, packet).tcp().sequence_number, 42);
        let mut packet = acknowledgement();
        packet.acknowledgement = (1 << 32) + 9;
        assert_eq!(one(&plan, packet).tcp().acknowledgment_number, 10);
    }

    #[test]
    fn window_saturates_and_is_rounded_up() {
        let field = |scaling, whole: u64, now: u64| {
            let mut transport = Transport::modern();
            transport.window_scaling = scaling;
            transport.receive_window = Bytes(whole);
            let packet = PacketRecord { receive_window: now, ..acknowledgement() };
            one(&plan(transport), packet).tcp().window_size
        };
        assert_eq!(field(true, u64::MAX, u64::MAX), 65_535);
        assert_eq!(field(true, u64::MAX, 1 << 14), 1);
        assert_eq!(field(true, u64::MAX, 1), 1);
        assert_eq!(field(true, u64::MAX, 0), 0);
        assert_eq!(field(true, 20_000, 20_000), 20_000);
        assert_eq!(field(true, 65_536, 65_536), 32_768);
        assert_eq!(field(false, 1 << 20, 1 << 20), 65_535);
    }

    #[test]
    fn datagram() {
        let packet = PacketRecord {
            flow: 1,
            connection: 1,
            kind: PacketKind::Datagram,
            size: 500,
            payload: 472,
            timestamps: None,
            ..data()
        };
        let captured = one(&plan(Transport::modern()), packet);
        assert_eq!((captured.data.len(), captured.original_length), (28, 500));
        let ip = captured.ip();
        assert_eq!((ip.total_len, ip.protocol), (500, IpNumber::UDP));
        let (udp, rest) = UdpHeader::from_slice(&captured.data[20..]).unwrap();
        assert!(rest.is_empty());
        assert_eq!((udp.source_port, udp.destination_port, udp.length), (50_001, 40_000, 480));
        assert_eq!(udp.checksum, udp.calc_checksum_ipv4(&ip, &[0; 472]).unwrap());

        let lengths = |size| {
            let mut packet = packet;
            packet.size = size;
            let captured = one(&plan(Transport::modern()), packet);
            (captured.ip().total_len, captured.original_length)
        };
        assert_eq!(lengths(10), (28, 28));
        assert_eq!(lengths(90_000), (65_535, 90_000));
    }

    #[test]
    fn lengths_where_the_plan_counts_other_headers() {
        let plan = plan(Transport::modern());
        let lengths = |size| {
            let packet = one(&plan, PacketRecord { size, ..data() });
            (packet.original_length, packet.ip().total_len)
        };
        assert_eq!(lengths(1448), (1500, 1500), "headers of 0 bytes");
        assert_eq!(lengths(1538), (1538, 1500), "Ethernet framing counted");
        let large = one(&plan, PacketRecord { payload: 100_000, size: 100_052, ..data() });
        let (ip, _) = Ipv4Header::from_slice(&large.data).unwrap();
        assert_eq!((large.original_length, ip.total_len), (100_052, 0));
    }

    #[test]
    fn only_transmissions_of_the_link_in_time_order() {
        let at = |picoseconds, packet| PacketRecord {
            time: Time::from_picoseconds(picoseconds),
            packet,
            ..data()
        };
        let packets = [
            at(3000, 1),
            at(1000, 2),
            PacketRecord { event: PacketEvent::Enqueue, ..at(1500, 3) },
            PacketRecord { link: 1, ..at(1600, 4) },
            at(1999, 5),
            at(1000, 6),
        ];
        let found: Vec<_> = captured(&plan(Transport::modern()), &packets, 0)
            .iter()
            .map(|packet| (packet.nanoseconds, packet.ip().identification))
            .collect();
        assert_eq!(found, [(1, 2), (1, 6), (1, 5), (3, 1)]);
    }

    #[test]
    fn addresses_and_ports_are_distinct_and_run_out_with_an_error() {
        assert_eq!(address(0).unwrap(), [10, 0, 0, 1]);
        assert_eq!(address(255).unwrap(), [10, 0, 1, 0]);
        assert_eq!(address((1 << 24) - 3).unwrap(), [10, 255, 255, 254]);
        assert!(address((1 << 24) - 2).is_err());
        assert!(address(usize::MAX).is_err());
        let ports: BTreeSet<_> =
            (0..100_000).map(|flow| (sender_port(flow), receiver_port(flow).unwrap())).collect();
        assert_eq!(ports.len(), 100_000);
        assert_eq!(receiver_port(SENDER_PORTS * RECEIVER_PORTS - 1).unwrap(), 49_151);
        assert!(receiver_port(SENDER_PORTS * RECEIVER_PORTS).is_err());
    }

    #[test]
    fn records_of_another_plan_are_refused() {
        let plan = plan(Transport::modern());
        let refused = |packet: PacketRecord, link| {
            let error = write(&mut Vec::new(), &plan, &[packet], link).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            error.to_string()
        };
        assert_eq!(refused(data(), 2), "no link 2: the plan has 2");
        assert_eq!(
            refused(PacketRecord { flow: 2, ..data() }, 0),
            "packet 65541 is of flow 2: the plan has 2"
        );
        assert_eq!(
            refused(PacketRecord { flow: 1, ..data() }, 0),
            "packet 65541 of flow 1, which is UDP, is of kind data"
        );
    }

    #[test]
    fn any_names_can_be_written() {
        let mut plan = plan(Transport::modern());
        plan.name = "é".repeat(100_000);
        plan.links[0].name = "x".repeat(100_000);
        plan.nodes = vec!["zero\0byte".into(), "ü".repeat(3_000)].into();
        assert_eq!(captured(&plan, &[data()], 0).len(), 1);
        plan.nodes = vec![String::new()].into();
        assert_eq!(captured(&plan, &[data()], 0).len(), 1);
    }

    #[test]
    fn a_failing_writer_is_an_error() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let error = write(&mut Full, &plan(Transport::modern()), &[data()], 0).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }

    prop_compose! {
        fn any_option()(
            mark in proptest::option::of((any::<bool>(), any::<u8>())),
            reply in any::<Option<(u8, u16)>>(),
            kind in proptest::sample::select(
                &[PacketPairKind::Six, PacketPairKind::Kind253, PacketPairKind::Kind254][..]
            ),
        ) -> PeerOption {
            let mark = mark.map(|(first, id)| (if first { PairMark::First } else { PairMark::Second }, id));
            PeerOption::PacketPair(PacketPairOption { kind, mark, reply })
        }
    }

    prop_compose! {
        fn any_record()(
            time in any::<u64>(),
            event in prop_oneof![
                3 => Just(PacketEvent::Transmit),
                1 => proptest::sample::select(&PacketEvent::ALL[..]),
            ],
            (link, flow) in (0_u32..3, 0_u32..3),
            kind in proptest::sample::select(&PacketKind::ALL[..]),
            (packet, sequence, acknowledgement, receive_window) in any::<(u64, u64, u64, u64)>(),
            (payload, size) in prop_oneof![any::<(u32, u32)>(), (0_u32..3000, 0_u32..3000)],
            timestamps in any::<Option<(u32, u32)>>(),
            (sack, sack_blocks) in any::<([(u64, u64); MAXIMUM_SACK_BLOCKS], u8)>(),
            option in proptest::option::of(any_option()),
        ) -> PacketRecord {
            PacketRecord {
                time: Time::from_picoseconds(time),
                event,
                link,
                flow,
                connection: flow,
                kind,
                retransmission: false,
            ecn: Codepoint::NotEct,
            ece: false,
            cwr: false,
            marked: 0,
                packet,
                sequence,
                payload,
                size,
                acknowledgement,
                receive_window,
                timestamps,
                sack,
                sack_blocks,
                option,
                resource: None,
            }
        }
    }

    prop_compose! {
        fn any_transport()(
            (mss, receive_window, window_scaling, timestamps, sack) in any::<(u64, u64, bool, bool, bool)>(),
        ) -> Transport {
            Transport {
                mss: Bytes(mss),
                receive_window: Bytes(receive_window),
                window_scaling,
                timestamps,
                recovery: if sack { Recovery::Sack } else { Recovery::NewReno },
                ..Transport::modern()
            }
        }
    }

    proptest! {
        #[test]
        fn any_record_is_refused_or_read_back(transport in any_transport(), packet in any_record()) {
            let plan = plan(transport);
            let mut file = Vec::new();
            if write(&mut file, &plan, &[packet], packet.link as usize).is_ok() {
                let found = captured(&plan, &[packet], packet.link as usize);
                prop_assert_eq!(found.len(), usize::from(packet.event == PacketEvent::Transmit));
                for one in found {
                    prop_assert_eq!(one.nanoseconds, u128::from(packet.time.picoseconds() / 1000));
                    prop_assert!(one.original_length >= packet.size);
                    let (ip, rest) = Ipv4Header::from_slice(&one.data).unwrap();
                    prop_assert_eq!(ip.header_checksum, ip.calc_header_checksum());
                    if packet.kind == PacketKind::Datagram {
                        prop_assert_eq!(rest.len(), UdpHeader::LEN);
                    } else if packet.kind == PacketKind::ResourceDiscovery {
                        prop_assert_eq!((ip.protocol, rest.len()), (IpNumber(253), RESOURCE_DISCOVERY));
                    } else {
                        let (tcp, rest) = TcpHeader::from_slice(rest).unwrap();
                        prop_assert!(rest.is_empty());
                        let option = packet.option.filter(|option| option.wire_length() > 0);
                        prop_assert_eq!(PeerOption::decode(tcp.options.as_slice()), Ok(option));
                    }
                }
            }
        }
    }
}
