//! Prefetches the memory that the next packets of a lane will touch; see [`crate::engine::memory`].

use super::route_table::Hop;
use super::{FlowRoutes, Link, Network};
use crate::engine::memory::prefetch;
use crate::packet::Packet;

impl Network {
    /// The packet at this distance in the lane, if its predecessor belongs to another flow.
    #[inline(always)]
    pub(crate) fn first_of_burst(&self, lane: u32, position: usize) -> Option<&Packet> {
        let packet = self.in_flight.get(lane, position)?;
        let before = self.in_flight.get(lane, position - 1)?;
        (packet.flow != before.flow).then_some(packet)
    }

    /// Prefetches a packet's route table entries there, and its flow's route starts.
    #[inline(always)]
    pub(crate) fn prefetch_routes(&self, packet: &Packet) {
        prefetch::<0, 4, Hop>(&self.routes[packet.hop as usize]);
        if let Some(routes) = self.flow_routes.get(packet.flow as usize) {
            prefetch::<0, { size_of::<FlowRoutes>() }, FlowRoutes>(routes);
        }
    }

    /// Prefetches the links that a packet crosses to its next stop; its first link, which sits
    /// before other packets', excluded. True if that stop is its destination.
    #[inline(always)]
    pub(crate) fn prefetch_links(&self, packet: &Packet) -> bool {
        let hop = packet.hop as usize;
        if self.routes[hop].is_end() {
            return true;
        }
        self.prefetch_links_from(hop + 1);
        false
    }

    /// Prefetches the links from this position of the route table to the next stop.
    #[inline(always)]
    pub(crate) fn prefetch_links_from(&self, mut hop: usize) {
        while let Some(entry) = self.routes.get(hop)
            && !entry.stops()
        {
            // The return path of another part's receiver is not here.
            if let Some(link) = self.links.get(entry.link()) {
                prefetch::<0, 64, Link>(link);
            }
            hop += 1;
        }
    }
}
