//! Differences of ConWeave's simulator from HPCC's, on which it builds: the memory of its switches, pauses
//! that run out, selective retransmission.

use std::collections::BTreeMap;

use floodway_units::cast::whole;
use floodway_units::{Bytes, Rate, Span};

use super::config::Config;
use super::switches::{OfLinks, groups, too_long};
use crate::error::ScenarioError;
use crate::topology::hpcc::{ListedLink, Listing};

/// The frame for which its switches set memory aside: 1000 B and headers.
const FRAME: u64 = 1048;
/// What each port keeps: a frame for each of eight queues.
const KEPT: u64 = 8 * FRAME;
/// Headroom of port 0, which no switch has; it is counted, and that of the last port is not.
const HEADROOM_OF_NO_PORT: u64 = 12_500 + 2 * FRAME;
/// Memory for each port where none is given.
const OF_A_PORT: u64 = 375_000;
/// That simulator counts memory in 32 bits.
const MOST_MIB: u64 = 4095;
/// Windows of IRN by words in the topology file's name.
const WINDOWS: [(&str, u64); 2] = [("leaf_spine_128_100G_OS2", 104_000), ("fat_k8_100G_OS2", 156_000)];

/// Refuses ways to choose paths that are not here.
///
/// # Errors
/// Any but flow ECMP.
pub fn check_balancing(config: &Config) -> Result<(), ScenarioError> {
    let name = match config.number::<u32>("LB_MODE", 0)? {
        0 => return Ok(()),
        2 => "DRILL (2)".to_owned(),
        3 => "CONGA (3)".to_owned(),
        6 => "LetFlow (6)".to_owned(),
        9 => "ConWeave (9)".to_owned(),
        other => format!("mode {other}"),
    };
    Err(config.error("LB_MODE", format!("{name} is not supported; allowed: 0 (flow ECMP)")))
}

/// The line of the seed.
///
/// # Errors
/// It is no number.
pub fn seed(config: &Config) -> Result<String, ScenarioError> {
    Ok(match config.number::<u32>("RANDOM_SEED", 1)? {
        1 => String::new(),
        seed => format!("seed = {seed}\n"),
    })
}

/// `flow-control` of the links of each rate and delay; of all, where it is not given.
///
/// # Errors
/// A malformed value.
pub fn flow_control(config: &Config, listing: &Listing) -> Result<Vec<OfLinks>, ScenarioError> {
    if !config.flag("ENABLE_PFC", true)? {
        return Ok(vec![OfLinks { tag: "*".into(), setting: "flow-control = \"lossy\"".into() }]);
    }
    let pause = whole(config.real("PAUSE_TIME", 5.0)?);
    if pause == 0 {
        let message = "a pause of less than 1 us is cut to a RESUME in that simulator; write 1 or more";
        return Err(config.error("PAUSE_TIME", message));
    }
    let groups = groups(listing, |link| (link.rate, link.delay));
    let of_group = |((rate, delay), link): ((Rate, Span), &ListedLink)| {
        let headroom = headroom(rate, delay).ok_or_else(|| config.error("TOPOLOGY_FILE", too_long(link)))?;
        let setting = format!(
            "flow-control.pfc = {{ xoff = {{ fixed = \"2097B\", alpha = 0.0625 }}, headroom = \"{}B\", \
             resume-offset = \"2B\", pause = \"timer\", pause-time = \"{pause}us\", renewal = \"arrivals\" }}",
            headroom.0
        );
        Ok(OfLinks { tag: link.speed_and_delay(), setting })
    };
    groups.into_iter().map(of_group).collect()
}

/// Twice rate and delay, in whole bytes, and two frames; none beyond the simulator's 32 bits.
fn headroom(rate: Rate, delay: Span) -> Option<Bytes> {
    let once = u128::from(rate.0) * u128::from(delay.0 / 1_000) / 8 / 1_000_000_000;
    u32::try_from(once * 2 + 2 * u128::from(FRAME)).ok().map(|bytes| Bytes(bytes.into()))
}

/// `buffer.shared` of switches by their memory, with the switches. Without PFC nothing has headroom here: the
/// pool is then that of the egress queues, which limits them alone.
///
/// # Errors
/// Memory that headroom leaves nothing of.
pub fn pools(config: &Config, listing: &Listing) -> Result<Vec<(String, Vec<String>)>, ScenarioError> {
    let lossless = config.flag("ENABLE_PFC", true)?;
    let mut pools: BTreeMap<(u64, u64), Vec<String>> = BTreeMap::new();
    for switch in listing.switches() {
        let of_links = listing.links.iter().filter(|link| link.ends.contains(&switch));
        let headrooms: Vec<u64> =
            of_links.map(|link| headroom(link.rate, link.delay).map_or(0, |bytes| bytes.0)).collect();
        let memory = memory(config, headrooms.len() as u64)?;
        let kept = KEPT * headrooms.len() as u64;
        let others = headrooms.iter().rev().skip(1).sum::<u64>();
        let taken = kept.saturating_add(others).saturating_add(HEADROOM_OF_NO_PORT);
        let Some(pool) = memory.checked_sub(taken).filter(|pool| *pool > 0) else {
            let name = listing.name(switch);
            let message =
                format!("headroom and frames of {name} take {}, all of {}", Bytes(taken), Bytes(memory));
            return Err(config.error("BUFFER_SIZE", message));
        };
        let egress = memory - kept;
        let pool = if lossless { pool } else { egress };
        pools.entry((pool, egress)).or_default().push(listing.name(switch));
    }
    let of_pool = |((pool, egress), names)| {
        let buffer = format!(
            "{{ pool = \"{pool}B\", crossing = \"pool\", egress-pool = \"{egress}B\", egress-reserve = \"1049B\" }}"
        );
        (buffer, names)
    };
    Ok(pools.into_iter().map(of_pool).collect())
}

/// All memory of a switch, in bytes.
fn memory(config: &Config, ports: u64) -> Result<u64, ScenarioError> {
    match config.number::<u64>("BUFFER_SIZE", 0)? {
        0 => Ok(OF_A_PORT * ports),
        mib if mib > MOST_MIB => {
            let message = format!("{mib} MiB are more than {MOST_MIB}, all that the simulator can count");
            Err(config.error("BUFFER_SIZE", message))
        }
        mib => Ok(mib << 20),
    }
}

/// The value of `reliability`.
///
/// # Errors
/// IRN without its window.
pub fn reliability(config: &Config) -> Result<String, ScenarioError> {
    if !config.flag("ENABLE_IRN", false)? {
        let values = "ack-interval = 1, nack-interval = \"4us\", timeout = \"4ms\", duplicates = \"ack\", restart = \
                      \"any\", nak-marks = true";
        return Ok(format!("{{ go-back-n = {{ {values} }} }}"));
    }
    // Pauses are not to be taken for losses.
    let [low, high] = if config.flag("ENABLE_PFC", true)? { ["off"; 2] } else { ["100us", "320us"] };
    let window = window(config)?;
    Ok(format!(
        "{{ irn = {{ form = \"conweave\", window = \"{window}B\", rto-low = \"{low}\", rto-high = \"{high}\", \
         low-packets = 3, nack-interval = \"4us\" }} }}"
    ))
}

/// The window of IRN in bytes.
fn window(config: &Config) -> Result<u64, ScenarioError> {
    let topology = config.word("TOPOLOGY_FILE").unwrap_or_default();
    let known = WINDOWS.iter().find(|(name, _)| topology.contains(name)).map(|&(_, bytes)| bytes);
    match config.number::<u64>("IRN_BDP", known.unwrap_or(0))? {
        0 => {
            let message = "is missing, and that simulator knows the window of two topologies only, by their names: \
                           write it in bytes, the largest round trip times the NICs' rate";
            Err(config.error("IRN_BDP", message))
        }
        window => Ok(window),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headroom_is_twice_rate_and_delay_and_two_frames() {
        assert_eq!(headroom(Rate::gbps(100), Span::us(1)), Some(Bytes(27_096)));
        assert_eq!(headroom(Rate::gbps(25), Span::us(1)), Some(Bytes(8_346)));
        assert_eq!(headroom(Rate::gbps(400), Span::ms(100)), None);
    }
}
