//! Names that enter or leave the simulator, declared once: settings with their values in both
//! profiles, totals and columns with unit, headings and the rule by which they add up. Other
//! languages read it, or are written from it.

#[cfg(feature = "scenario-files")]
mod json;
pub(crate) mod setting;
pub mod total;

#[cfg(feature = "scenario-files")]
pub use json::json;
