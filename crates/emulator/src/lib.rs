#![doc = include_str!("../README.md")]

pub mod capture;
mod clock;
mod connection;
mod emulation;
mod error;
mod fragment;
mod header;
mod lateness;
mod passive;
mod paths;
#[cfg(target_os = "linux")]
pub mod relay;
pub mod replay;
mod report;
mod samples;
mod settings;
#[cfg(target_os = "linux")]
mod system;

pub use clock::Clock;
pub use emulation::{Delivery, Emulation, Host};
pub use error::EmulationError;
pub use header::{Header, Segment};
pub use lateness::{Bound, Lateness, LatenessReport};
pub use paths::{Seen, emulated};
pub use report::{FlowReport, Outcome, Report, Told};
pub use samples::{FlowColumns, Sample};
pub use settings::Settings;
