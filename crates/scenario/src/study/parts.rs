//! Axes, variants, readings and metrics of a study.

use std::path::Path;

use floodway_units::{Bytes, Span, UnitError};
use serde_json::Value;

use super::claim_keys::Best;
use super::document::{self, Document};
use super::forms::{Seeds, Toml, number_of, plain, toml_text};
use super::kinds::{self, Kind};
use super::model::{Axis, Base, Metric, Options, Point, Variant};
use super::names::{Text, shown};
use crate::error::ScenarioError;

/// Reads the axes.
pub fn axes(text: Text<'_>, document: &Document) -> Result<Vec<Axis>, ScenarioError> {
    let mut axes: Vec<Axis> = Vec::new();
    for given in &document.axis {
        let path = ["axis", given.name.as_str()];
        let axis = axis(text, &path, given)?;
        if axes.iter().any(|other| other.name == axis.name) || axis.name == "variant" {
            let message = format!("{:?}: is taken; choose another name", axis.name);
            return Err(text.fault(&path, message));
        }
        for (key, _) in axis.points.iter().flat_map(|point| &point.sets) {
            let sets =
                |other: &&Axis| other.points.iter().any(|point| point.sets.iter().any(|(own, _)| own == key));
            if let Some(other) = axes.iter().find(sets) {
                return Err(text.fault(&path, format!("{key}: the axis {} sets it as well", other.name)));
            }
        }
        axes.push(axis);
    }
    Ok(axes)
}

fn axis(text: Text<'_>, path: &[&str], given: &document::Axis) -> Result<Axis, ScenarioError> {
    let at = |key| [path, &[key]].concat();
    let name = text.some(&at("name"), &given.name)?;
    let listed = !given.values.is_empty();
    if listed && !given.point.is_empty() {
        return Err(text.fault(&at("values"), "cannot be given with points; choose one of the two"));
    }
    let points = if given.point.is_empty() {
        listed_points(text, path, given)?
    } else {
        given.point.iter().map(|point| named_point(text, &at("point"), point)).collect::<Result<_, _>>()?
    };
    if points.is_empty() {
        return Err(text.fault(&at("values"), "is missing; an axis needs at least one value"));
    }
    let mut axis =
        Axis { label: given.label.clone().unwrap_or_else(|| name.clone()), name, points, quick: Vec::new() };
    let names = axis.names();
    if let Some(twice) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
        let key = if given.labels.is_empty() { "values" } else { "labels" };
        return Err(text.fault(&at(key), format!("{:?}: two points have this name", twice.1)));
    }
    let quick: Result<Vec<_>, _> =
        given.quick.iter().map(|Toml(each)| text.point(&at("quick"), &axis, each)).collect();
    axis.quick = quick?;
    if axis.quick.is_empty() {
        axis.quick = names;
    }
    Ok(axis)
}

fn named_point(text: Text<'_>, path: &[&str], given: &document::Point) -> Result<Point, ScenarioError> {
    let path = [path, &[given.name.as_str()]].concat();
    let at = |key| [&path[..], &[key]].concat();
    let name = text.some(&at("name"), &given.name)?;
    Ok(Point {
        number: given.number.map_or_else(|| number_of(&Value::from(name.as_str())), |number| Some(number.0)),
        sets: text.sets(&at("set"), &given.set)?,
        seeds: most_seeds(text, &at("seeds"), given.seeds.as_ref(), "a point")?,
        name,
    })
}

/// `values`: of one key, or, of several, a list each.
fn listed_points(text: Text<'_>, path: &[&str], given: &document::Axis) -> Result<Vec<Point>, ScenarioError> {
    let at = |key| [path, &[key]].concat();
    let keys: Vec<&String> = given.key.iter().chain(&given.keys).collect();
    if keys.is_empty() {
        return Err(text.fault(&at("key"), "is missing; expected the key path that the axis sets"));
    }
    if given.key.is_some() && !given.keys.is_empty() {
        return Err(text.fault(&at("keys"), "cannot be given with `key`; choose one of the two"));
    }
    for (key, many) in [("labels", given.labels.len()), ("numbers", given.numbers.len())] {
        if many > 0 && many != given.values.len() {
            return Err(text.fault(&at(key), format!("{many} entries for {} values", given.values.len())));
        }
    }
    let mut points = Vec::new();
    for (index, value) in given.values.iter().enumerate() {
        let own = match (&value.0, keys.len()) {
            (one, 1) => std::slice::from_ref(one),
            (Value::Array(many), count) if many.len() == count => many,
            (_, count) => {
                let message =
                    format!("expected a list of {count} values, one for each key, got {}", shown(value));
                return Err(text.fault(&at("values"), message));
            }
        };
        let set = |(key, value): (&&String, &Value)| {
            let written =
                toml_text(value).ok_or_else(|| text.fault(&at("values"), "is not a finite number"))?;
            Ok(((*key).clone(), written))
        };
        points.push(Point {
            name: given.labels.get(index).cloned().unwrap_or_else(|| plain(&own[0])),
            number: given.numbers.get(index).map_or_else(|| number_of(&own[0]), |number| Some(number.0)),
            sets: keys.iter().zip(own).map(set).collect::<Result<_, _>>()?,
            seeds: None,
        });
    }
    Ok(points)
}

/// How many of the study's seeds something has, at most.
fn most_seeds(
    text: Text<'_>,
    path: &[&str],
    seeds: Option<&Seeds>,
    what: &str,
) -> Result<Option<u64>, ScenarioError> {
    match seeds {
        None => Ok(None),
        Some(Seeds::Count(count)) => Ok(Some(*count)),
        Some(Seeds::List(list)) => {
            let message =
                format!("{list:?} is a list; of {what} it is how many of the study's it has at most");
            Err(text.fault(path, message))
        }
    }
}

/// Reads the variants.
pub fn variants(
    text: Text<'_>,
    document: &Document,
    axes: &[Axis],
    folder: &Path,
) -> Result<Vec<Variant>, ScenarioError> {
    let base = base(text, &["scenario"], document.scenario.as_ref(), folder)?;
    let mut made: Vec<Variant> = Vec::new();
    for given in &document.variant {
        let path = ["variant", given.name.as_str()];
        if made.iter().any(|other| other.name == given.name) {
            return Err(text.same_name("variant", "variants", &given.name));
        }
        made.push(variant(text, &path, given, base.as_ref(), &made, (axes, folder))?);
    }
    if !made.is_empty() {
        return Ok(made);
    }
    let Some(base) = base else {
        return Err(text.fault(&["scenario"], "is missing; give a scenario's file, or its keys as a table"));
    };
    Ok(vec![Variant {
        name: "base".into(),
        label: document.title.clone(),
        base,
        sets: Vec::new(),
        only: Vec::new(),
        left_out: Vec::new(),
        seeds: None,
        may_lose: false,
        of_reading: false,
    }])
}

fn variant(
    text: Text<'_>,
    path: &[&str],
    given: &document::Variant,
    top: Option<&Base>,
    made: &[Variant],
    (axes, folder): (&[Axis], &Path),
) -> Result<Variant, ScenarioError> {
    let at = |key| [path, &[key]].concat();
    let name = text.some(&at("name"), &given.name)?;
    let parent = match &given.like {
        None => None,
        Some(like) => Some(made.iter().find(|each| each.name == *like).ok_or_else(|| {
            let names: Vec<_> = made.iter().map(|each| each.name.as_str()).collect();
            text.unknown(&at("like"), like, "a variant above this one", &names)
        })?),
    };
    let own = base(text, &at("scenario"), given.scenario.as_ref(), folder)?;
    let inherited = parent.map(|parent| &parent.base).or(top);
    let Some(base) = own.or_else(|| inherited.cloned()) else {
        let message = "is missing, here and at the top level; give a scenario's file, or its keys as a table";
        return Err(text.fault(&at("scenario"), message));
    };
    let mut sets = parent.map_or_else(Vec::new, |parent| parent.sets.clone());
    sets.extend(text.sets(&at("set"), &given.set)?);
    let points = |key, own: &Option<_>, inherited: Option<&Vec<_>>| match own {
        Some(own) => text.lists(&at(key), own, axes),
        None => Ok(inherited.cloned().unwrap_or_default()),
    };
    let seeds = most_seeds(text, &at("seeds"), given.seeds.as_ref(), "a variant")?;
    Ok(Variant {
        label: given.label.clone().unwrap_or_else(|| name.clone()),
        name,
        base,
        sets,
        only: points("only", &given.only, parent.map(|parent| &parent.only))?,
        left_out: points("except", &given.except, parent.map(|parent| &parent.left_out))?,
        seeds: seeds.or_else(|| parent.and_then(|parent| parent.seeds)),
        may_lose: given.may_lose.unwrap_or_else(|| parent.is_some_and(|parent| parent.may_lose)),
        of_reading: false,
    })
}

/// `scenario`: a file, or the scenario itself.
fn base(
    text: Text<'_>,
    path: &[&str],
    given: Option<&Toml>,
    folder: &Path,
) -> Result<Option<Base>, ScenarioError> {
    match given.map(|given| &given.0) {
        None => Ok(None),
        Some(Value::Object(keys)) => Ok(Some(Base::Keys(keys.clone()))),
        Some(Value::String(file)) if folder.join(file).is_file() => Ok(Some(Base::File(file.clone()))),
        Some(Value::String(file)) => {
            let message = format!("{file:?} is not a file; paths are relative to the study's folder");
            Err(text.fault(path, message))
        }
        Some(_) => Err(text.fault(path, "must be a scenario's file, or its keys as a table")),
    }
}

/// Reads the metrics.
pub fn metrics(text: Text<'_>, document: &Document) -> Result<Vec<Metric>, ScenarioError> {
    let read = |(name, given): &(String, document::Metric)| metric(text, name, given);
    document.metric.0.iter().map(read).collect()
}

fn metric(text: Text<'_>, name: &str, given: &document::Metric) -> Result<Metric, ScenarioError> {
    let path = ["metric", name];
    let at = |key| [&path[..], &[key]].concat();
    if kinds::named(name).is_some() {
        return Err(text.fault(&path, format!("{name:?} is the name of a ready metric; choose another one")));
    }
    let Some(kind) = kinds::named(&given.kind) else {
        return Err(text.unknown(&at("kind"), &given.kind, "a metric", &kinds::names()));
    };
    let node = text.0.at(path).expect("it was read from there");
    let is_option = |entry: &&crate::grammar::tree::Entry| kinds::OPTIONS.contains(&entry.key.as_str());
    for entry in node.entries().iter().filter(is_option) {
        text.choice(&at(&entry.key), &entry.key, &format!("an option of {}", kind.name), kind.options)?;
    }
    for &due in kind.due {
        if node.get(due).and_then(|node| node.text()).is_none_or(|text| text.trim().is_empty()) {
            return Err(text.fault(&at(due), format!("is missing; {} needs it", kind.name)));
        }
    }
    let options = options(text, &path, given)?;
    let label = if given.label.is_empty() { usual_label(kind, &options) } else { given.label.clone() };
    Ok(Metric {
        name: name.to_owned(),
        label,
        kind: kind.name.to_owned(),
        options,
        unit: kind.unit,
        best: kind.best,
    })
}

fn options(text: Text<'_>, path: &[&str], given: &document::Metric) -> Result<Options, ScenarioError> {
    let at = |key| [path, &[key]].concat();
    if !given.path_class.is_empty() {
        text.choice(&at("path-class"), &given.path_class, "a path class", &["intra", "inter"])?;
    }
    let sizes = pair::<Bytes>(text, &at("size"), &given.size, "two sizes", r#"["0B", "100KB"]"#)?;
    let window = window(text, &at("window"), &given.window)?;
    let ports = if given.ports.0.is_empty() { vec!["all".to_owned()] } else { given.ports.0.clone() };
    Ok(Options {
        workload: given.workload.0.clone(),
        path_class: given.path_class.clone(),
        source: given.from.0.clone(),
        destination: given.to.0.clone(),
        smallest_bytes: sizes.map(|(low, _)| low.0),
        largest_bytes: sizes.map(|(_, high)| high.0),
        link: given.link.clone(),
        ports,
        from_us: window.map_or(0.0, |(from, _)| from),
        to_us: window.map(|(_, to)| to),
        bucket_us: bucket(text, &at("bucket"), &given.bucket)?,
        column: given.column.clone(),
        state: given.state.clone(),
        operation: given.operation.0.clone(),
    })
}

fn usual_label(kind: &Kind, options: &Options) -> String {
    let class = match options.path_class.as_str() {
        "intra" => "within a datacenter",
        "inter" => "between datacenters",
        _ => "",
    };
    let workloads = options.workload.join(", ");
    let parts: Vec<&str> = [workloads.as_str(), class].into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { kind.label.to_owned() } else { format!("{} ({})", kind.label, parts.join(", ")) }
}

/// A window of time, in microseconds.
pub fn window(text: Text<'_>, path: &[&str], given: &[String]) -> Result<Option<(f64, f64)>, ScenarioError> {
    let pair = pair::<Span>(text, path, given, "two times", r#"["0us", "100ms"]"#)?;
    Ok(pair.map(|(from, to)| (from.as_us(), to.as_us())))
}

/// The width of buckets, in microseconds.
pub fn bucket(text: Text<'_>, path: &[&str], given: &str) -> Result<Option<f64>, ScenarioError> {
    if given.is_empty() {
        return Ok(None);
    }
    let span: Span = given.parse().map_err(|error: UnitError| text.fault(path, error.to_string()))?;
    Ok(Some(span.as_us()))
}

fn pair<T: std::str::FromStr<Err = UnitError> + PartialOrd + Copy>(
    text: Text<'_>,
    path: &[&str],
    given: &[String],
    what: &str,
    example: &str,
) -> Result<Option<(T, T)>, ScenarioError> {
    let [low, high] = match given {
        [] => return Ok(None),
        [low, high] => [low, high],
        _ => return Err(text.fault(path, format!("takes {what}, as in {example}"))),
    };
    let read = |each: &String| each.parse::<T>().map_err(|error| text.fault(path, error.to_string()));
    let found = (read(low)?, read(high)?);
    if found.0 >= found.1 {
        return Err(text.fault(path, format!("{low:?} is not below {high:?}")));
    }
    Ok(Some(found))
}

/// A metric by the name that the study gave it, or a ready one.
pub struct Chosen {
    pub name: String,
    pub unit: &'static str,
    pub best: Best,
}

/// Finds a metric by its name.
pub fn metric_named(
    text: Text<'_>,
    path: &[&str],
    name: &str,
    metrics: &[Metric],
) -> Result<Chosen, ScenarioError> {
    if let Some(own) = metrics.iter().find(|metric| metric.name == name) {
        return Ok(Chosen { name: name.to_owned(), unit: own.unit, best: own.best });
    }
    let Some(kind) = kinds::named(name) else {
        let own = metrics.iter().map(|metric| metric.name.as_str());
        let allowed: Vec<&str> = own.chain(kinds::names()).collect();
        return Err(text.unknown(path, name, "a metric", &allowed));
    };
    if !kind.due.is_empty() {
        let due = kind.due.join(", ");
        return Err(
            text.fault(path, format!("{name} needs {due}: name a metric of this kind under [metric.NAME]"))
        );
    }
    Ok(Chosen { name: name.to_owned(), unit: kind.unit, best: kind.best })
}

/// A quantity or number among a formula's arguments.
pub fn argument(text: Text<'_>, path: &[&str], value: &Value) -> Result<f64, ScenarioError> {
    number_of(value)
        .ok_or_else(|| text.fault(path, format!("{:?} is neither a number nor a quantity", plain(value))))
}

/// The least and the most of a list of numbers, where it is a range.
pub fn range(
    text: Text<'_>,
    path: &[&str],
    given: &[super::forms::Number],
) -> Result<(f64, f64), ScenarioError> {
    match given {
        [low, high] if low.0 <= high.0 => Ok((low.0, high.0)),
        _ => {
            let numbers: Vec<f64> = given.iter().map(|number| number.0).collect();
            let message = format!("{numbers:?} is not a range: expected two numbers, the smaller first");
            Err(text.fault(path, message))
        }
    }
}
