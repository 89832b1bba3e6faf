#![doc = include_str!("../README.md")]
#![cfg_attr(target_arch = "bpf", no_std)]

extern crate alloc;

pub mod bridge;
#[cfg(not(target_arch = "bpf"))]
pub mod custom;
pub mod event;
#[cfg(target_os = "linux")]
pub mod linux;
#[cfg(not(target_arch = "bpf"))]
pub mod log;
#[cfg(target_arch = "bpf")]
pub mod native;
#[cfg(target_os = "linux")]
pub mod objects;
#[cfg(not(target_arch = "bpf"))]
pub mod phase;
#[cfg(not(target_arch = "bpf"))]
pub mod series;
