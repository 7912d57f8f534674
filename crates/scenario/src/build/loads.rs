//! Loads above the capacity.

use super::{Builder, workload_path};

impl Builder<'_> {
    /// A load above 1 fills queues without end; one of 70 is probably 70 %.
    pub(super) fn loads(&mut self) {
        for workload in &self.document.workload {
            let poisson = workload.poisson.as_ref().map(|poisson| ("poisson.load", poisson.load));
            let incast = workload.incast.as_ref().and_then(|incast| Some(("incast.load", incast.load?)));
            let Some((key, load)) = poisson.or(incast) else { continue };
            if load > 1.0 {
                let hint = if load > 2.0 { format!("; {load} % is {}", load / 100.0) } else { String::new() };
                let message = format!("{load} is more than all of the capacity, which is 1{hint}");
                self.warn_at(&workload_path(workload, key), message);
            }
        }
    }
}
