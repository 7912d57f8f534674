//! Entries of the allowance log.

use super::{Row, allowed_gbps};
use crate::run::at_node::AtNode;

impl AtNode<'_, '_> {
    /// Writes down what the stack of a queue pair allows, if that is something else than before.
    #[inline(never)]
    pub fn note_allowance(&mut self, slot: u32) {
        let in_step = self.ctx.is_step();
        let Some(log) = &mut self.ctx.run.kept.allowances else { return };
        let (half, path) =
            (&mut self.ctx.run.pairs.senders[slot as usize], &self.ctx.run.pairs.paths[slot as usize]);
        if half.state.done || !log.chosen[path.workload as usize] {
            return;
        }
        let allowance = half.allowance;
        if half.allowance_noted.replace(allowance) != Some(allowance) {
            let line = self.ctx.facts.ports[self.node.links.ports[half.nic.index()].id.index()].rate;
            let allowed = allowed_gbps(&allowance, line, path.base_rtt);
            log.log.push(Row {
                time: self.ctx.now,
                nic: self.node.host.nics[half.nic.index()].number,
                in_step,
                flow: path.name(),
                allowance,
                allowed,
            });
        }
    }
}
