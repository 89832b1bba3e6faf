//! Receivers that are run ahead of the clock, and prefetching.

use super::ends::{ReceivingEnd, SendingEnd};
use crate::engine::EventQueue;
use crate::engine::memory::prefetch;
use crate::network::Network;
use crate::packet::PacketKind;
use crate::subset::Held;
use crate::transport::{Context, sender::TOUCHED};

/// Prefetches what the next packets of this lane will touch: for a distant one the memory known
/// from the packet alone, for a near one the memory that this leads to. A flow's packets mostly
/// come in bursts, of which the first prefetches for all.
#[inline(always)]
pub(super) fn prefetch_ahead(
    network: &Network,
    sources: &Held<SendingEnd>,
    sinks: &Held<ReceivingEnd>,
    lane: u32,
) {
    if let Some(far) = network.first_of_burst(lane, 8) {
        network.prefetch_routes(far);
        if far.kind == PacketKind::Ack {
            if let Some(source) = sources.get(far.flow as usize) {
                prefetch::<0, TOUCHED, SendingEnd>(source);
            }
        } else if let Some(sink) = sinks.get(far.flow as usize) {
            prefetch::<0, { size_of::<ReceivingEnd>() }, ReceivingEnd>(sink);
        }
    }
    if let Some(near) = network.first_of_burst(lane, 3) {
        let delivered = network.prefetch_links(near);
        let Some(routes) = network.flow_routes.get(near.flow as usize) else { return };
        if near.kind != PacketKind::Ack {
            network.prefetch_links_from(routes.reverse as usize);
        } else if delivered && let Some(SendingEnd::Tcp(sender)) = sources.get(near.flow as usize) {
            sender.prefetch_lists();
            network.prefetch_links_from(routes.forward as usize);
        }
    }
}

/// Runs the receivers that packets have just reached ahead of the clock.
#[inline(always)]
pub(super) fn run_receivers_ahead(
    events: &mut EventQueue,
    network: &mut Network,
    sinks: &mut Held<ReceivingEnd>,
) {
    if network.delivered_ahead.is_empty() {
        return;
    }
    // A receiver run ahead never sends to another one. The list keeps its capacity.
    let mut delivered = std::mem::take(&mut network.delivered_ahead);
    for packet in &delivered {
        let mut context = Context { now: packet.arrival, events, network };
        match sinks.get_mut(packet.flow as usize) {
            Some(ReceivingEnd::Tcp(receiver)) => receiver.on_packet(&mut context, packet),
            Some(ReceivingEnd::Udp(sink)) => sink.on_packet(packet),
            // The receivers of short connections and of foreign stacks are not run ahead.
            Some(ReceivingEnd::Connections | ReceivingEnd::Stack(_)) | None => {}
        }
    }
    delivered.clear();
    network.delivered_ahead = delivered;
}
