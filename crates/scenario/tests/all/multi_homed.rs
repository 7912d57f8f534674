//! Hosts with several NICs: which one a flow takes, and what happens when one fails.

use crate::columns::{reals, texts, wholes};
use crate::held::run;
use floodway_fabric::Records;
use floodway_fabric::outcome::Stopped;
use floodway_scenario::Scenario;

/// Racks of two leaves, which share two hosts each: h1 and h2 at t1 and t2, h3 and h4 at t3 and t4.
const RACKS: &str = r#"topology.leaf-spine = { spines = 2, leaves = 4, hosts = 2, homes = 2, rate = "100G", delay = "1us", host-leaf = { rate = "25G" } }
defaults.flow-control.pfc = {}
"#;

/// A workload of `count` flows of a size, the first at `start` us and one every `gap` us.
fn flows(name: &str, ends: [&str; 2], (count, size): (usize, &str), (start, gap): (usize, usize)) -> String {
    let [from, to] = ends;
    let flow = |n: usize| {
        let start = start + gap * n;
        format!("{{ from = \"{from}\", to = \"{to}\", size = \"{size}\", start = \"{start}us\" }}")
    };
    let flows: Vec<_> = (0..count).map(flow).collect();
    format!("[[workload]]\nname = \"{name}\"\nflows = [{}]\n", flows.join(", "))
}

/// Packets of data that `node` sent over `link`.
fn sent(records: &Records, node: &str, link: &str) -> u64 {
    let counters = &records.counters;
    let (nodes, links) = (texts(counters, "node"), texts(counters, "link"));
    let (classes, packets) = (wholes(counters, "class"), wholes(counters, "tx_packets"));
    let rows = (0..counters.rows()).filter(|&i| nodes[i] == node && links[i] == link && classes[i] == 3);
    rows.map(|i| packets[i]).sum()
}

#[test]
fn flows_spread_over_both_nics_and_each_stays_on_one() {
    let records = run(&format!("{RACKS}{}", flows("list", ["h1", "h4"], (256, "10KB"), (0, 20))));
    let (first, second) = (sent(&records, "h1", "h1-t1"), sent(&records, "h1", "h1-t2"));
    assert_eq!(first + second, 2560);
    // Flows are 10 packets each, so that a flow on both NICs would leave a rest; 128 flows are 6 from 80
    // or 176.
    assert!(first.is_multiple_of(10) && (800..=1760).contains(&first), "{first} and {second}");
    // The last switch chooses the receiver's NIC.
    let (third, fourth) = (sent(&records, "t3", "h4-t3"), sent(&records, "t4", "h4-t4"));
    assert_eq!(third + fourth, 2560);
    assert!(third.is_multiple_of(10) && (800..=1760).contains(&third), "{third} and {fourth}");
    assert!(records.outcome.lossless.is_held());
}

#[test]
fn parallel_links_to_one_switch_are_nics_as_well() {
    let text = "topology.single-switch = { hosts = 3, links-per-host = 2, rate = '25G', delay = '1us' }\n";
    let records = run(&format!("{text}{}", flows("list", ["h1", "h3"], (256, "10KB"), (0, 20))));
    let first = sent(&records, "h1", "h1-s1#1");
    assert_eq!(first + sent(&records, "h1", "h1-s1#2"), 2560);
    assert!(first.is_multiple_of(10) && (800..=1760).contains(&first), "{first}");
    let third = sent(&records, "s1", "h3-s1#1");
    assert!(third.is_multiple_of(10) && (800..=1760).contains(&third), "{third}");
}

#[test]
fn two_nics_carry_twice_the_rate_of_one() {
    // Without congestion control, 32 flows at once fill both NICs of the sender.
    let records =
        run(&format!("limit = \"1s\"\n{RACKS}{}", flows("list", ["h1", "h3"], (32, "1MB"), (0, 0))));
    assert_eq!(records.outcome.stopped, Stopped::Finished);
    let last = reals(&records.flows, "finish_receiver_us").iter().copied().fold(0.0, f64::max);
    // 32 MB take 10.24 ms over one NIC of 25G, 5.12 ms over two that share them evenly.
    assert!(last < 9_500.0, "{last}");
    assert!(records.outcome.lossless.is_held());
}

#[test]
fn flows_that_start_after_a_nic_has_failed_take_the_other() {
    let faults =
        "[[override]]\nname = \"cut\"\nlinks = \"h1-t1\"\nfaults.down = [{ from = \"10ms\", to = \"1s\" }]\n";
    let early = flows("early", ["h1", "h4"], (64, "10KB"), (0, 20));
    let late = flows("late", ["h1", "h4"], (64, "10KB"), (11_000, 20));
    let alone = run(&format!("{RACKS}{faults}{early}"));
    let both = run(&format!("{RACKS}{faults}{early}{late}"));
    assert_eq!(both.outcome.stopped, Stopped::Finished);
    assert_eq!(both.flows.rows(), 128);
    assert!(sent(&alone, "h1", "h1-t1") > 0);
    assert_eq!(sent(&both, "h1", "h1-t1"), sent(&alone, "h1", "h1-t1"));
    assert_eq!(sent(&both, "h1", "h1-t2"), sent(&alone, "h1", "h1-t2") + 640);
}

/// 16 flows of a host, the link of whose first NIC is down from 1 ms to 20 ms; and how many completed after
/// that.
fn cut(hosts: &str) -> (Records, usize) {
    let faults = "[[override]]\nname = \"cut\"\nlinks = \"h1-t1\"\nfaults.down = [{ from = \"1ms\", to = \"20ms\" }]\n";
    let hosts = format!("[[override]]\nname = \"bond\"\nhosts = \"h1\"\n{hosts}\n");
    let list = flows("list", ["h1", "h4"], (16, "1MB"), (0, 0));
    let records = run(&format!("limit = \"1s\"\n{RACKS}{faults}{hosts}{list}"));
    assert_eq!(records.outcome.stopped, Stopped::Finished);
    let after =
        reals(&records.flows, "finish_receiver_us").iter().filter(|finish| **finish > 20_000.0).count();
    (records, after)
}

#[test]
fn flows_of_a_failed_nic_move_to_the_other() {
    for (hosts, earliest) in [
        ("nic-failover = \"0us\"", 0.0),
        ("scheduler = \"strict\"", 0.0),
        ("nic-failover = \"3ms\"", 4_000.0),
    ] {
        let (records, after) = cut(hosts);
        assert_eq!(after, 0, "{hosts}");
        let (first, second) = (sent(&records, "h1", "h1-t1"), sent(&records, "h1", "h1-t2"));
        // 1 ms at 25G are 2888 packets.
        assert!((2_000..3_300).contains(&first) && first + second >= 16_000, "{first} and {second}");
        let late =
            reals(&records.flows, "finish_receiver_us").iter().filter(|finish| **finish > earliest).count();
        assert!(late > 0, "{hosts}");
    }
}

#[test]
fn flows_of_a_failed_nic_wait_for_it_where_failover_is_off_or_comes_later() {
    for hosts in ["nic-failover = \"off\"", "nic-failover = \"19ms\""] {
        let (_, after) = cut(hosts);
        assert!(after > 0 && after < 16, "{after}");
    }
}

#[test]
fn flows_move_back_when_the_other_nic_fails_in_turn() {
    let faults = r#"
[[override]]
name = "first"
links = "h1-t1"
faults.down = [{ from = "1ms", to = "3ms" }]
[[override]]
name = "second"
links = "h1-t2"
faults.down = [{ from = "2ms", to = "400ms" }]
"#;
    let list = flows("list", ["h1", "h4"], (16, "1MB"), (0, 0));
    let records = run(&format!("limit = \"1s\"\n{RACKS}{faults}{list}"));
    // From 2 ms to 3 ms no NIC is up.
    assert_eq!(records.outcome.stopped, Stopped::Finished);
    let last = reals(&records.flows, "finish_receiver_us").iter().copied().fold(0.0, f64::max);
    assert!(last < 20_000.0, "{last}");
    assert!(sent(&records, "h1", "h1-t1") > 9_000);
}

#[test]
fn a_lone_flow_takes_its_ideal_time_over_either_nic() {
    let records = run(&format!("{RACKS}{}", flows("list", ["h1", "h4"], (32, "50KB"), (0, 200))));
    let slowdowns = reals(&records.flows, "slowdown");
    assert!(slowdowns.iter().all(|slowdown| *slowdown == 1.0), "{slowdowns:?}");
}

#[test]
fn the_ideal_is_that_of_the_fastest_nic() {
    let text = r#"
[topology.explicit]
hosts = ["h1..h2"]
switches = ["s1"]
delay = "1us"
links = [{ between = ["h1", "s1"], rate = "100G" }, { between = ["h1", "s1"], rate = "25G" }, { between = ["h2", "s1"], rate = "100G" }]
"#;
    let list = flows("list", ["h1", "h2"], (32, "1MB"), (0, 2000));
    let slowdowns = run(&format!("{text}{list}"));
    let slowdowns = reals(&slowdowns.flows, "slowdown");
    let fast = slowdowns.iter().filter(|slowdown| **slowdown == 1.0).count();
    let slow = slowdowns.iter().filter(|slowdown| (3.9..4.0).contains(*slowdown)).count();
    assert!(fast > 0 && slow > 0 && fast + slow == 32, "{slowdowns:?}");
}

#[test]
fn a_network_of_hosts_with_two_nics_loses_nothing_under_load() {
    let text = format!(
        "{RACKS}[[workload]]\nname = \"web\"\npoisson = {{ sizes = \"fb-hadoop\", load = 0.7, of = \"hosts\" }}\nuntil = \"5ms\"\n"
    );
    let (one, other) = (run(&text), run(&text));
    assert!(one.outcome.lossless.is_held());
    assert_eq!(one.outcome.stopped, Stopped::Finished);
    assert!(one.flows.rows() > 500, "{}", one.flows.rows());
    assert_eq!((one.flows, one.counters), (other.flows, other.counters));
}

/// As `run`, of hosts with two NICs of 25G whose policy is this one.
fn with_policy(nics: &str, rest: &str, list: &str) -> Records {
    let bond = format!("[[override]]\nname = \"bond\"\nhosts = \"h1\"\nnics = \"{nics}\"\n");
    run(&format!("limit = \"1s\"\n{RACKS}{bond}{rest}{list}"))
}

#[test]
fn one_flow_is_sprayed_over_both_nics_at_the_rate_of_both() {
    let text = |nics: &str| {
        format!(
            r#"
[topology.explicit]
hosts = ["h1..h2"]
switches = ["s1"]
delay = "1us"
links = [{{ between = ["h1", "s1"], rate = "25G", count = 2 }}, {{ between = ["h2", "s1"], rate = "100G" }}]
[defaults]
reliability = "none"
nics = "{nics}"
{}"#,
            flows("list", ["h1", "h2"], (1, "5MB"), (0, 0))
        )
    };
    let (sprayed, lone) = (run(&text("spray")), run(&text("per-qp")));
    assert_eq!(["h1-s1#1", "h1-s1#2"].map(|link| sent(&sprayed, "h1", link)), [2_500, 2_500]);
    let [sprayed, lone] = [&sprayed, &lone].map(|records| reals(&records.flows, "fct_us")[0]);
    assert!((lone / sprayed - 2.0).abs() < 0.01, "{sprayed} and {lone}");
}

#[test]
fn a_sprayed_flow_goes_on_with_the_nic_that_is_left() {
    let rest = r#"
[[override]]
name = "irn"
flows = "*"
reliability = "irn"
[[override]]
name = "cut"
links = "h1-t1"
faults.down = [{ from = "300us", to = "900ms" }]
"#;
    let records = with_policy("spray", rest, &flows("list", ["h1", "h4"], (4, "1MB"), (0, 0)));
    assert_eq!(records.outcome.stopped, Stopped::Finished);
    assert!(sent(&records, "h1", "h1-t1") < 1_000 && sent(&records, "h1", "h1-t2") > 3_000);
    let last = reals(&records.flows, "finish_receiver_us").iter().copied().fold(0.0, f64::max);
    assert!(last < 20_000.0, "{last}");
}

#[test]
fn an_active_nic_sends_everything_until_it_fails() {
    let list = flows("list", ["h1", "h4"], (16, "1MB"), (0, 0));
    let records = with_policy("active-backup", "", &list);
    assert_eq!((sent(&records, "h1", "h1-t1"), sent(&records, "h1", "h1-t2")), (16_000, 0));
    let cut = "[[override]]\nname = \"cut\"\nlinks = \"h1-t1\"\nfaults.down = [{ from = \"1ms\", to = \"900ms\" }]\n";
    let records = with_policy("active-backup", cut, &list);
    assert_eq!(records.outcome.stopped, Stopped::Finished);
    let (first, second) = (sent(&records, "h1", "h1-t1"), sent(&records, "h1", "h1-t2"));
    assert!(first < 3_000 && second > 13_000, "{first} and {second}");
}

#[test]
fn go_back_n_behind_sprayed_nics_is_warned_of() {
    let text = format!(
        "{RACKS}[[override]]\nname = \"bond\"\nhosts = \"h1\"\nnics = \"spray\"\n{}",
        flows("list", ["h1", "h4"], (1, "1MB"), (0, 0))
    );
    let warnings = Scenario::from_text("a.toml", &text, &[]).expect("it is right").warnings().join("\n");
    assert!(
        warnings.contains(
            "bond.nics: flows of list: \"spray\" reorders packets, which reliability \"go-back-n\""
        ),
        "{warnings}"
    );
}

#[test]
fn a_policy_or_a_time_that_is_none_is_refused() {
    let refused = |key: &str| {
        let text = format!("{RACKS}[[override]]\nname = \"bond\"\nhosts = \"h1\"\n{key}\n");
        let text = format!("{text}{}", flows("list", ["h1", "h4"], (1, "1MB"), (0, 0)));
        Scenario::from_text("a.toml", &text, &[]).expect_err("it is wrong").to_string()
    };
    let nics = refused("nics = \"sprya\"");
    assert!(nics.contains("a.toml:6") && nics.contains("per-qp") && nics.contains("spray"), "{nics}");
    let failover = refused("nic-failover = \"soon\"");
    assert!(failover.contains("a.toml:6: ") && failover.contains("or \"off\""), "{failover}");
    let number = refused("nic-failover = 3");
    assert!(number.contains("a.toml:6: ") && number.contains("or \"off\""), "{number}");
}
