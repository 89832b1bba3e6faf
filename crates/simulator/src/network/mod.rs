//! Nodes, links and the routes between them.

pub mod route;
pub mod topology;
