//! The log of congestion feedback: what congestion points mark, the CNPs that they make, the congestion
//! notifications (CNs) that they send to neighbours, and the states that they say their queues are in.

mod table;

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_blueprint::network::path::FlowName;
use floodway_mechanisms::slots::Mark;
use floodway_units::cast::narrow;
use floodway_units::{Bytes, NodeId};

use crate::log::{Log, Logged};

/// Feedback in the order in which it was given, up to a number of rows.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct SignalLog {
    log: Log<Row>,
    /// What its rows call states, each once; they are few.
    states: Vec<String>,
}

/// A signal of a congestion point.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct Row {
    time: u64,
    /// The egress (port, class).
    port_class: u32,
    what: What,
    /// In a step of the whole network.
    in_step: bool,
}

/// The kind of signal, with its values.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub enum What {
    /// The queue starts the run in this state, by its place in the log's list.
    Start(u16),
    /// The queue comes into this state.
    State(u16),
    /// A packet of this flow is marked.
    Mark(Mark, FlowName),
    /// A CNP, with the window that it carries.
    Cnp(FlowName, Option<Bytes>),
    /// A congestion notification.
    Cn(Cn),
}

/// A congestion notification to a neighbour upstream.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct Cn {
    /// The neighbour.
    pub to: NodeId,
    /// How congested the queue is.
    pub degree: u8,
    /// How many it names.
    pub flows: u8,
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

    /// A state, by its place in the log's list.
    fn state(self) -> Option<u16> {
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
    /// No event brings the first states; they come first. Steps come last of their instant.
    type TieKey = (bool, u32, bool);

    fn time(&self) -> u64 {
        self.time
    }

    fn tie_key(&self) -> (bool, u32, bool) {
        (!matches!(self.what, What::Start(_)), self.port_class, self.in_step)
    }
}

impl SignalLog {
    /// Keeps at most this many rows.
    pub fn new(most: usize) -> Self {
        SignalLog { log: Log::new(most), states: Vec::new() }
    }

    /// Takes all rows out.
    pub fn take(&mut self) -> Self {
        SignalLog { log: self.log.take(), states: self.states.clone() }
    }

    /// Moves its rows.
    pub(crate) fn move_by(&mut self, later: u64) {
        self.log.move_by(later, |row| row.time += later);
    }

    /// Adds the rows of another thread.
    pub fn absorb(&mut self, mut other: SignalLog) {
        let codes: Vec<u16> = other.states.iter().map(|state| self.code(state)).collect();
        for row in other.log.rows_mut() {
            if let What::Start(state) | What::State(state) = &mut row.what {
                *state = codes[usize::from(*state)];
            }
        }
        self.log.absorb(other.log);
    }

    /// The place of a state in the log's list.
    pub fn code(&mut self, state: &str) -> u16 {
        narrow(place(&mut self.states, state))
    }

    /// Puts the rows in order, and drops those beyond the most that are kept.
    pub fn close(&mut self) {
        self.log.close();
    }

    /// How much of the table there is.
    pub fn totals(&self) -> crate::outcome::RowTotals {
        self.log.totals()
    }

    /// A signal of the egress `port_class` at this time, in a step of the whole network or not.
    pub fn push_row(&mut self, (time, in_step): (u64, bool), port_class: usize, what: What) {
        self.log.push(Row { time, port_class: narrow(port_class), what, in_step });
    }
}

/// The index of a word among others, to which it is added if it is new; they are few.
fn place(words: &mut Vec<String>, word: &str) -> u32 {
    let at = words.iter().position(|known| known == word).unwrap_or_else(|| {
        words.push(word.to_owned());
        words.len() - 1
    });
    narrow::<u32>(at)
}
