//! Congestion points from outside the tree: the CNPs that they send leave in good order, and by their own
//! port.

use std::sync::{Arc, Mutex};

use crate::support::{Net, assert_invariants, counter, port, whole};
use floodway_fabric::blueprint::{Ties, UNBOUNDED};
use floodway_fabric::{Control, Fabric, Records};
use floodway_mechanisms::is_discipline;
use floodway_mechanisms::registry::AnyCongestionPoint;
use floodway_mechanisms::slots::{
    Cnp, CongestionPoint, CpAction, Cx, Demands, Discipline, Mark, PacketView, PortEvent, QueueView, Queueing,
};
use floodway_units::{Bytes, FlowId, NodeId, PortId, Quanta, Rate, Span, Time};
use floodway_wire::Format;

const G100: Rate = Rate::gbps(100);
const PFC: &str = r#"{"pfc": {"xoff": "2MB"}}"#;

fn cnp(flow: FlowId) -> CpAction {
    CpAction::ToSource(Cnp { flow, mark: Mark::Ce, window: None, rate: None, degree: 0.0 })
}

/// `a` - `s` - `b` at 100 Gbit/s, with the links' numbers.
fn line() -> (Net, [NodeId; 3], [usize; 2]) {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(1)).until_limit();
    let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
    let links = [net.link(a, s, G100, Span::us(1), PFC), net.link(s, b, G100, Span::us(1), PFC)];
    (net, [a, s, b], links)
}

fn run(net: &Net, at: PortId, point: impl CongestionPoint + Send + 'static) -> Records {
    let control = Control::default();
    let mut fabric = Fabric::build(&net.blueprint, &control).expect("it is sound");
    fabric.add_congestion_point(at, AnyCongestionPoint::Custom(Box::new(point))).expect("it claims nothing");
    let records = fabric.run();
    assert_invariants(&records);
    records
}

/// Sends thirty CNPs to the source of each packet.
struct Talker;

impl CongestionPoint for Talker {
    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, _q: &QueueView) -> Mark {
        (0..30).for_each(|_| cx.push(cnp(p.flow)));
        Mark::None
    }
}

#[test]
fn cnps_that_wait_where_a_link_fails_are_lost_and_accounted_for() {
    let (mut net, [a, _, b], [first, last]) = line();
    net.blueprint.links[first].down = vec![(Time::ZERO + Span::us(50), Time::ZERO + Span::us(60))];
    net.flow(a, b, Bytes::mb(2), Span::us(10));
    let records = run(&net, port(last, 0), Talker);
    assert!(records.outcome.drops.iter().any(|&(reason, drops)| reason == "link_down" && drops > 0));
}

/// For each packet of flow 0 it sends a CNP to the source of flow 1, which is behind this very port.
struct Back;

impl CongestionPoint for Back {
    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, _q: &QueueView) -> Mark {
        if p.flow == FlowId(0) {
            cx.push(cnp(FlowId(1)));
        }
        Mark::None
    }
}

#[test]
fn a_port_sends_no_faster_than_its_rate_though_its_machine_sends_by_it() {
    let (mut net, [a, s, b], [_, last]) = line();
    let c = net.host("c");
    net.link(c, s, G100, Span::us(1), PFC);
    net.flow(a, b, UNBOUNDED, Span::ZERO);
    net.flow(b, a, UNBOUNDED, Span::ZERO);
    net.flow(c, b, UNBOUNDED, Span::ZERO);
    let records = run(&net, port(last, 0), Back);
    let count = |name| counter(&records, "s", "s-b", name);
    // Preamble and gap; 1 ms holds 12.5 MB, of which some frames may be of the MAC.
    let wire = count("tx_bytes") + 20 * count("tx_packets");
    assert!(wire <= 12_500_000 + 1_100, "{wire}");
    assert!(wire > 12_000_000, "{wire}");
}

/// Names the flow of the first packet that it sees once more, 160 us later.
#[derive(Default)]
struct Late {
    seen: Option<(FlowId, Time)>,
    sent: bool,
}

impl CongestionPoint for Late {
    fn demands(&self) -> Demands {
        Demands { naming: Span::us(160), ..Demands::default() }
    }

    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, _q: &QueueView) -> Mark {
        self.seen.get_or_insert((p.flow, cx.now));
        Mark::None
    }

    fn next_timeout(&self) -> Option<Time> {
        self.seen.filter(|_| !self.sent).map(|(_, at)| at + Span::us(160))
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_, CpAction>) {
        if let Some((flow, _)) = self.seen {
            cx.push(cnp(flow));
            self.sent = true;
        }
    }
}

#[test]
fn a_flow_keeps_its_name_while_a_machine_may_use_it() {
    for ties in [Ties::Hashed, Ties::SchedulingOrder] {
        let (mut net, [a, s, b], [_, last]) = line();
        net.blueprint.semantics.ties = ties;
        let c = net.host("c");
        net.link(c, s, G100, Span::us(1), PFC);
        net.flow(a, b, Bytes::kb(2), Span::ZERO);
        // Between two epochs, when nothing of the first flow has been in the network for long.
        net.flow(c, b, Bytes::mb(1), Span::us(110));
        let records = run(&net, port(last, 0), Late::default());
        assert_eq!(whole(records.flows.column("cnps")), [1, 0], "{ties:?}");
    }
}

/// Wants queues of its own.
struct Sorter;

impl CongestionPoint for Sorter {
    is_discipline!();
}

impl Discipline for Sorter {
    fn queueing(&self) -> Queueing {
        Queueing::Flows { queues: 2, inputs: false }
    }
}

#[test]
fn a_discipline_with_more_queues_than_the_fabric_has_is_refused() {
    let (mut net, [a, _, b], [_, last]) = line();
    net.flow(a, b, Bytes::kb(1), Span::ZERO);
    let control = Control::default();
    let mut fabric = Fabric::build(&net.blueprint, &control).expect("it is sound");
    let error = fabric.add_congestion_point(port(last, 0), AnyCongestionPoint::Custom(Box::new(Sorter)));
    assert!(error.unwrap_err().to_string().contains("no discipline of the blueprint has more"));
}

/// Writes down its calls, with the time.
struct Writes(Arc<Mutex<Vec<(&'static str, Time)>>>);

impl Writes {
    fn note(&self, what: &'static str, at: Time) {
        self.0.lock().expect("nobody panics").push((what, at));
    }
}

impl CongestionPoint for Writes {
    fn on_enqueue(&mut self, cx: &mut Cx<'_, CpAction>, _p: &PacketView, _q: &QueueView) -> Mark {
        self.note("joins", cx.now);
        Mark::None
    }

    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, _p: &PacketView, _q: &QueueView) -> Mark {
        self.note("leaves", cx.now);
        Mark::None
    }

    fn on_event(&mut self, cx: &mut Cx<'_, CpAction>, event: PortEvent<'_>) {
        match event {
            PortEvent::PauseSent { lasts, .. } => {
                assert_eq!(lasts, Quanta(100).span(G100));
                self.note("pauses", cx.now);
            }
            PortEvent::ResumeSent { .. } => self.note("resumes", cx.now),
            _ => {}
        }
    }
}

/// From 100 Gbit/s into 40, with a pipeline of so long: the calls of a machine at the slow port.
fn seen(pipeline: Span) -> Vec<(&'static str, Time)> {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(1)).until_limit();
    let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
    let pauses = r#"{"pfc": {"xoff": "20KB", "quanta": 100, "refresh": 0.5}}"#;
    net.link(a, s, G100, Span::us(1), pauses);
    let slow = net.link(s, b, Rate::gbps(40), Span::us(1), PFC);
    net.pipeline(s, pipeline);
    net.flow(a, b, Bytes::kb(300), Span::ZERO);
    let seen: Arc<Mutex<Vec<_>>> = Arc::default();
    run(&net, port(slow, 0), Writes(Arc::clone(&seen)));
    let seen = seen.lock().expect("nobody panics");
    seen.clone()
}

#[test]
fn a_pause_that_an_arrival_causes_comes_right_after_the_packet_has_joined() {
    let seen = seen(Span::ZERO);
    let at = seen.iter().position(|(what, _)| *what == "pauses").expect("it pauses");
    assert_eq!(seen[at - 1], ("joins", seen[at].1));
}

#[test]
fn with_a_pipeline_a_pause_comes_before_the_packet_joins_by_the_time_that_it_takes() {
    let pipeline = Span::ns(700);
    let seen = seen(pipeline);
    let (_, paused) = *seen.iter().find(|(what, _)| *what == "pauses").expect("it pauses");
    assert!(seen.contains(&("joins", paused + pipeline)));
    assert!(!seen.contains(&("joins", paused)));
}

#[test]
fn a_resume_that_a_departure_causes_comes_after_the_packet_has_left() {
    for pipeline in [Span::ZERO, Span::ns(700)] {
        let seen = seen(pipeline);
        let at = seen.iter().position(|(what, _)| *what == "resumes").expect("it resumes");
        let left = seen[..at].iter().rev().find(|(what, _)| *what == "leaves").expect("something has left");
        // Its last bit has gone when room is made: 1082 bytes or so at 40 Gbit/s later.
        let later = seen[at].1.since(left.1);
        assert!(later <= Span::ns(220), "{later}");
        let resumes = seen.iter().filter(|(what, _)| *what == "resumes").count();
        assert!((1..=seen.iter().filter(|(what, _)| *what == "pauses").count()).contains(&resumes));
    }
}
