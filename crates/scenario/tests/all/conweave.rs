//! Configurations of ConWeave's simulator as scenarios.

use std::fs;
use std::path::{Path, PathBuf};

use floodway_scenario::Scenario;
use floodway_scenario::import::{Imported, hpcc};

/// Two hosts at each of two switches, of which the second has a faster link between them.
const TOPOLOGY: &str = "6 2 5\n4 5\n0 4 100Gbps 1000ns 0\n1 4 100Gbps 1000ns 0\n4 5 100Gbps 1000ns 0\n\
    2 5 100Gbps 1000ns 0\n3 5 25Gbps 1000ns 0\n";
const FLOWS: &str = "3\n0 2 3 1000000 2.000000000\n1 2 3 1000 2.0\n0 3 3 1000 2.5\n";
const CONFIG: &str = "TOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\nFLOW_INPUT_FILE /dev/null\nCC_MODE 1\nLB_MODE 0\n\
    EWMA_GAIN 0.00390625\nRATE_AI 40Mb/s\nRATE_HAI 100.0Mb/s\nL2_ACK_INTERVAL 1\nHAS_WIN 0\nBUFFER_SIZE 9\n\
    KMAX_MAP 2 100000000000 400 25000000000 100\nKMIN_MAP 2 100000000000 100 25000000000 25\n\
    PMAX_MAP 2 100000000000 0.20 25000000000 0.2\nFLOWGEN_STOP_TIME 2.5\n";

/// A folder with a configuration and its files.
fn with(name: &str, config: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("conweave").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{error}"));
    for (name, text) in [("config.txt", config), ("topology.txt", TOPOLOGY), ("flow.txt", FLOWS)] {
        fs::write(folder.join(name), text).unwrap_or_else(|error| panic!("{error}"));
    }
    folder
}

fn import(name: &str, more: &str) -> Result<Imported, String> {
    let folder = with(name, &format!("{CONFIG}{more}\n"));
    let short = |message: String| message.replace(&format!("{}/", folder.display()), "");
    hpcc(&folder.join("config.txt"), None).map_err(|errors| short(errors.to_string()))
}

/// The keys of a scenario, which must be one that can be run.
fn keys(imported: &Imported) -> toml::Table {
    let folder = &imported.folder;
    // The configuration itself runs as what it is imported as.
    let scenario = Scenario::from_path(&folder.join("config.txt"), &[]);
    scenario.unwrap_or_else(|errors| panic!("{errors}"));
    imported.text.parse().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_configuration_becomes_a_scenario_with_all_of_its_settings() {
    let imported = import("whole", "RANDOM_SEED 7").unwrap_or_else(|errors| panic!("{errors}"));
    let text = r#"# From config.txt, a configuration of ConWeave's simulator.

profile = "conweave-ns3"
seed = 7
origin = "2s"
limit = "10.5s"
stop = "acknowledged"
mtu = "1000B"

[semantics]
pacing = "on"

[topology.hpcc]
file = "topology.txt"

[defaults]
buffer.shared = { pool = "9343244B", crossing = "pool", egress-pool = "9412032B", egress-reserve = "1049B" }
rate-control = { dcqcn = { preset = "hpcc", cnp = "ack-flag", g = 0.00390625, t-alpha = "55us", t-dec = "4us", t-inc = "300us", f = 1, rai = "40M", rhai = "100M", rmin = "100M", clamp = false } }
reliability = { go-back-n = { ack-interval = 1, nack-interval = "4us", timeout = "4ms", duplicates = "ack", restart = "any", nak-marks = true } }

[[override]]
name = "pfc-25G-1us"
links = { tag = "25G-1us" }
flow-control.pfc = { xoff = { fixed = "2097B", alpha = 0.0625 }, headroom = "8346B", resume-offset = "2B", pause = "timer", pause-time = "5us", renewal = "arrivals" }

[[override]]
name = "pfc-100G-1us"
links = { tag = "100G-1us" }
flow-control.pfc = { xoff = { fixed = "2097B", alpha = 0.0625 }, headroom = "27096B", resume-offset = "2B", pause = "timer", pause-time = "5us", renewal = "arrivals" }

[[override]]
name = "ecn-25G"
links = { tag = "25G" }
congestion-point.red = { kmin = "25KB", kmax = "100KB", pmax = 0.2, at = "dequeue", offset = "1049B" }

[[override]]
name = "ecn-100G"
links = { tag = "100G" }
congestion-point.red = { kmin = "100KB", kmax = "400KB", pmax = 0.2, at = "dequeue", offset = "1049B" }

[[override]]
name = "hosts-mark-nothing"
hosts = "*"
congestion-point = []

[[workload]]
name = "flows"
flow-list = { file = "flow.txt", format = "conweave" }

[records]
pauses = true
"#;
    assert_eq!(imported.text, text);
    assert_eq!(imported.warnings, []);
    keys(&imported);
}

#[test]
fn irn_without_pfc_is_lossy_and_its_timers_run() {
    let imported = import("irn", "ENABLE_IRN 1\nENABLE_PFC 0\nIRN_BDP 104000")
        .unwrap_or_else(|errors| panic!("{errors}"));
    let keys = keys(&imported);
    let defaults = &keys["defaults"];
    assert_eq!(defaults["flow-control"].as_str(), Some("lossy"));
    let buffer = &defaults["buffer"]["shared"];
    assert_eq!(
        (buffer["pool"].as_str(), buffer["egress-pool"].as_str()),
        (Some("9412032B"), Some("9412032B"))
    );
    let irn = &defaults["reliability"]["irn"];
    let values = ["form", "window", "rto-low", "rto-high", "nack-interval"].map(|key| irn[key].as_str());
    assert_eq!(values, [Some("conweave"), Some("104000B"), Some("100us"), Some("320us"), Some("4us")]);
}

#[test]
fn with_pfc_irn_has_no_timers() {
    let imported =
        import("irn-pfc", "ENABLE_IRN 1\nIRN_BDP 104000").unwrap_or_else(|errors| panic!("{errors}"));
    let irn = &keys(&imported)["defaults"]["reliability"]["irn"];
    assert_eq!((irn["rto-low"].as_str(), irn["rto-high"].as_str()), (Some("off"), Some("off")));
}

#[test]
fn memory_that_is_not_given_is_so_much_a_port() {
    let imported = import("memory", "BUFFER_SIZE 0").unwrap_or_else(|errors| panic!("{errors}"));
    let buffer = &keys(&imported)["defaults"]["buffer"]["shared"];
    assert_eq!(buffer["egress-pool"].as_str(), Some("1099848B"));
}

#[test]
fn unknown_keys_are_reported_and_have_no_effect() {
    let imported = import("unknown", "PFC_RESERVE 0\nPAUSE_TIME 7\nACK_HIGH_PRIO 1\nQLEN_MON_START 2")
        .unwrap_or_else(|errors| panic!("{errors}"));
    let said: Vec<_> =
        imported.warnings.iter().map(|warning| (warning.key.as_str(), warning.message.as_str())).collect();
    let none = "is not a key of ConWeave's simulator";
    assert_eq!(said, [("ACK_HIGH_PRIO", none), ("PFC_RESERVE", none)]);
    let idle: Vec<_> = imported.idle.iter().map(|idle| idle.key.as_str()).collect();
    assert_eq!(idle, ["FLOW_INPUT_FILE", "QLEN_MON_START"]);
    assert!(imported.text.contains("pause-time = \"7us\"") && !imported.text.contains("acks"));
}

#[test]
fn unsupported_settings_are_refused_with_a_reason() {
    let is = |more: &str, message: &str| assert_eq!(import("refused", more).unwrap_err(), message);
    is("LB_MODE 9", "config.txt:16: LB_MODE: ConWeave (9) is not supported; allowed: 0 (flow ECMP)");
    is("LB_MODE 4", "config.txt:16: LB_MODE: mode 4 is not supported; allowed: 0 (flow ECMP)");
    is(
        "ENABLE_IRN 1",
        "config.txt: IRN_BDP: is missing, and that simulator knows the window of two topologies only, by their names: \
         write it in bytes, the largest round trip times the NICs' rate",
    );
    is(
        "PAUSE_TIME 0.5",
        "config.txt:16: PAUSE_TIME: a pause of less than 1 us is cut to a RESUME in that simulator; write 1 or more",
    );
    is(
        "BUFFER_SIZE 4096",
        "config.txt:16: BUFFER_SIZE: 4096 MiB are more than 4095, all that the simulator can count",
    );
    is(
        "FLOWGEN_STOP_TIME x",
        "config.txt:16: FLOWGEN_STOP_TIME: \"x\" is not a number of seconds from 0 to 100000",
    );
}
