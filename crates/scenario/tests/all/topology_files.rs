//! Topology files of the simulators that descend from HPCC's: `PowerTCP`, Reverie, `SimAI`.

use std::fs;
use std::path::{Path, PathBuf};

use floodway_scenario::Scenario;
use floodway_units::{Rate, Span};

const SIMAI: &str = "7 2 2 1 8 A100\n4 5 6 \n0 4 2400Gbps 0.000025ms 0\n1 4 2400Gbps 0.000025ms 0\n\
    2 5 2400Gbps 0.000025ms 0\n3 5 2400Gbps 0.000025ms 0\n0 6 100Gbps 0.0005ms 0\n1 6 100Gbps 0.0005ms 0\n\
    2 6 100Gbps 0.0005ms 0\n3 6 100Gbps 0.0005ms 0\n";
const POWERTCP: &str = "3 1 1 2\n2\n0 2 25000000000.0 1us 0\n1 2 25000000000.0 1us 0\n";
const REVERIE: &str = "6 2 2 5 25000000000 100000000000\n4 5 \n0 4 25000000000 2us 0\n1 4 25000000000 2us 0\n\
    2 5 25000000000 2us 0\n3 5 25000000000 2us 0\n4 5 100000000000 2us 0\n";

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{error}"));
    folder
}

fn read(name: &str, topology: &str, more: &str) -> Result<Scenario, String> {
    let folder = folder(name);
    let scenario = format!(
        "topology.hpcc = {{ file = \"topo.txt\" }}\n{more}\n[[workload]]\nname = \"w\"\n\
         collective = {{ op = \"all-reduce\", size = \"1MB\" }}\n"
    );
    for (file, text) in [("topo.txt", topology), ("a.toml", &scenario)] {
        fs::write(folder.join(file), text).unwrap_or_else(|error| panic!("{error}"));
    }
    Scenario::from_path(&folder.join("a.toml"), &[]).map_err(|errors| {
        errors.to_string().replace(&folder.display().to_string(), "").trim_start_matches('/').to_owned()
    })
}

fn scenario(name: &str, topology: &str, more: &str) -> Scenario {
    read(name, topology, more).unwrap_or_else(|errors| panic!("{errors}"))
}

fn names(scenario: &Scenario) -> Vec<&str> {
    scenario.blueprint().nodes.iter().map(|node| node.name.as_str()).collect()
}

#[test]
fn switches_of_servers_are_scale_up_domains() {
    let scenario = scenario("simai-topology", SIMAI, "");
    assert_eq!(names(&scenario), ["h0", "h1", "h2", "h3", "s6"]);
    let blueprint = scenario.blueprint();
    assert_eq!(blueprint.links.len(), 4);
    let domains: Vec<_> = blueprint
        .scale_up
        .iter()
        .map(|domain| {
            (domain.hosts.iter().map(|host| host.0).collect::<Vec<_>>(), domain.rate, domain.latency)
        })
        .collect();
    // 0.000025ms are 24 ns as ns-3 cuts them, in and out.
    let (rate, latency) = (Rate::gbps(2400), Span::ns(48));
    assert_eq!(domains, [(vec![0, 1], rate, latency), (vec![2, 3], rate, latency)]);
    assert!(scenario.warnings().is_empty(), "{:?}", scenario.warnings());
}

#[test]
fn keys_of_the_scenario_replace_those_of_the_file() {
    let own = "[gpu-nodes]\nscale-up = { rate = \"900G\" }\n";
    let scenario = scenario("simai-topology-own", SIMAI, own);
    let domains = &scenario.blueprint().scale_up;
    assert_eq!(domains.len(), 2);
    assert_eq!((domains[0].rate, domains[0].latency), (Rate::gbps(900), Span::ns(48)));
    let error = read("simai-topology-other", SIMAI, "[gpu-nodes]\ngpus-per-node = 4\n").unwrap_err();
    assert!(error.contains("4 is not allowed: the topology has nodes of 2 GPUs"), "{error}");
}

#[test]
fn several_switches_of_a_server_add_up_and_may_join_servers() {
    let text = "8 2 2 2 10 H100\n4 5 6 7\n0 4 900Gbps 25ns 0\n1 4 900Gbps 25ns 0\n2 4 900Gbps 25ns 0\n3 4 900Gbps 25ns 0\n\
        0 5 900Gbps 25ns 0\n1 5 900Gbps 25ns 0\n2 5 900Gbps 25ns 0\n3 5 900Gbps 25ns 0\n0 6 100Gbps 1us 0\n";
    let text = text.replace("8 2 2 2 10", "8 2 2 2 13")
        + "1 6 100Gbps 1us 0\n2 7 100Gbps 1us 0\n3 7 100Gbps 1us 0\n6 7 400Gbps 1us 0\n";
    let scenario = scenario("simai-topology-two", &text, "");
    let domains = &scenario.blueprint().scale_up;
    assert_eq!((domains.len(), domains[0].hosts.len(), domains[0].rate), (1, 4, Rate::gbps(1800)));
}

#[test]
fn tors_are_switches_and_rates_are_those_of_the_links() {
    let scenario = scenario("powertcp-topology", POWERTCP, "");
    assert_eq!(names(&scenario), ["h0", "h1", "s2"]);
    assert_eq!(scenario.blueprint().links[0].directions[0].rate, Rate::gbps(25));
    let reverie = self::scenario("reverie-topology", REVERIE, "");
    assert_eq!(names(&reverie), ["h0", "h1", "h2", "h3", "s4", "s5"]);
    assert_eq!(reverie.blueprint().links[4].directions[0].rate, Rate::gbps(100));
}

#[test]
fn words_of_hpcc_on_one_line_are_no_other_format() {
    for text in
        ["3 1 2 2\n0 2 25Gbps 1us 0\n1 2 25Gbps 1us 0\n", "3 1 2\n2\n0 2 25Gbps 1us 0\n1 2 25Gbps 1us 0\n"]
    {
        assert_eq!(names(&scenario("hpcc-one-line", text, "")), ["h0", "h1", "s2"]);
    }
}

#[test]
fn faults_of_the_formats_are_named_with_their_lines() {
    let simai = |from: &str, to: &str| read("simai-faults", &SIMAI.replace(from, to), "").unwrap_err();
    let is = |error: String, start: &str| assert!(error.starts_with(start), "{error}");
    is(
        simai(" A100", ""),
        "topo.txt:1: topology.hpcc: 5 numbers are none of the formats' first lines; one of SimAI has",
    );
    is(simai("8 A100", "8 A100 9 x"), "topo.txt:1: topology.hpcc: \"7 2 2 1 \"... is none of the formats'");
    is(simai("7 2 2", "7 3 2"), "topo.txt:1: topology.hpcc: 4 GPUs are not whole servers of 3 GPUs");
    is(simai("7 2 2", "7 1025 2"), "topo.txt:1: topology.hpcc: 1025 is not a number of GPUs of a server");
    is(
        simai("1 4 2400", "1 5 2400"),
        "topo.txt:3: topology.hpcc: NVSwitches do not join h0 with all GPUs of its server",
    );
    is(
        simai("3 5 2400", "3 5 1200"),
        "topo.txt:6: topology.hpcc: h3 has 1.2T over 24ns to its NVSwitches, and the",
    );
    is(
        simai("0 6 ", "4 6 "),
        "topo.txt:1: topology.hpcc: GPU 0 has links to NVSwitches alone: they carry no packets",
    );
    is(simai("4 5 6", "4 5 9"), "topo.txt:2: topology.hpcc: switch 9 is not below 7");
    let cut = SIMAI.lines().take(6).collect::<Vec<_>>().join("\n");
    is(
        read("simai-cut", &cut, "").unwrap_err(),
        "topo.txt:6: topology.hpcc: the text ends here, but link 5 of 8",
    );
    let powertcp =
        |from: &str, to: &str| read("powertcp-faults", &POWERTCP.replace(from, to), "").unwrap_err();
    is(powertcp("3 1 1 2", "3 1 2 2"), "topo.txt:1: topology.hpcc: 2 ToRs are more than all 1 switches");
    is(powertcp("1 2 250", "1 3 250"), "topo.txt:4: topology.hpcc: node 3 is not one of 0 to 2");
    let reverie = REVERIE.replace("25000000000 100000000000\n4", "25000000000 100000000000 7\n4");
    is(
        read("reverie-faults", &reverie, "").unwrap_err(),
        "topo.txt:1: topology.hpcc: 7 numbers are none of the",
    );
}
