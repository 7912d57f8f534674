//! Smaller networks of the same kind: fewer nodes below the same tiers, with the same oversubscription.

use super::{Oversubscription, RailOptimised, Shape, Tiers};
use crate::topology::network::{Hop, TopologyError};

/// A part of a network: what is given of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::topology) struct Part {
    /// Nodes of all segments and pods.
    pub nodes: Option<usize>,
    /// Segments of a pod.
    pub segments: Option<usize>,
    pub pods: Option<usize>,
}

impl RailOptimised {
    /// A part of this network. Its nodes are spread evenly over its segments, by default the fewest that hold
    /// them. It has as many uplinks as its nodes need, to as many of the spines and cores, with rates that
    /// leave the oversubscription of each tier as it is.
    pub(in crate::topology) fn scaled(&self, part: Part) -> Result<RailOptimised, TopologyError> {
        if part == Part::default() {
            return Ok(self.clone());
        }
        let full = self.shape()?;
        let tiers = self.tiers(&full, Hop::default())?;
        let small = full.part(part)?;
        let uplinks = shrunk(full.spines * full.parallel, [small.nodes], [full.nodes]);
        let spines = full.spines.min(uplinks);
        // The links above a spine shrink with the bandwidth below it.
        let (below, whole) =
            ([small.segments, small.nodes, full.spines], [full.segments, full.nodes, spines]);
        let cores = shrunk(full.cores, below, whole).min(full.cores);
        let keeps_cores = small.pods > 1;
        Ok(RailOptimised {
            nodes: small.nodes,
            segments: Some(small.segments),
            pods: Some(small.pods),
            spines,
            parallel: Some(uplinks.div_ceil(spines)),
            cores: Some(if keeps_cores { cores } else { 0 }),
            rail_spine: Hop { rate: None, ..self.rail_spine },
            spine_core: Hop { rate: None, ..self.spine_core },
            oversubscription: Oversubscription {
                rail_switch: Some(full.ratio_of_rails(&tiers)),
                spine: if keeps_cores { full.ratio_of_spines(&tiers) } else { None },
            },
            ..self.clone()
        })
    }
}

impl Shape {
    /// Oversubscription of rail switches.
    fn ratio_of_rails(&self, tiers: &Tiers) -> f64 {
        let (down, up) = (self.gpus_of_rail() as f64, (self.spines * self.parallel) as f64);
        (down * tiers.gpu_rail.0.0 as f64) / (up * tiers.rail_spine.0.0 as f64)
    }

    /// Oversubscription of spines, with cores above them.
    fn ratio_of_spines(&self, tiers: &Tiers) -> Option<f64> {
        let (down, up) = ((self.rails_of_plane() * self.parallel) as f64, self.cores as f64);
        tiers.spine_core.map(|(rate, _)| (down * tiers.rail_spine.0.0 as f64) / (up * rate.0 as f64))
    }

    /// The numbers of a part.
    fn part(&self, part: Part) -> Result<Shape, TopologyError> {
        let most = |key: &str, given: usize, most: usize, what: &str| {
            if (1..=most).contains(&given) {
                return Ok(given);
            }
            Err(TopologyError::new(key, format!("{given} is not a number from 1 to the {most} {what}")))
        };
        let known = |key, given: Option<usize>, limit, what| {
            given.map(|given| most(key, given, limit, what)).transpose()
        };
        let pods = known("pods", part.pods, self.pods, "pods of the cluster")?;
        let segments = known("segments", part.segments, self.segments, "segments of a pod of the cluster")?;
        let all = self.pods * self.segments * self.nodes;
        let nodes = known("nodes", part.nodes, all, "nodes of the cluster")?
            .unwrap_or_else(|| segments.unwrap_or(self.segments) * pods.unwrap_or(self.pods) * self.nodes);
        let needed = nodes.div_ceil(self.nodes);
        let fewest = || needed.div_ceil(segments.unwrap_or(self.segments)).min(self.pods);
        let pods = pods.unwrap_or_else(fewest);
        let segments = segments.unwrap_or_else(|| needed.div_ceil(pods).min(self.segments));
        let places = segments * pods;
        let why = if nodes > places * self.nodes {
            format!("{nodes} nodes are more than {places} segments of {} have", self.nodes)
        } else if !nodes.is_multiple_of(places) {
            format!(
                "{nodes} nodes cannot be spread evenly over {places} segments; write a multiple of {places}"
            )
        } else {
            return Ok(Shape { nodes: nodes / places, segments, pods, ..*self });
        };
        Err(TopologyError::new("nodes", why))
    }
}

/// `full` times the product of `part` over that of `whole`, rounded up.
fn shrunk<const N: usize>(full: usize, part: [usize; N], whole: [usize; N]) -> usize {
    let product = |factors: [usize; N]| factors.into_iter().map(|factor| factor as u128).product::<u128>();
    (full as u128 * product(part)).div_ceil(product(whole)) as usize
}
