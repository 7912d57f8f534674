//! Congestion points that sort the packets of a class into more than two queues.

use crate::support::{Net, fct_ps, run_on_one_thread_and_two};
use floodway_fabric::Records;
use floodway_mechanisms::is_discipline;
use floodway_mechanisms::registry::{CongestionPointParams, Custom};
use floodway_mechanisms::slots::{
    CongestionPoint, CpAction, Cx, Detection, Discipline, Gate, PacketView, ParamError, PortEvent, PortInfo,
    Queueing,
};
use floodway_units::{Bytes, Class, QueueId, Rate, Span, Time};
use floodway_wire::Format;
use serde::Serialize;

const QUEUES: u8 = 5;
const OPENS: Time = Time(100_000_000);

/// Each input has a queue of its own, by the number of its link.
#[derive(Clone, Debug, Serialize)]
struct Params {
    /// The queue that may not send before `OPENS`.
    shut: Option<u8>,
    /// When the order of the queues turns round.
    turns: Option<Time>,
}

const PLAIN: Params = Params { shut: None, turns: None };

impl Detection for Params {
    type Cp = Cp;

    fn build(&self, _port: &PortInfo) -> Result<Cp, ParamError> {
        Ok(Cp {
            params: self.clone(),
            next: self.turns.or(self.shut.map(|_| OPENS)),
            turned: false,
            asked: false,
        })
    }
}

struct Cp {
    params: Params,
    next: Option<Time>,
    turned: bool,
    /// It waits for the event that packets have been sorted again.
    asked: bool,
}

impl CongestionPoint for Cp {
    is_discipline!();

    fn on_event(&mut self, _cx: &mut Cx<'_, CpAction>, event: PortEvent<'_>) {
        if let PortEvent::Resorted { queues, .. } = event {
            assert_eq!(queues.len(), usize::from(QUEUES));
            assert!(queues[0] > Bytes::ZERO, "what waited last goes first");
            self.asked = false;
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        self.next
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_, CpAction>) {
        self.next = None;
        if self.params.turns.is_some() {
            self.turned = true;
            self.asked = true;
            cx.push(CpAction::Resort(Class::DATA));
        }
    }
}

impl Discipline for Cp {
    fn queueing(&self) -> Queueing {
        Queueing::Flows { queues: QUEUES, inputs: false }
    }

    fn classify(&mut self, _now: Time, p: &PacketView) -> u8 {
        // The first link is the one that all leave by.
        let own = (p.ingress.index() / 2 - 1) as u8;
        if self.turned { QUEUES - 1 - own } else { own }
    }

    fn gate(&self, now: Time, q: QueueId) -> Gate {
        if Some(q.sub) == self.params.shut && now < OPENS { Gate::Closed } else { Gate::Open }
    }
}

impl Drop for Cp {
    fn drop(&mut self) {
        assert!(!self.asked || std::thread::panicking(), "it has heard that packets were sorted anew");
    }
}

/// Five hosts send 100 KB each to a sixth at once, through the queues of `point`.
fn net(point: Params, buffer: Option<&str>) -> Net {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(1));
    let (s, to) = (net.switch("s"), net.host("to"));
    if let Some(buffer) = buffer {
        net.buffer(s, buffer);
    }
    let pfc = r#"{"pfc": {"xoff": "150KB"}}"#;
    let last = net.link(s, to, Rate::gbps(100), Span::us(1), pfc);
    let custom = CongestionPointParams::Custom(Custom { name: "sorted", params: Box::new(point) });
    net.blueprint.links[last].ends[0].congestion_points.push(custom);
    for number in 0..u64::from(QUEUES) {
        let from = net.host(&format!("h{number}"));
        net.link(from, s, Rate::gbps(100), Span::us(1), pfc);
        net.flow(from, to, Bytes::kb(100), Span::ns(number));
    }
    net
}

/// Flows in the order in which they were complete.
fn order(records: &Records) -> Vec<usize> {
    let ends = fct_ps(records);
    let mut flows: Vec<usize> = (0..ends.len()).collect();
    flows.sort_by_key(|&flow| ends[flow].expect("all are complete"));
    flows
}

const CROSSBAR: &str = r#"{"ioq": {"voq": "400KB", "output": "20KB"}}"#;

#[test]
fn queues_of_a_class_are_served_in_their_order() {
    for buffer in [None, Some(CROSSBAR)] {
        assert_eq!(order(&run_on_one_thread_and_two(&net(PLAIN, buffer))), [0, 1, 2, 3, 4], "{buffer:?}");
    }
}

#[test]
fn a_queue_that_is_held_back_holds_no_other_one_back() {
    let records = run_on_one_thread_and_two(&net(Params { shut: Some(1), ..PLAIN }, None));
    assert_eq!(order(&records), [0, 2, 3, 4, 1]);
    let ends = fct_ps(&records);
    // Four flows of 100 KB take 32 us and what headers add; the fifth waits for its gate.
    assert!(ends[4] < Some(OPENS.0 / 2) && ends[1] > Some(OPENS.0));
}

#[test]
fn packets_that_wait_are_sorted_again_into_all_queues() {
    let turned = Params { turns: Some(Time::ZERO + Span::us(12)), ..PLAIN };
    // The first is complete by then.
    assert_eq!(order(&run_on_one_thread_and_two(&net(turned.clone(), None))), [0, 4, 3, 2, 1]);
    // Inputs of a crossbar take turns, whatever the order of the queues behind it: nothing is said of theirs.
    run_on_one_thread_and_two(&net(turned, Some(CROSSBAR)));
}
