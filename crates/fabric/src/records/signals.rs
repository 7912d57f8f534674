//! The log of congestion feedback: what congestion points mark, the CNPs that they make, the notices (CNs) that they send to
//! neighbours, and the states that they say their queues are in.

use floodway_mechanisms::registry::AnyCongestionPoint;
use floodway_mechanisms::slots::{CongestionPoint as _, Mark, Notice, RegionNotice};
use floodway_units::{Bytes, Class, NodeId, Time};

use crate::link::arena::Place;
use crate::network::layout::Local;
use crate::network::ways::{FlowName, FlowNames};
use crate::records::log::{Log, Logged};
use crate::records::table::{NONE, Table, Values};
use crate::run::at_node::AtNode;
use crate::run::world::World;

/// Feedback in the order in which it was given, up to a number of rows.
#[derive(Debug)]
pub(crate) struct SignalLog {
    log: Log<Row>,
    /// By egress (port, class): the state that was told last.
    states: Vec<&'static str>,
}

/// Something that a congestion point has said.
#[derive(Clone, Copy, Debug)]
struct Row {
    time: u64,
    /// The egress (port, class).
    lane: u32,
    what: What,
}

/// What it has said.
#[derive(Clone, Copy, Debug)]
enum What {
    /// The queue starts the run in this state.
    Start(&'static str),
    State(&'static str),
    Mark(Mark, FlowName),
    /// A CNP, with the window that it carries.
    Cnp(FlowName, Option<Bytes>),
    Cn(Cn),
}

/// A notice to a neighbour upstream.
#[derive(Clone, Copy, Debug)]
struct Cn {
    to: NodeId,
    degree: u8,
    /// How many it names.
    flows: u8,
}

/// Names of events, as the table shows them.
const EVENTS: [&str; 5] = ["state", "mark-ue", "mark-ce", "cnp", "cn"];

impl What {
    /// Place of the event's name.
    fn code(self) -> u32 {
        match self {
            What::Start(_) | What::State(_) => 0,
            What::Mark(Mark::None | Mark::Ue, _) => 1,
            What::Mark(Mark::Ce, _) => 2,
            What::Cnp(..) => 3,
            What::Cn(_) => 4,
        }
    }

    fn state(self) -> Option<&'static str> {
        match self {
            What::Start(state) | What::State(state) => Some(state),
            What::Mark(..) | What::Cnp(..) | What::Cn(_) => None,
        }
    }

    fn flow(self) -> Option<FlowName> {
        match self {
            What::Mark(_, flow) | What::Cnp(flow, _) => Some(flow),
            What::Start(_) | What::State(_) | What::Cn(_) => None,
        }
    }

    fn window(self) -> Option<Bytes> {
        match self {
            What::Cnp(_, window) => window,
            What::Start(_) | What::State(_) | What::Mark(..) | What::Cn(_) => None,
        }
    }

    fn cn(self) -> Option<Cn> {
        if let What::Cn(cn) = self { Some(cn) } else { None }
    }
}

impl Logged for Row {
    /// No event brings the first states; they come first.
    type Place = (bool, u32);

    fn time(&self) -> u64 {
        self.time
    }

    fn place(&self) -> (bool, u32) {
        (!matches!(self.what, What::Start(_)), self.lane)
    }
}

impl SignalLog {
    /// Keeps at most this many rows, of so many egress lanes.
    pub fn new(most: usize, lanes: usize) -> Self {
        SignalLog { log: Log::new(most), states: vec![""; lanes] }
    }

    pub fn absorb(&mut self, other: SignalLog) {
        self.log.absorb(other.log);
    }

    pub fn close(&mut self) {
        self.log.close();
    }

    pub fn totals(&self) -> crate::records::outcome::RowTotals {
        self.log.totals()
    }

    fn say(&mut self, time: u64, lane: usize, what: What) {
        self.log.push(Row { time, lane: lane as u32, what });
    }
}

/// The state that the machines of a port say that a queue is in: the first of them that has states.
fn state_of(points: &[AnyCongestionPoint], now: Time, class: Class) -> &'static str {
    points.iter().map(|point| point.state(now, class)).find(|state| !state.is_empty()).unwrap_or_default()
}

impl AtNode<'_, '_> {
    /// Writes down what states the machines of `port` have changed; they have just been called.
    pub fn note_states(&mut self, port: Local) {
        // Machines at a host's end hear of pauses, but of no packets.
        if self.run.kept.signals.is_some() && !self.node.ports[port.index()].at_host {
            self.tell_states(port, What::State);
        }
    }

    /// Likewise, of all ports.
    pub fn note_all_states(&mut self) {
        for port in self.node.locals() {
            self.note_states(port);
        }
    }

    #[inline(never)]
    fn tell_states(&mut self, port: Local, what: fn(&'static str) -> What) {
        let (now, classes) = (self.time(), self.facts.layout.classes.len());
        let Some(log) = &mut self.run.kept.signals else { return };
        let points = &self.node.machines[port.index()].congestion_points;
        for class in 1..classes {
            let lane = self.node.egress[self.facts.layout.lane(port, class as u8)].id as usize;
            let state = state_of(points, now, self.facts.layout.classes[class]);
            if state != std::mem::replace(&mut log.states[lane], state) {
                log.say(now.0, lane, what(state));
            }
        }
    }

    /// Writes down that the egress `lane` has marked a packet.
    pub fn note_mark(&mut self, lane: usize, place: Place, mark: Mark) {
        if let Some(log) = &mut self.run.kept.signals {
            let flow = self.run.pairs.ways[self.run.packets[place].flow.index()].name();
            log.say(self.now, self.node.egress[lane].id as usize, What::Mark(mark, flow));
        }
    }

    /// Counts a CNP that a machine of `port` has made, and writes it down.
    pub fn note_cnp(&mut self, port: Local, notice: &Notice) {
        let way = &self.run.pairs.ways[notice.flow.index()];
        let lane = self.facts.layout.lane(port, way.class);
        let name = way.name();
        self.node.egress[lane].rare.cnps += 1;
        if let Some(log) = &mut self.run.kept.signals {
            log.say(self.now, self.node.egress[lane].id as usize, What::Cnp(name, notice.window));
        }
    }

    /// Counts a notice of a machine of `port` that goes out of `ingress`, and writes it down.
    pub fn note_cn(&mut self, port: Local, ingress: Local, notice: &RegionNotice) {
        let class = self.facts.layout.dense(notice.class);
        if class == u8::MAX {
            // No queue is of it.
            return;
        }
        let lane = self.facts.layout.lane(port, class);
        self.node.egress[lane].rare.cns += 1;
        let to = self.node.ports[ingress.index()].far;
        if let Some(log) = &mut self.run.kept.signals {
            log.say(
                self.now,
                self.node.egress[lane].id as usize,
                What::Cn(Cn { to, degree: notice.degree, flows: notice.count }),
            );
        }
    }
}

impl World<'_> {
    /// Writes down the states that the queues of the ports here start in.
    pub fn start_signals(&mut self) {
        if self.run.kept.signals.is_none() {
            return;
        }
        for port in self.port_ids() {
            let state = self.port(port);
            if state.has_cp && !state.at_host && self.run.border.owns(self.facts.node_of(port)) {
                let (mut at, port) = self.at_port(port);
                at.tell_states(port, What::Start);
            }
        }
    }

    /// One row for each mark, CNP, CN and change of state; none where they are not kept.
    pub fn signal_table(&self) -> Option<Table> {
        let rows = self.run.kept.signals.as_ref()?.log.rows();
        let classes = self.facts.layout.classes.len();
        let port_of = |row: &Row| row.lane as usize / classes;
        let numbers = self.port_numbers();
        let codes = |of: &dyn Fn(&Row) -> u32| rows.iter().map(of).collect();
        let (mut flows, mut states) = (FlowNames::default(), Vec::new());
        let flow_codes =
            rows.iter().map(|row| row.what.flow().map_or(NONE, |name| flows.code(&self.facts, name)));
        let flow_codes = flow_codes.collect();
        let state_codes = rows.iter().map(|row| row.what.state().map_or(NONE, |of| place(&mut states, of)));
        let state_codes = state_codes.collect();
        let class = |row: &Row| u64::from(self.facts.layout.classes[row.lane as usize % classes].0);
        let window = |row: &Row| row.what.window().map_or(f64::NAN, |window| window.0 as f64);
        let of_cn = |of: fn(Cn) -> u8| -> Values {
            let number = |row: &Row| row.what.cn().map_or(f64::NAN, |cn| f64::from(of(cn)));
            Values::F64(rows.iter().map(number).collect())
        };
        Some(Table::new(vec![
            ("time_ns", Values::F64(rows.iter().map(|row| row.time as f64 / 1e3).collect())),
            (
                "node",
                Values::Text {
                    codes: codes(&|row| self.facts.ports[port_of(row)].node.0),
                    dictionary: self.names(),
                },
            ),
            ("port", Values::U64(rows.iter().map(|row| numbers[port_of(row)]).collect())),
            (
                "link",
                Values::Text {
                    codes: codes(&|row| (port_of(row) / 2) as u32),
                    dictionary: self.link_names(),
                },
            ),
            ("class", Values::U64(rows.iter().map(class).collect())),
            (
                "event",
                Values::Text {
                    codes: codes(&|row| row.what.code()),
                    dictionary: EVENTS.map(String::from).into(),
                },
            ),
            ("state", Values::Text { codes: state_codes, dictionary: states }),
            ("flow_id", Values::Text { codes: flow_codes, dictionary: flows.words }),
            ("window_bytes", Values::F64(rows.iter().map(window).collect())),
            (
                "neighbour",
                Values::Text {
                    codes: codes(&|row| row.what.cn().map_or(NONE, |cn| cn.to.0)),
                    dictionary: self.names(),
                },
            ),
            ("degree", of_cn(|cn| cn.degree)),
            ("flows", of_cn(|cn| cn.flows)),
        ]))
    }
}

/// The place of a word among others, to which it is added if it is new; they are few.
fn place(words: &mut Vec<String>, word: &str) -> u32 {
    let at = words.iter().position(|known| known == word).unwrap_or_else(|| {
        words.push(word.to_owned());
        words.len() - 1
    });
    at as u32
}
