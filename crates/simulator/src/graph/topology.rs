//! Named topologies: nodes and one-way links between them.
//!
//! The properties of a link are a type parameter, so the same shapes serve a scenario file and a
//! test.

use crate::shared::Name;

/// Nodes by name, and one-way links between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology<W> {
    /// Names of the nodes.
    pub nodes: Vec<Name>,
    /// One-way links.
    pub links: Vec<PlacedWire<W>>,
}

/// A one-way link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedWire<W> {
    /// Name in records.
    pub name: Name,
    /// Index of the node it leaves.
    pub from: usize,
    /// Index of the node it enters.
    pub to: usize,
    /// Its properties: rate, delay, queue.
    pub wire: W,
}

/// The links of a [`dumbbell`].
#[derive(Clone, Copy, Debug)]
pub struct DumbbellWires<W> {
    /// From `left` to `right`.
    pub bottleneck: W,
    /// From `right` to `left`.
    pub reverse: W,
    /// Between each source and `left`, each direction.
    pub access: W,
    /// Between `right` and each sink, each direction.
    pub sink_access: W,
}

impl<W: Clone> Topology<W> {
    fn node(&mut self, name: impl Into<Name>) -> usize {
        self.nodes.push(name.into());
        self.nodes.len() - 1
    }

    fn link(&mut self, name: impl Into<Name>, from: usize, to: usize, wire: &W) {
        self.links.push(PlacedWire { name: name.into(), from, to, wire: wire.clone() });
    }

    /// One link each way, named after the nodes at their ends.
    fn cable(&mut self, a: usize, b: usize, wire: &W) {
        for (from, to) in [(a, b), (b, a)] {
            self.link(format!("{}-{}", self.nodes[from], self.nodes[to]), from, to, wire);
        }
    }
}

/// Names of a link and of its reverse direction, from its own name or those of its end nodes.
pub fn link_names(name: Option<&str>, from: &str, to: &str) -> [String; 2] {
    match name {
        Some(name) => [name.to_owned(), format!("{name}-reverse")],
        None => [format!("{from}-{to}"), format!("{to}-{from}")],
    }
}

/// `source1`..`sourceN` at router `left`, `sink1`..`sinkN` at router `right`, one bottleneck
/// between the routers.
///
/// ```text
/// source1 ──┐                 ┌── sink1
/// source2 ──┼─ left ═══ right ┼── sink2
///    …      │                 │     …
/// ```
///
/// Links 0 and 1 are `bottleneck` (left to right) and `reverse`; the rest are named `source1-left`
/// and so on.
pub fn dumbbell<W: Clone>(hosts: usize, wires: &DumbbellWires<W>) -> Topology<W> {
    dumbbell_of(hosts, wires, |_| wires.access.clone())
}

/// A [`dumbbell`] whose Nth source, counted from 0, has the access links `access(N)`.
pub fn dumbbell_of<W: Clone>(
    hosts: usize,
    wires: &DumbbellWires<W>,
    access: impl Fn(usize) -> W,
) -> Topology<W> {
    let mut topology =
        Topology { nodes: Vec::with_capacity(2 * hosts + 2), links: Vec::with_capacity(4 * hosts + 2) };
    let left = topology.node("left");
    let right = topology.node("right");
    topology.link("bottleneck", left, right, &wires.bottleneck);
    topology.link("reverse", right, left, &wires.reverse);
    for host in 1..=hosts {
        let source = topology.node(format!("source{host}"));
        topology.cable(source, left, &access(host - 1));
        let sink = topology.node(format!("sink{host}"));
        topology.cable(right, sink, &wires.sink_access);
    }
    topology
}

/// `hops` bottlenecks in a row between `router0`..`routerN`. The pair `source0`, `sink0` sits at
/// the ends of the chain; `source1`, `sink1` at the ends of the first hop, and so on.
///
/// ```text
/// source0 ── router0 ═══ router1 ═══ router2 ── sink0
/// source1 ─────┘          │ │         └── sink2
///                 sink1 ──┘ └── source2
/// ```
///
/// Links `hop1`, `hop1-reverse`, `hop2`, ... come first; the rest are named `source0-router0` and
/// so on.
pub fn parking_lot<W: Clone>(hops: usize, hop: &W, access: &W) -> Topology<W> {
    let mut topology =
        Topology { nodes: Vec::with_capacity(3 * hops + 3), links: Vec::with_capacity(6 * hops + 4) };
    for router in 0..=hops {
        topology.node(format!("router{router}"));
    }
    for index in 1..=hops {
        topology.link(format!("hop{index}"), index - 1, index, hop);
        topology.link(format!("hop{index}-reverse"), index, index - 1, hop);
    }
    for pair in 0..=hops {
        let (first, last) = if pair == 0 { (0, hops) } else { (pair - 1, pair) };
        let source = topology.node(format!("source{pair}"));
        topology.cable(source, first, access);
        let sink = topology.node(format!("sink{pair}"));
        topology.cable(last, sink, access);
    }
    topology
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends<W>(topology: &Topology<W>) -> Vec<(&str, &str, &str)> {
        let node = |index: usize| topology.nodes[index].as_str();
        topology.links.iter().map(|link| (link.name.as_str(), node(link.from), node(link.to))).collect()
    }

    #[test]
    fn a_dumbbell_has_a_bottleneck_each_way_and_two_cables_a_pair() {
        let wires = DumbbellWires { bottleneck: 'b', reverse: 'r', access: 'a', sink_access: 's' };
        let topology = dumbbell(1, &wires);
        assert_eq!(
            ends(&topology),
            [
                ("bottleneck", "left", "right"),
                ("reverse", "right", "left"),
                ("source1-left", "source1", "left"),
                ("left-source1", "left", "source1"),
                ("right-sink1", "right", "sink1"),
                ("sink1-right", "sink1", "right"),
            ]
        );
        assert_eq!(topology.links.iter().map(|link| link.wire).collect::<String>(), "braass");
        assert_eq!(dumbbell(3, &wires).nodes.len(), 8);
        assert_eq!(dumbbell(3, &wires).links.len(), 14);
    }

    #[test]
    fn a_parking_lot_has_one_long_pair_and_one_pair_a_hop() {
        let topology = parking_lot(2, &'h', &'a');
        let ends = ends(&topology);
        assert_eq!(ends[0], ("hop1", "router0", "router1"));
        assert_eq!(ends[3], ("hop2-reverse", "router2", "router1"));
        for cable in [
            ("source0-router0", "source0", "router0"),
            ("router2-sink0", "router2", "sink0"),
            ("source2-router1", "source2", "router1"),
            ("sink2-router2", "sink2", "router2"),
        ] {
            assert!(ends.contains(&cable), "{cable:?} in {ends:?}");
        }
        assert_eq!((topology.nodes.len(), topology.links.len()), (9, 16));
    }
}
