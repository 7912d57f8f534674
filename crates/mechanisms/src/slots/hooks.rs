//! The traits of the slots, each from one definition, which also makes the forwarding of the registry's
//! enums.
//!
//! `hooks!` takes a trait in ordinary Rust syntax. It emits that trait, and a macro with the name after `=>`
//! that the [registry](crate::registry) calls with its list of mechanisms: so an enum forwards exactly the
//! hooks that the trait has.

/// Emits a trait, and the macro `$forward` that passes its methods on to `$use`: `machines!` or `queries!` of
/// the registry.
///
/// `$d` is a dollar sign, which a macro that defines a macro cannot write otherwise. Associated types and
/// `build` are no hooks: the machines of a mechanism differ from slot to slot, and the registry's lists give
/// them.
macro_rules! hooks {
    (
        ($d:tt)
        $(#[$doc:meta])*
        pub trait $slot:ident $(: $bound:ident)? => $forward:ident for $use:ident { $($body:tt)* }
    ) => {
        $(#[$doc])*
        pub trait $slot $(: $bound)? { $($body)* }

        hooks! { @collect ($d $slot $forward $use) [] $($body)* }
    };

    (@collect ($d:tt $slot:ident $forward:ident $use:ident) [$($hooks:tt)*]) => {
        macro_rules! $forward {
            ($d($d with:tt)*) => { $use! { $slot ($($hooks)*) $d($d with)* } };
        }
    };
    (@collect $to:tt $hooks:tt $(#[$doc:meta])* type $made:ident: $bound:ident; $($rest:tt)*) => {
        hooks! { @collect $to $hooks $($rest)* }
    };
    (@collect $to:tt $hooks:tt $(#[$doc:meta])* fn build($($given:tt)*) -> $answer:ty; $($rest:tt)*) => {
        hooks! { @collect $to $hooks $($rest)* }
    };
    (
        @collect $to:tt [$($hooks:tt)*]
        $(#[$doc:meta])* fn $hook:ident($($given:tt)*) $(-> $answer:ty)?; $($rest:tt)*
    ) => {
        hooks! { @collect $to [$($hooks)* { $hook [$($given)*] [$($answer)?] }] $($rest)* }
    };
    (
        @collect $to:tt [$($hooks:tt)*]
        $(#[$doc:meta])* fn $hook:ident($($given:tt)*) $(-> $answer:ty)? { $($default:tt)* } $($rest:tt)*
    ) => {
        hooks! { @collect $to [$($hooks)* { $hook [$($given)*] [$($answer)?] }] $($rest)* }
    };
}
