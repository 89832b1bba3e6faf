//! The simulator as a WebAssembly module for browsers: a request as text in, JSON and columns of
//! numbers out.
//!
//! It uses no clock, thread or file. A run is advanced by a number of events at a time, so that the
//! caller can stop between slices. `lab/src/core.ts` is the other side of
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
