//! The one list of mechanisms: a line here makes a mechanism known everywhere.
//!
//! From `Pfc => pfc,` come the arm of the slot's parameters and of its machines, the key in scenarios
//! (the name in kebab-case), the JSON Schema, the Python builder and the page of the documentation. Every
//! enum has an arm `Custom` for mechanisms from outside this crate, which a program adds by `register`.

use std::borrow::Cow;

use floodway_units::{Bytes, Class, FlowId, PortId, QueueId, Rate, Rng, Span, Time};
use serde::de::value::StrDeserializer;
use serde::de::{Deserialize as _, IntoDeserializer as _};

#[allow(clippy::wildcard_imports, reason = "the hooks of all slots are spelled here")]
use crate::slots::*;

pub mod custom;

#[macro_use]
mod choice;
#[macro_use]
mod dispatch;
#[macro_use]
mod makers;

flow_controls! {
    Lossy => lossy,
    Pfc => pfc,
    Bifrost => bifrost,
    Cbfc => cbfc,
    Swing => swing,
}

buffers! {
    Static => static_buffer,
    Shared => shared_buffer,
    Ioq => ioq,
}

routings! {
    Ecmp => ecmp,
    Spray => spray,
    Sar => sar,
}

schedulers! {
    Strict => strict,
    RoundRobin => round_robin,
    DeficitRoundRobin => deficit_round_robin,
}

congestion_points! {
    Red => red,
    ProxyCnp => proxy_cnp,
    Mercury => mercury,
    Tcd => tcd,
    Pacc => pacc,
    Rcm => rcm,
    Casl => casl,
    Bfc => bfc,
    Expresspass => expresspass_cp,
    ThemisPnp => themis_pnp,
    ThemisTrp => themis_trp,
}

notifications! {
    None => no_notification,
    Dcqcn => dcqcn_np,
    Tcd => tcd_np,
    Expresspass => expresspass_np,
}

reactions! {
    LineRate => line_rate,
    StaticWindow => static_window,
    Dcqcn => dcqcn,
    Timely => timely,
    Hpcc => hpcc,
    Dctcp => dctcp,
    Mercury => mercury_window,
    Expresspass => expresspass,
    Swift => swift,
    Powertcp => powertcp,
}

reliabilities! {
    None => no_reliability,
    GoBackN => go_back_n,
    Irn => irn,
}

pub use choice::head;
pub use custom::Custom;

/// A mechanism, as users find it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Entry {
    /// The key of its slot in scenarios.
    pub slot: &'static str,
    /// Its name there.
    pub name: &'static str,
    /// What its file says of it: a summary, then sections in Markdown.
    pub head: String,
    /// Its parameters' name among the definitions of the JSON Schema.
    pub definition: Cow<'static, str>,
}

/// Every mechanism, slot by slot.
pub fn entries() -> Vec<Entry> {
    [
        FlowControlParams::entries(),
        BufferParams::entries(),
        CongestionPointParams::entries(),
        RoutingParams::entries(),
        SchedulerParams::entries(),
        NotificationParams::entries(),
        ReactionParams::entries(),
        ReliabilityParams::entries(),
    ]
    .concat()
}

impl NotificationParams {
    /// The notification of this name, with its defaults; none where there is no such.
    pub fn named(name: &str) -> Option<Self> {
        let name: StrDeserializer<'_, serde::de::value::Error> = name.into_deserializer();
        Self::deserialize(name).ok()
    }

    /// What a stack of rate control asks of the receivers of its flows: the notification that the first layer with such a wish
    /// names, or CNPs as often as the layer with the shortest interval wants them, or none.
    pub fn asked_by(stack: &[ReactionParams]) -> Self {
        if let Some(named) = stack.iter().filter_map(ReactionParams::notification).find_map(Self::named) {
            return named;
        }
        let interval = stack.iter().filter_map(ReactionParams::cnp_interval).min();
        interval.map_or_else(
            || NotificationParams::None(crate::no_notification::Params {}),
            |cnp_interval| NotificationParams::Dcqcn(crate::dcqcn_np::Params { cnp_interval }),
        )
    }

    /// As it is, or where it tells of CE alone, that which tells of UE too and as often.
    #[must_use]
    pub fn with_undetermined(self) -> Self {
        match self {
            NotificationParams::Dcqcn(crate::dcqcn_np::Params { cnp_interval }) => {
                NotificationParams::Tcd(crate::tcd_np::Params { cnp_interval })
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests;
