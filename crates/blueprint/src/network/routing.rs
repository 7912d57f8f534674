//! Shortest paths by hop count, and the equal-cost ports that lead along them. A relay on a link is no hop.

mod changing;

use std::collections::VecDeque;

use floodway_units::cast::narrow;
use floodway_units::{NodeId, PortId};
use rustc_hash::FxHashMap;

pub use self::changing::{ChangingRoutes, in_force};
use crate::network::blueprint::{Blueprint, Role};

/// No route.
const NONE: u32 = u32::MAX;

/// Equal-cost ports from every node to every host while all links are up. Hosts do not forward.
///
/// Hosts with a single link to a switch share that switch's table. Ports are ordered by the visit of
/// their far ends in a breadth-first search from the destination, neighbours by rank.
#[derive(Clone, Debug)]
pub struct Routes {
    /// Of each node: its ports.
    ports: Vec<Vec<PortId>>,
    /// Of each port: the node it is at.
    node_of: Vec<NodeId>,
    /// Of each port: the port of a host or switch at the far end, whatever relays are between.
    far: Vec<PortId>,
    /// Of each node: is it a host?
    is_host: Vec<bool>,
    /// Of each node: is it a relay?
    is_relay: Vec<bool>,
    /// Of each node, where it is a host: the table it is found in, and the last switch's port to it.
    destinations: Vec<Option<Destination>>,
    /// Of each node: its row in tables; none of a host with a single link to a switch, which has no choice.
    row: Vec<u32>,
    rows: usize,
    /// Tables, one for each node that searches began from.
    tables: usize,
    /// By (table, row): index of a set.
    next: Vec<u32>,
    /// Distinct sets of equal-cost ports.
    sets: Vec<Box<[PortId]>>,
}

#[derive(Clone, Copy, Debug)]
struct Destination {
    table: u32,
    /// The node that the search began from.
    root: NodeId,
    /// That node and its port to the host; none if it is the host itself.
    last: Option<(NodeId, PortId)>,
}

impl Routes {
    /// Routes over all links of a blueprint.
    pub fn new(blueprint: &Blueprint) -> Self {
        let nodes = blueprint.nodes.len();
        let mut routes = Routes {
            ports: vec![Vec::new(); nodes],
            node_of: Vec::with_capacity(2 * blueprint.links.len()),
            far: Vec::new(),
            is_host: blueprint.nodes.iter().map(|node| matches!(node.role, Role::Host { .. })).collect(),
            is_relay: blueprint.nodes.iter().map(|node| node.role.relay().is_some()).collect(),
            destinations: vec![None; nodes],
            row: Vec::with_capacity(nodes),
            rows: 0,
            tables: 0,
            next: Vec::new(),
            sets: vec![Box::default()],
        };
        routes.node_of.extend(blueprint.links.iter().flat_map(|link| link.ends.iter().map(|end| end.node)));
        for port in (0..narrow::<u32>(routes.node_of.len())).map(PortId) {
            routes.ports[routes.node_of[port.index()].index()].push(port);
            routes.far.push(far(blueprint, &routes.node_of, port));
        }
        let ranks: Vec<u32> = blueprint.nodes.iter().map(|node| node.rank).collect();
        for ports in &mut routes.ports {
            ports
                .sort_by_key(|&port| (ranks[routes.node_of[routes.far[port.index()].index()].index()], port));
        }
        routes.number_rows();
        routes.fill();
        routes
    }

    fn number_rows(&mut self) {
        for node in 0..self.ports.len() {
            let row = if self.edge(node).is_some() { NONE } else { narrow::<u32>(self.rows) };
            self.rows += usize::from(row != NONE);
            self.row.push(row);
        }
    }

    /// Of a host with a single link to a switch: that switch.
    fn edge(&self, node: usize) -> Option<NodeId> {
        match self.ports[node][..] {
            [only] if self.is_host[node] && !self.is_host(self.node_of(self.far(only))) => {
                Some(self.node_of(self.far(only)))
            }
            _ => None,
        }
    }

    /// Equal-cost ports of `node` toward the host `destination`; empty if there is no path.
    #[inline]
    pub fn candidates(&self, node: NodeId, destination: NodeId) -> &[PortId] {
        let Some(to) = &self.destinations[destination.index()] else { return &[] };
        if let Some((last, port)) = &to.last
            && *last == node
        {
            return std::slice::from_ref(port);
        }
        match self.row[node.index()] {
            NONE => self.only_port(node, to),
            row if self.is_relay[node.index()] => self.relay_port(node, destination, to, row),
            row => self.set(to, row),
        }
    }

    /// The port of a relay that leads to its neighbour, if that is the destination; else as its table says.
    fn relay_port(&self, relay: NodeId, destination: NodeId, to: &Destination, row: u32) -> &[PortId] {
        let leads = |port: &&PortId| self.node_of(self.far(**port)) == destination;
        self.ports[relay.index()].iter().find(leads).map_or_else(|| self.set(to, row), std::slice::from_ref)
    }

    /// The port of a host or switch at the far end of a port's link, whatever relays are between.
    #[inline]
    fn far(&self, port: PortId) -> PortId {
        self.far[port.index()]
    }

    #[inline]
    fn set(&self, to: &Destination, row: u32) -> &[PortId] {
        let set = self.next[to.table as usize * self.rows + row as usize];
        if set == NONE { &[] } else { &self.sets[set as usize] }
    }

    /// The port of a host with a single link, if its switch leads on.
    fn only_port(&self, host: NodeId, to: &Destination) -> &[PortId] {
        let [port] = &self.ports[host.index()][..] else { return &[] };
        let switch = self.node_of(self.far(*port));
        let is_last = to.last.is_some_and(|(last, _)| last == switch);
        let leads = is_last || !self.set(to, self.row[switch.index()]).is_empty();
        if leads { std::slice::from_ref(port) } else { &[] }
    }

    /// The switch before a host of a single link, which all paths to it pass last; of another host itself.
    pub(crate) fn last_before(&self, host: NodeId) -> NodeId {
        let last = self.destinations[host.index()].and_then(|to| to.last);
        last.map_or(host, |(switch, _)| switch)
    }

    /// All nodes.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> {
        (0..narrow::<u32>(self.ports.len())).map(NodeId)
    }

    /// How many entries its tables have.
    pub fn entries(&self) -> usize {
        self.next.len()
    }

    /// The node at which `port` is.
    #[inline]
    pub fn node_of(&self, port: PortId) -> NodeId {
        self.node_of[port.index()]
    }

    /// The ports of a node.
    #[inline]
    pub fn ports_of(&self, node: NodeId) -> &[PortId] {
        &self.ports[node.index()]
    }

    /// Is the node at the ends of several links?
    pub fn has_several_links(&self, node: NodeId) -> bool {
        self.ports[node.index()].len() > 1
    }

    /// Is it a host?
    #[inline]
    pub fn is_host(&self, node: NodeId) -> bool {
        self.is_host[node.index()]
    }

    /// The path from `port` on.
    fn hop(&self, port: PortId) -> Hop {
        let far = self.far(port);
        let neighbour = self.node_of(far);
        Hop { port, far, neighbour, row: self.row[neighbour.index()], relayed: far != peer(port) }
    }

    fn fill(&mut self) {
        let mut interned = FxHashMap::default();
        let mut search = Search::new(self);
        let mut tables: FxHashMap<NodeId, u32> = FxHashMap::default();
        for host in 0..self.ports.len() {
            if !self.is_host[host] {
                continue;
            }
            let root = self.edge(host).unwrap_or(NodeId(narrow(host)));
            let last = (root.index() != host).then(|| (root, self.far(self.ports[host][0])));
            let tables_so_far = narrow::<u32>(tables.len());
            let table = *tables.entry(root).or_insert(tables_so_far);
            if table == tables_so_far {
                self.search(root, &mut search, |_| true);
                self.tables += 1;
                for ports in search.sets() {
                    let set = if ports.is_empty() { NONE } else { self.intern(ports, &mut interned) };
                    self.next.push(set);
                }
            }
            self.destinations[host] = Some(Destination { table, root, last });
        }
    }

    /// Finds of each row the ports one hop nearer to `root`, over those that are up.
    fn search(&self, root: NodeId, search: &mut Search, is_up: impl Fn(PortId) -> bool) {
        search.reset();
        search.distance[root.index()] = 0;
        search.visit.push_back(root);
        while let Some(node) = search.visit.pop_front() {
            if self.is_host(node) && node != root {
                continue;
            }
            let one_more = search.distance[node.index()] + 1;
            for hop in search.from[node.index()]..search.from[node.index() + 1] {
                let Hop { port, far, neighbour, row, relayed } = search.hops[hop as usize];
                if !is_up(port) {
                    continue;
                }
                if row == NONE {
                    self.toward_over_relays(port, search);
                    continue;
                }
                let distance = &mut search.distance[neighbour.index()];
                if *distance == NONE {
                    *distance = one_more;
                    search.visit.push_back(neighbour);
                }
                if *distance == one_more {
                    search.lead(row, far);
                    if relayed {
                        self.toward_over_relays(port, search);
                    }
                }
            }
        }
    }

    /// The relays on the link from `port`, if there are any, lead back to it.
    fn toward_over_relays(&self, port: PortId, search: &mut Search) {
        let (mut back, far) = (peer(port), self.far(port));
        while back != far {
            let relay = self.node_of(back);
            search.lead(self.row[relay.index()], back);
            let Some(&on) = self.ports[relay.index()].iter().find(|&&other| other != back) else { return };
            back = peer(on);
        }
    }

    /// The index of the set of the next row.
    fn intern(&mut self, ports: &[PortId], interned: &mut FxHashMap<Box<[PortId]>, u32>) -> u32 {
        // Destinations that are near each other have most sets in common.
        let before = self.next.len().checked_sub(self.rows).map(|at| self.next[at]);
        if let Some(set) = before
            && set != NONE
            && *self.sets[set as usize] == *ports
        {
            return set;
        }
        if let Some(&set) = interned.get(ports) {
            return set;
        }
        let set = narrow::<u32>(self.sets.len());
        self.sets.push(ports.into());
        interned.insert(ports.into(), set);
        set
    }
}

/// A path from a node to a neighbour.
#[derive(Clone, Copy, Debug)]
struct Hop {
    port: PortId,
    /// The neighbour's port.
    far: PortId,
    neighbour: NodeId,
    /// The neighbour's row.
    row: u32,
    /// Are relays between?
    relayed: bool,
}

/// Scratch space of searches, and the network as they go through it.
#[derive(Debug)]
struct Search {
    /// Of all nodes, in order: hops that may matter to a table. One to a host without a row does so over
    /// relays alone.
    hops: Vec<Hop>,
    /// By node: its first hop; and how many hops there are.
    from: Vec<u32>,
    /// By node: hops to the root.
    distance: Vec<u32>,
    /// By row: room for its ports in `toward`, and how many are there.
    rooms: Vec<Room>,
    /// Ports one hop nearer.
    toward: Vec<PortId>,
    visit: VecDeque<NodeId>,
}

#[derive(Clone, Copy, Debug)]
struct Room {
    begin: u32,
    ports: u32,
}

impl Search {
    fn new(routes: &Routes) -> Self {
        let mut search = Search {
            hops: Vec::with_capacity(routes.far.len()),
            from: Vec::with_capacity(routes.ports.len() + 1),
            distance: vec![NONE; routes.ports.len()],
            rooms: Vec::with_capacity(routes.rows),
            toward: Vec::new(),
            visit: VecDeque::new(),
        };
        let mut room = 0;
        for (node, ports) in routes.ports.iter().enumerate() {
            search.from.push(narrow(search.hops.len()));
            search.hops.extend(ports.iter().map(|&port| routes.hop(port)).filter(Hop::matters));
            if routes.row[node] != NONE {
                search.rooms.push(Room { begin: room, ports: 0 });
                room += narrow::<u32>(ports.len());
            }
        }
        search.from.push(narrow(search.hops.len()));
        search.toward.resize(room as usize, PortId(NONE));
        search
    }

    fn reset(&mut self) {
        self.distance.fill(NONE);
        self.rooms.iter_mut().for_each(|room| room.ports = 0);
    }

    /// A port of a row's node leads to the root.
    fn lead(&mut self, row: u32, port: PortId) {
        let room = &mut self.rooms[row as usize];
        debug_assert!(!room.of(&self.toward).contains(&port), "a node has room for each of its ports once");
        self.toward[(room.begin + room.ports) as usize] = port;
        room.ports += 1;
    }

    /// By row: ports one hop nearer to the root.
    fn sets(&self) -> impl Iterator<Item = &[PortId]> {
        self.rooms.iter().map(|room| room.of(&self.toward))
    }
}

impl Room {
    /// Its part of all ports.
    fn of(self, toward: &[PortId]) -> &[PortId] {
        &toward[self.begin as usize..][..self.ports as usize]
    }
}

impl Hop {
    fn matters(&self) -> bool {
        self.row != NONE || self.relayed
    }
}

/// The port of the next host or switch beyond `port`, whatever relays are on the way.
fn far(blueprint: &Blueprint, node_of: &[NodeId], port: PortId) -> PortId {
    let mut far = peer(port);
    // A ring of nothing but relays has no end.
    for _ in &blueprint.nodes {
        let Some(relay) = blueprint.nodes[node_of[far.index()].index()].role.relay() else { break };
        far = peer(relay.other(far));
    }
    far
}

/// The other end of a port's link.
#[inline]
pub fn peer(port: PortId) -> PortId {
    PortId(port.0 ^ 1)
}
