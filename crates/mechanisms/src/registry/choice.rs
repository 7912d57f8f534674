//! One enum per slot of the mechanisms' parameters: how a choice is read, written and described.

use std::fmt;
use std::marker::PhantomData;

use schemars::{Schema, json_schema};
use serde::de::{self, Deserialize, DeserializeOwned, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;

/// A slot's choice, as the visitor needs it.
pub(super) trait Choice: Sized {
    /// The names alone.
    type Kind: DeserializeOwned;

    /// The choice with all defaults.
    fn with_defaults(kind: Self::Kind) -> Self;

    /// The choice with the parameters that come next in `map`.
    fn read<'de, A: MapAccess<'de>>(kind: Self::Kind, map: &mut A) -> Result<Self, A::Error>;
}

/// Makes `enum $name` from a list of mechanisms: externally tagged, and a bare name means all defaults.
macro_rules! choices {
    ($(#[$doc:meta])* $name:ident { $($variant:ident => $module:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            $(
                #[doc = concat!("As [`", stringify!($module), "`](crate::", stringify!($module), ") says.")]
                $variant($crate::$module::Params),
            )*
        }

        const _: () = {
            #[derive(Clone, Copy, ::serde::Deserialize)]
            #[serde(rename_all = "kebab-case")]
            enum Kind { $($variant,)* }

            impl $name {
                /// All names, as scenarios spell them.
                pub fn names() -> Vec<&'static str> {
                    choice::variant_names::<Kind>()
                }

                /// All that can be chosen for the slot of this key.
                fn entries(slot: &'static str) -> Vec<Entry> {
                    let described: Vec<(String, _)> = vec![$((
                        choice::head(include_str!(concat!(
                            env!("CARGO_MANIFEST_DIR"), "/src/", stringify!($module), ".rs"
                        ))),
                        <$crate::$module::Params as ::schemars::JsonSchema>::schema_name(),
                    ),)*];
                    let entry = |(name, (head, definition))| Entry { slot, name, head, definition };
                    Self::names().into_iter().zip(described).map(entry).collect()
                }

                /// The name of this choice, as scenarios spell it.
                #[allow(unreachable_code, unused_variables, reason = "a list may be empty")]
                pub fn name(&self) -> &'static str {
                    let kind: Kind = match *self { $(Self::$variant(_) => Kind::$variant,)* };
                    Self::names()[kind as usize]
                }
            }

            impl choice::Choice for $name {
                type Kind = Kind;

                fn with_defaults(kind: Kind) -> Self {
                    match kind { $(Kind::$variant => Self::$variant(Default::default()),)* }
                }

                #[allow(unused_variables, reason = "a list may be empty")]
                fn read<'de, A: ::serde::de::MapAccess<'de>>(kind: Kind, map: &mut A) -> Result<Self, A::Error> {
                    match kind { $(Kind::$variant => map.next_value().map(Self::$variant),)* }
                }
            }

            impl<'de> ::serde::Deserialize<'de> for $name {
                fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    choice::read(deserializer)
                }
            }

            impl ::schemars::JsonSchema for $name {
                fn schema_name() -> ::std::borrow::Cow<'static, str> {
                    stringify!($name).into()
                }
                #[allow(unused_variables, reason = "a list may be empty")]
                fn json_schema(generator: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                    let params = vec![$(generator.subschema_for::<$crate::$module::Params>(),)*];
                    choice::schema(&Self::names(), params)
                }
            }
        };
    };
}

/// Reads a choice: a name, or a table with a name as its only key.
pub(super) fn read<'de, C: Choice, D: Deserializer<'de>>(deserializer: D) -> Result<C, D::Error> {
    deserializer.deserialize_any(ChoiceVisitor(PhantomData))
}

/// What [`read`] accepts.
pub(super) fn schema(names: &[&str], params: Vec<Schema>) -> Schema {
    let table = |(name, params): (&&str, Schema)| {
        json_schema!({
            "type": "object",
            "properties": { *name: params },
            "required": [*name],
            "additionalProperties": false,
        })
    };
    let mut forms = vec![json_schema!({ "type": "string", "enum": names })];
    forms.extend(names.iter().zip(params).map(table));
    json_schema!({ "anyOf": forms })
}

/// The documentation that a file of source begins with: its lines of `//!`.
pub fn head(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let lines: Vec<_> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    lines.join("\n")
}

/// The names of an enum's variants, as serde knows them.
pub(super) fn variant_names<T: DeserializeOwned>() -> Vec<&'static str> {
    let mut names: &'static [&'static str] = &[];
    // It always fails: the names are what it is asked for, not a value.
    let _ = T::deserialize(VariantNames(&mut names));
    names.to_vec()
}

struct ChoiceVisitor<C>(PhantomData<C>);

impl<C: Choice> ChoiceVisitor<C> {
    fn alternatives() -> String {
        variant_names::<C::Kind>().join(", ")
    }
}

impl<'de, C: Choice> Visitor<'de> for ChoiceVisitor<C> {
    type Value = C;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a name or a table with one name of: {}", Self::alternatives())
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<C, E> {
        C::Kind::deserialize(name.into_deserializer()).map(C::with_defaults)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<C, A::Error> {
        let Some(kind) = map.next_key::<C::Kind>()? else {
            return Err(de::Error::custom(format_args!(
                "nothing is chosen: name one of {}",
                Self::alternatives()
            )));
        };
        let choice = C::read(kind, &mut map)?;
        if let Some(other) = map.next_key::<String>()? {
            return Err(de::Error::custom(format_args!(
                "two are chosen, since {other:?} stands beside another: write the whole choice anew, with one of {}",
                Self::alternatives()
            )));
        }
        Ok(choice)
    }
}

/// Takes note of an enum's variants and gives no value.
struct VariantNames<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for VariantNames<'_> {
    type Error = de::value::Error;

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = variants;
        Err(de::Error::custom("only the names were asked for"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Self::Error> {
        Err(de::Error::custom("not an enum"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
