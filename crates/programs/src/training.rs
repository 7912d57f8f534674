//! Training iterations of transformers, as programs of ranks.
//!
//! Ranks are laid out tensor first, then expert, data and pipeline, as Megatron-LM has them. A stage of the
//! pipeline has an equal share of the layers, the first ones one more where they do not divide. For each
//! micro-batch a rank executes, one after another:
//!
//! ```text
//!   forward   recv from the stage before · layers: compute, all-reduce (tensor), all-to-all, compute, all-to-all,
//!             all-reduce · send to the stage behind
//!   backward  recv from the stage behind · layers backwards, likewise · send to the stage before
//! ```
//! in the order of 1F1B (Narayanan et al. 2019, section 3.2): a stage runs ahead by as many forward passes
//! as there are stages behind it, then forward and backward in turn. When the last micro-batch's backward
//! pass of a layer is over, its gradients are there; buckets of them are reduced over the data-parallel
//! ranks, one after another, beside the computation. An iteration ends with the last of them, and with the
//! all-gather of parameters where gradients were reduce-scattered.

use floodway_units::cast::narrow;
use floodway_units::{Bytes, Span};

use crate::collective::{AlgorithmName, CrossNic, Purpose, Request, RequestError};
use crate::{Graph, Kind, Message, Operation, Program, Rank, Rounds};

/// A model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// Transformer layers.
    pub layers: u32,
    /// Width of the activations.
    pub hidden: u64,
    /// Tokens of a sequence.
    pub sequence: u64,
    /// Parameters in all.
    pub parameters: u64,
    /// Parameters that a token passes.
    pub active_parameters: u64,
    /// Experts that a token goes to; 0 without experts.
    pub experts_per_token: u64,
    /// Experts of a layer, where they are known.
    pub experts: Option<u64>,
}

/// The largest activations of a micro-batch: 1 PB, as of all sizes of a scenario.
const MOST_BYTES: u128 = 1_000_000_000_000_000;

/// How it is trained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Training {
    /// The model.
    pub model: Model,
    /// Layers that are executed: all of the model's, or some that stand for them.
    pub layers: u32,
    /// Degrees; their product is the number of ranks.
    pub tensor: u32,
    /// Pipeline stages.
    pub pipeline: u32,
    /// Data-parallel replicas.
    pub data: u32,
    /// Ranks over which experts are spread.
    pub expert: u32,
    /// Sequences of a micro-batch.
    pub micro_batch: u64,
    /// Micro-batches of an iteration, of each replica.
    pub micro_batches: u32,
    /// Bytes of an element of activations, and of gradients.
    pub element: u64,
    /// Bytes of a gradient.
    pub gradient: u64,
    /// Time of a layer's forward and backward pass of a micro-batch, on a rank.
    pub layer: (Span, Span),
    /// Are gradients reduce-scattered, and parameters gathered, rather than gradients all-reduced?
    pub scatters: bool,
    /// Most bytes of a bucket of gradients.
    pub bucket: Bytes,
    /// The algorithm of all-reduces, reduce-scatters and all-gathers.
    pub algorithm: Option<AlgorithmName>,
    /// Queue pairs between two ranks.
    pub channels: u32,
    /// By which NIC rings leave a node.
    pub cross_nic: CrossNic,
    /// Do all-to-alls leave a node by the NIC of the receiver's rail?
    pub pxn: bool,
    /// Iterations.
    pub iterations: u32,
}

impl Model {
    /// Floating-point operations of a layer's forward pass over `tokens` tokens: two for each active
    /// parameter and token, and 4 s h for each token in the attention's products (Narayanan et al. 2021,
    /// appendix). The backward pass has twice as many.
    pub fn forward_flops(&self, tokens: u64) -> f64 {
        let weights = 2.0 * self.active_parameters as f64 / f64::from(self.layers);
        tokens as f64 * (weights + 4.0 * self.sequence as f64 * self.hidden as f64)
    }
}

impl Training {
    /// Number of ranks.
    pub fn ranks(&self) -> u64 {
        [self.tensor, self.pipeline, self.data, self.expert].into_iter().map(u64::from).product()
    }

    fn check(&self) -> Result<(), RequestError> {
        let refuse = |key, why: String| Err(RequestError { key, why });
        let degrees = [
            ("tensor", self.tensor),
            ("pipeline", self.pipeline),
            ("data", self.data),
            ("expert", self.expert),
            ("micro-batches", self.micro_batches),
            ("channels", self.channels),
        ];
        if let Some((key, _)) = degrees.into_iter().find(|(_, degree)| *degree == 0) {
            return refuse(key, "0 is not allowed; the minimum is 1".into());
        }
        if self.ranks() > 1 << 20 {
            return refuse(
                "tensor",
                format!("the degrees make {} ranks; the maximum is 1048576", self.ranks()),
            );
        }
        if !(1..=self.model.layers).contains(&self.layers) {
            let why = format!("{} is not a number from 1 to {}, the model's", self.layers, self.model.layers);
            return refuse("layers", why);
        }
        // Stages that have other numbers of layers than in the model would wait for one another otherwise.
        if self.layers != self.model.layers
            && !(self.model.layers.is_multiple_of(self.pipeline) && self.layers.is_multiple_of(self.pipeline))
        {
            let why = format!(
                "{} of {} layers do not divide evenly into {} stages: a part of the layers has as many in \
                 each stage, and so must the model",
                self.layers, self.model.layers, self.pipeline
            );
            return refuse("layers", why);
        }
        if self.pipeline > self.model.layers {
            let why =
                format!("{} stages are more than the model's {} layers", self.pipeline, self.model.layers);
            return refuse("pipeline", why);
        }
        if self.expert > 1 && self.model.experts_per_token == 0 {
            return refuse("expert", "the model has no experts".into());
        }
        // As in Megatron-LM: each rank has as many of them.
        if let Some(experts) = self.model.experts
            && !experts.is_multiple_of(self.expert.into())
        {
            let degree = u64::from(self.expert);
            let divides = |other: &u64| experts.is_multiple_of(*other);
            let below = (1..degree).rev().find(divides);
            let above = (degree + 1..=experts).find(divides);
            let near: Vec<String> = below.into_iter().chain(above).map(|other| other.to_string()).collect();
            let why = format!(
                "{degree} does not divide the model's {experts} experts, of which each rank has as many; the nearest \
                 that do: {}",
                near.join(" and ")
            );
            return refuse("expert", why);
        }
        if !(1..=Message::ITERATIONS).contains(&self.iterations) {
            let why = format!("{} is not a number from 1 to {}", self.iterations, Message::ITERATIONS);
            return refuse("iterations", why);
        }
        // A layer is computed forward and back for each micro-batch.
        let least = 2 * u64::from(self.micro_batches) * u64::from(self.layers / self.pipeline);
        if least > u64::from(Message::OPERATIONS) {
            let why = format!(
                "a rank has at least {least} operations; the maximum is {}: choose fewer micro-batches",
                Message::OPERATIONS
            );
            return refuse("micro-batches", why);
        }
        let sizes = [
            self.micro_batch,
            self.model.sequence,
            self.model.hidden,
            self.element,
            self.model.experts_per_token.max(1),
        ];
        let activations = sizes.into_iter().map(u128::from).product::<u128>();
        if activations > MOST_BYTES {
            let why = format!(
                "{} makes activations of {activations} B, with a copy for each expert of a token; the \
                 maximum is {MOST_BYTES} B",
                self.micro_batch
            );
            return refuse("micro-batch", why);
        }
        let bytes = [("micro-batch", self.micro_batch), ("bucket", self.bucket.0)];
        match bytes.into_iter().find(|(_, value)| *value == 0) {
            Some((key, _)) => refuse(key, "0 is not allowed".into()),
            None => Ok(()),
        }
    }

    /// Payload of a micro-batch's activations.
    fn activations(&self) -> u64 {
        self.micro_batch * self.model.sequence * self.model.hidden * self.element
    }

    /// Layers of a stage.
    fn layers_of(&self, stage: u32) -> u32 {
        self.layers / self.pipeline + u32::from(stage < self.layers % self.pipeline)
    }

    /// Gradients of a layer on a rank.
    fn gradients(&self) -> u64 {
        let layer = self.model.parameters * self.gradient / u64::from(self.model.layers);
        (layer / u64::from(self.tensor * self.expert)).max(u64::from(self.data))
    }

    /// The program of all ranks.
    ///
    /// # Errors
    /// What of it cannot be, by its key.
    pub fn program(&self) -> Result<Program, RequestError> {
        self.check()?;
        let mut program = Program { iterations: self.iterations, ..Program::default() };
        for stage in 0..self.pipeline {
            let graph = Stage::new(self, stage, &mut program).graph()?;
            program.graphs.push(graph);
        }
        self.add_ranks(&mut program);
        let times = program.check_times();
        times.map_err(|error| RequestError { key: "", why: error.to_string() })?;
        Ok(program)
    }

    /// Ranks, their peers, and the groups that they are in: tensor, expert, data.
    fn add_ranks(&self, program: &mut Program) {
        let [tensor, expert, data] = [self.tensor, self.expert, self.data];
        let of_stage = tensor * expert * data;
        let count = of_stage * self.pipeline;
        let units = [(tensor, 1), (expert, tensor), (data, tensor * expert)];
        // By kind of group and its first rank: its number.
        let mut numbers = std::collections::BTreeMap::new();
        for rank in 0..count {
            let stage = rank / of_stage;
            let mut groups = Vec::new();
            for (kind, (size, unit)) in units.into_iter().enumerate() {
                let place = rank / unit % size;
                let first = rank - place * unit;
                let number = *numbers.entry((kind, first)).or_insert_with(|| {
                    program.groups.push((0..size).map(|at| first + at * unit).collect());
                    narrow::<u32>(program.groups.len()) - 1
                });
                groups.push((number, place));
            }
            let before = if stage > 0 { rank - of_stage } else { rank };
            let behind = if stage + 1 < self.pipeline { rank + of_stage } else { rank };
            let (peers, groups) = (Box::new([before, behind]), groups.into());
            program.ranks.push(Rank { graph: stage, peers, groups });
        }
    }
}

/// Slots of a rank's peers and groups.
const BEFORE: u32 = 0;
const BEHIND: u32 = 1;
const TENSOR: u32 = 0;
const EXPERT: u32 = 1;
const DATA: u32 = 2;

/// The graph of a stage in the making.
struct Stage<'a> {
    of: &'a Training,
    number: u32,
    program: &'a mut Program,
    operations: Vec<Operation>,
    /// The last operation of the chain of computations.
    last: Option<u32>,
    /// The last one that reduces gradients.
    last_bucket: Option<u32>,
    /// By slot of a group: collectives so far.
    sequences: [u32; 3],
    /// Gradients that are in no bucket yet.
    gathered: u64,
    /// Buckets so far, for the parameters that are gathered behind them.
    buckets: Vec<u64>,
}

impl<'a> Stage<'a> {
    fn new(of: &'a Training, number: u32, program: &'a mut Program) -> Self {
        Stage {
            of,
            number,
            program,
            operations: Vec::new(),
            last: None,
            last_bucket: None,
            sequences: [0; 3],
            gathered: 0,
            buckets: Vec::new(),
        }
    }

    fn graph(mut self) -> Result<Graph, RequestError> {
        let count = self.of.micro_batches;
        let ahead = (self.of.pipeline - self.number - 1).min(count);
        (0..ahead).try_for_each(|batch| self.forward(batch))?;
        let first = narrow::<u32>(self.operations.len());
        let mut behind = first;
        for batch in 0..count - ahead {
            self.forward(ahead + batch)?;
            self.backward(batch)?;
            if batch == 0 {
                behind = narrow(self.operations.len());
            }
        }
        (count - ahead..count).try_for_each(|batch| self.backward(batch))?;
        self.close_bucket()?;
        if self.of.scatters && self.of.data > 1 {
            for bytes in std::mem::take(&mut self.buckets) {
                let before = self.last_bucket.into_iter().collect();
                let gather = self.collective("parameters", (Purpose::AllGather, bytes), DATA, before)?;
                self.last_bucket = Some(gather);
            }
        }
        if self.operations.len() as u64 > u64::from(Message::OPERATIONS) {
            let why = format!("a rank has {} operations; choose fewer", self.operations.len());
            return Err(RequestError { key: "micro-batches", why });
        }
        // Micro-batches have two tags each.
        let rounds = Rounds { first, stride: behind - first, count: count - ahead, tags: 2 };
        Ok(Graph::new(self.operations).with_rounds(rounds))
    }

    fn forward(&mut self, batch: u32) -> Result<(), RequestError> {
        if self.number > 0 {
            self.receive(BEFORE, 2 * u64::from(batch));
        }
        for _ in 0..self.of.layers_of(self.number) {
            self.layer("forward", self.of.layer.0)?;
        }
        if self.number + 1 < self.of.pipeline {
            self.send(BEHIND, 2 * u64::from(batch));
        }
        Ok(())
    }

    fn backward(&mut self, batch: u32) -> Result<(), RequestError> {
        if self.number + 1 < self.of.pipeline {
            self.receive(BEHIND, 2 * u64::from(batch) + 1);
        }
        for _ in 0..self.of.layers_of(self.number) {
            self.layer("backward", self.of.layer.1)?;
            if batch + 1 == self.of.micro_batches {
                self.gathered += self.of.gradients();
                if self.gathered + self.of.gradients() > self.of.bucket.0 {
                    self.close_bucket()?;
                }
            }
        }
        if self.number > 0 {
            self.send(BEFORE, 2 * u64::from(batch) + 1);
        }
        Ok(())
    }

    /// A layer: its attention and its feed-forward network, half of its time each.
    fn layer(&mut self, pass: &str, time: Span) -> Result<(), RequestError> {
        let activations = self.of.activations();
        let routed = activations * self.of.model.experts_per_token.max(1);
        self.compute(pass, Span(time.0 / 2));
        self.chained("tensor", (Purpose::AllReduce, activations), TENSOR)?;
        self.chained("dispatch", (Purpose::AllToAll, routed), EXPERT)?;
        self.compute(pass, Span(time.0 - time.0 / 2));
        self.chained("combine", (Purpose::AllToAll, routed), EXPERT)?;
        self.chained("tensor", (Purpose::AllReduce, activations), TENSOR)
    }

    /// Reduces the gradients that are there, beside what is computed.
    fn close_bucket(&mut self) -> Result<(), RequestError> {
        let bytes = std::mem::take(&mut self.gathered);
        if self.of.data == 1 || bytes == 0 {
            return Ok(());
        }
        let purpose = if self.of.scatters { Purpose::ReduceScatter } else { Purpose::AllReduce };
        let before = self.last.into_iter().chain(self.last_bucket).collect();
        let bucket = self.collective("gradients", (purpose, bytes), DATA, before)?;
        self.last_bucket = Some(bucket);
        self.buckets.push(bytes);
        Ok(())
    }

    /// Adds an operation; its number.
    fn add(&mut self, name: &str, kind: Kind, requires: Vec<u32>) -> u32 {
        let name = self.name(name);
        self.operations.push(Operation { kind, requires, requires_start: Vec::new(), unit: None, name });
        narrow::<u32>(self.operations.len()) - 1
    }

    /// Adds an operation to the chain of computations.
    fn chain(&mut self, name: &str, kind: Kind) {
        let before = self.last.into_iter().collect();
        self.last = Some(self.add(name, kind, before));
    }

    fn compute(&mut self, pass: &str, time: Span) {
        self.chain(pass, Kind::Compute { time });
    }

    /// A message from a stage, which the computation waits for. It is posted when the computation is there,
    /// as Megatron-LM does.
    fn receive(&mut self, peer: u32, tag: u64) {
        let before = self.last.into_iter().collect();
        let receive = self.add("activations", Kind::Recv { peer: Some(peer), tag: Some(tag) }, before);
        // What is computed next requires both.
        let wait = Kind::Compute { time: Span::ZERO };
        let requires = self.last.into_iter().chain([receive]).collect();
        self.last = Some(self.add("wait", wait, requires));
    }

    fn send(&mut self, peer: u32, tag: u64) {
        let bytes = Bytes(self.of.activations());
        let requires = self.last.into_iter().collect();
        self.add("activations", Kind::Send { peer, bytes, tag, channel: 0 }, requires);
    }

    /// A collective that the computation waits for, if its group has several ranks.
    fn chained(&mut self, name: &str, what: (Purpose, u64), group: u32) -> Result<(), RequestError> {
        if [self.of.tensor, self.of.expert, self.of.data][group as usize] > 1 {
            let before = self.last.into_iter().collect();
            self.last = Some(self.collective(name, what, group, before)?);
        }
        Ok(())
    }

    fn collective(
        &mut self,
        name: &str,
        (purpose, bytes): (Purpose, u64),
        group: u32,
        requires: Vec<u32>,
    ) -> Result<u32, RequestError> {
        let ranks = [self.of.tensor, self.of.expert, self.of.data][group as usize];
        let request = Request {
            algorithm: self.of.algorithm.filter(|name| AlgorithmName::of(purpose).contains(name)),
            channels: self.of.channels,
            cross_nic: self.of.cross_nic,
            pxn: self.of.pxn,
            ..Request::new(purpose, Bytes(bytes))
        };
        let plan = self.program.plan_for(&request, ranks)?;
        let sequence = self.sequences[group as usize];
        self.sequences[group as usize] += 1;
        Ok(self.add(name, Kind::Collective { plan, group, sequence }, requires))
    }

    fn name(&mut self, name: &str) -> u32 {
        let names = &mut self.program.names;
        let known = names.iter().position(|known| known == name);
        narrow(known.unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        }))
    }
}
