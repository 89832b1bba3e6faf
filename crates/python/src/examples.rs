//! The files of `examples/`, which are otherwise missing from an installed package.

use pyo3::prelude::*;

/// An example: the name of its file, and its text.
macro_rules! example {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../examples/", $name)))
    };
}

/// Scenarios, grids, and their delivery traces.
const EXAMPLES: [(&str, &str); 12] = [
    example!("one-flow.toml"),
    example!("packet-pair-vs-reno.toml"),
    example!("two-paths-graph.toml"),
    example!("holes.toml"),
    example!("drops.toml"),
    example!("dctcp-queue.toml"),
    example!("fat-tree.toml"),
    example!("buffers.toml"),
    example!("lte.toml"),
    example!("lte.trace"),
    example!("train.trace"),
    example!("lte_trace.py"),
];

/// The examples: names of files, and their texts.
#[pyfunction]
pub fn examples() -> Vec<(&'static str, &'static str)> {
    EXAMPLES.to_vec()
}
