//! No notification: the receiver never sends a CNP (floodway's name for the absence of a notification point).
//!
//! # What it does
//!
//! Marks are counted where they are made, and the sender gets no CNPs.
//!
//! # Why
//!
//! It is the notification of flows whose rate control needs no CNPs. Choose it to switch notification off
//! while packets are still marked, for example to see what a rate control does without CNPs.
//!
//! # Known differences
//!
//! None.
//!
//! # References
//!
//! - Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 3.1 (the
//!   notification point that is left out).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{Cnp, Cx, Notification, NotificationPoint, Observes, PacketView, ParamError, QpInfo};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "NoNotification")]
pub struct Params {}

impl Notification for Params {
    type Np = Np;

    fn sends(&self) -> bool {
        false
    }

    fn build(&self, _qp: &QpInfo) -> Result<Np, ParamError> {
        Ok(Np)
    }
}

/// One per receiving queue pair.
#[derive(Clone, Copy, Debug)]
pub struct Np;

impl NotificationPoint for Np {
    fn observes(&self) -> Observes {
        Observes::Nothing
    }

    fn on_data(&mut self, _cx: &mut Cx<'_, Cnp>, _p: &PacketView) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slots::Mark;
    use crate::testing::{Bench, packet, qp, us};

    #[test]
    fn a_marked_packet_is_passed_over_in_silence() {
        let mut np = Params {}.build(&qp()).expect("valid");
        let marked = PacketView { mark: Mark::Ce, ecn_capable: true, ..packet(1_000) };
        assert!(Bench::new().sent(us(1), |cx| np.on_data(cx, &marked)).is_empty());
    }
}
