//! The keys of the configurations of the HPCC simulator, and of ConWeave's and `SimAI`'s, which build on it.

/// How many words follow a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// So many.
    Words(usize),
    /// A count n, and then n pairs of a rate in bit/s and a value.
    Map,
}

/// How a key is translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It goes into the scenario.
    Read,
    /// It has no effect, and why.
    Idle(&'static str),
}

/// A key, its value, and how it is translated.
pub type Key = (&'static str, Takes, Effect);

const ONE: Takes = Takes::Words(1);
const TRACES: Effect = Effect::Idle("floodway writes no packet traces in that simulator's format");
const PINT: Effect = Effect::Idle("HPCC-PINT (CC_MODE 10) is not supported");
const UNUSED: Effect = Effect::Idle("that simulator does not use it either");

/// All keys that the simulator knows, and three of drivers that also set the switch's memory.
pub const KEYS: &[Key] = &[
    ("ENABLE_QCN", ONE, Effect::Read),
    (
        "USE_DYNAMIC_PFC_THRESHOLD",
        ONE,
        Effect::Idle("the threshold is always dynamic, as in that simulator's switches"),
    ),
    ("CLAMP_TARGET_RATE", ONE, Effect::Read),
    ("PAUSE_TIME", ONE, Effect::Idle("a pause lasts until the resume, as in that simulator")),
    ("DATA_RATE", ONE, UNUSED),
    ("LINK_DELAY", ONE, UNUSED),
    ("PACKET_PAYLOAD_SIZE", ONE, Effect::Read),
    ("L2_CHUNK_SIZE", ONE, Effect::Idle("it counts with L2_BACK_TO_ZERO 1 only, which is not supported")),
    ("L2_ACK_INTERVAL", ONE, Effect::Read),
    ("L2_BACK_TO_ZERO", ONE, Effect::Read),
    ("TOPOLOGY_FILE", ONE, Effect::Read),
    ("FLOW_FILE", ONE, Effect::Read),
    ("TRACE_FILE", ONE, TRACES),
    ("TRACE_OUTPUT_FILE", ONE, TRACES),
    ("ENABLE_TRACE", ONE, TRACES),
    ("SIMULATOR_STOP_TIME", ONE, Effect::Read),
    ("ALPHA_RESUME_INTERVAL", ONE, Effect::Read),
    ("RP_TIMER", ONE, Effect::Read),
    ("EWMA_GAIN", ONE, Effect::Read),
    ("FAST_RECOVERY_TIMES", ONE, Effect::Read),
    ("RATE_AI", ONE, Effect::Read),
    ("RATE_HAI", ONE, Effect::Read),
    ("ERROR_RATE_PER_LINK", ONE, Effect::Read),
    ("CC_MODE", ONE, Effect::Read),
    ("RATE_DECREASE_INTERVAL", ONE, Effect::Read),
    ("MIN_RATE", ONE, Effect::Read),
    (
        "FCT_OUTPUT_FILE",
        ONE,
        Effect::Idle("flows are in the results' folder; --export hpcc writes them there as fct.txt, too"),
    ),
    ("HAS_WIN", ONE, Effect::Read),
    ("GLOBAL_T", ONE, Effect::Read),
    ("MI_THRESH", ONE, Effect::Read),
    ("VAR_WIN", ONE, Effect::Read),
    ("FAST_REACT", ONE, Effect::Read),
    ("U_TARGET", ONE, Effect::Read),
    ("INT_MULTI", ONE, Effect::Read),
    ("RATE_BOUND", ONE, Effect::Read),
    ("ACK_HIGH_PRIO", ONE, Effect::Read),
    ("DCTCP_RATE_AI", ONE, Effect::Read),
    (
        "PFC_OUTPUT_FILE",
        ONE,
        Effect::Idle("pauses are in the results' folder; --export hpcc writes them there as pfc.txt, too"),
    ),
    ("LINK_DOWN", Takes::Words(3), Effect::Read),
    ("KMAX_MAP", Takes::Map, Effect::Read),
    ("KMIN_MAP", Takes::Map, Effect::Read),
    ("PMAX_MAP", Takes::Map, Effect::Read),
    ("BUFFER_SIZE", ONE, Effect::Read),
    (
        "QLEN_MON_FILE",
        ONE,
        Effect::Idle("queues are in the results' folder; --export hpcc writes them there as qlen.txt, too"),
    ),
    ("QLEN_MON_START", ONE, Effect::Read),
    ("QLEN_MON_END", ONE, Effect::Read),
    ("MULTI_RATE", ONE, Effect::Read),
    ("SAMPLE_FEEDBACK", ONE, Effect::Read),
    ("PINT_LOG_BASE", ONE, PINT),
    ("PINT_PROB", ONE, PINT),
    ("PFC_A_SHIFT", ONE, Effect::Read),
    ("PFC_RESERVE", ONE, Effect::Read),
    ("PFC_RESUME_OFFSET", ONE, Effect::Read),
];

const CONWEAVE: Effect = Effect::Idle("it counts with LB_MODE 9 only, which is not supported");
const CONWEAVE_LOGS: Effect = Effect::Idle("floodway writes no file in that format");

/// Keys that only ConWeave's simulator knows, and one of drivers that do not take the window from a
/// topology's name. It knows most of the others, too.
pub const CONWEAVE_KEYS: &[Key] = &[
    ("ENABLE_IRN", ONE, Effect::Read),
    ("ENABLE_PFC", ONE, Effect::Read),
    ("LB_MODE", ONE, Effect::Read),
    ("IRN_BDP", ONE, Effect::Read),
    ("FLOWGEN_START_TIME", ONE, Effect::Read),
    ("FLOWGEN_STOP_TIME", ONE, Effect::Read),
    ("RANDOM_SEED", ONE, Effect::Read),
    ("FLOW_INPUT_FILE", ONE, Effect::Idle("that simulator leaves it empty")),
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

/// Keys that only `SimAI`'s configurations have. Its topology and workload are arguments of its program.
pub const SIMAI_KEYS: &[Key] = &[
    ("BW_MON_FILE", ONE, CONWEAVE_LOGS),
    ("RATE_MON_FILE", ONE, CONWEAVE_LOGS),
    ("CNP_MON_FILE", ONE, CONWEAVE_LOGS),
    ("MON_START", ONE, CONWEAVE_LOGS),
    ("MON_END", ONE, CONWEAVE_LOGS),
    ("QP_MON_INTERVAL", ONE, CONWEAVE_LOGS),
    ("QLEN_MON_INTERVAL", ONE, CONWEAVE_LOGS),
    ("BW_MON_INTERVAL", ONE, CONWEAVE_LOGS),
    ("TRACE_NODE", ONE, TRACES),
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
    KEYS.iter().chain(CONWEAVE_KEYS).chain(SIMAI_KEYS).find(|(known, ..)| *known == name)
}

/// Does only a configuration of `SimAI` have it?
pub fn is_simai(name: &str) -> bool {
    SIMAI_KEYS.iter().any(|(known, ..)| *known == name)
}

/// Does a word begin a comment? The simulator skips it as a key that it does not know.
pub fn is_comment(word: &str) -> bool {
    word.starts_with('#') || word.starts_with("//")
}

/// Does only ConWeave's simulator know it?
pub fn is_conweave(name: &str) -> bool {
    CONWEAVE_KEYS.iter().any(|(known, ..)| *known == name)
}
