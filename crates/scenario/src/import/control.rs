//! Settings of senders and receivers: congestion control, windows, acknowledgements.

use floodway_units::Rate;

use super::config::Config;
use super::conweave;
use crate::error::ScenarioError;

/// Where `RP_TIMER` is missing: the default of the simulator's own class.
const RP_TIMER_US: f64 = 1500.0;
/// In ConWeave's driver.
const CONWEAVE_RP_TIMER_US: f64 = 300.0;
/// Where `MIN_RATE` and `DCTCP_RATE_AI` are missing.
const MIN_RATE: Rate = Rate(100_000_000);
const DCTCP_RATE_AI: Rate = Rate(1_000_000_000);

/// The value of `rate-control`.
///
/// # Errors
/// A mode that is not supported, or a malformed value.
pub fn rate_control(config: &mut Config) -> Result<String, ScenarioError> {
    let mode = config.number::<u32>("CC_MODE", 1)?;
    let reaction = match mode {
        1 => dcqcn(config)?,
        3 => return hpcc(config),
        7 => timely(config)?,
        8 => dctcp(config)?,
        10 => {
            let message =
                "HPCC-PINT (10) is not supported; allowed: 1 (DCQCN), 3 (HPCC), 7 (TIMELY), 8 (DCTCP)";
            return Err(config.error("CC_MODE", message));
        }
        _ => {
            config.note("CC_MODE", &format!("{mode} means no reaction to congestion, as in that simulator"));
            "\"line-rate\"".to_owned()
        }
    };
    if !config.flag("HAS_WIN", true)? {
        return Ok(reaction);
    }
    let (size, variable) = (of_path(config)?, config.flag("VAR_WIN", false)?);
    Ok(format!("[{reaction}, {{ static-window = {{ size = \"{size}\", variable = {variable} }} }}]"))
}

/// The round trip and the window of a flow: its path's, or the largest of all pairs of hosts.
fn of_path(config: &Config) -> Result<&'static str, ScenarioError> {
    Ok(if config.number::<u32>("GLOBAL_T", 1)? == 1 { "largest" } else { "auto" })
}

fn gain(config: &mut Config) -> Result<f64, ScenarioError> {
    if !config.has("EWMA_GAIN") {
        config.note("EWMA_GAIN", "is missing: it is 0 then, as in that simulator, and alpha stays as it is");
    }
    config.share("EWMA_GAIN", 0.0)
}

fn dcqcn(config: &mut Config) -> Result<String, ScenarioError> {
    if !config.has("RP_TIMER") && !config.is_conweave() {
        config.note("RP_TIMER", "is missing, and that simulator has no default for it: 1500 us is taken");
    }
    let g = gain(config)?;
    let t_alpha = config.microseconds("ALPHA_RESUME_INTERVAL", 55.0)?;
    let t_dec = config.microseconds("RATE_DECREASE_INTERVAL", 4.0)?;
    let conweave = config.is_conweave();
    let (t_inc, f) = if conweave { (CONWEAVE_RP_TIMER_US, 1) } else { (RP_TIMER_US, 5) };
    let t_inc = config.microseconds("RP_TIMER", t_inc)?;
    let f = config.number::<u32>("FAST_RECOVERY_TIMES", f)?;
    let clamp = config.flag("CLAMP_TARGET_RATE", false)?;
    let (rai, rhai) = (config.step("RATE_AI", None)?, config.step("RATE_HAI", None)?);
    let rmin = config.rate("MIN_RATE", MIN_RATE)?;
    Ok(format!(
        "{{ dcqcn = {{ preset = \"hpcc\", cnp = \"ack-flag\", g = {g:?}, t-alpha = \"{t_alpha}us\", t-dec = \
         \"{t_dec}us\", t-inc = \"{t_inc}us\", f = {f}, rai = \"{rai}\", rhai = \"{rhai}\", rmin = \"{rmin}\", \
         clamp = {clamp} }} }}"
    ))
}

fn hpcc(config: &mut Config) -> Result<String, ScenarioError> {
    if config.is_conweave() {
        config.note("CC_MODE", "ACKs with telemetry have 94 B in that simulator, and 88 B here");
    }
    if !config.flag("HAS_WIN", true)? {
        let message = "HPCC (CC_MODE 3) divides by its window, so that 0 breaks that simulator; write 1";
        return Err(config.error("HAS_WIN", message));
    }
    let of_path = of_path(config)?;
    let (eta, max_stage) = (config.share("U_TARGET", 0.95)?, config.number::<u32>("MI_THRESH", 5)?);
    let (rai, rmin) = (config.step("RATE_AI", None)?, config.rate("MIN_RATE", MIN_RATE)?);
    let variable = config.flag("VAR_WIN", false)?;
    let (fast, multi) = (config.flag("FAST_REACT", true)?, config.flag("MULTI_RATE", true)?);
    let sample = config.flag("SAMPLE_FEEDBACK", false)?;
    let int_multi = config.number::<u32>("INT_MULTI", 1)?;
    for (key, is_0) in [("U_TARGET", eta == 0.0), ("INT_MULTI", int_multi == 0)] {
        if is_0 {
            return Err(config
                .error(key, "that simulator divides by it, so that 0 breaks it; write a number above 0"));
        }
    }
    Ok(format!(
        "{{ hpcc = {{ preset = \"simulator\", eta = {eta:?}, max-stage = {max_stage}, rai = \"{rai}\", rmin = \
         \"{rmin}\", base-rtt = \"{of_path}\", window = \"{of_path}\", variable-window = {variable}, fast-react = \
         {fast}, multi-rate = {multi}, sample-feedback = {sample}, int-multi = {int_multi} }} }}"
    ))
}

fn timely(config: &Config) -> Result<String, ScenarioError> {
    let (rai, rhai) = (config.step("RATE_AI", None)?, config.step("RATE_HAI", None)?);
    let rmin = config.rate("MIN_RATE", MIN_RATE)?;
    Ok(format!(
        "{{ timely = {{ preset = \"hpcc\", rai = \"{rai}\", rhai = \"{rhai}\", rmin = \"{rmin}\" }} }}"
    ))
}

fn dctcp(config: &mut Config) -> Result<String, ScenarioError> {
    let g = gain(config)?;
    let rai = config.step("DCTCP_RATE_AI", Some(DCTCP_RATE_AI))?;
    let rmin = config.rate("MIN_RATE", MIN_RATE)?;
    Ok(format!("{{ dctcp = {{ g = {g:?}, rai = \"{rai}\", rmin = \"{rmin}\" }} }}"))
}

/// The value of `reliability`. That simulator's receiver acknowledges each packet once the interval's bytes
/// have arrived, and repeats a NACK after 500 us; its sender has no timer.
///
/// # Errors
/// What only that simulator does.
pub fn reliability(config: &mut Config, mtu: u64) -> Result<String, ScenarioError> {
    if config.flag("L2_BACK_TO_ZERO", false)? {
        let message = "going back by chunks (1) is not supported: there a flow that is not whole chunks long \
                       never ends; write 0";
        return Err(config.error("L2_BACK_TO_ZERO", message));
    }
    let interval = config.number::<u64>("L2_ACK_INTERVAL", 0)?;
    if interval == 0 {
        let message = "0 turns acknowledgements off there, and no flow ever ends; write 1";
        return Err(config.error("L2_ACK_INTERVAL", message));
    }
    if interval > mtu {
        let message = format!(
            "each packet is acknowledged from the first on; there only from byte {interval} of a flow on"
        );
        config.note("L2_ACK_INTERVAL", &message);
    }
    if config.is_conweave() {
        return conweave::reliability(config);
    }
    let values = "ack-interval = 1, nack-interval = \"500us\", timeout = \"off\", duplicates = \"silent\"";
    Ok(format!("{{ go-back-n = {{ {values} }} }}"))
}
