//! The program of the benchmarks, on a scenario of two hosts.

#[path = "../../benches/suite/measure.rs"]
mod measure;

use std::path::PathBuf;

use measure::{Order, measured};
use serde_json::Value;

/// The case of 128 hosts with as few as there can be.
fn order(threads: usize, build_only: bool) -> Order {
    let sets = [("topology.fat-tree.k", "2"), ("workload.permutation.permutation.size", "9820B")];
    Order {
        scenario: PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks/fat-tree-128.toml"),
        sets: sets.map(|(path, value)| (path.to_owned(), value.to_owned())).to_vec(),
        threads,
        build_only,
    }
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} is {}", value[key]))
}

#[test]
fn a_run_reports_what_it_simulated_and_its_cost() {
    let value = measured(&order(1, false)).expect("the case runs");
    assert_eq!((&value["case"], &value["stopped"]), (&"fat-tree-128".into(), &"finished".into()));
    assert_eq!((number(&value, "hosts"), number(&value, "flows_finished")), (2.0, 2.0));
    // Two flows of ten packets over six links, and at least all but the last ACKs back over as many.
    let hops = number(&value, "packet_hops");
    assert!((120.0..=240.0).contains(&hops), "{hops} packet-hops");
    assert_eq!(number(&value["events_per_packet_hop"], "packet arrival"), 1.0);
    for key in ["wall_s", "read_s", "build_s"] {
        assert!(number(&value, key) > 0.0, "{key}");
    }
    if cfg!(target_os = "linux") {
        let of = |key| number(&value, key);
        assert!(of("read_memory_bytes") <= of("built_memory_bytes"));
        assert!(of("built_memory_bytes") <= of("peak_memory_bytes"));
    }
}

#[test]
fn what_is_only_built_has_no_outcome() {
    let value = measured(&order(1, true)).expect("the case can be built");
    assert_eq!(number(&value, "links"), 6.0);
    assert!(value.get("packet_hops").is_none() && value.get("wall_s").is_none());
}

#[test]
fn what_cannot_be_run_is_reported() {
    let error =
        measured(&Order { scenario: "none.toml".into(), ..order(1, false) }).expect_err("there is none");
    assert!(error.contains("none.toml"), "{error}");
}
