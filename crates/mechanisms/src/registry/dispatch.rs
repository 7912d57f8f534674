//! One enum per kind of machine, stored by value, which passes every call on.

/// Makes `enum $name` of the machines of a slot and implements the slot's trait for it.
///
/// The variants travel as one token group, which `@method` takes apart again for each method: so the
/// product of methods and variants gets past `macro_rules`. A method's arguments are given twice, once
/// with types for its signature and once as one group for the call.
macro_rules! slot_enum {
    (
        $(#[$doc:meta])*
        $name:ident: $slot:ident $variants:tt
        $( fn $method:ident[$slf:ident: $receiver:ty]($($arg:ident: $ty:ty),*) $(-> $ret:ty)?; )*
    ) => {
        slot_enum! { @enum $(#[$doc])* $name: $slot $variants }

        impl $crate::slots::$slot for $name {
            $( slot_enum! { @method $variants $method [$slf: $receiver] [$($arg: $ty),*] ($($arg),*) [$($ret)?] } )*
        }
    };
    (@enum $(#[$doc:meta])* $name:ident: $slot:ident ($($variant:ident($machine:ty),)*)) => {
        $(#[$doc])*
        pub enum $name {
            $(
                #[doc = concat!("The machine of `", stringify!($variant), "`.")]
                $variant($machine),
            )*
            /// One from outside this crate.
            Custom(Box<dyn $crate::slots::$slot + Send>),
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                match self {
                    $(Self::$variant(machine) => machine.fmt(f),)*
                    Self::Custom(_) => f.write_str("Custom(..)"),
                }
            }
        }
    };
    (
        @method ($($variant:ident($machine:ty),)*)
        $method:ident [$slf:ident: $receiver:ty] [$($arg:ident: $ty:ty),*] $args:tt [$($ret:ty)?]
    ) => {
        #[inline]
        fn $method($slf: $receiver, $($arg: $ty),*) $(-> $ret)? {
            match $slf {
                $(Self::$variant(machine) => machine.$method $args,)*
                Self::Custom(machine) => machine.$method $args,
            }
        }
    };
}
