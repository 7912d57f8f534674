//! A study as it is run and judged: with readings and `like` applied, every name checked.

use serde::Serialize;
use serde_json::{Map, Value};

use super::claim_keys::{Best, Bound, Take};
use super::forms::Seeds;

/// Key paths with values as TOML writes them.
pub type Sets = Vec<(String, String)>;
/// Axes with the names of their points.
pub type Coordinates = Vec<(String, String)>;

/// A study.
#[derive(Clone, Debug, Serialize)]
pub struct Study {
    pub title: String,
    pub paper: String,
    pub shows: String,
    pub notes: String,
    pub source: String,
    pub minutes: Option<f64>,
    pub sets: Sets,
    pub axes: Vec<Axis>,
    pub variants: Vec<Variant>,
    pub readings: Vec<Reading>,
    pub seeds: Seeds,
    pub metrics: Vec<Metric>,
    pub claims: Vec<Claim>,
    pub plots: Vec<Plot>,
    pub quick: Quick,
}

/// What the quick study changes.
#[derive(Clone, Debug, Serialize)]
pub struct Quick {
    pub minutes: Option<f64>,
    pub skip: bool,
    pub seeds: Option<Seeds>,
    pub sets: Sets,
    pub variants: Vec<String>,
}

/// Values that a study goes through.
#[derive(Clone, Debug, Serialize)]
pub struct Axis {
    pub name: String,
    pub label: String,
    pub points: Vec<Point>,
    pub quick: Vec<String>,
}

impl Axis {
    /// The names of its points.
    pub fn names(&self) -> Vec<String> {
        self.points.iter().map(|point| point.name.clone()).collect()
    }
}

/// A point of an axis.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    pub name: String,
    pub number: Option<f64>,
    pub sets: Sets,
    pub seeds: Option<u64>,
}

/// What variants begin with: a file, or keys.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Base {
    /// A scenario's file, relative to the study's folder.
    File(String),
    /// Its keys.
    Keys(Map<String, Value>),
}

/// A scheme.
#[derive(Clone, Debug, Serialize)]
pub struct Variant {
    pub name: String,
    pub label: String,
    pub base: Base,
    pub sets: Sets,
    pub only: Vec<(String, Vec<String>)>,
    pub left_out: Vec<(String, Vec<String>)>,
    pub seeds: Option<u64>,
    pub may_lose: bool,
    /// Whether a reading made it: pictures and orders of all variants leave it out.
    #[serde(skip)]
    pub of_reading: bool,
}

impl Variant {
    /// Whether it is run at these coordinates.
    pub fn runs_at(&self, at: &[(String, String)]) -> bool {
        let listed = |points: &[(String, Vec<String>)], axis: &str, point: &String| {
            points.iter().find(|(name, _)| name == axis).map(|(_, points)| points.contains(point))
        };
        at.iter().all(|(axis, point)| {
            listed(&self.only, axis, point) != Some(false)
                && listed(&self.left_out, axis, point) != Some(true)
        })
    }
}

/// A reading with its reason.
#[derive(Clone, Debug, Serialize)]
pub struct Reading {
    pub name: String,
    pub says: String,
}

/// A metric; options that are not given are empty.
#[derive(Clone, Debug, Serialize)]
pub struct Metric {
    pub name: String,
    pub label: String,
    pub kind: String,
    pub options: Options,
    #[serde(skip)]
    pub unit: &'static str,
    #[serde(skip)]
    pub best: Best,
}

/// What a metric is of.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Options {
    pub workload: Vec<String>,
    pub path_class: String,
    pub source: Vec<String>,
    pub destination: Vec<String>,
    pub smallest_bytes: Option<u64>,
    pub largest_bytes: Option<u64>,
    pub link: String,
    pub ports: Vec<String>,
    pub from_us: f64,
    pub to_us: Option<f64>,
    pub bucket_us: Option<f64>,
    pub column: String,
    pub state: String,
    pub operation: Vec<String>,
}

/// A published number or order in one reading.
#[derive(Clone, Debug, Serialize)]
pub struct Claim {
    pub name: String,
    pub figure: String,
    pub says: String,
    pub source: String,
    pub remark: String,
    pub statement: String,
    pub reading: String,
    pub part: String,
    pub spans: bool,
    pub setting: String,
    pub origin: &'static str,
    pub about: &'static str,
    pub metric: String,
    pub variant: String,
    pub at: Coordinates,
    pub against: String,
    pub against_points: Coordinates,
    pub less_points: Coordinates,
    pub coordinates: Vec<Coordinates>,
    pub rivals: Vec<String>,
    pub take: Take,
    pub value: Option<f64>,
    pub between: Option<(f64, f64)>,
    pub unit: String,
    pub tolerance: f64,
    pub bound: Bound,
    pub draws: u64,
    pub order: Vec<String>,
    pub best: Best,
    pub only_first: bool,
    pub unchanged: bool,
    pub margin: f64,
    pub ablations: Vec<String>,
    pub halves: Vec<String>,
    pub ablated: String,
    pub no_ablation: String,
    /// Variants with what their ablation removes, in words.
    pub removes: Vec<(String, String)>,
    pub may_lose: Vec<String>,
    pub looks: usize,
    pub cause: String,
    pub cause_against: String,
    pub cause_says: String,
}

impl Claim {
    /// The variants whose runs it needs at its coordinates.
    pub fn variants(&self) -> Vec<String> {
        if self.order.is_empty() { vec![self.variant.clone()] } else { self.order.clone() }
    }

    /// The variant that its ablations stand for.
    pub fn subject(&self) -> String {
        if self.ablated.is_empty() { self.variants()[0].clone() } else { self.ablated.clone() }
    }

    /// Whether the number is a difference to another one.
    pub fn relative(&self) -> bool {
        !self.rivals.is_empty()
    }

    /// Whether it is over several numbers or orders.
    pub fn several(&self) -> bool {
        self.coordinates.len() > 1 || self.rivals.len() > 1
    }

    /// Whose runs it needs, and where, at coordinates and against a rival.
    pub fn cells(&self, at: &Coordinates, rival: Option<&String>) -> Vec<(String, Coordinates)> {
        let mut found: Vec<_> = self.variants().into_iter().map(|name| (name, at.clone())).collect();
        let Some(rival) = rival else { return found };
        found.push((rival.clone(), moved(at, &self.against_points)));
        if !self.less_points.is_empty() {
            let less = moved(at, &self.less_points);
            found.push((rival.clone(), moved(&less, &self.against_points)));
            found.push((self.variant.clone(), less));
        }
        found
    }
}

/// Coordinates with other points on some axes.
pub fn moved(at: &Coordinates, points: &Coordinates) -> Coordinates {
    let other = |axis: &String| points.iter().find(|(name, _)| name == axis).map(|(_, point)| point.clone());
    at.iter().map(|(axis, point)| (axis.clone(), other(axis).unwrap_or_else(|| point.clone()))).collect()
}

/// A picture.
#[derive(Clone, Debug, Serialize)]
pub struct Plot {
    pub name: String,
    pub title: String,
    pub kind: &'static str,
    pub metrics: Vec<String>,
    pub along: String,
    pub group: String,
    pub at: Coordinates,
    pub variants: Vec<String>,
    pub relative_to: String,
    pub log: Vec<String>,
    pub theory: Vec<Theory>,
    pub marks: Vec<Mark>,
    pub of: String,
    pub ports: Vec<String>,
    pub flows: Vec<String>,
    pub window: Option<(f64, f64)>,
    pub link: String,
    pub bucket_us: Option<f64>,
}

/// A curve by a formula.
#[derive(Clone, Debug, Serialize)]
pub struct Theory {
    pub metric: String,
    pub formula: String,
    pub label: String,
    pub along: String,
    pub factor: f64,
    pub arguments: Vec<(String, f64)>,
}

/// A published point.
#[derive(Clone, Debug, Serialize)]
pub struct Mark {
    pub metric: String,
    pub at: String,
    pub group: String,
    pub value: f64,
}
