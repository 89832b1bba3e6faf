//! Packet events read back from a file.

use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowDictionaryKeyType, Float64Type, UInt8Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrowPrimitiveType, DictionaryArray, RecordBatch, RecordBatchReader};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::statistics::Statistics;
use selfclock_congestion::units::{Duration, Time};
use selfclock_simulator::plan::Plan;
use selfclock_simulator::record::packets::{Codepoint, PacketEvent, PacketKind, PacketRecord};

/// The columns that hops are made from.
pub const OF_HOPS: &[&str] = &[
    "time_s",
    "event",
    "link",
    "flow",
    "kind",
    "ecn",
    "retransmission",
    "packet",
    "sequence",
    "payload_bytes",
    "size_bytes",
    "acknowledgement",
];

/// The part of a file that is read; the default is all.
#[derive(Clone, Copy, Default)]
pub struct Wanted<'a> {
    pub columns: Option<&'a [&'a str]>,
    /// Row groups entirely before or after these times are left out.
    pub between_s: Option<(f64, f64)>,
}

/// The number of rows of a file, and its parts.
///
/// # Errors
/// Where there is no such file, or no table in it.
pub fn batches(path: &Path, wanted: Wanted<'_>) -> Result<(u64, impl RecordBatchReader), String> {
    let problem = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let file = File::open(path).map_err(|error| problem(&error))?;
    let mut builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| problem(&error))?;
    let rows = builder.metadata().file_metadata().num_rows() as u64;
    if let Some(columns) = wanted.columns {
        let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
        builder = builder.with_projection(mask);
    }
    if let Some(between) = wanted.between_s {
        let groups = builder.metadata().row_groups().iter().enumerate();
        let kept = groups.filter(|(_, group)| meets(group, between)).map(|(index, _)| index).collect();
        builder = builder.with_row_groups(kept);
    }
    Ok((rows, builder.build().map_err(|error| problem(&error))?))
}

/// Whether a row group may have times within these; the first column is the time.
fn meets(group: &RowGroupMetaData, (begin, end): (f64, f64)) -> bool {
    let Some(Statistics::Double(times)) = group.columns().first().and_then(|column| column.statistics())
    else {
        return true;
    };
    times.max_opt().is_none_or(|&last| last >= begin) && times.min_opt().is_none_or(|&first| first <= end)
}

/// The events of a part of a record, as far as its columns tell; `flow_of` gives the number of a
/// flow by its name. `None` if it is no packet record.
pub fn records(
    batch: &RecordBatch,
    plan: &Plan,
    flow_of: impl Fn(&str) -> Option<u32>,
) -> Option<Vec<PacketRecord>> {
    let time_s = numbers::<Float64Type>(batch, "time_s")?;
    let event =
        named::<UInt8Type, _>(batch, "event", |name| by_name(PacketEvent::ALL, PacketEvent::name, name))?;
    let kind = named::<UInt8Type, _>(batch, "kind", |name| by_name(PacketKind::ALL, PacketKind::name, name))?;
    let ecn = named::<UInt8Type, _>(batch, "ecn", |name| by_name(Codepoint::ALL, Codepoint::name, name))?;
    let link = named::<UInt32Type, _>(batch, "link", |name| link_of(plan, name))?;
    let flow = named::<UInt32Type, _>(batch, "flow", flow_of)?;
    let retransmission = bits(batch, "retransmission")?;
    let packet = numbers::<UInt64Type>(batch, "packet")?;
    let sequence = numbers::<UInt64Type>(batch, "sequence")?;
    let acknowledgement = numbers::<UInt64Type>(batch, "acknowledgement")?;
    let payload = numbers::<UInt32Type>(batch, "payload_bytes")?;
    let size = numbers::<UInt32Type>(batch, "size_bytes")?;
    let (ece, cwr) = (bits(batch, "ece"), bits(batch, "cwr"));
    let receive_window = numbers::<UInt64Type>(batch, "receive_window_bytes");
    let row = |row: usize| {
        let bit = |column: &Option<Vec<bool>>| column.as_ref().is_some_and(|bits| bits[row]);
        Some(PacketRecord {
            time: Time::ZERO + Duration::from_seconds(time_s[row]?),
            event: event[row]?,
            link: link[row].unwrap_or(u32::MAX),
            flow: flow[row].unwrap_or(u32::MAX),
            connection: u32::MAX,
            kind: kind[row]?,
            retransmission: retransmission[row],
            ecn: ecn[row]?,
            ece: bit(&ece),
            cwr: bit(&cwr),
            marked: 0,
            packet: packet[row]?,
            sequence: sequence[row]?,
            payload: payload[row]?,
            size: size[row]?,
            acknowledgement: acknowledgement[row]?,
            receive_window: receive_window.as_ref().and_then(|windows| windows[row]).unwrap_or(u64::MAX),
            timestamps: None,
            sack: Default::default(),
            sack_blocks: 0,
            option: None,
            resource: None,
        })
    };
    (0..batch.num_rows()).map(row).collect()
}

/// A column of numbers.
pub fn numbers<T: ArrowPrimitiveType>(batch: &RecordBatch, name: &str) -> Option<Vec<Option<T::Native>>> {
    Some(batch.column_by_name(name)?.as_primitive_opt::<T>()?.iter().collect())
}

fn bits(batch: &RecordBatch, name: &str) -> Option<Vec<bool>> {
    Some(batch.column_by_name(name)?.as_boolean_opt()?.iter().map(|bit| bit == Some(true)).collect())
}

/// A column of names, each mapped by `of`.
pub fn named<K: ArrowDictionaryKeyType, T: Copy>(
    batch: &RecordBatch,
    name: &str,
    of: impl Fn(&str) -> Option<T>,
) -> Option<Vec<Option<T>>>
where
    K::Native: TryInto<usize>,
{
    let column: &DictionaryArray<K> = batch.column_by_name(name)?.as_any().downcast_ref()?;
    let values: Vec<Option<T>> =
        column.values().as_string_opt::<i32>()?.iter().map(|text| text.and_then(&of)).collect();
    let key = |key: Option<K::Native>| values.get(key?.try_into().ok()?).copied().flatten();
    Some(column.keys().iter().map(key).collect())
}

fn by_name<T: Copy, const N: usize>(all: [T; N], name_of: fn(T) -> &'static str, name: &str) -> Option<T> {
    all.into_iter().find(|&one| name_of(one) == name)
}

/// The number of a link.
pub fn link_of(plan: &Plan, name: &str) -> Option<u32> {
    plan.links.iter().position(|link| link.name == name).map(|link| link as u32)
}
