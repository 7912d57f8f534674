//! The summary for people: one table after another.

use std::fmt::Write as _;

use floodway_units::Bytes;
use floodway_units::cast::whole;

use super::Report;
use crate::cost::{Cost, duration, number, size};
use crate::resolved;

/// The whole text.
pub fn render(report: &Report) -> String {
    let mut text = String::new();
    let nodes: Vec<String> =
        report.nodes.iter().map(|kind| format!("{} {}", kind.count, kind.kind)).collect();
    let profile = report.profile.map_or_else(String::new, |name| format!(", profile {name}"));
    let _ = writeln!(
        text,
        "{}: seed {}, mtu {}, ends at {} at the latest{profile}",
        report.name,
        report.seed,
        Bytes(report.mtu_bytes),
        time(report.limit_us),
    );
    let _ = writeln!(text, "nodes: {}", nodes.join(", "));
    let sections =
        [links, paths, ports, egress, pools, crossbars, scale_up, workloads].map(|section| section(report));
    for (header, rows) in sections.into_iter().filter(|(_, rows)| !rows.is_empty()) {
        text.push('\n');
        table(&mut text, &header, &rows);
    }
    for traffic in report.workloads.iter().filter(|traffic| !traffic.hot_hosts.is_empty()) {
        let _ = writeln!(text, "hot hosts of {}: {}", traffic.name, traffic.hot_hosts.join(", "));
    }
    for (traffic, ranks) in report.workloads.iter().filter_map(|of| Some((of, of.ranks?))) {
        let levels: Vec<String> = traffic.levels.iter().map(u32::to_string).collect();
        let levels = match &levels[..] {
            [] => String::new(),
            levels => format!("; hierarchical, levels from the innermost: {}", levels.join(", ")),
        };
        let rings = traffic.rings.map_or_else(String::new, |rings| format!("; {}", rings.text()));
        let pxn =
            if traffic.pxn { "; messages leave nodes by the NIC of the receiver's rail (pxn)" } else { "" };
        let _ = writeln!(text, "ranks of {}: {ranks}{levels}{rings}{pxn}", traffic.name);
    }
    if let Some(relays) = report.relays.as_ref().and_then(super::Relays::text) {
        let _ = writeln!(text, "{relays}");
    }
    let _ = writeln!(text, "\n{}", cost(&report.cost));
    let said = report.notes.iter().map(|note| ("note", note));
    let said = said.chain(report.warnings.iter().map(|warning| ("warning", warning)));
    for (i, (kind, line)) in said.enumerate() {
        let _ = writeln!(text, "{}{kind}: {line}", if i == 0 { "\n" } else { "" });
    }
    if !report.resolved.is_empty() {
        text.push('\n');
        text.push_str(&resolved::text(&report.resolved));
    }
    text
}

/// The estimated cost of a run.
fn cost(cost: &Cost) -> String {
    format!(
        "a run: about {} flows, {} packet-hops, {} on one thread, {} of memory",
        number(cost.flows),
        number(cost.packet_hops),
        duration(cost.wall_s),
        size(cost.memory_bytes),
    )
}

type Section = (Vec<&'static str>, Vec<Vec<String>>);

fn links(report: &Report) -> Section {
    let row = |link: &super::LinkGroup| {
        vec![
            link.kind.clone(),
            link.count.to_string(),
            format!("{}G", link.rate_gbps),
            time(link.delay_us),
            bytes(link.bdp_bytes),
        ]
    };
    (vec!["links", "number", "rate", "delay", "BDP"], report.links.iter().map(row).collect())
}

fn paths(report: &Report) -> Section {
    let range = |low: String, high: String| if low == high { low } else { format!("{low} to {high}") };
    let row = |path: &super::PathGroup| {
        vec![
            path.kind.to_owned(),
            range(path.hops_min.to_string(), path.hops_max.to_string()),
            range(time(path.base_rtt_us_min), time(path.base_rtt_us_max)),
            range(bytes(path.bdp_bytes_min), bytes(path.bdp_bytes_max)),
        ]
    };
    (vec!["paths", "links", "base RTT", "BDP"], report.paths.iter().map(row).collect())
}

fn ports(report: &Report) -> Section {
    let header = vec![
        "ingress ports",
        "number",
        "class",
        "flow control",
        "react",
        "buffer",
        "min buffer",
        "threshold",
        "headroom",
        "by formula",
        "BDP",
    ];
    let row = |port: &super::PortGroup| {
        let in_bdps = |size: u64| format!("{} ({:.2} BDP)", bytes(size), size as f64 / port.bdp_bytes as f64);
        let none = || "-".to_owned();
        let buffer = match (port.buffer_bytes, port.reserve_bytes) {
            _ if port.output_queue_bytes.is_some() => {
                format!("output queues of {}", port.output_queue_bytes.map_or_else(none, bytes))
            }
            (Some(own), _) if port.by_output => format!("{} per VOQ", bytes(own)),
            (Some(own), _) => in_bdps(own),
            (None, 0) => "pool".into(),
            (None, reserve) => format!("pool, {} reserved", bytes(reserve)),
        };
        vec![
            port.kind.clone(),
            port.count.to_string(),
            port.class.to_string(),
            port.flow_control.unwrap_or("none").to_owned(),
            port.react.map_or_else(none, |react| time(react.as_us())),
            buffer,
            port.min_buffer_bytes.map_or_else(none, bytes),
            threshold(port, in_bdps),
            if port.level_bytes.is_some() { none() } else { in_bdps(port.headroom_bytes) },
            port.headroom_formula_bytes.map_or_else(none, bytes),
            bytes(port.bdp_bytes),
        ]
    };
    (header, report.ports.iter().map(row).collect())
}

/// The threshold at which the flow control acts.
fn threshold(port: &super::PortGroup, size: impl Fn(u64) -> String) -> String {
    match (port.threshold_bytes, port.level_bytes) {
        (Some(threshold), _) => size(threshold),
        (None, Some(level)) => format!("level {}", size(level)),
        (None, None) => "-".into(),
    }
}

fn egress(report: &Report) -> Section {
    let row = |group: &super::EgressGroup| {
        let points = serde_json::to_value(&group.congestion_points).unwrap_or_default();
        let points = points.as_array().map_or(&[][..], Vec::as_slice).iter().map(resolved::inline);
        vec![
            group.kind.clone(),
            group.count.to_string(),
            format!("{}G", group.rate_gbps),
            points.collect::<Vec<_>>().join(", "),
        ]
    };
    (vec!["egress ports", "number", "rate", "congestion point"], report.egress.iter().map(row).collect())
}

fn pools(report: &Report) -> Section {
    let row = |pool: &super::Pool| vec![pool.kind.clone(), pool.count.to_string(), bytes(pool.pool_bytes)];
    (vec!["shared pools", "switches", "size"], report.pools.iter().map(row).collect())
}

fn crossbars(report: &Report) -> Section {
    let row = |group: &super::CrossbarGroup| {
        vec![
            group.kind.clone(),
            group.count.to_string(),
            bytes(group.voq_bytes),
            bytes(group.output_bytes),
            group.speed_up.to_string(),
        ]
    };
    let header = vec!["crossbars", "switches", "VOQ", "output queue", "speed-up"];
    (header, report.crossbars.iter().map(row).collect())
}

fn scale_up(report: &Report) -> Section {
    let row = |group: &super::ScaleUpGroup| {
        vec![
            group.from.clone(),
            group.count.to_string(),
            group.hosts.to_string(),
            format!("{}G", group.rate_gbps),
            time(group.latency_us),
        ]
    };
    let header = vec!["scale-up domains", "number", "hosts", "rate", "latency"];
    (header, report.scale_up.iter().map(row).collect())
}

fn workloads(report: &Report) -> Section {
    let header = vec!["workloads", "class", "flows", "offered", "measured"];
    let row = |traffic: &super::Traffic| {
        let offered = [
            traffic.offered_gbps.map(|rate| format!("{rate:.1}G")),
            traffic.offered_bytes.map(|size| bytes(whole(size))),
        ];
        let measured = match traffic.measure_to_us {
            Some(to) if to <= traffic.measure_from_us => "no".into(),
            Some(to) => format!("{} to {}", time(traffic.measure_from_us), time(to)),
            None => "all".into(),
        };
        vec![
            traffic.name.clone(),
            traffic.class.to_string(),
            traffic.flows.map_or_else(|| "Poisson".into(), |flows| flows.to_string()),
            offered.into_iter().flatten().collect::<Vec<_>>().join(", "),
            measured,
        ]
    };
    (header, report.workloads.iter().map(row).collect())
}

/// A size with few digits and a unit.
fn bytes(size: u64) -> String {
    let (scaled, unit) = match size {
        0..1_000 => return format!("{size}B"),
        1_000..1_000_000 => (size as f64 / 1e3, "KB"),
        1_000_000..1_000_000_000 => (size as f64 / 1e6, "MB"),
        _ => (size as f64 / 1e9, "GB"),
    };
    digits(scaled) + unit
}

fn time(us: f64) -> String {
    let (scaled, unit) = match us {
        us if us < 1.0 => (us * 1e3, "ns"),
        us if us < 1e3 => (us, "us"),
        us if us < 1e6 => (us / 1e3, "ms"),
        us => (us / 1e6, "s"),
    };
    digits(scaled) + unit
}

fn digits(number: f64) -> String {
    let text = if number < 100.0 { format!("{number:.3}") } else { format!("{number:.1}") };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Columns as wide as their widest cell.
fn table(text: &mut String, header: &[&str], rows: &[Vec<String>]) {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([header[column].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let head: Vec<String> = header.iter().map(|&cell| cell.to_owned()).collect();
    for row in std::iter::once(&head).chain(rows) {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_few_digits() {
        assert_eq!(
            (bytes(999), bytes(288_000), bytes(40_003_064)),
            ("999B".into(), "288KB".into(), "40.003MB".into())
        );
        assert_eq!(
            (time(0.5), time(12.714), time(817.071), time(400_000.0)),
            ("500ns".into(), "12.714us".into(), "817.1us".into(), "400ms".into())
        );
    }
}
