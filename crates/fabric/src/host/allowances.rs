//! Entries of the log of allowances.

use floodway_records::allowances::{Row, allowed_gbps};

use crate::host::nics::Host;
use crate::link::links::Links;
use crate::run::ctx::Ctx;

/// Writes down what the stack of a queue pair allows, if that is something else than before.
#[inline(never)]
pub(super) fn note_allowance(ctx: &mut Ctx<'_, '_>, links: &Links, host: &Host, slot: u32) {
    let in_step = ctx.is_step();
    let Some(log) = &mut ctx.run.kept.allowances else { return };
    let (half, path) = (&mut ctx.run.pairs.senders[slot as usize], &ctx.run.pairs.paths[slot as usize]);
    if half.state.done || !log.is_chosen(path.workload) {
        return;
    }
    let allowance = half.allowance;
    if half.allowance_noted.replace(allowance) != Some(allowance) {
        let line = ctx.facts.ports[links.ports[half.nic.index()].id.index()].rate;
        let allowed = allowed_gbps(&allowance, line, path.base_rtt);
        log.push(Row {
            time: ctx.now,
            nic: host.nics[half.nic.index()].number,
            in_step,
            flow: path.name(),
            allowance,
            allowed,
        });
    }
}
