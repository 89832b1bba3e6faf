//! Requests of a page.

use serde::Deserialize;

/// A request, as JSON: `"about"`, `{"open": {...}}`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// Version, algorithms and queue disciplines.
    About,
    /// JSON Schema of scenario files.
    Schema,
    /// Description of a scenario, without a run.
    Check { scenario: Text, limits: Limits },
    /// A run at time zero: plain, with packet records, or with a steered flow.
    Open { scenario: Text, limits: Limits, packets: Option<Window>, steer: Option<String> },
    /// Maximum number of further events.
    Advance { run: u32, events: u64 },
    /// The series so far.
    Columns { run: u32 },
    /// Totals and series of a run, which ends.
    Finish { run: u32 },
    /// The fingerprint of a run, which ends.
    Fingerprint { run: u32 },
    /// The packets on the links of a run, which ends.
    Hops { run: u32 },
    /// A step of a steered flow.
    Step { run: u32, rate_bps: f64, length_s: f64, window_segments: Option<f64> },
    /// Frees a run.
    Close { run: u32 },
}

/// A scenario.
#[derive(Debug, Deserialize)]
pub struct Text {
    pub toml: String,
    /// Identifies the file in messages.
    #[serde(default = "source")]
    pub source: String,
    #[serde(default)]
    pub overrides: Vec<String>,
}

fn source() -> String {
    "scenario.toml".to_owned()
}

/// Limits of the size of a run.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Limits {
    /// Maximum number of packet-hops.
    pub most_packet_hops: f64,
    /// Speed of this browser.
    pub packet_hops_per_s: f64,
}

/// The period for which packets are shown.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Window {
    pub from_s: f64,
    pub until_s: f64,
    pub most_hops: usize,
}
