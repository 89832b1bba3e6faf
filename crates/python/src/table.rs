//! An Arrow table that any Arrow library takes over without copying.

use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{ArrowDictionaryKeyType, UInt8Type, UInt32Type};
use arrow_array::{ArrayRef, DictionaryArray, PrimitiveArray, RecordBatch, RecordBatchIterator, StringArray};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyCapsule};

/// Columns of equal length. `__arrow_c_stream__` hands out references to the columns' memory, which lives as long as
/// anyone holds it.
#[pyclass(frozen, module = "selfclock._core")]
pub struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    /// From named columns.
    pub fn new(columns: Vec<(&'static str, ArrayRef)>) -> PyResult<Self> {
        let nullable = columns.into_iter().map(|(name, column)| {
            let nullable = column.null_count() > 0;
            (name, column, nullable)
        });
        let batch = RecordBatch::try_from_iter_with_nullable(nullable).map_err(arrow_error)?;
        Ok(Self::of(batch.schema(), vec![batch]))
    }

    /// From parts that follow one another.
    pub fn of(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches }
    }
}

/// An Arrow error is a mistake in this crate, not in its input.
pub fn arrow_error(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

#[pymethods]
impl Table {
    /// Arrow PyCapsule interface. A requested schema is a wish that the protocol allows to ignore; consumers cast.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }
    #[getter]
    fn num_rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
    fn __len__(&self) -> usize {
        self.num_rows()
    }
    fn __repr__(&self) -> String {
        format!("<Table {} rows: {}>", self.num_rows(), self.column_names().join(", "))
    }
}

fn dictionary<K: ArrowDictionaryKeyType>(
    keys: PrimitiveArray<K>,
    names: impl IntoIterator<Item = impl AsRef<str>>,
) -> PyResult<ArrayRef> {
    let names = StringArray::from_iter_values(names);
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(names)).map_err(arrow_error)?))
}

/// A column of few different names: `codes` index into `names`.
pub fn few_names(codes: Vec<u8>, names: impl IntoIterator<Item = impl AsRef<str>>) -> PyResult<ArrayRef> {
    dictionary::<UInt8Type>(codes.into(), names)
}

/// A column of so many rows that could have one of these names and has none.
pub fn unknown_names(rows: usize, names: impl IntoIterator<Item = impl AsRef<str>>) -> PyResult<ArrayRef> {
    dictionary::<UInt8Type>(PrimitiveArray::new_null(rows), names)
}

/// A column of names of the scenario: `codes` index into `names`.
pub fn names(codes: Vec<u32>, names: impl IntoIterator<Item = impl AsRef<str>>) -> PyResult<ArrayRef> {
    dictionary::<UInt32Type>(codes.into(), names)
}
