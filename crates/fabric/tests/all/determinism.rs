//! The same bytes: from the same seed, beside unrelated traffic, with machines that never act.

use crate::support;
use crate::support::{Net, assert_invariants, everything, names, params, run, sum};
use floodway_fabric::blueprint::{Arrivals, ErrorRates, PoissonSpec, UNBOUNDED};
use floodway_fabric::destinations::DestinationPattern;
use floodway_fabric::sizes::Sizes;
use floodway_fabric::{Control, Fabric, Records};
use floodway_mechanisms::registry::AnyCongestionPoint;
use floodway_mechanisms::slots::CongestionPoint;
use floodway_units::{Bytes, NodeId, PortId, Rate, Span, Time};
use floodway_wire::Format;

const PFC: &str = r#"{"pfc": {"xoff": "30KB"}}"#;

/// Two racks of four hosts below two spines.
struct Fabrics {
    net: Net,
    hosts: Vec<NodeId>,
}

fn racks(flow_control: &str) -> Fabrics {
    racks_with(flow_control, r#"{"static": {"size": "auto"}}"#)
}

fn racks_with(flow_control: &str, buffer: &str) -> Fabrics {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(20));
    let leaves = ["l0", "l1"].map(|name| net.switch_with(name, buffer));
    let spines = ["p0", "p1"].map(|name| net.switch_with(name, buffer));
    let mut hosts = Vec::new();
    for (i, &leaf) in leaves.iter().enumerate() {
        for j in 0..4 {
            hosts.push(net.host(&format!("h{i}{j}")));
            net.link(*hosts.last().unwrap(), leaf, Rate::gbps(100), Span::ns(500), flow_control);
        }
        for &spine in &spines {
            net.link(leaf, spine, Rate::gbps(100), Span::us(1), flow_control);
        }
    }
    Fabrics { net, hosts }
}

fn poisson(hosts: &[NodeId], until: Span) -> Arrivals {
    Arrivals::Poisson(PoissonSpec {
        sources: hosts.to_vec(),
        destinations: hosts.to_vec(),
        pattern: DestinationPattern::Uniform,
        sizes: Sizes::new(&[(100.0, 0.0), (5_000.0, 50.0), (200_000.0, 100.0)]).unwrap(),
        mean_gap: Span::us(6),
        from: Time::ZERO,
        until: Time::ZERO + until,
    })
}

/// Poisson traffic of all hosts, with whatever makes chance matter.
fn chance() -> Net {
    let Fabrics { mut net, hosts } = racks(PFC);
    net = net.reliability(r#""go-back-n""#);
    net.blueprint.workloads[0].arrivals = poisson(&hosts, Span::us(400));
    for link in &mut net.blueprint.links[4..6] {
        for direction in &mut link.directions {
            direction.jitter = Span::ns(300);
            direction.errors = ErrorRates { data: 0.001, control: 0.001, link_control: 0.01 };
        }
    }
    net
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_does_not() {
    let mut net = chance();
    let first = everything(&net.run());
    assert_eq!(first, everything(&net.run()));
    net.blueprint.seed += 1;
    assert_ne!(first, everything(&net.run()));
}

#[test]
fn the_seed_does_not_change_a_flow_alone() {
    let Fabrics { mut net, hosts } = racks(PFC);
    net.flow(hosts[0], hosts[1], Bytes::mb(1), Span::ZERO);
    let first = everything(&net.run());
    net.blueprint.seed = 99;
    assert_eq!(first, everything(&net.run()));
}

/// Never acts.
struct Idle;

impl CongestionPoint for Idle {}

fn run_with_idle_machines(net: &Net) -> Records {
    let control = Control::default();
    let mut fabric = Fabric::build(&net.blueprint, &control).unwrap();
    for port in 0..2 * net.blueprint.links.len() {
        for _ in 0..2 {
            let idle = AnyCongestionPoint::Custom(Box::new(Idle));
            fabric.add_congestion_point(PortId(port as u32), idle).expect("it claims nothing");
        }
    }
    let records = fabric.run();
    assert_invariants(&records);
    records
}

/// A second class of data for every other flow, under a scheduler that is not strict.
fn add_class(net: &mut Net) {
    net.second_class();
    net.scheduler(r#""deficit-round-robin""#);
    let mut second = net.blueprint.workloads[0].clone();
    second.name = "second".into();
    second.settings = 1;
    net.blueprint.workloads.push(second);
}

#[test]
fn a_machine_that_never_acts_changes_nothing() {
    let mut net = chance();
    for classes in 1..=2 {
        let plain = net.run();
        assert!(sum(&plain, "pfc_tx") > 0 && sum(&plain, "drops_link_error") > 0, "{classes} classes");
        assert_eq!(everything(&plain), everything(&run_with_idle_machines(&net)), "{classes} classes");
        add_class(&mut net);
    }
}

#[test]
fn a_machine_that_never_acts_changes_nothing_where_queues_are_full() {
    let buffers = [
        (r#"{"shared": {"pool": "60KB"}}"#, "drops_egress"),
        (r#"{"shared": {"pool": "15KB", "egress-alpha": 9.0}}"#, "drops_buffer"),
        (r#"{"static": {"size": "12KB"}}"#, "drops_buffer"),
        (r#"{"output-queue": {"size": "12KB"}}"#, "trims"),
        (r#"{"output-queue": {"size": "12KB", "victim": "either"}}"#, "trims"),
        (r#"{"output-queue": {"size": "12KB", "trim": false}}"#, "drops_egress"),
    ];
    for (buffer, lost) in buffers {
        let Fabrics { mut net, hosts } = racks_with(r#""lossy""#, buffer);
        net = net.reliability(if buffer.contains("output") { r#""uet""# } else { r#""irn""# });
        net.blueprint.workloads[0].arrivals = poisson(&hosts, Span::us(400));
        let plain = net.run();
        assert!(sum(&plain, lost) > 0, "{buffer}: {lost}");
        assert_eq!(everything(&plain), everything(&run_with_idle_machines(&net)), "{buffer}");
    }
}

#[test]
fn lossy_links_with_endless_buffers_are_as_pauses_that_never_come() {
    let with = |flow_control: &str| {
        let Fabrics { mut net, hosts } = racks(flow_control);
        net.blueprint.workloads[0].arrivals = poisson(&hosts, Span::us(400));
        for link in &mut net.blueprint.links {
            for end in &mut link.ends {
                end.buffer = Some(params(r#"{"static": {"size": "1GB"}}"#));
            }
        }
        net.run()
    };
    let (lossy, mut paused) = (with(r#""lossy""#), with(r#"{"pfc": {"xoff": "500MB"}}"#));
    assert_eq!(sum(&paused, "pfc_tx"), 0);
    // The verdict alone shows whether losslessness was asked for.
    paused.outcome.lossless = lossy.outcome.lossless.clone();
    assert_eq!(everything(&lossy), everything(&paused));
}

/// Rows of a table for which `keep` holds, as text.
fn rows(table: &floodway_fabric::Table, keep: impl Fn(usize) -> bool) -> Vec<String> {
    let cell = |column: &floodway_fabric::Column, row: usize| match &column.values {
        floodway_fabric::Values::U64(values) => values[row].to_string(),
        floodway_fabric::Values::F64(values) => format!("{:?}", values[row]),
        floodway_fabric::Values::Bool(values) => values[row].to_string(),
        floodway_fabric::Values::Text { codes, dictionary } => dictionary[codes[row] as usize].clone(),
    };
    (0..table.rows())
        .filter(|&row| keep(row))
        .map(|row| table.columns.iter().map(|column| cell(column, row)).collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn an_unrelated_workload_changes_no_row_of_another_flow_and_no_counter_of_a_port_it_does_not_use() {
    // The first workload stays in one rack, the second in the other, with its own random traffic.
    let Fabrics { net, hosts } = racks(PFC);
    let mut net = net.until_limit().limit(Span::ms(2)).reliability(r#""go-back-n""#);
    net.blueprint.workloads[0].arrivals = poisson(&hosts[..4], Span::ms(1));
    for link in &mut net.blueprint.links {
        for direction in &mut link.directions {
            direction.jitter = Span::ns(100);
            direction.errors = ErrorRates { data: 0.0005, control: 0.0005, link_control: 0.01 };
        }
    }
    let alone = net.run();
    let second = net.workload("others");
    net.blueprint.workloads[second].arrivals = poisson(&hosts[4..], Span::ms(1));
    compare(&alone, &net.run(), |link| link.contains("l1"));
}

#[test]
fn traffic_over_other_ports_of_the_same_switch_is_unrelated_where_ports_have_their_own_buffers() {
    let Fabrics { net, hosts } = racks(PFC);
    let mut net = net.until_limit().limit(Span::ms(1));
    net.flow(hosts[0], hosts[1], UNBOUNDED, Span::ZERO);
    net.flow(hosts[2], hosts[1], UNBOUNDED, Span::us(3));
    net.flow(hosts[2], hosts[1], Bytes::kb(500), Span::us(7));
    let alone = net.run();
    let second = net.workload("others");
    net.flow_of(second, hosts[3], hosts[4], Bytes::mb(3), Span::us(5));
    net.flow_of(second, hosts[5], hosts[3], UNBOUNDED, Span::us(6));
    let used = ["h03-l0", "h10-l1", "h11-l1", "l0-p0", "l0-p1", "l1-p0", "l1-p1"];
    compare(&alone, &net.run(), |link| used.contains(&link));
}

fn compare(alone: &Records, beside: &Records, used: impl Fn(&str) -> bool) {
    let workload = |records: &Records| names(records.flows.column("workload"));
    let (a, b) = (workload(alone), workload(beside));
    assert!(b.iter().any(|name| name == "others") && !a.is_empty());
    assert_eq!(rows(&alone.flows, |_| true), rows(&beside.flows, |row| b[row] == "flows"));
    let delays = names(beside.latency.column("workload"));
    assert_eq!(rows(&alone.latency, |_| true), rows(&beside.latency, |row| delays[row] == "flows"));
    let links = names(alone.counters.column("link"));
    let untouched = |row: usize| !used(&links[row]);
    assert!(rows(&alone.counters, untouched).len() >= 8);
    assert_eq!(rows(&alone.counters, untouched), rows(&beside.counters, untouched));
}

#[test]
fn a_run_ends_with_the_epoch_in_which_its_last_measured_flow_finishes() {
    let Fabrics { mut net, hosts } = racks(PFC);
    net.flow(hosts[1], hosts[7], UNBOUNDED, Span::ZERO);
    net.flow(hosts[0], hosts[7], Bytes::mb(1), Span::us(130));
    let records = run(&net.blueprint);
    let finish = support::real(records.flows.column("finish_receiver_us"))[1];
    assert_eq!(records.outcome.simulated_us, (finish / 100.0).ceil() * 100.0);
}
