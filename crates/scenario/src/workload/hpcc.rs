//! The flow files of the HPCC simulator and of ConWeave's, and a file that pins the paths of its flows.

use std::collections::{BTreeMap, BTreeSet};

use floodway_units::text::counted;
use floodway_units::{Bytes, Class};

use super::csv::{FlowRow, RowError};
use super::flows::ListFormat;
use crate::ns3::{self, Words, number};
use crate::shown::glimpse;
use crate::topology::Network;
use crate::topology::hpcc::node_name;

/// Source port of the first flow of a pair of hosts; in ConWeave's simulator, of a source.
const FIRST_PORT: u16 = 10_000;
/// Destination port of the first flow to a host in ConWeave's simulator.
const FIRST_DESTINATION_PORT: u16 = 100;
/// The maximum size: that simulator reads sizes into 32 bits.
const MOST_BYTES: u64 = u32::MAX as u64;

/// Contents of a flow file.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The flows with their lines.
    pub rows: Vec<(u32, FlowRow)>,
    /// The line of a flow beyond the number in the first line; it is not read.
    pub beyond: Option<u32>,
}

/// Port numbers, counted separately for each owner.
#[derive(Debug, Default)]
struct Ports(BTreeMap<(String, String), u16>);

impl Ports {
    /// The next port of an owner, whose first is `first`.
    fn next(&mut self, owner: (&str, &str), first: u16) -> u16 {
        let next = self.0.entry((owner.0.to_owned(), owner.1.to_owned())).or_insert(first);
        let port = *next;
        *next = next.wrapping_add(1);
        port
    }
}

/// Reads a flow file of a format that is not a table.
///
/// # Errors
/// The first line that does not fit.
pub fn flows(text: &str, format: ListFormat, network: &Network) -> Result<Listed, RowError> {
    let mut words = Words::of(text);
    let all = words.number::<usize>("the number of flows")?;
    let mut ports = Ports::default();
    let mut rows: Vec<(u32, FlowRow)> = Vec::new();
    for n in 1..=all {
        let (line, row) = match format {
            ListFormat::Conweave => conweave_flow(&mut words, (n, all), network, &mut ports)?,
            ListFormat::Hpcc | ListFormat::Table => flow(&mut words, (n, all), network, &mut ports)?,
        };
        if let Some((before, _)) = rows.last().filter(|(_, last)| last.start > row.start) {
            let message = format!("it starts before the flow in line {before}: flows are sorted by start");
            return Err((line, message));
        }
        rows.push((line, row));
    }
    let columns = if format == ListFormat::Conweave { 5 } else { 6 };
    Ok(Listed { rows, beyond: words.one_more(columns) })
}

/// A flow of the HPCC simulator.
fn flow(
    words: &mut Words<'_>,
    (n, all): (usize, usize),
    network: &Network,
    ports: &mut Ports,
) -> Result<(u32, FlowRow), RowError> {
    let due = format!("flow {n} of {all}: source, destination, priority group, port, bytes and seconds");
    let (line, [source, destination, group, port, size, start]) = words.row(&due)?;
    let at = |why| (line, why);
    let mut row = row([source, destination, group, size, start], network).map_err(at)?;
    row.source_port = Some(ports.next((source, destination), FIRST_PORT));
    row.destination_port = Some(number(port, "a port from 0 to 65535").map_err(at)?);
    Ok((line, row))
}

/// A flow of ConWeave's simulator.
fn conweave_flow(
    words: &mut Words<'_>,
    (n, all): (usize, usize),
    network: &Network,
    ports: &mut Ports,
) -> Result<(u32, FlowRow), RowError> {
    let due = format!("flow {n} of {all}: source, destination, priority group, bytes and seconds");
    let (line, words) = words.row(&due)?;
    let mut row = row(words, network).map_err(|why| (line, why))?;
    let [source, destination, ..] = words;
    row.source_port = Some(ports.next((source, ""), FIRST_PORT));
    row.destination_port = Some(ports.next(("", destination), FIRST_DESTINATION_PORT));
    Ok((line, row))
}

/// A flow without its ports.
fn row([source, destination, group, size, start]: [&str; 5], network: &Network) -> Result<FlowRow, String> {
    let ends = (host(source, network)?, host(destination, network)?);
    if source == destination {
        return Err(format!("it goes from {source} to itself"));
    }
    Ok(FlowRow {
        source: ends.0,
        destination: ends.1,
        size: Some(payload(size)?),
        start: ns3::seconds(start)?,
        class: Some(class(group)?),
        ..FlowRow::default()
    })
}

/// The name of a host by its id.
fn host(word: &str, network: &Network) -> Result<String, String> {
    let id: usize = number(word, "the id of a host")?;
    let name = node_name(id, false);
    if network.find(&name).is_some() {
        return Ok(name);
    }
    match network.find(&node_name(id, true)) {
        Some(_) => Err(format!("node {id} is a switch; flows run between hosts")),
        None => Err(format!("there is no host {id}")),
    }
}

fn payload(word: &str) -> Result<Bytes, String> {
    match number::<u64>(word, "a number of bytes")? {
        0 => Err("it has no bytes".into()),
        size if size > MOST_BYTES => {
            Err(format!("{size} bytes are 4 GiB or more, which that simulator cannot count"))
        }
        size => Ok(Bytes(size)),
    }
}

fn class(word: &str) -> Result<Class, String> {
    let what = "a priority group of data: 0 to 5, 7";
    match number(word, what)? {
        class if class <= 7 && Class(class) != Class::CONTROL => Ok(Class(class)),
        _ => Err(format!("{} is not {what}", glimpse(word))),
    }
}

/// Pins flows to the paths of a file, whose lines must match those of the flow file.
///
/// # Errors
/// The first line that does not fit.
pub fn pin<'a>(
    rows: impl Iterator<Item = &'a mut FlowRow>,
    text: &str,
    network: &Network,
) -> Result<(), RowError> {
    let mut rows: Vec<&mut FlowRow> = rows.collect();
    let links: BTreeSet<[usize; 2]> =
        network.links.iter().flat_map(|link| [link.ends, [link.ends[1], link.ends[0]]]).collect();
    let lines = (1..).zip(text.lines()).map(|(line, text)| (line, text.trim()));
    for (line, text) in lines.filter(|(_, text)| !text.is_empty() && !text.starts_with('#')) {
        pin_one(&mut rows, text, network, &links).map_err(|why| (line, why))?;
    }
    Ok(())
}

fn pin_one(
    rows: &mut [&mut FlowRow],
    line: &str,
    network: &Network,
    links: &BTreeSet<[usize; 2]>,
) -> Result<(), String> {
    let parts: Vec<&str> = line.split('|').collect();
    let [flow, data, acks] = parts[..] else {
        let found = counted(parts.len(), "part");
        return Err(format!("{found}, but 3 are required: flow | path | path of its ACKs"));
    };
    let words: Vec<&str> = flow.split_whitespace().collect();
    let [n, said @ ..] = &words[..] else { return Err("the number of the flow is missing".into()) };
    let n: usize = number(n, "the number of a flow")?;
    let flows = rows.len();
    let row = rows.get_mut(n).ok_or_else(|| format!("flow {n} is not one of the {flows}, from 0 on"))?;
    let listed = identity(row);
    if said != listed {
        return Err(format!(
            "flow {n} is {:?} here and {:?} in the flow file",
            said.join(" "),
            listed.join(" ")
        ));
    }
    if row.path.is_some() {
        return Err(format!("flow {n} is pinned already"));
    }
    let path = path(data, [&row.source, &row.destination], network, links)?;
    let ack_path = self::path(acks, [&row.destination, &row.source], network, links)?;
    (row.path, row.ack_path) = (Some(path), Some(ack_path));
    Ok(())
}

/// Source, destination, ports and size, in the form of a file of paths.
fn identity(row: &FlowRow) -> Vec<String> {
    let port = |port: Option<u16>| port.unwrap_or_default().to_string();
    vec![
        row.source[1..].to_owned(),
        row.destination[1..].to_owned(),
        port(row.source_port),
        port(row.destination_port),
        row.size.unwrap_or_default().0.to_string(),
    ]
}

/// The names of a path's nodes; consecutive ids must have a link, and all nodes between the ends must be
/// switches.
fn path(
    ids: &str,
    [from, to]: [&String; 2],
    network: &Network,
    links: &BTreeSet<[usize; 2]>,
) -> Result<String, String> {
    let mut names: Vec<String> = Vec::new();
    let mut before: Option<usize> = None;
    for word in ids.split_whitespace() {
        let id: usize = number(word, "the id of a node")?;
        let is_end = names.is_empty() || node_name(id, false) == *to;
        let name = node_name(id, !is_end);
        let node = network.find(&name).ok_or_else(|| no_node(id, is_end, network))?;
        if let Some(before) = before.filter(|&before| !links.contains(&[before, node])) {
            return Err(format!("no link leads from {} to {name}", network.nodes[before].name));
        }
        names.push(name);
        before = Some(node);
    }
    match (names.first(), names.last()) {
        (Some(first), Some(last)) if first == from && last == to => Ok(names.join(",")),
        (Some(first), Some(last)) => Err(format!("the path from {from} to {to} goes from {first} to {last}")),
        _ => Err(format!("the path from {from} to {to} has no node")),
    }
}

/// The reason why a path cannot pass a node, or begin there.
fn no_node(id: usize, is_end: bool, network: &Network) -> String {
    match network.find(&node_name(id, is_end)) {
        Some(_) if is_end => format!("node {id} is a switch; paths begin at hosts"),
        Some(_) => format!("node {id} is a host; paths lead through switches"),
        None => format!("there is no node {id}"),
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::{Rate, Span, Time};

    use super::*;

    /// Hosts 0 and 1 at switch 2, host 3 at switch 4, and a link between the switches.
    fn network() -> Network {
        let mut network = Network::default();
        for (id, is_switch) in [(0, false), (1, false), (2, true), (3, false), (4, true)] {
            let name = node_name(id, is_switch);
            if is_switch { network.switch(name, &[]) } else { network.host(name, &[]) }.expect("it is new");
        }
        for ends in [[0, 2], [1, 2], [2, 4], [4, 3]] {
            network.link(ends, &[], (Rate::gbps(100), Span::us(1)));
        }
        network
    }

    const FLOWS: &str =
        "3\n0 3 3 100 1007 2.000002446\n0 3 2 100 7 2.000003\n1 3 3 200 4294967295 2.000003\n";
    const PATHS: &str = "# header\n0 0 3 10000 100 1007 | 0 2 4 3 | 3 4 2 0\n2 1 3 10000 200 4294967295 | 1 2 4 3 | 3 4 2 1\n";

    fn rows() -> Vec<(u32, FlowRow)> {
        flows(FLOWS, ListFormat::Hpcc, &network()).expect("it is right").rows
    }

    #[test]
    fn ports_count_up_for_each_pair_of_hosts() {
        let rows = rows();
        let read: Vec<_> =
            rows.iter().map(|(line, row)| (*line, row.source_port, row.destination_port)).collect();
        assert_eq!(
            read,
            [(2, Some(10_000), Some(100)), (3, Some(10_001), Some(100)), (4, Some(10_000), Some(200))]
        );
        let first = &rows[0].1;
        assert_eq!((first.source.as_str(), first.destination.as_str()), ("h0", "h3"));
        assert_eq!(
            (first.start, first.class, first.size),
            (Time(2_000_002_445_000), Some(Class(3)), Some(Bytes(1007)))
        );
    }

    #[test]
    fn in_conweaves_files_ports_count_up_for_each_host() {
        let text = "4\n0 3 3 1000 2\n0 1 3 1000 2\n1 3 3 1000 2\n0 3 3 1000 2.5\n";
        let listed = flows(text, ListFormat::Conweave, &network()).expect("it is right");
        let ports = listed.rows.iter().map(|(_, row)| (row.source_port, row.destination_port));
        let due = [(10_000, 100), (10_001, 100), (10_000, 101), (10_002, 102)];
        assert_eq!(ports.collect::<Vec<_>>(), due.map(|(source, to)| (Some(source), Some(to))));
        let fault = flows(FLOWS, ListFormat::Conweave, &network()).unwrap_err();
        let due = "6 words, but 5 are required: flow 1 of 3: source, destination, priority group, bytes and seconds";
        assert_eq!(fault, (2, due.to_owned()));
    }

    #[test]
    fn as_many_flows_are_read_as_are_counted() {
        let listed =
            flows(&FLOWS.replace("3\n0", "2\n0"), ListFormat::Hpcc, &network()).expect("it is right");
        assert_eq!((listed.rows.len(), listed.beyond), (2, Some(4)));
        let noted = flows(&format!("{FLOWS}\nFirst line: # of flows\n"), ListFormat::Hpcc, &network())
            .expect("it is right");
        assert_eq!((noted.rows.len(), noted.beyond), (3, None));
    }

    #[test]
    fn faults_of_flows_are_named_with_their_lines() {
        let is = |from: &str, to: &str, line: u32, why: &str| {
            let fault =
                flows(&FLOWS.replace(from, to), ListFormat::Hpcc, &network()).map(|_| ()).unwrap_err();
            assert_eq!(fault, (line, why.to_owned()));
        };
        let due = "source, destination, priority group, port, bytes and seconds";
        is("3\n0", "x\n0", 1, "\"x\" is not the number of flows");
        is("3\n0", "4\n0", 4, &format!("the text ends here, but flow 4 of 4: {due} is required"));
        is("0 3 2 100", "0 3 100", 3, &format!("5 words, but 6 are required: flow 2 of 3: {due}"));
        is("1 3 3", "9 3 3", 4, "there is no host 9");
        is("1 3 3", "1 4 3", 4, "node 4 is a switch; flows run between hosts");
        is("1 3 3", "3 3 3", 4, "it goes from 3 to itself");
        is("1 3 3", "1 3 6", 4, "\"6\" is not a priority group of data: 0 to 5, 7");
        is("1 3 3", "1 3 8", 4, "\"8\" is not a priority group of data: 0 to 5, 7");
        is("3 200", "3 65536", 4, "\"65536\" is not a port from 0 to 65535");
        is(
            "4294967295",
            "4294967296",
            4,
            "4294967296 bytes are 4 GiB or more, which that simulator cannot count",
        );
        is("4294967295", "0", 4, "it has no bytes");
        is("4294967295", "1e6", 4, "\"1e6\" is not a number of bytes");
        let early = "it starts before the flow in line 3: flows are sorted by start";
        is("295 2.000003", "295 1.5", 4, early);
    }

    #[test]
    fn paths_are_pinned_where_they_fit() {
        let mut rows = rows();
        pin(rows.iter_mut().map(|(_, row)| row), PATHS, &network()).expect("it fits");
        let paths: Vec<_> =
            rows.iter().map(|(_, row)| (row.path.as_deref(), row.ack_path.as_deref())).collect();
        assert_eq!(paths[0], (Some("h0,s2,s4,h3"), Some("h3,s4,s2,h0")));
        assert_eq!(paths[1], (None, None));
        assert_eq!(paths[2], (Some("h1,s2,s4,h3"), Some("h3,s4,s2,h1")));
    }

    #[test]
    fn faults_of_paths_are_named_with_their_lines() {
        let is = |from: &str, to: &str, line: u32, why: &str| {
            let mut rows = rows();
            let fault =
                pin(rows.iter_mut().map(|(_, row)| row), &PATHS.replace(from, to), &network()).unwrap_err();
            assert_eq!(fault, (line, why.to_owned()));
        };
        is("| 3 4 2 0", "", 2, "2 parts, but 3 are required: flow | path | path of its ACKs");
        is("0 0 3", "5 0 3", 2, "flow 5 is not one of the 3, from 0 on");
        is(
            "100 1007",
            "100 1008",
            2,
            "flow 0 is \"0 3 10000 100 1008\" here and \"0 3 10000 100 1007\" in the flow file",
        );
        is("| 0 2 4 3", "| 0 4 3", 2, "no link leads from h0 to s4");
        is("| 0 2 4 3", "| 0 2 9 3", 2, "there is no node 9");
        is("| 0 2 4 3", "| 0 1 4 3", 2, "node 1 is a host; paths lead through switches");
        is("| 0 2 4 3", "| 2 4 3", 2, "node 2 is a switch; paths begin at hosts");
        is("| 0 2 4 3", "| 1 2 4 3", 2, "the path from h0 to h3 goes from h1 to h3");
        is("| 0 2 4 3", "|", 2, "the path from h0 to h3 has no node");
        is("2 1 3 10000 200 4294967295", "0 0 3 10000 100 1007", 3, "flow 0 is pinned already");
    }
}
