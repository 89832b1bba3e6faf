//! Packets on links, as columns.

use selfclock_simulator::record::hops::Hops;
use selfclock_simulator::record::packets::PacketKind;
use serde_json::{Value, json};

use crate::reply::Arrays;

/// Hops and their packets; `from_s` is the start of their window.
pub fn json(found: &Hops, from_s: f64, arrays: &mut Arrays) -> Value {
    let (hops, packets) = (|| found.hops.iter(), || found.packets.iter());
    json!({
        "from_s": from_s,
        "until_s": found.until,
        "cut": found.cut,
        "packet": arrays.counts(hops().map(|hop| hop.packet)),
        "link": arrays.counts(hops().map(|hop| hop.link)),
        "enter_s": arrays.reals(hops().map(|hop| hop.enter)),
        "start_s": arrays.reals(hops().map(|hop| hop.start)),
        "sent_s": arrays.reals(hops().map(|hop| hop.sent)),
        "arrive_s": arrays.reals(hops().map(|hop| hop.arrive)),
        "leave_s": arrays.reals(hops().map(|hop| hop.leave)),
        "fate": arrays.octets(hops().map(|hop| hop.fate as u8)),
        "packets": {
            "packet": arrays.counts(packets().map(|packet| packet.packet as u32)),
            "flow": arrays.counts(packets().map(|packet| packet.flow)),
            "kind": arrays.octets(packets().map(|packet| packet.kind as u8)),
            "size_bytes": arrays.counts(packets().map(|packet| packet.size)),
            "number": arrays.counts(packets().map(|packet| packet.number)),
            "retransmission": arrays.octets(packets().map(|packet| u8::from(packet.retransmission))),
            "marked_s": arrays.reals(packets().map(|packet| packet.marked)),
        },
        "kinds": PacketKind::ALL.map(|kind| json!({
            "word": kind.word(),
            "returns": kind.returns(),
            "data": kind.carries_data(),
        })),
    })
}
