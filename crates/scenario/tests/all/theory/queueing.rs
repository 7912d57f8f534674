//! A port as a queue: Poisson arrivals of packets of one size and none that slows down are M/D/1.
//!
//! ```text
//!  64 hosts ──── 1.6 Tbit/s each ────► s ──── 10 Gbit/s ────► sink
//! ```
//! A NIC is idle but for one packet in a thousand at most, and takes 1/160 of the service time: what arrives
//! at `s` is a Poisson process to within that.

use super::support::{near, real, run};

/// Wire bytes of a packet, the first of its flow.
const WIRE: f64 = 1_098.0;
/// Service time in microseconds.
const SERVICE: f64 = WIRE * 8e-4;
const PACKETS: f64 = 100_000.0;
const BATCHES: usize = 20;
/// Student's t with 19 degrees of freedom, at 99.95 %: two-sided 99.9 %.
const STUDENT: f64 = 3.883;

/// Waiting times in services, in the order of starts.
fn waits(load: f64) -> Vec<f64> {
    let until = PACKETS * SERVICE / load;
    let records = run(&format!(
        "limit = \"10s\"\nrecords = {{ busiest = 0 }}\n\
         measure = {{ from = \"0us\", to = \"{until:.0}us\" }}\n\
         [topology.explicit]\nhosts = [{{ name = \"h1..h64\", tags = [\"sender\"] }}, \"sink\"]\nswitches = [\"s\"]\n\
         rate = \"1600G\"\ndelay = \"1us\"\nlinks = [\n  {{ between = [\"h1..h64\", \"s\"] }},\n  \
         {{ between = [\"s\", \"sink\"], rate = \"10G\", tags = [\"slow\"] }},\n]\n\
         [defaults]\nflow-control = \"lossy\"\nbuffer.shared = {{ pool = \"100MB\" }}\nreliability = \"none\"\n\
         [[workload]]\nname = \"packets\"\nuntil = \"{until:.0}us\"\n\
         poisson = {{ sizes = {{ fixed = \"1000B\" }}, load = {load}, of = {{ tag = \"slow\" }}, \
         accounting = \"wire\", from = {{ tag = \"sender\" }}, to = \"sink\" }}\n"
    ));
    let column = |name| real(&records.flows, name);
    let waited =
        column("fct_us").iter().zip(column("ideal_fct_us")).map(|(fct, ideal)| (fct - ideal) / SERVICE);
    let mut rows: Vec<(f64, f64)> = column("start_us").iter().copied().zip(waited).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    // A twentieth of them for the queue to forget that it was empty.
    rows.split_off(rows.len() / 20).into_iter().map(|(_, wait)| wait).collect()
}

/// Mean, and half its confidence interval, from the means of batches.
fn batch_means(values: &[f64]) -> (f64, f64) {
    let size = values.len() / BATCHES;
    let means: Vec<f64> =
        values.chunks_exact(size).map(|batch| batch.iter().sum::<f64>() / size as f64).collect();
    let n = means.len() as f64;
    let mean = means.iter().sum::<f64>() / n;
    let variance = means.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    (mean, STUDENT * (variance / n).sqrt())
}

/// P(W <= t) in services (Erlang 1909): what came up to t + k before, and was not served by then.
fn waits_at_most(load: f64, t: i32) -> f64 {
    let mut factorial = 1.0;
    let terms = (0..=t).map(|k| {
        factorial *= f64::from(k.max(1));
        let x = load * (f64::from(k) - f64::from(t));
        x.powi(k) / factorial * (-x).exp()
    });
    (1.0 - load) * terms.sum::<f64>()
}

#[test]
fn packets_wait_as_in_m_d_1_on_average_and_in_the_tail() {
    for (load, tail) in [(0.3, [0, 1, 2]), (0.6, [0, 2, 4]), (0.8, [0, 4, 8])] {
        let waits = waits(load);
        let (mean, half) = batch_means(&waits);
        // A NIC that is found busy: one packet in 100 of its service, 1/160, at most.
        let nic = 1e-4;
        near(&format!("mean wait at {load}"), mean, load / (2.0 * (1.0 - load)), half + nic);
        for t in tail {
            let beyond: Vec<f64> =
                waits.iter().map(|&wait| f64::from(u8::from(wait > f64::from(t) + nic))).collect();
            let (share, half) = batch_means(&beyond);
            near(&format!("P(W > {t}) at {load}"), share, 1.0 - waits_at_most(load, t), half + nic);
        }
    }
}
