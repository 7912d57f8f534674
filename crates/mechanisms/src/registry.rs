//! The one list of mechanisms: a line here makes a mechanism known everywhere.
//!
//! From `Pfc => pfc,` come the arm of the slot's parameters and of its machines, the key in scenarios
//! (the name in kebab-case), and the JSON Schema. Every enum of machines has an arm `Custom` for
//! experiments outside this crate.

#[macro_use]
mod choice;
#[macro_use]
mod dispatch;
#[macro_use]
mod makers;

flow_controls! {
    Lossy => lossy,
    Pfc => pfc,
}

buffers! {
    Static => static_buffer,
    Shared => shared_buffer,
}

routings! {
    Ecmp => ecmp,
    Spray => spray,
}

schedulers! {
    Strict => strict,
    RoundRobin => round_robin,
    DeficitRoundRobin => deficit_round_robin,
}

congestion_points! {}

notifications! {
    None => no_notification,
}

reactions! {
    LineRate => line_rate,
    StaticWindow => static_window,
}

reliabilities! {
    None => no_reliability,
    GoBackN => go_back_n,
}

relays! {}

#[cfg(test)]
mod tests;
