//! Breakdown of a flow's completion time, to the picosecond (`floodway why`).
//!
//! A flow is complete when a packet arrives after which no byte is missing; this need not be the last packet.
//! What the sender did until the first bit of this packet, and then the path of the packet, cover each
//! instant of the completion time exactly once:
//!
//! ```text
//! start ───────── sender ─────────► first bit ─────────── path of the packet ──────────► complete
//!   own data on the wire, or the first    each hop: serialisation, propagation, switching, and the
//!   thing that kept it from it            wait at the port: paused, held back, queueing
//! ```
//! - Packets of the flow have a [`journey`](journey::Flight) each, written down hop by hop until they arrive
//!   or are lost.
//! - The [state](sender::Standing) of the sender is recorded after each event. Nothing but the time changes
//!   between two events, so the end of what ends by time alone (a packet on the wire, a pacing gap) is known
//!   in advance.
//! - Of each port and class it is known [since when it is stopped](stops::Stops), and where that began
//!   ([`origin`]).
//!
//! A run with a trace executes the same events as one without, draws the same random numbers and records the
//! same bytes: a trace gets the run [to read](seen::Seen). It runs on one thread. Without a trace, this is
//! checked only in places that are slow anyway.

mod follow;
mod journey;
mod origin;
pub(crate) mod parts;
mod path;
mod sections;
pub(crate) mod seen;
mod sender;
mod sent;
mod stops;
pub(crate) mod trace;
mod waiting;

pub use parts::{Cause, FlowRef, Part, Why};
pub use path::{CriticalPath, PathPart, PathStep, PathTarget};
pub use sent::Sent;
