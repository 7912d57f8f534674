//! The number of switches on a path that a queue pair's machines see.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::support::plans::Plan;
use crate::support::{Net, PFC, assert_invariants};
use floodway_fabric::{Control, Fabric};
use floodway_mechanisms::registry::{Custom, ReactionParams};
use floodway_mechanisms::slots::{Allowance, ParamError, QpInfo, Reaction, ReactionPoint};
use floodway_units::{Bytes, Rate, Span};
use floodway_wire::Format;

/// Notes the hops of each queue pair, by flow.
#[derive(Clone, Debug, serde::Serialize)]
struct Noting {
    #[serde(skip)]
    noted: Arc<Mutex<BTreeMap<u32, u32>>>,
}

struct Free;

impl ReactionPoint for Free {
    fn allowance(&self) -> Allowance {
        Allowance::FREE
    }
}

impl Reaction for Noting {
    type Rp = Free;

    fn build(&self, qp: &QpInfo) -> Result<Free, ParamError> {
        self.noted.lock().expect("nobody panics").insert(qp.flow.0, qp.hops);
        Ok(Free)
    }
}

#[test]
fn a_queue_pair_knows_how_many_switches_its_data_passes() {
    // h0 - s0 - s1 - ra - rb - s2 - h2, and h1 at s1; a second host at s0.
    let mut net = Net::new(Format::Ethernet).reliability(r#""go-back-n""#);
    let switches = ["s0", "s1", "s2"].map(|name| net.switch(name));
    let hosts = ["h0", "h1", "h2", "h"].map(|name| net.host(name));
    for (host, switch) in hosts.into_iter().zip([0, 1, 2, 0]) {
        net.link(host, switches[switch], Rate::gbps(100), Span::us(1), PFC);
    }
    net.link(switches[0], switches[1], Rate::gbps(100), Span::us(1), PFC);
    Plan::add_relays(&mut net, switches[1], switches[2], Span::us(30));
    for (from, to) in [(0, 3), (0, 1), (0, 2), (2, 1)] {
        net.flow(hosts[from], hosts[to], Bytes(1_000), Span::ZERO);
    }
    let noted = Arc::new(Mutex::new(BTreeMap::new()));
    let params = Box::new(Noting { noted: Arc::clone(&noted) });
    net.blueprint.settings[0].rate_control = vec![ReactionParams::Custom(Custom { name: "noting", params })];
    let records = Fabric::build(&net.blueprint, &Control::default()).expect("it can be built").run();
    assert_invariants(&records);
    // The two relays count like any other switch.
    let noted: Vec<u32> = noted.lock().expect("nobody panics").values().copied().collect();
    assert_eq!(noted, [1, 2, 5, 4]);
}
