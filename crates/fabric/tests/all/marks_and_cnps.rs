//! Congestion points from outside the tree that clear marks, and that see CNPs on their way to senders.
//!
//! ```text
//!  a ── 100 Gbit/s ──► s ── 100 Gbit/s ──► t ── 25 Gbit/s ──► b
//!                                          marks by its queue
//! ```

use std::sync::{Arc, Mutex};

use crate::support::{Net, assert_invariants, counter, everything, fct_ps, params, port, whole};
use floodway_fabric::{Control, Fabric, Records, ThreadPlan, Threads};
use floodway_mechanisms::registry::AnyCongestionPoint;
use floodway_mechanisms::slots::{
    Cnp, CongestionPoint, CpAction, Cx, Demands, Mark, PacketView, PortEvent, QueueView,
};
use floodway_units::{Bytes, PortId, Rate, Span, Time};
use floodway_wire::Format;

const G100: Rate = Rate::gbps(100);
const PFC: &str = r#"{"pfc": {"xoff": "2MB"}}"#;
const RED: &str = r#"{"red": {"kmin": "50KB", "kmax": "100KB", "pmax": 1}}"#;
const CNPS: &str = r#"{"dcqcn": {"preset": "hpcc", "cnp": "packet"}}"#;
const FLAGS: &str = r#"{"dcqcn": {"preset": "hpcc", "cnp": "ack-flag"}}"#;
/// The links a-s, s-t and t-b, which have these numbers.
const LINKS: [usize; 3] = [0, 1, 2];

fn line(rate_control: &str) -> Net {
    let mut net = Net::new(Format::Ethernet).reliability(r#""go-back-n""#).rate_control(&[rate_control]);
    if rate_control == CNPS {
        net.blueprint.settings[0].notification = params(r#"{"dcqcn": {"cnp-interval": "4us"}}"#);
    }
    let (a, s, t, b) = (net.host("a"), net.switch("s"), net.switch("t"), net.host("b"));
    net.link(a, s, G100, Span::us(1), PFC);
    net.link(s, t, G100, Span::us(1), PFC);
    let slow = net.link(t, b, Rate::gbps(25), Span::us(1), PFC);
    net.congestion_point(slow, t, RED);
    net.flow(a, b, Bytes::mb(1), Span::ZERO);
    net
}

/// Runs with machines at ports, on one thread and on two.
fn run(net: &Net, points: impl Fn() -> Vec<(PortId, AnyCongestionPoint)>) -> Records {
    let control = Control::default();
    let build = || {
        let mut fabric = Fabric::build(&net.blueprint, &control).expect("it is sound");
        for (at, point) in points() {
            fabric.add_congestion_point(at, point).expect("it claims nothing");
        }
        fabric
    };
    let records = build().run();
    assert_invariants(&records);
    let threads = ThreadPlan::of_run(&net.blueprint, Threads::Forced(2), 2);
    assert!(everything(&records) == everything(&build().on(&threads).run()), "two threads keep the same");
    records
}

fn custom(point: impl CongestionPoint + Send + 'static) -> AnyCongestionPoint {
    AnyCongestionPoint::Custom(Box::new(point))
}

fn cnps(records: &Records) -> u64 {
    whole(records.flows.column("cnps"))[0]
}

/// Clears all marks, and says so to senders.
#[derive(Default)]
struct Clears {
    /// It asks to be asked.
    asks: bool,
    sends_cnp: bool,
}

impl CongestionPoint for Clears {
    fn demands(&self) -> Demands {
        Demands { clears: self.asks, ..Demands::default() }
    }

    fn clears(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> bool {
        assert_eq!(p.mark, Mark::Ce);
        assert!(q.len > Bytes::ZERO, "it is marked by what it leaves behind");
        if self.sends_cnp {
            cx.push(CpAction::ToSource(Cnp::of(p.flow, Mark::Ce)));
        }
        true
    }
}

#[test]
fn a_mark_of_the_port_itself_is_cleared_after_all_have_marked() {
    let net = line(CNPS);
    let marked = net.run();
    assert!(cnps(&marked) > 10, "{}", cnps(&marked));
    let clears = || vec![(port(LINKS[2], 0), custom(Clears { asks: true, sends_cnp: false }))];
    let cleared = run(&net, clears);
    assert_eq!(cnps(&cleared), 0);
    // The port has marked all the same.
    assert!(counter(&cleared, "t", "t-b", "ecn_marks") > 0);
}

#[test]
fn a_machine_without_the_demand_clears_nothing() {
    let net = line(CNPS);
    let point = || vec![(port(LINKS[2], 0), custom(Clears::default()))];
    assert_eq!(cnps(&run(&net, point)), cnps(&net.run()));
}

#[test]
fn a_machine_that_clears_a_mark_may_send_the_cnp_itself() {
    let net = line(CNPS);
    let records = run(&net, || vec![(port(LINKS[2], 0), custom(Clears { asks: true, sends_cnp: true }))]);
    assert!(cnps(&records) > 0);
    assert_eq!(cnps(&records), counter(&records, "t", "t-b", "ecn_marks"));
    assert_eq!(counter(&records, "b", "t-b", "receiver_cnps"), 0);
}

/// Marks every packet.
struct Marks;

impl CongestionPoint for Marks {
    fn on_dequeue(&mut self, _cx: &mut Cx<'_, CpAction>, p: &PacketView, _q: &QueueView) -> Mark {
        if p.ecn_capable { Mark::Ce } else { Mark::None }
    }
}

/// Clears what has come marked, queue or not.
struct Launders;

impl CongestionPoint for Launders {
    fn demands(&self) -> Demands {
        Demands { clears: true, ..Demands::default() }
    }

    fn clears(&mut self, _cx: &mut Cx<'_, CpAction>, _p: &PacketView, _q: &QueueView) -> bool {
        true
    }
}

#[test]
fn marks_of_switches_before_are_cleared_where_nothing_waits_too() {
    let mut net = line(CNPS);
    net.blueprint.links[LINKS[2]].ends[0].congestion_points.clear();
    net.blueprint.links[LINKS[2]].directions.iter_mut().for_each(|direction| direction.rate = G100);
    let marks = || (port(LINKS[0], 1), custom(Marks));
    // The port of s towards a sends no data: that towards t does.
    assert_eq!(cnps(&run(&net, || vec![marks()])), 0);
    let marks = || (port(LINKS[1], 0), custom(Marks));
    assert!(cnps(&run(&net, || vec![marks()])) > 0);
    assert_eq!(cnps(&run(&net, || vec![marks(), (port(LINKS[2], 0), custom(Launders))])), 0);
}

/// A CNP: when it came, by which port, of which flow, with which mark.
type Passed = (Time, PortId, u64, Mark);
/// The CNPs that a machine has seen.
type Seen = Arc<Mutex<Vec<Passed>>>;

/// Writes down which CNPs pass.
struct Listens {
    asks: bool,
    seen: Seen,
}

impl CongestionPoint for Listens {
    fn demands(&self) -> Demands {
        Demands { cnps: self.asks, ..Demands::default() }
    }

    fn on_event(&mut self, cx: &mut Cx<'_, CpAction>, event: PortEvent<'_>) {
        if let PortEvent::CnpPasses { cnp, flow_hash, source, destination, ingress } = event {
            // Of hosts a and b.
            assert_eq!((source, destination), (1, 4));
            self.seen.lock().expect("nobody panics").push((cx.now, ingress, flow_hash, cnp.mark));
        }
    }
}

/// The CNPs that machines at these ports see in a run on one thread.
fn seen<const N: usize>(net: &Net, at: [(PortId, bool); N]) -> (Records, [Vec<Passed>; N]) {
    let seen: [Seen; N] = std::array::from_fn(|_| Arc::default());
    let control = Control::default();
    let mut fabric = Fabric::build(&net.blueprint, &control).expect("it is sound");
    for ((at, asks), seen) in at.into_iter().zip(&seen) {
        let point = Listens { asks, seen: Arc::clone(seen) };
        fabric.add_congestion_point(at, custom(point)).expect("it claims nothing");
    }
    let records = fabric.run();
    assert_invariants(&records);
    (records, seen.map(|seen| seen.lock().expect("nobody panics").clone()))
}

#[test]
fn all_ports_of_a_switch_that_demand_it_are_called_for_each_cnp() {
    let net = line(CNPS);
    let (to_b, to_s, to_t, to_a) =
        (port(LINKS[2], 0), port(LINKS[1], 1), port(LINKS[1], 0), port(LINKS[0], 1));
    let (records, [at_b, at_s, at_t, at_a]) =
        seen(&net, [(to_b, true), (to_s, true), (to_t, true), (to_a, false)]);
    assert!(cnps(&records) > 0);
    assert_eq!((at_b.len() as u64, at_a.len()), (cnps(&records), 0));
    // They come to t from b, and then to s from t.
    assert!(at_b.iter().all(|&(_, ingress, _, mark)| ingress == to_b && mark == Mark::Ce));
    assert!(at_t.iter().all(|&(_, ingress, ..)| ingress == to_t));
    assert_eq!(at_b, at_s);
    let hashes: Vec<u64> = at_b.iter().map(|&(_, _, hash, _)| hash).collect();
    assert_eq!(hashes, at_t.iter().map(|&(_, _, hash, _)| hash).collect::<Vec<_>>());
    assert!(at_b.iter().zip(&at_t).all(|(first, then)| then.0.since(first.0) > Span::us(1)));
    let watched = run(&net, || vec![(to_t, custom(Listens { asks: true, seen: Arc::default() }))]);
    assert_eq!(fct_ps(&watched), fct_ps(&net.run()), "to listen changes nothing");
}

#[test]
fn flags_of_replies_are_cnps_only_where_the_sender_reads_them() {
    let to_t = port(LINKS[1], 0);
    let (records, [flags]) = seen(&line(FLAGS), [(to_t, true)]);
    // No packet of its own: each flag of a reply.
    assert_eq!(cnps(&records), 0);
    assert_eq!(flags.len() as u64, counter(&records, "b", "t-b", "cnp_flags"));
    assert!(flags.iter().all(|&(.., mark)| mark == Mark::Ce) && flags.len() > 10);
    // ACKs of marked packets are marked there, too, but the receiver thins CNPs out.
    let (records, [packets]) = seen(&line(CNPS), [(to_t, true)]);
    assert_eq!(packets.len() as u64, cnps(&records));
    assert!(packets.len() < flags.len());
}

/// Sends a CNP to the source of each packet.
struct SignalKind;

impl CongestionPoint for SignalKind {
    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, _q: &QueueView) -> Mark {
        cx.push(CpAction::ToSource(Cnp::of(p.flow, Mark::Ce)));
        Mark::None
    }
}

#[test]
fn a_cnp_of_a_switch_is_seen_by_the_next_one_alone() {
    let mut net = line(CNPS);
    net.blueprint.links[LINKS[2]].ends[0].congestion_points.clear();
    let seen: [Seen; 2] = std::array::from_fn(|_| Arc::default());
    let control = Control::default();
    let mut fabric = Fabric::build(&net.blueprint, &control).expect("it is sound");
    fabric.add_congestion_point(port(LINKS[2], 0), custom(SignalKind)).expect("it claims nothing");
    for (at, seen) in [port(LINKS[2], 0), port(LINKS[1], 0)].into_iter().zip(&seen) {
        let point = Listens { asks: true, seen: Arc::clone(seen) };
        fabric.add_congestion_point(at, custom(point)).expect("it claims nothing");
    }
    let records = fabric.run();
    assert_invariants(&records);
    let [own, next] = seen.map(|seen| seen.lock().expect("nobody panics").len() as u64);
    assert!(cnps(&records) > 0);
    assert_eq!((own, next), (0, cnps(&records)));
}
