//! The keys of a claim.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::forms::{Number, Numbers, Words};

/// A published number or order, and how ours is computed.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Claim {
    /// A name. Default: `claim-` and its number.
    #[serde(default)]
    pub name: Option<String>,
    /// The figure of the paper that has the number. Default: the study's name.
    #[serde(default)]
    pub figure: String,
    /// The claim in words.
    pub says: String,
    /// The source of the number. Default: none.
    #[serde(default)]
    pub source: String,
    /// Where it comes from. Default: `printed`; `ours` if neither paper, source nor figure is named.
    #[serde(default)]
    pub origin: Option<Origin>,
    /// What it is about: claims about what the mechanism is compared with are counted apart. Default:
    /// `mechanism`.
    #[serde(default)]
    pub about: About,
    /// A name of the published statement. All claims with the same statement are readings of it, or parts of
    /// them, and count once. Default: the claim alone.
    #[serde(default)]
    pub statement: String,
    /// Readings in which it is judged, each as a reading of the statement. Default: none.
    #[serde(default)]
    pub readings: Words,
    /// A few words for a part of a statement, where a sentence says several things: all parts of a reading
    /// must hold, and it is as good as the worst of them. Default: none.
    #[serde(default)]
    pub part: String,
    /// Whether the statement has parts or readings in other studies of the paper, with the same name; it then
    /// counts once. Default: false.
    #[serde(default)]
    pub spans: bool,
    /// As the `setting` of a reading, for a claim without one. Default: none.
    #[serde(default)]
    pub setting: String,
    /// A metric: a kind, or the name of one with options.
    pub metric: String,
    /// The variant. Default: the only one.
    #[serde(default)]
    pub variant: Option<String>,
    /// The point of each axis; not needed if there is only one. A list of points, or `"*"` for all points of
    /// an axis, makes a claim over several numbers.
    #[serde(default)]
    pub at: Map<String, Value>,
    /// The published number in the metric's unit, or in % for a difference; nothing is converted.
    #[serde(default)]
    pub value: Option<Number>,
    /// A published range instead of a value: `between = [-36.1, -11.2]`.
    #[serde(default)]
    pub between: Option<Numbers>,
    /// The unit of the number, as a check. Default: that unit.
    #[serde(default)]
    pub unit: Option<String>,
    /// The allowed difference: percentage points if the number is a percentage, else percent of the published
    /// number. Default: 3 points or 5 %; of a bound or a range 0.
    #[serde(default)]
    pub tolerance: Option<Number>,
    /// Whether the published number is a bound. Default: `about`.
    #[serde(default)]
    pub is: Bound,
    /// Of how many runs of a simulation the published number is the mean: its chance counts. Default: that of
    /// the study.
    #[serde(default)]
    pub draws: Option<u64>,
    /// A reference variant: the number is then the difference in percent, over the same seeds. Several make a
    /// claim over several numbers. Default: none.
    #[serde(default)]
    pub against: Words,
    /// The reference's points on axes where they differ: `against-at = { distance = "80km" }`. Default: the
    /// same.
    #[serde(default)]
    pub against_at: Option<Map<String, Value>>,
    /// Other points on axes, where the same difference is computed, too; the number is then the difference at
    /// `at` less that one, in percentage points. Default: none.
    #[serde(default)]
    pub less_at: Option<Map<String, Value>>,
    /// With several numbers: whether each must be as published, or only the lowest or the highest ("by up
    /// to"). Default: `each`.
    #[serde(default)]
    pub take: Option<Take>,
    /// Instead of a value: variants, best first.
    #[serde(default)]
    pub order: Words,
    /// Instead of an order: the best variant, without an order of the others.
    #[serde(default)]
    pub first: Option<String>,
    /// The variants that `first` is compared with. Default: all.
    #[serde(default)]
    pub among: Words,
    /// Instead of an order: variants whose order is the same at all points of the claim, whichever it is.
    #[serde(default)]
    pub unchanged_order: Option<Words>,
    /// Whether the lowest or the highest number is best. Default: the metric's.
    #[serde(default)]
    pub best: Option<Best>,
    /// For an order: the smallest difference between two variants, in percent of the larger number.
    /// Default: 1.
    #[serde(default)]
    pub margin: Option<Number>,
    /// The ablation: a variant, or several, or a table. Default: that of `[[without]]` for the claim's
    /// variant; else none, and the report says so.
    #[serde(default)]
    pub without: Option<Ablation>,
    /// Variants that may drop packets in this claim, besides those with `may-lose` of their own. Default:
    /// none.
    #[serde(default)]
    pub may_lose: Words,
    /// A remark for the report. Default: none.
    #[serde(default)]
    pub remark: String,
    /// The experiment that isolates the cause of a difference.
    #[serde(default)]
    pub cause: Option<Cause>,
}

/// Where a claim comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Printed in a paper.
    Printed,
    /// Computed by us from a paper's formula.
    Formula,
    /// From a log or a list of a paper's authors.
    Log,
    /// Ours.
    Ours,
}

impl Origin {
    pub(super) fn name(self) -> &'static str {
        match self {
            Origin::Printed => "printed",
            Origin::Formula => "formula",
            Origin::Log => "log",
            Origin::Ours => "ours",
        }
    }
}

/// What a claim is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum About {
    /// The mechanism of the study.
    #[default]
    Mechanism,
    /// What the mechanism is compared with.
    Baseline,
}

impl About {
    pub(super) fn name(self) -> &'static str {
        match self {
            About::Mechanism => "mechanism",
            About::Baseline => "baseline",
        }
    }
}

/// Whether a published number is a bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The number itself.
    #[default]
    About,
    /// A lower bound.
    AtLeast,
    /// An upper bound.
    AtMost,
}

/// Which of several numbers a claim is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Take {
    /// Each of them.
    Each,
    /// The lowest.
    Lowest,
    /// The highest.
    Highest,
}

/// Which number is best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Best {
    /// The lowest.
    Lowest,
    /// The highest.
    Highest,
}

/// The ablation of a claim: a variant, or several, without the mechanism or its deciding part; or a table.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(untagged)]
pub enum Ablation {
    /// A variant, or several.
    Variants(Words),
    /// What it stands for, its halves, or why the claim has none of these.
    Keys(AblationKeys),
}

impl<'de> Deserialize<'de> for Ablation {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> serde::de::Visitor<'de> for Form {
            type Value = Ablation;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a variant, a list of variants, or a table")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Ablation, E> {
                Ok(Ablation::Variants(Words(vec![text.to_owned()])))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, items: A) -> Result<Ablation, A::Error> {
                let items = serde::de::value::SeqAccessDeserializer::new(items);
                Words::deserialize(items).map(Ablation::Variants)
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Ablation, A::Error> {
                let keys = serde::de::value::MapAccessDeserializer::new(map);
                AblationKeys::deserialize(keys).map(Ablation::Keys)
            }
        }
        deserializer.deserialize_any(Form)
    }
}

/// An ablation with what it stands for, or the reason for which a claim has none.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AblationKeys {
    /// The variant, or several, without the mechanism.
    #[serde(default)]
    pub variant: Words,
    /// Variants without one part, which say what carries the claim and decide nothing. Default: none.
    #[serde(default)]
    pub halves: Words,
    /// The variant of the claim that it stands for. Default: that in `variant`, or the first one of an order.
    #[serde(default)]
    pub replaces: String,
    /// Why the claim has no ablation, instead of a variant: a claim that is about no mechanism.
    #[serde(default)]
    pub none: String,
}

/// The experiment that isolates the cause of a difference.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Cause {
    /// The variant that isolates it.
    pub variant: String,
    /// What that is measured against. Default: that of the claim.
    #[serde(default)]
    pub against: Option<String>,
    /// What it shows. Default: none.
    #[serde(default)]
    pub says: String,
}
