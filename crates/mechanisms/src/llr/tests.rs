use std::collections::VecDeque;

use floodway_units::{Rate, Rng, Time, stream, uniform};

use super::*;
use crate::slots::{Outbox, RetryReceiver, RetrySender, RetrySet};
use crate::testing::us;

fn pair(params: &Params) -> (Sender, Receiver) {
    params.build(&RetryInfo::example()).expect("the parameters are right")
}

fn frame(receiver: &mut Receiver, at: Time, number: u64, is_damaged: bool) -> (bool, Vec<RetrySet>) {
    let mut out = Outbox::default();
    let accepted = receiver.on_frame(at, number, Bytes(1000), is_damaged, &mut out);
    (accepted, out.0)
}

fn set(sender: &mut Sender, at: Time, set: RetrySet) -> Vec<RetrySet> {
    let mut out = Outbox::default();
    sender.on_set(at, set, &mut out);
    out.0
}

#[test]
fn an_acknowledgement_covers_all_that_was_accepted_since_the_last() {
    let (_, mut receiver) = pair(&Params::default());
    assert_eq!(frame(&mut receiver, us(1), 0, false), (true, vec![]));
    assert_eq!(frame(&mut receiver, us(1), 1, false), (true, vec![]));
    assert_eq!(frame(&mut receiver, us(1), 2, false), (true, vec![RetrySet::Ack(3)]));
    assert_eq!(receiver.next_timeout(), None);
    assert_eq!(frame(&mut receiver, us(2), 3, false), (true, vec![]));
    // 2,048 bytes at 100 Gbit/s.
    assert_eq!(receiver.next_timeout(), Some(us(2) + Span::ns(163) + Span(840)));
    let mut out = Outbox::default();
    receiver.on_timeout(us(3), &mut out);
    assert_eq!((out.0, receiver.next_timeout()), (vec![RetrySet::Ack(4)], None));
}

#[test]
fn a_damaged_frame_is_asked_for_once_and_all_behind_it_is_discarded() {
    let (_, mut receiver) = pair(&Params::default());
    assert_eq!(frame(&mut receiver, us(1), 0, false), (true, vec![]));
    assert_eq!(frame(&mut receiver, us(1), 1, true), (false, vec![RetrySet::Nack(1)]));
    assert_eq!(frame(&mut receiver, us(1), 2, false), (false, vec![]));
    assert_eq!(frame(&mut receiver, us(1), 3, true), (false, vec![]));
    assert_eq!(frame(&mut receiver, us(4), 1, false), (true, vec![]));
    assert_eq!(frame(&mut receiver, us(4), 2, true), (false, vec![RetrySet::Nack(2)]), "asked for anew");
    assert_eq!(frame(&mut receiver, us(7), 0, false), (false, vec![RetrySet::Ack(2)]), "an answer was lost");
}

#[test]
fn the_sender_goes_back_to_the_missing_frame() {
    let (mut sender, _) = pair(&Params::default());
    for wire in [100, 200, 300] {
        assert!(sender.is_open());
        sender.on_sent(us(1), Bytes(wire));
    }
    assert_eq!(sender.next_replay(), None);
    assert_eq!(set(&mut sender, us(3), RetrySet::Nack(1)), vec![]);
    assert!(!sender.is_open(), "what is sent again goes first");
    assert_eq!(sender.next_replay(), Some((1, Bytes(200))));
    sender.on_replayed(us(3));
    assert_eq!(sender.next_replay(), Some((2, Bytes(300))));
    sender.on_replayed(us(3));
    assert_eq!(sender.next_replay(), None);
    sender.on_sent(us(3), Bytes(400));
    assert_eq!(set(&mut sender, us(5), RetrySet::Ack(4)), vec![]);
    assert_eq!((sender.next_timeout(), sender.next_replay()), (None, None));
}

#[test]
fn the_replay_buffer_bounds_what_is_outstanding() {
    let params = Params { outstanding_frames: 2, ..Params::default() };
    let (mut sender, _) = pair(&params);
    sender.on_sent(us(1), Bytes(100));
    sender.on_sent(us(1), Bytes(100));
    assert!(!sender.is_open());
    set(&mut sender, us(3), RetrySet::Ack(1));
    assert!(sender.is_open());
    let params = Params { outstanding_bytes: Some(Bytes(4278)), ..Params::default() };
    let (mut sender, _) = pair(&params);
    sender.on_sent(us(1), Bytes(100));
    assert!(sender.is_open(), "a largest frame has room");
    sender.on_sent(us(1), Bytes(1));
    assert!(!sender.is_open());
    assert!(params.warning(&RetryInfo::example()).is_some_and(|why| why.contains("may stall")));
    assert_eq!(Params::default().warning(&RetryInfo::example()), None);
}

#[test]
fn without_an_answer_the_timer_makes_the_sender_go_back() {
    let (mut sender, _) = pair(&Params::default());
    sender.on_sent(us(1), Bytes(100));
    // 2 us, (3 · 4178 + 2048) B and (2 · 4178 + 8) B at 100 Gbit/s.
    let answer = Span::us(2) + Span(14_582 * 80) + Span(8_364 * 80);
    assert_eq!(sender.next_timeout(), Some(us(1) + answer));
    sender.on_timeout(us(1) + answer, &mut Outbox::default());
    assert_eq!(sender.next_replay(), Some((0, Bytes(100))));
}

#[test]
fn after_too_many_tries_the_replay_buffer_is_flushed() {
    let params = Params { replay_count: Some(1), ..Params::default() };
    let (mut sender, mut receiver) = pair(&params);
    sender.on_sent(us(1), Bytes(100));
    sender.on_sent(us(1), Bytes(100));
    set(&mut sender, us(3), RetrySet::Nack(0));
    sender.on_replayed(us(3));
    sender.on_replayed(us(3));
    let mut out = Outbox::default();
    sender.on_timeout(us(30), &mut out);
    assert_eq!(out.0, [RetrySet::Init(2)]);
    assert!(!sender.is_open() && sender.next_replay().is_none());
    set(&mut sender, us(31), RetrySet::Ack(1));
    assert!(!sender.is_open(), "it answers a frame, not the start");
    sender.on_timeout(us(60), &mut out);
    assert_eq!(out.0, [RetrySet::Init(2); 2], "the first one may have been lost");
    let mut out = Outbox::default();
    assert_eq!(receiver.on_set(us(61), RetrySet::Init(2), &mut out), 2);
    assert_eq!(receiver.on_set(us(61), RetrySet::Init(2), &mut out), 0);
    assert_eq!(out.0, [RetrySet::Ack(2); 2]);
    set(&mut sender, us(62), RetrySet::Ack(2));
    assert!(sender.is_open() && sender.next_timeout().is_none());
}

#[test]
fn parameters_that_do_not_work_are_refused() {
    let refused = |params: Params| params.build(&RetryInfo::example()).expect_err("it does not work");
    let key = |params| refused(params).key;
    assert_eq!(key(Params { ack_spacing: Bytes(399), ..Params::default() }), "ack-spacing");
    assert_eq!(key(Params { outstanding_frames: 0, ..Params::default() }), "outstanding-frames");
    assert_eq!(
        key(Params { outstanding_bytes: Some(Bytes(4000)), ..Params::default() }),
        "outstanding-bytes"
    );
    assert_eq!(key(Params { replay_timer: Some(Span::us(3)), ..Params::default() }), "replay-timer");
    assert_eq!(key(Params { replay_count: Some(0), ..Params::default() }), "replay-count");
}

/// One direction of a link with errors in both: what was sent and when it arrives, the first first.
struct Wires {
    frames: VecDeque<(Time, u64)>,
    sets: VecDeque<(Time, RetrySet)>,
    errors: Rng,
    rate: f64,
}

impl Wires {
    fn is_damaged(&mut self) -> bool {
        uniform(&mut self.errors) < self.rate
    }
}

/// Sends frames over a link that damages this share of all; the numbers that were accepted, in their order.
fn accepted(params: &Params, rate: f64, seed: u64, frames: u64) -> Vec<u64> {
    let (mut sender, mut receiver) = pair(params);
    let errors = stream(seed, 1, "link");
    let mut wires = Wires { frames: VecDeque::new(), sets: VecDeque::new(), errors, rate };
    let (mut now, mut sent, mut taken) = (Time::ZERO, 0, Vec::new());
    let serial = Rate::gbps(100).time_to_send(Bytes(1000));
    while taken.len() < frames as usize && now < us(1_000_000) {
        now += serial;
        if let Some((number, _)) = sender.next_replay() {
            sender.on_replayed(now);
            wires.frames.push_back((now + Span::us(1), number));
        } else if sender.is_open() && sent < frames {
            sender.on_sent(now, Bytes(1000));
            wires.frames.push_back((now + Span::us(1), sent));
            sent += 1;
        }
        let mut out = Outbox::default();
        while let Some((_, number)) = wires.frames.pop_front_if(|frame| frame.0 <= now) {
            let is_damaged = wires.is_damaged();
            if receiver.on_frame(now, number, Bytes(1000), is_damaged, &mut out) {
                taken.push(number);
            }
        }
        if receiver.next_timeout().is_some_and(|at| at <= now) {
            receiver.on_timeout(now, &mut out);
        }
        wires.sets.extend(out.0.into_iter().map(|set| (now + Span::us(1), set)));
        let mut out = Outbox::default();
        while let Some((_, set)) = wires.sets.pop_front_if(|set| set.0 <= now) {
            if !wires.is_damaged() {
                sender.on_set(now, set, &mut out);
            }
        }
        if sender.next_timeout().is_some_and(|at| at <= now) {
            sender.on_timeout(now, &mut out);
        }
        assert!(out.0.is_empty(), "nothing is given up");
        assert!(sender.next_timeout().is_some() || sent == taken.len() as u64);
    }
    taken
}

proptest::proptest! {
    #[test]
    fn all_frames_are_accepted_once_and_in_order(rate in 0.0..0.9, seed: u64, few in 1_u32..40) {
        let params = Params { outstanding_frames: few, ..Params::default() };
        let taken = accepted(&params, rate, seed, 200);
        proptest::prop_assert_eq!(taken, (0..200).collect::<Vec<_>>());
    }
}
