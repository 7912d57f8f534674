//! Samples of queue lengths.

use crate::network::layout::Local;
use crate::run::at_node::AtNode;

impl AtNode<'_, '_> {
    /// The queues of `port` have held `queued` bytes until now.
    #[inline(never)]
    pub fn sample(&mut self, port: Local, queued: u64) {
        let until = self.ctx.run.kept.instants.until().unwrap_or(self.ctx.now);
        self.node.links.histograms[port.index()].stood(until, queued);
    }
}
