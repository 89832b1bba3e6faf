//! The packet record as columns.

use std::fmt::Write;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StructBuilder, UInt64Builder};
use arrow_array::types::{ArrowDictionaryKeyType, UInt8Type, UInt32Type};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, PrimitiveArray, RecordBatch, StringArray,
    UInt32Array, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use selfclock_congestion::PeerOption;
use selfclock_simulator::plan::Plan;
use selfclock_simulator::record::packets::{Codepoint, PacketEvent, PacketKind, PacketRecord, Packets};

/// Builds a column from records.
type Build = fn(&Columns, &Packets) -> Result<ArrayRef, ArrowError>;

/// The columns with their types, and whether values may be null. Names and units are those of
/// [`PacketRecord`].
const COLUMNS: [(&str, Kind, bool, Build); 21] = [
    ("time_s", Kind::Of(DataType::Float64), false, |_, packets| {
        Ok(Arc::new(Float64Array::from(values(packets, |packet| packet.time.seconds()))))
    }),
    ("event", Kind::FewNames, false, |of, packets| {
        dictionary::<UInt8Type>(values(packets, |packet| packet.event as u8).into(), &of.events)
    }),
    ("link", Kind::Names, true, |of, packets| {
        let links = values(packets, |packet| (packet.link != u32::MAX).then_some(packet.link));
        dictionary::<UInt32Type>(links.into(), &of.links)
    }),
    ("flow", Kind::Names, false, |of, packets| {
        dictionary::<UInt32Type>(values(packets, |packet| packet.flow).into(), &of.flows)
    }),
    // The row of a short connection in the table of connections.
    ("connection", Kind::Of(DataType::UInt32), true, |of, packets| {
        let flows = of.flows.len() as u32;
        Ok(Arc::new(UInt32Array::from(values(packets, |packet| packet.connection.checked_sub(flows)))))
    }),
    ("kind", Kind::FewNames, false, |of, packets| {
        dictionary::<UInt8Type>(values(packets, |packet| packet.kind as u8).into(), &of.kinds)
    }),
    ("ecn", Kind::FewNames, false, |of, packets| {
        dictionary::<UInt8Type>(values(packets, |packet| packet.ecn as u8).into(), &of.codepoints)
    }),
    ("ece", Kind::Of(DataType::Boolean), false, |_, packets| {
        Ok(Arc::new(BooleanArray::from(values(packets, |packet| packet.ece))))
    }),
    ("cwr", Kind::Of(DataType::Boolean), false, |_, packets| {
        Ok(Arc::new(BooleanArray::from(values(packets, |packet| packet.cwr))))
    }),
    ("marked_bytes", Kind::Of(DataType::UInt32), false, |_, packets| {
        Ok(Arc::new(UInt32Array::from(values(packets, |packet| packet.marked))))
    }),
    ("retransmission", Kind::Of(DataType::Boolean), false, |_, packets| {
        Ok(Arc::new(BooleanArray::from(values(packets, |packet| packet.retransmission))))
    }),
    ("packet", Kind::Of(DataType::UInt64), false, |_, packets| {
        Ok(Arc::new(UInt64Array::from(values(packets, |packet| packet.packet))))
    }),
    ("sequence", Kind::Of(DataType::UInt64), false, |_, packets| {
        Ok(Arc::new(UInt64Array::from(values(packets, |packet| packet.sequence))))
    }),
    ("payload_bytes", Kind::Of(DataType::UInt32), false, |_, packets| {
        Ok(Arc::new(UInt32Array::from(values(packets, |packet| packet.payload))))
    }),
    ("size_bytes", Kind::Of(DataType::UInt32), false, |_, packets| {
        Ok(Arc::new(UInt32Array::from(values(packets, |packet| packet.size))))
    }),
    ("acknowledgement", Kind::Of(DataType::UInt64), false, |_, packets| {
        Ok(Arc::new(UInt64Array::from(values(packets, |packet| packet.acknowledgement))))
    }),
    ("receive_window_bytes", Kind::Of(DataType::UInt64), true, |_, packets| {
        let limited = |packet: PacketRecord| Some(packet.receive_window).filter(|&window| window != u64::MAX);
        Ok(Arc::new(UInt64Array::from(values(packets, limited))))
    }),
    ("timestamp_us", Kind::Of(DataType::UInt32), true, |_, packets| {
        let value = |packet: PacketRecord| packet.timestamps.map(|(value, _)| value);
        Ok(Arc::new(UInt32Array::from(values(packets, value))))
    }),
    ("timestamp_echo_us", Kind::Of(DataType::UInt32), true, |_, packets| {
        let echo = |packet: PacketRecord| packet.timestamps.map(|(_, echo)| echo);
        Ok(Arc::new(UInt32Array::from(values(packets, echo))))
    }),
    ("sack", Kind::Blocks, false, |_, packets| Ok(sack(packets))),
    ("option", Kind::Of(DataType::Utf8), true, |_, packets| {
        let options = packets.iter().map(|packet| packet.option.map(hexadecimal));
        Ok(Arc::new(options.collect::<StringArray>()))
    }),
];

/// Type of a column.
enum Kind {
    Of(DataType),
    /// One of selfclock's fixed names.
    FewNames,
    /// One of the names of the scenario.
    Names,
    /// One list of {first, end} for each packet: first byte of a block, byte after its last.
    Blocks,
}

impl Kind {
    fn data_type(&self) -> DataType {
        let dictionary = |keys| DataType::Dictionary(Box::new(keys), Box::new(DataType::Utf8));
        match self {
            Self::Of(data_type) => data_type.clone(),
            Self::FewNames => dictionary(DataType::UInt8),
            Self::Names => dictionary(DataType::UInt32),
            Self::Blocks => DataType::List(block()),
        }
    }
}

/// Makes columns of the packet records of a plan.
pub struct Columns {
    schema: SchemaRef,
    builds: Vec<Build>,
    events: ArrayRef,
    kinds: ArrayRef,
    codepoints: ArrayRef,
    links: ArrayRef,
    flows: ArrayRef,
}

impl Columns {
    /// All columns, or the requested ones: building all takes longer than most short runs.
    pub fn new(plan: &Plan, wanted: Option<&[String]>) -> Self {
        let is_wanted = |name: &str| wanted.is_none_or(|wanted| wanted.iter().any(|other| other == name));
        let columns: Vec<_> = COLUMNS.into_iter().filter(|(name, ..)| is_wanted(name)).collect();
        let field = |(name, kind, nullable, _): &(&str, Kind, bool, Build)| {
            Field::new(*name, kind.data_type(), *nullable)
        };
        let names = |names: &mut dyn Iterator<Item = &str>| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(names))
        };
        Self {
            schema: Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>())),
            builds: columns.into_iter().map(|(.., build)| build).collect(),
            events: names(&mut PacketEvent::ALL.into_iter().map(PacketEvent::name)),
            kinds: names(&mut PacketKind::ALL.into_iter().map(PacketKind::name)),
            codepoints: names(&mut Codepoint::ALL.into_iter().map(Codepoint::name)),
            links: names(&mut plan.links.iter().map(|link| link.name.as_str())),
            flows: names(&mut plan.flows.iter().map(|flow| flow.name.as_str())),
        }
    }

    /// Renames the flows from now on.
    pub fn rename_flows<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        self.flows = Arc::new(StringArray::from_iter_values(names));
    }

    /// Names and types of the columns.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The columns of these records.
    ///
    /// # Errors
    /// A mistake in this crate.
    pub fn of(&self, packets: &Packets) -> Result<RecordBatch, ArrowError> {
        let columns = self.builds.iter().map(|build| build(self, packets)).collect::<Result<_, _>>()?;
        RecordBatch::try_new(self.schema.clone(), columns)
    }
}

/// A value per record. Inlined, so that unused fields are not unpacked.
#[inline(always)]
fn values<T>(packets: &Packets, of: impl Fn(PacketRecord) -> T) -> Vec<T> {
    let mut values = Vec::with_capacity(packets.len());
    packets.iter().for_each(|packet| values.push(of(packet)));
    values
}

fn dictionary<K: ArrowDictionaryKeyType>(
    keys: PrimitiveArray<K>,
    names: &ArrayRef,
) -> Result<ArrayRef, ArrowError> {
    Ok(Arc::new(DictionaryArray::try_new(keys, names.clone())?))
}

/// The bytes of the option as on the wire: "06040107".
fn hexadecimal(option: PeerOption) -> String {
    let (bytes, length) = option.encode();
    bytes[..length].iter().fold(String::with_capacity(2 * length), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn block_fields() -> Fields {
    Fields::from(vec![Field::new("first", DataType::UInt64, true), Field::new("end", DataType::UInt64, true)])
}

fn block() -> FieldRef {
    Arc::new(Field::new_list_field(DataType::Struct(block_fields()), true))
}

fn sack(packets: &Packets) -> ArrayRef {
    let mut lists = ListBuilder::new(StructBuilder::from_fields(block_fields(), 0)).with_field(block());
    packets.iter().for_each(|packet| {
        let blocks = lists.values();
        for &(first, end) in &packet.sack[..packet.sack_blocks as usize] {
            for (column, value) in [(0, first), (1, end)] {
                blocks.field_builder::<UInt64Builder>(column).expect("of this type").append_value(value);
            }
            blocks.append(true);
        }
        lists.append(true);
    });
    Arc::new(lists.finish())
}
