//! Changes of a network at known times: links that go down and come up, delays of links.
//!
//! ```text
//!        link fails          its ends know         routes are recomputed
//!  ──────────┼─────────────────────┼──────────────────────────┼──────────►
//!            │      detection      │       convergence        │
//!            lost on the wire      lost at its port           other paths
//! ```
//! Hosts whose NIC it is give that up after a delay of their own, unless they know by then that the link is
//! up again. A link comes up in the same three steps: frames pass, its ends send, routes lead over it.
//!
//! Both delays may be 0, and it is one event then.

use floodway_units::{PortId, Span, Time};

use crate::NEVER;
use crate::network::blueprint::{Blueprint, LinkSpec};

/// A change of the network at a known time.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// Of a link.
    Link(LinkChange),
    /// What is sent by the port from now on takes so long, in picoseconds.
    Delay {
        /// It sends.
        port: PortId,
        /// In picoseconds.
        delay: u64,
    },
}

/// A link goes down or comes up.
#[derive(Clone, Copy, Debug)]
pub struct LinkChange {
    /// Its place in the blueprint.
    pub link: u32,
    /// It goes down; else it comes up.
    pub down: bool,
    /// Frames are lost on it, or pass, from now on.
    pub wire: bool,
    /// Its ends know from now on.
    pub ends: bool,
    /// Routes are recomputed.
    pub routes: bool,
    /// By end: its host gives the NIC up.
    pub failover: [bool; 2],
}

/// All changes of a link, with their times.
pub fn of_link(index: u32, link: &LinkSpec) -> Vec<(u64, Change)> {
    let periods = link.down.iter();
    let steps = periods.flat_map(|&(from, to)| [(from, true), (to, false)]);
    let steps = steps.flat_map(|(at, down)| steps_of(index, link, at, down));
    let steps = steps.chain(failovers(index, link));
    let delays = (0..2u32).flat_map(|end| {
        let port = PortId(2 * index + end);
        let of = link.directions[end as usize].switchovers.iter();
        of.map(move |&(Time(at), Span(delay))| (at, Change::Delay { port, delay }))
    });
    steps.chain(delays).filter(|&(at, _)| at != NEVER).collect()
}

/// All changes of a network in the order of time; those of an instant link by link.
pub fn of_network(blueprint: &Blueprint) -> Vec<(u64, Change)> {
    let mut changes: Vec<(u64, Change)> =
        (0..).zip(&blueprint.links).flat_map(|(index, link)| of_link(index, link)).collect();
    changes.sort_by_key(|&(at, _)| at);
    changes
}

/// The steps of one change, as many as there are instants.
fn steps_of(index: u32, link: &LinkSpec, at: Time, down: bool) -> impl Iterator<Item = (u64, Change)> {
    let after = |span: Span| at.0.saturating_add(span.0);
    let known = after(link.detection);
    let routed = known.saturating_add(link.convergence.0);
    let mut times = vec![at.0, known, routed];
    times.dedup();
    times.into_iter().map(move |time| {
        let (wire, ends, routes) = (time == at.0, time == known, time == routed);
        (time, Change::Link(LinkChange { link: index, down, wire, ends, routes, failover: [false; 2] }))
    })
}

/// When hosts at its ends give up their NICs.
fn failovers(index: u32, link: &LinkSpec) -> impl Iterator<Item = (u64, Change)> {
    let each = link.down.iter().flat_map(move |&(from, to)| {
        let ends = link.ends.each_ref().map(|end| end.failover).into_iter().enumerate();
        ends.filter_map(move |(end, failover)| {
            let up = to.0.saturating_add(link.detection.0);
            let at = from.0.saturating_add(link.detection.0).saturating_add(failover?.0);
            (at < up).then_some((end, at))
        })
    });
    each.map(move |(end, at)| {
        let failover = [end == 0, end == 1];
        let (wire, ends, routes) = (false, false, false);
        (at, Change::Link(LinkChange { link: index, down: true, wire, ends, routes, failover }))
    })
}
