//! Tables in Parquet files. The same table gives the same bytes.

use std::fs::File;
use std::io;
use std::path::Path;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{DataType, SchemaRef};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

/// Rows of a row group: what the writer holds in memory, some 30 bytes each.
const ROWS_OF_A_GROUP: usize = 1 << 18;

/// Key and value of a table's metadata.
pub type Metadata = Vec<(String, String)>;

/// A writer of a new file, to be closed at the end; `sampled`: its rows are samples of a series.
///
/// # Errors
/// Those of the file system.
pub fn writer(
    path: &Path,
    schema: &SchemaRef,
    metadata: &Metadata,
    sampled: bool,
) -> io::Result<ArrowWriter<File>> {
    let properties = properties(schema, metadata, sampled);
    ArrowWriter::try_new(File::create(path)?, schema.clone(), Some(properties)).map_err(io_error)
}

fn properties(schema: &SchemaRef, metadata: &Metadata, sampled: bool) -> WriterProperties {
    let metadata = metadata.iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone())).collect();
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(ROWS_OF_A_GROUP))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_dictionary_enabled(false)
        .set_key_value_metadata(Some(metadata));
    for field in schema.fields() {
        let column = ColumnPath::from(field.name().as_str());
        properties = match field.data_type() {
            // There are few different names.
            DataType::Dictionary(..) => properties.set_column_dictionary_enabled(column, true),
            // Samples of many flows share times, and have constant levels.
            DataType::Float64 if sampled => properties.set_column_dictionary_enabled(column, true),
            // Consecutive integers are close together.
            DataType::UInt32 | DataType::UInt64 => {
                properties.set_column_encoding(column, Encoding::DELTA_BINARY_PACKED)
            }
            _ => properties,
        };
    }
    properties.build()
}

/// Writes the parts of a table.
///
/// # Errors
/// Those of the file system.
pub fn write(
    schema: &SchemaRef,
    batches: &[RecordBatch],
    path: &Path,
    metadata: &Metadata,
) -> io::Result<()> {
    let mut file = writer(path, schema, metadata, true)?;
    batches.iter().try_for_each(|batch| file.write(batch)).map_err(io_error)?;
    file.close().map_err(io_error)?;
    Ok(())
}

/// The parts of the table in a file; all columns, or those wanted.
///
/// # Errors
/// Where there is no such file, or no table in it.
pub fn read(path: &Path, wanted: Option<&[String]>) -> io::Result<(SchemaRef, Vec<RecordBatch>)> {
    let mut builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?).map_err(io_error)?;
    if let Some(wanted) = wanted {
        let mask = ProjectionMask::columns(builder.parquet_schema(), wanted.iter().map(String::as_str));
        builder = builder.with_projection(mask);
    }
    let reader = builder.build().map_err(io_error)?;
    let schema = reader.schema();
    let batches = reader.collect::<Result<_, _>>().map_err(io::Error::other)?;
    Ok((schema, batches))
}

/// The underlying file system error, if any.
pub fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
