//! Construction of a blueprint from a scenario's values.

mod alike;
mod back_to_back;
mod destinations;
mod engine;
mod fit;
mod hosts;
mod jobs;
mod late_faults;
mod loads;
mod map;
mod needs;
mod node_tags;
mod pace;
mod patterns;
mod perftest;
mod poisson;
mod scale_up;
mod short_times;
mod skeleton;
pub(crate) mod traces;
mod traffic;
mod training;
mod waiting;
mod window;

use std::collections::BTreeMap;
use std::sync::Arc;

use floodway_fabric::Blueprint;
use floodway_fabric::blueprint::{
    AllowanceSpec, CaptureSpec, End, HistogramSpec, RateTimers, RecordSpec, Repacing, Semantics, ShareSpec,
};
use floodway_fabric::routing::Routes;
use floodway_units::cast::to_usize;
use floodway_units::{Bytes, PortId, Span, Time};
use floodway_wire::{Format, Telemetry};

use crate::cost::too_much;
use crate::error::{Place, ScenarioError, ScenarioErrors};
use crate::grammar::document::{
    AllowanceKeys, CaptureKeys, Document, HistogramKeys, OnDeadlock, SemanticsKeys, ShareKeys, Stop,
};
use crate::grammar::read::key_path;
use crate::grammar::selector::Selector;
use crate::grammar::sets::ROOTS;
use crate::grammar::tree::Node;
use crate::profile::Loaded;
use crate::resolve::{Choice, Layer, Origin, Plan};
use crate::shown::formula;
use crate::topology::Network;
use crate::workload::Workload;
use crate::workload::files::Files;
use crate::workload::recipe::{Recipe, draw};

/// The tables of pauses, signals, allowances and shares have no more rows: 240 to 560 MB each while the run
/// goes.
const MOST_ROWS: usize = 10_000_000;
/// Buckets of a series, where the scenario does not say.
const BUCKETS: usize = 1000;
/// The same in a report of more nodes than [`LARGE_REPORT`]: its page has no more frames.
const BUCKETS_OF_LARGE: usize = 500;
/// Nodes of a network from which on a report keeps fewer buckets.
const LARGE_REPORT: usize = 200;
/// Below this many bytes, building does not check the memory that is left.
pub(super) const WORTH_A_LOOK: u64 = 64 << 20;
/// Narrower bins of queue length are refused: they separate no two packets, and cost memory.
const SMALLEST_BIN: Bytes = Bytes(64);

/// The result of building a scenario's text.
#[derive(Clone, Debug)]
pub struct Built {
    /// Nodes and links.
    pub network: Network,
    /// The settings of every object.
    pub plan: Plan,
    /// The profile, where there is one.
    pub profile: Option<Loaded>,
    /// Points in which other simulators differ, all of them.
    pub semantics: SemanticsKeys,
    /// The blueprint of the fabric.
    pub blueprint: Blueprint,
    /// The routes over all its links, which no seed changes.
    pub routes: Arc<Routes>,
    /// The recipes by which a seed draws its random parts.
    pub recipes: Vec<Recipe>,
    /// Warnings: unusual settings that may be intended.
    pub warnings: Vec<String>,
    /// One of them says that ranks share nodes without a scale-up domain.
    pub warned_of_no_scale_up: bool,
}

/// Builds a scenario; `tree` is what `document` was read from, `profile` the one that it names.
///
/// # Errors
/// All that is found wrong.
pub fn build(
    tree: &Node,
    document: &Document,
    profile: Option<Loaded>,
    files: &Files<'_>,
) -> Result<Built, ScenarioErrors> {
    let mut network = document.topology.build(files).map_err(|error| {
        let mut path = vec!["topology"];
        path.extend(error.path.iter().map(String::as_str));
        let place = error.place.unwrap_or_else(|| tree.place_of(path.iter().copied()));
        ScenarioError::new(place, key_path(&path), error.message)
    })?;
    let mut builder = Builder {
        tree,
        document,
        files,
        recipes: Vec::new(),
        errors: Vec::new(),
        warnings: Vec::new(),
        warned_of_no_scale_up: false,
    };
    builder.check_names();
    builder.tag_nodes(&mut network);
    let (network, plan) = builder.relayed(network, profile.as_ref())?;
    builder.give_up_if_faulty()?;
    let of_profile = profile.as_ref().map_or_else(Default::default, |profile| profile.fragment.semantics);
    let semantics = document.semantics.or(of_profile).or(SemanticsKeys::DEFAULT);
    let (mut blueprint, routes) = builder.blueprint(&network, &plan, profile.as_ref(), semantics)?;
    builder.check_engine();
    builder.give_up_if_faulty()?;
    let Builder { recipes, warnings, warned_of_no_scale_up, .. } = builder;
    draw(&recipes, document.seed, &mut blueprint);
    Ok(Built {
        network,
        plan,
        profile,
        semantics,
        blueprint,
        routes,
        recipes,
        warnings,
        warned_of_no_scale_up,
    })
}

/// An error at a path of the scenario.
fn error_at(tree: &Node, path: &[&str], message: impl Into<String>) -> ScenarioError {
    ScenarioError::new(tree.place_of(path.iter().copied()), key_path(path), message)
}

/// The path of a key of settings, if the scenario writes it in one place alone.
fn only_path(tree: &Node, key: &str) -> Option<Vec<String>> {
    let first = key.split('.').next()?;
    let has = |node: &Node| node.get(first).is_some();
    let layers = tree.get("override").map(Node::items).unwrap_or_default().iter().enumerate();
    let mut homes: Vec<Vec<String>> = layers
        .filter(|(_, layer)| has(layer))
        .map(|(at, layer)| vec!["override".to_owned(), layer.label(at)])
        .collect();
    if tree.get("defaults").is_some_and(has) {
        homes.push(vec!["defaults".to_owned()]);
    }
    let [home] = &homes[..] else { return None };
    Some(home.iter().cloned().chain(key.split('.').map(str::to_owned)).collect())
}

/// What the steps of building share.
struct Builder<'a> {
    tree: &'a Node,
    document: &'a Document,
    files: &'a Files<'a>,
    /// Until the end of building, their choices are made in turn, not drawn.
    recipes: Vec<Recipe>,
    errors: Vec<ScenarioError>,
    warnings: Vec<String>,
    /// A warning says that ranks share nodes without a scale-up domain.
    warned_of_no_scale_up: bool,
}

impl Builder<'_> {
    fn fault(&mut self, path: &[&str], message: impl Into<String>) {
        self.errors.push(error_at(self.tree, path, message));
    }

    /// Notes an error, and returns none, if a selector or a member of it selects none of these objects.
    fn check_matches<'b>(
        &mut self,
        path: &[&str],
        (selector, none): (&Selector, &str),
        labels: impl Iterator<Item = (&'b str, &'b [String])> + Clone,
    ) -> Option<()> {
        let Some(astray) = selector.astray(labels.clone()) else { return Some(()) };
        let error = error_at(self.tree, path, format!("{astray} matches {none}"));
        self.errors.push(error.with_suggestion(astray.suggestion(labels)));
        None
    }

    fn warn_at(&mut self, path: &[&str], message: impl Into<String>) {
        self.warnings.push(error_at(self.tree, path, message).to_string());
    }

    /// The line of a choice; of a built-in one, the scenario's first.
    fn place_of(&self, origin: &Origin) -> Place {
        origin.place.clone().unwrap_or_else(|| self.tree.place.clone())
    }

    fn give_up_if_faulty(&mut self) -> Result<(), ScenarioErrors> {
        if self.errors.is_empty() { Ok(()) } else { Err(ScenarioErrors(std::mem::take(&mut self.errors))) }
    }

    /// Names of overrides and workloads: there, unique, not taken by keys.
    fn check_names(&mut self) {
        let overrides: Vec<&str> = self.document.r#override.iter().map(|of| of.name.as_str()).collect();
        let workloads: Vec<&str> = self.document.workload.iter().map(|of| of.name.as_str()).collect();
        if workloads.is_empty() {
            self.fault(&["workload"], "no workload is given: a run needs traffic");
        }
        for (list, names) in [("override", overrides), ("workload", workloads)] {
            let mut seen = BTreeMap::new();
            let items = self.tree.get(list).map_or(&[][..], Node::items);
            for (i, (name, item)) in names.iter().zip(items).enumerate() {
                let place = item.place_of(["name"]);
                if item.get("name").is_none() {
                    let key = format!("{list}.{}", i + 1);
                    self.errors.push(ScenarioError::new(place, key, "the key \"name\" is missing"));
                } else if let Some(why) = Self::bad_name(list, name, seen.insert(*name, place.clone())) {
                    let key = format!("{list}.{}", i + 1);
                    self.errors.push(ScenarioError::new(place, key, why));
                }
            }
        }
    }

    fn bad_name(list: &str, name: &str, earlier: Option<Place>) -> Option<String> {
        if name.is_empty() {
            return Some("the name is empty; a name has letters, digits, -, _ and +".into());
        }
        if let Some(place) = earlier {
            return Some(format!("the name {name:?} is already in use ({place})"));
        }
        if list == "override" && ROOTS.contains(&name) {
            return Some(format!("{name:?} is reserved: it is a key of the top level"));
        }
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '+');
        if !name.chars().all(plain) || name.parse::<u64>().is_ok() {
            return Some(format!("{name:?} is not a name of letters, digits, -, _ and +"));
        }
        formula(name)
    }

    /// The plan, and the network with the relays that its flow controls ask for: their cables are links that
    /// overrides can select, so that all is resolved again where there are any.
    fn relayed(
        &mut self,
        network: Network,
        profile: Option<&Loaded>,
    ) -> Result<(Network, Plan), ScenarioError> {
        let faults = self.errors.len();
        let plan = self.plan(&network, profile);
        let relays = plan.relays();
        if relays.iter().all(Option::is_none) {
            return Ok((network, plan));
        }
        self.errors.truncate(faults);
        let network = network
            .with_relays(&relays)
            .map_err(|error| error_at(self.tree, &["topology"], error.message))?;
        let mut plan = self.plan(&network, profile);
        self.errors.extend(plan.finish_cables(&network));
        Ok((network, plan))
    }

    /// Built-in defaults, the profile, defaults, overrides; then what workloads say of themselves.
    fn plan(&mut self, network: &Network, profile: Option<&Loaded>) -> Plan {
        let (document, tree) = (self.document, self.tree);
        let mut plan = Plan::built_in(network, &document.workload, &tree.place_of(["topology"]));
        let mut layers = Vec::new();
        if let Some(Loaded { name, tree, fragment, .. }) = profile {
            layers.extend(Layer::defaults(tree, &fragment.defaults, Some(name)));
            layers.extend(Layer::overrides(tree, &fragment.r#override, Some(name)));
        }
        layers.extend(Layer::defaults(tree, &document.defaults, None));
        layers.extend(Layer::overrides(tree, &document.r#override, None));
        for layer in layers {
            if let Err(error) = layer.apply(&mut plan, network, &document.workload) {
                self.errors.push(error);
            }
        }
        plan.notify_as_asked();
        for (workload, flows) in document.workload.iter().zip(&mut plan.flows) {
            if let Some(class) = workload.class {
                let path = ["workload", workload.name.as_str(), "class"];
                let origin = Origin {
                    who: format!("workload {}", workload.name).into(),
                    key: key_path(&path).into(),
                    place: Some(tree.place_of(path)),
                };
                flows.class = Choice { value: class, origin };
            }
        }
        plan
    }

    /// A packet whose pacing time a timer moves goes only if the NIC looks then.
    fn check_rate_timers(&mut self, semantics: &Semantics) {
        if semantics.rate_timers == RateTimers::Silent && semantics.repacing == Repacing::Moved {
            let message = "\"silent\" leaves a packet waiting that semantics.repacing = \"moved\" has set free; allowed \
                           with it: \"look\"; allowed with repacing = \"kept\" or \"hpcc-ns3\": \"silent\", \"look\"";
            self.fault(&["semantics", "rate-timers"], message);
        }
    }

    fn blueprint(
        &mut self,
        network: &Network,
        plan: &Plan,
        profile: Option<&Loaded>,
        keys: SemanticsKeys,
    ) -> Result<(Blueprint, Arc<Routes>), ScenarioErrors> {
        let document = self.document;
        let fragment = profile.map(|profile| &profile.fragment);
        let mut blueprint = Blueprint {
            seed: document.seed,
            wire: document.wire.or(fragment.map(|of| of.wire)).unwrap_or_default(),
            mtu: document.mtu.or(fragment.map(|of| of.mtu)).unwrap_or(Bytes(1000)),
            semantics: semantics(keys),
            nodes: skeleton::nodes(
                network,
                plan,
                keys.hash_seeds.unwrap_or_default(),
                keys.visit.unwrap_or_default(),
            ),
            links: Vec::new(),
            scale_up: Vec::new(),
            settings: Vec::new(),
            workloads: Vec::new(),
            end: End {
                limit: Time::NEVER,
                at_limit: document.stop == Stop::Limit,
                acknowledged: document.stop == Stop::Acknowledged,
                stop_on_deadlock: document.on_deadlock == OnDeadlock::Stop,
            },
            records: RecordSpec::default(),
        };
        self.check_mtu(blueprint.wire, blueprint.mtu);
        self.check_rate_timers(&blueprint.semantics);
        self.give_up_if_faulty()?;
        let classes = self.settings(plan, &mut blueprint);
        self.check_memory(network, classes.len());
        self.give_up_if_faulty()?;
        blueprint.links = skeleton::links(network, plan, &classes);
        let scale_up = self.scale_up_keys(network);
        blueprint.scale_up = self.scale_up(network, &scale_up);
        self.records(network, plan, &mut blueprint);
        self.give_up_if_faulty()?;
        let routes = Routes::new(&blueprint);
        self.traffic(network, plan, &mut blueprint, (&routes, &scale_up));
        self.give_up_if_faulty()?;
        // A list may have brought classes of its own.
        let all_classes = blueprint.classes().split_off(1);
        if all_classes != classes {
            blueprint.links = skeleton::links(network, plan, &all_classes);
        }
        self.loads();
        self.windows(plan, &mut blueprint, &routes);
        self.warn_of_late_faults(blueprint.end.limit);
        self.refuse_short_times(&blueprint);
        self.fit(network, plan, profile, &blueprint);
        self.give_up_if_faulty()?;
        blueprint.validate_with(&routes).map_err(|error| match error.key {
            // The key is not said twice.
            Some(key) if error.place == key => error_at(self.tree, &[key], error.message),
            Some(key @ ("mtu" | "topology" | "workload")) => error_at(self.tree, &[key], error.to_string()),
            key => {
                let path = key.and_then(|key| only_path(self.tree, key)).unwrap_or_default();
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                error_at(self.tree, &path, error.to_string())
            }
        })?;
        Ok((blueprint, Arc::new(routes)))
    }

    /// Refuses a network that cannot be built on this machine.
    fn check_memory(&mut self, network: &Network, data_classes: usize) {
        let bytes = network.parts(data_classes + 1).bytes();
        let why = if bytes > WORTH_A_LOOK { too_much(bytes) } else { None };
        if let Some(why) = why {
            self.fault(&["topology"], why);
        }
    }

    fn check_mtu(&mut self, wire: Format, mtu: Bytes) {
        if mtu == Bytes::ZERO || mtu > Bytes::kb(15) || wire.largest_frame(mtu, Telemetry::Int).0 > 16_000 {
            self.fault(&["mtu"], format!("{mtu} is not a payload from 1B to 15KB"));
        }
    }

    fn records(&mut self, network: &Network, plan: &Plan, blueprint: &mut Blueprint) {
        let keys = &self.document.records;
        let afar = Span::us(100);
        let is_watched = |link: &crate::topology::Link| match &keys.watch {
            Some(selector) => selector.matches(&link.name, &link.tags),
            None => link.delay >= afar || link.tags.iter().any(|tag| tag == "long-haul"),
        };
        if let Some(selector) = &keys.watch {
            self.check_matches(&["records", "watch"], (selector, "nothing"), network.labels_of_links());
        }
        let watched = (0u32..).zip(&network.links).filter(|(_, link)| keys.report || is_watched(link));
        let watch: Vec<_> = watched.flat_map(|(i, _)| [PortId(2 * i), PortId(2 * i + 1)]).collect();
        let is_large = keys.report && blueprint.nodes.len() > LARGE_REPORT;
        let buckets = keys.buckets.unwrap_or(if is_large { BUCKETS_OF_LARGE } else { BUCKETS });
        if !(1..=1 << 20).contains(&buckets) {
            let message = format!("{buckets} is not a number from 1 to {}", 1 << 20);
            self.fault(&["records", "buckets"], message);
        }
        let queue_histogram = keys.queue_histogram.map(|keys| self.queue_histogram(&keys));
        let pauses = (keys.pauses || keys.report).then_some(MOST_ROWS);
        let capture = keys.capture.as_ref().map(|keys| self.capture(network, keys));
        // Other congestion points only mark packets, and there may be as many marks as packets.
        let signals = (keys.signals || (keys.report && has_states(plan))).then_some(MOST_ROWS);
        let allowances = self.allowances(&keys.allowances);
        let shares = keys.shares.as_ref().map(|keys| self.shares(network, keys));
        let busiest = keys.busiest;
        blueprint.records = RecordSpec {
            watch,
            busiest,
            buckets,
            pauses,
            signals,
            allowances,
            shares,
            queue_histogram,
            capture,
            ..RecordSpec::default()
        };
    }

    /// The workloads whose flows' allowances are recorded.
    fn allowances(&mut self, keys: &AllowanceKeys) -> Option<AllowanceSpec> {
        let workloads = &self.document.workload;
        let chosen: Vec<usize> = match keys {
            AllowanceKeys::Whether(false) => return None,
            AllowanceKeys::Whether(true) => (0..workloads.len()).collect(),
            AllowanceKeys::Of(selector) => {
                let matches = |&at: &usize| selector.matches(&workloads[at].name, &workloads[at].tags);
                (0..workloads.len()).filter(matches).collect()
            }
        };
        if let AllowanceKeys::Of(selector) = keys {
            let labels = workloads.iter().map(|of| (of.name.as_str(), of.tags.as_slice()));
            self.check_matches(&["records", "allowances"], (selector, "nothing"), labels);
        }
        Some(AllowanceSpec { workloads: chosen, rows: MOST_ROWS })
    }

    fn queue_histogram(&mut self, keys: &HistogramKeys) -> HistogramSpec {
        let path = |key| ["records", "queue-histogram", key];
        if keys.every == Span::ZERO {
            self.fault(&path("every"), "0us is not allowed; write a time above 0, like \"100ns\"");
        }
        if keys.bin < SMALLEST_BIN {
            self.fault(&path("bin"), format!("{} is too small: the minimum is {SMALLEST_BIN}", keys.bin));
        }
        let to = keys.to.unwrap_or(Time::NEVER);
        if to < keys.from {
            self.fault(&path("to"), format!("{to} is before the first instant, {}", keys.from));
        }
        HistogramSpec { from: keys.from, to, every: keys.every, bin: keys.bin }
    }

    /// Both ports of each link that a key of `records` selects.
    fn ports_of(&mut self, network: &Network, key: &str, links: &Selector) -> Vec<PortId> {
        let selected = |link: &crate::topology::Link| links.matches(&link.name, &link.tags);
        let chosen = (0u32..).zip(&network.links).filter(|(_, link)| selected(link));
        let ports: Vec<_> = chosen.flat_map(|(i, _)| [PortId(2 * i), PortId(2 * i + 1)]).collect();
        self.check_matches(&["records", key, "links"], (links, "nothing"), network.labels_of_links());
        ports
    }

    fn shares(&mut self, network: &Network, keys: &ShareKeys) -> ShareSpec {
        let ports = self.ports_of(network, "shares", &keys.links);
        if keys.bucket == Span::ZERO {
            self.fault(
                &["records", "shares", "bucket"],
                "0us is not allowed; write a time above 0, like \"1us\"",
            );
        }
        ShareSpec { ports, bucket: keys.bucket, rows: MOST_ROWS }
    }

    fn capture(&mut self, network: &Network, keys: &CaptureKeys) -> CaptureSpec {
        let ports = self.ports_of(network, "capture", &keys.links);
        if !(1..=1_000_000).contains(&keys.packets) {
            let message = format!("{} is not a number from 1 to 1000000", keys.packets);
            self.fault(&["records", "capture", "packets"], message);
        }
        if !(64..=16_000).contains(&keys.bytes.0) {
            self.fault(&["records", "capture", "bytes"], format!("{} is not from 64B to 16KB", keys.bytes));
        }
        let mut dscp = CaptureSpec::CLASS_SELECTORS;
        for (&class, &value) in &keys.dscp.0 {
            dscp[usize::from(class)] = value;
        }
        CaptureSpec { ports, packets: keys.packets, bytes: to_usize(keys.bytes.0), dscp }
    }
}

/// Does a congestion point assign states to queues?
fn has_states(plan: &Plan) -> bool {
    let mut ends = plan.links.iter().flat_map(|link| &link.ends);
    ends.any(|end| end.congestion_points.value.iter().any(|point| !point.states().is_empty()))
}

fn semantics(keys: SemanticsKeys) -> Semantics {
    fn chosen<K: Into<V>, V: Default>(key: Option<K>) -> V {
        key.map_or_else(V::default, Into::into)
    }
    Semantics {
        release: chosen(keys.release),
        ties: chosen(keys.ties),
        starts: chosen(keys.starts),
        rounding: chosen(keys.rounding),
        repacing: chosen(keys.repacing),
        rate_timers: chosen(keys.rate_timers),
        acks: chosen(keys.acks),
        link_control: chosen(keys.link_control),
        turns: chosen(keys.turns),
        window: chosen(keys.window),
        base_rtt: chosen(keys.base_rtt),
        pacing: chosen(keys.pacing),
        draws: chosen(keys.draws),
    }
}

/// The workload of an index in a document, by the path of its keys.
fn workload_path<'a>(workload: &'a Workload, key: &'a str) -> Vec<&'a str> {
    let mut path = vec!["workload", workload.name.as_str()];
    path.extend(key.split('.').filter(|part| !part.is_empty()));
    path
}
