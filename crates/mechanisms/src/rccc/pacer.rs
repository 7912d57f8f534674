//! The pacer of a receiving host: which connection gets credit, how much, and when.

use std::collections::VecDeque;

use floodway_units::{FlowId, Rate, Span, Time};

use super::{QUANTUM, pull};
use crate::slots::{Grant, Granter, HostInfo, OrAuto};
use crate::uet::Form;

/// Quanta of one turn at most: four payloads of 4096 B. Source: uec.cpp.
const MOST: u64 = 64;
/// Quanta whose time passes where a connection in turn asks for nothing. Source: uec.cpp.
const NOTHING: u64 = 4;

/// One per receiving host.
#[derive(Debug)]
pub(super) struct Pacer {
    /// The time of a quantum at 99 % of the link's rate.
    quantum: Span,
    /// Quanta that a connection may be granted unasked.
    beyond: u64,
    /// Connections that have asked, by place; the places of those that are closed are used again.
    connections: Vec<Connection>,
    active: VecDeque<usize>,
    idle: VecDeque<usize>,
    next: Option<Time>,
    form: Form,
}

/// What one connection has been granted.
#[derive(Clone, Copy, Debug)]
struct Connection {
    /// None once it is closed; its turns then pass without a grant.
    flow: Option<FlowId>,
    wants: u64,
    granted: u64,
    is_active: bool,
    /// How often it waits among those that do not ask.
    idle: u32,
}

impl Pacer {
    /// `base_rtt`: that of connections, if a scenario gives it.
    pub fn new(host: &HostInfo, form: Form, base_rtt: OrAuto<Span>) -> Self {
        let rtt = base_rtt.or_else(|| host.largest_rtt);
        Pacer {
            quantum: quantum_time(host.rate),
            beyond: form.first_window(host.rate, rtt).0 / QUANTUM.cast_unsigned(),
            connections: Vec::new(),
            active: VecDeque::new(),
            idle: VecDeque::new(),
            next: None,
            form,
        }
    }

    /// The place of a connection.
    fn place(&mut self, flow: FlowId) -> usize {
        let known = self.connections.iter().position(|connection| connection.flow == Some(flow));
        known.unwrap_or_else(|| {
            let opened = Connection { flow: Some(flow), wants: 0, granted: 0, is_active: false, idle: 0 };
            let free = self.connections.iter().position(Connection::is_free);
            let place = free.unwrap_or(self.connections.len());
            match self.connections.get_mut(place) {
                Some(closed) => *closed = opened,
                None => self.connections.push(opened),
            }
            place
        })
    }

    /// The connection that has its turn, and the quanta that it gets; none if none waits.
    fn turn(&mut self) -> Option<(usize, u64)> {
        if let Some(place) = self.active.pop_front() {
            let connection = &mut self.connections[place];
            let quanta = connection.wants.saturating_sub(connection.granted).min(MOST);
            connection.granted += quanta;
            if connection.wants > connection.granted {
                self.active.push_back(place);
            } else {
                connection.is_active = false;
                // uec.cpp: it waits once more each time.
                if connection.idle == 0 || self.form == Form::Htsim {
                    connection.idle += 1;
                    self.idle.push_back(place);
                }
            }
            return Some((place, quanta));
        }
        let place = self.idle.pop_front()?;
        let connection = &mut self.connections[place];
        connection.granted += MOST;
        if (connection.wants..connection.wants + self.beyond).contains(&connection.granted) {
            self.idle.push_back(place);
        } else {
            connection.idle -= 1;
        }
        Some((place, MOST))
    }
}

impl Connection {
    fn is_free(&self) -> bool {
        self.flow.is_none() && !self.is_active && self.idle == 0
    }
}

/// 256 bytes at 99 % of a rate, cut to whole picoseconds.
fn quantum_time(rate: Rate) -> Span {
    let bits = u128::from(8 * QUANTUM.cast_unsigned()) * 1_000_000_000_000 * 100;
    let time = bits / (99 * u128::from(rate.0.max(1)));
    Span(u64::try_from(time).unwrap_or(u64::MAX))
}

impl Granter for Pacer {
    fn on_request(&mut self, now: Time, flow: FlowId, number: u64, at_once: bool) {
        let place = self.place(flow);
        let connection = &mut self.connections[place];
        // uec.cpp: what asks for more than before has a turn, even if it was granted as much unasked.
        let asks = match self.form {
            Form::Spec => connection.wants.max(number) > connection.granted,
            Form::Htsim => number > connection.wants,
        };
        connection.wants = connection.wants.max(number);
        if !connection.is_active && (at_once || asks) {
            connection.is_active = true;
            self.active.push_back(place);
        }
        if self.next.is_none() && !self.active.is_empty() {
            self.next = Some(now);
        }
    }

    fn on_close(&mut self, flow: FlowId) {
        let closed = self.connections.iter_mut().find(|connection| connection.flow == Some(flow));
        if let Some(connection) = closed {
            connection.flow = None;
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        self.next
    }

    fn on_timeout(&mut self, now: Time) -> Option<Grant> {
        self.next = None;
        let (place, quanta) = self.turn()?;
        let passes = if quanta == 0 { NOTHING } else { quanta };
        self.next = Some(now + self.quantum * passes);
        let Connection { flow, granted, .. } = self.connections[place];
        flow.map(|flow| Grant { flow, message: pull(granted) })
    }
}
