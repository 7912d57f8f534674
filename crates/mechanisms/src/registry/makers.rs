//! Macros over the list of each slot: the enum of parameters with its queries, and the enums of machines.

/// The enum of a slot's parameters, and one for each machine that they build.
macro_rules! slot {
    (
        $(#[$doc:meta])*
        $key:literal $params:ident: $slot:ident, $queries:ident!, $custom:ident, build($($fact:ident: $facts:ty)?),
        $( $(#[$machine_doc:meta])* $any:ident: $machine:ident!, $made:ident; )+
        { $($variant:ident => $module:ident,)* }
    ) => {
        choices! { $(#[$doc])* $key $params: $custom { $($variant => $module,)* } }

        $queries! {
            $params ($($variant,)*) $custom
            build($($fact: $facts)?) -> ($($made as $any),+)
        }

        slot! { @machines $slot ($($variant => $module,)*) $( [$(#[$machine_doc])* $any $machine $made] )+ }
    };
    (@machines $slot:ident $list:tt $( $machine:tt )+) => {
        $( slot! { @machine $slot $list $machine } )+
    };
    (
        @machine $slot:ident ($($variant:ident => $module:ident,)*)
        [$(#[$doc:meta])* $any:ident $machine:ident $made:ident]
    ) => {
        $machine! {
            $(#[$doc])*
            $any ($($variant(<$crate::$module::Params as $crate::slots::$slot>::$made),)*)
        }
    };
}

macro_rules! flow_controls {
    ($($list:tt)*) => {
        slot! {
            /// Link flow control of one class, as chosen for a link.
            "flow-control" FlowControlParams: FlowControl, flow_control!, CustomFlowControl, build(link: &LinkInfo),
            /// A flow control's half at the upstream egress.
            AnyFcSender: fc_sender!, Sender;
            /// A flow control's half at the downstream ingress.
            AnyFcReceiver: fc_receiver!, Receiver;
            { $($list)* }
        }
    };
}

macro_rules! link_retries {
    ($($list:tt)*) => {
        slot! {
            /// Retry of the frames that a link damages.
            "link-retry" LinkRetryParams: LinkRetry, link_retry!, CustomLinkRetry, build(link: &RetryInfo),
            /// A link retry's end that sends frames.
            AnyRetrySender: retry_sender!, Sender;
            /// A link retry's end that receives frames.
            AnyRetryReceiver: retry_receiver!, Receiver;
            { $($list)* }
        }
    };
}

macro_rules! buffers {
    ($($list:tt)*) => {
        slot! {
            /// Admission to a switch's buffer (key `buffer`).
            "buffer" BufferParams: Buffer, buffer!, CustomBuffer, build(),
            /// An ingress port's admission.
            AnyAdmission: admission!, Admission;
            { $($list)* }
        }
    };
}

macro_rules! routings {
    ($($list:tt)*) => {
        slot! {
            /// Routing among equal-cost ports.
            "routing" RoutingParams: Routing, routing!, CustomRouting, build(switch: &SwitchInfo),
            /// A switch's router.
            AnyRouter: router!, Router;
            { $($list)* }
        }
    };
}

macro_rules! schedulers {
    ($($list:tt)*) => {
        slot! {
            /// Scheduling of an egress port's queues.
            "scheduler" SchedulerParams: Scheduling, scheduling!, CustomScheduling, build(port: &PortInfo),
            /// An egress port's scheduler.
            AnyScheduler: scheduler!, Scheduler;
            { $($list)* }
        }
    };
}

macro_rules! congestion_points {
    ($($list:tt)*) => {
        slot! {
            /// A congestion point of an egress port.
            "congestion-point" CongestionPointParams: Detection, detection!, CustomDetection, build(port: &PortInfo),
            /// A congestion point's machine.
            AnyCongestionPoint: congestion_point!, Cp;
            { $($list)* }
        }
    };
}

macro_rules! notifications {
    ($($list:tt)*) => {
        slot! {
            /// The receiver's notification of the sender.
            "notification" NotificationParams: Notification, notification!, CustomNotification, build(qp: &QpInfo),
            /// A receiving queue pair's notification point.
            AnyNotificationPoint: notification_point!, Np;
            { $($list)* }
        }
    };
}

macro_rules! reactions {
    ($($list:tt)*) => {
        slot! {
            /// A layer of the sender's rate and window control (key `rate-control`).
            "rate-control" ReactionParams: Reaction, reaction!, CustomReaction, build(qp: &QpInfo),
            /// One layer of a sending queue pair's rate and window control.
            AnyReactionPoint: reaction_point!, Rp;
            { $($list)* }
        }
    };
}

macro_rules! reliabilities {
    ($($list:tt)*) => {
        slot! {
            /// Reliability of a queue pair.
            "reliability" ReliabilityParams: Reliability, reliability!, CustomReliability, build(qp: &QpInfo),
            /// The sender's end of a queue pair.
            AnyTransportSender: transport_sender!, Sender;
            /// The receiver's end of a queue pair.
            AnyTransportReceiver: transport_receiver!, Receiver;
            { $($list)* }
        }
    };
}
