//! Real packets made from the records of simulated ones.
#![allow(dead_code)]

use etherparse::PacketBuilder;
use selfclock_congestion::units::Time;
use selfclock_emulator::{Emulation, Host, Settings};
use selfclock_simulator::plan::Plan;
use selfclock_simulator::record::packets::{PacketKind, PacketRecord};
use std::net::{IpAddr, Ipv4Addr};

/// Address of a node.
pub fn address(node: usize) -> [u8; 4] {
    [10, 0, 0, node as u8 + 1]
}

/// The hosts of a plan: sources and destinations of flows.
pub fn hosts(plan: &Plan) -> Vec<Host> {
    let mut nodes: Vec<usize> = plan.flows.iter().flat_map(|flow| [flow.from, flow.to]).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let host = |node: usize| Host::new(&plan.nodes[node], &[IpAddr::V4(Ipv4Addr::from(address(node)))]);
    nodes.into_iter().map(host).collect()
}

/// The network of a plan for packets from outside: one flow between two hosts, as in the plan.
pub fn emulation(plan: &Plan) -> Emulation {
    let settings = Settings { flows_per_path: 1, record: true, ..Settings::default() };
    Emulation::new(plan, hosts(plan), settings).expect("an emulation")
}

/// The end of a flow that sends the packet.
pub fn sender(plan: &Plan, record: &PacketRecord) -> (usize, usize) {
    let flow = &plan.flows[record.flow as usize];
    match record.kind {
        PacketKind::Ack | PacketKind::SynAck => (flow.to, flow.from),
        _ => (flow.from, flow.to),
    }
}

/// The headers and payload of a simulated packet, of equal size.
pub fn packet(plan: &Plan, record: &PacketRecord) -> Vec<u8> {
    let (from, to) = sender(plan, record);
    let (port, other) = (5000 + record.flow as u16, 80);
    let is_back = from != plan.flows[record.flow as usize].from;
    let (source, destination) = if is_back { (other, port) } else { (port, other) };
    let builder = PacketBuilder::ipv4(address(from), address(to), 64);
    let mut bytes = Vec::new();
    if record.kind == PacketKind::Datagram {
        let payload = vec![0; record.size as usize - 28];
        builder.udp(source, destination).write(&mut bytes, &payload).expect("a vector takes it");
    } else {
        let (first, syn) = (1_000_u32, matches!(record.kind, PacketKind::Syn | PacketKind::SynAck));
        let number = if syn { first } else { (record.sequence as u32).wrapping_add(first + 1) };
        let mut tcp = builder.tcp(source, destination, number, 60_000);
        if record.kind != PacketKind::Syn {
            tcp = tcp.ack((record.acknowledgement as u32).wrapping_add(first + 1));
        }
        if syn {
            tcp = tcp.syn();
        }
        if record.ece {
            tcp = tcp.ece();
        }
        if record.cwr {
            tcp = tcp.cwr();
        }
        let payload = if record.kind == PacketKind::Data { record.payload } else { 0 };
        // No-operations in place of timestamps, and real SACK blocks.
        let mut options = vec![1; (record.size - payload - 40) as usize];
        let blocks = record.sack_blocks as usize;
        if blocks > 0 {
            let at = options.len() - (2 + 8 * blocks);
            (options[at], options[at + 1]) = (5, 2 + 8 * blocks as u8);
            for (index, &(begin, end)) in record.sack[..blocks].iter().enumerate() {
                for (place, byte) in [(0, begin), (4, end)] {
                    let number = (byte as u32).wrapping_add(first + 1);
                    let at = at + 2 + 8 * index + place;
                    options[at..at + 4].copy_from_slice(&number.to_be_bytes());
                }
            }
        }
        let tcp = tcp.options_raw(&options).expect("they fit");
        tcp.write(&mut bytes, &vec![0; payload as usize]).expect("a vector takes it");
    }
    set_ecn(&mut bytes, record.ecn as u8);
    bytes
}

fn set_ecn(packet: &mut [u8], ecn: u8) {
    packet[1] = packet[1] & !0b11 | ecn;
    // The header's checksum is recomputed; a separate test covers the emulator's updates.
    packet[10..12].fill(0);
    let sum: u32 = packet[..20].chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    packet[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}

/// Lets the emulation go on until `now`; packets are taken at once.
pub fn advance(emulation: &mut Emulation, now: Time, mut seen: impl FnMut(usize, Time, &[u8])) {
    emulation.advance(now, |delivery| {
        seen(delivery.host, delivery.at, delivery.bytes);
        Some(delivery.at)
    });
}
