//! The keys of a study.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::claim_keys::Claim;
use super::forms::{Number, Seeds, Toml, Words};

/// A study: runs of a scenario with several variants, at points of axes and with several seeds; published
/// numbers that their results are compared with; pictures.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Document {
    /// Its title.
    pub title: String,
    /// The paper that it is about. Default: none.
    #[serde(default)]
    pub paper: String,
    /// Its purpose, in a sentence. Default: none.
    #[serde(default)]
    pub shows: String,
    /// Remarks for the report, in Markdown without tags, links and pictures. Default: none.
    #[serde(default)]
    pub notes: String,
    /// The source of the published numbers. Default: none.
    #[serde(default)]
    pub source: String,
    /// Duration of the full study on two cores, in minutes; printed before it starts. Default: not known.
    #[serde(default)]
    pub minutes: Option<Number>,
    /// Of how many runs of a simulation the published numbers are means, where a claim does not say
    /// otherwise. Default: nothing is added to tolerances.
    #[serde(default)]
    pub draws: Option<u64>,
    /// A scenario file, relative to the study's folder, or its keys as a table. Default: that of each
    /// variant.
    #[serde(default)]
    #[schemars(with = "Option<super::forms::ScenarioForm>")]
    pub scenario: Option<Toml>,
    /// Key paths with values, as in `--set`, for all runs. A path is quoted:
    /// `set = { "long-haul.buffer.static.size" = "20MB" }`. Default: none.
    #[serde(default)]
    pub set: Map<String, Value>,
    /// Number of seeds, starting from the scenario's own, or a list of seeds. Default: 1.
    #[serde(default)]
    pub seeds: Option<Seeds>,
    /// Values that the study goes through.
    #[serde(default)]
    pub axis: Vec<Axis>,
    /// Schemes that are compared. Default: one, called `base`.
    #[serde(default)]
    pub variant: Vec<Variant>,
    /// What variants are without their mechanism, or without a part of it.
    #[serde(default)]
    pub without: Vec<Without>,
    /// Readings of the paper's text: settings that it allows.
    #[serde(default)]
    pub reading: Vec<Reading>,
    /// Metrics with options, by name.
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, Metric>")]
    pub metric: Named<Metric>,
    /// Published numbers and orders.
    #[serde(default)]
    pub claim: Vec<Claim>,
    /// Pictures.
    #[serde(default)]
    pub plot: Vec<Plot>,
    /// What the quick study (`--quick`) changes.
    #[serde(default)]
    pub quick: Quick,
}

/// Tables by name, in the order in which they were written.
#[derive(Clone, Debug)]
pub struct Named<T>(pub Vec<(String, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Tables<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> serde::de::Visitor<'de> for Tables<T> {
            type Value = Named<T>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a table of tables")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Named<T>, A::Error> {
                let mut found = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    found.push(entry);
                }
                Ok(Named(found))
            }
        }
        deserializer.deserialize_map(Tables(std::marker::PhantomData))
    }
}

/// Values that a study goes through: `values` of one or several keys, or points by name.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Axis {
    /// Its name, which `at` uses.
    pub name: String,
    /// Its label in pictures. Default: the name.
    #[serde(default)]
    pub label: Option<String>,
    /// The key path that it sets.
    #[serde(default)]
    pub key: Option<String>,
    /// Several key paths that it sets; each of `values` is then a list with one value for each path.
    #[serde(default)]
    pub keys: Vec<String>,
    /// Its values.
    #[serde(default)]
    pub values: Vec<Toml>,
    /// Names of the points. Default: the values as written; with several keys, the first.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Positions of the points on the axis of a line plot. Default: the values; for quantities, the number in
    /// us, Gbit/s, bytes or km.
    #[serde(default)]
    pub numbers: Vec<Number>,
    /// Points by name, instead of `values`.
    #[serde(default)]
    pub point: Vec<Point>,
    /// The points of the quick study. Default: all.
    #[serde(default)]
    pub quick: Vec<Toml>,
}

/// A point of an axis, by name.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "AxisPoint")]
pub struct Point {
    /// Its name.
    pub name: String,
    /// Its position on the axis of a line plot. Default: the name, if that is a number or a quantity.
    #[serde(default)]
    pub number: Option<Number>,
    /// Key paths with values.
    #[serde(default)]
    pub set: Map<String, Value>,
    /// How many of the study's seeds are run there, at most. Default: all.
    #[serde(default)]
    pub seeds: Option<Seeds>,
}

/// A scheme that is compared.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Variant {
    /// Its name in the study.
    pub name: String,
    /// Its label in pictures and tables. Default: the name.
    #[serde(default)]
    pub label: Option<String>,
    /// An earlier variant of the file: its scenario and `set` apply first; its `only`, `except`, `seeds` and
    /// `may-lose` apply unless this variant has its own. Default: none.
    #[serde(default)]
    pub like: Option<String>,
    /// A scenario file, or its keys as a table. Default: the study's.
    #[serde(default)]
    #[schemars(with = "Option<super::forms::ScenarioForm>")]
    pub scenario: Option<Toml>,
    /// Key paths with values, after those of the study and of the variant in `like`. Default: none.
    #[serde(default)]
    pub set: Map<String, Value>,
    /// How many of the study's seeds it is run with, at most. Default: all.
    #[serde(default)]
    pub seeds: Option<Seeds>,
    /// Whether it may drop packets; a claim about any other variant fails if it does. Default: false.
    #[serde(default)]
    pub may_lose: Option<bool>,
    /// By axis, the points at which it is run. Default: all.
    #[serde(default)]
    pub only: Option<Map<String, Value>>,
    /// By axis, the points at which it is not run. Default: none.
    #[serde(default)]
    pub except: Option<Map<String, Value>>,
}

/// What a variant is without its mechanism: the ablation of all claims about it that name no other.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Without {
    /// The variant that has the mechanism.
    pub of: String,
    /// The variant, or several, without all that its claims credit.
    pub variant: Words,
    /// What that removes, in words. Default: none.
    #[serde(default)]
    pub removes: String,
    /// Variants without one part, which say what carries a claim and decide nothing. Default: none.
    #[serde(default)]
    pub halves: Vec<Half>,
}

/// A variant without one part of the mechanism.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Half {
    /// The variant.
    pub variant: String,
    /// What it removes, in words. Default: none.
    #[serde(default)]
    pub removes: String,
}

/// A reading of the paper's text: in the claims that have it, some variants stand for others, points of axes
/// are others, or further values are set.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Reading {
    /// Its name: a few words that tell it from the others. Readings of a statement in several studies of a
    /// paper have the same name.
    pub name: String,
    /// Why the text allows it: the sentence of the paper, or what it leaves open. Default: none.
    #[serde(default)]
    pub says: String,
    /// Earlier readings that it has in it, too, in this order. Default: none.
    #[serde(default)]
    pub like: Words,
    /// Which of several settings that the paper leaves open it is for, in words that are the same in all
    /// studies of the paper; the report then also counts the statements for each setting. Default: that of
    /// the claim.
    #[serde(default)]
    pub setting: String,
    /// Which variant stands for which: `variants = { dcqcn = "dcqcn-window" }`. Default: each for itself.
    #[serde(default)]
    pub variants: Map<String, Value>,
    /// Points of axes, in place of those of the claim. Default: those of the claim.
    #[serde(default)]
    pub at: Map<String, Value>,
    /// Key paths with further values for every variant of its claims: each is run with them, too, as a
    /// variant called `VARIANT, READING`. Default: none.
    #[serde(default)]
    pub set: Map<String, Value>,
}

/// What the quick study changes.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Quick {
    /// Its duration on two cores, in minutes. Default: not known.
    pub minutes: Option<Number>,
    /// Whether `reproduce --quick` leaves the study out. Default: false.
    pub skip: bool,
    /// Its seeds. Default: those of the study.
    pub seeds: Option<Seeds>,
    /// Key paths with further values. Default: none.
    pub set: Map<String, Value>,
    /// The variants that it runs. Default: all.
    pub variants: Words,
}

/// A metric with options; which ones it takes depends on its kind.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Metric {
    /// Its kind.
    #[schemars(extend("enum" = super::kinds::names()))]
    pub kind: String,
    /// Its label in pictures. Default: that of its kind.
    #[serde(default)]
    pub label: String,
    /// A workload, or several. Default: all.
    #[serde(default)]
    pub workload: Words,
    /// `intra` or `inter` (datacenters). Default: both.
    #[serde(default)]
    pub path_class: String,
    /// Source hosts: names, `*` and `?`, ranges such as `h1..h16`. Default: all.
    #[serde(default)]
    pub from: Words,
    /// Destination hosts, in the same way. Default: all.
    #[serde(default)]
    pub to: Words,
    /// Flows or collectives of these sizes, both bounds included: `["0B", "100KB"]`. Default: all.
    #[serde(default)]
    pub size: Vec<String>,
    /// A direction of a watched link, such as `x1>x2`, with or without relays between the switches. Default:
    /// the longest link, among equal ones the busiest.
    #[serde(default)]
    pub link: String,
    /// A window of time: `["0us", "100ms"]`. Default: the run.
    #[serde(default)]
    pub window: Vec<String>,
    /// Width of buckets, at least that of the series' own; set `records.buckets` high enough. Default: that
    /// of the series.
    #[serde(default)]
    pub bucket: String,
    /// `hosts`, `switches`, or patterns of `node`, `link` or `node link` (with relays, the ports of a link
    /// are those of `r1`, `r2`); pauses count at the port that is paused. Default: `all`.
    #[serde(default)]
    pub ports: Words,
    /// The name of a state of congestion points. Default: none.
    #[serde(default)]
    pub state: String,
    /// Collectives of these operations: `"all-reduce"`. Default: all.
    #[serde(default)]
    pub operation: Words,
    /// A column of perftest's report. Default: `bw_average_gbps`, `t_avg_us`.
    #[serde(default)]
    pub column: String,
}

/// A picture.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Plot {
    /// The name of its files: letters, digits, `-`, `.` and `_`.
    pub name: String,
    /// Its title. Default: the name.
    #[serde(default)]
    pub title: Option<String>,
    /// Its kind.
    pub kind: PlotKind,
    /// A metric, or several with a panel each. For `series` and `cdf`: a metric whose options select the link
    /// or flows. Default: of `cdf` `fct-mean`, of pictures in time `throughput`.
    #[serde(default)]
    pub metric: Option<Words>,
    /// For bars, lines and grids: what goes across: `variant`, or an axis. Default: `variant`; for lines and
    /// grids the first axis with several points.
    #[serde(default)]
    pub x: Option<String>,
    /// For bars, lines and grids: the groups with different colours (rows of a grid): `variant`, an axis, or
    /// nothing. Default: `variant` unless it is `x`.
    #[serde(default)]
    pub group: Option<String>,
    /// The point of every other axis.
    #[serde(default)]
    pub at: Map<String, Value>,
    /// The variants to show, in order. If neither `x` nor `group` is `variant`, exactly one. Default: all.
    #[serde(default)]
    pub variants: Words,
    /// For bars, lines and grids: a variant by whose numbers all others are divided. Default: none.
    #[serde(default)]
    pub relative_to: Option<String>,
    /// For lines, `series` and `cdf`: `"x"`, `"y"` or both; for bars: `"y"`. Default: linear.
    #[serde(default)]
    pub log: Option<Words>,
    /// For `cdf`: `fct`, `slowdown`, `throughput`; for `series`: `throughput`, or `queue`, the longest queue
    /// of the link's port. Default: the first.
    #[serde(default)]
    pub of: Option<String>,
    /// For `ports`: directions of links, such as `["s1>s2", "s2>s3"]`, a panel for each in this order.
    /// Default: the four ports with most events.
    #[serde(default)]
    pub ports: Option<Words>,
    /// For `ports` and `shares`: flows by `flow_id` or workload, among those in the records. Default: the
    /// first six; all, with lines for the eight with most bytes.
    #[serde(default)]
    pub flows: Option<Words>,
    /// For `ports`, `region` and `shares`: start and end of the time shown, such as `["2.8ms", "4ms"]`.
    /// Default: the run.
    #[serde(default)]
    pub window: Option<Vec<String>>,
    /// For `shares`: a direction such as `t1>h1`, or a pattern of several, among those in `records.shares`.
    /// Default: the direction that carried most bytes.
    #[serde(default)]
    pub link: Option<String>,
    /// For `shares`: the minimum width of buckets, merged from whole recorded buckets, such as `"2us"`.
    /// Default: wide enough for at most 250 buckets.
    #[serde(default)]
    pub bucket: Option<String>,
    /// For lines: closed forms along the axis.
    #[serde(default)]
    pub theory: Option<Vec<Theory>>,
    /// For bars, lines and grids: published points. Published values of claims over the same runs are drawn
    /// without this entry.
    #[serde(default)]
    pub published: Option<Vec<Mark>>,
}

/// A kind of picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlotKind {
    /// Bars side by side.
    Bars,
    /// Lines along an axis.
    Lines,
    /// A heat map of `x` across and `group` down, with the number in every cell.
    Grid,
    /// A link's throughput or queue over time, with a panel per variant.
    Series,
    /// Distributions.
    Cdf,
    /// Ports and senders over time, as in `floodway plot ports`, at most four variants side by side, for the
    /// first seed.
    Ports,
    /// The congestion region over time, as in `floodway plot region`, with variants in the same way.
    Region,
    /// The flows' throughput on a link over time, as in `floodway plot shares`, with a panel per variant, for
    /// the first seed.
    Shares,
}

/// A curve by a formula.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Theory {
    /// Its formula, by name.
    pub formula: String,
    /// The argument that the axis supplies.
    pub x: String,
    /// The unit of the axis' numbers in that of the argument. Default: 1.
    #[serde(default)]
    pub factor: Option<Number>,
    /// The other arguments: numbers, or quantities.
    #[serde(default)]
    pub with: Map<String, Value>,
    /// Its label. Default: the formula's name.
    #[serde(default)]
    pub label: Option<String>,
    /// The metric in whose panel it is drawn. Default: the first.
    #[serde(default)]
    pub metric: Option<String>,
}

/// A published point of a picture.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Mark {
    /// The point or variant across.
    pub x: Toml,
    /// The group. Default: none.
    #[serde(default)]
    pub group: String,
    /// The metric in whose panel it is. Default: the first.
    #[serde(default)]
    pub metric: Option<String>,
    /// The number.
    pub value: Number,
}
