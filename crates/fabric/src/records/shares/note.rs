//! Bytes that flows send, bucket by bucket.

use crate::run::world::World;

impl World<'_> {
    /// Writes down what is in buckets that are being filled.
    pub fn end_buckets(&mut self) {
        let Some(log) = &mut self.run.kept.shares else { return };
        let buckets = self.nodes.iter_mut().flat_map(|node| node.links.buckets.iter_mut().flatten());
        buckets.for_each(|bucket| log.end(self.now, bucket));
    }
}
