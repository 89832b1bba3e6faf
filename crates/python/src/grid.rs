//! Grids: the points of a sweep.

use std::path::PathBuf;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use selfclock_simulator::scenario::{self, Setting, SettingValue};

use crate::control::registry;
use crate::scenario::{Scenario, raised};

/// A scenario with the values that vary over the points.
#[pyclass(frozen, module = "selfclock._core")]
pub struct Grid {
    inner: scenario::Grid,
}

/// Path, TOML and value of a setting.
fn row<'py>(py: Python<'py>, setting: &Setting) -> PyResult<(String, String, Bound<'py, PyAny>)> {
    let value = match setting.value() {
        SettingValue::Text(text) => text.into_bound_py_any(py),
        SettingValue::Integer(number) => number.into_bound_py_any(py),
        SettingValue::Number(number) => number.into_bound_py_any(py),
        SettingValue::Switch(on) => on.into_bound_py_any(py),
    };
    Ok((setting.path.clone(), setting.toml.clone(), value?))
}

#[pymethods]
impl Grid {
    /// Reads a grid file and the scenario that it names.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        let registry = registry().clone();
        let inner = scenario::Grid::load(&registry, &path).map_err(raised)?;
        inner.check().map_err(raised)?;
        Ok(Self { inner })
    }

    /// The grid of a text over this scenario; `checked` if its values have already been tried.
    #[staticmethod]
    #[pyo3(signature = (scenario, text, source_name, name, *, checked = false))]
    fn over(
        scenario: &Scenario,
        text: &str,
        source_name: &str,
        name: String,
        checked: bool,
    ) -> PyResult<Self> {
        let mut inner =
            scenario::Grid::over(scenario.scenario().clone(), text, source_name).map_err(raised)?;
        inner.name = name;
        if !checked {
            inner.check().map_err(raised)?;
        }
        Ok(Self { inner })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }
    /// Settings common to all points.
    #[getter]
    fn scenario(&self) -> Scenario {
        Scenario::from(self.inner.scenario.clone())
    }
    #[getter]
    fn text(&self) -> &str {
        &self.inner.text
    }
    #[getter]
    fn source_name(&self) -> &str {
        &self.inner.source_name
    }
    #[getter]
    fn seeds(&self) -> Vec<u64> {
        self.inner.seeds.clone()
    }
    #[getter]
    fn confidence(&self) -> f64 {
        self.inner.confidence
    }
    #[getter]
    fn points(&self) -> u64 {
        self.inner.points()
    }
    #[getter]
    fn runs(&self) -> u64 {
        self.inner.runs()
    }
    /// The paths that vary over the points.
    #[getter]
    fn paths(&self) -> Vec<&str> {
        self.inner.paths().collect()
    }
    /// The notes on the first points.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.inner.notes()
    }

    /// Path, TOML and value of each setting of a point.
    fn settings<'py>(
        &self,
        py: Python<'py>,
        point: u64,
    ) -> PyResult<Vec<(String, String, Bound<'py, PyAny>)>> {
        self.inner.settings(point).map(|setting| row(py, setting)).collect()
    }

    /// The scenario of a point, without records.
    fn scenario_at(&self, point: u64) -> PyResult<Scenario> {
        self.inner.scenario_at(point).map(Scenario::from).map_err(raised)
    }
}

/// The JSON Schema of grid files, as JSON text.
#[pyfunction]
pub fn grid_schema() -> String {
    scenario::grid_schema().to_string()
}
