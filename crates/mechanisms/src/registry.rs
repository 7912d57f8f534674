//! The one list of mechanisms: a line here registers a mechanism everywhere.
//!
//! From `Pfc => pfc,` the registry generates the variant in the slot's enums of parameters and machines, the
//! key in scenarios (the name in kebab-case), the JSON Schema, the Python builder and the page of the
//! documentation. Every enum has a variant `Custom` for mechanisms from outside this crate, which a program
//! adds by `register`.

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

link_retries! {
    None => no_link_retry,
    Llr => llr,
}

buffers! {
    Static => static_buffer,
    Shared => shared_buffer,
    Ioq => ioq,
    OutputQueue => output_queue,
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
    Nscc => nscc,
    Rccc => rccc,
}

reliabilities! {
    None => no_reliability,
    GoBackN => go_back_n,
    Irn => irn,
    Uet => uet,
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
    /// The head of its file: a summary, then sections in Markdown.
    pub head: String,
    /// Its parameters' name among the definitions of the JSON Schema.
    pub definition: Cow<'static, str>,
}

/// Every mechanism, slot by slot.
pub fn entries() -> Vec<Entry> {
    [
        FlowControlParams::entries(),
        LinkRetryParams::entries(),
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
    /// The notification of this name, with its defaults; `None` where it does not exist.
    pub fn named(name: &str) -> Option<Self> {
        let name: StrDeserializer<'_, serde::de::value::Error> = name.into_deserializer();
        Self::deserialize(name).ok()
    }

    /// The notification that a stack of rate control needs at the receivers of its flows: the one that the
    /// first layer which names one names, or CNPs at the shortest interval that a layer asks for, or none.
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

    /// The same notification, or where it reports CE alone, the one that reports UE too, at the same
    /// interval.
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
