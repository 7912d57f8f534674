//! Exchange of bytes by MPI.

use std::sync::{Mutex, PoisonError};

use floodway_fabric::{RankLost, Transport};
use mpi::Threading;
use mpi::environment::Universe;
use mpi::request::scope;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator as _, CommunicatorCollectives as _, Destination as _, Source as _};

/// Bytes of a message at most: MPI counts them in 31 bits.
const MOST: usize = 1 << 30;

/// A process that is connected to the others.
pub struct Connected {
    /// Disconnects when it is dropped.
    universe: Mutex<Option<Universe>>,
    ranks: MpiRanks,
}

impl Connected {
    pub fn new() -> Result<Self, String> {
        // A run has a thread of its own, which is not the one that connects.
        let universe = mpi::initialize_with_threading(Threading::Serialized);
        let (universe, threading) = universe.ok_or("MPI was started before")?;
        if threading < Threading::Serialized {
            return Err(format!(
                "MPI must support calls from several threads in turn, and has {threading:?}"
            ));
        }
        let world = universe.world();
        let ranks = MpiRanks { rank: world.rank() as usize, ranks: world.size() as usize };
        Ok(Connected { universe: Mutex::new(Some(universe)), ranks })
    }

    pub fn transport(&self) -> MpiRanks {
        self.ranks
    }

    pub fn finish(&self) {
        self.universe.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Ends all processes.
    pub fn abort(&self, code: i32) {
        SimpleCommunicator::world().abort(code);
    }
}

/// The processes that MPI has started.
#[derive(Clone, Copy, Debug)]
pub struct MpiRanks {
    rank: usize,
    ranks: usize,
}

impl Transport for MpiRanks {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    /// MPI ends all processes itself where one is lost.
    fn exchange(&self, outgoing: &[Vec<u8>], incoming: &mut [Vec<u8>]) -> Result<(), RankLost> {
        let world = SimpleCommunicator::world();
        let size = |(to, bytes): (usize, &Vec<u8>)| if to == self.rank { 0 } else { bytes.len() as u64 };
        let sizes: Vec<u64> = outgoing.iter().enumerate().map(size).collect();
        let mut coming = vec![0u64; self.ranks];
        world.all_to_all_into(&sizes[..], &mut coming[..]);
        scope(|scope| {
            let (mut receiving, mut sending) = (Vec::new(), Vec::new());
            for (from, (bytes, &size)) in incoming.iter_mut().zip(&coming).enumerate() {
                bytes.resize(size as usize, 0);
                let process = world.process_at_rank(from as i32);
                let pieces = bytes.chunks_mut(MOST);
                receiving.extend(pieces.map(|piece| process.immediate_receive_into(scope, piece)));
            }
            for (to, (bytes, &size)) in outgoing.iter().zip(&sizes).enumerate() {
                let process = world.process_at_rank(to as i32);
                let pieces = bytes[..size as usize].chunks(MOST);
                sending.extend(pieces.map(|piece| process.immediate_send(scope, piece)));
            }
            for request in receiving {
                request.wait();
            }
            for request in sending {
                request.wait();
            }
        });
        Ok(())
    }
}
