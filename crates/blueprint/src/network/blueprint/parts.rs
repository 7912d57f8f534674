//! Classes, switches, ports, listed flows and jobs of a blueprint.

use floodway_mechanisms::slots::OutputPlan;
use floodway_units::cast::narrow;
use floodway_units::{Bytes, Class, NodeId, PortId};

use super::{Arrivals, Blueprint, FlowSpec, ProgramSpec, Role, SwitchSpec};

impl Blueprint {
    /// The flows of a workload that is a list; of another one, none.
    #[inline]
    pub fn flows_of(&self, workload: u32) -> &[FlowSpec] {
        match &self.workloads[workload as usize].arrivals {
            Arrivals::List(flows) => flows,
            _ => &[],
        }
    }

    /// Classes in use: the control class first, then those of data.
    pub fn classes(&self) -> Vec<Class> {
        let mut data: Vec<Class> = self.settings.iter().map(|settings| settings.class).collect();
        data.extend(self.output_plans().filter_map(|output| output.trim_class));
        data.sort_unstable();
        data.dedup();
        std::iter::once(Class::CONTROL).chain(data).collect()
    }

    /// What is chosen for each switch.
    pub fn switches(&self) -> impl Iterator<Item = &SwitchSpec> {
        self.nodes.iter().filter_map(|node| match &node.role {
            Role::Switch(spec) => Some(spec),
            Role::Host { .. } => None,
        })
    }

    /// The bound of the queues of data at a port, where its switch's output queues have bounds of their own.
    pub fn output_queue(&self, port: PortId) -> Option<Bytes> {
        let end = &self.links[port.index() / 2].ends[port.index() % 2];
        let Role::Switch(switch) = &self.nodes[end.node.index()].role else { return None };
        let plan = switch.buffer.plan().output?;
        Some(end.output_queue.unwrap_or(plan.queue))
    }

    /// The bounds of output queues, of each switch that has such.
    pub(crate) fn output_plans(&self) -> impl Iterator<Item = OutputPlan> {
        self.switches().filter_map(|switch| switch.buffer.plan().output)
    }

    /// All ports, in the order of links.
    pub fn ports(&self) -> impl Iterator<Item = PortId> + use<> {
        (0..2 * narrow::<u32>(self.links.len())).map(PortId)
    }

    /// The ports of a node.
    pub fn ports_of(&self, node: NodeId) -> impl Iterator<Item = PortId> + '_ {
        self.links.iter().enumerate().flat_map(move |(i, link)| {
            (0..2).filter(move |&end| link.ends[end].node == node).map(move |end| PortId(narrow(2 * i + end)))
        })
    }
}

/// The job of a workload.
///
/// # Panics
/// It is of another kind.
#[inline]
pub fn job(blueprint: &Blueprint, workload: u32) -> &ProgramSpec {
    match &blueprint.workloads[workload as usize].arrivals {
        Arrivals::Program(spec) => spec,
        _ => unreachable!("the rank was made for a job"),
    }
}
