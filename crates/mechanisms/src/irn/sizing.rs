//! Sizing: the window that fills a path, and the times after which a packet counts as lost.

use floodway_units::{Bytes, Span};

use super::{Form, Params, Preset, Window};
use crate::slots::{OfPath, ParamError, QpInfo, Timeout};

/// All values, as the state machines of one queue pair use them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    /// Maximum number of packets in flight, as the form counts them; at least 1.
    pub(super) window: u64,
    /// The same in bytes of payload: full packets, or the bytes as given.
    pub(super) window_bytes: Bytes,
    /// Timeout while at most `low_packets` are in flight; `None`: no timer then.
    pub(super) rto_low: Option<Span>,
    /// Timeout while more packets are in flight.
    pub(super) rto_high: Option<Span>,
    /// N.
    pub(super) low_packets: u64,
    /// Minimum time between two replies that report the same packet.
    pub(super) nack_interval: Span,
}

/// ceil(BDP / packet), at least 1: what fills a path whose bandwidth-delay product is `bdp`.
pub(super) fn window_of(bdp: Bytes, packet: Bytes) -> u64 {
    // Section 3.2: the bandwidth-delay product in packets.
    bdp.0.div_ceil(packet.0.max(1)).max(1)
}

impl Preset {
    fn window(self) -> OfPath<Window> {
        if self == Preset::PerPair { OfPath::Auto } else { OfPath::Largest }
    }

    fn timeout(self, form: Form, published: Span) -> OfPath<Timeout> {
        match (self, form) {
            (Preset::PerPair, _) => OfPath::Auto,
            (Preset::Published, Form::Swing) => OfPath::Largest,
            (Preset::Published, Form::Paper | Form::Conweave) => OfPath::Fixed(Timeout::After(published)),
        }
    }
}

impl Params {
    pub(super) fn window(&self) -> OfPath<Window> {
        self.window.unwrap_or(self.preset.window())
    }

    pub(super) fn rto_low(&self) -> OfPath<Timeout> {
        // Section 4.1: RTO_low is 100 us.
        self.rto_low.unwrap_or(self.preset.timeout(self.form, Span::us(100)))
    }

    pub(super) fn rto_high(&self) -> OfPath<Timeout> {
        // Section 4.1: RTO_high is 320 us.
        self.rto_high.unwrap_or(self.preset.timeout(self.form, Span::us(320)))
    }

    /// The longer timeout; `None` if it depends on paths.
    pub(super) fn longest_fixed_timeout(&self) -> Option<Span> {
        match (self.rto_low(), self.rto_high()) {
            (OfPath::Fixed(low), OfPath::Fixed(high)) => low.span().max(high.span()).or(Some(Span::ZERO)),
            _ => None,
        }
    }

    /// The shorter one of the timeouts that do not depend on paths; where nothing can be lost, only of those
    /// that were given.
    pub(super) fn shortest_fixed_timeout(&self, can_lose: bool) -> Option<Span> {
        let timeouts = [(self.rto_low, self.rto_low()), (self.rto_high, self.rto_high())];
        let on = timeouts.into_iter().filter(|(given, _)| can_lose || given.is_some());
        let fixed = on.filter_map(|(_, timeout)| match timeout {
            OfPath::Fixed(timeout) => timeout.span(),
            OfPath::Auto | OfPath::Largest => None,
        });
        fixed.min()
    }

    /// The values for the queue pair `qp`.
    pub(super) fn settings(&self, qp: &QpInfo) -> Result<Settings, ParamError> {
        let window = self.packets(qp);
        if window == 0 {
            let message =
                "a window of 0 sends nothing; the minimum is 1 packet; write it like 110 or \"110KB\"";
            return Err(ParamError::new("window", message));
        }
        let window_bytes = match self.window() {
            OfPath::Fixed(Window::Payload(bytes)) => bytes,
            _ => Bytes(window.saturating_mul(qp.mtu.0)),
        };
        let interval = Span::us(500).max(qp.base_rtt);
        Ok(Settings {
            window,
            window_bytes,
            rto_low: timer(self.rto_low, self.rto_low(), qp, (qp.base_rtt, qp.largest_rtt)),
            rto_high: timer(self.rto_high, self.rto_high(), qp, (qp.full_rtt, qp.largest_full_rtt)),
            low_packets: u64::from(self.low_packets),
            nack_interval: self.nack_interval.unwrap_or(interval),
        })
    }

    fn packets(&self, qp: &QpInfo) -> u64 {
        let of = |bdp| Window::Packets(u32::try_from(window_of(bdp, qp.wire)).unwrap_or(u32::MAX));
        match self.window().pick(of(qp.bdp()), of(qp.largest_bdp)) {
            Window::Packets(packets) => u64::from(packets),
            Window::Payload(bytes) => bytes.0.div_ceil(qp.mtu.0),
        }
    }
}

/// The time of a timer, for the path and for the largest path; where nothing can be lost, only a given one.
fn timer(
    given: Option<OfPath<Timeout>>,
    chosen: OfPath<Timeout>,
    qp: &QpInfo,
    (path, largest): (Span, Span),
) -> Option<Span> {
    if qp.lossless && given.is_none() {
        return None;
    }
    chosen.pick(Timeout::After(path), Timeout::After(largest)).span()
}
