//! Configurations of the HPCC simulator as scenarios.
#![allow(clippy::print_stderr, reason = "a skipped test says why")]

use std::fs;
use std::path::{Path, PathBuf};

use floodway_scenario::Scenario;
use floodway_scenario::import::{Imported, hpcc, is_config};

const TOPOLOGY: &str = "4 1 3\n2\n0 2 100Gbps 1000ns 0\n3 2 400Gbps 0.002ms 0\n1 2 100Gbps 1us 0.000\n";
const FLOWS: &str = "2\n0 3 3 100 1000000 2.000000000\n1 3 3 100 1000 2.5\n";
const CONFIG: &str = "TOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\nSIMULATOR_STOP_TIME 3\nCC_MODE 1\n\
    RP_TIMER 300\nEWMA_GAIN 0.00390625\nRATE_AI 20Mb/s\nRATE_HAI 200.0Mb/s\nL2_ACK_INTERVAL 1\nHAS_WIN 0\n\
    KMAX_MAP 2 100000000000 1600 400000000000 6400\nKMIN_MAP 2 100000000000 400 400000000000 1600\n\
    PMAX_MAP 2 100000000000 0.20 400000000000 0.2\n";

/// A folder of its own for a test, with files in it.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("import").join(name);
    let _ = fs::remove_dir_all(&folder);
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&folder)).unwrap_or_else(|error| panic!("{error}"));
        fs::write(path, text).unwrap_or_else(|error| panic!("{error}"));
    }
    folder
}

/// A folder with a configuration and its files.
fn with(name: &str, config: &str) -> PathBuf {
    folder(name, &[("config.txt", config), ("topology.txt", TOPOLOGY), ("flow.txt", FLOWS)])
}

fn import(folder: &Path) -> Result<Imported, String> {
    hpcc(&folder.join("config.txt"), None).map_err(|errors| short(&errors.to_string(), folder))
}

/// A message without the test's own folder.
fn short(message: &str, folder: &Path) -> String {
    message.replace(&format!("{}/", folder.display()), "")
}

fn imported(name: &str, config: &str) -> Imported {
    import(&with(name, config)).unwrap_or_else(|errors| panic!("{errors}"))
}

fn warnings(imported: &Imported) -> Vec<String> {
    let folder = &imported.folder;
    imported.every_warning().iter().map(|warning| short(warning, folder)).collect()
}

fn keys(imported: &Imported) -> toml::Value {
    toml::from_str(&imported.text).unwrap_or_else(|error| panic!("{error}\n{}", imported.text))
}

#[test]
fn a_configuration_becomes_a_scenario_with_all_of_its_settings() {
    let imported = imported("whole", CONFIG);
    let text = r#"# From config.txt, a configuration of the HPCC simulator.

profile = "hpcc-ns3"
origin = "2s"
limit = "1s"
stop = "acknowledged"
mtu = "1000B"

[semantics]
acks = "data-class"
pacing = "on"

[topology.hpcc]
file = "topology.txt"

[defaults]
buffer.shared = { total = "16MiB", reserve = "4.096KB", crossing = "headroom" }
rate-control = { dcqcn = { preset = "hpcc", cnp = "ack-flag", g = 0.00390625, t-alpha = "55us", t-dec = "4us", t-inc = "300us", f = 5, rai = "20M", rhai = "200M", rmin = "100M", clamp = false } }
reliability = { go-back-n = { ack-interval = 1, nack-interval = "500us", timeout = "off", duplicates = "silent" } }

[[override]]
name = "pfc-100G-1us"
links = { tag = "100G-1us" }
flow-control.pfc = { xoff = { alpha = 0.125 }, headroom = "37.5KB", resume-offset = "3.072KB" }

[[override]]
name = "pfc-400G-2us"
links = { tag = "400G-2us" }
flow-control.pfc = { xoff = { alpha = 0.5 }, headroom = "300KB", resume-offset = "3.072KB" }

[[override]]
name = "ecn-100G"
links = { tag = "100G" }
congestion-point.red = { kmin = "400KB", kmax = "1.6MB", pmax = 0.2, at = "dequeue" }

[[override]]
name = "ecn-400G"
links = { tag = "400G" }
congestion-point.red = { kmin = "1.6MB", kmax = "6.4MB", pmax = 0.2, at = "dequeue" }

[[override]]
name = "hosts-mark-nothing"
hosts = "*"
congestion-point = []

[[workload]]
name = "flows"
flow-list = { file = "flow.txt", format = "hpcc" }

[records]
pauses = true
"#;
    assert_eq!(imported.text, text);
    assert_eq!(warnings(&imported), Vec::<String>::new());
    keys(&imported);
}

#[test]
fn each_mode_has_its_reaction() {
    let reaction = |name: &str, more: &str| {
        let imported = imported(name, &format!("{CONFIG}{more}\n"));
        // The keys of the configuration come again.
        let said = warnings(&imported).into_iter().filter(|line| !line.contains(": is there twice, "));
        (keys(&imported)["defaults"]["rate-control"].to_string(), said.collect::<Vec<_>>())
    };
    let (hpcc, none) =
        reaction("hpcc", "CC_MODE 3 HAS_WIN 1 VAR_WIN 1 MI_THRESH 0 INT_MULTI 4 MULTI_RATE 0 GLOBAL_T 1");
    let parameters = [
        "preset = \"simulator\"",
        "eta = 0.95",
        "max-stage = 0",
        "rai = \"20M\"",
        "rmin = \"100M\"",
        "base-rtt = \"largest\"",
        "window = \"largest\"",
        "variable-window = true",
        "fast-react = true",
        "multi-rate = false",
        "sample-feedback = false",
        "int-multi = 4",
    ];
    assert!(hpcc.starts_with("{ hpcc = {") && parameters.iter().all(|part| hpcc.contains(part)), "{hpcc}");
    assert_eq!(none, Vec::<String>::new());
    let (timely, _) = reaction("timely", "CC_MODE 7");
    assert!(timely.contains("timely = {") && timely.contains("rhai = \"200M\""), "{timely}");
    let (dctcp, _) = reaction("dctcp", "CC_MODE 8 DCTCP_RATE_AI 615Mb/s HAS_WIN 1 GLOBAL_T 0 VAR_WIN 1");
    assert!(dctcp.contains("rai = \"615M\""), "{dctcp}");
    assert!(dctcp.contains("size = \"auto\"") && dctcp.contains("variable = true"), "{dctcp}");
    let (none, said) = reaction("no-reaction", "CC_MODE 0");
    assert_eq!(none, "\"line-rate\"");
    assert_eq!(said, ["config.txt:14: CC_MODE: 0 means no reaction to congestion, as in that simulator"]);
}

#[test]
fn settings_without_effect_and_unknown_ones_are_reported() {
    let more = "USE_DYNAMIC_PFC_THRESHOLD 1\nPAUSE_TIME 5\nRATE_AJ 3 4\nRATE_DECREASE_INTERVAL 4.5\nL2_ACK_INTERVAL 4000\n";
    let less = CONFIG.replace("EWMA_GAIN 0.00390625\n", "").replace("RP_TIMER 300\n", "");
    let said = warnings(&imported("idle", &format!("{less}{more}")));
    let expected = [
        "config.txt:12: USE_DYNAMIC_PFC_THRESHOLD: has no effect: the threshold is always dynamic, as in that simulator's switches",
        "config.txt:13: PAUSE_TIME: has no effect: a pause lasts until the resume, as in that simulator",
        "config.txt:14: RATE_AJ: is not a key of the HPCC simulator; did you mean RATE_AI?",
        "config.txt:16: L2_ACK_INTERVAL: is there twice, first in line 7: this value counts, as in that simulator",
        "config.txt: RP_TIMER: is missing, and that simulator has no default for it: 1500 us is taken",
        "config.txt: EWMA_GAIN: is missing: it is 0 then, as in that simulator, and alpha stays as it is",
        "config.txt:15: RATE_DECREASE_INTERVAL: is cut to 4 us, as in that simulator",
        "config.txt:16: L2_ACK_INTERVAL: each packet is acknowledged from the first on; there only from byte 4000 of a flow on",
    ];
    assert_eq!(said, expected);
}

#[test]
fn keys_without_effect_share_a_line_where_the_file_is_taken_as_a_scenario() {
    let one = imported("one-idle", &format!("{CONFIG}PAUSE_TIME 5\n"));
    assert_eq!(one.short_warnings(), one.every_warning());
    let more =
        imported("idle-keys", &format!("{CONFIG}PAUSE_TIME 5\nRATE_AJ 3\nTRACE_FILE t\nPAUSE_TIME 6\n"));
    let short: Vec<_> = more.short_warnings().iter().map(|line| short(line, &more.folder)).collect();
    let expected = [
        "config.txt: no effect here, by their lines: TRACE_FILE (16), PAUSE_TIME (17); `floodway import hpcc` says why",
        "config.txt:15: RATE_AJ: is not a key of the HPCC simulator; did you mean RATE_AI?",
    ];
    assert_eq!(short, expected);
    assert_eq!(more.every_warning().len(), 3);
}

#[test]
fn a_comment_is_skipped_up_to_a_key() {
    let text = format!("# a comment\n\n// and one more\n{CONFIG}# PFC_RESERVE 0 of old\n");
    assert!(is_config(&text) && is_config(&format!("\u{feff}{CONFIG}")));
    assert!(!is_config("# a scenario\n[topology]\n") && !is_config("# CC_MODE 3\n"));
    let read = imported("comments", &text);
    assert_eq!(keys(&read)["defaults"]["buffer"]["shared"]["reserve"].as_str(), Some("0B"));
    let said: Vec<_> = warnings(&read);
    assert_eq!(said[0], "config.txt:17: PFC_RESERVE: is in a comment, and counts, as in that simulator");
    assert_eq!(said[1], "config.txt:17: of: is not a key of the HPCC simulator");
    let marked = imported("marked", &format!("\u{feff}{CONFIG}"));
    assert_eq!(marked.text, imported("unmarked", CONFIG).text);
}

#[test]
fn as_many_flows_and_links_are_read_as_are_counted() {
    let files = [
        ("config.txt", CONFIG),
        ("topology.txt", &format!("{TOPOLOGY}0 1 100Gbps 1000ns 0\n")),
        ("flow.txt", &format!("{FLOWS}1 0 3 100 1 2.5\n")),
    ];
    let imported = import(&folder("beyond", &files)).expect("it is read");
    let said = warnings(&imported).join("\n");
    assert!(said.contains("TOPOLOGY_FILE: more links follow the "), "{said}");
    assert!(said.contains("FLOW_FILE: more flows follow the "), "{said}");
    assert!(said.contains("that are counted, in "), "{said}");
}

#[test]
fn headroom_and_reserve_of_a_port_are_taken_once_from_the_memory_whatever_its_classes() {
    let flows = FLOWS.replace("1 3 3 100", "1 3 4 100");
    let files = [("config.txt", CONFIG), ("topology.txt", TOPOLOGY), ("flow.txt", &flows)];
    let imported = import(&folder("classes", &files)).expect("it is read");
    let keys = keys(&imported);
    let buffer = &keys["defaults"]["buffer"]["shared"];
    // 16 MiB less 2 * 37500 and 300000 of headroom and 3 * 4096 of reserve.
    assert_eq!((buffer.get("total"), buffer["pool"].as_str()), (None, Some("16389.928KB")));

    // Two switches, one with two ports and one with three; the first has more memory left.
    let topology = "5 2 4\n2 3\n0 2 100Gbps 1us 0\n2 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n4 3 100Gbps 1us 0\n";
    let flows = "2\n0 1 3 100 1000 2\n4 1 1 100 1000 2\n";
    let files = [("config.txt", CONFIG), ("topology.txt", topology), ("flow.txt", flows)];
    let place = folder("two-pools", &files);
    let keys = self::keys(&import(&place).expect("it is read"));
    assert_eq!(keys["defaults"]["buffer"]["shared"]["pool"].as_str(), Some("16652.428KB"));
    let tables = keys["override"].as_array().expect("it is a list");
    let of_s2 = tables.iter().find(|table| table["name"].as_str() == Some("pool-2")).expect("it is there");
    assert_eq!(of_s2["switches"].as_array().map(Vec::len), Some(1));
    assert_eq!(of_s2["switches"][0].as_str(), Some("s2"));
    assert_eq!(of_s2["buffer"]["shared"]["pool"].as_str(), Some("16694.024KB"));
    let scenario = Scenario::from_path(&place.join("config.txt"), &[]);
    assert!(scenario.is_ok(), "{scenario:?}");

    let small = CONFIG.replace("HAS_WIN 0\n", "HAS_WIN 0\nBUFFER_SIZE 1\n");
    let long = TOPOLOGY.replace("0.002ms", "0.02ms");
    let flows = FLOWS.replace("1 3 3 100", "1 3 4 100");
    let files = [("config.txt", small.as_str()), ("topology.txt", &long), ("flow.txt", &flows)];
    assert_eq!(
        import(&folder("no-pool", &files)).unwrap_err(),
        "config.txt:11: BUFFER_SIZE: reserves and headroom of s2 take 3087.288KB, all of its 1048.576KB"
    );
}

#[test]
fn where_frames_are_lost_flows_that_never_end_get_a_warning() {
    let of_key =
        "ERROR_RATE_PER_LINK: frames are lost: a flow that loses its last packet or the ACK of it never ends";
    let said = warnings(&imported("lossy", &format!("{CONFIG}ERROR_RATE_PER_LINK 0.001\n"))).join("\n");
    assert!(said.contains(of_key), "{said}");
    let topology = TOPOLOGY.replacen("1000ns 0\n", "1000ns 0.5\n", 1);
    assert_ne!(topology, TOPOLOGY);
    let files = [("config.txt", CONFIG), ("topology.txt", &topology), ("flow.txt", FLOWS)];
    let said = warnings(&import(&folder("lossy-link", &files)).expect("it is read")).join("\n");
    assert!(said.contains("TOPOLOGY_FILE: frames are lost"), "{said}");
}

#[test]
fn other_keys_of_a_run_are_honoured() {
    let more = "ACK_HIGH_PRIO 1\nRATE_BOUND 0\nENABLE_QCN 0\nERROR_RATE_PER_LINK 0.001\nPFC_A_SHIFT 13\nPFC_RESERVE 0\n\
        PFC_RESUME_OFFSET 2048\nBUFFER_SIZE 2560\nPACKET_PAYLOAD_SIZE 1500\nSIMULATOR_STOP_TIME 2.25\n\
        LINK_DOWN 1000 2 1\nQLEN_MON_FILE /dev/null\nQLEN_MON_START 2000000000\nQLEN_MON_END 3000000000\n";
    let imported = imported("others", &format!("{CONFIG}{more}"));
    let keys = keys(&imported);
    assert_eq!(keys["semantics"]["acks"].as_str(), Some("data-class-unpaused"));
    assert_eq!(keys["semantics"]["pacing"].as_str(), Some("off"));
    assert_eq!(keys["topology"]["hpcc"]["error-rate"].as_float(), Some(0.001));
    assert_eq!(keys["mtu"].as_str(), Some("1500B"));
    assert_eq!(keys["limit"].as_str(), Some("250ms"));
    let buffer = &keys["defaults"]["buffer"]["shared"];
    assert_eq!((buffer["total"].as_str(), buffer["reserve"].as_str()), (Some("2560MiB"), Some("0B")));
    let overrides = keys["override"].as_array().expect("it is a list");
    let names: Vec<_> = overrides.iter().filter_map(|of| of["name"].as_str()).collect();
    assert_eq!(names, ["pfc-100G-1us", "pfc-400G-2us", "link-down"]);
    let pfc = &overrides[1]["flow-control"]["pfc"];
    assert_eq!(pfc["xoff"]["alpha"].as_float(), Some(1.0 / 8192.0));
    assert_eq!(pfc["resume-offset"].as_str(), Some("2.048KB"));
    let down = &overrides[2];
    assert_eq!(down["links"].as_str(), Some("h1-s2"));
    assert_eq!(down["faults"]["error-rate"].as_float(), Some(0.001));
    assert_eq!(down["faults"]["down"]["from"].as_str(), Some("1ms"));
    assert_eq!(keys["workload"][0]["until"].as_str(), Some("250ms"));
    let histogram = &keys["records"]["queue-histogram"];
    assert_eq!((histogram["from"].as_str(), histogram["to"].as_str()), (Some("0ps"), Some("250ms")));
    let said = warnings(&imported);
    assert!(
        said.iter().any(|line| line.starts_with("config.txt:24: LINK_DOWN: packets on the link")),
        "{said:?}"
    );
    let late = "config.txt:23: SIMULATOR_STOP_TIME: flows that start at the end, 2.25s, or later are left out: 1 flow";
    assert!(said.iter().any(|line| line == late), "{said:?}");
}

#[test]
fn unsupported_settings_are_refused_with_a_reason() {
    let refused = |more: &str| import(&with("refused", &format!("{CONFIG}{more}\n"))).unwrap_err();
    let is = |more: &str, message: &str| assert_eq!(refused(more), message);
    is(
        "CC_MODE 10",
        "config.txt:14: CC_MODE: HPCC-PINT (10) is not supported; allowed: 1 (DCQCN), 3 (HPCC), 7 (TIMELY), 8 (DCTCP)",
    );
    is(
        "CC_MODE 3",
        "config.txt:10: HAS_WIN: HPCC (CC_MODE 3) divides by its window, so that 0 breaks that simulator; write 1",
    );
    is(
        "L2_BACK_TO_ZERO 1",
        "config.txt:14: L2_BACK_TO_ZERO: going back by chunks (1) is not supported: there a flow that is not whole \
         chunks long never ends; write 0",
    );
    is(
        "L2_ACK_INTERVAL 0",
        "config.txt:14: L2_ACK_INTERVAL: 0 turns acknowledgements off there, and no flow ever ends; write 1",
    );
    is(
        "BUFFER_SIZE 4096",
        "config.txt:14: BUFFER_SIZE: 4096 MiB are not 1 to 4095, all that the simulator can count",
    );
    is("BUFFER_SIZE x", "config.txt:14: BUFFER_SIZE: \"x\" is not a whole number of at least 0");
    is("BUFFER_SIZE", "config.txt:14: BUFFER_SIZE: the text ends here, but its value is required");
    is("RATE_AI 20M", "config.txt:14: RATE_AI: \"20M\" is not a rate like \"100Gbps\" or \"40Mb/s\"");
    is("PFC_A_SHIFT 32", "config.txt:14: PFC_A_SHIFT: 32 is not a number of bits from 0 to 31");
    is("U_TARGET -1 CC_MODE 3 HAS_WIN 1", "config.txt:14: U_TARGET: \"-1\" is not a number of at least 0");
    is("ERROR_RATE_PER_LINK 2", "config.txt:14: ERROR_RATE_PER_LINK: 2 is not a probability from 0 to 1");
    is("LINK_DOWN 5 0 1", "config.txt:14: LINK_DOWN: no link joins nodes 0 and 1");
    is(
        "SIMULATOR_STOP_TIME 2",
        "config.txt:14: SIMULATOR_STOP_TIME: the simulation ends at 2s, and its first flow starts at 2s",
    );
    is(
        "TOPOLOGY_FILE topologi.txt",
        "config.txt:14: TOPOLOGY_FILE: \"topologi.txt\" is not found in its folder, in the 3 folders above it, \
         or in the current folder; did you mean \"topology.txt\"?",
    );
    let few =
        CONFIG.replace("KMAX_MAP 2 100000000000 1600 400000000000 6400", "KMAX_MAP 1 100000000000 1600");
    assert_eq!(
        import(&with("few", &few)).unwrap_err(),
        "config.txt:11: KMAX_MAP: has no entry for 400G (400000000000 bit/s), the rate of the link in line 4 of the \
         topology file; it has 100G"
    );
    let missing = CONFIG.replace("RATE_AI 20Mb/s\n", "");
    assert_eq!(
        import(&with("missing", &missing)).unwrap_err(),
        "config.txt: RATE_AI: is missing, and that simulator has no default for it"
    );
    let text = folder("no-config", &[("config.txt", "seed = 1\n")]);
    assert_eq!(
        import(&text).unwrap_err(),
        "config.txt: it is not a configuration of the HPCC simulator, which begins with a key such as CC_MODE 3"
    );
}

#[test]
fn faults_of_the_files_that_it_names_have_their_lines() {
    let files = [("config.txt", CONFIG), ("topology.txt", TOPOLOGY), ("flow.txt", "1\n0 2 3 100 1 2\n")];
    assert_eq!(
        import(&folder("bad-flow", &files)).unwrap_err(),
        "flow.txt:2: FLOW_FILE: node 2 is a switch; flows run between hosts"
    );
    let files = [("config.txt", CONFIG), ("topology.txt", "2 1 1\n1\n0 1 1G 1us 0\n"), ("flow.txt", FLOWS)];
    assert_eq!(
        import(&folder("bad-topology", &files)).unwrap_err(),
        "topology.txt:3: TOPOLOGY_FILE: \"1G\" is not a rate like \"100Gbps\" or \"40Mb/s\""
    );
    let files = [("config.txt", CONFIG), ("topology.txt", TOPOLOGY), ("flow.txt", "0\n")];
    assert_eq!(import(&folder("no-flow", &files)).unwrap_err(), "config.txt:2: FLOW_FILE: it has no flow");
}

#[test]
fn files_are_found_above_and_named_from_where_the_scenario_lies() {
    let config = CONFIG.replace("topology.txt", "mix/topology.txt").replace("flow.txt", "mix/flow.txt");
    let paths = "0 0 3 10000 100 1000000 | 0 2 3 | 3 2 0\n";
    let files = [
        ("mix/config.txt", config.as_str()),
        ("mix/topology.txt", TOPOLOGY),
        ("mix/flow.txt", FLOWS),
        ("mix/paths.txt", paths),
        ("out/x", ""),
    ];
    let folder = folder("simulation", &files);
    let imported = hpcc(&folder.join("mix/config.txt"), Some(&folder.join("out")))
        .unwrap_or_else(|errors| panic!("{errors}"));
    let keys = keys(&imported);
    assert_eq!(keys["topology"]["hpcc"]["file"].as_str(), Some("../mix/topology.txt"));
    let list = &keys["workload"][0]["flow-list"];
    assert_eq!(list["file"].as_str(), Some("../mix/flow.txt"));
    assert_eq!(list["paths"].as_str(), Some("../mix/paths.txt"));
    let said: Vec<_> = imported.warnings.iter().map(|warning| short(&warning.to_string(), &folder)).collect();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("FLOW_FILE: flows are pinned to the paths in "), "{said:?}");
}

#[test]
fn a_configuration_is_recognised_by_its_first_word() {
    assert!(is_config(CONFIG) && is_config("\n  ENABLE_IRN 1"));
    assert!(!is_config("seed = 1") && !is_config("") && !is_config("# CC_MODE 1") && !is_config("[CC_MODE]"));
}

#[test]
fn every_reference_folder_is_read() {
    let Some(reference) = std::env::var_os("FLOODWAY_REFERENCE").map(PathBuf::from) else {
        eprintln!("skipped: FLOODWAY_REFERENCE names no folder of reference data");
        return;
    };
    let mut read = 0;
    for case in ["c1_incast", "c1_incast_pfc", "c2_mercury_small", "c5_irn_incast", "c7_fattree16"] {
        let folder = reference.join("reference/ns3").join(case);
        let mut configs: Vec<_> = fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("{error}"))
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("config_")))
            .collect();
        configs.sort();
        for config in configs {
            let imported = hpcc(&config, None).unwrap_or_else(|errors| panic!("{errors}"));
            let keys = keys(&imported);
            assert_eq!(keys["origin"].as_str(), Some("2s"));
            assert_eq!(keys["workload"][0]["flow-list"].get("paths").is_some(), case == "c7_fattree16");
            read += 1;
        }
    }
    assert_eq!(read, 16);
}

#[test]
fn a_key_that_is_there_twice_gets_a_warning_with_both_lines() {
    for (again, first) in [("CC_MODE 1", 4), ("RATE_AI 30Mb/s", 7), ("KMAX_MAP 1 100000000000 1600", 11)] {
        let said = warnings(&imported("twice", &format!("{CONFIG}{again}\n")));
        let key = again.split(' ').next().expect("a key");
        let due = format!(
            "config.txt:14: {key}: is there twice, first in line {first}: this value counts, as in that simulator"
        );
        assert!(said.contains(&due), "{said:?}");
    }
}
