//! Machines of a switch's ports that exchange messages, and sets of flows that go one hop upstream, to hosts
//! too, which hold those flows back and no others.

use crate::support::{Net, fct_ps, finished, run_on_one_thread_and_two};
use floodway_fabric::Records;
use floodway_mechanisms::is_discipline;
use floodway_mechanisms::registry::{CongestionPointParams, Custom};
use floodway_mechanisms::slots::{
    CongestionPoint, CpAction, Cx, Detection, Discipline, FlowFilter, Mark, PacketView, ParamError,
    PortEvent, PortInfo, PortMessage, QueueView, Queueing,
};
use floodway_units::{Bytes, Class, Rate, Span, Time};
use floodway_wire::Format;
use serde::Serialize;

/// When the held flow may go on.
const OPENS: Time = Time(60_000_000);

/// The switch's machines hold back, from its first packet on until `OPENS`, the flow to the destination with
/// this address.
#[derive(Clone, Copy, Debug, Serialize)]
struct Params {
    destination: u32,
}

impl Detection for Params {
    type Cp = Cp;

    fn build(&self, port: &PortInfo) -> Result<Cp, ParamError> {
        Ok(Cp {
            destination: self.destination,
            port: *port,
            ports: Vec::new(),
            said: false,
            held: None,
            filter: FlowFilter::empty(Class::DATA, FlowFilter::LARGEST),
        })
    }
}

struct Cp {
    destination: u32,
    port: PortInfo,
    ports: Vec<PortInfo>,
    /// As the port that the flow leaves by: it has sent a message to the port that the flow came in by.
    said: bool,
    /// As the port that the flow came in by: the flow.
    held: Option<u64>,
    /// As the port upstream: what is held back.
    filter: FlowFilter,
}

fn bit(flow_hash: u64) -> u64 {
    1 << (flow_hash & 63)
}

impl CongestionPoint for Cp {
    is_discipline!();

    fn on_enqueue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, _q: &QueueView) -> Mark {
        let input = self.ports.iter().find(|port| port.port == p.ingress).expect("every port was introduced");
        assert_eq!((input.rate_in, input.delay_in), (Rate::gbps(100), Span::us(1)));
        if p.destination == self.destination && !self.said {
            self.said = true;
            cx.push(CpAction::ToPort(
                p.ingress,
                PortMessage { class: p.class, flow: p.flow_hash, number: 1 },
            ));
        }
        Mark::None
    }

    fn on_event(&mut self, cx: &mut Cx<'_, CpAction>, event: PortEvent<'_>) {
        match event {
            PortEvent::Message(message) => {
                assert_eq!(message.number, 1);
                self.held = Some(message.flow);
                let mut filter = FlowFilter::empty(message.class, FlowFilter::LARGEST);
                filter.bits[3] = bit(message.flow);
                cx.push(CpAction::FilterUpstream(self.port.port, filter));
            }
            PortEvent::Filter(filter) => {
                if filter.is_empty() {
                    // 64 and 128 bytes, and 20 of preamble and gap, at 100 Gbit/s after 1 us.
                    assert_eq!(cx.now, OPENS + Span::us(1) + Span(212 * 80));
                }
                self.filter = *filter;
            }
            _ => {}
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        self.held.map(|_| OPENS)
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_, CpAction>) {
        self.held = None;
        cx.push(CpAction::FilterUpstream(
            self.port.port,
            FlowFilter::empty(Class::DATA, FlowFilter::LARGEST),
        ));
    }
}

impl Discipline for Cp {
    fn queueing(&self) -> Queueing {
        Queueing::Fifo
    }

    fn on_ports(&mut self, ports: &[PortInfo]) {
        self.ports = ports.to_vec();
    }

    fn holds(&self, _now: Time, class: Class, flow_hash: u64) -> bool {
        class == self.filter.class && self.filter.bits[3] & bit(flow_hash) != 0
    }
}

/// A host sends 100 KB each to two others at once.
fn net(holds: bool) -> Net {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(1)).reliability(r#""go-back-n""#);
    let (s, from) = (net.switch("s"), net.host("from"));
    let pfc = r#"{"pfc": {"xoff": "150KB"}}"#;
    net.link(from, s, Rate::gbps(100), Span::us(1), pfc);
    for name in ["a", "b"] {
        let to = net.host(name);
        net.link(s, to, Rate::gbps(100), Span::us(1), pfc);
        net.flow(from, to, Bytes::kb(100), Span::ZERO);
    }
    // Of the third node.
    let point = Params { destination: if holds { 3 } else { 0 } };
    for end in net.blueprint.links.iter_mut().flat_map(|link| &mut link.ends) {
        let params = Box::new(point);
        end.congestion_points.push(CongestionPointParams::Custom(Custom { name: "holding", params }));
    }
    net
}

fn run(net: &Net) -> Records {
    let records = run_on_one_thread_and_two(net);
    assert!(finished(&records).iter().all(|&finished| finished));
    records
}

/// When the two flows are complete, in microseconds.
fn ends(net: &Net) -> [u64; 2] {
    let ends = fct_ps(&run(net));
    [0, 1].map(|flow| ends[flow].expect("it is complete") / 1_000_000)
}

#[test]
fn a_host_holds_back_the_flow_that_the_switch_names_and_no_other_one() {
    // 100 KB take 8.6 us alone and 17.2 us beside each other, after 2 us of links.
    assert_eq!(ends(&net(false)), [19, 19]);
    // Its first packets, of a round trip, are on their way when the filter arrives at the host.
    let [held, other] = ends(&net(true));
    assert!(other < 14, "{other}: it has the link for itself");
    assert!((62..72).contains(&held), "{held}: it goes on at 60 us");
}
