//! Pictures of a study.

use super::document::{self, Document, PlotKind};
use super::forms::plain;
use super::model::{Axis, Mark, Metric, Plot, Theory, Variant};
use super::names::Text;
use super::parts::{argument, bucket, metric_named, window};
use crate::error::ScenarioError;

/// Closed forms that pictures may have along an axis, with their arguments;
/// `lab/floodway_lab/study/pictures/formulas.py` computes them.
pub static FORMULAS: &[(&str, &[&str])] = &[
    ("swing-eq4", &["delay-us", "alpha", "buffer-bytes", "rate-gbps"]),
    ("swing-eq6", &["delay-us", "alpha", "buffer-bytes", "rate-gbps"]),
    ("swing-relay-buffer", &["delay-us", "rate-gbps"]),
    ("swing-pfc-buffer", &["delay-us", "rate-gbps"]),
    ("cbfc-lowest", &["delay-us", "buffer-bytes", "rate-gbps", "period-us", "mtu-bytes"]),
    ("cbfc-highest", &["delay-us", "buffer-bytes", "rate-gbps"]),
    ("bifrost-buffer", &["delay-us", "rate-gbps", "slot-us"]),
    ("bdp", &["delay-us", "rate-gbps"]),
];

const VARIANT: &str = "variant";
/// What the table of all numbers is called, beside the pictures.
const NUMBERS: &str = "numbers";
/// No more variants can be read side by side.
const MOST_RESULTS: usize = 4;

impl PlotKind {
    fn name(self) -> &'static str {
        match self {
            PlotKind::Bars => "bars",
            PlotKind::Lines => "lines",
            PlotKind::Grid => "grid",
            PlotKind::Series => "series",
            PlotKind::Cdf => "cdf",
            PlotKind::Ports => "ports",
            PlotKind::Region => "region",
            PlotKind::Shares => "shares",
        }
    }

    /// Whether it is of metrics, over what goes across; the others are of single runs.
    fn of_numbers(self) -> bool {
        matches!(self, PlotKind::Bars | PlotKind::Lines | PlotKind::Grid)
    }

    /// Whether it has variants side by side.
    fn beside(self) -> bool {
        matches!(self, PlotKind::Ports | PlotKind::Region)
    }
}

/// Reads the pictures.
pub fn plots(
    text: Text<'_>,
    document: &Document,
    axes: &[Axis],
    metrics: &[Metric],
    variants: &[Variant],
) -> Result<Vec<Plot>, Vec<ScenarioError>> {
    let (mut plots, mut errors): (Vec<Plot>, _) = (Vec::new(), Vec::new());
    for given in &document.plot {
        let one = Given { text, path: ["plot", &given.name], plot: given, axes, metrics, variants };
        match one.read() {
            Ok(plot) if plots.iter().any(|other| other.name == plot.name) => {
                errors.push(text.same_name("plot", "pictures", &plot.name));
            }
            Ok(plot) => plots.push(plot),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(plots) } else { Err(errors) }
}

/// A picture as it is written.
#[derive(Clone, Copy)]
struct Given<'a> {
    text: Text<'a>,
    path: [&'a str; 2],
    plot: &'a document::Plot,
    axes: &'a [Axis],
    metrics: &'a [Metric],
    variants: &'a [Variant],
}

impl<'a> Given<'a> {
    fn fault(&self, key: &'a str, message: impl Into<String>) -> ScenarioError {
        self.text.fault(&self.at(key), message)
    }

    fn at(&self, key: &'a str) -> [&'a str; 3] {
        [self.path[0], self.path[1], key]
    }

    fn read(&self) -> Result<Plot, ScenarioError> {
        let Given { text, plot, .. } = *self;
        let kind = plot.kind;
        self.name()?;
        self.refuse_meaningless()?;
        let mut across = vec![VARIANT];
        across.extend(self.axes.iter().map(|axis| axis.name.as_str()));
        let what = "an axis of this study, or variant";
        let along = match &plot.x {
            Some(x) => text.choice(&self.at("x"), x, what, &across)?,
            None => self.usual_x(),
        };
        let group = match &plot.group {
            Some(group) if group.is_empty() => String::new(),
            Some(group) => text.choice(&self.at("group"), group, what, &across)?,
            None if along == VARIANT => String::new(),
            None => VARIANT.to_owned(),
        };
        if group == along {
            return Err(self.fault("group", format!("{group:?} is already the axis across")));
        }
        let free: Vec<&str> = [along.as_str(), group.as_str()]
            .into_iter()
            .filter(|name| !name.is_empty() && *name != VARIANT)
            .collect();
        let metrics = self.metric_names()?;
        let of_time = kind.beside() || kind == PlotKind::Shares;
        let made = Plot {
            name: plot.name.clone(),
            title: plot.title.clone().unwrap_or_else(|| plot.name.clone()),
            kind: kind.name(),
            at: text.coordinates(&self.at("at"), &plot.at, self.axes, &free)?,
            variants: self.shown_variants()?,
            relative_to: self.relative_to()?,
            log: self.log()?,
            theory: self.theory(&metrics)?,
            marks: self.marks()?,
            of: self.of()?,
            ports: plot.ports.clone().unwrap_or_default().0,
            flows: plot.flows.clone().unwrap_or_default().0,
            window: match &plot.window {
                Some(given) if of_time => window(text, &self.at("window"), given)?,
                _ => None,
            },
            link: plot.link.clone().unwrap_or_default(),
            bucket_us: bucket(text, &self.at("bucket"), plot.bucket.as_deref().unwrap_or_default())?,
            metrics,
            along,
            group,
        };
        self.refuse_hidden_variants(&made)?;
        self.refuse_strange_marks(&made)?;
        self.refuse_nothing(&made)?;
        Ok(made)
    }

    fn name(&self) -> Result<(), ScenarioError> {
        let name = self.text.some(&self.at("name"), &self.plot.name)?;
        let is_file = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
        if !is_file || name.starts_with('.') {
            return Err(self.fault("name", format!("{name:?} is a file's name: letters, digits, -, . and _")));
        }
        if name == NUMBERS {
            let message = format!("{name:?} is the table of all numbers; choose another name");
            return Err(self.fault("name", message));
        }
        Ok(())
    }

    /// Refuses keys that do not apply to pictures of this kind.
    fn refuse_meaningless(&self) -> Result<(), ScenarioError> {
        use PlotKind::{Bars, Cdf, Grid, Lines, Ports, Region, Series, Shares};
        let plot = self.plot;
        let numbers = &[Bars, Lines, Grid][..];
        let keys = [
            ("x", plot.x.is_some(), numbers),
            ("group", plot.group.is_some(), numbers),
            ("relative-to", plot.relative_to.is_some(), numbers),
            ("published", plot.published.is_some(), numbers),
            ("metric", plot.metric.is_some(), &[Bars, Lines, Grid, Series, Cdf]),
            ("log", plot.log.is_some(), &[Bars, Lines, Series, Cdf]),
            ("theory", plot.theory.is_some(), &[Lines]),
            ("of", plot.of.is_some(), &[Series, Cdf]),
            ("ports", plot.ports.is_some(), &[Ports]),
            ("flows", plot.flows.is_some(), &[Ports, Shares]),
            ("window", plot.window.is_some(), &[Ports, Region, Shares]),
            ("link", plot.link.is_some(), &[Shares]),
            ("bucket", plot.bucket.is_some(), &[Shares]),
        ];
        for (key, is_given, kinds) in keys {
            if is_given && !kinds.contains(&plot.kind) {
                let kinds: Vec<_> = kinds.iter().map(|kind| kind.name()).collect();
                let message = format!(
                    "does not apply to a picture of the kind {}; it applies to {}",
                    plot.kind.name(),
                    kinds.join(", ")
                );
                return Err(self.fault(key, message));
            }
        }
        Ok(())
    }

    /// What goes across by default.
    fn usual_x(&self) -> String {
        let several = self.axes.iter().find(|axis| axis.points.len() > 1);
        match (self.plot.kind, several) {
            (PlotKind::Lines | PlotKind::Grid, Some(axis)) => axis.name.clone(),
            _ => VARIANT.to_owned(),
        }
    }

    fn metric_names(&self) -> Result<Vec<String>, ScenarioError> {
        let given = self.plot.metric.as_ref().map(|metric| metric.0.clone()).unwrap_or_default();
        let names = match (&given[..], self.plot.kind) {
            ([], kind) if kind.of_numbers() => {
                return Err(
                    self.fault("metric", "is missing; expected a metric, or several with a panel each")
                );
            }
            ([], PlotKind::Cdf) => vec!["fct-mean".to_owned()],
            ([], _) => vec!["throughput".to_owned()],
            _ => given,
        };
        let chosen =
            |name: &String| Ok(metric_named(self.text, &self.at("metric"), name, self.metrics)?.name);
        names.iter().map(chosen).collect()
    }

    /// The variants that are shown; by default those that the study names.
    fn shown_variants(&self) -> Result<Vec<String>, ScenarioError> {
        let names: Vec<&str> = self.variants.iter().map(|variant| variant.name.as_str()).collect();
        if self.plot.variants.0.is_empty() {
            let own = self.variants.iter().filter(|variant| !variant.of_reading);
            return Ok(own.map(|variant| variant.name.clone()).collect());
        }
        self.text.choices(&self.at("variants"), &self.plot.variants.0, "a variant of this study", &names)
    }

    fn relative_to(&self) -> Result<String, ScenarioError> {
        let names: Vec<&str> = self.variants.iter().map(|variant| variant.name.as_str()).collect();
        match &self.plot.relative_to {
            Some(name) => self.text.choice(&self.at("relative-to"), name, "a variant of this study", &names),
            None => Ok(String::new()),
        }
    }

    /// Which axes are logarithmic; bars stand side by side, along no numbers.
    fn log(&self) -> Result<Vec<String>, ScenarioError> {
        let kind = self.plot.kind;
        let allowed = if kind == PlotKind::Bars { &["y"][..] } else { &["x", "y"] };
        let given = self.plot.log.clone().unwrap_or_default();
        self.text.choices(
            &self.at("log"),
            &given.0,
            &format!("an axis with numbers of {}", kind.name()),
            allowed,
        )
    }

    /// What a distribution, or a picture in time, is of.
    fn of(&self) -> Result<String, ScenarioError> {
        let (allowed, what) = match self.plot.kind {
            PlotKind::Series => (&["throughput", "queue"][..], "the subject of a picture in time"),
            _ => (&["fct", "slowdown", "throughput"][..], "the subject of a distribution"),
        };
        let given = self.plot.of.as_deref().unwrap_or(allowed[0]);
        self.text.choice(&self.at("of"), given, what, allowed)
    }

    fn theory(&self, metrics: &[String]) -> Result<Vec<Theory>, ScenarioError> {
        let given = self.plot.theory.as_deref().unwrap_or_default();
        given.iter().enumerate().map(|(index, each)| self.curve(index, each, metrics)).collect()
    }

    fn curve(
        &self,
        index: usize,
        given: &document::Theory,
        metrics: &[String],
    ) -> Result<Theory, ScenarioError> {
        let number = (index + 1).to_string();
        let at = |key| [self.path[0], self.path[1], "theory", &number, key];
        let names: Vec<&str> = FORMULAS.iter().map(|(name, _)| *name).collect();
        let formula = self.text.choice(&at("formula"), &given.formula, "a formula", &names)?;
        let arguments = FORMULAS.iter().find(|(name, _)| *name == formula).map_or(&[][..], |(_, of)| of);
        let what = format!("an argument of {formula}");
        let along = self.text.choice(&at("x"), &given.x, &what, arguments)?;
        let mut found = Vec::new();
        for (name, value) in &given.with {
            self.text.choice(&at("with"), name, &what, arguments)?;
            let path = [&at("with")[..], &[name.as_str()]].concat();
            found.push((name.clone(), argument(self.text, &path, value)?));
        }
        let missing: Vec<&str> = arguments
            .iter()
            .copied()
            .filter(|name| !given.with.contains_key(*name) && *name != along)
            .collect();
        if !missing.is_empty() {
            return Err(self.text.fault(&at("with"), format!("lacks {} of {formula}", missing.join(", "))));
        }
        let metric = match &given.metric {
            Some(metric) => self.text.choice(&at("metric"), metric, "a metric of this picture", metrics)?,
            None => metrics[0].clone(),
        };
        Ok(Theory {
            metric,
            label: given.label.clone().unwrap_or_else(|| formula.clone()),
            formula,
            along,
            factor: given.factor.map_or(1.0, |factor| factor.0),
            arguments: found,
        })
    }

    fn marks(&self) -> Result<Vec<Mark>, ScenarioError> {
        let given = self.plot.published.as_deref().unwrap_or_default();
        let read = |mark: &document::Mark| {
            let metric = match &mark.metric {
                Some(name) => metric_named(self.text, &self.at("published"), name, self.metrics)?.name,
                None => String::new(),
            };
            let (at, group, value) = (plain(&mark.x.0), mark.group.clone(), mark.value.0);
            Ok(Mark { metric, at, group, value })
        };
        given.iter().map(read).collect()
    }

    /// Refuses a picture of one variant that does not say which, as one that says no point of an axis.
    fn refuse_hidden_variants(&self, plot: &Plot) -> Result<(), ScenarioError> {
        let shows_all = [&plot.along, &plot.group].into_iter().any(|name| name == VARIANT);
        if self.plot.kind.of_numbers() && !shows_all && plot.variants.len() > 1 {
            let message =
                "must name one, since neither x nor group is variant: the others would not be shown";
            return Err(self.text.fault_with(&self.at("variants"), message, &plot.variants));
        }
        Ok(())
    }

    /// Refuses published points that are not in the picture.
    fn refuse_strange_marks(&self, plot: &Plot) -> Result<(), ScenarioError> {
        let points = |name: &str| match self.axes.iter().find(|axis| axis.name == name) {
            Some(axis) => axis.names(),
            None if name == VARIANT => plot.variants.clone(),
            None => vec![String::new()],
        };
        let path = self.at("published");
        for mark in &plot.marks {
            self.text.choice(&path, &mark.at, &format!("a point of {}", plot.along), &points(&plot.along))?;
            self.text.choice(&path, &mark.group, "a group of this picture", &points(&plot.group))?;
            if !mark.metric.is_empty() {
                self.text.choice(&path, &mark.metric, "a metric of this picture", &plot.metrics)?;
            }
        }
        Ok(())
    }

    fn refuse_nothing(&self, plot: &Plot) -> Result<(), ScenarioError> {
        let shown: Vec<_> = self.variants.iter().filter(|each| plot.variants.contains(&each.name)).collect();
        if self.plot.kind.beside() && shown.len() > MOST_RESULTS {
            let message =
                format!("{} variants are too many side by side; choose at most {MOST_RESULTS}", shown.len());
            return Err(self.fault("variants", message));
        }
        if !shown.iter().any(|variant| variant.runs_at(&plot.at)) {
            let place: Vec<_> = plot.at.iter().map(|(axis, point)| format!("{axis} = {point}")).collect();
            let message = format!("no variant of this picture is run at {}", place.join(", "));
            return Err(self.fault("at", message));
        }
        Ok(())
    }
}
