/** The picture and the packets of a simulated scenario, for a track. */

import type { Hops, Link, Scenario } from "../protocol.ts";
import { count, rateText, timeText } from "../units.ts";
import { type Edge, type Kind, type Picture, Track } from "./track.ts";

/** One direction of each cable that has links, and the edge of each link. */
function edgesOf({ links, flows, layout }: Scenario): { edges: Edge[]; ofLink: number[] } {
  const data = new Set(flows.flatMap(({ forward }) => forward)), edges: Edge[] = [], ofLink = links.map(() => 0);
  for (const { a, b, there, back, bend } of layout?.cables ?? []) {
    for (const [members, from, to] of [[there, a, b], [back, b, a]] as const) {
      const [first] = members, link: Link | undefined = links[first ?? -1];
      if (!link) continue;
      for (const each of members) ofLink[each] = edges.length;
      const one = members.length === 1, limited = link.limit_packets !== null || link.limit_bytes !== null;
      edges.push({
        name: one ? link.name : `${count(members.length)} links`, a: from, b: to, bend,
        about: `${link.trace ? "trace, " : ""}${rateText(link.rate_bps)}, ${timeText(link.delay_s)}`,
        limit_packets: one ? link.limit_packets : null, limit_bytes: one ? link.limit_bytes : null,
        // The place of a box must not depend on the span that is shown.
        boxed: one && limited && data.has(first ?? -1) && layout?.places[from]?.kind === "router",
      });
    }
  }
  return { edges, ofLink };
}

/** The packets of a span, or null if the network is too large to draw. */
export function trackOf(scenario: Scenario, hops: Hops): Track | null {
  if (!scenario.layout) return null;
  const { edges, ofLink } = edgesOf(scenario), kinds: Kind[] = hops.kinds;
  const picture: Picture = { ...scenario.layout, edges, groups: scenario.flows, kinds };
  const { packets } = hops;
  return new Track(picture, {
    packet: hops.packet, edge: Uint32Array.from(hops.link, (link) => ofLink[link] ?? 0), fate: hops.fate,
    enter: hops.enter_s, start: hops.start_s, sent: hops.sent_s, arrive: hops.arrive_s, leave: hops.leave_s,
  }, {
    group: packets.flow, kind: packets.kind, size: packets.size_bytes, number: packets.number, again: packets.retransmission, marked: packets.marked_s,
  }, hops.from_s, hops.until_s);
}

/** The place at which a flow's data starts, and the edge that it takes first. */
export function first(track: Track, scenario: Scenario, flow: number): { place: number | null; edge: number | undefined } {
  const name = scenario.links[scenario.flows[flow]?.forward[0] ?? -1]?.name;
  const edge = track.picture.edges.findIndex((each) => each.name === name);
  return { place: track.picture.edges[edge]?.a ?? null, edge: edge < 0 ? undefined : edge };
}
