//! Digests of all records of random networks with every mechanism: any change of a result changes a digest.
//!
//! `FLOODWAY_DIGESTS=DIR cargo test -p floodway-fabric digests` writes into an existing folder what
//! each run kept, so that two revisions can be compared with `diff -r`.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::support::plans::{Plan, TRANSPORTS, plans};
use crate::support::{POINTS, assert_invariants, drops, everything, finished, sum};
use floodway_units::{Time, mix};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// So many networks: each choice of a mechanism is met several times.
const RUNS: usize = 120;
/// So many more, in which all ports of a switch share one pool under PFC.
const POOLED_RUNS: usize = 40;

/// The first word of a choice in JSON.
fn word(json: &str) -> &str {
    json.trim_matches(|c: char| !c.is_ascii_alphabetic()).split('"').next().unwrap_or_default()
}

fn digest(text: &str) -> u64 {
    text.bytes().fold(0, |digest, byte| mix(digest ^ u64::from(byte)))
}

fn row(plan: &Plan) -> (String, String) {
    let net = plan.net();
    let records = net.run();
    assert_invariants(&records);
    // What no network here has is left out, so that digests stay when records get a field for it.
    let kept = ["link_retry", "not_skipped", "all_simulated_us"]
        .iter()
        .fold(everything(&records), |kept, field| kept.replace(&format!("{field}: None, "), ""));
    // A list that is empty stands for what was none before it was a list.
    let kept = kept.replace("skipped: [], ", "skipped: None, ");
    let (reliability, rate_control) = TRANSPORTS[plan.transport];
    let finished = finished(&records).into_iter().filter(|&finished| finished).count();
    let row = format!(
        "{:<8} {:<10} {:<13} {:<9} {:>7} {:>5} {:>5} {:>6} {:>7.1} {:016x}",
        word(plan.control()),
        word(reliability),
        rate_control.last().map_or("", |layer| word(layer)),
        POINTS[plan.point].map_or("", word),
        records.outcome.packet_hops,
        finished,
        drops(&records),
        sum(&records, "pfc_tx"),
        Time((records.outcome.simulated_us * 1e6) as u64).as_us(),
        digest(&kept)
    );
    (row, kept)
}

/// Digests of so many networks that are drawn with a seed; `word` begins the names of their files.
fn table(runs: usize, seed: u8, word: &str, change: impl Fn(Plan) -> Plan) -> String {
    let folder = std::env::var_os("FLOODWAY_DIGESTS").map(PathBuf::from);
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut table = String::from(
        "control  transport  rate control  point        hops  done drops pauses      us digest\n",
    );
    for run in 0..runs {
        let plan = change(plans().new_tree(&mut runner).expect("a plan is drawn").current());
        let (row, kept) = row(&plan);
        let _ = writeln!(table, "{row}");
        if let Some(folder) = &folder {
            std::fs::write(folder.join(format!("{word}{run:03}.txt")), kept).expect("the folder is there");
        }
    }
    table
}

/// What to do where a digest has moved.
const MOVED: &str =
    "FLOODWAY_DIGESTS=DIR writes what each run kept into a folder, here and at the revision before: diff -r";

#[test]
fn random_networks_keep_what_they_kept() {
    insta::with_settings!({ description => MOVED }, {
        insta::assert_snapshot!(table(RUNS, 7, "", |plan| plan));
    });
}

#[test]
fn random_networks_with_shared_pools_keep_what_they_kept() {
    insta::with_settings!({ description => MOVED }, {
        insta::assert_snapshot!(table(POOLED_RUNS, 8, "pooled-", |plan| Plan { pooled: true, crossbar: false, ..plan }));
    });
}
