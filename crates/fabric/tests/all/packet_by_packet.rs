//! Congestion points that sort each packet for itself, and choose the next queue of a class.

use std::collections::BTreeMap;

use crate::support::{Net, fct_ps, finished, run_on_one_thread_and_two, whole};
use floodway_fabric::{Control, Fabric, Records};
use floodway_mechanisms::is_discipline;
use floodway_mechanisms::registry::{CongestionPointParams, Custom};
use floodway_mechanisms::slots::{
    CongestionPoint, CpAction, Cx, Detection, Discipline, Mark, PacketView, ParamError, PortInfo, QueueView,
    Queueing, ReadyView, Turn,
};
use floodway_units::{Bytes, Rate, Span, Time};
use floodway_wire::Format;
use serde::Serialize;

const FLOWS: u8 = 4;

/// A flow's first packet waits in a queue that goes before the others, and the rest in a queue of the flow's
/// link.
#[derive(Clone, Copy, Debug, Serialize)]
struct Params {
    /// The queues of flows take turns; else they are served in their order.
    in_turn: bool,
}

impl Detection for Params {
    type Cp = Cp;

    fn build(&self, _port: &PortInfo) -> Result<Cp, ParamError> {
        Ok(Cp { in_turn: self.in_turn, waiting: BTreeMap::new(), last: 0 })
    }
}

struct Cp {
    in_turn: bool,
    /// Packets that wait, by flow.
    waiting: BTreeMap<u64, u32>,
    /// The queue served last.
    last: u8,
}

impl CongestionPoint for Cp {
    is_discipline!();

    fn on_enqueue(&mut self, _cx: &mut Cx<'_, CpAction>, p: &PacketView, _q: &QueueView) -> Mark {
        *self.waiting.entry(p.flow_hash).or_default() += 1;
        Mark::None
    }

    fn on_dequeue(&mut self, _cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        if q.sub > 0 {
            self.last = q.sub;
        }
        let waiting = self.waiting.get_mut(&p.flow_hash).expect("it has joined a queue");
        *waiting -= 1;
        if *waiting == 0 {
            self.waiting.remove(&p.flow_hash);
        }
        Mark::None
    }
}

impl Discipline for Cp {
    fn queueing(&self) -> Queueing {
        Queueing::Packets { queues: FLOWS + 1 }
    }

    fn classify(&mut self, _now: Time, p: &PacketView) -> u8 {
        let own = (p.ingress.index() / 2) as u8;
        if self.waiting.contains_key(&p.flow_hash) { own } else { 0 }
    }

    fn serve(&mut self, now: Time, ready: &[ReadyView]) -> Turn {
        if !self.in_turn {
            return Turn::Scheduler;
        }
        let open = || ready.iter().filter(|view| view.gate.is_open(now)).map(|view| view.queue.sub);
        let after = open().find(|sub| *sub == 0 || *sub > self.last);
        after.or_else(|| open().next()).map_or(Turn::Nothing, Turn::Queue)
    }
}

/// So many hosts send 100 KB each to another at once.
fn net(point: Params) -> Net {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(1)).reliability(r#""go-back-n""#);
    let (s, to) = (net.switch("s"), net.host("to"));
    let pfc = r#"{"pfc": {"xoff": "150KB"}}"#;
    let last = net.link(s, to, Rate::gbps(100), Span::us(1), pfc);
    let custom = CongestionPointParams::Custom(Custom { name: "sorted", params: Box::new(point) });
    net.blueprint.links[last].ends[0].congestion_points.push(custom);
    for number in 0..u64::from(FLOWS) {
        let from = net.host(&format!("h{number}"));
        net.link(from, s, Rate::gbps(100), Span::us(1), pfc);
        net.flow(from, to, Bytes::kb(100), Span::ns(number));
    }
    net
}

fn run(net: &Net) -> Records {
    let records = run_on_one_thread_and_two(net);
    assert!(finished(&records).iter().all(|&finished| finished));
    let repeated: u64 = whole(records.flows.column("retransmitted_bytes")).iter().sum();
    assert_eq!(repeated, 0, "a flow's packets arrive in their order");
    records
}

/// When the first and the last flow are complete.
fn ends(records: &Records) -> (u64, u64) {
    let ends: Vec<u64> = fct_ps(records).into_iter().flatten().collect();
    let first = ends.iter().min().expect("there are some");
    (*first, *ends.iter().max().expect("there are some"))
}

#[test]
fn queues_of_a_class_are_served_in_the_order_of_the_machine() {
    // Four flows of 100 KB take 35 us. In turn they end within two rounds of four packets, of 86 ns each,
    // since first packets go before; in their order the first one ends after a quarter of that.
    let (first, last) = ends(&run(&net(Params { in_turn: true })));
    assert!(last - first < 8 * 87_000, "{first} {last}");
    let (first, last) = ends(&run(&net(Params { in_turn: false })));
    assert!(last - first > 20_000_000, "{first} {last}");
}

#[test]
fn a_crossbar_would_bring_packets_out_of_order() {
    let mut net = net(Params { in_turn: true });
    let switch = net.blueprint.links[0].ends[0].node;
    net.buffer(switch, r#"{"ioq": {"voq": "400KB", "output": "20KB"}}"#);
    let control = Control::default();
    let error = Fabric::build(&net.blueprint, &control).err().expect("it is refused").to_string();
    assert!(error.contains("packet by packet"), "{error}");
}
