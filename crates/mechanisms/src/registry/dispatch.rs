//! Macros of the registry over a slot's trait: the enum of its machines, and the queries of its parameters.
//!
//! The hooks come from the trait's only definition (`slots/hooks.rs`), so none can be left out of an enum.

/// Makes `enum $name` of the machines of a slot, stored by value, and implements the slot's trait for it.
///
/// The variants are passed as one token group, which `@forward` takes apart again for each hook: this works
/// around `macro_rules`, which cannot expand the product of hooks and variants directly.
macro_rules! machines {
    (
        $slot:ident ($( { $hook:ident $given:tt [$($answer:ty)?] } )*)
        $(#[$doc:meta])* $name:ident $variants:tt
    ) => {
        machines! { @enum $(#[$doc])* $name: $slot $variants }

        impl $crate::slots::$slot for $name {
            $( machines! { @forward $variants $hook $given [$($answer)?] } )*
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

        impl $name {
            /// Is it one from outside this crate?
            #[inline]
            pub fn is_custom(&self) -> bool {
                matches!(self, Self::Custom(_))
            }

            /// The names of the variants, and the bytes of each machine.
            #[cfg(test)]
            pub(crate) fn sizes() -> Vec<(&'static str, usize)> {
                vec![$( (stringify!($variant), size_of::<$machine>()), )*]
            }
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
    (@forward $variants:tt $hook:ident [&mut $slf:ident $(, $arg:ident: $of:ty)* $(,)?] $answer:tt) => {
        machines! { @method $variants $hook [$slf: &mut Self] [$($arg: $of),*] ($($arg),*) $answer }
    };
    (@forward $variants:tt $hook:ident [&$slf:ident $(, $arg:ident: $of:ty)* $(,)?] $answer:tt) => {
        machines! { @method $variants $hook [$slf: &Self] [$($arg: $of),*] ($($arg),*) $answer }
    };
    (
        @method ($($variant:ident($machine:ty),)*)
        $hook:ident [$slf:ident: $receiver:ty] [$($arg:ident: $of:ty),*] $args:tt [$($answer:ty)?]
    ) => {
        #[inline]
        fn $hook($slf: $receiver, $($arg: $of),*) $(-> $answer)? {
            match $slf {
                $(Self::$variant(machine) => machine.$hook $args,)*
                Self::Custom(machine) => machine.$hook $args,
            }
        }
    };
}

/// Implements for an enum of parameters the methods of its slot's trait, and makes `trait $custom`: the
/// slot's trait as that enum sees parameters from outside this crate, whose types it does not know.
macro_rules! queries {
    (
        $slot:ident ($( { $hook:ident $given:tt [$($answer:ty)?] } )*)
        $name:ident $variants:tt $custom:ident
        build($($fact:ident: $facts:ty)?) -> ($($made:ident as $any:ident),+)
    ) => {
        impl $name {
            #[doc = queries!(@doc $slot build)]
            #[allow(unused_parens, reason = "of some slots two machines are made, of most one")]
            pub fn build(&self, $($fact: $facts)?) -> Result<($($any),+), ParamError> {
                queries! { @build self $slot $variants ($($fact)?) ($($any)+) }
            }

            $( queries! { @query $slot $variants $hook $given [$($answer)?] } )*
        }

        #[doc = concat!("[`", stringify!($slot), "`](crate::slots::", stringify!($slot), ") of parameters from outside this crate.")]
        pub trait $custom: ::std::fmt::Debug + Send + Sync {
            #[doc = queries!(@doc $slot build)]
            #[allow(unused_parens, reason = "as above")]
            fn build(&self, $($fact: $facts)?) -> Result<($($any),+), ParamError>;

            $( queries! { @declare $slot $hook $given [$($answer)?] } )*

            /// A copy.
            fn duplicate(&self) -> Box<dyn $custom>;

            /// The parameters as scenarios spell them.
            fn values(&self) -> ::serde_json::Value;
        }

        impl<P> $custom for P
        where
            P: $crate::slots::$slot + Clone + ::std::fmt::Debug + ::serde::Serialize + Send + Sync + 'static,
            $(P::$made: Send + 'static,)+
        {
            #[allow(unused_parens, reason = "as above")]
            fn build(&self, $($fact: $facts)?) -> Result<($($any),+), ParamError> {
                let made = $crate::slots::$slot::build(self, $($fact)?)?;
                Ok(queries! { @boxed made ($($any)+) })
            }

            $( queries! { @passed $slot $hook $given [$($answer)?] } )*

            fn duplicate(&self) -> Box<dyn $custom> {
                Box::new(self.clone())
            }

            fn values(&self) -> ::serde_json::Value {
                ::serde_json::to_value(self).expect("parameters are numbers, texts, and tables of them")
            }
        }

        impl custom::AnyParams for dyn $custom {
            fn duplicate(&self) -> Box<Self> {
                $custom::duplicate(self)
            }

            fn values(&self) -> ::serde_json::Value {
                $custom::values(self)
            }
        }

        impl $name {
            /// Registers a mechanism from outside this crate for scenarios as `name`. `source` is the text of
            /// its file, whose head (`//!`) is its page.
            ///
            /// # Errors
            /// The name is taken, or is not in kebab-case; or the parameters have the name of another
            /// mechanism's in the schema.
            pub fn register<P>(name: &str, source: &str) -> Result<(), custom::RegistryError>
            where
                P: $custom + ::serde::de::DeserializeOwned + ::schemars::JsonSchema + 'static,
            {
                let read = |values| custom::read::<P>(values).map(|params| Box::new(params) as Box<dyn $custom>);
                Self::register_as(name, false, custom::Page::of::<P>(source), Box::new(read))
            }
        }
    };

    (@doc $slot:ident $hook:ident) => {
        concat!(
            "As [`", stringify!($slot), "::", stringify!($hook), "`](crate::slots::", stringify!($slot), "::",
            stringify!($hook), ") says."
        )
    };

    (@build $slf:ident $slot:ident ($($variant:ident,)*) $facts:tt $any:tt) => {
        match $slf {
            $(Self::$variant(params) => {
                let made = queries! { @call $slot build params $facts }?;
                Ok(queries! { @arms $variant made $any })
            })*
            Self::Custom(own) => own.params.build $facts,
        }
    };
    (@arms $variant:ident $made:ident ($any:ident)) => { $any::$variant($made) };
    (@arms $variant:ident $made:ident ($one:ident $other:ident)) => {
        ($one::$variant($made.0), $other::$variant($made.1))
    };
    (@boxed $made:ident ($any:ident)) => { $any::Custom(Box::new($made)) };
    (@boxed $made:ident ($one:ident $other:ident)) => {
        ($one::Custom(Box::new($made.0)), $other::Custom(Box::new($made.1)))
    };
    (@call $slot:ident $hook:ident $params:ident ($($arg:ident),*)) => {
        $crate::slots::$slot::$hook($params, $($arg),*)
    };

    (@query $slot:ident $variants:tt $hook:ident [&mut $slf:ident $(, $arg:ident: $of:ty)* $(,)?] $answer:tt) => {
        queries! { @asked $slot $variants $hook [$slf: &mut Self] [$($arg: $of),*] ($($arg),*) $answer }
    };
    (@query $slot:ident $variants:tt $hook:ident [&$slf:ident $(, $arg:ident: $of:ty)* $(,)?] $answer:tt) => {
        queries! { @asked $slot $variants $hook [$slf: &Self] [$($arg: $of),*] ($($arg),*) $answer }
    };
    (
        @asked $slot:ident ($($variant:ident,)*)
        $hook:ident [$slf:ident: $receiver:ty] [$($arg:ident: $of:ty),*] $args:tt [$($answer:ty)?]
    ) => {
        #[doc = queries!(@doc $slot $hook)]
        pub fn $hook($slf: $receiver, $($arg: $of),*) $(-> $answer)? {
            match $slf {
                $(Self::$variant(params) => queries! { @call $slot $hook params $args },)*
                Self::Custom(own) => own.params.$hook $args,
            }
        }
    };

    (@declare $slot:ident $hook:ident [$($given:tt)*] [$($answer:ty)?]) => {
        #[doc = queries!(@doc $slot $hook)]
        fn $hook($($given)*) $(-> $answer)?;
    };

    (@passed $slot:ident $hook:ident [&mut $slf:ident $(, $arg:ident: $of:ty)* $(,)?] [$($answer:ty)?]) => {
        fn $hook(&mut $slf, $($arg: $of),*) $(-> $answer)? {
            $crate::slots::$slot::$hook($slf, $($arg),*)
        }
    };
    (@passed $slot:ident $hook:ident [&$slf:ident $(, $arg:ident: $of:ty)* $(,)?] [$($answer:ty)?]) => {
        fn $hook(&$slf, $($arg: $of),*) $(-> $answer)? {
            $crate::slots::$slot::$hook($slf, $($arg),*)
        }
    };
}
