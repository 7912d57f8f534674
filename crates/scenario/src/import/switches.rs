//! Settings of switches: memory, PFC's thresholds and headroom, marking, by the rates and delays of their
//! links.

use std::collections::BTreeMap;

use floodway_units::{Bytes, Rate, Span};

use super::config::Config;
use super::conweave;
use crate::error::ScenarioError;
use crate::topology::hpcc::{ListedLink, Listing};

/// That simulator counts the memory of a switch in 32 bits.
const MOST_MIB: u64 = 4095;
/// The pause threshold of a port at the NICs' rate is the free pool shifted right by so many bits.
const SHIFT: u32 = 3;
/// Bytes that a port keeps for itself, and that it must fall below its threshold to resume.
const RESERVE: u64 = 4096;
const RESUME_OFFSET: u64 = 3072;
/// Rates that that simulator's INT can name, in Gbit/s.
const INT_GBPS: [u64; 5] = [25, 50, 100, 200, 400];

/// A value of some of the links: for an override.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfLinks {
    /// The tag that they have in common.
    pub tag: String,
    /// Key and value.
    pub setting: String,
}

/// The value of `buffer.shared`.
///
/// # Errors
/// More memory than that simulator can count.
pub fn buffer(config: &Config) -> Result<String, ScenarioError> {
    let memory = memory(config)?;
    shared(config, &format!("total = \"{}MiB\"", memory.0 >> 20))
}

fn shared(config: &Config, size: &str) -> Result<String, ScenarioError> {
    let reserve = Bytes(config.number("PFC_RESERVE", RESERVE)?);
    Ok(format!("{{ {size}, reserve = \"{reserve}\", crossing = \"headroom\" }}"))
}

fn memory(config: &Config) -> Result<Bytes, ScenarioError> {
    let mib = config.number::<u64>("BUFFER_SIZE", 16)?;
    if mib == 0 || mib > MOST_MIB {
        let message = format!("{mib} MiB are not 1 to {MOST_MIB}, all that the simulator can count");
        return Err(config.error("BUFFER_SIZE", message));
    }
    Ok(Bytes::mib(mib))
}

/// `buffer.shared` of switches by their pools, with the switches. That simulator takes headroom and reserve
/// of a port from the pool once, however many classes the port has; a scenario's `total` gives each class its
/// own.
///
/// # Errors
/// Memory that they leave nothing of.
pub fn pools(config: &Config, listing: &Listing) -> Result<Vec<(String, Vec<String>)>, ScenarioError> {
    let (memory, reserve) = (memory(config)?, config.number::<u64>("PFC_RESERVE", RESERVE)?);
    let mut pools: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for switch in listing.switches() {
        let links = listing.links.iter().filter(|link| link.ends.contains(&switch));
        let headroom = |link: &ListedLink| headroom(link.rate, link.delay).map_or(0, |bytes| bytes.0);
        let taken = links.fold(0u64, |sum, link| sum.saturating_add(headroom(link)).saturating_add(reserve));
        let Some(pool) = memory.0.checked_sub(taken).filter(|pool| *pool > 0) else {
            let name = listing.name(switch);
            let message =
                format!("reserves and headroom of {name} take {}, all of its {memory}", Bytes(taken));
            return Err(config.error("BUFFER_SIZE", message));
        };
        pools.entry(pool).or_default().push(listing.name(switch));
    }
    let of_pool = |(pool, names)| Ok((shared(config, &format!("pool = \"{}\"", Bytes(pool)))?, names));
    pools.into_iter().map(of_pool).collect()
}

/// `flow-control` of the links of each rate and delay.
///
/// # Errors
/// A malformed value, or no host.
pub fn flow_control(config: &Config, listing: &Listing) -> Result<Vec<OfLinks>, ScenarioError> {
    if config.is_conweave() {
        return conweave::flow_control(config, listing);
    }
    let nic = listing.nic_rate().unwrap_or(Rate::MAX);
    let fixed = config.has("PFC_A_SHIFT").then(|| config.number("PFC_A_SHIFT", SHIFT)).transpose()?;
    if let Some(shift) = fixed.filter(|shift| *shift > 31) {
        return Err(config.error("PFC_A_SHIFT", format!("{shift} is not a number of bits from 0 to 31")));
    }
    let offset = Bytes(config.number("PFC_RESUME_OFFSET", RESUME_OFFSET)?);
    let groups = groups(listing, |link| (link.rate, link.delay));
    let of_group = |((rate, delay), link): ((Rate, Span), &ListedLink)| {
        let alpha = 1.0 / f64::from(1u32 << fixed.unwrap_or_else(|| shift(rate, nic)));
        let headroom = headroom(rate, delay).ok_or_else(|| config.error("TOPOLOGY_FILE", too_long(link)))?;
        let setting = format!(
            "flow-control.pfc = {{ xoff = {{ alpha = {alpha:?} }}, headroom = \"{headroom}\", resume-offset = \
             \"{offset}\" }}"
        );
        Ok(OfLinks { tag: link.speed_and_delay(), setting })
    };
    groups.into_iter().map(of_group).collect()
}

/// One bit less for each doubling above the NICs' rate.
fn shift(rate: Rate, nic: Rate) -> u32 {
    let (mut shift, mut rate) = (SHIFT, rate.0);
    while rate > nic.0 && shift > 0 {
        shift -= 1;
        rate /= 2;
    }
    shift
}

/// Three times rate and delay, in whole bytes; none beyond the simulator's 32 bits.
fn headroom(rate: Rate, delay: Span) -> Option<Bytes> {
    let once = u128::from(rate.0) * u128::from(delay.0 / 1_000) / 8 / 1_000_000_000;
    u32::try_from(once * 3).ok().map(|bytes| Bytes(bytes.into()))
}

pub fn too_long(link: &ListedLink) -> String {
    let ListedLink { rate, delay, line, .. } = link;
    format!("the link in its line {line}, {rate} over {delay}, needs more headroom than 32 bits can count")
}

/// `congestion-point` of the links of each rate; none where nothing is marked.
///
/// # Errors
/// A rate of which the maps say nothing.
pub fn marking(config: &Config, listing: &Listing) -> Result<Vec<OfLinks>, ScenarioError> {
    if !config.flag("ENABLE_QCN", true)? {
        return Ok(Vec::new());
    }
    let groups = groups(listing, |link| link.rate);
    let offset = if config.is_conweave() { ", offset = \"1049B\"" } else { "" };
    let of_group = |(rate, link): (Rate, &ListedLink)| {
        let kmin = Bytes::kb(of_rate::<u32>(config, "KMIN_MAP", rate, link)?.into());
        let kmax = Bytes::kb(of_rate::<u32>(config, "KMAX_MAP", rate, link)?.into());
        let pmax = of_rate::<f64>(config, "PMAX_MAP", rate, link)?;
        if kmin > kmax {
            return Err(
                config.error("KMAX_MAP", format!("at {rate}, {kmax} is below the {kmin} of KMIN_MAP"))
            );
        }
        if !(0.0..=1.0).contains(&pmax) {
            return Err(
                config.error("PMAX_MAP", format!("at {rate}, {pmax} is not a probability from 0 to 1"))
            );
        }
        let setting = format!(
            "congestion-point.red = {{ kmin = \"{kmin}\", kmax = \"{kmax}\", pmax = {pmax:?}, at = \"dequeue\"{offset} }}"
        );
        Ok(OfLinks { tag: rate.to_string(), setting })
    };
    groups.into_iter().map(of_group).collect()
}

fn of_rate<T: std::str::FromStr>(
    config: &Config,
    key: &str,
    rate: Rate,
    link: &ListedLink,
) -> Result<T, ScenarioError> {
    config.of_rate(key, rate)?.ok_or_else(|| {
        let (line, there) = (link.line, config.rates_of(key));
        let there = if there.is_empty() { "no rate".to_owned() } else { there.join(", ") };
        let message = format!(
            "has no entry for {rate} ({} bit/s), the rate of the link in line {line} of the topology file; it has \
             {there}",
            rate.0
        );
        config.error(key, message)
    })
}

/// Telemetry of HPCC knows few rates.
///
/// # Errors
/// An unknown mode.
pub fn check_telemetry(config: &mut Config, listing: &Listing) -> Result<(), ScenarioError> {
    if config.number::<u32>("CC_MODE", 1)? != 3 {
        return Ok(());
    }
    let is_known = |rate: &Rate| INT_GBPS.iter().any(|gbps| Rate::gbps(*gbps) == *rate);
    for (rate, link) in groups(listing, |link| link.rate).into_iter().filter(|(rate, _)| !is_known(rate)) {
        let line = link.line;
        let message = format!(
            "that simulator's telemetry knows 25G, 50G, 100G, 200G and 400G, not the {rate} of the link in line \
             {line} of the topology file"
        );
        config.note("CC_MODE", &message);
    }
    Ok(())
}

/// The links at switches by what `of` says of them, each with the first of its kind.
pub fn groups<K: Ord>(listing: &Listing, of: impl Fn(&ListedLink) -> K) -> Vec<(K, &ListedLink)> {
    let mut groups = BTreeMap::new();
    let at_switch = |link: &&ListedLink| link.ends.iter().any(|&end| listing.is_switch[end]);
    for link in listing.links.iter().filter(at_switch) {
        groups.entry(of(link)).or_insert(link);
    }
    groups.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_doubling_above_the_nics_takes_a_bit_from_the_shift() {
        let shifts = [25, 100, 101, 200, 400, 800, 1600].map(|gbps| shift(Rate::gbps(gbps), Rate::gbps(100)));
        assert_eq!(shifts, [3, 3, 2, 2, 1, 0, 0]);
        assert_eq!(shift(Rate::gbps(40), Rate::gbps(20)), 2);
    }

    #[test]
    fn headroom_is_three_times_rate_and_delay() {
        assert_eq!(headroom(Rate::gbps(100), Span::us(1)), Some(Bytes(37_500)));
        assert_eq!(headroom(Rate::gbps(40), Span::us(4)), Some(Bytes(60_000)));
        assert_eq!(headroom(Rate(3), Span::ns(999_999_999)), Some(Bytes(0)));
        assert_eq!(headroom(Rate::gbps(400), Span::ms(100)), None);
    }
}
