//! Routes while links go down and come up.
//!
//! The table of a destination is computed when it is first read, and again only if a link has changed
//! meanwhile that matters to it: one between nodes of different distance. Where all links are up, or those
//! that are down do not matter, it is the table of [`Routes`]; of another one only the sets that differ are
//! kept. The ports of a set have the order that a search over the links that are up gives them: so a table
//! does not depend on the changes before.
//!
//! So each thread may compute tables of its own.

use std::sync::Arc;

use floodway_units::cast::narrow;
use floodway_units::{NodeId, PortId};

use super::{Destination, NONE, Routes, Search, peer};

/// Routes over the links that are up now.
#[derive(Debug)]
pub struct ChangingRoutes {
    all_up: Arc<Routes>,
    /// The links that are down, ascending.
    down: Arc<[u32]>,
    /// By port: how many links are down on its way to the next host or switch, over relays if there are any.
    broken: Vec<u32>,
    /// Changes so far.
    version: u64,
    /// By table.
    tables: Vec<Changed>,
    search: Search,
}

/// A table, as of some version.
#[derive(Debug, Default)]
struct Changed {
    version: u64,
    /// The links that were down then.
    down: Arc<[u32]>,
    /// None where it is that of all links.
    table: Option<Box<Table>>,
}

/// Of each row: hops to the root, and the equal-cost ports.
#[derive(Debug)]
struct Table {
    distance: Vec<u32>,
    sets: Vec<Set>,
    /// Sets that differ from those of all links.
    own: Vec<Box<[PortId]>>,
}

#[derive(Clone, Copy, Debug)]
enum Set {
    /// As with all links.
    Same,
    Own(u32),
}

/// Equal-cost ports of `node` toward the host `destination`: by `changing` where links come and go.
#[inline]
pub fn in_force<'r>(
    all_up: &'r Routes,
    changing: Option<&'r ChangingRoutes>,
    (node, destination): (NodeId, NodeId),
) -> &'r [PortId] {
    match changing {
        None => all_up.candidates(node, destination),
        Some(changing) => changing.candidates(node, destination),
    }
}

impl ChangingRoutes {
    /// All links are up.
    pub fn new(all_up: Arc<Routes>) -> Self {
        ChangingRoutes {
            down: Arc::default(),
            broken: vec![0; all_up.node_of.len()],
            version: 0,
            tables: (0..all_up.tables).map(|_| Changed::default()).collect(),
            search: Search::new(&all_up),
            all_up,
        }
    }

    /// These routes before any link has changed.
    pub fn fresh(&self) -> Self {
        ChangingRoutes::new(Arc::clone(&self.all_up))
    }

    /// A link goes down or comes up.
    pub fn set(&mut self, link: u32, down: bool) {
        if down != self.is_up(link) {
            return;
        }
        let others = self.down.iter().copied().filter(|&other| other != link);
        let mut links: Vec<u32> = others.chain(down.then_some(link)).collect();
        links.sort_unstable();
        self.down = links.into();
        self.version += 1;
        for port in [PortId(2 * link), PortId(2 * link + 1)] {
            for over in self.all_up.leading_over(port) {
                let broken = &mut self.broken[over.index()];
                *broken = if down { *broken + 1 } else { *broken - 1 };
            }
        }
    }

    fn is_up(&self, link: u32) -> bool {
        self.down.binary_search(&link).is_err()
    }

    /// Brings the table of a destination up to date: before its ports are asked for.
    #[inline]
    pub fn refresh(&mut self, destination: NodeId) {
        if let Some(to) = self.all_up.destinations[destination.index()]
            && self.tables[to.table as usize].version != self.version
        {
            self.bring_up_to_date(&to);
        }
    }

    /// Equal-cost ports of `node` toward the host `destination`; empty if there is no path.
    #[inline]
    pub fn candidates(&self, node: NodeId, destination: NodeId) -> &[PortId] {
        let Some(to) = &self.all_up.destinations[destination.index()] else { return &[] };
        debug_assert_eq!(self.tables[to.table as usize].version, self.version, "refreshed before");
        if to.last.is_some_and(|(_, port)| self.is_broken(port)) {
            return &[];
        }
        let routes = &*self.all_up;
        if let Some((last, port)) = &to.last
            && *last == node
        {
            return std::slice::from_ref(port);
        }
        match routes.row[node.index()] {
            NONE => self.only_port(node, to),
            row if routes.is_relay[node.index()] => self.relay_port(node, destination, to, row),
            row => self.ports(to, row),
        }
    }

    fn is_broken(&self, port: PortId) -> bool {
        self.broken[port.index()] > 0
    }

    fn ports(&self, to: &Destination, row: u32) -> &[PortId] {
        match &self.tables[to.table as usize].table {
            None => self.all_up.set(to, row),
            Some(table) => match table.sets[row as usize] {
                Set::Same => self.all_up.set(to, row),
                Set::Own(set) => &table.own[set as usize],
            },
        }
    }

    fn relay_port(&self, relay: NodeId, destination: NodeId, to: &Destination, row: u32) -> &[PortId] {
        let routes = &*self.all_up;
        let leads =
            |port: &&PortId| routes.node_of(routes.far(**port)) == destination && !self.is_broken(**port);
        let direct = routes.ports[relay.index()].iter().find(leads);
        direct.map_or_else(|| self.ports(to, row), std::slice::from_ref)
    }

    /// The port of a host with a single link, if that is up and its switch leads on.
    fn only_port(&self, host: NodeId, to: &Destination) -> &[PortId] {
        let routes = &*self.all_up;
        let [port] = &routes.ports[host.index()][..] else { return &[] };
        let switch = routes.node_of(routes.far(*port));
        let leads = switch == to.root || !self.ports(to, routes.row[switch.index()]).is_empty();
        if leads && !self.is_broken(*port) { std::slice::from_ref(port) } else { &[] }
    }

    #[cold]
    fn bring_up_to_date(&mut self, to: &Destination) {
        let changes = differences(&self.tables[to.table as usize].down, &self.down);
        let same = !changes.into_iter().any(|link| self.matters(to, link));
        let changed = &mut self.tables[to.table as usize];
        changed.version = self.version;
        changed.down = Arc::clone(&self.down);
        if !same {
            self.compute(to);
        }
    }

    /// Does the table of a destination, as it is, depend on whether the link is up?
    fn matters(&self, to: &Destination, link: u32) -> bool {
        let routes = &*self.all_up;
        let Some(port) = routes.leading_over(PortId(2 * link)).last() else { return false };
        let far = routes.far(port);
        if far != peer(port) {
            // Relays have rows of their own.
            return true;
        }
        let [a, b] = [port, far].map(|port| routes.row[routes.node_of(port).index()]);
        if a == NONE || b == NONE {
            // The only link of a host is looked at where its port is.
            return false;
        }
        match &self.tables[to.table as usize].table {
            Some(table) => table.distance[a as usize] != table.distance[b as usize],
            None => routes.set(to, a).contains(&port) || routes.set(to, b).contains(&far),
        }
    }

    fn compute(&mut self, to: &Destination) {
        let routes = &*self.all_up;
        let (broken, search) = (&self.broken, &mut self.search);
        routes.search(to.root, search, |port| broken[port.index()] == 0);
        let mut own: Vec<Box<[PortId]>> = Vec::new();
        let mut set = |(row, ports): (u32, &[PortId])| {
            if routes.set(to, row) == ports {
                return Set::Same;
            }
            own.push(ports.into());
            Set::Own(narrow::<u32>(own.len()) - 1)
        };
        let sets = (0..).zip(search.sets()).map(&mut set).collect();
        let rows = routes.row.iter().zip(&search.distance).filter(|(row, _)| **row != NONE);
        let distance = rows.map(|(_, &distance)| distance).collect();
        let table = (!own.is_empty()).then(|| Box::new(Table { distance, sets, own }));
        self.tables[to.table as usize].table = table;
    }
}

impl Routes {
    /// The ports whose path to the next host or switch leads out of `port`: itself, and over relays those
    /// before it, a host's or a switch's last.
    fn leading_over(&self, port: PortId) -> impl Iterator<Item = PortId> {
        let before = |&port: &PortId| {
            let node = self.node_of(port).index();
            let other = self.ports[node].iter().find(|&&other| other != port);
            other.filter(|_| self.is_relay[node]).map(|&other| peer(other))
        };
        // A ring of nothing but relays has no end.
        std::iter::successors(Some(port), before).take(self.ports.len())
    }
}

/// What is in one of two ascending lists only.
fn differences(one: &[u32], other: &[u32]) -> Vec<u32> {
    let only = |of: &[u32], without: &[u32]| -> Vec<u32> {
        of.iter().copied().filter(|link| without.binary_search(link).is_err()).collect()
    };
    [only(one, other), only(other, one)].concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::network::blueprint::{Blueprint, LinkSpec, RelayPorts};
    use crate::testing::{blueprint, host, link, relay, switch};

    /// Switches, of which the first five are joined in pairs, some over two relays, and hosts at one or two
    /// of them.
    #[derive(Clone, Debug)]
    struct Graph {
        pairs: Vec<(u32, u32, bool)>,
        hosts: Vec<Vec<u32>>,
    }

    const SWITCHES: u32 = 5;

    fn graphs() -> impl Strategy<Value = Graph> {
        let pairs = prop::collection::vec((0..SWITCHES, 1..SWITCHES, prop::bool::weighted(0.2)), 3..10);
        let hosts = prop::collection::vec(prop::collection::vec(0..SWITCHES, 1..3), 2..5);
        (pairs, hosts).prop_map(|(pairs, hosts)| Graph { pairs, hosts })
    }

    /// Its blueprint, and by link the links that are of one path over relays, itself included.
    fn network(graph: &Graph) -> (Blueprint, Vec<Vec<usize>>) {
        let mut nodes: Vec<_> = (0..SWITCHES).map(|i| switch(&format!("s{i}"))).collect();
        let (mut links, mut originals): (Vec<LinkSpec>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
        for &(a, step, relayed) in &graph.pairs {
            let (b, first) = ((a + step) % SWITCHES, links.len());
            let mut stops = vec![a];
            for i in 0..if relayed { 2 } else { 0 } {
                let port = |link: usize, end: usize| PortId((2 * link + end) as u32);
                let ports = RelayPorts { local: port(first + i, 1), remote: port(first + i + 1, 0) };
                stops.push(nodes.len() as u32);
                nodes.push(relay(&format!("r{}", nodes.len()), ports));
            }
            stops.push(b);
            links.extend(stops.windows(2).map(|hop| link("l", [hop[0], hop[1]], 100)));
            originals.extend((first..links.len()).map(|_| (first..links.len()).collect::<Vec<_>>()));
        }
        for at in &graph.hosts {
            nodes.push(host("h"));
            for &switch in at {
                originals.push(vec![links.len()]);
                links.push(link("l", [nodes.len() as u32 - 1, switch], 100));
            }
        }
        (blueprint(nodes, links), originals)
    }

    /// By node that is no relay and by host: the ports of a network that never had the links that are down.
    fn expected(
        whole: &Blueprint,
        originals: &[Vec<usize>],
        down: &[u32],
    ) -> impl Fn(NodeId, NodeId) -> Vec<PortId> + use<> {
        let gone = |link: &usize| originals[*link].iter().any(|other| down.contains(&(*other as u32)));
        let kept: Vec<usize> = (0..whole.links.len()).filter(|link| !gone(link)).collect();
        let links = kept.iter().map(|&link| whole.links[link].clone()).collect();
        let routes = Routes::new(&blueprint_of(whole, links));
        move |node, to| {
            let ports = routes.candidates(node, to).iter();
            ports.map(|port| PortId(2 * kept[port.index() / 2] as u32 + port.0 % 2)).collect()
        }
    }

    /// The same nodes with other links: relays keep the ports that they name only where none of their links
    /// is gone.
    fn blueprint_of(whole: &Blueprint, links: Vec<LinkSpec>) -> Blueprint {
        let mut part = Blueprint { links, ..whole.clone() };
        let links = &part.links;
        for (id, node) in (0..).map(NodeId).zip(&mut part.nodes) {
            let crate::network::blueprint::Role::Switch(spec) = &mut node.role else { continue };
            let at = (0..2 * links.len()).filter(|&port| links[port / 2].ends[port % 2].node == id);
            let ports: Vec<PortId> = at.map(|port| PortId(port as u32)).collect();
            if let (Some(relay), [local, remote]) = (&mut spec.relay, &ports[..]) {
                *relay = RelayPorts { local: *local, remote: *remote };
            }
        }
        part
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn tables_are_those_of_a_network_without_the_links_that_are_down(
            graph in graphs(),
            toggles in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 1..12),
        ) {
            let (whole, originals) = network(&graph);
            let mut routes = ChangingRoutes::new(Arc::new(Routes::new(&whole)));
            let hosts: Vec<NodeId> =
                (0..whole.nodes.len() as u32).map(NodeId).filter(|&node| routes.all_up.is_host(node)).collect();
            for (link, ask) in toggles {
                let link = link.index(whole.links.len()) as u32;
                let down = routes.is_up(link);
                routes.set(link, down);
                let expected = expected(&whole, &originals, &routes.down);
                // A table that is not read in between has more than one change to catch up with.
                for &to in if ask { &hosts[..] } else { &hosts[..1] } {
                    routes.refresh(to);
                    for node in (0..whole.nodes.len() as u32).map(NodeId) {
                        if !routes.all_up.is_relay[node.index()] && node != to {
                            prop_assert_eq!(routes.candidates(node, to), &expected(node, to)[..]);
                        }
                    }
                }
            }
        }
    }
}
