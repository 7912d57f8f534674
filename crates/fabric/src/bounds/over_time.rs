//! Ideals in a network that changes: links that go down and come up, delays that change.
//!
//! The ideal of a flow is the least over the paths that there are for it at some instant from its start to
//! its finish, or to the end of the run: those that the routes in force then offer, over links that are up
//! and whose ends know it, with their delays at that instant. Changes before its start or after its finish do
//! not matter, nor do changes where it has no path.
//!
//! While these paths stay what they are no flow is faster. Where they change, packets on old paths and on new
//! ones are in the network together; they do not wait for one another, and may be faster than all of them on
//! any one path. Such a flow's ideal is the time that it took, and it is checked against a bound for any path
//! of its packets (`fct_lower_bound`).
//!
//! All flows are gone through at the end of the run, in the order of time, along with the changes.
//!
//! The paths of each pair of hosts that has an active flow are computed again when one of their links
//! changes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::Arc;

use floodway_blueprint::bounds::ideal::changed::{Changed, DEAD, SHUT, UNROUTED};
use floodway_blueprint::bounds::ideal::{Ideals, Packets, PathFacts, Paths};
use floodway_blueprint::network::blueprint::{Arrivals, Sharing};
use floodway_blueprint::network::changes::{Change, LinkChange, of_network};
use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::routing::ChangingRoutes;
use floodway_blueprint::traffic::numbers::Label;
use floodway_records::tally::{FlowKey, FlowRow, Records};
use floodway_units::{Bytes, NodeId, PortId, Span};
use rustc_hash::FxHashMap;

use crate::run::events::NEVER;

/// A flow, and from when to when it is sent.
struct Asked<'a> {
    ends: (NodeId, NodeId),
    packets: Packets,
    /// Its own egress ports.
    pinned: Option<&'a [PortId]>,
    /// Its queue pair may be older, and stay on one of several NICs even if another is nearer now.
    stays: bool,
    from: u64,
    to: u64,
}

/// What is known of a flow's ideal.
#[derive(Clone, Copy, Debug)]
struct Ideal {
    /// Over one path; never where there was none.
    least: u64,
    /// Its paths have changed while it was sent.
    changed: bool,
    /// Its packets may have been spread over unlike paths, which together may beat each.
    spread: bool,
}

type Pinned<'a> = FxHashMap<(u32, u32, u64), &'a [PortId]>;

/// The ideals of flows in the table of flows, at the end of a run.
pub(crate) struct FlowIdeals<'w, 'a> {
    pub facts: &'w Facts<'a>,
    /// By workload: what each flow of its list is numbered.
    pub labels: &'w [Vec<Label>],
    pub now: u64,
}

impl FlowIdeals<'_, '_> {
    /// Computes those that were not known when the flows started: of all flows where the network changes, and
    /// of packets that are spread over unlike paths, which may beat each path alone.
    pub fn complete(&self, records: &mut Records) {
        let sprays = || self.facts.spreads || self.facts.path_facts().sprays();
        let ideals = match self.facts.changes {
            true => self.changed(records),
            false if sprays() => self.sprayed(records),
            false => return,
        };
        for (row, ideal) in records.sent_rows.iter_mut().zip(ideals) {
            row.ideal = ideal;
        }
    }

    fn changed(&self, records: &Records) -> Vec<u64> {
        let pinned = self.pinned();
        let of = |(sent, received): FlowRow<'_>| {
            let to = received.finish.min(self.now);
            self.asked((sent.key, NodeId(sent.destination)), sent.size, to, &pinned)
        };
        let asked: Vec<Asked<'_>> = records.rows().map(of).collect();
        let least = Sweep::new(self.facts, self.now, &asked).run();
        let flows = records.rows().zip(asked.iter().zip(least));
        let ideal = |(row, (asked, ideal)): (FlowRow<'_>, (&Asked<'_>, Ideal))| {
            self.final_ideal(asked, ideal, took(row))
        };
        flows.map(ideal).collect()
    }

    fn sprayed(&self, records: &Records) -> Vec<u64> {
        let pinned = self.pinned();
        let of = |(sent, received): FlowRow<'_>| {
            let asked = self.asked((sent.key, NodeId(sent.destination)), sent.size, received.finish, &pinned);
            let ideal = Ideal { least: sent.ideal, changed: false, spread: asked.pinned.is_none() };
            self.final_ideal(&asked, ideal, took((sent, received)))
        };
        records.rows().map(of).collect()
    }

    /// The ideal of one flow that took so long, where the network changes.
    pub fn of_flow(&self, key: FlowKey, destination: NodeId, size: u64, took: u64) -> Span {
        let pinned = self.pinned();
        let asked = [self.asked((key, destination), size, key.start + took, &pinned)];
        let ideals = Sweep::new(self.facts, self.now, &asked).run();
        Span(self.final_ideal(&asked[0], ideals[0], Some(took)))
    }

    /// The paths of flows that name theirs.
    fn pinned(&self) -> Pinned<'_> {
        let mut pinned = FxHashMap::default();
        for (workload, (spec, labels)) in (0..).zip(self.facts.blueprint.workloads.iter().zip(self.labels)) {
            let Arrivals::List(flows) = &spec.arrivals else { continue };
            for (flow, label) in flows.iter().zip(labels) {
                if let Some(path) = &flow.path {
                    pinned.insert((workload, flow.source.0, label.number), path.as_slice());
                }
            }
        }
        pinned
    }

    fn asked<'p>(
        &self,
        (key, destination): (FlowKey, NodeId),
        size: u64,
        to: u64,
        pinned: &Pinned<'p>,
    ) -> Asked<'p> {
        let FlowKey { start, workload, source, number } = key;
        let blueprint = self.facts.blueprint;
        let payload = blueprint.payload_of(blueprint.workloads[workload as usize].settings);
        Asked {
            ends: (NodeId(source), destination),
            packets: Packets::new(Bytes(size), payload, self.facts.format),
            pinned: pinned.get(&(workload, source, number)).copied(),
            stays: self.facts.routes.has_several_links(NodeId(source)) && self.shares_queue_pairs(workload),
            from: start,
            to,
        }
    }

    /// May flows of a workload go on on queue pairs that are open?
    fn shares_queue_pairs(&self, workload: u32) -> bool {
        let arrivals = &self.facts.blueprint.workloads[workload as usize].arrivals;
        matches!(arrivals, Arrivals::ClosedLoop(_) | Arrivals::Program(_))
            || self.facts.blueprint.settings.iter().any(|settings| settings.qp == Sharing::PerPair)
    }

    /// The ideal in the table of flows for a flow that took so long, if it is complete.
    fn final_ideal(&self, asked: &Asked<'_>, ideal: Ideal, took: Option<u64>) -> u64 {
        let may_differ = ideal.changed || ideal.spread;
        let by_two_paths =
            |took: u64| may_differ && took >= self.facts.fct_lower_bound(asked.ends, &asked.packets);
        match took {
            Some(took) if took < ideal.least && by_two_paths(took) => took,
            _ => ideal.least,
        }
    }
}

/// How long a flow took, if it is complete.
fn took((_, received): FlowRow<'_>) -> Option<u64> {
    (received.finish != NEVER).then(|| received.finish - received.key.start)
}

/// Flows with the same ends, or with the same path of their own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Name<'a> {
    Ends(NodeId, NodeId),
    Path(&'a [PortId]),
}

/// Those of them that are under way.
struct Group<'a> {
    name: Name<'a>,
    /// Links that change at some time, on a path that there is while all are up.
    links: Vec<u32>,
    /// The paths differ from those, or there is none: any change may matter.
    detour: bool,
    paths: Arc<Paths<'a>>,
    /// By the state of the links.
    known: BTreeMap<Vec<u64>, Arc<Paths<'a>>>,
    open: Vec<usize>,
}

struct Sweep<'a> {
    facts: &'a Facts<'a>,
    now: u64,
    asked: &'a [Asked<'a>],
    ideals: Vec<Ideal>,
    /// Of a network of which nothing has changed.
    unchanged: Ideals,
    has_changed: bool,
    routes: ChangingRoutes,
    /// By link.
    state: Vec<u8>,
    /// By port, where it is another than at first.
    delays: FxHashMap<PortId, u64>,
    groups: Vec<Option<Group<'a>>>,
    group_of: FxHashMap<Name<'a>, usize>,
    free: Vec<usize>,
    /// Groups by link, some of them over; and those with a detour.
    over: FxHashMap<u32, Vec<usize>>,
    detours: Vec<usize>,
    finishes: BinaryHeap<Reverse<(u64, usize)>>,
}

impl<'a> Sweep<'a> {
    fn new(facts: &'a Facts<'a>, now: u64, asked: &'a [Asked<'a>]) -> Self {
        Sweep {
            facts,
            now,
            asked,
            ideals: vec![Ideal { least: NEVER, changed: false, spread: false }; asked.len()],
            unchanged: Ideals::default(),
            has_changed: false,
            routes: ChangingRoutes::new(Arc::clone(&facts.routes)),
            state: vec![0; facts.blueprint.links.len()],
            delays: FxHashMap::default(),
            groups: Vec::new(),
            group_of: FxHashMap::default(),
            free: Vec::new(),
            over: FxHashMap::default(),
            detours: Vec::new(),
            finishes: BinaryHeap::new(),
        }
    }

    fn run(mut self) -> Vec<Ideal> {
        let mut starts: Vec<usize> = (0..self.asked.len()).collect();
        starts.sort_by_key(|&flow| self.asked[flow].from);
        let mut starts = starts.into_iter().peekable();
        let changes = of_network(self.facts.blueprint);
        for instant in changes.chunk_by(|a, b| a.0 == b.0) {
            let now = instant[0].0;
            if now > self.now {
                break;
            }
            while let Some(flow) = starts.next_if(|&flow| self.asked[flow].from < now) {
                self.start(flow);
            }
            self.finish_before(now);
            let touched = self.change(instant);
            self.finish_before(now + 1);
            for group in touched {
                self.update(group);
            }
            while let Some(flow) = starts.next_if(|&flow| self.asked[flow].from == now) {
                self.start(flow);
                self.ideals[flow].changed |= self.is_touched(flow, instant);
            }
        }
        starts.for_each(|flow| self.start(flow));
        self.ideals
    }

    /// A flow is under way: its paths are those of now.
    fn start(&mut self, flow: usize) {
        let asked = &self.asked[flow];
        let name = asked.pinned.map_or(Name::Ends(asked.ends.0, asked.ends.1), Name::Path);
        let at = match self.group_of.get(&name) {
            Some(&at) => at,
            None => self.enter(name),
        };
        let Some(group) = &mut self.groups[at] else { return };
        group.open.push(flow);
        self.ideals[flow].changed |= asked.stays && self.has_changed;
        note(self.facts, &mut self.ideals[flow], &group.paths, &asked.packets);
        self.finishes.push(Reverse((asked.to, flow)));
    }

    fn enter(&mut self, name: Name<'a>) -> usize {
        let at = self.free.pop().unwrap_or(self.groups.len());
        if at == self.groups.len() {
            self.groups.push(None);
        }
        let links = self.changing_links(&name);
        for &link in &links {
            self.over.entry(link).or_default().push(at);
        }
        self.group_of.insert(name.clone(), at);
        let (known, open) = (BTreeMap::new(), Vec::new());
        self.groups[at] = Some(Group { name, links, detour: false, paths: Arc::default(), known, open });
        self.look(at);
        at
    }

    /// Links that change, on a path that there is while all are up.
    fn changing_links(&self, name: &Name<'_>) -> Vec<u32> {
        let mut links: Vec<u32> = match *name {
            Name::Path(path) => path.iter().map(|port| port.0 / 2).collect(),
            Name::Ends(from, to) => {
                let ports = self.facts.possible_ports(from, to, &[]);
                ports.into_iter().map(|port| port.0 / 2).collect()
            }
        };
        links.retain(|&link| self.facts.blueprint.links[link as usize].changes());
        links.sort_unstable();
        links.dedup();
        links
    }

    /// Flows that have finished before `now` are over, and groups that have no others.
    fn finish_before(&mut self, now: u64) {
        while let Some(&Reverse((at, flow))) = self.finishes.peek()
            && at < now
        {
            self.finishes.pop();
            let asked = &self.asked[flow];
            let name = asked.pinned.map_or(Name::Ends(asked.ends.0, asked.ends.1), Name::Path);
            let at = self.group_of[&name];
            let Some(group) = &mut self.groups[at] else { continue };
            group.open.retain(|&other| other != flow);
            if group.open.is_empty() {
                self.close(at);
            }
        }
    }

    fn close(&mut self, at: usize) {
        if let Some(group) = self.groups[at].take() {
            for link in &group.links {
                if let Some(over) = self.over.get_mut(link) {
                    over.retain(|&other| other != at);
                }
            }
            self.group_of.remove(&group.name);
        }
        self.detours.retain(|&other| other != at);
        self.free.push(at);
    }

    /// All changes of an instant; the groups to which they matter.
    fn change(&mut self, instant: &[(u64, Change)]) -> BTreeSet<usize> {
        let mut touched: BTreeSet<usize> = self.detours.iter().copied().collect();
        for (_, change) in instant {
            let link = self.apply(change);
            touched.extend(self.over.get(&link).into_iter().flatten());
        }
        for &group in &touched {
            let open = self.groups[group].iter().flat_map(|group| &group.open);
            open.for_each(|&flow| self.ideals[flow].changed = true);
        }
        touched
    }

    /// Does what changes at this instant matter to a flow that has started?
    fn is_touched(&self, flow: usize, instant: &[(u64, Change)]) -> bool {
        let asked = &self.asked[flow];
        let name = asked.pinned.map_or(Name::Ends(asked.ends.0, asked.ends.1), Name::Path);
        let Some(group) = &self.groups[self.group_of[&name]] else { return false };
        group.detour || instant.iter().any(|(_, change)| group.links.contains(&link_of(change)))
    }

    /// The link that changes.
    fn apply(&mut self, change: &Change) -> u32 {
        self.has_changed = true;
        match *change {
            Change::Link(LinkChange { link, down, wire, ends, routes, failover: _ }) => {
                let steps = [(wire, DEAD), (ends, SHUT), (routes, UNROUTED)];
                let bits =
                    steps.iter().filter(|(takes_place, _)| *takes_place).fold(0, |bits, (_, bit)| bits | bit);
                let state = &mut self.state[link as usize];
                *state = if down { *state | bits } else { *state & !bits };
                if routes {
                    self.routes.set(link, down);
                }
            }
            Change::Delay { port, delay } => {
                self.delays.insert(port, delay);
            }
        }
        link_of(change)
    }

    /// The paths of a group may be others, for all its flows.
    fn update(&mut self, at: usize) {
        if self.groups[at].is_none() {
            return;
        }
        self.look(at);
        let Some(group) = &self.groups[at] else { return };
        for &flow in &group.open {
            note(self.facts, &mut self.ideals[flow], &group.paths, &self.asked[flow].packets);
        }
    }

    /// Finds the paths of a group as they are now.
    fn look(&mut self, at: usize) {
        let Some(mut group) = self.groups[at].take() else { return };
        let matter = self.matter(&group.links);
        let was = group.detour;
        group.detour = false;
        group.paths = match group.known.get(&matter).cloned() {
            Some(paths) => paths,
            None => self.find(&mut group, matter),
        };
        if let (true, Name::Ends(from, to)) = (group.detour, &group.name) {
            group.paths = Arc::new(self.detour((*from, *to)));
        }
        match (was, group.detour) {
            (false, true) => self.detours.push(at),
            (true, false) => self.detours.retain(|&other| other != at),
            _ => {}
        }
        self.groups[at] = Some(group);
    }

    /// Finds the paths of a group for this state of its links.
    fn find(&mut self, group: &mut Group<'a>, matter: Vec<u64>) -> Arc<Paths<'a>> {
        let paths = Arc::new(self.usual(group, &matter));
        if paths.paths.is_empty() {
            group.detour = !matches!(group.name, Name::Path(_));
        } else {
            group.known.insert(matter, Arc::clone(&paths));
        }
        paths
    }

    /// The state of these links, and their delays.
    fn matter(&self, links: &[u32]) -> Vec<u64> {
        let delay = |port: u32| self.delays.get(&PortId(port)).copied();
        let of = |&link: &u32| {
            let delays = [2 * link, 2 * link + 1].map(|port| delay(port).unwrap_or(NEVER));
            [u64::from(self.state[link as usize]), delays[0], delays[1]]
        };
        links.iter().flat_map(of).collect()
    }

    /// The paths that there are while all links are up, but for those with a link that is not.
    fn usual(&mut self, group: &Group<'a>, matter: &[u64]) -> Paths<'a> {
        let ends = match group.name {
            Name::Path(path) => return Paths::one(self.path_facts(None).hops(path.iter().copied())),
            Name::Ends(from, to) => (from, to),
        };
        if matter.chunks(3).all(|of| of[0] == 0 && of[1..] == [NEVER; 2]) {
            let mut unchanged = std::mem::take(&mut self.unchanged);
            let paths = unchanged.paths(&self.facts.path_facts(), ends);
            self.unchanged = unchanged;
            return paths;
        }
        Ideals::default().paths(&self.path_facts(None), ends)
    }

    /// The paths that routes offer where those are all cut.
    fn detour(&mut self, ends: (NodeId, NodeId)) -> Paths<'a> {
        self.routes.refresh(ends.1);
        let facts = self.path_facts(Some(&self.routes));
        Ideals::default().paths(&facts, ends)
    }

    /// As the network is now, over the paths that there are while all links are up, or that `routes` offer.
    fn path_facts<'f>(&'f self, routes: Option<&'f ChangingRoutes>) -> PathFacts<'f, 'a> {
        let changed = Changed { state: &self.state, delays: &self.delays, routes };
        self.facts.path_facts_with(changed)
    }
}

fn link_of(change: &Change) -> u32 {
    match change {
        Change::Link(change) => change.link,
        Change::Delay { port, .. } => port.0 / 2,
    }
}

fn note(facts: &Facts<'_>, ideal: &mut Ideal, paths: &Paths<'_>, packets: &Packets) {
    if let Some(Span(time)) = paths.time(packets) {
        ideal.least = ideal.least.min(time);
        ideal.spread |= facts.spreads || paths.are_mixed();
    }
}
