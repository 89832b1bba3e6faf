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

/// The wires of a data centre.
#[cfg(any(feature = "scenario-files", test))]
#[derive(Clone, Copy, Debug)]
pub struct DataCenterWires<W> {
    /// Between switches, each direction.
    pub link: W,
    /// From a host to its switch.
    pub up: W,
    /// From a switch to its host.
    pub down: W,
}

#[cfg(any(feature = "scenario-files", test))]
impl<W: Clone> Topology<W> {
    /// A host at a switch.
    fn host(&mut self, number: usize, switch: usize, wires: &DataCenterWires<W>) {
        let host = self.node(format!("host{number}"));
        let [up, down] = link_names(None, &self.nodes[host], &self.nodes[switch]);
        self.link(up, host, switch, &wires.up);
        self.link(down, switch, host, &wires.down);
    }
}

/// A fat tree of switches with `k` ports, an even number (Al-Fares, Loukissas and Vahdat, SIGCOMM
/// 2008): `core1`..`core(k/2)²`; in pod P `agg-P-1`..`agg-P-k/2`, each linked to k/2 cores of its
/// own, and `edge-P-1`..`edge-P-k/2`, each linked to all of these; `host1`.. in order of edges.
#[cfg(any(feature = "scenario-files", test))]
pub fn fat_tree<W: Clone>(k: usize, wires: &DataCenterWires<W>) -> Topology<W> {
    let half = k / 2;
    let mut topology = Topology { nodes: Vec::new(), links: Vec::new() };
    let cores: Vec<usize> = (1..=half * half).map(|core| topology.node(format!("core{core}"))).collect();
    let mut hosts = 0;
    for pod in 1..=k {
        let aggregations: Vec<usize> =
            (1..=half).map(|index| topology.node(format!("agg-{pod}-{index}"))).collect();
        for (index, &aggregation) in aggregations.iter().enumerate() {
            for &core in &cores[index * half..(index + 1) * half] {
                topology.cable(aggregation, core, &wires.link);
            }
        }
        for index in 1..=half {
            let edge = topology.node(format!("edge-{pod}-{index}"));
            for &aggregation in &aggregations {
                topology.cable(edge, aggregation, &wires.link);
            }
            for _ in 0..half {
                hosts += 1;
                topology.host(hosts, edge, wires);
            }
        }
    }
    topology
}

/// `spine1`.., `leaf1`.., each leaf linked to each spine, and `hosts` hosts at each leaf, `host1`..
/// in order of leaves.
#[cfg(any(feature = "scenario-files", test))]
pub fn leaf_spine<W: Clone>(
    leaves: usize,
    spines: usize,
    hosts: usize,
    wires: &DataCenterWires<W>,
) -> Topology<W> {
    let mut topology = Topology { nodes: Vec::new(), links: Vec::new() };
    let spines: Vec<usize> = (1..=spines).map(|spine| topology.node(format!("spine{spine}"))).collect();
    for index in 0..leaves {
        let leaf = topology.node(format!("leaf{}", index + 1));
        for &spine in &spines {
            topology.cable(leaf, spine, &wires.link);
        }
        for host in 1..=hosts {
            topology.host(index * hosts + host, leaf, wires);
        }
    }
    topology
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "Figure 3: Simple fat-tree topology" of the paper, k = 4: 16 hosts, 20 switches with 4 ports
    /// each, 48 cables, and each core reaches each pod once.
    #[test]
    fn a_fat_tree_is_that_of_its_paper() {
        let wires = DataCenterWires { link: 'l', up: 'u', down: 'd' };
        let topology = fat_tree(4, &wires);
        let hosts = topology.nodes.iter().filter(|node| node.as_str().starts_with("host")).count();
        assert_eq!((topology.nodes.len(), hosts, topology.links.len()), (36, 16, 96));
        for (index, node) in topology.nodes.iter().enumerate() {
            let ports = topology.links.iter().filter(|link| link.from == index).count();
            assert_eq!(ports, if node.as_str().starts_with("host") { 1 } else { 4 }, "{node:?}");
        }
        let ends = ends(&topology);
        for core in 1..=4 {
            for pod in 1..=4 {
                let to_pod = format!("agg-{pod}-");
                let from = format!("core{core}");
                assert_eq!(ends.iter().filter(|(_, a, b)| *a == from && b.starts_with(&to_pod)).count(), 1);
            }
        }
        let small = leaf_spine(3, 2, 4, &wires);
        assert_eq!((small.nodes.len(), small.links.len()), (2 + 3 + 12, 2 * (6 + 12)));
    }

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
