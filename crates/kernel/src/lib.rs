#![doc = include_str!("../README.md")]

pub mod bridge;
pub mod event;
#[cfg(target_os = "linux")]
pub mod linux;
pub mod log;
pub mod series;
