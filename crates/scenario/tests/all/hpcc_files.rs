//! The HPCC simulator's topology and flow files in scenarios.
#![allow(clippy::print_stderr, reason = "a skipped test says why")]

use std::fs;
use std::path::{Path, PathBuf};

use floodway_fabric::blueprint::{Arrivals, Blueprint, ErrorRates, FlowSpec, Role};
use floodway_scenario::Scenario;

/// A folder of its own for a test, with files in it.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{error}"));
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap_or_else(|error| panic!("{error}"));
    }
    folder
}

const TOPOLOGY: &str = "4 1 3\n2\n0 2 100Gbps 1000ns 0\n3 2 40Gbps 4us 0.5\n1 2 100Gbps 1us 0.000\n";
const FLOWS: &str = "2\n0 3 3 100 1000000 2.000000000\n1 3 4 100 1000 2.500000000\n";
const SCENARIO: &str = "origin = \"2s\"\ntopology.hpcc = { file = \"topology.txt\", error-rate = 0.25 }\n\
    [[workload]]\nname = \"flows\"\nflow-list = { file = \"flow.txt\", format = \"hpcc\" }\n";

fn read(folder: &Path) -> Result<Scenario, String> {
    let path = folder.join("a.toml");
    Scenario::from_path(&path, &[]).map_err(|errors| errors.to_string())
}

fn flows(blueprint: &Blueprint) -> &[FlowSpec] {
    match &blueprint.workloads[0].arrivals {
        Arrivals::List(flows) => flows,
        other => panic!("{other:?} is no list"),
    }
}

#[test]
fn a_scenario_reads_them_as_they_are() {
    let files = [("topology.txt", TOPOLOGY), ("flow.txt", FLOWS), ("a.toml", SCENARIO)];
    let scenario = read(&folder("hpcc-files", &files)).unwrap_or_else(|errors| panic!("{errors}"));
    let blueprint = scenario.blueprint();
    let names: Vec<_> = blueprint.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["h0", "h1", "s2", "h3"]);
    let addresses = blueprint.nodes.iter().filter_map(|node| match node.role {
        Role::Host { address, .. } => Some(address),
        Role::Switch(_) => None,
    });
    assert_eq!(addresses.collect::<Vec<_>>(), [0x0b00_0001, 0x0b00_0101, 0x0b00_0301]);
    let errors: Vec<_> = blueprint.links.iter().map(|link| link.directions[1].errors).collect();
    let of = |rate| ErrorRates { data: rate, control: rate, link_control: rate };
    assert_eq!(errors, [of(0.25), of(0.5), of(0.25)]);
    let flows = flows(blueprint);
    assert_eq!((flows[0].start.0, flows[1].start.0), (0, 500_000_000_000));
    assert_eq!((flows[1].source_port, flows[1].destination_port), (Some(10_000), Some(100)));
    let class = |flow: &FlowSpec| blueprint.settings[flow.settings.unwrap_or(0)].class.0;
    assert_eq!((class(&flows[0]), class(&flows[1])), (3, 4));
    assert!(scenario.resolved_json().contains("\"origin\":\"2s\""), "{}", scenario.resolved_json());
}

#[test]
fn faults_name_the_file_and_the_line() {
    let fault = |topology: &str, flow: &str, scenario: &str| {
        let folder =
            folder("hpcc-faults", &[("topology.txt", topology), ("flow.txt", flow), ("a.toml", scenario)]);
        read(&folder).map(|_| ()).unwrap_err().replace(&format!("{}/", folder.display()), "")
    };
    assert_eq!(
        fault(&TOPOLOGY.replace("3 2 40", "3 7 40"), FLOWS, SCENARIO),
        "topology.txt:4: topology.hpcc: node 7 is not one of 0 to 3"
    );
    assert_eq!(
        fault(TOPOLOGY, &FLOWS.replace("1 3 4", "1 2 4"), SCENARIO),
        "flow.txt:3: workload.flows: node 2 is a switch; flows run between hosts"
    );
    let late = SCENARIO.replace("\"2s\"", "\"3s\"");
    assert_eq!(
        fault(TOPOLOGY, FLOWS, &late),
        "flow.txt:2: workload.flows: its start, 2s, is before 3s, the start of the run"
    );
    let text = SCENARIO.replace("format = \"hpcc\"", "paths = \"paths.txt\"");
    assert_eq!(
        fault(TOPOLOGY, FLOWS, &text),
        "a.toml:5: workload.flows.flow-list.paths: it goes with the formats hpcc and conweave; a table has the columns path \
         and ack_path"
    );
    let missing = fault(TOPOLOGY, FLOWS, &SCENARIO.replace("topology.txt", "top.txt"));
    assert!(missing.starts_with("a.toml:2: topology.hpcc.file: cannot read \"top.txt\": "), "{missing}");
}

#[test]
fn starts_and_ports_equal_those_that_the_simulator_used() {
    let Some(reference) = std::env::var_os("FLOODWAY_REFERENCE").map(PathBuf::from) else {
        eprintln!("skipped: FLOODWAY_REFERENCE names no folder of reference data");
        return;
    };
    let case = reference.join("reference/ns3/c7_fattree16");
    let list = format!(
        "file = \"{case}/flow.txt\", format = \"hpcc\", paths = \"{case}/paths.txt\"",
        case = case.display()
    );
    let text = format!(
        "origin = \"2s\"\ntopology.hpcc = {{ file = \"{}/topology.txt\" }}\n[[workload]]\nname = \"flows\"\n\
         flow-list = {{ {list} }}\n",
        case.display()
    );
    let scenario = Scenario::from_text("a.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let flows = flows(scenario.blueprint());
    assert!(flows.iter().all(|flow| flow.path.is_some() && flow.ack_path.is_some()));
    let ours = flows.iter().map(|flow| {
        let ports = (flow.source_port.unwrap_or(0), flow.destination_port.unwrap_or(0));
        (flow.start.0 / 1000 + 2_000_000_000, flow.source.0, flow.destination.0, ports, flow.size.0)
    });
    let mut ours: Vec<_> = ours.collect();
    let finished = fs::read_to_string(case.join("fct_hpcc.txt")).unwrap_or_else(|error| panic!("{error}"));
    let theirs = finished.lines().map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let node =
            |word| u32::from_str_radix(word, 16).map(|address| address >> 8 & 0xffff).expect("an address");
        let number = |word: &str| word.parse::<u64>().expect("a number");
        let ports = (number(words[2]) as u16, number(words[3]) as u16);
        (number(words[5]), node(words[0]), node(words[1]), ports, number(words[4]))
    });
    let mut theirs: Vec<_> = theirs.collect();
    ours.sort_unstable();
    theirs.sort_unstable();
    assert_eq!(ours.len(), 4984);
    assert_eq!(ours, theirs);
}
