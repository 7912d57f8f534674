//! Two datacenters and a long link between them, for tests of the frames of its flow control.

use floodway_scenario::{PortGroup, Scenario, check};

/// Two datacenters so many km apart at 400 Gbit/s; the override is about the long link.
pub fn text(km: u32, long_haul: &str) -> String {
    format!(
        r#"topology.two-dc = {{ fabric.fat-tree = {{ k = 4 }}, rate = "100G", delay = "1us", long-link = {{ rate = "400G", length = "{km}km", count = 1 }} }}
[defaults]
flow-control.pfc = {{ xoff = {{ alpha = 0.25 }} }}
buffer.shared = {{ pool = "10MB", reserve = "288KB" }}
[[override]]
name = "long-haul"
links = {{ tag = "long-haul" }}
{long_haul}
[[workload]]
name = "hadoop"
poisson = {{ sizes = "fb-hadoop", load = 0.3, of = {{ tag = "long-haul" }}, from = {{ tag = "dc-a" }}, to = {{ tag = "dc-b" }} }}
until = "1ms"
"#
    )
}

pub fn scenario(text: &str) -> Scenario {
    Scenario::from_text("a.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

/// What is said to an override of the long link of 80 km.
pub fn refused(long_haul: &str) -> String {
    Scenario::from_text("a.toml", &text(80, long_haul), &[]).expect_err("it is wrong").to_string()
}

/// Ports at the long link.
pub fn long_haul_ports(scenario: &Scenario) -> Vec<PortGroup> {
    check(scenario, false).ports.into_iter().filter(|port| port.kind == "dci from long-haul").collect()
}
