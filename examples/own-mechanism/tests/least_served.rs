//! Least served first, at one port.

use floodway_mechanisms::slots::*;
use floodway_mechanisms::testing::Bench;
use floodway_units::{Bytes, Class, QueueId, Time};
use own_mechanism::least_served::Params;

/// The machine of a port, with this step.
fn port(step: Bytes) -> Result<Params, ParamError> {
    let mut params = Params::default();
    params.step = step;
    params.build(&PortInfo::example())
}

/// A packet of 1 KB of a flow.
fn packet(flow_hash: u64) -> PacketView {
    PacketView { flow_hash, frame: Bytes::kb(1), ..PacketView::example() }
}

/// Packets of a flow join the queues of `port`: the queue of each.
fn join(port: &mut Params, flow_hash: u64, packets: usize) -> Vec<u8> {
    let mut join = |p: PacketView| {
        let sub = port.classify(Time::ZERO, &p);
        Bench::new().sent(Time::ZERO, |cx| {
            port.on_enqueue(cx, &p, &QueueView::example());
        });
        sub
    };
    (0..packets).map(|_| join(packet(flow_hash))).collect()
}

#[test]
fn a_flow_waits_behind_those_that_have_sent_less() {
    let mut port = port(Bytes::kb(2)).unwrap();
    assert_eq!(join(&mut port, 1, 9), [0, 0, 1, 1, 2, 2, 3, 3, 3]);
    assert_eq!(join(&mut port, 2, 3), [0, 0, 1]);
    assert_eq!(port.queueing().class_queues(), 4);
}

#[test]
fn the_first_queue_that_may_send_goes_next() {
    let mut port = port(Bytes::kb(2)).unwrap();
    let view = |sub, gate| {
        let queue = QueueId { class: Class::DATA, sub };
        ReadyView { queue, len: Bytes::kb(5), head: Bytes::kb(1), gate }
    };
    let (held, open) = (view(1, Gate::Closed), [view(2, Gate::Open), view(3, Gate::Open)]);
    assert_eq!(port.serve(Time::ZERO, &[held, open[0], open[1]]), Turn::Queue(2));
    assert_eq!(port.serve(Time::ZERO, &[held]), Turn::Nothing);
}

#[test]
fn a_step_of_nothing_is_refused() {
    assert_eq!(port(Bytes::ZERO).unwrap_err().key, "step");
}
