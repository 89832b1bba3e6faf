//! Results of a run.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::mem::take;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{ArrayRef, PrimitiveArray};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use selfclock_congestion::Phase;
use selfclock_emulator::FlowColumns;
use selfclock_simulator as simulator;
use selfclock_simulator::plan::Plan;
use selfclock_simulator::record::connections::ConnectionRecord;
use selfclock_simulator::record::packets::Packets;
use selfclock_simulator::record::pcapng::Tap;
use selfclock_simulator::record::series::{
    Column, FlowSample, FlowSeries, LinkSample, LinkSeries, ModelSample, ModelSeries, Sampled, Stored,
};

use crate::packets::Columns;
use crate::parquet_file;
use crate::table::{Table, arrow_error, few_names, names, unknown_names};

/// Summary, series and packets of one run.
#[pyclass(frozen, module = "selfclock._core")]
pub struct Outcome {
    plan: Plan,
    summary: String,
    flow_series: Series<(Sampled<FlowSample>, Sampled<ModelSample>)>,
    link_series: Series<Sampled<LinkSample>>,
    connections: Py<Table>,
    packets: Packets,
    packet_events: usize,
    cpu_s: f64,
    undivided: Option<String>,
}

/// Samples, converted to a table on first use.
struct Series<T>(Mutex<Shown<T>>);

enum Shown<T> {
    Samples(T),
    Table(Py<Table>),
}

impl<T> Series<T> {
    fn new(samples: T) -> Self {
        Self(Mutex::new(Shown::Samples(samples)))
    }

    fn table(&self, py: Python<'_>, make: impl FnOnce(&T) -> PyResult<Table>) -> PyResult<Py<Table>> {
        // A thread that waits for the lock releases the GIL.
        let mut shown = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        match &*shown {
            Shown::Table(table) => Ok(table.clone_ref(py)),
            Shown::Samples(samples) => {
                let table = Py::new(py, make(samples)?)?;
                *shown = Shown::Table(table.clone_ref(py));
                Ok(table)
            }
        }
    }
}

/// A finished run and its CPU time. Not yet a Python object, so that worker threads can make one.
pub struct Finished {
    pub outcome: simulator::Outcome,
    /// Packet events written to files.
    pub packets_written: usize,
    pub cpu_s: f64,
    /// Why it ran on one thread, if several were requested.
    pub undivided: Option<String>,
}

impl Outcome {
    pub fn new(py: Python<'_>, plan: Plan, finished: Finished) -> PyResult<Self> {
        let simulator::Outcome { summary, flow_series, model_series, link_series, connections, packets } =
            finished.outcome;
        let summary = serde_json::to_string(&summary)
            .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))?;
        Ok(Self {
            summary,
            flow_series: Series::new((flow_series, model_series)),
            link_series: Series::new(link_series),
            connections: Py::new(py, connection_table(&plan, &connections)?)?,
            packet_events: packets.len() + finished.packets_written,
            packets,
            cpu_s: finished.cpu_s,
            undivided: finished.undivided,
            plan,
        })
    }

    /// The packet events in memory.
    pub fn record(&self) -> &Packets {
        &self.packets
    }

    /// Results of an emulation.
    pub fn emulated(
        py: Python<'_>,
        emulated: selfclock_emulator::Outcome,
        packets_written: usize,
        cpu_s: f64,
    ) -> PyResult<Self> {
        let selfclock_emulator::Outcome { report, plan, flow_series, link_series, packets, .. } = emulated;
        let summary = serde_json::to_string(&report)
            .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))?;
        let flows = Py::new(py, emulated_flow_table(&plan, flow_series)?)?;
        Ok(Self {
            summary,
            flow_series: Series(Mutex::new(Shown::Table(flows))),
            link_series: Series::new(link_series),
            connections: Py::new(py, connection_table(&plan, &[])?)?,
            packet_events: packets_written,
            packets,
            cpu_s,
            undivided: None,
            plan,
        })
    }
}

#[pymethods]
impl Outcome {
    /// Totals, as JSON text.
    #[getter]
    fn summary(&self) -> &str {
        &self.summary
    }
    /// CPU time of the thread that ran the simulation; of the process while several did.
    #[getter]
    fn cpu_s(&self) -> f64 {
        self.cpu_s
    }
    #[getter]
    fn undivided(&self) -> Option<&str> {
        self.undivided.as_deref()
    }
    #[getter]
    fn flow_series(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        self.flow_series
            .table(py, |(flows, models)| flow_table(&self.plan, flows.columns(), models.columns()))
    }
    #[getter]
    fn link_series(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        self.link_series.table(py, |samples| link_table(&self.plan, samples.columns()))
    }
    /// Every short connection.
    #[getter]
    fn connections(&self, py: Python<'_>) -> Py<Table> {
        self.connections.clone_ref(py)
    }
    /// Every packet in memory, in all or the requested columns. Built at each call: the columns are
    /// three times the size of their source.
    #[pyo3(signature = (columns = None))]
    fn packets(&self, py: Python<'_>, columns: Option<Vec<String>>) -> PyResult<Table> {
        let columns = Columns::new(&self.plan, columns.as_deref());
        let batch = py.detach(|| columns.of(&self.packets)).map_err(arrow_error)?;
        Ok(Table::of(columns.schema(), vec![batch]))
    }
    /// Packet events in memory and in files.
    #[getter]
    fn packet_events(&self) -> usize {
        self.packet_events
    }
    /// Writes the packets of one host or one link as a capture for Wireshark.
    fn write_pcapng(&self, py: Python<'_>, kind: &str, name: &str, path: PathBuf) -> PyResult<()> {
        let tap = tap_of(&self.plan, kind, name)?;
        py.detach(|| {
            let mut file = BufWriter::new(File::create(path)?);
            simulator::record::pcapng::write(
                &mut file,
                &self.plan,
                &self.packets,
                self.packets.payloads(),
                tap,
            )?;
            file.flush()
        })?;
        Ok(())
    }
}

/// The tap of the "link" or "host" with this name.
pub fn tap_of(plan: &Plan, kind: &str, name: &str) -> PyResult<Tap> {
    let tap = if kind == "link" {
        plan.links.iter().position(|link| link.name == name).map(Tap::Link)
    } else {
        plan.nodes.iter().position(|node| node == name).map(Tap::Host)
    };
    tap.ok_or_else(|| PyKeyError::new_err(format!("no {kind} is named {name:?}")))
}

/// The packet events in a file written by a run, in all or the requested columns.
#[pyfunction]
#[pyo3(signature = (path, columns = None))]
pub fn read_packets(py: Python<'_>, path: PathBuf, columns: Option<Vec<String>>) -> PyResult<Table> {
    let (schema, batches) = py.detach(|| parquet_file::read(&path, columns.as_deref()))?;
    Ok(Table::of(schema, batches))
}

/// The vector becomes the column: no copy.
fn column<T: ArrowPrimitiveType>(values: Vec<T::Native>) -> ArrayRef
where
    PrimitiveArray<T>: From<Vec<T::Native>>,
{
    Arc::new(PrimitiveArray::<T>::from(values))
}

/// The table of a series: time, the name of the flow or link, and each sampled quantity.
fn series_table(
    time_s: Vec<f64>,
    owner: (&'static str, ArrayRef),
    quantities: Vec<(&'static str, Column)>,
) -> PyResult<Table> {
    use arrow_array::types::{Float64Type, UInt64Type};
    let mut columns = vec![("time_s", column::<Float64Type>(time_s)), owner];
    for (name, values) in quantities {
        let values = match values {
            Column::Reals(values) => column::<Float64Type>(values),
            Column::Counts(values) => column::<UInt64Type>(values),
            Column::Phases(values) => few_names(values, Phase::ALL.map(Phase::name))?,
        };
        columns.push((name, values));
    }
    Table::new(columns)
}

/// The quantities of models have columns if any flow has one of them, with NaN for the others. A
/// class in Python, which is start and window in one, has none.
fn flow_table(plan: &Plan, mut series: FlowSeries, mut models: ModelSeries) -> PyResult<Table> {
    let (of, modelled) = (take(&mut series.flow), take(&mut models.flow));
    let time_s = take(&mut series.time_s);
    let mut quantities = series.quantities();
    let models: Vec<_> = models
        .quantities()
        .into_iter()
        .filter_map(
            |(name, column)| if let Column::Reals(values) = column { Some((name, values)) } else { None },
        )
        .collect();
    if models.iter().any(|(_, values)| values.iter().any(|value| !value.is_nan())) {
        for (name, values) in models {
            quantities.push((name, spread(&of, &modelled, values).into()));
        }
    }
    let flows = names(of, plan.flows.iter().map(|flow| &flow.name))?;
    series_table(time_s, ("flow", flows), quantities)
}

/// The values of the rows of some flows at their places among the rows of all, which are in the
/// same order; NaN elsewhere.
fn spread(all: &[u32], some: &[u32], values: Vec<f64>) -> Vec<f64> {
    let mut rows = some.iter().zip(values).peekable();
    all.iter().map(|flow| rows.next_if(|(of, _)| *of == flow).map_or(f64::NAN, |(_, value)| value)).collect()
}

/// The table of the flows of an emulation: the columns of a simulation, and the receive window.
/// Quantities unknown on a path are null.
fn emulated_flow_table(plan: &Plan, series: FlowColumns) -> PyResult<Table> {
    use arrow_array::types::{Float64Type, UInt64Type};
    let rows = series.time_s.len();
    let counts =
        |values: Vec<Option<u64>>| -> ArrayRef { Arc::new(PrimitiveArray::<UInt64Type>::from(values)) };
    let mut known = BTreeMap::from([
        ("in_flight_bytes", counts(series.in_flight_bytes)),
        ("srtt_s", Arc::new(PrimitiveArray::<Float64Type>::from(series.srtt_s)) as ArrayRef),
        ("sent_bytes", column::<UInt64Type>(series.sent_bytes)),
        ("acknowledged_bytes", counts(series.acknowledged_bytes)),
        ("delivered_bytes", column::<UInt64Type>(series.delivered_bytes)),
    ]);
    let flows = names(series.flow, plan.flows.iter().map(|flow| &flow.name))?;
    let mut columns = vec![("time_s", column::<Float64Type>(series.time_s)), ("flow", flows)];
    for quantity in FlowSample::QUANTITIES {
        let values = match (known.remove(quantity.name), quantity.stored) {
            (Some(values), _) => values,
            (None, Stored::Phases) => unknown_names(rows, Phase::ALL.map(Phase::name))?,
            (None, _) => Arc::new(PrimitiveArray::<Float64Type>::new_null(rows)),
        };
        columns.push((quantity.name, values));
    }
    columns.push(("receive_window_bytes", counts(series.receive_window_bytes)));
    Table::new(columns)
}

fn link_table(plan: &Plan, mut series: LinkSeries) -> PyResult<Table> {
    let links = names(take(&mut series.link), plan.links.iter().map(|link| &link.name))?;
    series_table(take(&mut series.time_s), ("link", links), series.quantities())
}

fn connection_table(plan: &Plan, records: &[ConnectionRecord]) -> PyResult<Table> {
    use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
    let completions = records.iter().map(|record| record.completion.map(|time| time.seconds()));
    let deliveries = records.iter().map(|record| record.delivery.map(|time| time.seconds()));
    Table::new(vec![
        ("flow", names(records.iter().map(|r| r.flow).collect(), plan.flows.iter().map(|flow| &flow.name))?),
        ("start_s", column::<Float64Type>(records.iter().map(|record| record.start.seconds()).collect())),
        ("size_bytes", column::<UInt64Type>(records.iter().map(|record| record.size).collect())),
        ("completion_s", Arc::new(completions.collect::<PrimitiveArray<Float64Type>>())),
        ("delivery_s", Arc::new(deliveries.collect::<PrimitiveArray<Float64Type>>())),
        (
            "retransmitted_segments",
            column::<UInt32Type>(records.iter().map(|record| record.retransmitted_segments).collect()),
        ),
        ("timeouts", column::<UInt32Type>(records.iter().map(|record| record.timeouts).collect())),
    ])
}
