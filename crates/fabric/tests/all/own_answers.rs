//! Answers of mechanisms from outside the tree with which a run cannot go on end it, and name the mechanism.

use crate::support::{Net, PFC, refused};
use floodway_mechanisms::is_discipline;
use floodway_mechanisms::registry::custom::Custom;
use floodway_mechanisms::registry::{
    CongestionPointParams, FlowControlParams, NotificationParams, ReactionParams,
};
use floodway_mechanisms::slots::{
    Allowance, Cnp, CongestionPoint, ControlMessage, CpAction, Cx, Detection, Discipline, FcFrame,
    FcReceiver, FcSender, FlowControl, Gate, IngressView, LinkInfo, Notification, NotificationPoint,
    PacketView, ParamError, PortInfo, QpInfo, Queueing, Reaction, ReactionPoint, ReadyView, Turn,
};
use floodway_units::{Bytes, Rate, Span, Time};
use floodway_wire::Format;
use serde::Serialize;

/// Wants to be called at one instant again and again; and allows a rate.
#[derive(Clone, Copy, Debug, Serialize)]
struct Still {
    at: Option<Time>,
    rate: Rate,
}

const PICOSECONDS: u64 = 10_000_000;
const STILL: Still = Still { at: Some(Time(PICOSECONDS)), rate: Rate::MAX };
const ZERO: Still = Still { at: None, rate: Rate(0) };

impl Reaction for Still {
    type Rp = Still;

    fn build(&self, _qp: &QpInfo) -> Result<Still, ParamError> {
        Ok(*self)
    }
}

impl ReactionPoint for Still {
    fn next_timeout(&self) -> Option<Time> {
        self.at
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: self.rate, window: Bytes::MAX }
    }
}

impl Notification for Still {
    type Np = Still;

    fn build(&self, _qp: &QpInfo) -> Result<Still, ParamError> {
        Ok(*self)
    }
}

impl NotificationPoint for Still {
    fn on_data(&mut self, _cx: &mut Cx<'_, Cnp>, _p: &PacketView) {}

    fn next_timeout(&self) -> Option<Time> {
        self.at
    }

    fn on_timeout(&mut self, _cx: &mut Cx<'_, ControlMessage>) {}
}

impl Detection for Still {
    type Cp = Still;

    fn build(&self, _port: &PortInfo) -> Result<Still, ParamError> {
        Ok(*self)
    }
}

impl CongestionPoint for Still {
    fn next_timeout(&self) -> Option<Time> {
        self.at
    }

    fn on_timeout(&mut self, _cx: &mut Cx<'_, CpAction>) {}
}

/// A sender that sends its receiver one message, with which that one's timer begins.
#[derive(Clone, Copy, Debug, Serialize)]
struct Asks {
    is_done: bool,
}

impl Reaction for Asks {
    type Rp = Asks;

    fn build(&self, _qp: &QpInfo) -> Result<Asks, ParamError> {
        Ok(*self)
    }
}

impl ReactionPoint for Asks {
    fn has_messages(&self) -> bool {
        true
    }

    fn next_message(&mut self, now: Time) -> Option<ControlMessage> {
        let message = ControlMessage { kind: 1, number: 0, time: now, padding: 0, metered: false };
        (!std::mem::replace(&mut self.is_done, true)).then_some(message)
    }

    fn allowance(&self) -> Allowance {
        Allowance::FREE
    }
}

/// The halves of a flow control, of which one is still.
#[derive(Clone, Copy, Debug, Serialize)]
struct Halves {
    sender: Option<Time>,
    receiver: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Half(Option<Time>);

impl FlowControl for Halves {
    type Sender = Half;
    type Receiver = Half;

    fn build(&self, _link: &LinkInfo) -> Result<(Half, Half), ParamError> {
        Ok((Half(self.sender), Half(self.receiver)))
    }

    fn min_buffer(&self, _link: &LinkInfo) -> Bytes {
        Bytes::kb(1)
    }

    fn min_buffer_formula(&self) -> &'static str {
        "next to nothing"
    }
}

impl FcSender for Half {
    fn gate(&self, _now: Time, _wire: Bytes) -> Gate {
        Gate::Open
    }

    fn on_frame(&mut self, _cx: &mut Cx<'_, FcFrame>, _frame: FcFrame) {}

    fn next_timeout(&self) -> Option<Time> {
        self.0
    }
}

impl FcReceiver for Half {
    fn on_enqueue(&mut self, _cx: &mut Cx<'_, FcFrame>, _q: &IngressView) {}

    fn on_release(&mut self, _cx: &mut Cx<'_, FcFrame>, _q: &IngressView) {}

    fn next_timeout(&self) -> Option<Time> {
        self.0
    }

    fn on_timeout(&mut self, _cx: &mut Cx<'_, FcFrame>, _q: &IngressView) {}
}

fn net() -> Net {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(1));
    let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
    net.link(a, s, Rate::gbps(100), Span::us(1), PFC);
    net.link(s, b, Rate::gbps(100), Span::us(1), PFC);
    net.flow(a, b, Bytes(200_000), Span::ZERO);
    net
}

fn custom<T: ?Sized>(params: Box<T>) -> Custom<T> {
    Custom { name: "still", params }
}

#[test]
fn a_timer_that_is_due_again_at_once_ends_the_run_with_the_mechanism_and_the_place() {
    let mut rate = net();
    rate.blueprint.settings[0].rate_control = vec![ReactionParams::Custom(custom(Box::new(STILL)))];
    let mut notification = net();
    let settings = &mut notification.blueprint.settings[0];
    settings.notification = NotificationParams::Custom(custom(Box::new(STILL)));
    settings.rate_control = vec![ReactionParams::Custom(custom(Box::new(Asks { is_done: false })))];
    let mut point = net();
    point.blueprint.links[1].ends[0].congestion_points =
        vec![CongestionPointParams::Custom(custom(Box::new(STILL)))];
    let halves = |sender, receiver| {
        let mut net = net();
        for direction in &mut net.blueprint.links[1].directions {
            for (_, control) in &mut direction.flow_control {
                *control = FlowControlParams::Custom(custom(Box::new(Halves { sender, receiver })));
            }
        }
        net
    };
    let cases = [
        (rate, "rate control \"still\" of flow flows:a:0: "),
        (notification, "the notification of flow flows:a:0: "),
        (point, "congestion point \"still\" at port \"s (s-b)\": "),
        (halves(STILL.at, None), "flow control \"still\" into port "),
        (halves(None, STILL.at), "flow control \"still\" into port "),
    ];
    let why =
        "after a timer was served at 10 us, `next_timeout` is 10 us again; allowed: later than that, or none";
    for (net, who) in &cases {
        for threads in [1, 2] {
            let message = refused(net, threads);
            assert!(message.starts_with(who) && message.ends_with(why), "{message}");
        }
    }
}

#[test]
fn a_rate_of_zero_ends_the_run_with_the_mechanism_and_the_flow() {
    let mut net = net();
    net.blueprint.settings[0].rate_control = vec![ReactionParams::Custom(custom(Box::new(ZERO)))];
    let expected = "rate control \"still\" of flow flows:a:0: `allowance` has a rate of 0, which never sends, at 0 us; allowed: 1 bit/s or more";
    assert_eq!(refused(&net, 1), expected);
}

/// Sorts into one queue, and lets another one send.
#[derive(Clone, Copy, Debug, Serialize)]
struct Sorts {
    into: u8,
    sends: u8,
}

impl Detection for Sorts {
    type Cp = Sorts;

    fn build(&self, _port: &PortInfo) -> Result<Sorts, ParamError> {
        Ok(*self)
    }
}

impl CongestionPoint for Sorts {
    is_discipline!();
}

impl Discipline for Sorts {
    fn queueing(&self) -> Queueing {
        Queueing::Flows { queues: 3, inputs: false }
    }

    fn classify(&mut self, _now: Time, _p: &PacketView) -> u8 {
        self.into
    }

    fn serve(&mut self, _now: Time, _ready: &[ReadyView]) -> Turn {
        Turn::Queue(self.sends)
    }
}

#[test]
fn a_queue_that_a_discipline_does_not_have_ends_the_run() {
    for (into, sends, said) in
        [(3, 0, "`classify` returned queue 3 at 1."), (1, 2, "`serve` returned queue 2 at 1.")]
    {
        let mut net = net();
        net.blueprint.links[1].ends[0].congestion_points =
            vec![CongestionPointParams::Custom(custom(Box::new(Sorts { into, sends })))];
        let message = refused(&net, 1);
        assert!(message.starts_with(r#"congestion point "still" at port "s (s-b)": "#), "{message}");
        assert!(message.contains(said), "{message}");
    }
    let mut net = net();
    net.blueprint.links[1].ends[0].congestion_points =
        vec![CongestionPointParams::Custom(custom(Box::new(Sorts { into: 2, sends: 2 })))];
    net.run();
}
