//! Static shortest-path routes.
//!
//! A route is the path with the least total propagation delay; of several, the one with the fewest
//! hops; of several still, the one whose first link has the lowest index, then its second, and so
//! on. So a route depends only on the network, never on the order of the flows.
//!
//! With equal-cost multipath (RFC 2992) each router spreads the flows over the links that begin
//! such a path, by a hash of the flow.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use selfclock_congestion::units::Duration;

/// A one-way link as routing sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Index of the node it leaves.
    pub from: usize,
    /// Index of the node it enters.
    pub to: usize,
    /// Propagation delay.
    pub delay: Duration,
}

/// Choice among equal paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Routing {
    /// The first.
    #[default]
    Shortest,
    /// By a hash at each router.
    EqualCost,
}

/// The way of a flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// Indices of links.
    pub links: Vec<usize>,
    /// Whether another is as short.
    pub has_equals: bool,
}

/// Number of the link, of `count`, that the route of this pair takes at a node: splitmix64 (Steele,
/// Lea and Flood, OOPSLA 2014) of both numbers, 2^32 apart.
fn hashed(pair: usize, node: usize, count: usize) -> usize {
    let mut bits = ((pair as u64) << 32 | node as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ bits >> 31) % count as u64) as usize
}

/// Total delay in picoseconds, then hops.
type Distance = (u128, usize);

const UNREACHABLE: Distance = (u128::MAX, usize::MAX);

/// The route of every pair (from, to), as indices of links; `None` without one. Of equal paths the
/// first.
///
/// # Panics
/// As [`routes_by`].
pub fn routes(nodes: usize, edges: &[Edge], pairs: &[(usize, usize)]) -> Vec<Option<Vec<usize>>> {
    let found = routes_by(Routing::Shortest, nodes, edges, pairs).into_iter();
    found.map(|route| route.map(|route| route.links)).collect()
}

/// The route of every pair (from, to); `None` without one. With equal-cost routing the hash is that
/// of the pair's index.
///
/// A node with a single link has no choice, so a route between two hosts is that between the
/// routers to which they are attached; one search per destination router serves every pair that
/// ends there.
///
/// # Panics
/// If an edge or a pair names a node that is not below `nodes`.
pub fn routes_by(
    routing: Routing,
    nodes: usize,
    edges: &[Edge],
    pairs: &[(usize, usize)],
) -> Vec<Option<Route>> {
    let graph = Graph::new(nodes, edges);
    let trunks: Vec<Trunk> = pairs.iter().map(|&(from, to)| graph.trunk(from, to)).collect();
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_by_key(|&pair| trunks[pair].to);

    let mut routes = vec![None; pairs.len()];
    for group in order.chunk_by(|&a, &b| trunks[a].to == trunks[b].to) {
        let mut sources: Vec<usize> = group.iter().map(|&pair| trunks[pair].from).collect();
        sources.sort_unstable();
        sources.dedup();
        let distances = graph.distances_to(trunks[group[0]].to, &sources);
        let mut ways = BTreeMap::new();
        for &pair in group {
            let hash = (routing == Routing::EqualCost).then_some(pair);
            routes[pair] = graph.walk(&trunks[pair], &distances, &mut ways, hash);
        }
    }
    routes
}

/// A route without the forced links at its ends.
struct Trunk {
    from: usize,
    to: usize,
    first: Option<usize>,
    last: Option<usize>,
}

struct Graph<'a> {
    edges: &'a [Edge],
    /// Links that leave each node, lowest index first.
    out: Vec<Vec<usize>>,
    /// Links that enter each node.
    into: Vec<Vec<usize>>,
}

impl<'a> Graph<'a> {
    fn new(nodes: usize, edges: &'a [Edge]) -> Self {
        let mut graph = Self { edges, out: vec![Vec::new(); nodes], into: vec![Vec::new(); nodes] };
        for (index, edge) in edges.iter().enumerate() {
            graph.out[edge.from].push(index);
            graph.into[edge.to].push(index);
        }
        graph
    }

    fn trunk(&self, from: usize, to: usize) -> Trunk {
        let mut trunk = Trunk { from, to, first: None, last: None };
        if let [only] = self.out[from][..]
            && from != to
        {
            trunk.first = Some(only);
            trunk.from = self.edges[only].to;
        }
        if let [only] = self.into[to][..]
            && trunk.from != to
        {
            trunk.last = Some(only);
            trunk.to = self.edges[only].from;
        }
        trunk
    }

    /// Dijkstra's search backwards from `to`, until all of the sorted `sources` are settled. The
    /// distance of an unsettled node is an upper bound.
    fn distances_to(&self, to: usize, sources: &[usize]) -> Vec<Distance> {
        let mut distances = vec![UNREACHABLE; self.out.len()];
        let mut queue = BinaryHeap::from([Reverse(((0, 0), to))]);
        let mut wanted = sources.len();
        distances[to] = (0, 0);
        while let Some(Reverse((distance, node))) = queue.pop() {
            if distance > distances[node] {
                continue;
            }
            wanted -= usize::from(sources.binary_search(&node).is_ok());
            if wanted == 0 {
                break;
            }
            for &link in &self.into[node] {
                let (next, reached) = (self.edges[link].from, self.across(link, distance));
                if reached < distances[next] {
                    distances[next] = reached;
                    queue.push(Reverse((reached, next)));
                }
            }
        }
        distances
    }

    /// The distance at the near end of a link, from that at its far end.
    fn across(&self, link: usize, far: Distance) -> Distance {
        (far.0.saturating_add(self.edges[link].delay.picoseconds().into()), far.1.saturating_add(1))
    }

    /// The links of a node that begin a shortest path, lowest first.
    fn shortest(&self, node: usize, distances: &[Distance]) -> Vec<usize> {
        let begins = |&link: &usize| {
            let far = distances[self.edges[link].to];
            far != UNREACHABLE && self.across(link, far) == distances[node]
        };
        self.out[node].iter().copied().filter(begins).collect()
    }

    /// Walks from the near end along shortest paths: always along the lowest link, or that of the
    /// hash. Each step has one hop less to go. `ways` keeps the shortest links of each node: one in
    /// the middle of a star has as many links as there are flows.
    fn walk(
        &self,
        trunk: &Trunk,
        distances: &[Distance],
        ways: &mut BTreeMap<usize, Vec<usize>>,
        hash: Option<usize>,
    ) -> Option<Route> {
        if distances[trunk.from] == UNREACHABLE {
            return None;
        }
        let mut route = Vec::from_iter(trunk.first);
        let mut has_equals = false;
        let mut node = trunk.from;
        while node != trunk.to {
            let links = ways.entry(node).or_insert_with(|| self.shortest(node, distances));
            has_equals |= links.len() > 1;
            let link = *links.get(hash.map_or(0, |pair| hashed(pair, node, links.len().max(1))))?;
            route.push(link);
            node = self.edges[link].to;
        }
        route.extend(trunk.last);
        Some(Route { links: route, has_equals })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn edge(from: usize, to: usize, delay_ms: u64) -> Edge {
        Edge { from, to, delay: Duration::from_milliseconds(delay_ms) }
    }

    fn route(nodes: usize, edges: &[Edge], from: usize, to: usize) -> Option<Vec<usize>> {
        routes(nodes, edges, &[(from, to)]).remove(0)
    }

    #[test]
    fn least_delay_wins_over_fewest_hops() {
        let edges = [edge(0, 2, 10), edge(0, 1, 4), edge(1, 2, 5)];
        assert_eq!(route(3, &edges, 0, 2), Some(vec![1, 2]));
    }

    #[test]
    fn at_equal_delay_fewest_hops_win() {
        let edges = [edge(0, 1, 4), edge(1, 2, 6), edge(0, 2, 10)];
        assert_eq!(route(3, &edges, 0, 2), Some(vec![2]));
    }

    #[test]
    fn at_equal_delay_and_hops_the_lowest_link_wins() {
        let edges = [edge(2, 3, 1), edge(1, 3, 1), edge(0, 1, 1), edge(0, 2, 1)];
        assert_eq!(route(4, &edges, 0, 3), Some(vec![2, 1]));
        assert_eq!(route(2, &[edge(0, 1, 1), edge(0, 1, 1)], 0, 1), Some(vec![0]));
    }

    #[test]
    fn links_are_one_way() {
        assert_eq!(route(2, &[edge(0, 1, 1)], 1, 0), None);
        assert_eq!(route(3, &[edge(0, 1, 1)], 0, 2), None);
    }

    #[test]
    fn links_without_delay_make_no_loop() {
        let edges = [edge(0, 1, 0), edge(1, 0, 0), edge(1, 2, 0), edge(2, 1, 0), edge(2, 3, 0)];
        assert_eq!(route(4, &edges, 0, 3), Some(vec![0, 2, 4]));
    }

    /// Two pods of two routers across four cores, 1000 pairs: every path is a shortest one, each of
    /// the four carries a quarter within four standard deviations, and the pairs alone decide.
    #[test]
    fn a_hash_spreads_pairs_over_equal_paths() {
        let cores = 2..6;
        let edges: Vec<Edge> = cores.clone().flat_map(|core| [edge(0, core, 1), edge(core, 1, 1)]).collect();
        let pairs = vec![(0, 1); 1000];
        let found = routes_by(Routing::EqualCost, 6, &edges, &pairs);
        assert_eq!(found, routes_by(Routing::EqualCost, 6, &edges, &pairs));
        let mut taken = [0_i32; 4];
        for route in found.iter().flatten() {
            assert!(route.has_equals && route.links[1] == route.links[0] + 1, "{route:?}");
            taken[route.links[0] / 2] += 1;
        }
        assert!(taken.iter().all(|&count| (count - 250).abs() < 4 * 14), "{taken:?}");
        let first = routes_by(Routing::Shortest, 6, &edges, &pairs[..1]);
        assert_eq!(first, [Some(Route { links: vec![0, 1], has_equals: true })]);
    }

    proptest! {
        /// Against every simple path of a small graph, with delays small enough for ties.
        #[test]
        fn agrees_with_exhaustive_search(links in prop::collection::vec((0..5usize, 0..5usize, 0..3u64), 0..14)) {
            let edges: Vec<Edge> = links.iter().map(|&(from, to, delay)| edge(from, to, delay)).collect();
            let pairs: Vec<(usize, usize)> =
                (0..5).flat_map(|a| (0..5).map(move |b| (a, b))).filter(|(a, b)| a != b).collect();
            for (&(from, to), found) in pairs.iter().zip(routes(5, &edges, &pairs)) {
                let mut best = None;
                search(&edges, from, to, &mut vec![from], &mut Vec::new(), &mut best);
                prop_assert_eq!(found, best.map(|(_, _, links)| links));
            }
        }
    }

    type Path = (Duration, usize, Vec<usize>);

    fn search(
        edges: &[Edge],
        node: usize,
        to: usize,
        seen: &mut Vec<usize>,
        links: &mut Vec<usize>,
        best: &mut Option<Path>,
    ) {
        if node == to {
            let delay = links.iter().fold(Duration::ZERO, |sum, &link| sum + edges[link].delay);
            let path = (delay, links.len(), links.clone());
            if best.as_ref().is_none_or(|best| path < *best) {
                *best = Some(path);
            }
            return;
        }
        for (index, edge) in edges.iter().enumerate().filter(|(_, edge)| edge.from == node) {
            if !seen.contains(&edge.to) {
                seen.push(edge.to);
                links.push(index);
                search(edges, edge.to, to, seen, links, best);
                links.pop();
                seen.pop();
            }
        }
    }
}
