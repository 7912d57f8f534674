//! SWING in scenarios: positions of relays, their effect on a long link, and errors.

use std::fmt::Write as _;

use crate::columns::{reals, texts, wholes};
use floodway_fabric::outcome::{LosslessVerdict, Verdict};
use floodway_fabric::{Control, Fabric, Records, Values};
use floodway_scenario::{Scenario, check};
use proptest::prelude::*;

/// Two hosts, two switches, a long link of 100 Gbit/s between them, and a slower one to the receiver.
///
/// ```text
///  h1 --100G, 1 us-- s1 ====100G, D==== s2 --drain, 1 us-- h2
/// ```
#[derive(Clone, Copy)]
struct Line<'a> {
    delay_us: u64,
    drain_gbps: u64,
    /// Keys of the override about the long link.
    long: &'a str,
    /// Further tables.
    more: &'a str,
    reverse: bool,
    limit_us: u64,
}

const SWING: &str = "flow-control.swing = {}";

impl Default for Line<'_> {
    fn default() -> Self {
        Line { delay_us: 100, drain_gbps: 50, long: SWING, more: "", reverse: false, limit_us: 2_000 }
    }
}

impl Line<'_> {
    fn text(self) -> String {
        let Line { delay_us, drain_gbps, long, more, reverse, limit_us } = self;
        let back = if reverse { ", { from = \"h2\", to = \"h1\", size = \"unbounded\" }" } else { "" };
        format!(
            "limit = \"{limit_us}us\"\n\
             records = {{ buckets = 100000, busiest = 0 }}\n\
             [topology.explicit]\nhosts = [\"h1\", \"h2\"]\nswitches = [\"s1\", \"s2\"]\nrate = \"100G\"\ndelay = \"1us\"\n\
             links = [{{ between = [\"s1\", \"s2\"], tags = [\"long-haul\"], delay = \"{delay_us}us\" }}, \
             {{ between = [\"h1\", \"s1\"] }}, {{ between = [\"s2\", \"h2\"], rate = \"{drain_gbps}G\" }}]\n\
             [[override]]\nname = \"long-haul\"\nlinks = {{ tag = \"long-haul\" }}\n{long}\n{more}\n\
             [[workload]]\nname = \"bulk\"\nflows = [{{ from = \"h1\", to = \"h2\", size = \"unbounded\" }}{back}]\n"
        )
    }

    fn scenario(self) -> Scenario {
        Scenario::from_text("a.toml", &self.text(), &[]).unwrap_or_else(|errors| panic!("{errors}"))
    }

    fn refused(self) -> String {
        Scenario::from_text("a.toml", &self.text(), &[]).expect_err("it is wrong").to_string()
    }

    fn run(self) -> Records {
        run(&self.scenario())
    }

    /// 2 D BW.
    fn bdp(self) -> u64 {
        2 * self.delay_us * 12_500
    }
}

fn run(scenario: &Scenario) -> Records {
    let control = Control::default();
    let records = Fabric::build(scenario.blueprint(), &control).expect("it is sound").run();
    assert_eq!(records.outcome.invariants.conservation, Verdict::Holds);
    assert_eq!(records.outcome.invariants.buffers, Verdict::Holds);
    records
}

/// A counter of data at a node's port.
fn counter(records: &Records, node: &str, link: &str, name: &str) -> u64 {
    let counters = &records.counters;
    let (nodes, links) = (texts(counters, "node"), texts(counters, "link"));
    let (classes, values) = (wholes(counters, "class"), wholes(counters, name));
    let row = (0..nodes.len()).find(|&row| nodes[row] == node && links[row] == link && classes[row] == 3);
    values[row.unwrap_or_else(|| panic!("{node} is at {link}"))]
}

/// For how many microseconds data were paused at a node's port.
fn paused(records: &Records, node: &str, link: &str) -> f64 {
    let counters = &records.counters;
    let (nodes, links) = (texts(counters, "node"), texts(counters, "link"));
    let (classes, values) = (wholes(counters, "class"), reals(counters, "paused_us"));
    let row = (0..nodes.len()).find(|&row| nodes[row] == node && links[row] == link && classes[row] == 3);
    values[row.unwrap_or_else(|| panic!("{node} is at {link}"))]
}

/// Share of 100 Gbit/s that the long link carries from h1's side, from `from_us` to `to_us`.
fn used(records: &Records, from_us: f64, to_us: f64) -> f64 {
    let series = &records.series;
    let (objects, metrics) = (texts(series, "object"), texts(series, "metric"));
    let (times, values) = (reals(series, "time_us"), reals(series, "value"));
    let rows = (0..values.len()).filter(|&row| {
        ["s1-s2: r1>r2", "s1-s2: s1>s2"].contains(&objects[row])
            && metrics[row] == "tx_bytes"
            && (from_us..to_us).contains(&times[row])
    });
    rows.map(|row| values[row]).sum::<f64>() / (12_500.0 * (to_us - from_us))
}

// ---- what relays take of the defaults

/// Two classes that share 40 km at 100 Gbit/s under `scheduler`, after their receivers have stalled for half
/// a millisecond and relays hold packets of both: what each gets of 4 ms, in Gbit/s.
fn goodputs(scheduler: &str) -> [f64; 2] {
    let text = format!(
        "limit = \"4ms\"\n[topology.two-dc]\nfabric.single-switch = {{ hosts = 2 }}\nrate = \"400G\"\ndelay = \"1us\"\n\
         long-link = {{ length = \"40km\", rate = \"100G\" }}\n\
         [defaults]\nscheduler = \"{scheduler}\"\nbuffer.static = {{ size = \"auto\" }}\n\
         [[override]]\nname = \"long\"\nlinks = {{ tag = \"long-haul\" }}\nflow-control.swing = {{}}\n\
         [[override]]\nname = \"stall\"\nhosts = [\"h3\", \"h4\"]\nfaults.pause = [\
         {{ class = 3, from = \"500us\", to = \"1ms\" }}, {{ class = 4, from = \"500us\", to = \"1ms\" }}]\n\
         [[workload]]\nname = \"a\"\nclass = 3\nlong-lived = {{ from = \"h1\", to = \"h3\" }}\n\
         [[workload]]\nname = \"b\"\nclass = 4\nlong-lived = {{ from = \"h2\", to = \"h4\" }}\n"
    );
    let scenario = Scenario::from_text("a.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let mut ends = scenario.blueprint().links.iter().flat_map(|link| &link.ends);
    assert!(ends.all(|end| end.scheduler.name() == scheduler));
    let records = run(&scenario);
    assert!(records.outcome.lossless.is_held(), "{:?}", records.outcome.lossless);
    let delivered = wholes(&records.flows, "delivered_bytes");
    [0, 1].map(|flow| delivered[flow] as f64 * 8.0 / 4e6)
}

#[test]
fn relays_serve_classes_in_the_order_of_the_network() {
    for scheduler in ["deficit-round-robin", "round-robin"] {
        let [a, b] = goodputs(scheduler);
        assert!(a > 30.0 && (a - b).abs() < 1.0, "{scheduler}: {a} {b}");
    }
    let [a, b] = goodputs("strict");
    assert!(a < 10.0 && b > 55.0, "the lower class starves where that is the order: {a} {b}");
}

#[test]
fn check_lists_the_defaults_that_relays_do_not_take() {
    let defaults =
        "[defaults]\npipeline = \"300ns\"\ncongestion-point = \"red\"\nscheduler = \"round-robin\"";
    let report = |more: &str| check(&Line { more, ..Line::default() }.scenario(), false);
    let checked = report(defaults);
    let relays = checked.relays.as_ref().expect("there are two");
    assert_eq!(
        (relays.count, relays.defaults_not_taken.as_slice()),
        (2, &["congestion-point", "pipeline"][..])
    );
    let text = checked.text();
    assert!(text.contains("but not: congestion-point, pipeline; an override by the tags"), "{text}");
    let own = "[[override]]\nname = \"relays\"\nswitches = { tag = \"relay\" }\npipeline = \"0ns\"";
    let checked = report(&format!("{own}\n{defaults}"));
    assert_eq!(checked.relays.expect("there are two").defaults_not_taken, ["congestion-point"]);
    let checked = report("[defaults]\nscheduler = \"round-robin\"");
    assert_eq!(checked.relays.as_ref().map(|relays| relays.defaults_not_taken.len()), Some(0));
    assert!(!checked.text().contains("but not"));
}

// ---- where relays are

#[test]
fn a_link_that_chooses_it_has_a_relay_at_each_end_and_keeps_its_name() {
    let scenario = Line::default().scenario();
    let blueprint = scenario.blueprint();
    let nodes: Vec<&str> = blueprint.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(nodes, ["h1", "h2", "s1", "s2", "r1", "r2"]);
    let ends = |name: &str| {
        let link = blueprint.links.iter().find(|link| link.name == name).expect("it is there");
        (link.ends.clone().map(|end| nodes[end.node.index()]), link.directions[0].delay.0 / 1_000_000)
    };
    assert_eq!(ends("s1-s2"), (["r1", "r2"], 100));
    assert_eq!((ends("s1-r1"), ends("s2-r2")), ((["s1", "r1"], 1), (["s2", "r2"], 1)));
    let ports = check(&scenario, false).ports;
    let kinds: Vec<_> = ports.iter().map(|port| (port.kind.as_str(), port.flow_control)).collect();
    assert!(kinds.contains(&("relay from long-haul", Some("swing"))), "{kinds:?}");
    assert!(kinds.contains(&("relay from relay-cable", Some("pfc"))), "{kinds:?}");
    let remote = ports.iter().find(|port| port.kind == "relay from long-haul").expect("it is there");
    assert_eq!(remote.buffer_bytes, Some(2_500_000 + 62_500));
}

#[test]
fn names_of_relays_are_the_first_free_ones() {
    let text = Line::default().text().replace("h2", "r1");
    let scenario = Scenario::from_text("a.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let nodes: Vec<&str> = scenario.blueprint().nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(nodes[4..], ["r2", "r3"]);
}

#[test]
fn cables_are_links_that_overrides_select_by_tag_and_direction() {
    let more = "[[override]]\nname = \"into-relay\"\nlinks = { tag = \"relay-cable\" }\ndirection = \"switch>relay\"\n\
                flow-control.pfc = { xoff = \"198KB\" }\ndelay = \"2us\"";
    let scenario = Line { more, ..Line::default() }.scenario();
    let blueprint = scenario.blueprint();
    let cable = blueprint.links.iter().find(|link| link.name == "s1-r1").expect("it is there");
    let delays = cable.directions.each_ref().map(|direction| direction.delay.0 / 1_000_000);
    assert_eq!(delays, [2, 1]);
    assert_ne!(cable.directions[0].flow_control, cable.directions[1].flow_control);
}

#[test]
fn overrides_for_relays_are_idle_where_no_link_has_any() {
    let more = "[[override]]\nname = \"cables\"\nlinks = { tag = \"relay-cable\" }\ndirection = \"relay>switch\"\n\
                flow-control.pfc = { xoff = \"198KB\" }";
    let scenario = Line { more, long: "flow-control = \"pfc\"", ..Line::default() }.scenario();
    assert_eq!(scenario.blueprint().links.len(), 3);
    let typo = more.replace("relay-cable", "relay-cabel");
    let refused = Line { more: &typo, ..Line::default() }.refused();
    assert!(refused.contains("did you mean \"relay-cable\"?"), "{refused}");
}

#[test]
fn an_override_for_a_direction_of_the_link_still_finds_it_between_its_switches() {
    let long = "flow-control = \"swing\"\n[[override]]\nname = \"back\"\nlinks = { tag = \"long-haul\" }\n\
                direction = \"s2>s1\"\nflow-control = \"lossy\"";
    let scenario = Line { long, ..Line::default() }.scenario();
    let link = scenario.blueprint().links.iter().find(|link| link.name == "s1-s2").expect("it is there");
    let names = link.directions.each_ref().map(|direction| direction.flow_control[0].1.name());
    assert_eq!(names, ["swing", "lossy"]);
}

#[test]
fn relays_may_be_on_any_link_and_change_no_path() {
    // Half of the links of a leaf-spine, those to one spine and those of one leaf's hosts.
    let base = "seed = 3\ntopology.leaf-spine = { leaves = 2, spines = 2, hosts = 4, rate = \"100G\", delay = \"1us\" }\n\
                limit = \"1ms\"\n[[workload]]\nname = \"all\"\nuntil = \"100us\"\n\
                poisson = { sizes = \"fb-hadoop\", load = 0.4 }\n";
    let relayed = format!(
        "{base}[[override]]\nname = \"spine\"\nlinks = \"*-c1\"\nflow-control = \"swing\"\n\
         [[override]]\nname = \"leaf\"\nlinks = \"h1-*\"\nflow-control = \"swing\"\n"
    );
    let flows = |text: &str| {
        let scenario = Scenario::from_text("a.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        let records = run(&scenario);
        let through = counter_of_all(&records, "c1", "rx_packets");
        let Some(Values::Bool(finished)) = records.flows.column("finished") else { panic!("it is a truth") };
        assert!(finished.iter().all(|&done| done == 1));
        through
    };
    let (plain, relayed) = (flows(base), flows(&relayed));
    assert!(plain > 100, "{plain} packets pass the spine");
    assert_eq!(plain, relayed);
}

/// Data packets that came into a node.
fn counter_of_all(records: &Records, node: &str, name: &str) -> u64 {
    let nodes = texts(&records.counters, "node");
    let classes = wholes(&records.counters, "class");
    let values = wholes(&records.counters, name);
    (0..nodes.len()).filter(|&row| nodes[row] == node && classes[row] == 3).map(|row| values[row]).sum()
}

#[test]
fn without_relays_nothing_changes() {
    // The link is named, the choice is another: as if the mechanism were not there.
    let pfc = "flow-control.pfc = { xoff = \"1MB\" }";
    let scenario = Line { long: pfc, ..Line::default() }.scenario();
    assert!(scenario.blueprint().nodes.iter().all(|node| node.role.relay().is_none()));
    assert_eq!(scenario.blueprint().links.len(), 3);
    let in_switch = Line { long: "flow-control.swing = { form = \"switch\" }", ..Line::default() }.scenario();
    assert_eq!(in_switch.blueprint().links.len(), 3);
}

// ---- what they do

#[test]
fn a_long_link_is_used_as_much_as_it_is_drained_whatever_its_length() {
    // Equation 6. A round trip to begin with, then whole cycles; packets count where they start.
    for long in [SWING, "flow-control.swing = { form = \"switch\" }"] {
        for delay_us in [10, 100, 400] {
            for drain_gbps in [20, 50, 80] {
                let limit_us = 12 * delay_us + 400;
                let line = Line { delay_us, drain_gbps, long, limit_us, ..Line::default() };
                let records = line.run();
                let from = (4 * delay_us + 100) as f64;
                let used = used(&records, from, limit_us as f64);
                let drain = drain_gbps as f64 / 100.0;
                assert!(
                    (used - drain).abs() < 0.02 * drain + 0.005,
                    "{long}, {delay_us} us, {drain}: {used}"
                );
                assert!(records.outcome.lossless.is_held());
            }
        }
    }
}

#[test]
fn a_pause_of_the_switch_stops_its_relay_and_its_copy_stops_the_far_one() {
    let records = Line::default().run();
    let said = counter(&records, "s2", "s2-r2", "pfc_tx");
    assert!(said > 100, "{said}");
    // Heard on the cable and sent on over the link, but for the last ones, which are still on their way.
    let received = counter(&records, "r2", "s2-r2", "pfc_rx");
    assert!(said - received <= 1);
    assert!(received - counter(&records, "r2", "s1-s2", "pfc_tx") <= 1);
    // 100 us of copies are on the link.
    let obeyed = counter(&records, "r1", "s1-s2", "pfc_rx");
    assert!(obeyed < received && obeyed > received * 9 / 10, "{obeyed} of {received}");
    // The far relay pauses its own switch, which is no copy.
    assert!(counter(&records, "r1", "s1-r1", "pfc_tx") > 0);
    assert_eq!(counter(&records, "r2", "s2-r2", "pfc_tx"), 0);
}

#[test]
fn a_remote_buffer_that_is_too_small_overflows_and_is_named() {
    let long = "flow-control = \"swing\"\nbuffer.static = { size = \"1MB\" }";
    let line = Line { long, drain_gbps: 20, ..Line::default() };
    let scenario = line.scenario();
    let warnings = scenario.warnings().join("\n");
    assert!(
        warnings.contains(
            "the buffer of 1MB is 1562.5KB short of the 2562.5KB that flow control \"swing\" asks for"
        ),
        "{warnings}"
    );
    let lossless = run(&scenario).outcome.lossless;
    assert_eq!(lossless.verdict, LosslessVerdict::Violated);
    let loss = lossless.loss.expect("it is violated");
    assert_eq!(loss.place, "r2 (s1-s2)");
    assert!(loss.missing_bytes > 0);
    assert_eq!(lossless.short.map(|short| short.short_bytes), Some(1_562_500));
}

#[test]
fn a_cable_of_another_rate_is_refused_at_its_line() {
    let more = "[[override]]\nname = \"slow\"\nlinks = { tag = \"relay-cable\" }\nrate = \"40G\"";
    let refused = Line { more, ..Line::default() }.refused();
    let expected = "a.toml:16: slow.rate: a relay's cable has the rate of its link, 100G: at 40G a relayed pause \
                    would not last as long";
    assert_eq!(refused, expected);
}

#[test]
fn cables_follow_a_rate_that_an_override_gives_the_link() {
    let long = "flow-control = \"swing\"\nrate = \"400G\"";
    let scenario = Line { long, ..Line::default() }.scenario();
    let rates = scenario
        .blueprint()
        .links
        .iter()
        .map(|link| (link.name.as_str(), link.directions[0].rate.0 / 1_000_000_000));
    let rates: Vec<_> = rates.collect();
    assert!(rates.contains(&("s1-r1", 400)) && rates.contains(&("s1-s2", 400)), "{rates:?}");
}

#[test]
fn a_pinned_path_leads_over_the_relays_of_its_links() {
    let text = Line::default().text().replace(
        "{ from = \"h1\", to = \"h2\", size = \"unbounded\" }",
        "{ from = \"h1\", to = \"h2\", size = \"1MB\", path = \"h1,s1,s2,h2\" }",
    );
    let scenario = Scenario::from_text("a.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let records = run(&scenario);
    assert_eq!(counter(&records, "r2", "s1-s2", "rx_packets"), 1_000);
    let Some(Values::Bool(finished)) = records.flows.column("finished") else { panic!("it is a truth") };
    assert_eq!(finished, &[1]);
}

#[test]
fn a_path_names_parallel_links_in_their_order_whichever_has_relays() {
    let text = "limit = \"9ms\"\n[topology.explicit]\nhosts = [\"h1\", \"h2\"]\nswitches = [\"s1\", \"s2\"]\nrate = \"100G\"\ndelay = \"1us\"\n\
                links = [{ between = [\"s1\", \"s2\"], count = 2 }, { between = [\"h1\", \"s1\"] }, { between = [\"s2\", \"h2\"] }]\n\
                [[override]]\nname = \"first\"\nlinks = \"s1-s2#1\"\nflow-control = \"swing\"\n\
                [[workload]]\nname = \"one\"\nflows = [{ from = \"h1\", to = \"h2\", size = \"1MB\", path = \"h1,s1,s2#1,h2\" }]\n";
    let over = |text: &str, link: &str, node: &str| {
        let scenario = Scenario::from_text("a.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        counter(&run(&scenario), node, link, "rx_packets")
    };
    assert_eq!(over(text, "s1-s2#1", "r2"), 1_000);
    assert_eq!(over(&text.replace("s2#1,h2", "s2#2,h2"), "s1-s2#2", "s2"), 1_000);
}

#[test]
fn a_pause_that_outlasts_a_failure_of_the_link_is_sent_again() {
    // h2 takes nothing from 1 ms on; the link is down for 100 us, and its far end would start afresh.
    let long =
        "flow-control.swing = { pause = \"on-off\" }\nfaults.down = { from = \"3ms\", to = \"3.1ms\" }";
    let more = pauses(&[(1_000, 6_000)]);
    let line = Line { long, more: &more, drain_gbps: 100, limit_us: 6_000, ..Line::default() };
    let records = line.run();
    // Until the word has crossed the link, the far relay sends into a buffer that is full: one delay's worth.
    let lossless = records.outcome.lossless;
    let bytes = lossless.loss.expect("it was full").bytes;
    assert!(bytes <= 100 * 12_500, "{bytes}");
    let short = lossless.short.expect("the link comes up again").short_bytes;
    assert!(bytes <= short, "{bytes} of {short}");
}

/// An override that joins the links of relays past them from one time to another, in microseconds.
fn bypassed(relays: &str, from: u64, to: u64) -> String {
    format!(
        "[[override]]\nname = \"bypass\"\nswitches = {relays}\n\
         faults.bypass = {{ from = \"{from}us\", to = \"{to}us\" }}"
    )
}

#[test]
fn pauses_of_the_switch_pass_bypassed_relays_and_stop_the_far_switch() {
    let more = bypassed("{ tag = \"relay\" }", 0, 10_000);
    let records = Line { more: &more, ..Line::default() }.run();
    let sent = counter(&records, "s2", "s2-r2", "pfc_tx");
    let obeyed = counter(&records, "s1", "s1-r1", "pfc_rx");
    assert!(sent > 10 && obeyed > 10 && obeyed <= sent, "{obeyed} of {sent}");
    assert!(paused(&records, "s1", "s1-r1") > 500.0, "{}", paused(&records, "s1", "s1-r1"));
    for (relay, link) in [("r1", "s1-s2"), ("r2", "s2-r2"), ("r1", "s1-r1"), ("r2", "s1-s2")] {
        assert!(paused(&records, relay, link) <= 0.0, "{relay} obeys none");
        let frame = 1_082;
        assert!(counter(&records, relay, link, "peak_bytes") <= 2 * frame, "{relay} only passes on");
    }
    // The switch has room for what is on a cable, and not on the link.
    let loss = records.outcome.lossless.loss.expect("it overflows");
    assert_eq!(loss.place, "s2 (s2-r2)");
}

#[test]
fn a_relay_that_is_bypassed_loses_what_it_holds_and_no_more_where_the_other_one_works() {
    let at = |relay: &str| {
        let more = bypassed(relay, 700, 1_200);
        Line { more: &more, ..Line::default() }.run()
    };
    let [near, far] = [at("\"r1\""), at("\"r2\"")];
    let lost = |records: &Records, node: &str, name: &str| counter_of_all(records, node, name);
    // The near one holds what its cable brought above XON; the far one's place cannot be told from the link.
    assert!(near.outcome.lossless.loss.is_none());
    let held = lost(&near, "r1", "drops_link_down");
    assert!(held > 0 && held <= 350, "{held} packets");
    assert!(lost(&far, "r2", "drops_link_down") > 0);
    assert_eq!(far.outcome.lossless.loss.as_ref().expect("it overflows").place, "s2 (s2-r2)");
    // Afterwards each works as before.
    for records in [&near, &far] {
        assert!((used(records, 1_800.0, 2_000.0) - 0.5).abs() < 0.05);
        assert_eq!(
            records.outcome.lossless.unproven.iter().filter(|of| of.why.contains("bypassed")).count(),
            1
        );
    }
    let never = Line { more: &bypassed("\"r2\"", 5_000, 6_000), ..Line::default() }.run();
    assert!(never.outcome.lossless.unproven.iter().all(|of| !of.why.contains("bypassed")));
    let plain = Line::default().run();
    assert_eq!(format!("{:?}", never.counters), format!("{:?}", plain.counters), "it is after the end");
}

#[test]
fn relays_alone_are_bypassed_at_times_in_order() {
    let said = |more: &str| Line { more, ..Line::default() }.refused();
    assert!(
        said(&bypassed("\"s1\"", 1, 2)).contains("faults.bypass: s1 is not a relay, and only relays are")
    );
    assert!(said(&bypassed("\"r1\"", 2, 1)).contains("bypass.faults.bypass: it ends at 1us, which is not"));
    let long = "flow-control.swing = {}\nfaults.bypass = { from = \"1us\", to = \"2us\" }";
    let refused = Line { long, ..Line::default() }.refused();
    assert!(refused.contains("long-haul.faults.bypass: it needs relays, for example `switches"), "{refused}");
}

#[test]
fn relays_copy_pfc_whatever_the_rest_of_the_network_has() {
    for others in ["cbfc", "lossy", "swing"] {
        let more = format!("[defaults]\nflow-control = \"{others}\"");
        let scenario = Line { more: &more, ..Line::default() }.scenario();
        let cable = scenario.blueprint().links.iter().find(|link| link.name == "s2-r2").expect("it is there");
        assert_eq!(cable.directions[1].flow_control[0].1.name(), "pfc", "{others}");
        assert!(run(&scenario).outcome.lossless.is_held(), "{others}");
    }
    let more = "[[override]]\nname = \"cables\"\nlinks = { tag = \"relay-cable\" }\nflow-control = \"cbfc\"";
    let refused = Line { more, ..Line::default() }.refused();
    assert!(refused.contains("cables.flow-control: relays copy the pauses of PFC"), "{refused}");
}

#[test]
fn a_link_and_its_cables_pause_alike() {
    let more = "[defaults]\nflow-control.pfc = { pause = \"on-off\" }";
    let records = Line { more, drain_gbps: 10, limit_us: 6_000, ..Line::default() }.run();
    assert!(records.outcome.lossless.is_held());
    let long = "flow-control.swing = { pause = \"timer\" }";
    let refused = Line { long, more, ..Line::default() }.refused();
    assert!(refused.contains("a relay's cable and its link pause alike"), "{refused}");
}

#[test]
fn relays_of_two_lengths_of_cable_on_one_link_are_refused() {
    let long = "flow-control = { class-3 = { swing = {} }, class-4 = { swing = { cable = \"9us\" } } }";
    let refused = Line { long, ..Line::default() }.refused();
    assert!(refused.contains("its relays have cables of 1us and of 9us"), "{refused}");
}

#[test]
fn a_proxy_at_the_relay_sends_cnps_long_before_the_receiver_could() {
    let long = "flow-control = \"swing\"\ncongestion-point = [{ proxy-cnp = {} }]";
    let more = "[defaults]\nrate-control = \"dcqcn\"";
    let cnps = |long| {
        let line = Line { long, more, drain_gbps: 10, delay_us: 400, limit_us: 3_000, ..Line::default() };
        let records = line.run();
        let cnps = wholes(&records.flows, "cnps");
        cnps[0]
    };
    assert_eq!(cnps("flow-control = \"swing\""), 0);
    assert!(cnps(long) > 3, "{}", cnps(long));
}

// ---- how much they hold

/// A pause of h2 for each period, so that the drain is now on and now off.
fn pauses(periods: &[(u64, u64)]) -> String {
    let mut list = String::new();
    let mut at = 0;
    for (open, closed) in periods {
        at += open;
        let _ = write!(list, "{{ from = \"{at}us\", to = \"{}us\" }}, ", at + closed);
        at += closed;
    }
    format!("[[override]]\nname = \"stops\"\nhosts = \"h2\"\nfaults.pause = [{list}]")
}

/// Bytes of the largest frame, as buffers hold it, of the ripple of the cable's loop, and a packet.
const MTU: u64 = 1_078;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// One bandwidth-delay product, the ripple of the loop between relay and switch, and a frame for each
    /// relayed pause, or two where data go the other way.
    #[test]
    fn a_relay_never_holds_more_than_its_hard_bound(
        periods in proptest::collection::vec((1u64..400, 1u64..400), 1..8),
        drain_gbps in prop_oneof![Just(10u64), Just(40), Just(90), Just(100)],
        delay_us in 20u64..150,
        reverse in any::<bool>(),
    ) {
        let more = pauses(&periods);
        let long = "flow-control = \"swing\"\nbuffer.static = { size = \"100MB\" }";
        let line = Line { delay_us, drain_gbps, long, more: &more, reverse, limit_us: 3_000 };
        let records = line.run();
        let held = counter(&records, "r2", "s1-s2", "peak_bytes");
        let cycles = counter(&records, "r2", "s1-s2", "pfc_tx").div_ceil(2);
        let frames = if reverse { 2 } else { 1 };
        let bound = line.bdp() + 25_000 + 2 * MTU + frames * MTU * cycles;
        prop_assert!(held <= bound, "{held} > {bound} after {cycles} pauses");
        prop_assert!(records.outcome.lossless.is_held());
    }
}
