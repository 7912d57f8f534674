//! With headroom at its formula, or with credits, nothing is ever dropped: random chains, rates, delays and
//! traffic.

use crate::support;
use crate::support::{Net, assert_invariants, drops, finished, whole};
use floodway_fabric::Records;
use floodway_fabric::outcome::LosslessVerdict;
use floodway_units::{Bytes, NodeId, Rate, Span};
use floodway_wire::Format;
use proptest::prelude::*;

/// A flow of one of the senders: which, how large, when; and whether it runs backwards.
type Draw = (usize, u64, u64, bool);

/// A link: its rate in Gbit/s, its delays there and back in ns, its jitter in ns.
type Cable = (u64, u64, u64, u64);

/// Senders - chain of switches - receiver.
#[derive(Clone, Debug)]
struct Plan {
    wire: Format,
    mtu: u64,
    seed: u64,
    senders: Vec<Cable>,
    chain: Vec<Cable>,
    drain: Cable,
    flow_control: String,
    buffer: String,
    reliability: String,
    pipeline: u64,
    flows: Vec<Draw>,
    /// Does every other flow have a class of its own, whose pauses may stand ahead of the others'?
    classes: bool,
    /// Of the switches' buffers.
    cell: u64,
    /// Payload of every third flow.
    small: u64,
}

fn cable(gbps: Vec<u64>) -> impl Strategy<Value = Cable> {
    let jitter = prop_oneof![3 => Just(0), 1 => 0u64..2_000];
    (prop::sample::select(gbps), 1u64..6_000, 1u64..6_000, jitter)
}

/// Threshold and buffer that fit together.
fn thresholds(cell: u64) -> impl Strategy<Value = (String, String)> {
    let fixed = (1u64..60_000)
        .prop_map(|xoff| (format!(r#""{xoff}B""#), r#"{"static": {"size": "auto"}}"#.to_owned()));
    // In cells a frame may take nine times its bytes.
    let times = if cell > 1 { 10 } else { 1 };
    let auto = (950_000u64..1_000_000).prop_map(move |size| {
        let size = size * times;
        (r#""auto""#.to_owned(), format!(r#"{{"static": {{"size": "{size}B"}}}}"#))
    });
    prop_oneof![2 => fixed, 1 => auto, 3 => pooled()]
}

/// Threshold and a pool, which may be too small for all that the thresholds let in.
fn pooled() -> impl Strategy<Value = (String, String)> {
    let alpha = prop::sample::select(vec!["0.125", "0.5", "1", "8"]);
    let xoff = prop_oneof![
        (1u64..60_000).prop_map(|fixed| format!(r#""{fixed}B""#)),
        alpha.clone().prop_map(|alpha| format!(r#"{{"alpha": {alpha}}}"#)),
        (0u64..20_000, alpha)
            .prop_map(|(fixed, alpha)| format!(r#"{{"fixed": "{fixed}B", "alpha": {alpha}}}"#)),
    ];
    let sizes = (5_000u64..300_000, prop_oneof![Just(0u64), 0..20_000u64]);
    (xoff, sizes).prop_map(|(xoff, (pool, reserve))| {
        (xoff, format!(r#"{{"shared": {{"pool": "{pool}B", "reserve": "{reserve}B"}}}}"#))
    })
}

fn flow_control(xoff: &str, offset: Option<u64>, on_off: bool, react: u64) -> String {
    let offset = offset.map_or(String::new(), |bytes| format!(r#", "resume-offset": "{bytes}B""#));
    let pause = if on_off { "on-off" } else { "timer" };
    format!(r#"{{"pfc": {{"xoff": {xoff}, "pause": "{pause}", "react": "{react}ns"{offset}}}}}"#)
}

/// A flow control, and a buffer that it loses nothing in.
fn controls(cell: u64) -> impl Strategy<Value = (String, String)> {
    let offset = prop::option::of(prop_oneof![Just(0u64), 0..30_000u64]);
    let pfc = (thresholds(cell), offset, any::<bool>(), prop_oneof![Just(0u64), 0..2_000u64]).prop_map(
        |((xoff, buffer), offset, on_off, react)| (flow_control(&xoff, offset, on_off, react), buffer),
    );
    prop_oneof![3 => pfc, 1 => credits()]
}

/// Credits in a buffer that holds a few frames or many.
fn credits() -> impl Strategy<Value = (String, String)> {
    let mode = prop::sample::select(vec!["ideal", "infiniband"]);
    let on_change =
        prop_oneof![Just(String::new()), (1u64..9_000).prop_map(|b| format!(r#", "on-change": "{b}B""#))];
    // In cells a byte on the wire may take nine.
    let size = prop_oneof![150_000u64..200_000, 150_000u64..600_000];
    (mode, 1u64..12, on_change, size).prop_map(|(mode, period, on_change, size)| {
        let cbfc = format!(r#"{{"cbfc": {{"mode": "{mode}", "period": "{period}us"{on_change}}}}}"#);
        (cbfc, format!(r#"{{"static": {{"size": "{size}B"}}}}"#))
    })
}

fn plans() -> impl Strategy<Value = Plan> {
    let cell = prop::sample::select(vec![1u64, 1, 64, 96, 144, 254, 256, 420]);
    (cell, 1u64..256).prop_flat_map(plans_in)
}

fn plans_in((cell, small): (u64, u64)) -> impl Strategy<Value = Plan> {
    let fast = || vec![10, 25, 30, 40, 100, 400];
    let reliability = prop::sample::select(vec![r#""none""#, r#""go-back-n""#]);
    let run = (
        prop::sample::select(vec![Format::Ethernet, Format::HpccNs3]),
        prop::sample::select(vec![256u64, 1000, 1500, 4096]),
        any::<u64>(),
        prop_oneof![Just(0u64), 0..1_000u64],
        any::<bool>(),
    );
    let control = (controls(cell), reliability);
    let network = (
        prop::collection::vec(cable(fast()), 2..5),
        prop::collection::vec(cable(fast()), 0..3),
        cable(vec![1, 10, 25, 30]),
    );
    let flow = (0usize..4, 1u64..150_000, 0u64..60_000, prop::bool::weighted(0.2));
    let flows = prop::collection::vec(flow, 4..24);
    (run, control, network, flows).prop_map(move |(run, control, network, flows)| {
        let ((flow_control, buffer), reliability) = control;
        Plan {
            wire: run.0,
            mtu: run.1,
            seed: run.2,
            pipeline: run.3,
            classes: run.4,
            cell,
            small,
            senders: network.0,
            chain: network.1,
            drain: network.2,
            flow_control,
            buffer,
            reliability: reliability.to_owned(),
            flows,
        }
    })
}

fn lay(net: &mut Net, from: NodeId, to: NodeId, cable: Cable, flow_control: &str) {
    let (gbps, there, back, jitter) = cable;
    let link = net.link(from, to, Rate::gbps(gbps), Span::us(1), flow_control);
    net.delays(link, Span::ns(there), Span::ns(back));
    for direction in &mut net.blueprint.links[link].directions {
        direction.jitter = Span::ns(jitter);
    }
}

fn run(plan: &Plan) -> Records {
    let mut net = Net::new(plan.wire).reliability(&plan.reliability).limit(Span::ms(100));
    net.blueprint.mtu = Bytes(plan.mtu);
    net.blueprint.seed = plan.seed;
    let mut at = net.switch_with("s0", &plan.buffer);
    let mut switches = vec![at];
    let senders: Vec<NodeId> = (0..plan.senders.len()).map(|i| net.host(&format!("h{i}"))).collect();
    for (&host, &cable) in senders.iter().zip(&plan.senders) {
        lay(&mut net, host, at, cable, &plan.flow_control);
    }
    for (i, &cable) in plan.chain.iter().enumerate() {
        let next = net.switch_with(&format!("s{}", i + 1), &plan.buffer);
        lay(&mut net, at, next, cable, &plan.flow_control);
        at = next;
        switches.push(next);
    }
    let receiver = net.host("receiver");
    lay(&mut net, at, receiver, plan.drain, &plan.flow_control);
    for switch in switches {
        net.pipeline(switch, Span::ns(plan.pipeline));
        net.cell(switch, Bytes(plan.cell));
    }
    let mut flows = plan.flows.clone();
    flows.sort_by_key(|&(_, _, start, _)| start);
    if plan.classes {
        net.second_class();
    }
    for (i, (sender, size, start, back)) in flows.into_iter().enumerate() {
        let sender = senders[sender % senders.len()];
        let (from, to) = if back { (receiver, sender) } else { (sender, receiver) };
        let class = usize::from(plan.classes && i % 2 == 1);
        let is_small = i % 3 == 2;
        let settings = if is_small { net.with_payload(class, Bytes(plan.small)) } else { class };
        let size = if is_small { size.min(500 * plan.small) } else { size };
        net.flow(from, to, Bytes(size), Span::ns(start)).settings = Some(settings);
    }
    net.run()
}

/// May pauses queue behind one another in a buffer of the port's own, so that sizes promise nothing? They do
/// where frames that take less time than two pauses fill what lies between a resume and a pause.
fn may_queue_pauses(plan: &Plan) -> bool {
    let overhead: u64 = if plan.wire == Format::Ethernet { 20 } else { 0 };
    let (two_pauses, least) = (2 * (64 + overhead), plan.wire.data(Bytes(1), false).frame.0);
    let held_before = |frame: u64| {
        let frames = (two_pauses - 1) / (frame + overhead);
        frames * frame.next_multiple_of(plan.cell)
    };
    let filled = (least..two_pauses - overhead).map(held_before).max();
    let given = |key: &str| {
        let (_, rest) = plan.flow_control.split_once(&format!(r#""{key}": ""#))?;
        rest.split_once("B\"")?.0.parse::<u64>().ok()
    };
    // By default a port resumes two of the largest frames below XOFF.
    let offset = 2 * plan.wire.data(Bytes(plan.mtu), true).frame.0.next_multiple_of(plan.cell);
    let climb = given("xoff").unwrap_or(u64::MAX).min(given("resume-offset").unwrap_or(offset));
    plan.buffer.contains("static") && plan.flow_control.contains("pfc") && Some(climb) <= filled
}

proptest! {
    #![proptest_config(support::long_property(400))]

    #[test]
    fn nothing_is_dropped_with_headroom_at_its_formula_or_with_credits(plan in plans()) {
        let records = run(&plan);
        assert_invariants(&records);
        // The formula does not count pauses of another class, though these cases have room for them.
        let is_shared = plan.classes && plan.flow_control.contains("pfc");
        let is_unsure = is_shared || may_queue_pauses(&plan);
        let expected = if is_unsure { LosslessVerdict::HeldInRun } else { LosslessVerdict::HeldBySizing };
        prop_assert_eq!(records.outcome.lossless.verdict, expected);
        prop_assert_eq!(drops(&records), 0);
        prop_assert!(finished(&records).into_iter().all(|finished| finished), "a flow is stuck");
        let sent_again = whole(records.flows.column("retransmitted_bytes"));
        prop_assert!(sent_again.into_iter().all(|bytes| bytes == 0), "nothing was lost, yet it was retransmitted");
    }
}
