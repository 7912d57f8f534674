//! The keys of the configurations of the HPCC simulator and of ConWeave's, which builds on it.

/// How many words follow a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// So many.
    Words(usize),
    /// A count n, and then n pairs of a rate in bit/s and a value.
    Map,
}

/// What becomes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes into the scenario.
    Read,
    /// It has no effect, and why.
    Idle(&'static str),
}

/// A key, what follows it, and what becomes of it.
pub type Key = (&'static str, Takes, Fate);

const ONE: Takes = Takes::Words(1);
const TRACES: Fate = Fate::Idle("floodway writes no packet traces in that simulator's format");
const PINT: Fate = Fate::Idle("HPCC-PINT (CC_MODE 10) is not supported");
const UNUSED: Fate = Fate::Idle("that simulator does not use it either");

/// All keys that the simulator knows, and three of drivers that also set the switch's memory.
pub const KEYS: &[Key] = &[
    ("ENABLE_QCN", ONE, Fate::Read),
    (
        "USE_DYNAMIC_PFC_THRESHOLD",
        ONE,
        Fate::Idle("the threshold is always dynamic, as in that simulator's switches"),
    ),
    ("CLAMP_TARGET_RATE", ONE, Fate::Read),
    ("PAUSE_TIME", ONE, Fate::Idle("a pause lasts until the resume, as in that simulator")),
    ("DATA_RATE", ONE, UNUSED),
    ("LINK_DELAY", ONE, UNUSED),
    ("PACKET_PAYLOAD_SIZE", ONE, Fate::Read),
    ("L2_CHUNK_SIZE", ONE, Fate::Idle("it counts with L2_BACK_TO_ZERO 1 only, which is not supported")),
    ("L2_ACK_INTERVAL", ONE, Fate::Read),
    ("L2_BACK_TO_ZERO", ONE, Fate::Read),
    ("TOPOLOGY_FILE", ONE, Fate::Read),
    ("FLOW_FILE", ONE, Fate::Read),
    ("TRACE_FILE", ONE, TRACES),
    ("TRACE_OUTPUT_FILE", ONE, TRACES),
    ("ENABLE_TRACE", ONE, TRACES),
    ("SIMULATOR_STOP_TIME", ONE, Fate::Read),
    ("ALPHA_RESUME_INTERVAL", ONE, Fate::Read),
    ("RP_TIMER", ONE, Fate::Read),
    ("EWMA_GAIN", ONE, Fate::Read),
    ("FAST_RECOVERY_TIMES", ONE, Fate::Read),
    ("RATE_AI", ONE, Fate::Read),
    ("RATE_HAI", ONE, Fate::Read),
    ("ERROR_RATE_PER_LINK", ONE, Fate::Read),
    ("CC_MODE", ONE, Fate::Read),
    ("RATE_DECREASE_INTERVAL", ONE, Fate::Read),
    ("MIN_RATE", ONE, Fate::Read),
    (
        "FCT_OUTPUT_FILE",
        ONE,
        Fate::Idle("flows are in the results' folder; --export hpcc writes them there as fct.txt, too"),
    ),
    ("HAS_WIN", ONE, Fate::Read),
    ("GLOBAL_T", ONE, Fate::Read),
    ("MI_THRESH", ONE, Fate::Read),
    ("VAR_WIN", ONE, Fate::Read),
    ("FAST_REACT", ONE, Fate::Read),
    ("U_TARGET", ONE, Fate::Read),
    ("INT_MULTI", ONE, Fate::Read),
    ("RATE_BOUND", ONE, Fate::Read),
    ("ACK_HIGH_PRIO", ONE, Fate::Read),
    ("DCTCP_RATE_AI", ONE, Fate::Read),
    (
        "PFC_OUTPUT_FILE",
        ONE,
        Fate::Idle("pauses are in the results' folder; --export hpcc writes them there as pfc.txt, too"),
    ),
    ("LINK_DOWN", Takes::Words(3), Fate::Read),
    ("KMAX_MAP", Takes::Map, Fate::Read),
    ("KMIN_MAP", Takes::Map, Fate::Read),
    ("PMAX_MAP", Takes::Map, Fate::Read),
    ("BUFFER_SIZE", ONE, Fate::Read),
    (
        "QLEN_MON_FILE",
        ONE,
        Fate::Idle("queues are in the results' folder; --export hpcc writes them there as qlen.txt, too"),
    ),
    ("QLEN_MON_START", ONE, Fate::Read),
    ("QLEN_MON_END", ONE, Fate::Read),
    ("MULTI_RATE", ONE, Fate::Read),
    ("SAMPLE_FEEDBACK", ONE, Fate::Read),
    ("PINT_LOG_BASE", ONE, PINT),
    ("PINT_PROB", ONE, PINT),
    ("PFC_A_SHIFT", ONE, Fate::Read),
    ("PFC_RESERVE", ONE, Fate::Read),
    ("PFC_RESUME_OFFSET", ONE, Fate::Read),
];

const CONWEAVE: Fate = Fate::Idle("it counts with LB_MODE 9 only, which is not supported");
const CONWEAVE_LOGS: Fate = Fate::Idle("floodway writes no file in that format");

/// Keys that only ConWeave's simulator knows, and one of drivers that do not take the window from a
/// topology's name. It knows most of the others, too.
pub const CONWEAVE_KEYS: &[Key] = &[
    ("ENABLE_IRN", ONE, Fate::Read),
    ("ENABLE_PFC", ONE, Fate::Read),
    ("LB_MODE", ONE, Fate::Read),
    ("IRN_BDP", ONE, Fate::Read),
    ("FLOWGEN_START_TIME", ONE, Fate::Read),
    ("FLOWGEN_STOP_TIME", ONE, Fate::Read),
    ("RANDOM_SEED", ONE, Fate::Read),
    ("FLOW_INPUT_FILE", ONE, Fate::Idle("that simulator leaves it empty")),
    ("CNP_OUTPUT_FILE", ONE, CONWEAVE_LOGS),
    ("VOQ_MON_FILE", ONE, CONWEAVE_LOGS),
    ("VOQ_MON_DETAIL_FILE", ONE, CONWEAVE_LOGS),
    ("UPLINK_MON_FILE", ONE, CONWEAVE_LOGS),
    ("CONN_MON_FILE", ONE, CONWEAVE_LOGS),
    ("EST_ERROR_MON_FILE", ONE, CONWEAVE_LOGS),
    ("SW_MONITORING_INTERVAL", ONE, CONWEAVE_LOGS),
    ("LOAD", ONE, UNUSED),
    ("CONWEAVE_TX_EXPIRY_TIME", ONE, CONWEAVE),
    ("CONWEAVE_REPLY_TIMEOUT_EXTRA", ONE, CONWEAVE),
    ("CONWEAVE_PATH_PAUSE_TIME", ONE, CONWEAVE),
    ("CONWEAVE_EXTRA_VOQ_FLUSH_TIME", ONE, CONWEAVE),
    ("CONWEAVE_DEFAULT_VOQ_WAITING_TIME", ONE, CONWEAVE),
];

/// Keys of the HPCC simulator and its drivers that ConWeave's does not know.
pub const HPCC_ONLY: &[&str] = &[
    "TRACE_FILE",
    "TRACE_OUTPUT_FILE",
    "ENABLE_TRACE",
    "SIMULATOR_STOP_TIME",
    "ACK_HIGH_PRIO",
    "PINT_LOG_BASE",
    "PINT_PROB",
    "PFC_A_SHIFT",
    "PFC_RESERVE",
    "PFC_RESUME_OFFSET",
];

/// Keys that ConWeave's simulator reads and does not use.
pub const UNUSED_BY_CONWEAVE: &[&str] = &["QLEN_MON_FILE", "QLEN_MON_START", "QLEN_MON_END"];

/// A key by its name.
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().chain(CONWEAVE_KEYS).find(|(known, ..)| *known == name)
}

/// Does a word begin a comment? The simulator skips it as a key that it does not know.
pub fn is_comment(word: &str) -> bool {
    word.starts_with('#') || word.starts_with("//")
}

/// Does only ConWeave's simulator know it?
pub fn is_conweave(name: &str) -> bool {
    CONWEAVE_KEYS.iter().any(|(known, ..)| *known == name)
}
