//! DCTCP as a rate (Alizadeh et al., SIGCOMM 2010, in the form of HPCC's simulator).
//!
//! The paper's law for a step of marking, α = sqrt(2/W), is for a window: the queue is what the windows
//! exceed the path by, and follows them at once. A rate without a window is integrated by the queue, and
//! its cut is felt a round trip T late. Let all flows add ν of the link's rate a round trip P, s = ν/P, and
//! the queue cross K with the excess E. If one cut of α/2 each were enough, it would leave a deficit G =
//! α/2 - E - s·T, the queue would be back at K after t, E·T + s·T²/2 = G·t, and cross it again with E'² =
//! G² + 2·s·G·(P - t), P of it without steps. So dE'/dE = -(G + s·(P + T)) / E' < -1: such a cycle is never
//! stable, and swings grow until the queue runs empty in between. α and the queue have no fixed point. What
//! holds is
//!
//! * from an empty queue, which begins to grow with no excess, K is reached with E = sqrt(2 · s · K/C);
//! * at marks whose probability p does not depend on the queue, steps and cuts balance: α is p on average,
//!   and a batch is what is in flight and one packet, n = R · T / (8 · wire) + 1. A batch outside CWR meets
//!   marks at the rate n · p, and CWR lasts one batch; so 1 / (n · p) steps come between two cuts, `rai` / (n
//!   · p) = R · p/2, that is R² · T / (8 · wire) + R = 2 · `rai` / p².

use floodway_fabric::Records;

use super::support::{counter, near, queue, run, series, used};

const WIRE: f64 = 1_082.0;
const FRAME: f64 = 1_062.0;
/// Round trip of a packet and its ACK over two links of 100G and 5 us, in seconds.
const BASE: f64 = 20e-6 + 2.0 * (WIRE + 86.0) / 12.5e9;
/// `rai`'s default, bit/s.
const RAI: f64 = 615e6;

fn star(red: &str, flows: &str, limit_us: f64) -> Records {
    run(&format!(
        "limit = \"{limit_us}us\"\nstop = \"limit\"\n\
         topology.single-switch = {{ hosts = 3, rate = \"100G\", delay = \"5us\" }}\n\
         records = {{ watch = \"*\", busiest = 0, buckets = 400000 }}\n\
         [defaults]\nflow-control.pfc = {{ xoff = \"20MB\" }}\n\
         rate-control.dctcp = {{ rmin = \"100M\" }}\ncongestion-point.red = {{ {red} }}\n\
         [[workload]]\nname = \"long\"\nflows = [{flows}]\n"
    ))
}

const LONG: &str = "{ from = \"h1\", to = \"h3\", size = \"unbounded\" }";

#[test]
fn at_random_marks_the_rate_is_where_steps_and_cuts_balance() {
    for pmax in [0.02, 0.04] {
        // A packet that joins an empty queue finds itself there: a place on the ramp that is always the same.
        let red = format!("at = \"enqueue\", kmin = \"0B\", kmax = \"1078B\", pmax = {pmax}");
        let (from, to) = (5_000.0, 65_000.0);
        let records = star(&red, LONG, to);
        let p = pmax * FRAME / 1_078.0;
        let packets = counter(&records, "s1", "h3-s1", "tx_packets") as f64;
        let marks = counter(&records, "s1", "h3-s1", "ecn_marks") as f64;
        // 3.3 standard deviations of a binomial number: 99.9 %.
        near("share of marks", marks / packets, p, 3.3 * (p * (1.0 - p) / packets).sqrt());
        let a = BASE / (8.0 * WIRE);
        let rate = ((1.0 + 8.0 * a * RAI / (p * p)).sqrt() - 1.0) / (2.0 * a);
        let measured = used(&records, "s1>h3", 100.0, [from, to]) * 100e9;
        // R goes with 1 / sqrt(share of cuts · α), whose numbers are of `cuts` cuts and more marks: 3.3
        // standard deviations. Beyond first order: α/4 of a cut's logarithm, and p of batches that end with a
        // mark.
        let batch = rate * a + 1.0;
        let cuts = (to - from) * 1e-6 * rate / (8.0 * WIRE) / batch * (batch * p) / (1.0 + batch * p);
        near("rate over the law's", measured / rate, 1.0, 3.3 / cuts.sqrt() + 1.25 * p);
    }
}

#[test]
fn without_marks_the_rate_rises_by_its_step_a_round_trip() {
    // Both are cut, the second ends, and the first has the link to itself.
    let both = format!("{LONG}, {{ from = \"h2\", to = \"h3\", size = \"1MB\" }}");
    let records = star("kmin = \"100KB\", kmax = \"100KB\"", &both, 3_500.0);
    let (early, late) = ([1_000.0, 1_500.0], [2_500.0, 3_000.0]);
    let (_, longest) = queue(&records, "s1>h3", [early[0], late[1]]);
    assert!(longest < 100e3, "{longest} B wait, which marks nothing");
    let rate = |span| used(&records, "h1>s1", 100.0, span) * 100.0;
    let (first, last) = (rate(early), rate(late));
    assert!(last < 95.0, "the line rate does not end the rise: {last}");
    // A batch takes a round trip and up to the gap to the next packet.
    let rise = |period: f64| RAI / 1e9 * (late[0] - early[0]) / period;
    let (most, least) = (rise(BASE * 1e6), rise(BASE * 1e6 + WIRE * 8e-3 / first));
    let packets = 4.0 * WIRE * 8e-3 / 500.0;
    near("rise in Gbit/s", last - first, f64::midpoint(most, least), (most - least) / 2.0 + packets);
}

#[test]
fn from_an_empty_queue_two_flows_pass_k_with_the_excess_that_their_steps_make() {
    // 20 us each link, 200 Mbit/s a step of each flow, K of 30 us.
    let (rai, k) = (200e6, 375e3);
    let records = run(&format!(
        "limit = \"60ms\"\ntopology.single-switch = {{ hosts = 3, rate = \"100G\", delay = \"20us\" }}\n\
         records = {{ watch = \"*\", busiest = 0, buckets = 100000 }}\n\
         [defaults]\nflow-control.pfc = {{ xoff = \"20MB\" }}\nrate-control.dctcp = {{ rai = \"200M\" }}\n\
         congestion-point.red = {{ kmin = \"{k}B\", kmax = \"{k}B\" , pmax = 1.0 }}\n\
         [[workload]]\nname = \"long\"\nlong-lived = {{ from = [\"h1\", \"h2\"], to = \"h3\" }}\n"
    ));
    let base = 80.0 + 2.0 * (WIRE + 86.0) / 12_500.0;
    let wait = k / FRAME * WIRE / 12_500.0;
    let step = 2.0 * rai / 100e9;
    // P is between the base round trip, and that with K waiting and the gap to a flow's next packet.
    let excess = |period: f64| (2.0 * step / period * wait).sqrt();
    let (most, least) = (excess(base) + step, excess(base + wait + 0.2) - step);
    let waits = series(&records, "s1>h3", "queue_mean_bytes");
    let mut passes = 0;
    for at in 10_040..waits.len() {
        if waits[at - 1].1 < k && waits[at].1 >= k {
            // Where it has crossed K downwards without running empty, it was not a swing of this kind.
            let since = (0..at - 1).rev().find(|&i| waits[i].1 >= k).unwrap_or(0);
            assert!(waits[since..at].iter().any(|&(_, queue)| queue < FRAME), "empty before {at} us");
            // The slope over 40 us: a packet of each flow more or less, and the step of the time between.
            let slope = (waits[at].1 - waits[at - 40].1) / 40.0 / FRAME * WIRE / 12_500.0;
            let slack = 2.0 * WIRE / 40.0 / 12_500.0 + step * 40.0 / base;
            near("excess at K", slope, f64::midpoint(most, least), (most - least) / 2.0 + slack);
            passes += 1;
        }
    }
    assert!(passes >= 2, "{passes} times");
}
