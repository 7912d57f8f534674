//! The binary form of a schedule, which `txt2bin` of `LogGOPSim` and ATLAHS writes: little-endian, packed.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | the number 4223 |
//! | 4, 1, 1 | ranks, the highest CPU, the highest NIC |
//! | 8, 8 for each rank | where its part begins and ends, behind the first 8 bytes |
//! | of a part: 4, 4 | operations, and those that wait for nothing |
//! | 4 for each of these | its number |
//! | 39 for each operation | what it waits for (4), its kind (1), peer (4), bytes or ns (8), tag (4), CPU (1), NIC (1), and how many wait for its end and for its start, and where they are listed (4 times 4) |
//! | 4 each | the numbers of operations that wait |

use floodway_units::cast::narrow;
use floodway_units::text::counted;
use floodway_units::{Bytes, Span};

use super::{MOST_RANKS, Schedule, imported};
use crate::read::{Imported, ReadError};
use crate::{Graph, Kind, Message, Operation};

/// The first number of a file.
const COOKIE: u64 = 4223;
/// Where positions are counted from.
const BEHIND_COOKIE: usize = 8;
/// Bytes of an operation.
const OPERATION: usize = 39;
/// Any rank, any tag.
const ANY: u32 = u32::MAX;

/// Reads a schedule in binary form; `file` names it in errors.
///
/// # Errors
/// The first byte that is no such schedule.
pub fn goal_binary(bytes: &[u8], file: &str) -> Result<Imported, ReadError> {
    let mut reader = Reader { file, bytes, at: 0 };
    if reader.u64("the number 4223")? != COOKIE {
        return Err(reader.error(0, "a binary GOAL schedule begins with the number 4223, in 8 bytes"));
    }
    let ranks = reader.u32("the number of ranks")?;
    if ranks == 0 || u64::from(ranks) > MOST_RANKS {
        let why = format!("{ranks} is not a number of ranks from 1 to {MOST_RANKS}");
        return Err(reader.error(BEHIND_COOKIE, why));
    }
    reader.take::<2>("the highest CPU and NIC")?;
    let mut parts = Vec::new();
    for rank in 0..ranks {
        let from = reader.u64(&format!("the begin of rank {rank}"))?;
        let to = reader.u64(&format!("the end of rank {rank}"))?;
        parts.push((from, to));
    }
    let mut graphs = Vec::new();
    for (rank, (from, to)) in (0..).zip(parts) {
        graphs.push(reader.rank((rank, ranks), (from, to))?);
    }
    Ok(imported(graphs, Vec::new()))
}

struct Reader<'a> {
    file: &'a str,
    bytes: &'a [u8],
    at: usize,
}

/// What an operation says of those that wait for it: how many, and where they are listed.
struct Waiting {
    end: (u32, u32),
    start: (u32, u32),
}

impl Reader<'_> {
    fn error(&self, at: usize, why: impl Into<String>) -> ReadError {
        ReadError { file: self.file.to_owned(), place: format!("byte {at}"), why: why.into() }
    }

    fn take<const N: usize>(&mut self, what: &str) -> Result<[u8; N], ReadError> {
        let found = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<N>()).copied();
        let found = found.ok_or_else(|| {
            let (at, length) = (self.at.min(self.bytes.len()), self.bytes.len());
            self.error(at, format!("the file ends after {length} bytes, where {what} is expected"))
        })?;
        self.at += N;
        Ok(found)
    }

    fn u32(&mut self, what: &str) -> Result<u32, ReadError> {
        self.take(what).map(u32::from_le_bytes)
    }

    fn u64(&mut self, what: &str) -> Result<u64, ReadError> {
        self.take(what).map(u64::from_le_bytes)
    }

    fn rank(
        &mut self,
        (rank, ranks): (u32, u32),
        (from, to): (u64, u64),
    ) -> Result<(Graph, Vec<u32>), ReadError> {
        let end = (self.bytes.len() - BEHIND_COOKIE) as u64;
        if from > to || to > end {
            let why =
                format!("rank {rank} is from byte {from} to {to} behind the first 8, and {end} are there");
            return Err(self.error(self.bytes.len(), why));
        }
        self.at = BEHIND_COOKIE + narrow::<usize>(from);
        let begin = self.at;
        let count = self.u32("the number of operations")?;
        let roots = self.u32("the number of operations that wait for nothing")?;
        let needed = u64::from(roots) * 4 + u64::from(count) * OPERATION as u64 + 8;
        if needed > to - from || u64::from(count) > u64::from(Message::OPERATIONS) {
            let why = format!(
                "rank {rank} has {count} operations, for which the {} bytes of its part have no room",
                to - from
            );
            return Err(self.error(begin, why));
        }
        self.at += narrow::<usize>(roots) * 4;
        let mut schedule = Schedule::default();
        let mut waiting = Vec::new();
        for _ in 0..count {
            waiting.push(self.operation(&mut schedule, (rank, ranks))?);
        }
        self.dependencies(&mut schedule, &waiting, BEHIND_COOKIE + narrow::<usize>(to))?;
        Ok((Graph::new(schedule.operations), schedule.peers))
    }

    fn operation(
        &mut self,
        schedule: &mut Schedule,
        (rank, ranks): (u32, u32),
    ) -> Result<Waiting, ReadError> {
        let at = self.at;
        let what = "an operation";
        self.u32(what)?;
        let [kind] = self.take::<1>(what)?;
        let (peer, size, tag) = (self.u32(what)?, self.u64(what)?, self.u32(what)?);
        let [cpu, nic] = self.take::<2>(what)?;
        let end = (self.u32(what)?, self.u32(what)?);
        let start = (self.u32(what)?, self.u32(what)?);
        let any = (kind == 2 && peer == ANY).then_some(ANY);
        if matches!(kind, 1 | 2) && any.is_none() && (peer >= ranks || peer == rank) {
            let why = format!(
                "the peer of an operation of rank {rank} is {peer}; allowed: another rank below {ranks}"
            );
            return Err(self.error(at, why));
        }
        if size >= 1 << 50 {
            return Err(self.error(at, format!("{size} is not a number of bytes or nanoseconds below 2^50")));
        }
        let kind = match kind {
            1 if tag == ANY => return Err(self.error(at, "a send has a tag; -1 is for receives")),
            1 => {
                let peer = schedule.slot(peer);
                Kind::Send { peer, bytes: Bytes(size), tag: tag.into(), channel: nic.into() }
            }
            2 => Kind::Recv {
                peer: if any.is_some() { None } else { Some(schedule.slot(peer)) },
                tag: (tag != ANY).then_some(tag.into()),
            },
            // 2^50 ns are beyond the clock.
            3 => Kind::Compute { time: Span(size.saturating_mul(1000)) },
            other => {
                let why =
                    format!("{other} is no kind of an operation; allowed: 1 (send), 2 (recv), 3 (calc)");
                return Err(self.error(at, why));
            }
        };
        let unit = if matches!(kind, Kind::Recv { .. }) { None } else { Some(cpu.into()) };
        let (requires, requires_start) = (Vec::new(), Vec::new());
        schedule.operations.push(Operation { kind, requires, requires_start, unit, name: 0 });
        Ok(Waiting { end, start })
    }

    /// Reads who waits for whom, up to the end of the rank's part.
    fn dependencies(
        &mut self,
        schedule: &mut Schedule,
        waiting: &[Waiting],
        end: usize,
    ) -> Result<(), ReadError> {
        let listed = self.at;
        for (before, of) in (0..).zip(waiting) {
            for ((count, first), is_start) in [(of.end, false), (of.start, true)] {
                if count == 0 {
                    continue;
                }
                let from = listed as u64 + u64::from(first) * 4;
                if from + u64::from(count) * 4 > end as u64 {
                    let why = format!(
                        "what waits for operation {before}, {}, is listed beyond the part",
                        counted(count, "operation")
                    );
                    return Err(self.error(listed, why));
                }
                self.at = narrow(from);
                for _ in 0..count {
                    let at = self.at;
                    let after = self.u32("the number of an operation")?;
                    let Some(operation) = schedule.operations.get_mut(after as usize) else {
                        let why = format!("operation {after} waits, and there are {}", waiting.len());
                        return Err(self.error(at, why));
                    };
                    let list = if is_start { &mut operation.requires_start } else { &mut operation.requires };
                    list.push(before);
                }
            }
        }
        Ok(())
    }
}
