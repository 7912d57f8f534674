//! Semantics: the points in which a run behaves as another simulator.

/// Points in which other simulators differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Semantics {
    /// When a packet's bytes leave the ingress account.
    pub release: Release,
    /// What orders events of one instant.
    pub ties: Ties,
    /// Where ties go by scheduling order: when flows start among the events of their instant.
    pub starts: Starts,
    /// How a serialisation time is rounded.
    pub rounding: Rounding,
    /// What a new rate does to the packet that waits for its pacing time.
    pub repacing: Repacing,
    /// What timers of a rate control make a NIC do.
    pub rate_timers: RateTimers,
    /// Where replies queue.
    pub acks: Acks,
    /// Where link control frames queue.
    pub link_control: LinkControl,
    /// Whose turn it is at a NIC.
    pub turns: Turns,
    /// When a window lets a packet go.
    pub window: WindowRule,
    /// What a base round-trip time counts.
    pub base_rtt: BaseRtt,
    /// Whether rates hold packets back.
    pub pacing: Pacing,
    /// Where congestion points draw from.
    pub draws: Draws,
}

/// Where congestion points draw from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Draws {
    /// Each node from a stream of its own.
    #[default]
    PerNode,
    /// As in the HPCC simulator (one thread only): each draw of the run is the first of a new stream of
    /// ns-3's generator, of which each pause frame takes one, too; replies among data are drawn for, though a
    /// mark means nothing to them.
    HpccNs3,
    /// As in ConWeave's simulator: the draws of each switch are those of one stream of ns-3's generator, the
    /// same one for every switch.
    ConweaveNs3,
    /// As in SWING's simulator: each switch has a stream of ns-3's generator, the first one the second of the
    /// run, and so on in the order of the switches.
    SwingNs3,
}

/// Where replies (ACK, NAK) queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acks {
    /// In the control class, served first everywhere, never paused.
    #[default]
    Control,
    /// At hosts before all data, in switches with the data of their flow's class; a pause of the class stops
    /// them, too.
    Data,
    /// As `Data`, but a pause does not stop them at hosts.
    DataUnpaused,
}

/// Where link control frames (PAUSE, credits) queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkControl {
    /// Before all else.
    #[default]
    First,
    /// In one queue with the control class, first in, first out.
    ControlClass,
}

/// Whose turn it is among a NIC's queue pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Turns {
    /// The next one, round and round, in the order in which they started.
    #[default]
    Ring,
    /// As in SWING's simulator: round and round in the order in which the flows are listed, whichever start
    /// first; and one timer wakes the NIC, which is not set while a listed flow of the host is still to
    /// start, nor while the pacing time of any queue pair with something left is in the past.
    Listed,
    /// As in the HPCC simulator: round a list by place, from which finished queue pairs are taken out when
    /// they are come across, without the place of the last turn being moved; and one timer wakes the NIC.
    List,
    /// As in ConWeave's simulator: likewise, but finished queue pairs keep their places, and only those that
    /// wait for their pacing time wake the NIC.
    StandingList,
}

impl Turns {
    /// Do turns go round a list, at a NIC with one timer?
    pub fn by_list(self) -> bool {
        matches!(self, Turns::List | Turns::StandingList)
    }

    /// Is a queue pair that is complete unknown to its NIC, so that later replies for it trigger no
    /// transmission? In SWING's simulator, whose turns are a ring, each reply does.
    pub fn forget(self) -> bool {
        matches!(self, Turns::List | Turns::StandingList)
    }
}

/// When a window lets a packet go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowRule {
    /// The bytes in flight and its own are at most the window.
    #[default]
    Whole,
    /// The bytes in flight are less than the window, which the packet may exceed.
    Overshoot,
}

/// What a base round-trip time counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BaseRtt {
    /// Propagation, pipelines, crossbars, and store and forward of a full packet one way and of its ACK the
    /// other.
    #[default]
    Exact,
    /// Twice the propagation, and store and forward of a full packet one way, as in SWING's simulator.
    OneWay,
    /// Twice the propagation, and at each link the whole nanoseconds of a full packet's payload, one way.
    Payload,
}

/// Whether rates hold packets back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pacing {
    /// Packets are paced at their queue pair's rate.
    #[default]
    On,
    /// Rates only scale windows.
    Off,
}

/// When a packet's bytes leave the ingress account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Release {
    /// At its last bit.
    #[default]
    End,
    /// At the start of its transmission.
    Start,
}

/// What orders events of one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// Kind, then a keyed hash of port and sequence number among arrivals: independent of threads and time.
    #[default]
    Hashed,
    /// The order in which they were scheduled (one thread only).
    SchedulingOrder,
    /// Likewise, as htsim schedules them: of the packets on a link only the first has an event, what arrives
    /// at a switch passes behind all else of its instant, and a NIC sends when a packet's last bit has left.
    Htsim,
}

impl Ties {
    /// Do events of one instant go by the order in which they were scheduled?
    #[inline]
    pub fn is_numbered(self) -> bool {
        self != Ties::Hashed
    }
}

/// When flows start among the events of their instant, where ties go by scheduling order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Starts {
    /// Before all others: they are scheduled before the run.
    #[default]
    First,
    /// After all others: each is scheduled when its time has come.
    Last,
}

/// What a new rate does to the packet of a queue pair that waits for its pacing time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repacing {
    /// It is paced at the new rate: its gap counts from the start of the packet before.
    #[default]
    Moved,
    /// Its time stays; the new rate holds for the packets after it.
    Kept,
    /// As the mechanism's model in the HPCC simulator does: HPCC moves it, the others keep it.
    ByMechanism,
}

/// What a timer of a rate control makes the NIC do, besides setting the rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateTimers {
    /// It looks for something to send.
    #[default]
    Look,
    /// Nothing.
    Silent,
}

/// How a serialisation time is rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    /// Up to a picosecond; exact at Ethernet rates.
    #[default]
    Picosecond,
    /// Down to a nanosecond through a 64.64 fixed-point number of seconds, as ns-3 does.
    TruncatedNanosecond,
    /// Likewise, and down to the fixed-point number, as older ns-3 does: an exact nanosecond comes out one
    /// less.
    CutNanosecond,
}
