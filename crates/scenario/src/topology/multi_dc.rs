//! Any number of datacenters: a fabric each, DCI switches at the gateways of each, long links between them.
//!
//! Sites are called a, b, c, … unless they have names. The node numbers of a site continue after those of the
//! sites before. For two sites with one DCI switch each, the network equals that of `two-dc`, node by node
//! and link by link.

use floodway_units::cast::narrow;
use floodway_units::{Length, Rate, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

use super::fabric::FabricKind;
use super::long_links::LongLinks;
use super::network::{Hop, Network, TopologyError};
use super::sites::{Dci, Site, join};

/// The maximum number of sites.
const MOST: usize = 1024;

/// Parameters of several datacenters.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MultiDc {
    /// The sites: their number, from 2 to 1024, or a list of tables. No default.
    pub sites: Sites,
    /// The fabric of sites that have none of their own. No default.
    #[serde(default)]
    pub fabric: Option<FabricKind>,
    /// Rate of links inside sites that have none of their own. No default.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Delay of links inside sites that have none of their own. Not together with `length`.
    #[serde(default)]
    pub delay: Option<Span>,
    /// Length of links inside sites that have none of their own, at 5 us/km. Not together with `delay`.
    #[serde(default)]
    pub length: Option<Length>,
    /// Links between the gateways of a fabric (the cores of a fat tree) and DCI switches. Default: rate and
    /// delay of links inside the site.
    #[serde(default)]
    pub core_dci: Hop,
    /// Whether the long links of a site share a DCI switch. Default: `shared`.
    #[serde(default)]
    pub dci: Dci,
    /// Links between sites, all tagged `long-haul`, and `long-a-b` if they link the sites a and b. No
    /// default.
    pub long_links: LongLinks,
}

/// The sites.
#[derive(Clone, Debug, PartialEq)]
pub enum Sites {
    /// This number of equal sites.
    Number(usize),
    /// One by one.
    List(Vec<SiteKeys>),
}

/// A site.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SiteKeys {
    /// Its name, of letters, digits, - and _: its nodes and links are tagged `dc-<name>`. Default: the letter
    /// of its place, a, b, c, … .
    pub name: Option<String>,
    /// Its fabric. Default: that of `multi-dc`.
    pub fabric: Option<FabricKind>,
    /// Rate of its links that have none of their own. Default: that of `multi-dc`.
    pub rate: Option<Rate>,
    /// Delay of its links that have none of their own. Not together with `length`. Default: that of
    /// `multi-dc`.
    pub delay: Option<Span>,
    /// Length of its links that have none of their own, at 5 us/km. Not together with `delay`. Default: that
    /// of `multi-dc`.
    pub length: Option<Length>,
    /// Links between its gateways and its DCI switches. Default: those of `multi-dc`.
    pub core_dci: Hop,
}

impl MultiDc {
    pub(super) fn build(&self) -> Result<Network, TopologyError> {
        let names = self.names()?;
        let all_alike = SiteKeys::default();
        let site = |(i, name): (usize, &String)| match &self.sites {
            Sites::Number(_) => self.site(name, &all_alike, &[]),
            Sites::List(list) => self.site(name, &list[i], &["sites".to_owned(), label(&list[i], i)]),
        };
        let sites = names.iter().enumerate().map(site).collect::<Result<Vec<_>, _>>()?;
        let long = self.long_links.between(&names).map_err(|error| error.below("long-links"))?;
        join(&sites, &long, self.dci)
    }

    /// The fabric of each site, by its name.
    pub(super) fn fabrics(&self) -> Vec<(String, &FabricKind)> {
        let names = self.names().unwrap_or_default();
        let own = |i: usize| match &self.sites {
            Sites::Number(_) => None,
            Sites::List(list) => list[i].fabric.as_ref(),
        };
        let site = |(i, name)| Some((name, own(i).or(self.fabric.as_ref())?));
        names.into_iter().enumerate().filter_map(site).collect()
    }

    fn names(&self) -> Result<Vec<String>, TopologyError> {
        let sites = match &self.sites {
            Sites::Number(sites) => *sites,
            Sites::List(list) => list.len(),
        };
        if !(2..=MOST).contains(&sites) {
            let message = format!("{sites} is not a number of sites from 2 to {MOST}");
            return Err(TopologyError::new("sites", message));
        }
        let Sites::List(list) = &self.sites else { return Ok((0..sites).map(letters).collect()) };
        let mut names: Vec<String> = Vec::new();
        for (i, site) in list.iter().enumerate() {
            let name = site.name.clone().unwrap_or_else(|| letters(i));
            let why = if !is_word(&name) {
                format!("{name:?} is not a name of letters, digits, - and _")
            } else if let Some(first) = names.iter().position(|earlier| *earlier == name) {
                format!("sites {} and {} are both named {name:?}", first + 1, i + 1)
            } else {
                names.push(name);
                continue;
            };
            return Err(TopologyError::new("name", why).below(&(i + 1).to_string()).below("sites"));
        }
        Ok(names)
    }

    /// A site; `keys` lead to its own settings.
    fn site<'a>(&'a self, name: &str, own: &'a SiteKeys, keys: &[String]) -> Result<Site<'a>, TopologyError> {
        let Some(fabric) = own.fabric.as_ref().or(self.fabric.as_ref()) else {
            return Err(TopologyError::new("", "the key \"fabric\" is missing").below_all(keys));
        };
        let below = |keys: &[String], key: &str| [keys, &[key.to_owned()]].concat();
        let above = Hop { rate: self.rate, delay: self.delay, length: self.length };
        let common = Hop { rate: own.rate, delay: own.delay, length: own.length }.or(above);
        let core_dci_keys = match (own.core_dci != Hop::default(), self.core_dci != Hop::default()) {
            (true, _) => below(keys, "core-dci"),
            (false, true) => below(&[], "core-dci"),
            (false, false) => Vec::new(),
        };
        Ok(Site {
            name: name.to_owned(),
            fabric,
            fabric_keys: below(if own.fabric.is_some() { keys } else { &[] }, "fabric"),
            common,
            core_dci: own.core_dci.or(self.core_dci).or(common),
            core_dci_keys,
        })
    }
}

/// The label of a site of a list in paths.
fn label(site: &SiteKeys, index: usize) -> String {
    site.name.clone().unwrap_or_else(|| (index + 1).to_string())
}

fn is_word(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
}

/// a to z, then aa, ab, … .
pub(super) fn letters(index: usize) -> String {
    let last = char::from(b'a' + narrow::<u8>(index % 26));
    if index < 26 { last.to_string() } else { format!("{}{last}", letters(index / 26 - 1)) }
}

impl<'de> Deserialize<'de> for Sites {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SitesVisitor)
    }
}

struct SitesVisitor;

impl<'de> Visitor<'de> for SitesVisitor {
    type Value = Sites;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a number of sites, or a list of tables")
    }

    fn visit_i64<E: de::Error>(self, sites: i64) -> Result<Sites, E> {
        let refuse = |_| E::invalid_value(de::Unexpected::Signed(sites), &self);
        usize::try_from(sites).map(Sites::Number).map_err(refuse)
    }

    fn visit_u64<E: de::Error>(self, sites: u64) -> Result<Sites, E> {
        Ok(Sites::Number(usize::try_from(sites).unwrap_or(usize::MAX)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Sites, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(items)).map(Sites::List)
    }
}

impl JsonSchema for Sites {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Sites".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let list = generator.subschema_for::<Vec<SiteKeys>>();
        json_schema!({ "anyOf": [{ "type": "integer", "minimum": 2, "maximum": MOST }, list] })
    }
}

#[cfg(test)]
mod tests;
