//! Progress of a run is that of its work, where that is known and ends before the limit.

use std::sync::Mutex;

use floodway_fabric::blueprint::{Arrivals, LoopSpec, Next};
use floodway_fabric::{Control, Fabric};
use floodway_mechanisms::registry::ReactionParams;
use floodway_mechanisms::registry::custom::Custom;
use floodway_mechanisms::slots::{Allowance, ParamError, QpInfo, Reaction, ReactionPoint};
use floodway_units::{Bytes, Rate, Span, Time};
use floodway_wire::Format;
use serde::Serialize;

use crate::support::{Net, PFC};

/// A run, and what machines have seen of its progress.
#[derive(Debug, Default)]
struct Seen {
    control: Control,
    shares: Mutex<Vec<f64>>,
}

/// Looks at the progress of its run with each packet.
#[derive(Clone, Debug, Serialize)]
struct Looks {
    #[serde(skip)]
    seen: &'static Seen,
}

impl Reaction for Looks {
    type Rp = Looks;

    fn build(&self, _qp: &QpInfo) -> Result<Looks, ParamError> {
        Ok(self.clone())
    }
}

impl ReactionPoint for Looks {
    fn on_sent(&mut self, _now: Time, _wire: Bytes) {
        self.seen.shares.lock().expect("one thread").push(self.seen.control.share());
    }

    fn allowance(&self) -> Allowance {
        Allowance::FREE
    }
}

/// Two hosts, and a limit a thousand times as long as what they send takes.
fn net() -> Net {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(2_000));
    let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
    net.link(a, s, Rate::gbps(10), Span::us(1), PFC);
    net.link(s, b, Rate::gbps(10), Span::us(1), PFC);
    net.flow(a, b, Bytes::mb(2), Span::ZERO);
    net
}

/// The shares that were seen, with that at the end.
fn shares(net: &mut Net) -> Vec<f64> {
    let seen: &'static Seen = Box::leak(Box::default());
    net.blueprint.settings[0].rate_control =
        vec![ReactionParams::Custom(Custom { name: "looks", params: Box::new(Looks { seen }) })];
    Fabric::build(&net.blueprint, &seen.control).expect("it is sound").run();
    let mut shares = std::mem::take(&mut *seen.shares.lock().expect("one thread"));
    shares.push(seen.control.share());
    shares
}

/// From none to all, in steps of an epoch of the 1.6 ms or so that the payload takes.
fn grows_evenly(shares: &[f64]) {
    assert!(shares[0] < 0.001, "{}", shares[0]);
    assert_eq!(shares.last(), Some(&1.0));
    assert!(shares.is_sorted());
    let step = shares.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
    assert!(step < 0.1, "{step}");
}

#[test]
fn a_list_is_as_far_as_its_payload() {
    grows_evenly(&shares(&mut net()));
}

#[test]
fn a_loop_is_as_far_as_the_payload_of_all_its_messages() {
    let mut net = net();
    let spec = &mut net.blueprint.workloads[0];
    let Arrivals::List(flows) = &spec.arrivals else { unreachable!("it is a list") };
    let of = LoopSpec {
        source: flows[0].source,
        destination: flows[0].destination,
        size: Bytes::kb(100),
        messages: 20,
        depth: 2,
        start: Time::ZERO,
        next: Next::Sent,
    };
    spec.arrivals = Arrivals::ClosedLoop(vec![of]);
    grows_evenly(&shares(&mut net));
}

#[test]
fn a_run_that_its_limit_ends_is_as_far_as_its_time() {
    let mut net = net();
    net.blueprint.end.limit = Time::ZERO + Span::us(800);
    // Half of the payload arrives until then.
    grows_evenly(&shares(&mut net)[..]);
    net.blueprint.end.at_limit = true;
    net.blueprint.end.limit = Time::ZERO + Span::ms(4);
    // Nothing is sent after 1.7 ms.
    let shares = shares(&mut net);
    assert!(shares[shares.len() - 2] < 0.45 && shares.last() == Some(&1.0));
}
