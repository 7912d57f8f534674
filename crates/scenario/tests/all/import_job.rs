//! Imports of jobs: networks from files, GPU nodes, flows without end, formats by their content, gzip.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use floodway_scenario::import::{Given, Imported, Job, hpcc, job};
use floodway_scenario::workload::trace::TraceFormat;

const SIMAI: &str = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 8 ga: 1 all_gpus: 8 \
    checkpoints: 0 checkpoint_initiates: 0\n1\nlayer -1 556000 ALLREDUCE 16777216 1 NONE 0 1 NONE 0 1\n";
const GOAL: &str = "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n";
const MATRIX: &str = "Nodes 4\nConnections 1\n0->1 start 0 size 1000\n";
const ENDLESS: &str = "Nodes 4\nConnections 2\n0->1 start 5000000 size 0\n2->1 start 0.000000 size 0\n";
const TOPO: &str = "Nodes 8\nTiers 3\nPodsize 4\n\nTier 0\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 2\n\
    Downlink_Latency_ns 1000\n\nTier 1\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 4\nDownlink_Latency_ns 1000\n\
    Switch_Latency_ns 300\n\nTier 2\nDownlink_speed_Gbps 400\nRadix_Down 2\nDownlink_Latency_ns 1000\n";
const SWITCH: &str =
    "# a comment\ntopology: [ Switch ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ] # GB/s\nlatency: [ 500.0 ]\n";
const SERVERS: &str = "7 2 2 1 8 A100\n4 5 6\n0 4 2400Gbps 25ns 0\n1 4 2400Gbps 25ns 0\n2 5 2400Gbps 25ns 0\n\
    3 5 2400Gbps 25ns 0\n0 6 100Gbps 1us 0\n1 6 100Gbps 1us 0\n2 6 100Gbps 1us 0\n3 6 100Gbps 1us 0\n";

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("import-job");
    fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{error}"));
    folder
}

/// A file of this name and content.
fn file(name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder().join(name);
    fs::write(&path, content).unwrap_or_else(|error| panic!("{error}"));
    path
}

/// What is asked for besides the file.
#[derive(Clone, Copy, Default)]
struct Asked<'a> {
    keys: &'a [(String, String)],
    network: Option<Given<'a>>,
    gpu_nodes: Option<&'a str>,
    config: Option<&'a Path>,
}

fn import(format: TraceFormat, path: &Path, asked: Asked<'_>) -> Result<Imported, String> {
    let files = [path.to_path_buf()];
    let Asked { keys, network, gpu_nodes, config } = asked;
    let request = Job { format, files: &files, keys, network, gpu_nodes, config, link: ("400G", "1us") };
    let folder = folder();
    job(&request, &folder).map_err(|errors| errors.to_string().replace(&format!("{}/", folder.display()), ""))
}

fn imported(format: TraceFormat, path: &Path, asked: Asked<'_>) -> Imported {
    import(format, path, asked).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(format: TraceFormat, path: &Path, asked: Asked<'_>) -> String {
    import(format, path, asked).expect_err("it has a mistake")
}

fn in_network(network: &Path) -> Asked<'_> {
    Asked { network: Some(Given::File(network)), ..Asked::default() }
}

fn assert_has(text: &str, part: &str) {
    assert!(text.contains(part), "{part:?} is not in {text}");
}

#[test]
fn tensor_parallel_ranks_are_inside_servers() {
    let workload = file("tp.txt", SIMAI);
    let by_default = imported(TraceFormat::Simai, &workload, Asked::default());
    let gpu_nodes =
        "gpu-nodes = { gpus-per-node = 8, scale-up = { rate = \"2400G\", latency = \"50ns\" } }\n";
    assert_has(&by_default.text, gpu_nodes);
    let warnings = by_default.every_warning();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_has(&warnings[0], "servers are not in the workload: 8 GPUs each");
    let none = imported(TraceFormat::Simai, &workload, Asked { gpu_nodes: Some("none"), ..Asked::default() });
    assert!(!none.text.contains("gpu-nodes"));
    assert_has(
        &none.every_warning()[0],
        "groups of 8 tensor-parallel ranks, which SimAI keeps inside a server",
    );
    let four = Some("{ gpus-per-node = 4, scale-up = { rate = \"900G\" } }");
    let four = imported(TraceFormat::Simai, &workload, Asked { gpu_nodes: four, ..Asked::default() });
    assert_has(
        &four.every_warning()[0],
        "8 tensor-parallel ranks are not inside the scale-up domains of 4 GPUs",
    );
    let wrong = Asked { gpu_nodes: Some("{ gpus-per-node = 3 }"), ..Asked::default() };
    assert!(
        refused(TraceFormat::Simai, &workload, wrong).starts_with("--gpu-nodes: gpu-nodes.gpus-per-node: ")
    );
}

#[test]
fn servers_of_a_topology_of_simai_hold_the_ranks() {
    let workload =
        file("tp2.txt", SIMAI.replace("group: 8", "group: 2").replace("all_gpus: 8", "all_gpus: 4"));
    let network = file("servers.txt", SERVERS);
    let imported = imported(TraceFormat::Simai, &workload, in_network(&network));
    assert_has(&imported.text, "topology.hpcc = { file = \"servers.txt\" }");
    assert_eq!(imported.every_warning(), [""; 0]);
    let broken = file("broken.txt", SERVERS.replace("3 5 2400", "3 9 2400"));
    let error = refused(TraceFormat::Simai, &workload, in_network(&broken));
    assert!(error.starts_with("broken.txt:6: node 9 is not one of 0 to 6"), "{error}");
}

#[test]
fn connections_without_end_are_flows() {
    let matrix = file("endless.cm", ENDLESS);
    let scenario = imported(TraceFormat::Htsim, &matrix, Asked::default());
    assert_has(&scenario.text, "limit = \"1ms\"");
    assert_has(&scenario.text, "  { from = \"h1\", to = \"h2\", size = \"unbounded\", start = \"5us\" },\n");
    assert_has(&scenario.text, "  { from = \"h3\", to = \"h2\", size = \"unbounded\" },\n");
    assert_has(&scenario.every_warning()[0], "connections without end (size 0) are flows");
    let keys = [("flows".to_owned(), "true".to_owned())];
    let error = refused(TraceFormat::Htsim, &matrix, Asked { keys: &keys, ..Asked::default() });
    assert_has(&error, "trace.flows: connections without end (size 0) are flows here");
    let trigger = file(
        "trigger.cm",
        "Nodes 4\nConnections 2\nTriggers 1\n0->1 start 0 size 0\n2->1 start 0 size 7 \
        send_done_trigger 1\ntrigger id 1 oneshot\n",
    );
    assert!(
        refused(TraceFormat::Htsim, &trigger, Asked::default()).starts_with("trigger.cm:5: it has a trigger")
    );
}

#[test]
fn a_topology_of_htsim_is_a_fat_tree() {
    let (matrix, network) = (file("m.cm", MATRIX), file("tiny.topo", TOPO));
    let scenario = imported(TraceFormat::Htsim, &matrix, in_network(&network));
    assert_has(
        &scenario.text,
        "topology.fat-tree = { pods = 2, tors-per-pod = 2, aggs-per-pod = 2, cores-per-agg = 4, hosts-per-tor = 2, \
         host-tor = { rate = \"200G\", delay = \"1us\" }, tor-agg = { rate = \"200G\", delay = \"1us\" }, agg-core = { \
         rate = \"400G\", delay = \"1us\" } }\n",
    );
    assert_has(&scenario.text, "switches = { tag = \"agg\" }\npipeline = \"300ns\"\n");
    // A ToR has both uplinks to one aggregation switch, and that has two links to each of two cores.
    let bundles = TOPO.replace("Tier 1\n", "Tier 1\nBundle 2\n").replace("Tier 2\n", "Tier 2\nBundle 2\n");
    let scenario = imported(TraceFormat::Htsim, &matrix, in_network(&file("bundles.topo", bundles)));
    assert_has(&scenario.text, "tors-per-pod = 2, aggs-per-pod = 1, cores-per-agg = 2, hosts-per-tor = 2, ");
    assert_has(&scenario.text, "parallel-tor-agg = 2, parallel-agg-core = 2 }\n");
    let two = TOPO
        .replace("Tiers 3", "Tiers 2")
        .replace("Podsize 4", "")
        .replace("Radix_Up 2", "Radix_Up 4\nBogus 1");
    let two = two
        .replace("Radix_Up 4\nDown", "Bundle 2\nDown")
        .replace("Radix_Down 2\nBundle", "Radix_Down 8\nBundle");
    let leaf_spine = file("two.topo", two);
    let scenario = imported(TraceFormat::Htsim, &matrix, in_network(&leaf_spine));
    assert_has(&scenario.text, "topology.leaf-spine = { spines = 2, leaves = 4, hosts = 2, parallel = 2, ");
    assert_has(&scenario.every_warning()[0], "two.topo: line 9: \"Bogus\" is not used");
}

#[test]
fn faults_of_a_topology_of_htsim_have_their_lines() {
    let matrix = file("m2.cm", MATRIX);
    let with = |from: &str, to: &str| {
        let network = file("faulty.topo", TOPO.replacen(from, to, 1));
        refused(TraceFormat::Htsim, &matrix, in_network(&network))
    };
    assert_eq!(
        with("Radix_Down 2", "Radix_Down 3"),
        "faulty.topo:7: the number of nodes, 8, is no multiple of radix_down of tier 0, 3"
    );
    assert_eq!(
        with("Podsize 4", "Podsize 3"),
        "faulty.topo:3: the number of nodes, 8, is no multiple of podsize, 3"
    );
    assert_eq!(
        with("Tiers 3", "Tiers 4"),
        "faulty.topo:2: 4 tiers are not a topology of htsim, which has 2 or 3 tiers and at least 1 node"
    );
    assert_eq!(with("Radix_Up 2", "Radix_Up x"), "faulty.topo:8: \"x\" is not the number behind Radix_Up");
    assert_eq!(
        with("Radix_Up 2", "Radix_Up"),
        "faulty.topo:8: the line ends where the number behind Radix_Up is expected"
    );
    assert_eq!(
        with("Tier 2", "Tier 3"),
        "faulty.topo:18: tier 3 is not one of 0 (ToR), 1 (aggregation) and 2 (core)"
    );
    assert_eq!(
        with("Tier 0\n", "Tier 0\nBundle 2\n"),
        "faulty.topo:6: parallel links (bundle of tier 0) between a host and its ToR are not in the topologies of \
         floodway: write 1 and the rate of all"
    );
    assert_eq!(
        with("Tier 2\n", "Tier 2\nBundle 3\n"),
        "faulty.topo:14: radix_up of tier 1, 4, is no multiple of bundle of tier 2, 3"
    );
    let cut = file("cut.topo", &TOPO[..TOPO.find("Tier 2").unwrap_or_default()]);
    let error = refused(TraceFormat::Htsim, &matrix, in_network(&cut));
    assert_eq!(error, "cut.topo:2: the lines of Tier 2 of 3 are missing");
}

#[test]
fn a_network_of_astra_sim_is_a_switch() {
    let schedule = file("a.goal", GOAL);
    let network = file("switch.yml", SWITCH);
    let scenario = imported(TraceFormat::Goal, &schedule, in_network(&network));
    assert_has(
        &scenario.text,
        "topology.single-switch = { hosts = 8, rate = \"429496729600bps\", delay = \"500ns\" }"
            .replace("429496729600bps", &floodway_units::Rate(429_497_000_000).to_string())
            .as_str(),
    );
    let two = file(
        "two.yml",
        "topology: [Switch, Switch]\nnpus_count: [4, 2]\nbandwidth: [400, 50]\nlatency: [100, 500]\n",
    );
    let scenario = imported(TraceFormat::Goal, &schedule, in_network(&two));
    assert_has(&scenario.text, "gpu-nodes = { gpus-per-node = 4, scale-up = { rate = ");
    assert_has(&scenario.text, "single-switch = { hosts = 8, ");
    let ring = file("ring8.yml", SWITCH.replace("Switch", "Ring"));
    let error = refused(TraceFormat::Goal, &schedule, in_network(&ring));
    assert!(
        error.starts_with("ring8.yml:2: Ring of 8 is a network of ASTRA-sim that cannot be here"),
        "{error}"
    );
    assert_has(&error, "Write topology.single-switch = { hosts = 8, ");
    let with = |from: &str, to: &str| {
        refused(TraceFormat::Goal, &schedule, in_network(&file("faulty.yml", SWITCH.replace(from, to))))
    };
    assert_has(
        &with("[ Switch ]", "[ Swich ]"),
        "faulty.yml:2: \"Swich\" is no kind of a dimension; allowed: Ring, FullyConnected, Switch; did you mean \"Switch\"?",
    );
    assert_has(&with("[ 8 ]", "[ 8, 2 ]"), "faulty.yml:3: npus_count has 2 elements, and topology 1");
    assert_has(&with("latency", "latenzy"), "the key latency is missing");
    assert_has(&with("[ 500.0 ]", "[ 500.0"), "it is no YAML");
}

#[test]
fn a_file_of_another_format_is_told_as_what_it_is() {
    use TraceFormat::{Goal, Htsim, Simai};
    let is = |format: TraceFormat, name: &str, text: &str, seems: &str| {
        let error = refused(format, &file(name, text), Asked::default());
        assert!(error.starts_with(&format!("{name}:1: ")), "{error}");
        assert_has(&error, &format!("it seems to be {seems}"));
    };
    is(Goal, "x1", SIMAI, "a workload of SimAI: `floodway import simai FILE` reads it");
    is(Simai, "x2", GOAL, "a GOAL schedule: `floodway import goal FILE` reads it");
    is(Simai, "x3", MATRIX, "a connection matrix of htsim: `floodway import htsim FILE` reads it");
    is(Htsim, "x4", TOPO, "a topology of htsim: give it by --topology");
    is(Htsim, "x5", SWITCH, "a network of ASTRA-sim: give it by --topology");
    is(
        Goal,
        "x6",
        SERVERS,
        "a topology of HPCC's simulator, PowerTCP, Reverie or SimAI: write topology.hpcc",
    );
    is(
        Goal,
        "x7",
        "{\n \"scheduling-policy\": \"LIFO\",\n \"endpoint-delay\": 10\n}\n",
        "a system of ASTRA-sim: import the traces (NAME.<rank>.et) that it belongs to",
    );
    is(
        Goal,
        "x8",
        "{ \"logical-dims\": [\"8\",\"2\"] }\n",
        "a logical topology of ASTRA-sim: import the traces (NAME.<rank>.et) that it belongs to",
    );
    is(
        Goal,
        "x9",
        "{ \"memory-type\": \"PER_NPU\", \"remote-mem-bw\": 512 }\n",
        "a remote memory of ASTRA-sim: write remote-",
    );
    is(
        Goal,
        "x10",
        "ENABLE_QCN 1\nCC_MODE 3\n",
        "a configuration of HPCC's simulator or of one based on it: `floodway",
    );
    is(
        Goal,
        "x11",
        "{\"schema\": \"1.1.1-chakra.0.0.4\", \"nodes\": []}\n",
        "a trace of PyTorch as JSON: Chakra's own tools",
    );
    is(
        Goal,
        "x12",
        "2\n0 3 3 100 1000000 2.0\n1 3 4 100 1000 2.5\n",
        "a list of flows of HPCC's simulator or ConWeave's",
    );
    let chakra = refused(TraceFormat::Chakra, &file("t.0.et", GOAL), Asked::default());
    assert_has(&chakra, "t.0.et:1: it is not an execution trace of Chakra; it seems to be a GOAL schedule");
    let network = refused(TraceFormat::Chakra, &file("ring.yml", SWITCH), Asked::default());
    assert_has(
        &network,
        "ring.yml:1: it is not an execution trace of Chakra; it seems to be a network of ASTRA-sim",
    );
    let binary = file("y1", [&[7, 0x0a, 5][..], b"0.0.4", &[2, 8, 1]].concat());
    assert_has(&refused(Goal, &binary, Asked::default()), "it seems to be an execution trace of Chakra");
    let network = refused(Goal, &file("g.goal", GOAL), in_network(&file("n.goal", GOAL)));
    assert_has(&network, "n.goal: it is no network; it seems to be a GOAL schedule");
    let config = hpcc(&file("y2", GOAL), None).expect_err("it is none").to_string();
    assert_has(&config, "begins with a key such as CC_MODE 3; it seems to be a GOAL schedule");
}

#[test]
fn a_configuration_of_simai_is_told_as_one() {
    let config = file("SimAI.conf", "ENABLE_QCN 1\nCC_MODE 1\nBW_MON_FILE /x/bw.txt\nMON_START 0\n");
    let error = hpcc(&config, None).expect_err("it names no topology").to_string();
    assert_has(
        &error,
        "TOPOLOGY_FILE: is missing: it is a configuration of SimAI, whose topology and workload are",
    );
}

#[test]
fn the_configuration_of_simai_sets_a_job_over_its_topology() {
    let text = "ENABLE_QCN 1\nUSE_DYNAMIC_PFC_THRESHOLD 1\nPACKET_PAYLOAD_SIZE 9000\nFLOW_FILE /x/flow.txt\n\
        SIMULATOR_STOP_TIME 40000000000000.00\nCC_MODE 1\nALPHA_RESUME_INTERVAL 1\nRATE_DECREASE_INTERVAL 4\n\
        RP_TIMER 900\nEWMA_GAIN 0.00390625\nFAST_RECOVERY_TIMES 1\nRATE_AI 50Mb/s\nRATE_HAI 100Mb/s\nMIN_RATE 100Mb/s\n\
        L2_ACK_INTERVAL 1\nHAS_WIN 1\nGLOBAL_T 0\nVAR_WIN 1\nRATE_BOUND 1\nACK_HIGH_PRIO 0\nLINK_DOWN 0 0 0\n\
        TRACE_NODE 0\nKMAX_MAP 1 100000000000 1600\nKMIN_MAP 1 100000000000 400\nPMAX_MAP 1 100000000000 0.2\n\
        BUFFER_SIZE 32\nBW_MON_FILE /x/bw.txt\nMON_START 0\n";
    let workload =
        file("tp3.txt", SIMAI.replace("group: 8", "group: 2").replace("all_gpus: 8", "all_gpus: 4"));
    let (network, config) = (file("servers3.txt", SERVERS), file("Sim.conf", text));
    let asked = Asked { network: Some(Given::File(&network)), config: Some(&config), ..Asked::default() };
    let imported = imported(TraceFormat::Simai, &workload, asked);
    for part in
        ["profile = \"hpcc-ns3\"\nmtu = \"9000B\"\n", "kmin = \"400KB\", kmax = \"1.6MB\"", "rai = \"50M\""]
    {
        assert_has(&imported.text, part);
    }
    assert!(imported.every_warning().iter().any(|told| told.contains("BW_MON_FILE: has no effect")));
    let alone = refused(TraceFormat::Simai, &workload, Asked { config: Some(&config), ..Asked::default() });
    assert_has(&alone, "--config: it needs --topology with a topology file of SimAI");
    let of_goal = Asked { network: Some(Given::File(&network)), config: Some(&config), ..Asked::default() };
    assert_has(&refused(TraceFormat::Goal, &file("c.goal", GOAL), of_goal), "--config: it is of SimAI");
}

#[test]
fn files_of_gzip_are_read_as_what_is_in_them() {
    let gzip = |text: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).and_then(|()| encoder.finish()).unwrap_or_else(|error| panic!("{error}"))
    };
    let schedule = file("a.goal.gz", gzip(GOAL.as_bytes()));
    assert_has(&imported(TraceFormat::Goal, &schedule, Asked::default()).text, "# A GOAL schedule: 2 ranks.");
    let endless = file("e.cm.gz", gzip(ENDLESS.as_bytes()));
    let network = file("s.yml.gz", gzip(SWITCH.as_bytes()));
    assert_has(&imported(TraceFormat::Htsim, &endless, in_network(&network)).text, "size = \"unbounded\"");
    let whole = gzip(GOAL.as_bytes());
    let cut = file("cut.goal.gz", &whole[..whole.len() - 9]);
    assert_has(
        &refused(TraceFormat::Goal, &cut, Asked::default()),
        "it is a file of gzip, and cannot be decompressed: ",
    );
}
