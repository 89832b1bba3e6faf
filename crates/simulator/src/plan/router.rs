//! Router mechanisms, and the network as they see it.

use super::Plan;
use crate::router::MechanismPlan;
use crate::router::mechanism::{FlowLayout, Layout, LinkLayout, TcpHeader};

/// A mechanism in one or several routers.
#[derive(Clone, Debug)]
pub struct RouterPlan {
    /// Indices of the links it precedes.
    pub links: Vec<usize>,
    /// The mechanism and its settings.
    pub mechanism: MechanismPlan,
}

impl Plan {
    /// The network as router mechanisms see it.
    pub(crate) fn layout(&self) -> Layout<'_> {
        let flows = self.flows.iter().map(|flow| FlowLayout {
            forward: &flow.forward,
            reverse: &flow.reverse,
            dscp: flow.dscp,
            tcp: flow.protocol.tcp().map(|tcp| TcpHeader {
                window: tcp.transport.first_window().get(),
                window_shift: tcp.transport.window_shift(),
                encrypted: tcp.transport.encrypted,
            }),
        });
        Layout {
            nodes: self.nodes.len(),
            links: self.links.iter().map(|link| LinkLayout { from: link.from, rate: link.rate }).collect(),
            flows: flows.collect(),
        }
    }
}
