//! Link retry at a port: what its two machines send, and the packets that wait to be accepted.
//!
//! A packet goes over a link once. If it is not accepted it waits where it has arrived, which stands for the
//! copy in the replay buffer of the sender: the receiver's first unaccepted frame is the first that waits,
//! since frames of a link arrive in the order of their numbers. What is sent again is a frame of the same
//! size that names the number; once it is accepted the packet that waits comes in. So no packet is copied,
//! and each counts once, wherever it is.

use std::collections::VecDeque;
use std::mem;

use floodway_blueprint::error::BuildError;
use floodway_blueprint::network::blueprint::Blueprint;
use floodway_blueprint::network::layout::Local;
use floodway_blueprint::network::routing::peer;
use floodway_mechanisms::registry::{AnyRetryReceiver, AnyRetrySender};
use floodway_mechanisms::slots::{RetryReceiver, RetrySender, RetrySet};
use floodway_units::cast::to_usize;
use floodway_units::{Bytes, FlowId, PortId, uniform};

use crate::link::arena::PacketRef;
use crate::link::links::Links;
use crate::link::packet::{Kind, Packet};
use crate::run::ctx::Ctx;
use crate::run::events::{Armed, EventKind};

/// The link retry of a port, in both directions.
#[derive(Debug)]
pub(crate) struct Retry {
    /// Of what is sent from here, if that direction has one.
    sender: Option<(AnyRetrySender, Armed)>,
    /// Of what arrives here.
    receiver: Option<(AnyRetryReceiver, Armed)>,
    /// Packets that have arrived here and are not accepted, by their numbers.
    pub waiting: VecDeque<PacketRef>,
}

/// What a port may send.
pub(crate) enum RetryTurn {
    Any,
    Nothing,
    /// This frame, which was sent before.
    Again(PacketRef),
}

/// What has come of an arrival.
pub(crate) enum Retried {
    Nothing,
    /// This packet comes in.
    Accepted(PacketRef),
    /// These packets are lost.
    GivenUp(Vec<PacketRef>),
}

impl Retry {
    /// That of a port, if one of its directions has one.
    ///
    /// # Errors
    /// It cannot work there.
    pub fn at(blueprint: &Blueprint, port: PortId) -> Result<Option<Box<Self>>, BuildError> {
        let halves = |from: PortId| {
            if blueprint.replay_buffer(from).is_none() {
                return Ok(None);
            }
            blueprint.build_retry(from).map(Some)
        };
        let sender = halves(port)?.map(|(sender, _)| (sender, Armed::default()));
        let receiver = halves(peer(port))?.map(|(_, receiver)| (receiver, Armed::default()));
        let is_there = sender.is_some() || receiver.is_some();
        Ok(is_there.then(|| Box::new(Retry { sender, receiver, waiting: VecDeque::new() })))
    }

    /// The link from here went down.
    pub fn sender_restarts(&mut self) {
        self.sender.iter_mut().for_each(|(sender, _)| sender.on_link_reset());
    }

    /// The link that leads here went down: what waits is lost.
    pub fn receiver_restarts(&mut self) -> Vec<PacketRef> {
        self.receiver.iter_mut().for_each(|(receiver, _)| receiver.on_link_reset());
        mem::take(&mut self.waiting).into()
    }
}

impl Links {
    fn retry(&mut self, port: Local) -> Option<&mut Retry> {
        self.ports.of_mut(port).impairment.retry.as_deref_mut()
    }

    /// Does the link that leads to `port` have a retry?
    pub fn has_retry_into(&self, port: Local) -> bool {
        let retry = &self.ports.of(port).impairment.retry;
        retry.as_ref().is_some_and(|retry| retry.receiver.is_some())
    }

    /// Has something arrived at `port` that is not accepted yet?
    pub fn awaits_replays(&self, port: Local) -> bool {
        let retry = &self.ports.of(port).impairment.retry;
        retry.as_ref().is_some_and(|retry| !retry.waiting.is_empty())
    }

    /// A frame starts on the link from `port`.
    pub fn is_sent(&mut self, ctx: &mut Ctx<'_, '_>, port: Local, packet_ref: PacketRef) {
        let (packet, now) = (ctx.run.packets[packet_ref], ctx.time());
        let wire = Bytes(ctx.facts.layout.wire(packet.frame));
        let sender = self.retry(port).and_then(|retry| retry.sender.as_mut());
        if let Some((sender, _)) = sender.filter(|_| !packet.is_link_control()) {
            sender.on_sent(now, wire);
            self.arm_retry(ctx, port);
        }
    }

    /// What the retry of a port lets it send.
    #[inline(never)]
    pub fn turn_of_retry(&mut self, ctx: &mut Ctx<'_, '_>, port: Local) -> RetryTurn {
        let now = ctx.time();
        let Some((sender, _)) = self.retry(port).and_then(|retry| retry.sender.as_mut()) else {
            return RetryTurn::Any;
        };
        let Some((number, wire)) = sender.next_replay() else {
            return if sender.is_open() { RetryTurn::Any } else { RetryTurn::Nothing };
        };
        sender.on_replayed(now);
        let frame = Bytes(wire.0 - ctx.facts.layout.gap);
        let replay = Packet { word: number, ..Packet::new(Kind::Replay, FlowId(u32::MAX), frame) };
        let totals = &mut ctx.run.kept.retries;
        (totals.replays, totals.replay_bytes) = (totals.replays + 1, totals.replay_bytes + wire.0);
        let packet_ref = ctx.run.packets.add(replay);
        self.arm_retry(ctx, port);
        RetryTurn::Again(packet_ref)
    }

    /// A packet reaches `port` for the first time, damaged or not: is it accepted? Else it waits here.
    pub fn accepts(
        &mut self,
        ctx: &mut Ctx<'_, '_>,
        port: Local,
        packet_ref: PacketRef,
        is_damaged: bool,
    ) -> bool {
        let frame = ctx.run.packets[packet_ref].frame;
        let Some(retry) = self.retry(port) else { return true };
        let Some((receiver, _)) = &retry.receiver else { return true };
        let number = receiver.expected() + retry.waiting.len() as u64;
        let accepts = self.judges(ctx, port, (number, frame), is_damaged);
        if !accepts && let Some(retry) = self.retry(port) {
            retry.waiting.push_back(packet_ref);
        }
        accepts
    }

    /// A frame that was sent again, or a control ordered set, reaches `port`.
    pub fn retry_arrives(&mut self, ctx: &mut Ctx<'_, '_>, port: Local, packet_ref: PacketRef) -> Retried {
        let arrived = ctx.run.packets[packet_ref];
        let Some(set) = arrived.as_retry_set() else {
            ctx.run.packets.take(packet_ref);
            return self.replay_arrives(ctx, port, &arrived);
        };
        let is_damaged = self.is_lost(ctx, port, packet_ref);
        ctx.run.packets.take(packet_ref);
        let now = ctx.time();
        let Some(retry) = self.retry(port).filter(|_| !is_damaged) else { return Retried::Nothing };
        let out = &mut ctx.run.out.retry_sets;
        let mut lost = Vec::new();
        match (set, &mut retry.sender, &mut retry.receiver) {
            (RetrySet::Init(_), _, Some((receiver, _))) => {
                let count = to_usize(receiver.on_set(now, set, out)).min(retry.waiting.len());
                lost.extend(retry.waiting.drain(..count));
                ctx.run.kept.retries.given_up += lost.len() as u64;
            }
            (RetrySet::Ack(_) | RetrySet::Nack(_), Some((sender, _)), _) => sender.on_set(now, set, out),
            _ => {}
        }
        self.send_retry_sets(ctx, port);
        if lost.is_empty() { Retried::Nothing } else { Retried::GivenUp(lost) }
    }

    fn replay_arrives(&mut self, ctx: &mut Ctx<'_, '_>, port: Local, replay: &Packet) -> Retried {
        let Some(retry) = self.retry(port) else { return Retried::Nothing };
        let Some((receiver, _)) = &retry.receiver else { return Retried::Nothing };
        // One that was accepted before does not wait any more.
        let place = replay.word.checked_sub(receiver.expected()).map(to_usize);
        let waits = place.and_then(|place| retry.waiting.get(place).copied());
        let is_damaged = if let Some(packet_ref) = waits {
            self.is_lost(ctx, port, packet_ref)
        } else {
            let impairment = &mut self.ports.of_mut(port).impairment;
            impairment.errors.data > 0.0 && uniform(&mut impairment.losses) < impairment.errors.data
        };
        let accepts = self.judges(ctx, port, (replay.word, replay.frame), is_damaged);
        let first = self.retry(port).filter(|_| accepts).and_then(|retry| retry.waiting.pop_front());
        first.map_or(Retried::Nothing, Retried::Accepted)
    }

    /// Does the receiver accept a frame?
    fn judges(
        &mut self,
        ctx: &mut Ctx<'_, '_>,
        port: Local,
        (number, frame): (u64, u16),
        is_damaged: bool,
    ) -> bool {
        let (now, wire) = (ctx.time(), Bytes(ctx.facts.layout.wire(frame)));
        let Some((receiver, _)) = self.retry(port).and_then(|retry| retry.receiver.as_mut()) else {
            return true;
        };
        let accepts = receiver.on_frame(now, number, wire, is_damaged, &mut ctx.run.out.retry_sets);
        ctx.run.kept.retries.discarded += u64::from(!accepts);
        self.send_retry_sets(ctx, port);
        accepts
    }

    /// A timer has come: of what arrives at `port`, or of what is sent from there. Was it due?
    pub fn retry_timer(&mut self, ctx: &mut Ctx<'_, '_>, port: Local, is_receiver: bool, order: u64) -> bool {
        let now = ctx.time();
        let Some(Retry { sender, receiver, .. }) = self.retry(port) else { return false };
        let out = &mut ctx.run.out.retry_sets;
        match (is_receiver, sender, receiver) {
            (true, _, Some((receiver, timer))) => {
                if !timer.fires(now, order) {
                    return false;
                }
                receiver.on_timeout(now, out);
            }
            (false, Some((sender, timer)), _) => {
                if !timer.fires(now, order) {
                    return false;
                }
                sender.on_timeout(now, out);
            }
            _ => return false,
        }
        self.send_retry_sets(ctx, port);
        true
    }

    /// Lets the sets wait that a machine of `port` has pushed: one takes the place of an older one of its
    /// kind, if nothing has come after that.
    fn send_retry_sets(&mut self, ctx: &mut Ctx<'_, '_>, port: Local) {
        for i in 0..ctx.run.out.retry_sets.0.len() {
            let set = ctx.run.out.retry_sets.0[i];
            let packet = Packet::retry_set(set, ctx.now);
            let state = self.ports.of_mut(port);
            let last = state.control.back().filter(|last| ctx.run.packets[*last].kind == packet.kind);
            if let Some(last) = last {
                ctx.run.packets[last].word = packet.word;
                continue;
            }
            let totals = &mut ctx.run.kept.retries;
            match set {
                RetrySet::Ack(_) => totals.acks += 1,
                RetrySet::Nack(_) => totals.nacks += 1,
                RetrySet::Init(_) => {}
            }
            let packet_ref = ctx.run.packets.add(packet);
            state.control.push(&mut ctx.run.packets, packet_ref);
        }
        ctx.run.out.retry_sets.0.clear();
        self.arm_retry(ctx, port);
    }

    fn arm_retry(&mut self, ctx: &mut Ctx<'_, '_>, port: Local) {
        let state = self.ports.of_mut(port);
        let Some(retry) = state.impairment.retry.as_deref_mut() else { return };
        let (kind, id) = (EventKind::LinkRetry, 2 * state.id.0);
        if let Some((sender, timer)) = &mut retry.sender {
            ctx.run.events.sync(timer, sender.next_timeout(), kind, id);
        }
        if let Some((receiver, timer)) = &mut retry.receiver {
            ctx.run.events.sync(timer, receiver.next_timeout(), kind, id + 1);
        }
    }
}
