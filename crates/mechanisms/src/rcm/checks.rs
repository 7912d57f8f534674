//! Ranges of the parameters.

use floodway_units::{Bytes, Span};

use super::Params;
use super::sampler::MOST;
use crate::slots::ParamError;

impl Params {
    pub(super) fn check(&self) -> Result<(), ParamError> {
        let wrong = |key, message: String| Err(ParamError::new(key, message));
        if self.equilibrium == Bytes::ZERO {
            return wrong("equilibrium", "0B is not allowed; write a size above 0, like \"20KB\"".into());
        }
        if self.weight > 64 {
            return wrong("weight", format!("{} is not a number from 0 to 64", self.weight));
        }
        if !(0.0..=1.0).contains(&self.remote_weight) {
            return wrong("remote-weight", format!("{} is not a number from 0 to 1", self.remote_weight));
        }
        if self.cam_depth == 0 {
            return wrong("cam-depth", "0 is not a number from 1 to 255".into());
        }
        if let Some(hits) = self.cam_hits.filter(|hits| !(1..=self.cam_depth).contains(hits)) {
            return wrong(
                "cam-hits",
                format!("{hits} is not a number from 1 to {} (cam-depth)", self.cam_depth),
            );
        }
        if self.cam_interval == Bytes::ZERO {
            return wrong("cam-interval", "0B is not allowed; write a size above 0, like \"2KB\"".into());
        }
        if !(1..=MOST).contains(&self.severe) {
            return wrong("severe", format!("{} is not a degree from 1 to {MOST}", self.severe));
        }
        if self.expire == Span::ZERO {
            return wrong("expire", "0us is not allowed; write a time above 0, like \"100us\"".into());
        }
        Ok(())
    }
}
