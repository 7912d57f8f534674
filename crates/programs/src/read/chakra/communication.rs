//! What the values of `comm_type` are here.

use crate::collective::Purpose;

/// `CollectiveCommType` of `et_def.proto`, in the order of its numbers.
const NAMES: [&str; 10] = [
    "ALL_REDUCE",
    "REDUCE",
    "ALL_GATHER",
    "GATHER",
    "SCATTER",
    "BROADCAST",
    "ALL_TO_ALL",
    "REDUCE_SCATTER",
    "REDUCE_SCATTER_BLOCK",
    "BARRIER",
];

/// What a collective does, by the number in a trace.
///
/// # Errors
/// What is available instead.
pub(super) fn purpose_of(number: i128) -> Result<Purpose, String> {
    let name = usize::try_from(number).ok().and_then(|at| NAMES.get(at)).copied();
    if let Some(known) = name.and_then(purpose_by_name) {
        return Ok(known);
    }
    let given = name.map_or_else(|| number.to_string(), |name| format!("{number} ({name})"));
    Err(format!("comm_type {given} is not available; available are {}", available()))
}

/// The one place that says which collective of floodway each of them is.
fn purpose_by_name(name: &str) -> Option<Purpose> {
    Some(match name {
        "ALL_REDUCE" => Purpose::AllReduce,
        "REDUCE" => Purpose::Reduce,
        "GATHER" => Purpose::Gather,
        "SCATTER" => Purpose::Scatter,
        "BARRIER" => Purpose::Barrier,
        "ALL_GATHER" => Purpose::AllGather,
        "BROADCAST" => Purpose::Broadcast,
        "ALL_TO_ALL" => Purpose::AllToAll,
        "REDUCE_SCATTER" | "REDUCE_SCATTER_BLOCK" => Purpose::ReduceScatter,
        _ => return None,
    })
}

/// The names that are available.
pub(super) fn available() -> String {
    let names: Vec<&str> = NAMES.into_iter().filter(|name| purpose_by_name(name).is_some()).collect();
    names.join(", ")
}
