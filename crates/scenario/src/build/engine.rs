//! Engine settings of a run.

use super::Builder;

impl Builder<'_> {
    /// Checks what the scenario says of it.
    pub fn check_engine(&mut self) {
        if self.document.engine.threads == Some(0) {
            self.fault(&["engine", "threads"], "0 is not allowed; the minimum is 1");
        }
    }
}
