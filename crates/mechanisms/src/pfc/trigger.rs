//! What sends a PAUSE, and what refreshes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What makes a packet's arrival send a PAUSE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// The shared part has reached the threshold, or headroom is in use. Source: the HPCC simulator.
    #[default]
    Threshold,
    /// Headroom is in use. Source: the static ports of SWING's simulator.
    Headroom,
}

/// What refreshes a pause that must last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Renewal {
    /// A timer: a fraction of the pause's time, given by `refresh`. Source: floodway's choice.
    #[default]
    Timer,
    /// Each packet that arrives while the condition for a PAUSE holds; an arriving packet may also cause the
    /// RESUME. A pause that expires while nothing arrives is over: its upstream sends for a round trip before
    /// it is paused again, for which headroom is not sized. Source: ConWeave's simulator, `switch-node.cc`.
    Arrivals,
}
