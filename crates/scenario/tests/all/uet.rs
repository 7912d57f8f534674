//! Ultra Ethernet's transport in whole runs.

use crate::columns::reals;
use crate::held::run;

/// Two packets, the second of a few bytes: over another spine it may arrive first, and both together sooner
/// than behind one another.
#[test]
fn a_short_last_packet_may_overtake_the_one_before_it() {
    let faster = (1..=6).filter(|seed| {
        let records = run(&format!(
            r#"
            mtu = "4096B"
            seed = {seed}
            topology.leaf-spine = {{ leaves = 2, spines = 4, hosts = 4, rate = "100G", delay = "1us" }}
            [defaults]
            flow-control = "lossy"
            rate-control = "nscc"
            reliability = "uet"
            buffer.output-queue = {{ size = "1MB" }}
            [[workload]]
            name = "short"
            flows = [{{ from = "h1", to = "h5", size = "4106B" }}]
            "#
        ));
        // One behind the other they take 5.34944 us.
        reals(&records.flows, "fct_us")[0] < 5.349
    });
    assert!((1..6).contains(&faster.count()), "on some seeds they have one path");
}

/// A queue pair that rests for longer than a sender is silent wants to be called at once when a message
/// comes, not before.
#[test]
fn queue_pairs_that_rested_ask_for_credit_when_a_message_comes() {
    for seed in 1..=3 {
        let records = run(&format!(
            r#"
            seed = {seed}
            topology.single-switch = {{ hosts = 4, rate = "100G", delay = "1us" }}
            [defaults]
            reliability = "uet"
            rate-control = "rccc"
            qp = "per-pair"
            [[workload]]
            name = "pairs"
            poisson = {{ sizes = "fb-hadoop", load = 0.3, of = "hosts" }}
            until = "300us"
            "#
        ));
        assert!(reals(&records.flows, "slowdown").iter().all(|slowdown| *slowdown < 30.0));
    }
}
