//! Entries of the allowance log.

use super::{AllowanceLog, Row, allowed_gbps};
use crate::host::nics::Host;
use crate::link::links::Links;
use crate::run::ctx::Ctx;

impl AllowanceLog {
    /// Writes down what the stack of a queue pair allows, if that is something else than before.
    #[inline(never)]
    pub fn note(ctx: &mut Ctx<'_, '_>, links: &Links, host: &Host, slot: u32) {
        let in_step = ctx.is_step();
        let Some(log) = &mut ctx.run.kept.allowances else { return };
        let (half, path) = (&mut ctx.run.pairs.senders[slot as usize], &ctx.run.pairs.paths[slot as usize]);
        if half.state.done || !log.chosen[path.workload as usize] {
            return;
        }
        let allowance = half.allowance;
        if half.allowance_noted.replace(allowance) != Some(allowance) {
            let line = ctx.facts.ports[links.ports[half.nic.index()].id.index()].rate;
            let allowed = allowed_gbps(&allowance, line, path.base_rtt);
            log.log.push(Row {
                time: ctx.now,
                nic: host.nics[half.nic.index()].number,
                in_step,
                flow: path.name(),
                allowance,
                allowed,
            });
        }
    }
}
