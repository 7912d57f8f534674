//! RCM, regional congestion mitigation: a port finds the flows that congest it, limits them by a window, lets
//! other flows pass, and notifies its upstream neighbour to do the same ("Regional Congestion Mitigation in
//! Lossless Datacenter Networks").
//!
//! ```text
//!  upstream port <──── CN: degree, flows ──── inputs ─► [ VOQ ]──crossbar──►[ others   ]─┬─ window ─► downstream
//!  holds them back, too                       CRD here                      [ harmful ]──┘   RCC
//!                                                                            CRD and CFR here
//! ```
//!
//! # What it does
//!
//! *Region detection* (CRD): the packets for this port are sampled, at each input and at the output queue,
//! more often at a higher degree. A sample gives the degree Fb = (length - Qeq) + wq · (growth since the last
//! sample); above 0 is congestion, which sets the local flag. A congested input sends a notification (CN) to
//! its upstream neighbour, with the degree and the harmful flows. A port that receives one has the remote
//! flag set. A port with the local flag only is the root of the congestion, one with the remote flag only is
//! the region's edge, one with both is inside the region.
//!
//! *Flow recognition* (CFR): departing packets are sampled into a memory of M entries, which begins anew when
//! the root detects congestion. A flow that holds h of them when the memory is full is a harmful flow, until
//! the control ends; if congestion continues when Wc is at its minimum, flows that hold h of them then are
//! harmful flows, too, and Wc grows by theirs. The edge and inner ports use the flows that the CN names, 16
//! at most.
//!
//! *Regional control* (RCC): the port counts bytes until it has seen every harmful flow: W bytes in all, 16
//! KB at least, and 64 KB or what 50 us bring at most, of which Wc are from harmful flows. From then on
//! harmful flows wait in a queue of their own behind the other flows', and send at most Wc of each W, a
//! packet at least. While they have some of Wc left, the others have the rest, Wnc. Each sample of congestion
//! at the output queue and each CN cuts Wc by F · Gd, a half at most. While the other flows' queue is at most
//! Qeq and no neighbour reports congestion, Wc grows by W/16 a period; when it has its initial value again,
//! the control ends. The limited harmful flows fill their inputs, which then send CNs to the next port
//! upstream. With `cuts = "first-detection"` only the first sample and the first CN of a congestion cut Wc.
//!
//! *End-to-end control* is another mechanism beside it, such as `dcqcn` with the marks of `red`. With
//! `marks = "harmful"` a port takes its marks off the packets of other flows, so that only harmful flows'
//! senders slow down.
//!
//! Other flows take other paths around the region with `routing = "sar"`.
//!
//! # Why
//!
//! It acts one hop away from the congestion, in microseconds, while end-to-end control needs a round trip.
//! Choose it for bursts that end before their senders can be notified; keep `dcqcn` for longer congestion, as
//! the paper does. It needs queues of its own at each port, and has no effect on a burst of many small flows,
//! none of which has a large share.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | Qeq, wq | `equilibrium`, `weight` |
//! | Fb, F'b, Fbr | the port's degree, the degree sent, the degree received; in 6 bits, where 63 represents Qeq · (2 wq + 1) |
//! | w | `remote-weight`: F'b = (1 - w) Fb + w Fbr |
//! | M, h | `cam-depth`, `cam-hits` |
//! | W, Wc, Wnc | bytes of a period, and of them the harmful flows' and the others', as the link carries them |
//! | Gd | 1/126: at the largest degree of 63, half of Wc is left |
//!
//! # Known differences
//!
//! - The paper gives no values for Qeq, wq, w and M, and defines neither its sampling nor a hit. Samples are
//!   those of IEEE 802.1Qau, on which it builds.
//! - A flow is harmful from h entries on. By the paper's wording one entry is enough, and then all flows of a
//!   port are harmful unless there are many.
//! - The memory is cleared and refilled when congestion is detected, so that it shows the flows that congest
//!   the port now and not earlier ones.
//! - A period is measured in time of the port: it ends after W bytes, or after the time that W bytes take.
//!   Otherwise, without other flows, Wnc would never be sent, and the port would stall.
//! - When harmful flows are found, their waiting packets are moved to their queue at once, in order, and back
//!   when the control ends: nothing is reordered, and waiting packets are limited, too.
//! - The paper's control quits "once the congestion state disappears"; it does not say when that is. Here the
//!   local flag is cleared by two samples in a row without congestion, or by an empty queue, and the remote
//!   flag by a CN of degree 0, or after `expire`. The control does not quit at once: from when the other
//!   flows' queue is at most Qeq and no CN is valid, Wc grows by W/16 a period, and the control ends when Wc
//!   is what it was before the first cut, or when no harmful flow was seen or named for `expire`.
//! - Other flows take other paths after "several" notifications, when the switch "itself is undergoing
//!   congestion", or when the "reserved buffer is almost full"; the paper gives no numbers. They do not wait
//!   for RCC to fail, as section 1 can be read. Here a port is severely congested in three cases: its degree
//!   is `severe` or more; it has a valid CN that came within 50 us of the one before; or more than 4 Qeq wait
//!   in the other flows' queue, which is 80 % of a queue of which Qeq is 20 %.
//! - Section 3.2 has a port report a congestion that is "firstly detected". By default each further sample of
//!   an input is reported, and each of the output queue cuts as well, so that a degree that grows has an
//!   effect; with `cuts = "first-detection"` one cut is all, and Wc grows again as soon as the other flows'
//!   queue is at most Qeq. CNs still follow each sample: the first ones name no flow, since the root has not
//!   recognised any.
//! - By section 1 end-to-end control is for harmful flows. DCQCN's ECN marks whatever waits in a
//!   long queue, also flows that RCM does not limit: `marks = "harmful"` is the other reading.
//! - A CN is 64 B and 13 B for each flow that it names, is sent before all data, and goes to switches only.
//! - A CN to an input names all harmful flows of the port, not only those that came in by it. The neighbour
//!   then measures W over 64 KB or 50 us where it never sees one of them.
//! - The least and most bytes of W, the least Wc, harmful flows that stay so until the control ends, and
//!   those added when Wc is at its minimum are ours; W is measured from recognition on, not from detection.
//!   The memory is cleared again when W is known.
//! - A flow that was neither seen nor named by a CN for `expire` is no longer a harmful flow.
//! - Eq. 1 has the length of the output queue. Here the degree of an output is that of the other flows'
//!   queue: limited flows would keep it high for as long as they are limited.
//! - A port keeps the newest CN of its downstream neighbour, in which several outputs may be congested; the
//!   paper says nothing of several.
//! - A degree above 0 that its 6 bits round to 0 is neither reported nor cut by.
//! - While harmful flows wait, the other flows are held to Wnc as well, so that W is divided as it was set;
//!   the paper limits the congestion flows alone.
//! - Harmful flows of a port share one window, first come, first served; the paper gives none of them a share
//!   of its own. So their throughputs may differ, and while other flows do not use Wnc the link is idle for
//!   some of a period.
//!
//! # References
//!
//! - "Regional Congestion Mitigation in Lossless Datacenter Networks", sections 3.1 to 3.4.
//! - IEEE Std 802.1Qau-2010, "Congestion Notification" (samples and degrees of 6 bits).

mod cam;
mod checks;
mod harmful_flows;
mod readings;
mod region;
mod sampler;
#[cfg(test)]
mod tests;
mod window;

use floodway_units::cast::narrow;
use floodway_units::{Bytes, Class, FlowId, PortId, QueueId, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{
    CongestionNotification, CongestionPoint, CpAction, Cx, Demands, Detection, Discipline, Gate, Mark,
    PacketView, ParamError, PortEvent, PortInfo, QueueView, Queueing, SignalKind, Signals,
};
pub use readings::{Cuts, Marks};

use cam::Cam;
use harmful_flows::HarmfulFlows;
use region::{Region, Remote};
use sampler::{Law, Sample, Sampler};
use window::{Turn, Window};

/// A second CN within this time makes the congestion severe: "several" notifications.
// Section 3.1: a second notification makes a switch try other paths.
const REPEATED: Span = Span::us(50);

/// Parameters of RCM.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Rcm")]
pub struct Params {
    /// Qeq: the target length of queues, in bytes above 0.
    /// Source: floodway's choice: 20 % of the paper's queues of 100 KB, as QCN has of its buffer.
    pub equilibrium: Bytes,
    /// wq: weight of the growth of a queue relative to its length, from 0 to 64.
    /// Source: IEEE 802.1Qau; the paper gives none.
    pub weight: u8,
    /// w: weight of the downstream neighbour's degree in the degree that is sent upstream, from 0 to 1.
    /// Source: floodway's choice: equal weights; the paper gives none.
    pub remote_weight: f64,
    /// M: entries of the memory of a port and class, from 1 to 255.
    /// Source: floodway's choice; the paper gives none. `floodway reproduce rcm` sweeps it.
    pub cam_depth: u8,
    /// h: number of entries that a harmful flow holds at least, from 1 to M. Default: a quarter of M, 1 at
    /// least.
    /// Source: floodway's choice: of the paper's five flows the burst has half of the port and is found, and
    /// the others have an eighth each and are not found, although by the paper's wording (h = 1) they would
    /// be; the paper speaks of relatively high rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cam_hits: Option<u8>,
    /// Departing bytes between two samples of the memory, above 0; they vary by 15 % either way.
    /// Source: floodway's choice: the paper gives none. By its text control begins with detection; since the
    /// memory is filled from then on, it is delayed by M intervals, 1.3 us at 100G with 1 KB (more where
    /// frames do not divide it: 1.8 with frames of 1,062 B) and 5 us with 4 KB, a quarter of the paper's
    /// burst of 20 us.
    pub cam_interval: Bytes,
    /// The degree from which on other flows should take another path, from 1 to 63.
    /// Source: floodway's choice: half of the largest; the paper does not say.
    pub severe: u8,
    /// How long a notification is valid, and how long a flow of which nothing is seen is kept; above 0.
    /// Source: floodway's choice.
    pub expire: Span,
    /// What cuts Wc while harmful flows are limited.
    /// Source: floodway's choice: the paper says when congestion is reported, not how often rates are cut.
    pub cuts: Cuts,
    /// Which flows' packets the other congestion points of the port may mark, such as `red`.
    /// Source: floodway's choice: the paper only says that end-to-end control stays on.
    pub marks: Marks,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            equilibrium: Bytes::kb(20),
            weight: 2,
            remote_weight: 0.5,
            cam_depth: 16,
            cam_hits: None,
            cam_interval: Bytes::kb(1),
            severe: 32,
            expire: Span::us(100),
            cuts: Cuts::EachSample,
            marks: Marks::All,
        }
    }
}

impl Params {
    fn hits(&self) -> usize {
        usize::from(self.cam_hits.unwrap_or(self.cam_depth / 4).max(1))
    }
}

impl Detection for Params {
    type Cp = Cp;

    fn build(&self, port: &PortInfo) -> Result<Cp, ParamError> {
        self.check()?;
        let law = Law { equilibrium: self.equilibrium.0, weight: self.weight.into() };
        Ok(Cp { params: *self, law, port: *port, regions: Vec::new(), came_marked: false })
    }

    fn states(&self) -> &'static [&'static str] {
        &["outside", "edge", "inner", "root"]
    }

    fn signal_kinds(&self) -> &'static [SignalKind] {
        &[SignalKind::Degrees]
    }

    fn ignores_up_to(&self) -> Option<Bytes> {
        Some(self.equilibrium)
    }

    fn fill_in(&mut self, _port: &PortInfo) {
        self.cam_hits = Some(narrow(self.hits()));
    }
}

/// One per egress port.
#[derive(Clone, Debug)]
pub struct Cp {
    params: Params,
    law: Law,
    port: PortInfo,
    /// One for each class seen so far, in the order of their first packets.
    regions: Vec<Region>,
    /// The packet that leaves now came to this port's link with a mark, of a port before.
    came_marked: bool,
}

impl Cp {
    fn region(&mut self, class: Class) -> &mut Region {
        let place = self.regions.iter().position(|region| region.class == class);
        let place = place.unwrap_or_else(|| {
            let Params { cam_depth, cam_interval, expire, .. } = self.params;
            self.regions.push(Region {
                class,
                output: Sampler::default(),
                inputs: Vec::new(),
                cam: Cam::new(cam_depth, cam_interval, expire),
                recognises: false,
                harmful_flows: HarmfulFlows::new(expire),
                remote: None,
                cut_by_remote: false,
                window: None,
                others: Bytes::ZERO,
                held: Bytes::ZERO,
            });
            self.regions.len() - 1
        });
        &mut self.regions[place]
    }

    fn known(&self, class: Class) -> Option<&Region> {
        self.regions.iter().find(|region| region.class == class)
    }

    /// The degree that is sent upstream: Fb alone where no neighbour reports congestion.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a mean of two degrees of 8 bits, whose fraction is cut"
    )]
    fn combined(&self, degree: u8, remote: Option<Remote>) -> u8 {
        let Some(remote) = remote else { return degree };
        let w = self.params.remote_weight;
        // Eq. 2: F'b = (1 - w) · Fb + w · Fbr.
        ((1.0 - w) * f64::from(degree) + w * f64::from(remote.degree)) as u8
    }

    /// The control of a class has ended, or holds no flow.
    fn release(region: &mut Region, cx: &mut Cx<'_, CpAction>) {
        let was_limiting = region.window.as_ref().is_some_and(Window::is_limiting);
        region.window = None;
        region.harmful_flows.clear();
        if was_limiting {
            cx.push(CpAction::Resort(region.class));
        }
    }

    /// Begins the periods that are due, and ends the control when it is over.
    fn roll(&mut self, class: Class, cx: &mut Cx<'_, CpAction>) {
        let (equilibrium, expire) = (self.params.equilibrium, self.params.expire);
        let region = self.region(class);
        let calm = region.others <= equilibrium && region.remote(cx.now, expire).is_none();
        let Some(window) = &mut region.window else { return };
        let over = window.roll(cx.now, calm, region.held > Bytes::ZERO);
        if over || region.harmful_flows.are_gone(cx.now) {
            Self::release(region, cx);
        }
    }

    /// A sample has found congestion here: limits the harmful flows further, or begins to identify them.
    fn congested(&mut self, class: Class, now: Time, cut: Option<u8>) {
        let expire = self.params.expire;
        let region = self.region(class);
        match (&mut region.window, cut) {
            (Some(window), Some(degree)) => window.cut(degree),
            (Some(_), None) => {}
            (None, _) => {
                if !region.recognises && region.remote(now, expire).is_none() {
                    region.recognises = true;
                    region.cam.clear();
                }
            }
        }
    }

    /// The harmful flows are limited to the minimum, and the other flows' queue is still congested: the flows
    /// with the largest shares of the port now become harmful flows, too.
    fn look_again(&mut self, cx: &mut Cx<'_, CpAction>, class: Class) {
        let Params { expire, cam_depth, .. } = self.params;
        let least = self.params.hits();
        let now = cx.now;
        let region = self.region(class);
        let has_remote = region.remote(now, expire).is_some();
        let Some(window) = region.window.as_mut().filter(|window| window.is_at_floor()) else { return };
        if !region.cam.is_full() || has_remote {
            return;
        }
        let mut entries = 0;
        for flow in region.cam.harmful(now, least) {
            if !region.harmful_flows.contains(now, flow) && region.harmful_flows.add_seen(now, flow) {
                entries += region.cam.hits(now, flow);
            }
        }
        if entries > 0 {
            window.widen(entries as f64 / f64::from(cam_depth));
            region.cam.clear();
            cx.push(CpAction::Resort(class));
        }
    }

    /// Sends the upstream neighbour of an input a CN: the degree of congestion, and the harmful flows.
    fn send_cn(&mut self, cx: &mut Cx<'_, CpAction>, class: Class, ingress: PortId, degree: u8) {
        let expire = self.params.expire;
        let now = cx.now;
        let remote = self.region(class).remote(now, expire);
        let degree = self.combined(degree, remote);
        let named = self.region(class).harmful_flows.seen(now);
        // Section 3.2: the notification has the degree and the harmful flows.
        cx.push(CpAction::ToUpstream(ingress, CongestionNotification::new(class, degree, named)));
    }

    /// Revokes the last CN to the upstream neighbour of an input.
    fn take_back(cx: &mut Cx<'_, CpAction>, class: Class, ingress: PortId) {
        cx.push(CpAction::ToUpstream(ingress, CongestionNotification::new(class, 0, std::iter::empty())));
    }

    /// No packet that came in by `ingress` waits any more.
    fn input_is_empty(&mut self, cx: &mut Cx<'_, CpAction>, class: Class, ingress: PortId) {
        let input = self.region(class).inputs.iter_mut().find(|(port, _)| *port == ingress);
        if input.is_some_and(|(_, sampler)| sampler.empty()) {
            Self::take_back(cx, class, ingress);
        }
    }

    /// All queues of a class are emptied when its packets are taken out.
    fn emptied(&mut self, class: Class) {
        let region = self.region(class);
        (region.others, region.held) = (Bytes::ZERO, Bytes::ZERO);
        region.output.empty();
        region.inputs.iter_mut().for_each(|(_, input)| {
            input.empty();
        });
    }

    fn resorted(&mut self, now: Time, class: Class, queues: &[Bytes]) {
        let region = self.region(class);
        if let &[others, held] = queues {
            (region.others, region.held) = (others, held);
        }
        // From now on its timer may be asked for, which must not lie behind.
        if let Some(window) = &mut region.window {
            window.roll(now, false, false);
        }
    }

    fn notified(&mut self, cx: &mut Cx<'_, CpAction>, n: &CongestionNotification) {
        let Params { expire, cuts, .. } = self.params;
        let PortInfo { rate, wire, .. } = self.port;
        self.roll(n.class, cx);
        let region = self.region(n.class);
        if n.degree == 0 {
            region.remote = None;
            region.cut_by_remote = false;
            return;
        }
        region.cut_by_remote &= region.remote(cx.now, expire).is_some();
        let again = region.remote(cx.now, expire).is_some_and(|last| cx.now.since(last.at) <= REPEATED);
        region.remote = Some(Remote { degree: n.degree, at: cx.now, again });
        region.recognises = false;
        if n.count == 0 {
            return;
        }
        // Section 3.2: at an edge and within a region the flows are those of the root.
        let changed = region.harmful_flows.set_named(cx.now, n.named());
        match &mut region.window {
            None => region.window = Some(Window::new(cx.now, rate, wire)),
            Some(window) if window.is_limiting() => {
                if cuts == Cuts::EachSample || !region.cut_by_remote {
                    window.cut(n.degree);
                    region.cut_by_remote = true;
                }
                if changed {
                    cx.push(CpAction::Resort(n.class));
                }
            }
            Some(_) => {}
        }
    }
}

impl CongestionPoint for Cp {
    /// A CN is on the link for its delay, and may name flows that were seen within `expire`; it is valid for
    /// as long, and a flow that it names is then seen, or dropped after the same time.
    fn demands(&self) -> Demands {
        let naming = self.params.expire * 4 + self.port.delay;
        Demands { naming, clears: self.params.marks == Marks::Harmful, ..Demands::default() }
    }

    is_discipline!();

    fn on_enqueue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        let law = self.law;
        self.roll(q.class, cx);
        let region = self.region(q.class);
        region.harmful_flows.see(cx.now, p.flow);
        region.look_at(q);
        // Section 3.2: detection at the output queue.
        if let Some(Sample { degree, began, .. }) = region.output.pass(&law, cx.rng, p.frame, q.first)
            && degree > 0
        {
            let cuts = self.params.cuts == Cuts::EachSample || began;
            self.look_again(cx, q.class);
            self.congested(q.class, cx.now, cuts.then_some(degree));
        }
        if q.voq == Bytes::ZERO {
            self.input_is_empty(cx, q.class, p.ingress);
        }
        Mark::None
    }

    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        let hits = self.params.hits();
        let expire = self.params.expire;
        let PortInfo { rate, wire, .. } = self.port;
        self.roll(q.class, cx);
        self.came_marked = p.mark != Mark::None;
        let region = self.region(q.class);
        region.look_at(q);
        // Section 3.3: what leaves the output queue is sampled.
        let sampled = region.cam.pass(cx.now, cx.rng, p.flow, p.frame);
        let place = region.harmful_flows.see(cx.now, p.flow);
        let turn = match &mut region.window {
            Some(window) => window.on_sent(cx.now, place, p.wire, region.harmful_flows.len()),
            None => Turn::Nothing,
        };
        match turn {
            Turn::Nothing => {}
            Turn::NobodyHere => region.window = None,
            Turn::Measured => {
                let remote = region.remote(cx.now, expire);
                region.cut_by_remote = remote.is_some();
                let degree = remote.map_or(0, |remote| remote.degree);
                let degree = degree.max(region.output.degree());
                if let Some(window) = &mut region.window {
                    window.cut(degree);
                }
                region.cam.clear();
                cx.push(CpAction::Resort(q.class));
            }
        }
        if sampled && region.recognises && region.cam.is_full() {
            // Section 3.3: flows in the memory are harmful.
            region.harmful_flows.set_seen(cx.now, region.cam.harmful(cx.now, hits));
            if region.harmful_flows.len() > 0 {
                region.recognises = false;
                region.window = Some(Window::new(cx.now, rate, wire));
            }
        }
        if q.first == Bytes::ZERO && region.held == Bytes::ZERO {
            region.output.empty();
            region.recognises &= region.is_local();
        }
        if q.voq == Bytes::ZERO {
            self.input_is_empty(cx, q.class, p.ingress);
        }
        Mark::None
    }

    /// Called directly after `on_dequeue` for the same packet, and only where marks are the harmful flows'.
    fn clears(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> bool {
        let is_harmful =
            self.known(q.class).is_some_and(|region| region.harmful_flows.contains(cx.now, p.flow));
        // Section 3.1: congestion control on congestion flows only.
        self.params.marks == Marks::Harmful && !self.came_marked && !is_harmful
    }

    fn on_event(&mut self, cx: &mut Cx<'_, CpAction>, event: PortEvent<'_>) {
        match event {
            PortEvent::Removed(p) => self.emptied(p.class),
            PortEvent::Resorted { class, queues } => self.resorted(cx.now, class, queues),
            PortEvent::CongestionNotification(cn) => self.notified(cx, cn),
            _ => {}
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        let waiting = self.regions.iter().filter(|region| region.held > Bytes::ZERO);
        waiting.filter_map(|region| region.window.as_ref()?.period_end()).min()
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_, CpAction>) {
        for place in 0..self.regions.len() {
            self.roll(self.regions[place].class, cx);
        }
    }

    fn state(&self, now: Time, class: Class) -> &'static str {
        let Some(region) = self.known(class) else { return "outside" };
        // Section 3.2: a port's place in the region, by its local and its remote flag.
        match (region.is_local(), region.remote(now, self.params.expire).is_some()) {
            (true, false) => "root",
            (true, true) => "inner",
            (false, true) => "edge",
            (false, false) => "outside",
        }
    }

    fn signals(&self, now: Time) -> Signals {
        let mut signals = Signals::default();
        for region in &self.regions {
            let remote = region.remote(now, self.params.expire);
            let degree = self.combined(region.output.degree(), remote);
            signals.degree = signals.degree.max(degree.into());
            signals.local |= region.is_local();
            signals.remote |= remote.is_some();
            // Section 3.1: when others should take another path.
            signals.severe |= degree >= self.params.severe
                || remote.is_some_and(|remote| remote.again)
                // The paper's reserved buffer that is almost full: 80 % of a queue of which Qeq is 20 %.
                || region.others.0 > 4 * self.params.equilibrium.0;
        }
        signals
    }

    fn is_harmful(&self, now: Time, flow: FlowId) -> bool {
        self.regions
            .iter()
            .any(|region| region.harmful_flows.contains(now, flow) || region.cam.contains(now, flow))
    }
}

impl Discipline for Cp {
    fn queueing(&self) -> Queueing {
        Queueing::Flows { queues: 2, inputs: true }
    }

    fn classify(&mut self, now: Time, p: &PacketView) -> u8 {
        let held = self.known(p.class).is_some_and(|region| region.is_held(now, p.flow));
        // Section 3.4: harmful flows wait apart, so that others pass them.
        held.into()
    }

    fn gate(&self, now: Time, q: QueueId) -> Gate {
        let Some(region) = self.known(q.class) else { return Gate::Open };
        let window = region.window.as_ref();
        window.map_or(Gate::Open, |window| window.gate(now, q.sub > 0, region.held > Bytes::ZERO))
    }

    fn on_input(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) {
        let law = self.law;
        // Section 3.2: detection at an input queue.
        let sample = self.region(q.class).input(p.ingress).pass(&law, cx.rng, p.frame, q.voq);
        match sample {
            Some(Sample { ended: true, .. }) => Self::take_back(cx, q.class, p.ingress),
            Some(Sample { degree, .. }) if degree > 0 => {
                self.congested(q.class, cx.now, None);
                self.send_cn(cx, q.class, p.ingress, degree);
            }
            _ => {}
        }
    }
}
