//! Packet records in files, written while the run goes on, in bounded memory.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use parquet::arrow::ArrowWriter;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use selfclock_simulator::plan::Plan;
use selfclock_simulator::record::packets::Packets;
use selfclock_simulator::record::pcapng::{Capture, Tap};

use crate::packets::Columns;
use crate::table::Table;

/// Rows of a row group: what the writer holds in memory, some 30 bytes each.
const ROWS_OF_A_GROUP: usize = 1 << 18;

/// Bytes of all captures that wait to be written: a run may have more links than a process may have open files, so each file
/// is open only while its bytes are written.
const BYTES_WAITING: usize = 1 << 25;
/// Bytes of one capture that are written together.
const BYTES_TOGETHER: std::ops::RangeInclusive<usize> = 1 << 10..=1 << 16;

/// Columns of names, which a dictionary makes small.
const NAMES: [&str; 6] = ["event", "link", "flow", "kind", "ecn", "option"];

/// Columns of numbers that are near to those before them.
const NEAR: [&str; 10] = [
    "connection",
    "marked_bytes",
    "packet",
    "sequence",
    "payload_bytes",
    "size_bytes",
    "acknowledgement",
    "receive_window_bytes",
    "timestamp_us",
    "timestamp_echo_us",
];

/// What packet records are written to.
pub struct PacketFiles {
    pub parquet: PathBuf,
    /// Key and value of what the table says about itself.
    pub metadata: Vec<(String, String)>,
    /// What is captured, and its file.
    pub captures: Vec<(Tap, PathBuf)>,
}

/// Packet records on their way into files.
pub struct PacketWriter<'a> {
    columns: Columns,
    parquet: ArrowWriter<File>,
    plan: &'a Plan,
    /// Of each link.
    links: Captures<'a>,
    /// Of each node.
    hosts: Captures<'a>,
}

type Captures<'a> = Vec<Option<Capture<'a, BufWriter<Appended>>>>;

impl<'a> PacketWriter<'a> {
    /// Creates the files.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(plan: &'a Plan, files: &PacketFiles) -> io::Result<Self> {
        let columns = Columns::new(plan, None);
        let properties = properties(files.metadata.iter().cloned());
        let file = File::create(&files.parquet)?;
        let parquet = ArrowWriter::try_new(file, columns.schema(), Some(properties)).map_err(io_error)?;
        let mut links: Captures<'_> = plan.links.iter().map(|_| None).collect();
        let mut hosts: Captures<'_> = plan.nodes.iter().map(|_| None).collect();
        let together = (BYTES_WAITING / files.captures.len().max(1))
            .clamp(*BYTES_TOGETHER.start(), *BYTES_TOGETHER.end());
        for (tap, path) in &files.captures {
            let out = BufWriter::with_capacity(together, Appended::create(path)?);
            let capture = Some(Capture::new(out, plan, *tap)?);
            match *tap {
                Tap::Link(link) => links[link] = capture,
                Tap::Host(host) => hosts[host] = capture,
            }
        }
        Ok(Self { columns, parquet, plan, links, hosts })
    }

    /// Adds records, which go on where those before ended.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&mut self, packets: &Packets) -> io::Result<()> {
        if packets.is_empty() {
            return Ok(());
        }
        let batch = self.columns.of(packets).map_err(io::Error::other)?;
        self.parquet.write(&batch).map_err(io_error)?;
        if self.links.iter().chain(&self.hosts).all(Option::is_none) {
            return Ok(());
        }
        for packet in packets {
            if let Some(Some(capture)) = self.links.get_mut(packet.link as usize) {
                capture.add(&packet)?;
            }
            if let Some(host) = Tap::host_of(self.plan, &packet)
                && let Some(capture) = &mut self.hosts[host]
            {
                capture.add(&packet)?;
            }
        }
        Ok(())
    }

    /// From now on flows have these names.
    pub fn rename_flows<'b>(&mut self, names: impl Iterator<Item = &'b str>) {
        self.columns.rename_flows(names);
    }

    /// Ends the files. Returns how many records there are.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn finish(self) -> io::Result<usize> {
        let metadata = self.parquet.close().map_err(io_error)?;
        self.links
            .into_iter()
            .chain(self.hosts)
            .flatten()
            .try_for_each(|capture| capture.into_inner().flush())?;
        Ok(metadata.file_metadata().num_rows() as usize)
    }
}

fn properties(metadata: impl Iterator<Item = (String, String)>) -> WriterProperties {
    let metadata = metadata.map(|(key, value)| KeyValue::new(key, value)).collect();
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(ROWS_OF_A_GROUP))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_dictionary_enabled(false)
        .set_key_value_metadata(Some(metadata));
    for name in NAMES {
        properties = properties.set_column_dictionary_enabled(ColumnPath::from(name), true);
    }
    for name in NEAR {
        properties = properties.set_column_encoding(ColumnPath::from(name), Encoding::DELTA_BINARY_PACKED);
    }
    properties.build()
}

/// The table in a file that [`PacketWriter`] has written; all columns, or those wanted.
///
/// # Errors
/// Where there is no such file, or another one.
pub fn read(path: &Path, wanted: Option<&[String]>) -> io::Result<Table> {
    let mut builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?).map_err(io_error)?;
    if let Some(wanted) = wanted {
        let mask = ProjectionMask::columns(builder.parquet_schema(), wanted.iter().map(String::as_str));
        builder = builder.with_projection(mask);
    }
    let reader = builder.build().map_err(io_error)?;
    let schema = arrow_array::RecordBatchReader::schema(&reader);
    let batches = reader.collect::<Result<_, _>>().map_err(io::Error::other)?;
    Ok(Table::of(schema, batches))
}

fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

/// A file that is open only while something is added to it.
struct Appended {
    path: PathBuf,
}

impl Appended {
    fn create(path: &Path) -> io::Result<Self> {
        File::create(path)?;
        Ok(Self { path: path.to_owned() })
    }
}

impl Write for Appended {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        OpenOptions::new().append(true).open(&self.path)?.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
