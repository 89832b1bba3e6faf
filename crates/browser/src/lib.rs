//! The simulator as a WebAssembly module for browsers: a text with a request in, JSON and columns
//! of numbers out.
//!
//! Nothing here knows of a clock, a thread or a file. A run is advanced by a number of events at a
//! time, so that whoever calls can stop between two slices. `lab/src/core.ts` is the other side of
//! [`laboratory::Laboratory::answer`].

mod columns;
#[cfg(target_arch = "wasm32")]
mod exports;
mod hops;
pub mod laboratory;
mod refusal;
pub mod reply;
mod request;
mod run;
mod size;
