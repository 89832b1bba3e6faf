//! From kernel events to answers, without a kernel: pure, identical on every system, and replayed
//! by [`replay`](crate::log).

mod answer;
mod counter;
mod flow;
mod history;
#[cfg(not(target_arch = "bpf"))]
mod options;
#[cfg(not(target_arch = "bpf"))]
mod table;

pub use answer::{Answer, NO_THRESHOLD, flags};
pub use flow::{Control, Flow, in_flight, setup};
pub use history::LossHistory;
#[cfg(not(target_arch = "bpf"))]
pub use options::{Block, Outgoing, RECEIVER, Receivers};
#[cfg(not(target_arch = "bpf"))]
pub use table::{Bridge, Counts};
