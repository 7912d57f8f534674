//! What a list of each slot makes: the enum of parameters with its queries, and the enums of machines.

macro_rules! flow_controls {
    ($($variant:ident => $module:ident,)*) => {
        choices! {
            /// Link flow control of one class, as chosen for a link.
            FlowControlParams { $($variant => $module,)* }
        }

        impl FlowControlParams {
            /// The two halves for one link direction and class.
            pub fn build(
                &self,
                link: &$crate::slots::LinkInfo,
            ) -> Result<(AnyFcSender, AnyFcReceiver), $crate::slots::ParamError> {
                use $crate::slots::FlowControl as _;
                Ok(match self {
                    $(Self::$variant(params) => {
                        let (sender, receiver) = params.build(link)?;
                        (AnyFcSender::$variant(sender), AnyFcReceiver::$variant(receiver))
                    })*
                })
            }

            /// The smallest buffer of the ingress that does what this flow control promises.
            pub fn min_buffer(&self, link: &$crate::slots::LinkInfo) -> ::floodway_units::Bytes {
                use $crate::slots::FlowControl as _;
                match self { $(Self::$variant(params) => params.min_buffer(link),)* }
            }

            /// The formula of `min_buffer`, as messages show it.
            pub fn min_buffer_formula(&self) -> &'static str {
                use $crate::slots::FlowControl as _;
                match self { $(Self::$variant(params) => params.min_buffer_formula(),)* }
            }

            /// What admission sets aside beyond the threshold.
            pub fn headroom(&self, link: &$crate::slots::LinkInfo) -> ::floodway_units::Bytes {
                use $crate::slots::FlowControl as _;
                match self { $(Self::$variant(params) => params.headroom(link),)* }
            }

            /// What the ingress must have so that nothing is lost: all of a buffer of the port's own, or headroom beside a pool.
            pub fn lossless_size(&self, link: &$crate::slots::LinkInfo) -> ::floodway_units::Bytes {
                use $crate::slots::FlowControl as _;
                match self { $(Self::$variant(params) => params.lossless_size(link),)* }
            }

            /// What may come on top of `lossless_size` each time that the link comes up again.
            pub fn restart_size(&self, link: &$crate::slots::LinkInfo) -> ::floodway_units::Bytes {
                use $crate::slots::FlowControl as _;
                match self { $(Self::$variant(params) => params.restart_size(link),)* }
            }

            /// Why a buffer of `lossless_size` may overflow all the same on this link, if it may.
            pub fn may_overflow(&self, link: &$crate::slots::LinkInfo) -> Option<String> {
                use $crate::slots::FlowControl as _;
                match self { $(Self::$variant(params) => params.may_overflow(link),)* }
            }

            /// What the port holds when it pauses its upstream, if it is the only one that holds anything.
            pub fn pauses_at(
                &self,
                link: &$crate::slots::LinkInfo,
                share: &$crate::slots::SwitchShare,
            ) -> Option<::floodway_units::Bytes> {
                use $crate::slots::FlowControl as _;
                match self { $(Self::$variant(params) => params.pauses_at(link, share),)* }
            }

            /// What is odd of this flow control on this link, though nothing is lost.
            pub fn caveats(
                &self,
                link: &$crate::slots::LinkInfo,
                share: &$crate::slots::SwitchShare,
            ) -> Vec<String> {
                use $crate::slots::FlowControl as _;
                match self { $(Self::$variant(params) => params.caveats(link, share),)* }
            }

            /// How long the upstream is assumed to take to obey a pause, where a size depends on it.
            pub fn reaction(&self, link: &$crate::slots::LinkInfo) -> Option<::floodway_units::Span> {
                use $crate::slots::FlowControl as _;
                match self { $(Self::$variant(params) => params.reaction(link),)* }
            }

            /// Does a buffer of `lossless_size` never overflow?
            pub fn is_lossless(&self) -> bool {
                use $crate::slots::FlowControl as _;
                match self { $(Self::$variant(params) => params.is_lossless(),)* }
            }

            /// Does it keep its promise where packets come that no gate has held?
            pub fn bears_unpaused(&self) -> bool {
                use $crate::slots::FlowControl as _;
                match self { $(Self::$variant(params) => params.bears_unpaused(),)* }
            }

            /// Does it keep its promise where frames of its own are lost on the link?
            pub fn tolerates_lost_frames(&self) -> bool {
                use $crate::slots::FlowControl as _;
                match self { $(Self::$variant(params) => params.tolerates_lost_frames(),)* }
            }

            /// How long pauses last on its link, where `run` is the mode of the run.
            pub fn pause_mode(&self, run: $crate::slots::PauseMode) -> $crate::slots::PauseMode {
                use $crate::slots::FlowControl as _;
                match self { $(Self::$variant(params) => params.pause_mode(run),)* }
            }

            /// The device that it puts at each end of its link, if it does.
            pub fn relay(&self) -> Option<$crate::slots::Relay> {
                use $crate::slots::FlowControl as _;
                match self { $(Self::$variant(params) => params.relay(),)* }
            }
        }

        slot_enum! {
            /// A flow control's half at the upstream egress.
            AnyFcSender: FcSender ($($variant(<$crate::$module::Params as $crate::slots::FlowControl>::Sender),)*)
            fn on_frame[self: &mut Self](
                cx: &mut $crate::slots::Cx<'_, $crate::slots::FcFrame>,
                frame: $crate::slots::FcFrame
            );
            fn counts_sent[self: &Self]() -> bool;
            fn on_sent[self: &mut Self](
                cx: &mut $crate::slots::Cx<'_, $crate::slots::FcFrame>,
                wire: ::floodway_units::Bytes
            );
            fn gate[self: &Self](now: ::floodway_units::Time, next: ::floodway_units::Bytes) -> $crate::slots::Gate;
            fn is_free[self: &Self]() -> bool;
            fn discards[self: &Self](now: ::floodway_units::Time) -> bool;
            fn next_timeout[self: &Self]() -> Option<::floodway_units::Time>;
            fn on_timeout[self: &mut Self](cx: &mut $crate::slots::Cx<'_, $crate::slots::FcFrame>);
            fn on_link_reset[self: &mut Self](cx: &mut $crate::slots::Cx<'_, $crate::slots::FcFrame>);
        }

        slot_enum! {
            /// A flow control's half at the downstream ingress.
            AnyFcReceiver: FcReceiver ($($variant(<$crate::$module::Params as $crate::slots::FlowControl>::Receiver),)*)
            fn on_enqueue[self: &mut Self](
                cx: &mut $crate::slots::Cx<'_, $crate::slots::FcFrame>,
                q: &$crate::slots::IngressView
            );
            fn on_release[self: &mut Self](
                cx: &mut $crate::slots::Cx<'_, $crate::slots::FcFrame>,
                q: &$crate::slots::IngressView
            );
            fn on_refused[self: &mut Self](
                cx: &mut $crate::slots::Cx<'_, $crate::slots::FcFrame>,
                q: &$crate::slots::IngressView
            );
            fn awaits_release[self: &Self]() -> bool;
            fn is_pausing[self: &Self](now: ::floodway_units::Time) -> bool;
            fn threshold[self: &Self](pool_free: ::floodway_units::Bytes) -> ::floodway_units::Bytes;
            fn quiet_below[self: &Self](pool_free: ::floodway_units::Bytes) -> ::floodway_units::Bytes;
            fn on_frame[self: &mut Self](
                cx: &mut $crate::slots::Cx<'_, $crate::slots::FcFrame>,
                frame: $crate::slots::FcFrame,
                q: &$crate::slots::IngressView
            );
            fn next_timeout[self: &Self]() -> Option<::floodway_units::Time>;
            fn on_timeout[self: &mut Self](
                cx: &mut $crate::slots::Cx<'_, $crate::slots::FcFrame>,
                q: &$crate::slots::IngressView
            );
            fn on_link_reset[self: &mut Self](
                cx: &mut $crate::slots::Cx<'_, $crate::slots::FcFrame>,
                q: &$crate::slots::IngressView
            );
        }
    };
}

macro_rules! buffers {
    ($($variant:ident => $module:ident,)*) => {
        choices! {
            /// Admission to a switch's buffer (key `buffer`).
            BufferParams { $($variant => $module,)* }
        }

        impl BufferParams {
            /// What it takes of the switch's memory.
            pub fn plan(&self) -> $crate::slots::BufferPlan {
                use $crate::slots::Buffer as _;
                match self { $(Self::$variant(params) => params.plan(),)* }
            }

            /// The machine of one ingress port.
            pub fn build(&self) -> Result<AnyAdmission, $crate::slots::ParamError> {
                use $crate::slots::Buffer as _;
                match self { $(Self::$variant(params) => params.build().map(AnyAdmission::$variant),)* }
            }
        }

        slot_enum! {
            /// An ingress port's admission.
            AnyAdmission: Admission ($($variant(<$crate::$module::Params as $crate::slots::Buffer>::Admission),)*)
            fn admit[self: &mut Self](
                now: ::floodway_units::Time,
                rng: &mut ::floodway_units::Rng,
                p: &$crate::slots::PacketView,
                i: &$crate::slots::IngressView,
                e: &$crate::slots::QueueView,
                pool: &$crate::slots::PoolView
            ) -> $crate::slots::Admit;
            fn egress_reserve[self: &Self]() -> Option<::floodway_units::Bytes>;
            fn is_plain[self: &Self]() -> bool;
        }
    };
}

macro_rules! routings {
    ($($variant:ident => $module:ident,)*) => {
        choices! {
            /// Routing among equal-cost ports.
            RoutingParams { $($variant => $module,)* }
        }

        impl RoutingParams {
            /// The machine of one switch.
            pub fn build(&self, switch: &$crate::slots::SwitchInfo) -> Result<AnyRouter, $crate::slots::ParamError> {
                use $crate::slots::Routing as _;
                match self { $(Self::$variant(params) => params.build(switch).map(AnyRouter::$variant),)* }
            }
        }

        slot_enum! {
            /// A switch's router.
            AnyRouter: Router ($($variant(<$crate::$module::Params as $crate::slots::Routing>::Router),)*)
            fn by_flow[self: &Self](flow: &$crate::slots::FlowTuple, ways: usize) -> Option<usize>;
            fn reads_ports[self: &Self]() -> bool;
            fn usual_way[self: &mut Self](p: &$crate::slots::PacketView, ports: &[floodway_units::PortId]) -> Option<usize>;
            fn stays[self: &Self](p: &$crate::slots::PacketView, at: &$crate::slots::PortView) -> bool;
            fn route[self: &mut Self](
                now: ::floodway_units::Time,
                rng: &mut ::floodway_units::Rng,
                p: &$crate::slots::PacketView,
                candidates: &[$crate::slots::PortView]
            ) -> usize;
        }
    };
}

macro_rules! schedulers {
    ($($variant:ident => $module:ident,)*) => {
        choices! {
            /// Scheduling of an egress port's queues.
            SchedulerParams { $($variant => $module,)* }
        }

        impl SchedulerParams {
            /// The machine of one egress port.
            pub fn build(&self, port: &$crate::slots::PortInfo) -> Result<AnyScheduler, $crate::slots::ParamError> {
                use $crate::slots::Scheduling as _;
                match self { $(Self::$variant(params) => params.build(port).map(AnyScheduler::$variant),)* }
            }
        }

        slot_enum! {
            /// An egress port's scheduler.
            AnyScheduler: Scheduler ($($variant(<$crate::$module::Params as $crate::slots::Scheduling>::Scheduler),)*)
            fn pick[self: &mut Self](
                now: ::floodway_units::Time,
                queues: &[$crate::slots::ReadyView]
            ) -> Option<::floodway_units::QueueId>;
            fn on_sent[self: &mut Self](
                now: ::floodway_units::Time,
                q: ::floodway_units::QueueId,
                wire: ::floodway_units::Bytes
            );
        }
    };
}

macro_rules! congestion_points {
    ($($variant:ident => $module:ident,)*) => {
        choices! {
            /// A congestion point of an egress port.
            CongestionPointParams { $($variant => $module,)* }
        }

        impl CongestionPointParams {
            /// The machine of one egress port.
            #[allow(unused_variables, reason = "the list may be empty")]
            pub fn build(
                &self,
                port: &$crate::slots::PortInfo,
            ) -> Result<AnyCongestionPoint, $crate::slots::ParamError> {
                match *self {
                    $(Self::$variant(ref params) => {
                        $crate::slots::Detection::build(params, port).map(AnyCongestionPoint::$variant)
                    })*
                }
            }

            /// What it cannot work without.
            pub fn needs(&self) -> &'static [$crate::slots::Need] {
                use $crate::slots::Detection as _;
                match self { $(Self::$variant(params) => params.needs(),)* }
            }

            /// Queues up to this length are nothing to it.
            pub fn ignores_up_to(&self) -> Option<::floodway_units::Bytes> {
                use $crate::slots::Detection as _;
                match self { $(Self::$variant(params) => params.ignores_up_to(),)* }
            }

            /// Does it tell by this?
            pub fn tells(&self, by: $crate::slots::Tells) -> bool {
                use $crate::slots::Detection as _;
                match self { $(Self::$variant(params) => params.tells().contains(&by),)* }
            }

            /// Itself at a port: what a rate or a delay decides is there in numbers.
            #[must_use]
            pub fn settled(&self, port: &$crate::slots::PortInfo) -> Self {
                use $crate::slots::Detection as _;
                match self { $(Self::$variant(params) => Self::$variant(params.settled(port)),)* }
            }
        }

        slot_enum! {
            /// A congestion point's machine.
            AnyCongestionPoint: CongestionPoint ($($variant(<$crate::$module::Params as $crate::slots::Detection>::Cp),)*)
            fn claims[self: &Self]() -> &'static [$crate::slots::Claim];
            fn classify[self: &mut Self](
                now: ::floodway_units::Time,
                p: &$crate::slots::PacketView
            ) -> ::floodway_units::QueueId;
            fn admit[self: &mut Self](
                now: ::floodway_units::Time,
                rng: &mut ::floodway_units::Rng,
                p: &$crate::slots::PacketView,
                q: &$crate::slots::QueueView
            ) -> Option<$crate::slots::DropReason>;
            fn gate[self: &Self](now: ::floodway_units::Time, q: ::floodway_units::QueueId) -> $crate::slots::Gate;
            fn quiet_up_to[self: &Self]() -> Option<::floodway_units::Bytes>;
            fn recounts[self: &Self]() -> bool;
            fn on_waiting[self: &mut Self](p: &$crate::slots::PacketView);
            fn on_removed[self: &mut Self](now: ::floodway_units::Time, p: &$crate::slots::PacketView);
            fn remembers[self: &Self]() -> ::floodway_units::Span;
            fn watches_inputs[self: &Self]() -> bool;
            fn isolates[self: &Self]() -> bool;
            fn on_input[self: &mut Self](
                cx: &mut $crate::slots::Cx<'_, $crate::slots::CpAction>,
                p: &$crate::slots::PacketView,
                q: &$crate::slots::QueueView
            );
            fn on_resorted[self: &mut Self](
                now: ::floodway_units::Time,
                class: ::floodway_units::Class,
                queues: [::floodway_units::Bytes; 2]
            );
            fn on_enqueue[self: &mut Self](
                cx: &mut $crate::slots::Cx<'_, $crate::slots::CpAction>,
                p: &$crate::slots::PacketView,
                q: &$crate::slots::QueueView
            ) -> $crate::slots::Mark;
            fn on_dequeue[self: &mut Self](
                cx: &mut $crate::slots::Cx<'_, $crate::slots::CpAction>,
                p: &$crate::slots::PacketView,
                q: &$crate::slots::QueueView
            ) -> $crate::slots::Mark;
            fn on_paused[self: &mut Self](now: ::floodway_units::Time, q: &$crate::slots::QueueView);
            fn on_resumed[self: &mut Self](now: ::floodway_units::Time, q: &$crate::slots::QueueView);
            fn on_pause_sent[self: &mut Self](
                now: ::floodway_units::Time,
                ingress: ::floodway_units::PortId,
                class: ::floodway_units::Class
            );
            fn on_notice[self: &mut Self](
                cx: &mut $crate::slots::Cx<'_, $crate::slots::CpAction>,
                n: &$crate::slots::RegionNotice
            );
            fn next_timeout[self: &Self]() -> Option<::floodway_units::Time>;
            fn on_timeout[self: &mut Self](cx: &mut $crate::slots::Cx<'_, $crate::slots::CpAction>);
            fn state[self: &Self](now: ::floodway_units::Time, class: ::floodway_units::Class) -> &'static str;
            fn signals[self: &Self](now: ::floodway_units::Time) -> $crate::slots::Signals;
            fn is_culprit[self: &Self](now: ::floodway_units::Time, flow: ::floodway_units::FlowId) -> bool;
        }
    };
}

macro_rules! notifications {
    ($($variant:ident => $module:ident,)*) => {
        choices! {
            /// What the receiver tells the sender.
            NotificationParams { $($variant => $module,)* }
        }

        impl NotificationParams {
            /// The machine of one receiving queue pair.
            pub fn build(&self, qp: &$crate::slots::QpInfo) -> AnyNotificationPoint {
                use $crate::slots::Notification as _;
                match self { $(Self::$variant(params) => AnyNotificationPoint::$variant(params.build(qp)),)* }
            }
        }

        slot_enum! {
            /// A receiving queue pair's notification point.
            AnyNotificationPoint: NotificationPoint
            ($($variant(<$crate::$module::Params as $crate::slots::Notification>::Np),)*)
            fn hears[self: &Self]() -> $crate::slots::Hears;
            fn on_data[self: &mut Self](
                cx: &mut $crate::slots::Cx<'_, $crate::slots::Notice>,
                p: &$crate::slots::PacketView
            );
        }
    };
}

macro_rules! reactions {
    ($($variant:ident => $module:ident,)*) => {
        choices! {
            /// A layer of the sender's rate and window control (key `rate-control`).
            ReactionParams { $($variant => $module,)* }
        }

        impl ReactionParams {
            /// The machine of one sending queue pair.
            pub fn build(&self, qp: &$crate::slots::QpInfo) -> Result<AnyReactionPoint, $crate::slots::ParamError> {
                use $crate::slots::Reaction as _;
                match self { $(Self::$variant(params) => params.build(qp).map(AnyReactionPoint::$variant),)* }
            }

            /// What it cannot work without.
            pub fn needs(&self) -> &'static [$crate::slots::Need] {
                use $crate::slots::Reaction as _;
                match self { $(Self::$variant(params) => params.needs(),)* }
            }

            /// The least time between two CNPs of a flow that it asks the receiver for; none where it needs none.
            pub fn cnp_interval(&self) -> Option<::floodway_units::Span> {
                use $crate::slots::Reaction as _;
                match self { $(Self::$variant(params) => params.cnp_interval(),)* }
            }

            /// Does it heed CNPs, whoever made them?
            pub fn heeds_cnps(&self) -> bool {
                use $crate::slots::Reaction as _;
                match self { $(Self::$variant(params) => params.heeds_cnps(),)* }
            }

            /// Does it read CNPs from the flags of replies?
            pub fn reads_flags(&self) -> bool {
                use $crate::slots::Reaction as _;
                match self { $(Self::$variant(params) => params.reads_flags(),)* }
            }

            /// Does it make increase steps, of which the layers above hear?
            pub fn has_steps(&self) -> bool {
                use $crate::slots::Reaction as _;
                match self { $(Self::$variant(params) => params.has_steps(),)* }
            }
        }

        slot_enum! {
            /// One layer of a sending queue pair's rate and window control.
            AnyReactionPoint: ReactionPoint ($($variant(<$crate::$module::Params as $crate::slots::Reaction>::Rp),)*)
            fn on_sent[self: &mut Self](now: ::floodway_units::Time, wire: ::floodway_units::Bytes);
            fn on_ack[self: &mut Self](now: ::floodway_units::Time, ack: &$crate::slots::AckView<'_>);
            fn on_notice[self: &mut Self](now: ::floodway_units::Time, n: &$crate::slots::Notice);
            fn on_loss[self: &mut Self](now: ::floodway_units::Time, l: &$crate::slots::LossView);
            fn on_increase[self: &mut Self](now: ::floodway_units::Time);
            fn increases[self: &Self]() -> u64;
            fn next_timeout[self: &Self]() -> Option<::floodway_units::Time>;
            fn on_timeout[self: &mut Self](now: ::floodway_units::Time);
            fn ticks[self: &Self]() -> Option<[::floodway_units::Time; $crate::slots::TICKS]>;
            fn on_tick[self: &mut Self](now: ::floodway_units::Time, timer: usize);
            fn is_constant[self: &Self]() -> bool;
            fn hears_sent[self: &Self]() -> bool;
            fn hears_acks[self: &Self]() -> bool;
            fn scales_window[self: &Self]() -> bool;
            fn rates_set[self: &Self]() -> Option<u64>;
            fn allowance[self: &Self]() -> $crate::slots::Allowance;
        }
    };
}

macro_rules! reliabilities {
    ($($variant:ident => $module:ident,)*) => {
        choices! {
            /// Reliability of a queue pair.
            ReliabilityParams { $($variant => $module,)* }
        }

        impl ReliabilityParams {
            /// Both ends of one queue pair.
            pub fn build(
                &self,
                qp: &$crate::slots::QpInfo,
            ) -> Result<(AnyTransportSender, AnyTransportReceiver), $crate::slots::ParamError> {
                use $crate::slots::Reliability as _;
                Ok(match self {
                    $(Self::$variant(params) => {
                        let (sender, receiver) = params.build(qp)?;
                        (AnyTransportSender::$variant(sender), AnyTransportReceiver::$variant(receiver))
                    })*
                })
            }

            /// Does the receiver acknowledge?
            pub fn has_acks(&self) -> bool {
                use $crate::slots::Reliability as _;
                match self { $(Self::$variant(params) => params.has_acks(),)* }
            }

            /// What it cannot work without.
            pub fn needs(&self) -> &'static [$crate::slots::Need] {
                use $crate::slots::Reliability as _;
                match self { $(Self::$variant(params) => params.needs(),)* }
            }

            /// Do its retransmissions go before all new data of the NIC?
            pub fn repeats_first(&self) -> bool {
                use $crate::slots::Reliability as _;
                match self { $(Self::$variant(params) => params.repeats_first(),)* }
            }
        }

        slot_enum! {
            /// The sender's end of a queue pair.
            AnyTransportSender: TransportSender
            ($($variant(<$crate::$module::Params as $crate::slots::Reliability>::Sender),)*)
            fn push[self: &mut Self](message: ::floodway_units::Bytes);
            fn ready[self: &Self]() -> Option<::floodway_units::Bytes>;
            fn has_more[self: &Self]() -> bool;
            fn looked_at[self: &mut Self]();
            fn next_segment[self: &mut Self](now: ::floodway_units::Time) -> Option<$crate::slots::Segment>;
            fn on_reply[self: &mut Self](
                now: ::floodway_units::Time,
                reply: $crate::slots::Reply
            ) -> (::floodway_units::Bytes, Option<$crate::slots::LossView>);
            fn acknowledged[self: &Self](reply: $crate::slots::Reply) -> u64;
            fn needs_room[self: &Self]() -> bool;
            fn has_repeats[self: &Self]() -> bool;
            fn next_repeat[self: &mut Self](now: ::floodway_units::Time) -> Option<$crate::slots::Segment>;
            fn next_psn[self: &Self]() -> u64;
            fn in_flight[self: &Self]() -> ::floodway_units::Bytes;
            fn is_done[self: &Self]() -> bool;
            fn cap[self: &Self]() -> ::floodway_units::Bytes;
            fn next_timeout[self: &Self]() -> Option<::floodway_units::Time>;
            fn times_packets[self: &Self]() -> bool;
            fn number_timer[self: &mut Self](number: u64) -> ();
            fn timeout_number[self: &Self]() -> Option<u64>;
            fn on_timeout[self: &mut Self](now: ::floodway_units::Time) -> Option<$crate::slots::LossView>;
        }

        slot_enum! {
            /// The receiver's end of a queue pair.
            AnyTransportReceiver: TransportReceiver
            ($($variant(<$crate::$module::Params as $crate::slots::Reliability>::Receiver),)*)
            fn on_segment[self: &mut Self](
                cx: &mut $crate::slots::Cx<'_, $crate::slots::Reply>,
                s: &$crate::slots::Segment
            ) -> ::floodway_units::Bytes;
            fn marks_disorder[self: &Self]() -> bool;
        }
    };
}
