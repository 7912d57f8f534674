//! Where the paper can be read in two ways: what cuts rates, and which flows ECN marks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What cuts Wc while harmful flows are limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "RcmCuts")]
pub enum Cuts {
    /// Each sample of the output queue that finds congestion, and each CN that names flows. Source:
    /// floodway's choice: Eq. 4 and 5 at every degree that is found.
    #[default]
    EachSample,
    /// One of each congestion: the sample that begins it at the port, and of a neighbour's the first CN that
    /// names flows; another follows only when congestion has ended and begins again. Source: section 3.2,
    /// where a state is reported once it is "firstly detected".
    FirstDetection,
}

/// Which flows' packets are marked at the port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "RcmMarks")]
pub enum Marks {
    /// All flows'. Source: ECN as DCQCN has it, which the paper leaves as it is.
    #[default]
    All,
    /// The harmful flows' alone: others leave without the mark that the port set. Marks of ports before stay,
    /// and so do marks that `red` sets at enqueue. Source: sections 1 and 3.1: end-to-end control reduces
    /// "the long-life harmful flow", and control is performed "only on congestion flows".
    Harmful,
}
