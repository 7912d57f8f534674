//! Entries of the log of signals.

use floodway_blueprint::network::layout::Local;
use floodway_blueprint::network::routing::peer;
use floodway_mechanisms::registry::AnyCongestionPoint;
use floodway_mechanisms::slots::{Cnp, CongestionNotification, CongestionPoint as _, Mark};
use floodway_records::signals::{Cn, What};
use floodway_units::cast::narrow;
use floodway_units::{Class, Time};

use crate::link::arena::PacketRef;
use crate::link::links::Links;
use crate::link::port::Egress;
use crate::run::ctx::Ctx;
use crate::run::node::NodeCore;

/// The state of a queue, by the first machine of its port that has states.
fn state_of(points: &[AnyCongestionPoint], now: Time, class: Class) -> &'static str {
    points.iter().map(|point| point.state(now, class)).find(|state| !state.is_empty()).unwrap_or_default()
}

/// Writes down what states the machines of `port` have changed; they have just been called.
pub(crate) fn note_states(ctx: &mut Ctx<'_, '_>, node: &mut NodeCore, port: Local) {
    // Machines at a host are called for pauses, but for no packets.
    if ctx.run.kept.signals.is_some() && !node.links.ports[port.index()].at_host {
        push_states(ctx, node, port, What::State);
    }
}

/// Writes down the states that the queues of a port start in.
pub(crate) fn note_first_states(ctx: &mut Ctx<'_, '_>, node: &mut NodeCore, port: Local) {
    let state = &node.links.ports[port.index()];
    if state.has_cp && !state.at_host {
        push_states(ctx, node, port, What::Start);
    }
}

/// Likewise, of all ports.
pub(crate) fn note_all_states(ctx: &mut Ctx<'_, '_>, node: &mut NodeCore) {
    for port in node.locals() {
        note_states(ctx, node, port);
    }
}

#[inline(never)]
fn push_states(ctx: &mut Ctx<'_, '_>, node: &mut NodeCore, port: Local, what: fn(u16) -> What) {
    let (now, in_step) = (ctx.time(), ctx.is_step());
    let classes = ctx.facts.layout.classes.len();
    let Some(log) = &mut ctx.run.kept.signals else { return };
    let points = &node.machines[port.index()].congestion_points;
    for class in 1..classes {
        let egress = &mut node.links.egress[ctx.facts.layout.port_class(port, narrow(class))];
        let state = state_of(points, now, ctx.facts.layout.classes[class]);
        if state != std::mem::replace(&mut egress.rare.state_noted, state) {
            let what = what(log.code(state));
            log.push_row((now.0, in_step), egress.id as usize, what);
        }
    }
}

/// Writes down that a port class has marked a packet.
pub(crate) fn note_mark(ctx: &mut Ctx<'_, '_>, egress: &Egress, packet_ref: PacketRef, mark: Mark) {
    let flow = ctx.run.pairs.paths[ctx.run.packets[packet_ref].flow.index()].name();
    push(ctx, egress, What::Mark(mark, flow));
}

/// Counts a CNP that a machine of `port` has made, and writes it down.
pub(crate) fn note_cnp(ctx: &mut Ctx<'_, '_>, links: &mut Links, port: Local, cnp: &Cnp) {
    let path = &ctx.run.pairs.paths[cnp.flow.index()];
    let what = What::Cnp(path.name(), cnp.window);
    let egress = &mut links.egress[ctx.facts.layout.port_class(port, path.class)];
    egress.rare.cnps += 1;
    push(ctx, egress, what);
}

/// Counts a congestion notification of a machine of `port` that goes out of `ingress`, and writes it
/// down.
pub(crate) fn note_cn(
    ctx: &mut Ctx<'_, '_>,
    links: &mut Links,
    (port, ingress): (Local, Local),
    cn: &CongestionNotification,
) {
    let class = ctx.facts.layout.dense(cn.class);
    if class == u8::MAX {
        // No queue is of it.
        return;
    }
    let to = ctx.facts.node_of(peer(links.id(ingress)));
    let egress = &mut links.egress[ctx.facts.layout.port_class(port, class)];
    egress.rare.cns += 1;
    push(ctx, egress, What::Cn(Cn { to, degree: cn.degree, flows: cn.count }));
}

fn push(ctx: &mut Ctx<'_, '_>, egress: &Egress, what: What) {
    let at = (ctx.now, ctx.is_step());
    if let Some(log) = &mut ctx.run.kept.signals {
        log.push_row(at, egress.id as usize, what);
    }
}
