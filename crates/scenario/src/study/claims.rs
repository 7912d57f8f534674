//! Claims: what is published, in each of its readings, and how ours is computed.

use serde_json::{Map, Value};

use super::ablations::{Ablations, check_without};
use super::claim_keys::{self, Bound, Origin, Take};
use super::document::Document;
use super::model::{Axis, Claim, Coordinates, Metric, Variant};
use super::names::Text;
use super::parts::{metric_named, range};
use super::readings::Reading;
use crate::error::ScenarioError;

/// By default, in percent of a number, and in points of a percentage; a bound and a range have none.
const TOLERANCE: f64 = 5.0;
const POINTS: f64 = 3.0;
/// By default, in percent: a smaller difference is no order.
const MARGIN: f64 = 1.0;
/// All points of an axis.
const EVERY: &str = "*";
pub const VARIANT: &str = "a variant of this study";

/// What claims refer to.
pub struct Parts<'a> {
    pub axes: &'a [Axis],
    pub metrics: &'a [Metric],
    pub readings: &'a [Reading],
    pub variants: &'a mut Vec<Variant>,
}

/// Reads the claims, one for each of their readings.
pub fn claims(
    text: Text<'_>,
    document: &Document,
    parts: &mut Parts<'_>,
) -> Result<Vec<Claim>, Vec<ScenarioError>> {
    let (mut claims, mut errors): (Vec<Claim>, Vec<ScenarioError>) = (Vec::new(), Vec::new());
    if let Err(error) = check_without(text, document, parts.variants) {
        return Err(vec![error]);
    }
    let items = text.0.get("claim").map_or(&[][..], |list| list.items());
    for (index, (given, node)) in document.claim.iter().zip(items).enumerate() {
        let label = node.label(index);
        let one = Given { text, path: ["claim", &label], document, claim: given };
        if let Err(error) = one.read(parts, &mut claims) {
            errors.push(error);
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let looks: Vec<usize> = claims
        .iter()
        .map(|claim| {
            let own = claims.iter().filter(|other| other.statement == claim.statement);
            let mut readings: Vec<&str> = own.map(|other| other.reading.as_str()).collect();
            readings.sort_unstable();
            readings.dedup();
            readings.len()
        })
        .collect();
    claims.iter_mut().zip(looks).for_each(|(claim, looks)| claim.looks = looks);
    Ok(claims)
}

/// A claim as it is written.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    pub text: Text<'a>,
    path: [&'a str; 2],
    pub document: &'a Document,
    pub claim: &'a claim_keys::Claim,
}

impl Given<'_> {
    /// A fault of one of its keys.
    pub fn fault(&self, key: &str, message: impl Into<String>) -> ScenarioError {
        self.text.fault(&self.at(key), message)
    }

    /// The path of one of its keys.
    pub fn at<'b>(&'b self, key: &'b str) -> Vec<&'b str> {
        let inner = key.split('.').filter(|part| !part.is_empty());
        self.path.iter().copied().chain(inner).collect()
    }

    fn read(&self, parts: &mut Parts<'_>, claims: &mut Vec<Claim>) -> Result<(), ScenarioError> {
        let readings = self.readings(parts.readings)?;
        let usual = format!("claim-{}", claims.len() + 1);
        let (order, only_first, unchanged) = self.order(parts.variants)?;
        let ablations = self.ablations(parts.variants, &order)?;
        self.check(&order, unchanged)?;
        let several = readings.len() > 1;
        for reading in readings {
            let mut claim = self.claim_in(reading, parts, &order, &ablations)?;
            claim.only_first = only_first;
            claim.unchanged = unchanged;
            claim.name = match &self.claim.name {
                Some(name) if several => format!("{name}, {}", claim.reading),
                Some(name) => self.text.some(&self.at("name"), name)?,
                None => format!("claim-{}", claims.len() + 1),
            };
            if claim.statement.is_empty() {
                claim.statement = self.claim.name.clone().unwrap_or_else(|| usual.clone());
            }
            if claims.iter().any(|other| other.name == claim.name) {
                let name = self.claim.name.as_deref().unwrap_or(&claim.name);
                return Err(self.text.same_name("claim", "claims", name));
            }
            self.refuse_equal_readings(&claim, claims)?;
            self.hold_together(&claim)?;
            self.refuse_nothing(&claim, parts.variants)?;
            claims.push(claim);
        }
        Ok(())
    }

    /// The readings in which it is judged; the one without a name where there are none.
    fn readings<'b>(&self, readings: &'b [Reading]) -> Result<Vec<&'b Reading>, ScenarioError> {
        static PLAIN: std::sync::LazyLock<Reading> = std::sync::LazyLock::new(Reading::default);
        let given = &self.claim.readings.0;
        if given.is_empty() {
            return Ok(vec![&PLAIN]);
        }
        let mut found: Vec<&Reading> = Vec::new();
        for name in given {
            let Some(reading) = readings.iter().find(|reading| reading.name == *name) else {
                let names: Vec<_> = readings.iter().map(|reading| reading.name.as_str()).collect();
                let what = "a reading of this study, as [[reading]] begins each of them";
                return Err(self.text.unknown(&self.at("readings"), name, what, &names));
            };
            if found.iter().any(|other| other.name == *name) {
                return Err(self.fault("readings", format!("{name:?} is given twice")));
            }
            found.push(reading);
        }
        Ok(found)
    }

    /// An order, its first variant, or variants of one order, by their names in the claim.
    fn order(&self, variants: &[Variant]) -> Result<(Vec<String>, bool, bool), ScenarioError> {
        let claim = self.claim;
        let names: Vec<&str> = names(variants);
        let given: Vec<&str> = [
            ("order", !claim.order.0.is_empty()),
            ("first", claim.first.is_some()),
            ("unchanged-order", claim.unchanged_order.is_some()),
        ]
        .into_iter()
        .filter_map(|(key, is_given)| is_given.then_some(key))
        .collect();
        if let [first, second, ..] = given[..] {
            return Err(self.fault(second, format!("cannot be given with {first:?}; choose one of the two")));
        }
        if let Some(first) = &claim.first {
            self.text.choice(&self.at("first"), first, VARIANT, &names)?;
            let own = variants.iter().filter(|variant| !variant.of_reading);
            let among = match &claim.among.0[..] {
                [] => own.map(|variant| variant.name.clone()).collect(),
                among => self.text.choices(&self.at("among"), among, VARIANT, &names)?,
            };
            let others = among.into_iter().filter(|name| name != first);
            return Ok((std::iter::once(first.clone()).chain(others).collect(), true, false));
        }
        if !claim.among.0.is_empty() {
            return Err(
                self.fault("among", "are those that `first` is compared with, and there is no `first`")
            );
        }
        let (key, order) = match &claim.unchanged_order {
            Some(order) => ("unchanged-order", order),
            None => ("order", &claim.order),
        };
        let order = self.text.choices(&self.at(key), &order.0, VARIANT, &names)?;
        Ok((order, false, claim.unchanged_order.is_some()))
    }

    fn variant(&self, variants: &[Variant]) -> Result<String, ScenarioError> {
        let names = names(variants);
        match (&self.claim.variant, variants) {
            (Some(name), _) => self.text.choice(&self.at("variant"), name, VARIANT, &names),
            (None, [only]) => Ok(only.name.clone()),
            (None, _) => {
                Err(self.text.fault_with(&self.at("variant"), "is missing; a variant is required", &names))
            }
        }
    }

    /// The claim in one reading.
    fn claim_in(
        &self,
        reading: &Reading,
        parts: &mut Parts<'_>,
        order: &[String],
        ablations: &Ablations,
    ) -> Result<Claim, ScenarioError> {
        let claim = self.claim;
        let metric = metric_named(self.text, &self.at("metric"), &claim.metric, parts.metrics)?;
        let names = names(parts.variants);
        let against = self.text.choices(&self.at("against"), &claim.against.0, VARIANT, &names)?;
        let may_lose = self.text.choices(&self.at("may-lose"), &claim.may_lose.0, VARIANT, &names)?;
        let variant = if order.is_empty() { self.variant(parts.variants)? } else { String::new() };
        let against = match &against[..] {
            [] if claim.against_at.is_some() && order.is_empty() => vec![variant.clone()],
            _ => against,
        };
        let cause = claim.cause.as_ref();
        let (cause_variant, cause_against) = match cause {
            Some(cause) => {
                let own = self.text.choice(&self.at("cause.variant"), &cause.variant, VARIANT, &names)?;
                let usual = against.first().cloned().unwrap_or_default();
                let other = match &cause.against {
                    Some(other) => self.text.choice(&self.at("cause.against"), other, VARIANT, &names)?,
                    None => usual,
                };
                (own, other)
            }
            None => (String::new(), String::new()),
        };
        let mut stands = |name: &String| {
            if name.is_empty() { String::new() } else { reading.variant(name, parts.variants) }
        };
        let rivals: Vec<String> = against.iter().map(&mut stands).collect();
        let order: Vec<String> = order.iter().map(&mut stands).collect();
        let variant = stands(&variant);
        let ablation_variants: Vec<String> = ablations.variants.iter().map(&mut stands).collect();
        let halves: Vec<String> = ablations.halves.iter().map(&mut stands).collect();
        let ablated = stands(&ablations.replaces);
        let removes: Vec<_> =
            ablations.removes.iter().map(|(name, words)| (stands(name), words.clone())).collect();
        let (cause_variant, cause_against) = (stands(&cause_variant), stands(&cause_against));
        let mut may_lose: Vec<String> = may_lose.iter().map(&mut stands).collect();
        may_lose.extend(parts.variants.iter().filter(|each| each.may_lose).map(|each| each.name.clone()));
        let coordinates = self.coordinates(&reading.at(&claim.at), parts.axes)?;
        let points = |key: &str, given: &Option<Map<String, Value>>| match given {
            Some(given) => self.text.points(&self.at(key), given, parts.axes),
            None => Ok(Coordinates::new()),
        };
        let relative = !claim.against.0.is_empty() || claim.against_at.is_some();
        let unit = self.unit(if relative { "%" } else { metric.unit })?;
        let between = match &claim.between {
            Some(given) => Some(range(self.text, &self.at("between"), given)?),
            None => None,
        };
        let of_paper = !self.document.paper.is_empty() || !self.document.source.is_empty();
        let named = of_paper || !claim.source.is_empty() || !claim.figure.is_empty();
        let origin = claim.origin.unwrap_or(if named { Origin::Printed } else { Origin::Ours });
        let is_plain = claim.is == Bound::About && order.is_empty();
        let usual_draws = if is_plain { self.document.draws.unwrap_or(0) } else { 0 };
        Ok(Claim {
            name: String::new(),
            figure: claim.figure.clone(),
            says: self.text.some(&self.at("says"), &claim.says)?,
            source: claim.source.clone(),
            remark: claim.remark.clone(),
            statement: claim.statement.clone(),
            reading: reading.name.clone(),
            part: claim.part.clone(),
            spans: claim.spans,
            setting: if reading.setting.is_empty() { claim.setting.clone() } else { reading.setting.clone() },
            origin: origin.name(),
            about: claim.about.name(),
            metric: metric.name,
            variant,
            at: coordinates[0].clone(),
            against: rivals.first().cloned().unwrap_or_default(),
            against_points: points("against-at", &claim.against_at)?,
            less_points: points("less-at", &claim.less_at)?,
            coordinates,
            rivals,
            take: claim.take.unwrap_or(Take::Each),
            value: claim.value.map(|number| number.0),
            between,
            tolerance: self.tolerance(&unit)?,
            unit,
            bound: claim.is,
            draws: claim.draws.unwrap_or(usual_draws),
            order,
            best: claim.best.unwrap_or(metric.best),
            only_first: false,
            unchanged: false,
            margin: self.not_negative("margin", claim.margin, MARGIN)?,
            ablations: ablation_variants,
            halves,
            ablated,
            no_ablation: ablations.none.clone(),
            removes,
            may_lose,
            looks: 1,
            cause: cause_variant,
            cause_against,
            cause_says: cause.map_or_else(String::new, |cause| cause.says.clone()),
        })
    }

    /// How far ours may be from what is published.
    fn tolerance(&self, unit: &str) -> Result<f64, ScenarioError> {
        let usual = match (self.claim.is, &self.claim.between) {
            (Bound::About, None) if unit == "%" => POINTS,
            (Bound::About, None) => TOLERANCE,
            _ => 0.0,
        };
        self.not_negative("tolerance", self.claim.tolerance, usual)
    }

    /// Where it is: of an axis a point, a list of points, or all of them.
    fn coordinates(
        &self,
        given: &Map<String, Value>,
        axes: &[Axis],
    ) -> Result<Vec<Coordinates>, ScenarioError> {
        let path = self.at("at");
        self.text.known_axes(&path, given, axes)?;
        let mut found = vec![Coordinates::new()];
        for axis in axes {
            let inner = [&path[..], &[axis.name.as_str()]].concat();
            let points = match given.get(&axis.name) {
                Some(Value::String(every)) if every == EVERY => axis.names(),
                Some(Value::Array(many)) if !many.is_empty() => {
                    many.iter().map(|each| self.text.point(&inner, axis, each)).collect::<Result<_, _>>()?
                }
                Some(one) => vec![self.text.point(&inner, axis, one)?],
                None => vec![self.text.only_point(&path, axis, &[EVERY])?],
            };
            let with = |at: &Coordinates| {
                let further = |point: &String| {
                    let mut at = at.clone();
                    at.push((axis.name.clone(), point.clone()));
                    at
                };
                points.iter().map(further).collect::<Vec<_>>()
            };
            found = found.iter().flat_map(with).collect();
        }
        Ok(found)
    }

    /// The unit of the published number, which is that of ours: nothing is converted.
    fn unit(&self, own: &str) -> Result<String, ScenarioError> {
        match &self.claim.unit {
            Some(given) if given != own => {
                let allowed =
                    if own.is_empty() { "none: it is a plain number".into() } else { format!("{own:?}") };
                Err(self
                    .fault("unit", format!("{given:?} is not the unit of the number; allowed: {allowed}")))
            }
            _ => Ok(own.to_owned()),
        }
    }

    fn not_negative(
        &self,
        key: &str,
        given: Option<super::forms::Number>,
        usual: f64,
    ) -> Result<f64, ScenarioError> {
        match given {
            Some(number) if number.0 < 0.0 => {
                Err(self.fault(key, format!("{} is not allowed; the minimum is 0", number.0)))
            }
            Some(number) => Ok(number.0),
            None => Ok(usual),
        }
    }

    /// Refuses keys that do not go together.
    fn check(&self, order: &[String], unchanged: bool) -> Result<(), ScenarioError> {
        let claim = self.claim;
        if claim.draws == Some(0) {
            return Err(self.fault("draws", "0 is not allowed; the minimum is 1"));
        }
        let is_order = !order.is_empty() || unchanged || claim.first.is_some();
        if is_order {
            let key = if unchanged {
                "unchanged-order"
            } else if claim.first.is_some() {
                "among"
            } else {
                "order"
            };
            let twice = order.iter().enumerate().any(|(i, name)| order[..i].contains(name));
            if order.len() < 2 || twice {
                let best = if unchanged { "" } else { ", best first" };
                return Err(self.fault(key, format!("takes at least two variants, each once{best}")));
            }
            let of_numbers = [
                ("value", claim.value.is_some()),
                ("between", claim.between.is_some()),
                ("against", !claim.against.0.is_empty()),
                ("against-at", claim.against_at.is_some()),
                ("variant", claim.variant.is_some()),
                ("tolerance", claim.tolerance.is_some()),
                ("is", claim.is != Bound::About),
                ("take", claim.take.is_some()),
                ("draws", claim.draws.is_some()),
            ];
            if let Some((key, _)) = of_numbers.into_iter().find(|(_, is_given)| *is_given) {
                let message = "applies to a number, and this claim is an order; choose one of the two";
                return Err(self.fault(key, message));
            }
        } else if claim.value.is_none() && claim.between.is_none() {
            let message = "is missing; a claim has a published value, or an order of variants";
            return Err(self.fault("value", message));
        } else if claim.margin.is_some() {
            let message = "applies to an order, and this claim is a number; it has a tolerance";
            return Err(self.fault("margin", message));
        }
        if claim.value.is_some() && claim.between.is_some() {
            return Err(self.fault("between", "is given with a value; choose one of the two"));
        }
        if claim.between.is_some() && claim.is != Bound::About {
            return Err(
                self.fault("is", "applies to a value, and this claim has a range, which has two bounds")
            );
        }
        if claim.draws.is_some() && claim.is != Bound::About {
            return Err(self.fault("draws", "applies to a number, and this claim is a bound"));
        }
        Ok(())
    }

    /// Refuses what depends on the reading: differences of nothing, ablations that stand for nothing.
    fn hold_together(&self, claim: &Claim) -> Result<(), ScenarioError> {
        if claim.unchanged && !claim.several() {
            let message = "compares the orders at several points, and `at` has only one";
            return Err(self.fault("unchanged-order", message));
        }
        for at in &claim.coordinates {
            let moved = super::model::moved(at, &claim.against_points);
            if claim.rivals.contains(&claim.variant) && moved == *at {
                return Err(self.fault("against", format!("{:?} is measured against itself", claim.variant)));
            }
            if !claim.less_points.is_empty() && super::model::moved(at, &claim.less_points) == *at {
                return Err(self.fault("less-at", "is where the claim is; the difference would be 0"));
            }
        }
        if !claim.less_points.is_empty() && !claim.relative() {
            return Err(self.fault("less-at", "applies to a difference; this claim has no `against`"));
        }
        if !claim.cause.is_empty() && claim.several() && claim.take == Take::Each {
            return Err(self.fault("cause", "applies to one number, and this claim covers several"));
        }
        if !claim.cause.is_empty() && !claim.less_points.is_empty() {
            let message = "applies to a plain difference, and this claim subtracts another";
            return Err(self.fault("cause", message));
        }
        if !claim.several() && self.claim.take.is_some() {
            return Err(self.fault("take", "selects one of several numbers, and this claim has only one"));
        }
        let mut involved = claim.variants();
        involved.extend(claim.rivals.iter().filter(|name| !claim.variants().contains(name)).cloned());
        if !claim.ablated.is_empty() && !involved.contains(&claim.ablated) {
            let message = format!("{:?} is not in this claim", claim.ablated);
            return Err(self.text.fault_with(&self.at("without.replaces"), message, &involved));
        }
        let subject = claim.subject();
        if claim.ablations.contains(&subject) || claim.halves.contains(&subject) {
            return Err(self.fault("without", format!("{subject:?} is what the claim is about")));
        }
        Ok(())
    }

    /// Refuses a claim over runs that the study does not have.
    fn refuse_nothing(&self, claim: &Claim, variants: &[Variant]) -> Result<(), ScenarioError> {
        let rivals: Vec<Option<&String>> =
            if claim.rivals.is_empty() { vec![None] } else { claim.rivals.iter().map(Some).collect() };
        let pairs = claim.coordinates.iter().flat_map(|at| rivals.iter().map(move |rival| (at, *rival)));
        let mut needed: Vec<_> = pairs.flat_map(|(at, rival)| claim.cells(at, rival)).collect();
        let isolating = [&claim.cause, &claim.cause_against]
            .into_iter()
            .filter(|name| !claim.cause.is_empty() && !name.is_empty());
        for name in isolating {
            needed.extend(claim.coordinates.iter().map(|at| (name.clone(), at.clone())));
        }
        let subject = claim.subject();
        let of_subject: Vec<Coordinates> =
            needed.iter().filter(|(name, _)| *name == subject).map(|(_, at)| at.clone()).collect();
        for each in claim.ablations.iter().chain(&claim.halves) {
            needed.extend(of_subject.iter().map(|at| (each.clone(), at.clone())));
        }
        for (name, at) in &needed {
            let runs = variants.iter().find(|each| each.name == *name).is_some_and(|each| each.runs_at(at));
            if !runs {
                let place: Vec<_> = at.iter().map(|(axis, point)| format!("{axis} = {point}")).collect();
                return Err(self.fault("at", format!("{name:?} is not run at {}", place.join(", "))));
            }
        }
        Ok(())
    }

    /// Refuses readings of a statement that nothing tells apart, or of more than one origin or subject.
    fn refuse_equal_readings(&self, claim: &Claim, earlier: &[Claim]) -> Result<(), ScenarioError> {
        let statement = &claim.statement;
        for other in earlier.iter().filter(|other| other.statement == *statement) {
            let same = claim.reading == other.reading;
            if same && claim.part.is_empty() != other.part.is_empty() {
                let message = format!(
                    "of one reading of the statement {statement:?} either all claims are parts or none is"
                );
                return Err(self.fault("part", message));
            }
            if same && !claim.part.is_empty() && claim.part == other.part {
                let message = format!(
                    "two parts of the statement {statement:?} have {:?}; each needs its own name",
                    claim.part
                );
                return Err(self.fault("part", message));
            }
            if same && claim.part.is_empty() {
                let given =
                    if claim.reading.is_empty() { "no name".into() } else { format!("{:?}", claim.reading) };
                let message = format!(
                    "two readings of the statement {statement:?} have {given}; each needs its own name"
                );
                return Err(self.fault("readings", message));
            }
            if claim.origin != other.origin {
                let message = format!(
                    "{:?}, but an earlier reading of the statement {statement:?} is {:?}; a statement has one origin",
                    claim.origin, other.origin
                );
                return Err(self.fault("origin", message));
            }
            if claim.about != other.about {
                let message = format!(
                    "{:?}, but an earlier reading of the statement {statement:?} is about the {}; a statement is about \
                     one of the two",
                    claim.about, other.about
                );
                return Err(self.fault("about", message));
            }
        }
        Ok(())
    }
}

/// The names of variants.
pub fn names(variants: &[Variant]) -> Vec<&str> {
    variants.iter().map(|variant| variant.name.as_str()).collect()
}
