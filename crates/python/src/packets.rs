//! The packet record as columns.

use std::fmt::Write;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StructBuilder, UInt64Builder};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Fields};
use pyo3::prelude::*;
use selfclock_congestion::PeerOption;
use selfclock_simulator::plan::Plan;
use selfclock_simulator::record::packets::{Codepoint, PacketKind};
use selfclock_simulator::record::packets::{PacketEvent, PacketRecord};

use crate::table::{Table, few_names, names, optional_names};

/// The table of packets, or those of its columns that are wanted: to build all of them takes longer than most short runs. Names
/// and units are those of [`PacketRecord`].
pub fn table(plan: &Plan, packets: &[PacketRecord], wanted: Option<&[String]>) -> PyResult<Table> {
    let uint32 = |of: fn(&PacketRecord) -> u32| -> PyResult<ArrayRef> {
        Ok(Arc::new(UInt32Array::from_iter_values(packets.iter().map(of))))
    };
    let uint64 = |of: fn(&PacketRecord) -> u64| -> PyResult<ArrayRef> {
        Ok(Arc::new(UInt64Array::from_iter_values(packets.iter().map(of))))
    };
    let optional = |of: &dyn Fn(&PacketRecord) -> Option<u32>| -> PyResult<ArrayRef> {
        Ok(Arc::new(packets.iter().map(of).collect::<UInt32Array>()))
    };
    let boolean = |of: fn(&PacketRecord) -> bool| -> PyResult<ArrayRef> {
        Ok(Arc::new(BooleanArray::from(packets.iter().map(of).collect::<Vec<_>>())))
    };
    let links = || packets.iter().map(|packet| (packet.link != u32::MAX).then_some(packet.link));
    let receive_windows =
        || packets.iter().map(|packet| (packet.receive_window != u64::MAX).then_some(packet.receive_window));
    let columns: [(&'static str, &dyn Fn() -> PyResult<ArrayRef>); 21] = [
        ("time_s", &|| {
            Ok(Arc::new(Float64Array::from_iter_values(packets.iter().map(|p| p.time.seconds()))))
        }),
        ("event", &|| {
            few_names(
                packets.iter().map(|packet| packet.event as u8).collect(),
                PacketEvent::ALL.map(PacketEvent::name),
            )
        }),
        ("link", &|| optional_names(links(), plan.links.iter().map(|link| &link.name))),
        ("flow", &|| {
            names(
                packets.iter().map(|packet| packet.flow).collect(),
                plan.flows.iter().map(|flow| &flow.name),
            )
        }),
        ("connection", &|| optional(&|packet| connection(plan, packet))),
        ("kind", &|| {
            few_names(
                packets.iter().map(|packet| packet.kind as u8).collect(),
                PacketKind::ALL.map(PacketKind::name),
            )
        }),
        ("ecn", &|| {
            few_names(
                packets.iter().map(|packet| packet.ecn as u8).collect(),
                Codepoint::ALL.map(Codepoint::name),
            )
        }),
        ("ece", &|| boolean(|packet| packet.ece)),
        ("cwr", &|| boolean(|packet| packet.cwr)),
        ("marked_bytes", &|| uint32(|packet| packet.marked)),
        ("retransmission", &|| boolean(|packet| packet.retransmission)),
        ("packet", &|| uint64(|packet| packet.packet)),
        ("sequence", &|| uint64(|packet| packet.sequence)),
        ("payload_bytes", &|| uint32(|packet| packet.payload)),
        ("size_bytes", &|| uint32(|packet| packet.size)),
        ("acknowledgement", &|| uint64(|packet| packet.acknowledgement)),
        ("receive_window_bytes", &|| Ok(Arc::new(receive_windows().collect::<UInt64Array>()))),
        ("timestamp_us", &|| optional(&|packet| packet.timestamps.map(|(value, _)| value))),
        ("timestamp_echo_us", &|| optional(&|packet| packet.timestamps.map(|(_, echo)| echo))),
        ("sack", &|| Ok(sack(packets))),
        ("option", &|| {
            Ok(Arc::new(packets.iter().map(|packet| packet.option.map(hexadecimal)).collect::<StringArray>()))
        }),
    ];
    let is_wanted = |name: &str| wanted.is_none_or(|wanted| wanted.iter().any(|other| other == name));
    let built = columns.into_iter().filter(|(name, _)| is_wanted(name));
    Table::new(built.map(|(name, build)| Ok((name, build()?))).collect::<PyResult<Vec<_>>>()?)
}

/// Row of a short connection in the table of connections.
fn connection(plan: &Plan, packet: &PacketRecord) -> Option<u32> {
    packet.connection.checked_sub(plan.flows.len() as u32)
}

/// The bytes of the option as on the wire: "06040107".
fn hexadecimal(option: PeerOption) -> String {
    let (bytes, length) = option.encode();
    bytes[..length].iter().fold(String::with_capacity(2 * length), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// One list of {first, end} per packet: first byte of a block, byte after its last.
fn sack(packets: &[PacketRecord]) -> ArrayRef {
    let fields = Fields::from(vec![
        Field::new("first", DataType::UInt64, true),
        Field::new("end", DataType::UInt64, true),
    ]);
    let mut lists = ListBuilder::new(StructBuilder::from_fields(fields, packets.len()));
    for packet in packets {
        let blocks = lists.values();
        for &(first, end) in &packet.sack[..packet.sack_blocks as usize] {
            for (column, value) in [(0, first), (1, end)] {
                blocks.field_builder::<UInt64Builder>(column).expect("of this type").append_value(value);
            }
            blocks.append(true);
        }
        lists.append(true);
    }
    Arc::new(lists.finish())
}
