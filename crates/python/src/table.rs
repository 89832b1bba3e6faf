//! An Arrow table that any Arrow library adopts without copying.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, Float64Type, UInt8Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, PrimitiveArray, RecordBatch, RecordBatchIterator, StringArray,
};
use arrow_buffer::Buffer;
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyCapsule, PyDict};

use crate::parquet_file::{self, Metadata};

/// Columns of equal length. `__arrow_c_stream__` hands out references to the columns' memory, which
/// lives as long as any holder.
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

    /// From consecutive parts.
    pub fn of(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches }
    }
}

/// An Arrow error is a bug in this crate, not in its input.
pub fn arrow_error(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

#[pymethods]
impl Table {
    /// Arrow PyCapsule interface. The protocol allows a requested schema to be ignored; consumers
    /// cast.
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
    /// One column for NumPy, which takes it over without copying.
    fn column(&self, name: &str) -> PyResult<Column> {
        let [batch] = &*self.batches else {
            return Err(PyValueError::new_err("the table is in several parts; read it by Arrow"));
        };
        let array =
            batch.column_by_name(name).ok_or_else(|| PyKeyError::new_err(format!("no column {name:?}")))?;
        Column::of(array).ok_or_else(|| {
            PyValueError::new_err(format!("column {name:?} has no numbers, or rows without a name"))
        })
    }
    /// One column as an array of NumPy: of numbers, or of names.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let column = self.column(name).map_err(|error| {
            if error.is_instance_of::<PyKeyError>(py) {
                let known = self.column_names().join(", ");
                return PyKeyError::new_err(format!("no column {name:?}; there are {known}"));
            }
            error
        })?;
        py.import("selfclock.saved")?.call_method1("values_of", (column,))
    }
    /// Writes the table as Parquet, with metadata.
    fn write_parquet(&self, py: Python<'_>, path: PathBuf, metadata: Metadata) -> PyResult<()> {
        Ok(py.detach(|| parquet_file::write(&self.schema, &self.batches, &path, &metadata))?)
    }
    fn __len__(&self) -> usize {
        self.num_rows()
    }
    fn __repr__(&self) -> String {
        format!("<Table {} rows: {}>", self.num_rows(), self.column_names().join(", "))
    }
}

/// A column of numbers, or of names as their indices in a list.
#[pyclass(frozen, module = "selfclock._core")]
pub struct Column {
    /// Type of the numbers, as NumPy writes it.
    kind: &'static str,
    numbers: Buffer,
    length: usize,
    names: Option<Vec<String>>,
}

impl Column {
    fn of(array: &ArrayRef) -> Option<Self> {
        if array.null_count() > 0 {
            return with_gaps::<Float64Type>(array, |value| value)
                .or_else(|| with_gaps::<UInt64Type>(array, |value| value as f64));
        }
        numbers::<Float64Type>(array, "f8")
            .or_else(|| numbers::<UInt64Type>(array, "u8"))
            .or_else(|| numbers::<UInt32Type>(array, "u4"))
            .or_else(|| names_of::<UInt32Type>(array, "u4"))
            .or_else(|| names_of::<UInt8Type>(array, "u1"))
            .or_else(|| bits(array))
    }
}

fn numbers<T: ArrowPrimitiveType>(array: &ArrayRef, kind: &'static str) -> Option<Column> {
    let values = array.as_primitive_opt::<T>()?.values();
    Some(Column { kind, numbers: values.inner().clone(), length: values.len(), names: None })
}

fn bits(array: &ArrayRef) -> Option<Column> {
    let values: Vec<u8> = array.as_boolean_opt()?.values().iter().map(u8::from).collect();
    let length = values.len();
    Some(Column { kind: "b1", numbers: Buffer::from_vec(values), length, names: None })
}

/// Real numbers, NaN where a row has no value: NumPy has no nulls.
fn with_gaps<T: ArrowPrimitiveType>(array: &ArrayRef, real: impl Fn(T::Native) -> f64) -> Option<Column> {
    let values = array.as_primitive_opt::<T>()?.iter().map(|value| value.map_or(f64::NAN, &real));
    let values: Vec<f64> = values.collect();
    let length = values.len();
    Some(Column { kind: "f8", numbers: Buffer::from_vec(values), length, names: None })
}

fn names_of<K: ArrowDictionaryKeyType>(array: &ArrayRef, kind: &'static str) -> Option<Column> {
    let array = array.as_dictionary_opt::<K>()?;
    let names = array.values().as_string_opt::<i32>()?.iter().flatten().map(str::to_owned).collect();
    let places = array.keys().values();
    Some(Column { kind, numbers: places.inner().clone(), length: places.len(), names: Some(names) })
}

#[pymethods]
impl Column {
    /// NumPy's array interface, version 3: an array keeps this column alive.
    #[getter(__array_interface__)]
    fn array_interface<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let order = if cfg!(target_endian = "little") { '<' } else { '>' };
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", (self.length,))?;
        interface.set_item("typestr", format!("{order}{}", self.kind))?;
        interface.set_item("data", (self.numbers.as_ptr().addr(), true))?;
        Ok(interface)
    }
    /// The names indexed by the numbers; none for a column of quantities.
    #[getter]
    fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }
    fn __len__(&self) -> usize {
        self.length
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

/// A column of `rows` rows without any of its possible names.
pub fn unknown_names(rows: usize, names: impl IntoIterator<Item = impl AsRef<str>>) -> PyResult<ArrayRef> {
    dictionary::<UInt8Type>(PrimitiveArray::new_null(rows), names)
}

/// A column of names of the scenario: `codes` index into `names`.
pub fn names(codes: Vec<u32>, names: impl IntoIterator<Item = impl AsRef<str>>) -> PyResult<ArrayRef> {
    dictionary::<UInt32Type>(codes.into(), names)
}
