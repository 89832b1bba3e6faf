//! Headers of a real packet: the fields that are read and modified.

use crate::fragment::Fragment;
use etherparse::{Ipv6ExtensionSlice, NetSlice, SlicedPacket, TcpOptionElement, TcpSlice, TransportSlice};
use selfclock_simulator::record::packets::{Codepoint, MAXIMUM_SACK_BLOCKS};
use std::net::IpAddr;

/// Protocol numbers of IP.
pub const TCP: u8 = 6;
/// See [`TCP`].
pub const UDP: u8 = 17;
/// See [`TCP`]: that of IPv4, and of IPv6.
const ICMP: [u8; 2] = [1, 58];

/// Fields read from a packet's headers.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Source address and port: of ICMP the identifier of an echo, else 0; 0 in fragments other
    /// than the first.
    pub source: (IpAddr, u16),
    /// Destination address and port.
    pub destination: (IpAddr, u16),
    /// Protocol above IP.
    pub protocol: u8,
    /// Differentiated services codepoint.
    pub dscp: u8,
    /// ECN field.
    pub ecn: Codepoint,
    /// Payload of TCP or UDP; of other protocols that of IP; bytes.
    pub payload: u32,
    /// The TCP segment, unless a fragment.
    pub segment: Option<Segment>,
    /// The part of a datagram that it carries, unless a whole one.
    pub fragment: Option<Fragment>,
}

/// Fields read from a TCP header.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Its offset in the packet.
    pub offset: usize,
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgement number.
    pub acknowledgement: Option<u32>,
    /// SYN.
    pub syn: bool,
    /// FIN.
    pub fin: bool,
    /// RST.
    pub rst: bool,
    /// ECN-Echo.
    pub ece: bool,
    /// Congestion window reduced.
    pub cwr: bool,
    /// The window field, unscaled.
    pub window: u16,
    /// Window scale option.
    pub scale: Option<u8>,
    /// SACK blocks.
    pub sack: [Option<(u32, u32)>; MAXIMUM_SACK_BLOCKS],
}

impl Header {
    /// The headers of a packet that begins with the IP header; `None` if invalid or truncated.
    pub fn read(packet: &[u8]) -> Option<Self> {
        let sliced = SlicedPacket::from_ip(packet).ok()?;
        let (source, destination, dscp, ecn) = match sliced.net.as_ref()? {
            NetSlice::Ipv4(ip) => {
                let header = ip.header();
                let (source, destination) = (header.source_addr().into(), header.destination_addr().into());
                (source, destination, header.dcp().value(), header.ecn().value())
            }
            NetSlice::Ipv6(ip) => {
                let header = ip.header();
                let (source, destination) = (header.source_addr().into(), header.destination_addr().into());
                (source, destination, header.dscp().value(), header.ecn().value())
            }
            NetSlice::Arp(_) => return None,
        };
        let inner = sliced.ip_payload()?;
        let fragment = fragment(sliced.net.as_ref()?, inner.payload.len() as u32);
        let (ports, payload, segment) = match &sliced.transport {
            Some(TransportSlice::Tcp(tcp)) => {
                let ports = (tcp.source_port(), tcp.destination_port());
                (ports, tcp.payload().len(), Some(Segment::read(packet, tcp)))
            }
            Some(TransportSlice::Udp(udp)) => {
                ((udp.source_port(), udp.destination_port()), udp.payload().len(), None)
            }
            Some(TransportSlice::Icmpv4(_) | TransportSlice::Icmpv6(_)) => {
                let echo = echo_identifier(inner.payload);
                ((echo, echo), inner.payload.len(), None)
            }
            None if fragment.is_some_and(|fragment| fragment.offset == 0) => {
                first_fragment(inner.ip_number.0, inner.payload)
            }
            Some(TransportSlice::Igmp(_)) | None => ((0, 0), inner.payload.len(), None),
        };
        Some(Self {
            source: (source, ports.0),
            destination: (destination, ports.1),
            protocol: inner.ip_number.0,
            dscp,
            ecn: Codepoint::ALL[usize::from(ecn)],
            payload: payload as u32,
            segment,
            fragment,
        })
    }
}

impl Segment {
    fn read(packet: &[u8], tcp: &TcpSlice<'_>) -> Self {
        let (mut scale, mut sack) = (None, [None; MAXIMUM_SACK_BLOCKS]);
        for option in tcp.options_iterator().map_while(Result::ok) {
            match option {
                TcpOptionElement::WindowScale(shift) => scale = Some(shift),
                TcpOptionElement::SelectiveAcknowledgement(first, more) => {
                    sack = [Some(first), more[0], more[1], more[2]];
                }
                _ => {}
            }
        }
        Self {
            offset: tcp.slice().as_ptr().addr() - packet.as_ptr().addr(),
            sequence: tcp.sequence_number(),
            acknowledgement: tcp.ack().then(|| tcp.acknowledgment_number()),
            syn: tcp.syn(),
            fin: tcp.fin(),
            rst: tcp.rst(),
            ece: tcp.ece(),
            cwr: tcp.cwr(),
            window: tcp.window_size(),
            // RFC 7323, section 2.3: a larger shift counts as 14.
            scale: scale.map(|shift| shift.min(14)),
            sack,
        }
    }
}

/// The part of a datagram in an IP packet with this many bytes behind its headers; `None` if whole.
fn fragment(net: &NetSlice<'_>, length: u32) -> Option<Fragment> {
    let (identification, offset, more) = match net {
        NetSlice::Ipv4(ip) => {
            let header = ip.header();
            (header.identification().into(), header.fragments_offset(), header.more_fragments())
        }
        NetSlice::Ipv6(ip) => ip.extensions().clone().into_iter().find_map(|extension| match extension {
            Ipv6ExtensionSlice::Fragment(header) => {
                Some((header.identification(), header.fragment_offset(), header.more_fragments()))
            }
            _ => None,
        })?,
        NetSlice::Arp(_) => return None,
    };
    let offset = u32::from(offset.value()) * 8;
    (offset > 0 || more).then_some(Fragment { identification, offset, length, more })
}

/// Ports and payload of the first fragment of a datagram.
fn first_fragment(protocol: u8, inner: &[u8]) -> ((u16, u16), usize, Option<Segment>) {
    match inner {
        [a, b, c, d, _, _, _, _, payload @ ..] if protocol == UDP => {
            ((u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])), payload.len(), None)
        }
        _ if ICMP.contains(&protocol) => {
            let echo = echo_identifier(inner);
            ((echo, echo), inner.len(), None)
        }
        _ => ((0, 0), inner.len(), None),
    }
}

/// The identifier of an ICMP echo or its reply, which distinguishes `ping`s.
fn echo_identifier(icmp: &[u8]) -> u16 {
    match icmp {
        [0 | 8 | 128 | 129, _, _, _, high, low, ..] => u16::from_be_bytes([*high, *low]),
        _ => 0,
    }
}

/// CE-marks a packet. Only IPv4 has a checksum over that field.
pub fn set_ce(packet: &mut [u8]) {
    match packet.first().map(|byte| byte >> 4) {
        Some(4) if packet.len() >= 20 => {
            let before = word(packet, 0);
            packet[1] |= 0b11;
            adjust_checksum(packet, 10, before, word(packet, 0));
        }
        // The traffic class lies across the first two bytes.
        Some(6) if packet.len() >= 40 => packet[1] |= 0b11 << 4,
        _ => {}
    }
}

/// Changes the window field of the TCP header that begins at `offset`.
pub fn set_window(packet: &mut [u8], offset: usize, window: u16) {
    if packet.len() < offset + 20 {
        return;
    }
    let before = word(packet, offset + 14);
    packet[offset + 14..offset + 16].copy_from_slice(&window.to_be_bytes());
    adjust_checksum(packet, offset + 16, before, window);
}

fn word(packet: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([packet[at], packet[at + 1]])
}

/// RFC 1624, equation 3: HC' = ~(~HC + ~m + m').
fn adjust_checksum(packet: &mut [u8], at: usize, before: u16, after: u16) {
    let mut sum = u32::from(!word(packet, at)) + u32::from(!before) + u32::from(after);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    packet[at..at + 2].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::PacketBuilder;

    fn tcp_packet(version: u8, window: u16, payload: &[u8]) -> Vec<u8> {
        let ip = if version == 4 {
            PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        } else {
            PacketBuilder::ipv6([1; 16], [2; 16], 64)
        };
        let options = [
            TcpOptionElement::WindowScale(7),
            TcpOptionElement::SelectiveAcknowledgement((5, 9), [Some((20, 30)), None, None]),
        ];
        let builder = ip.tcp(4000, 80, 77, window).ack(99).ece().options(&options).expect("they fit");
        let mut bytes = Vec::new();
        builder.write(&mut bytes, payload).expect("a vector takes it");
        bytes
    }

    fn checksums_hold(packet: &[u8]) -> bool {
        let sliced = SlicedPacket::from_ip(packet).expect("a packet");
        let Some(TransportSlice::Tcp(tcp)) = &sliced.transport else { panic!("TCP") };
        match sliced.net.as_ref().expect("IP") {
            NetSlice::Ipv4(ip) => {
                let header = ip.header().to_header();
                let (source, destination) = (header.source, header.destination);
                header.calc_header_checksum() == header.header_checksum
                    && tcp.calc_checksum_ipv4(source, destination) == Ok(tcp.checksum())
            }
            NetSlice::Ipv6(ip) => {
                let header = ip.header().to_header();
                tcp.calc_checksum_ipv6(header.source, header.destination) == Ok(tcp.checksum())
            }
            NetSlice::Arp(_) => false,
        }
    }

    #[test]
    fn headers_are_read() {
        for version in [4, 6] {
            let packet = tcp_packet(version, 500, b"hello");
            let header = Header::read(&packet).expect("a packet");
            assert_eq!((header.source.1, header.destination.1), (4000, 80));
            assert_eq!((header.protocol, header.payload), (TCP, 5));
            let segment = header.segment.expect("TCP");
            assert_eq!(segment.offset, if version == 4 { 20 } else { 40 });
            assert_eq!((segment.sequence, segment.acknowledgement), (77, Some(99)));
            assert_eq!((segment.window, segment.scale, segment.ece), (500, Some(7), true));
            assert_eq!(segment.sack, [Some((5, 9)), Some((20, 30)), None, None]);
        }
        assert_eq!(Header::read(b"no packet"), None);
        assert_eq!(Header::read(&tcp_packet(4, 1, b"cut off")[..30]), None);
    }

    /// The sum of etherparse over the whole packet is the oracle, for windows whose difference
    /// carries and does not.
    #[test]
    fn checksums_hold_after_changes() {
        for version in [4, 6] {
            for window in [0, 1, 499, 501, 0x7fff, 0xffff] {
                let mut packet = tcp_packet(version, 500, b"payload of an odd length.");
                assert!(checksums_hold(&packet), "before");
                set_ce(&mut packet);
                let offset = Header::read(&packet).and_then(|header| header.segment).expect("TCP").offset;
                set_window(&mut packet, offset, window);
                assert!(checksums_hold(&packet), "IPv{version}, window {window}");
                let header = Header::read(&packet).expect("a packet");
                assert_eq!(header.ecn, Codepoint::Ce);
                assert_eq!(header.segment.expect("TCP").window, window);
            }
        }
    }

    /// Of a datagram of 3,000 bytes in three fragments, the first has the ports. By hand from RFC
    /// 791 and RFC 8200: offsets count units of 8 bytes.
    #[test]
    fn fragments_are_read() {
        for version in [4, 6] {
            for (offset, more, ports, payload) in
                [(0, true, (4000, 5000), 1472), (1480, true, (0, 0), 1480), (2960, false, (0, 0), 48)]
            {
                let inner = if offset == 0 { payload + 8 } else { payload };
                let mut packet = if version == 4 {
                    let mut ip =
                        vec![0x45, 0, 0, 0, 0x12, 0x34, 0, 0, 64, UDP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
                    ip[2..4].copy_from_slice(&(20 + inner as u16).to_be_bytes());
                    let field = (offset / 8) as u16 | if more { 0x2000 } else { 0 };
                    ip[6..8].copy_from_slice(&field.to_be_bytes());
                    ip
                } else {
                    let mut ip = vec![0x60, 0, 0, 0, 0, 0, 44, 64];
                    ip[4..6].copy_from_slice(&(8 + inner as u16).to_be_bytes());
                    ip.extend([1; 16]);
                    ip.extend([2; 16]);
                    ip.extend([UDP, 0]);
                    ip.extend((offset as u16 | u16::from(more)).to_be_bytes());
                    ip.extend([0, 0, 0x12, 0x34]);
                    ip
                };
                if offset == 0 {
                    packet.extend([4000_u16, 5000, 3008, 0].map(u16::to_be_bytes).concat());
                }
                packet.extend(vec![7; payload]);
                let header = Header::read(&packet).expect("a packet");
                assert_eq!((header.source.1, header.destination.1), ports, "IPv{version}, {offset}");
                assert_eq!((header.protocol, header.payload as usize), (UDP, payload));
                let length = inner as u32;
                let expected = Fragment { identification: 0x1234, offset, length, more };
                assert_eq!(header.fragment, Some(expected));
            }
        }
        assert_eq!(Header::read(&tcp_packet(4, 1, b"whole")).expect("a packet").fragment, None);
    }

    #[test]
    fn pings_are_told_apart() {
        let mut packet = Vec::new();
        let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).icmpv4_echo_request(7, 1);
        builder.write(&mut packet, b"data").expect("a vector takes it");
        let header = Header::read(&packet).expect("a packet");
        assert_eq!((header.source.1, header.destination.1, header.protocol), (7, 7, 1));
    }
}
