//! Placement of a network's nodes in a drawing: routers in layers from left to right by hops, hosts
//! beside their router.

use crate::plan::Plan;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Hosts drawn at one side of a router; more are folded into a bundle.
const MOST_HOSTS: usize = 8;
/// Maximum number of routers; a drawing of more is illegible.
pub const MOST_ROUTERS: usize = 40;
/// Rows between routers of one layer.
const APART: f64 = 5.0;
/// Rows between a router and hosts below it.
const BELOW: f64 = 2.2;
/// Layers between a router and hosts beside it: the space is for the links between routers.
const BESIDE: f64 = 0.6;
/// Rows between parallel cables in their middle.
const BEND: f64 = 2.4;

/// The meaning of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// An end of flows.
    Host,
    /// A node with several neighbours.
    Router,
    /// Several hosts of one router.
    Bundle,
}

/// A node, or a bundle of hosts: x in layers, y in rows, downwards.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    /// Name of the node; "53 more" for a bundle.
    pub name: String,
    /// Layers from the left.
    pub x: f64,
    /// Rows from the top.
    pub y: f64,
    /// Its meaning.
    pub kind: Kind,
    /// Number of nodes it represents.
    pub count: usize,
}

/// The links between two places, both ways; those of a bundle are one cable.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cable {
    /// Index of a place.
    pub a: usize,
    /// Index of the other.
    pub b: usize,
    /// Indices of the links from a to b.
    pub there: Vec<usize>,
    /// Indices of the links from b to a.
    pub back: Vec<usize>,
    /// Offset of its middle from the straight line, in rows, to avoid obstacles.
    pub bend: f64,
}

/// A drawing of a network, without styles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Layout {
    /// Routers first.
    pub places: Vec<Place>,
    /// Every link is on one.
    pub cables: Vec<Cable>,
    /// Greatest x; the least is 0.
    pub width: f64,
    /// Greatest y; the least is 0.
    pub height: f64,
}

impl Layout {
    /// Places a network; `None` if it has more than [`MOST_ROUTERS`] routers.
    pub fn of(plan: &Plan) -> Option<Self> {
        Graph::of(plan).layout(plan)
    }
}

/// Nodes and ways of a network.
struct Graph {
    neighbours: Vec<BTreeSet<usize>>,
    /// The nodes on the path of each flow's data; equal paths once.
    ways: Vec<Vec<usize>>,
    inner: BTreeSet<usize>,
}

/// Layer of each router.
type Layers = BTreeMap<usize, usize>;
type Spots = BTreeMap<usize, (f64, f64)>;

impl Graph {
    fn of(plan: &Plan) -> Self {
        let mut neighbours = vec![BTreeSet::new(); plan.nodes.len()];
        for link in plan.links.iter() {
            neighbours[link.from].insert(link.to);
            neighbours[link.to].insert(link.from);
        }
        let way = |links: &Vec<usize>| -> Vec<usize> {
            let first = links.first().map(|&link| plan.links[link].from);
            first.into_iter().chain(links.iter().map(|&link| plan.links[link].to)).collect()
        };
        let ways = each_once(plan.flows.iter().map(|flow| way(&flow.forward)));
        let mut inner: BTreeSet<usize> =
            (0..neighbours.len()).filter(|&node| neighbours[node].len() != 1).collect();
        // If two nodes have only each other, neither is a router.
        let alone = |node: &usize| !inner.contains(node) && neighbours[*node].is_disjoint(&inner);
        let alone: Vec<usize> = (0..neighbours.len()).filter(alone).collect();
        inner.extend(alone);
        Self { neighbours, ways, inner }
    }

    fn layout(&self, plan: &Plan) -> Option<Layout> {
        if self.inner.len() > MOST_ROUTERS {
            return None;
        }
        let on_routers =
            |way: &Vec<usize>| way.iter().copied().filter(|node| self.inner.contains(node)).collect();
        let routes = each_once(self.ways.iter().map(on_routers));
        let layers = self.layers(&routes);
        let spots = rows(&layers, &routes);
        let ends = self.ends();
        let mut drawn: Vec<(Place, Vec<usize>)> = Vec::new();
        for &node in &self.inner {
            let kind = if ends.contains(&node) { Kind::Host } else { Kind::Router };
            let (x, y) = spots[&node];
            drawn.push((Place { name: plan.nodes[node].to_string(), x, y, kind, count: 1 }, vec![node]));
        }
        drawn.extend(self.hosts(plan, &layers, &spots));
        let least =
            |of: fn(&Place) -> f64| drawn.iter().map(|(place, _)| of(place)).fold(f64::INFINITY, f64::min);
        let (left, top) = (least(|place| place.x), least(|place| place.y));
        let mut place_of = vec![0; plan.nodes.len()];
        for (index, (_, nodes)) in drawn.iter().enumerate() {
            nodes.iter().for_each(|&node| place_of[node] = index);
        }
        let moved = |(place, _): (Place, _)| Place { x: place.x - left, y: place.y - top, ..place };
        let places: Vec<Place> = drawn.into_iter().map(moved).collect();
        let cables = cables(plan, &place_of, &places);
        let most = |of: fn(&Place) -> f64| places.iter().map(of).fold(0.0, f64::max);
        Some(Layout { cables, width: most(|place| place.x), height: most(|place| place.y), places })
    }

    /// Nodes at which ways begin or end and through which none goes.
    fn ends(&self) -> BTreeSet<usize> {
        let ends: BTreeSet<usize> =
            self.ways.iter().flat_map(|way| way.first().into_iter().chain(way.last())).copied().collect();
        let passed = self.ways.iter().filter(|way| way.len() > 2).flat_map(|way| &way[1..way.len() - 1]);
        let passed: BTreeSet<usize> = passed.copied().collect();
        ends.difference(&passed).copied().collect()
    }

    /// Gives each router the number of hops on the longest path to it; return paths are not
    /// counted.
    fn layers(&self, routes: &[Vec<usize>]) -> Layers {
        let mut after: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (node, next) in routes.iter().flat_map(|route| route.windows(2).map(|pair| (pair[0], pair[1]))) {
            if !reaches(&after, next, node) {
                after.entry(node).or_default().insert(next);
            }
        }
        let mut layers = Layers::new();
        let routed: BTreeSet<usize> =
            after.iter().flat_map(|(node, next)| next.iter().chain([node])).copied().collect();
        let first: Vec<usize> = self.inner.iter().take(1).copied().collect();
        let roots: Vec<usize> = if routed.is_empty() { first } else { routed.into_iter().collect() };
        roots.iter().for_each(|&node| {
            longest(&after, node, &mut layers);
        });
        let mut waiting: Vec<usize> =
            self.inner.iter().copied().filter(|node| !layers.contains_key(node)).collect();
        while !waiting.is_empty() {
            let beside = |node: &usize| self.neighbours[*node].iter().any(|other| layers.contains_key(other));
            let mut near: Vec<usize> = waiting.iter().copied().filter(beside).collect();
            if near.is_empty() {
                near.push(waiting[0]);
            }
            for node in near {
                let least = self.neighbours[node].iter().filter_map(|other| layers.get(other)).min();
                layers.insert(node, least.map_or(0, |layer| layer + 1));
            }
            waiting.retain(|node| !layers.contains_key(node));
        }
        layers
    }

    /// The nodes around one router, beside it where there is room, below it otherwise.
    fn hosts(&self, plan: &Plan, layers: &Layers, spots: &Spots) -> Vec<(Place, Vec<usize>)> {
        let starts: BTreeSet<usize> = self.ways.iter().filter_map(|way| way.first().copied()).collect();
        let mut groups: Vec<((usize, Side), Vec<usize>)> = Vec::new();
        let mut known: BTreeMap<(usize, Side), usize> = BTreeMap::new();
        for (node, near) in self.neighbours.iter().enumerate() {
            let (false, Some(&router)) = (self.inner.contains(&node), near.first()) else { continue };
            let key = (router, self.side(router, layers, starts.contains(&node)));
            let group = *known.entry(key).or_insert(groups.len());
            if group == groups.len() {
                groups.push((key, Vec::new()));
            }
            groups[group].1.push(node);
        }
        groups
            .into_iter()
            .flat_map(|((router, side), nodes)| bundles(plan, nodes, side, spots[&router]))
            .collect()
    }

    /// Where the hosts of a router stand that send, or do not.
    fn side(&self, router: usize, layers: &Layers, sends: bool) -> Side {
        let others = || self.neighbours[router].iter().filter_map(|other| layers.get(other));
        let left = others().all(|&layer| layer >= layers[&router]);
        let right = others().all(|&layer| layer <= layers[&router]);
        match (left, right, sends) {
            (true, true, true) | (true, false, _) => Side::Left,
            (true, true, false) | (false, true, _) => Side::Right,
            (false, false, true) => Side::BelowRight,
            (false, false, false) => Side::BelowLeft,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Left,
    Right,
    BelowLeft,
    BelowRight,
}

fn each_once(ways: impl Iterator<Item = Vec<usize>>) -> Vec<Vec<usize>> {
    let mut seen = BTreeSet::new();
    ways.filter(|way| seen.insert(way.clone())).collect()
}

fn reaches(after: &BTreeMap<usize, BTreeSet<usize>>, node: usize, other: usize) -> bool {
    let (mut open, mut seen) = (vec![node], BTreeSet::new());
    while let Some(node) = open.pop() {
        if node == other {
            return true;
        }
        if seen.insert(node) {
            open.extend(after.get(&node).into_iter().flatten());
        }
    }
    false
}

fn longest(after: &BTreeMap<usize, BTreeSet<usize>>, node: usize, layers: &mut Layers) -> usize {
    if let Some(&layer) = layers.get(&node) {
        return layer;
    }
    let before: Vec<usize> =
        after.iter().filter(|(_, next)| next.contains(&node)).map(|(&node, _)| node).collect();
    let layer = before.into_iter().map(|other| longest(after, other, layers) + 1).max().unwrap_or(0);
    layers.insert(node, layer);
    layer
}

/// Puts the longest path on one line, and everything else in layers below and above it.
fn rows(layers: &Layers, routes: &[Vec<usize>]) -> Spots {
    // The first of several: `max_by_key` has the last.
    let main = routes.iter().rev().max_by_key(|route| route.len());
    let off_main = |node: &usize| main.is_none_or(|main| !main.contains(node));
    let mut spots = Spots::new();
    for at in 0..=layers.values().max().copied().unwrap_or(0) {
        let mut of_layer: Vec<usize> =
            layers.iter().filter(|(_, layer)| **layer == at).map(|(&node, _)| node).collect();
        of_layer.sort_by_key(|node| (off_main(node), *node));
        let shift = of_layer.first().is_some_and(off_main);
        for (place, &node) in of_layer.iter().enumerate() {
            let aside = place + usize::from(shift);
            spots.insert(node, (at as f64, aside_of(aside) * APART));
        }
    }
    spots
}

/// 0, 1, -1, 2, -2: places on both sides of a line.
fn aside_of(number: usize) -> f64 {
    number.div_ceil(2) as f64 * if number % 2 == 1 { 1.0 } else { -1.0 }
}

fn bundles(plan: &Plan, mut nodes: Vec<usize>, side: Side, (x, y): (f64, f64)) -> Vec<(Place, Vec<usize>)> {
    let rest = if nodes.len() > MOST_HOSTS { nodes.split_off(MOST_HOSTS - 1) } else { Vec::new() };
    let mut rows: Vec<(String, Vec<usize>)> =
        nodes.iter().map(|&node| (plan.nodes[node].to_string(), vec![node])).collect();
    if !rest.is_empty() {
        rows.push((format!("{} more", grouped(rest.len())), rest));
    }
    let middle = (rows.len() - 1) as f64 / 2.0;
    let drawn = rows.into_iter().enumerate().map(|(row, (name, nodes))| {
        let row = row as f64;
        let (x, y) = match side {
            Side::Left => (x - BESIDE, y + row - middle),
            Side::Right => (x + BESIDE, y + row - middle),
            Side::BelowLeft => (x - 0.3, y + BELOW + row),
            Side::BelowRight => (x + 0.3, y + BELOW + 1.0 + row),
        };
        let kind = if nodes.len() > 1 { Kind::Bundle } else { Kind::Host };
        (Place { name, x, y, kind, count: nodes.len() }, nodes)
    });
    drawn.collect()
}

/// "9,993".
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// Pairs the links between two places; parallel cables bend apart, and a long one bends around
/// obstacles.
fn cables(plan: &Plan, place_of: &[usize], places: &[Place]) -> Vec<Cable> {
    let mut there: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (index, link) in plan.links.iter().enumerate() {
        let ends = (place_of[link.from], place_of[link.to]);
        pairs.push(ends);
        there.entry(ends).or_default().push(index);
    }
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (from, to) in pairs {
        let (a, b) = if from <= to || !there.contains_key(&(to, from)) { (from, to) } else { (to, from) };
        if !seen.insert((a, b)) {
            continue;
        }
        let links = |ends| there.get(&ends).cloned().unwrap_or_default();
        let (forward, backward) = (links((a, b)), links((b, a)));
        if places[a].kind == Kind::Bundle || places[b].kind == Kind::Bundle {
            found.push(Cable { a, b, there: forward, back: backward, bend: 0.0 });
            continue;
        }
        let shift = usize::from(is_behind(places, a, b));
        for number in 0..forward.len().max(backward.len()) {
            let one = |links: &[usize]| links.get(number).copied().into_iter().collect();
            let bend = -BEND * aside_of(number + shift);
            found.push(Cable { a, b, there: one(&forward), back: one(&backward), bend });
        }
    }
    found
}

/// Whether a place stands between two others of one row.
fn is_behind(places: &[Place], a: usize, b: usize) -> bool {
    let (a, b) = (&places[a], &places[b]);
    let (left, right) = (a.x.min(b.x), a.x.max(b.x));
    a.y == b.y && places.iter().any(|place| (place.y - a.y).abs() < 1.0 && left < place.x && place.x < right)
}
