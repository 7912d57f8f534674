//! Warnings: thresholds that leave a link idle, pause at a few packets, or hardly limit a port.

use floodway_units::{Bytes, Span};

use super::{Params, Xoff, utilisation};
use crate::slots::{FlowControl, LinkInfo, SwitchShare};

/// Links within datacenters are no longer than 2 km: there a queue that is empty for a round trip causes no
/// warning.
const WITHIN_DATACENTERS: Span = Span::us(10);

/// A port that pauses with fewer full packets than these does so where packets of several ports meet by
/// chance.
// floodway's choice: one packet of each of eight ports that send to the same one at once.
const A_FEW_PACKETS: u64 = 8;

impl Params {
    /// Why the link may idle: the queue empties before data come again after a pause.
    pub(super) fn idles(&self, link: &LinkInfo, share: &SwitchShare) -> Option<String> {
        if link.delay <= WITHIN_DATACENTERS {
            return None;
        }
        let round_trip = link.rate.bytes_covering(link.delay + link.reverse_delay);
        let can = (share.drain.0 as f64 / link.rate.0 as f64).min(1.0);
        // At all of its rate nothing waits.
        let (most, half) = (can.min(0.9), can / 2.0);
        let enough = round_trip.scale(can);
        let xoff = self.pauses_at(link, share).filter(|xoff| *xoff < round_trip.scale(most))?;
        // SWING, Eq. 4: what the link carries at this threshold.
        let carries = |drain: f64| 100.0 * utilisation(drain, xoff.0 as f64, round_trip.0 as f64);
        let buffer = if link.buffer == Bytes::MAX {
            String::new()
        } else {
            let least = enough + link.largest_held().saturating_sub(Bytes(1)) + self.own_headroom(link);
            format!(", in a buffer of {},", least.rounded_up())
        };
        Some(format!(
            "it pauses at {xoff}, and {round_trip} arrive in a round trip, so that the queue may run empty before data arrive again: \
             if it drains at {:.0} % of line rate, the link carries {:.1} % of it, at {:.0} % {:.1} % (SWING, Eq. 4); a \
             threshold of {}{buffer} keeps it busy",
            100.0 * most,
            carries(most),
            100.0 * half,
            carries(half),
            enough.rounded_up(),
        ))
    }

    /// Why pauses cost throughput without congestion: XOFF is a few packets, and the queue empties before
    /// data come again. On long links the warning that they idle says it.
    pub(super) fn pauses_by_chance(&self, link: &LinkInfo, share: &SwitchShare) -> Option<String> {
        if self.idles(link, share).is_some() {
            return None;
        }
        let xoff = self.pauses_at(link, share)?;
        let packet = link.largest_held();
        let round_trip = link.delay + link.reverse_delay + self.obeyed_after(link);
        let meanwhile = link.rate.bytes_covering(round_trip);
        let busy = meanwhile.saturating_add(self.resume_offset(link).min(meanwhile));
        let least = busy.min(packet * A_FEW_PACKETS);
        if xoff >= least {
            return None;
        }
        let remedy = match (self.xoff(link), link.buffer) {
            (Xoff::Auto, Bytes::MAX) => {
                "; \"auto\" has a quarter of the pool's free bytes: a larger pool avoids it"
            }
            (Xoff::Auto, _) => {
                "; \"auto\" has what the port's own buffer leaves beside headroom: a buffer of a given size \
                 (buffer.static.size), a shared one (buffer.shared) or a larger XOFF avoids it"
            }
            _ => "",
        };
        Some(format!(
            "it pauses at {xoff}, {:.1} full packets, so that packets which meet by chance pause it; {meanwhile} arrive in a \
             round trip, and after each pause the queue is empty before data come again. At least {} avoid \
             it{remedy}",
            xoff.0 as f64 / packet.0 as f64,
            least.rounded_up(),
        ))
    }

    /// Why a share of the pool's free bytes hardly limits a port.
    pub(super) fn exceeds_pool(&self, link: &LinkInfo, share: &SwitchShare) -> Option<String> {
        let (fixed, alpha) = self.threshold(link).ok()?;
        let most = fixed.saturating_add(share.pool.scale(alpha));
        if link.buffer < Bytes::MAX || most <= share.pool {
            return None;
        }
        // Not from `most`, which ends at what a number of bytes can hold.
        let alone = fixed.scale(1.0 / (1.0 + alpha)).saturating_add(share.pool.scale(alpha / (1.0 + alpha)));
        let pauses = if alone < share.pool {
            let percent = 100.0 * alone.0 as f64 / share.pool.0 as f64;
            format!("is paused when it has {alone} of it, {percent:.0} %")
        } else {
            "has all of it, and is paused by headroom alone".to_owned()
        };
        Some(format!(
            "its threshold is {most} while the pool is free, beyond the {} of the pool itself: a port alone {pauses}",
            share.pool
        ))
    }
}
