//! One enum per slot of the mechanisms' parameters: reading, writing and describing a choice.

use std::fmt;
use std::marker::PhantomData;

use schemars::{Schema, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{
    self, Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::custom::{AnyParams, Custom, Entry, Names};

/// A slot's choice, as the visitor needs it.
pub(super) trait Choice: Sized {
    /// The names alone.
    type Kind: DeserializeOwned;

    /// Parameters from outside this crate.
    type Custom: AnyParams + ?Sized + 'static;

    /// The mechanisms that a program has added to the slot.
    fn added() -> &'static Names<Self::Custom>;

    /// The choice with all defaults.
    fn with_defaults(kind: Self::Kind) -> Self;

    /// The choice with the parameters that come next in `map`.
    fn read<'de, A: MapAccess<'de>>(kind: Self::Kind, map: &mut A) -> Result<Self, A::Error>;

    /// A choice from outside this crate.
    fn custom(params: Custom<Self::Custom>) -> Self;

    /// All names, as scenarios spell them.
    fn all_names() -> &'static [&'static str] {
        Self::added().all(variant_names::<Self::Kind>())
    }
}

/// Makes `enum $name` from a list of mechanisms: externally tagged, and a bare name means all defaults.
macro_rules! choices {
    ($(#[$doc:meta])* $slot:literal $name:ident: $custom:ident { $($variant:ident => $module:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name {
            $(
                #[doc = concat!("As [`", stringify!($module), "`](crate::", stringify!($module), ") says.")]
                $variant($crate::$module::Params),
            )*
            /// One from outside this crate.
            Custom(Custom<dyn $custom>),
        }

        const _: () = {
            #[derive(Clone, Copy, ::serde::Deserialize)]
            #[serde(rename_all = "kebab-case")]
            enum Kind { $($variant,)* }

            static ADDED: custom::Names<dyn $custom> = custom::Names::new($slot);

            impl $name {
                /// All names, as scenarios spell them.
                pub fn names() -> Vec<&'static str> {
                    <Self as choice::Choice>::all_names().to_vec()
                }

                /// All choices of the slot.
                fn entries() -> Vec<Entry> {
                    let described: Vec<(String, _)> = vec![$((
                        choice::head(include_str!(concat!(
                            env!("CARGO_MANIFEST_DIR"), "/src/", stringify!($module), ".rs"
                        ))),
                        <$crate::$module::Params as ::schemars::JsonSchema>::schema_name(),
                    ),)*];
                    let listed = choice::variant_names::<Kind>().iter().copied().zip(described);
                    let added = ADDED.entries().into_iter().map(|entry| {
                        (entry.name, (entry.page.head.clone(), entry.page.definition.clone()))
                    });
                    let entry = |(name, (head, definition))| Entry { slot: $slot, name, head, definition };
                    listed.chain(added).map(entry).collect()
                }

                /// The name of this choice, as scenarios spell it.
                pub fn name(&self) -> &'static str {
                    let kind: Kind = match self {
                        $(Self::$variant(_) => Kind::$variant,)*
                        Self::Custom(own) => return own.name,
                    };
                    choice::variant_names::<Kind>()[kind as usize]
                }

                /// Adds a mechanism from outside this crate, whose parameters `read` makes; one that
                /// `is_redefinable` replaces another such mechanism of the same name.
                ///
                /// # Errors
                /// The name is taken, or is not in kebab-case; or the parameters have the name of another
                /// mechanism's in the schema.
                pub fn register_as(
                    name: &str,
                    is_redefinable: bool,
                    page: custom::Page,
                    read: custom::Read<dyn $custom>,
                ) -> Result<(), custom::RegistryError> {
                    ADDED.add(name, choice::variant_names::<Kind>(), is_redefinable, (page, read))
                }
            }

            impl choice::Choice for $name {
                type Kind = Kind;
                type Custom = dyn $custom;

                fn added() -> &'static custom::Names<dyn $custom> {
                    &ADDED
                }

                fn with_defaults(kind: Kind) -> Self {
                    match kind { $(Kind::$variant => Self::$variant(Default::default()),)* }
                }

                fn read<'de, A: ::serde::de::MapAccess<'de>>(kind: Kind, map: &mut A) -> Result<Self, A::Error> {
                    match kind { $(Kind::$variant => map.next_value().map(Self::$variant),)* }
                }

                fn custom(params: Custom<dyn $custom>) -> Self {
                    Self::Custom(params)
                }
            }

            impl ::serde::Serialize for $name {
                fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    match self {
                        $(Self::$variant(params) => choice::write(self.name(), params, serializer),)*
                        Self::Custom(own) => choice::write(own.name, own, serializer),
                    }
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
                fn json_schema(generator: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                    let mut params = vec![$(generator.subschema_for::<$crate::$module::Params>(),)*];
                    params.extend(ADDED.entries().into_iter().map(|entry| (entry.page.schema)(generator)));
                    choice::schema(&Self::names(), params)
                }
            }
        };
    };
}

/// Writes a choice: a table with a name as its only key.
pub(super) fn write<S: Serializer>(
    name: &'static str,
    params: &impl Serialize,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(name, params)?;
    map.end()
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

/// The names of an enum's variants, as serde spells them.
pub(super) fn variant_names<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // It always fails: the names are what it is asked for, not a value.
    let _ = T::deserialize(VariantNames(&mut names));
    names
}

/// The meaning of a name: a mechanism of the list, or one that the program has added.
enum Named<C: Choice> {
    Listed(C::Kind),
    Added(&'static Entry<C::Custom>),
}

impl<'de, C: Choice> Deserialize<'de> for Named<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_identifier(NameVisitor(PhantomData))
    }
}

struct NameVisitor<C>(PhantomData<C>);

impl<C: Choice> Visitor<'_> for NameVisitor<C> {
    type Value = Named<C>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of: {}", C::all_names().join(", "))
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Named<C>, E> {
        let kind: Result<C::Kind, de::value::Error> = C::Kind::deserialize(name.into_deserializer());
        match (kind, C::added().find(name)) {
            (Ok(kind), _) => Ok(Named::Listed(kind)),
            (Err(_), Some(entry)) => Ok(Named::Added(entry)),
            (Err(_), None) => Err(E::unknown_variant(name, C::all_names())),
        }
    }
}

struct ChoiceVisitor<C>(PhantomData<C>);

impl<'de, C: Choice> Visitor<'de> for ChoiceVisitor<C> {
    type Value = C;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a name or a table with one name of: {}", C::all_names().join(", "))
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<C, E> {
        match NameVisitor::<C>(PhantomData).visit_str(name)? {
            Named::Listed(kind) => Ok(C::with_defaults(kind)),
            Named::Added(entry) => entry.choose(serde_json::Map::new()).map(C::custom),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<C, A::Error> {
        let Some(named) = map.next_key::<Named<C>>()? else {
            return Err(de::Error::custom(format_args!(
                "nothing is chosen: name one of {}",
                C::all_names().join(", ")
            )));
        };
        let choice = match named {
            Named::Listed(kind) => C::read(kind, &mut map)?,
            Named::Added(entry) => C::custom(map.next_value_seed(CustomSeed(entry))?),
        };
        if let Some(other) = map.next_key::<String>()? {
            return Err(de::Error::custom(format_args!(
                "two are chosen, {other:?} and another: replace the whole value by one of {}",
                C::all_names().join(", ")
            )));
        }
        Ok(choice)
    }
}

/// Reads the parameters of a mechanism that the program has added.
struct CustomSeed<T: ?Sized + 'static>(&'static Entry<T>);

impl<'de, T: AnyParams + ?Sized> DeserializeSeed<'de> for CustomSeed<T> {
    type Value = Custom<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Custom<T>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, T: AnyParams + ?Sized> Visitor<'de> for CustomSeed<T> {
    type Value = Custom<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a table of parameters of {:?}", self.0.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Custom<T>, A::Error> {
        let values = serde_json::Map::deserialize(MapAccessDeserializer::new(map))?;
        self.0.choose(values)
    }
}

/// Records an enum's variants and gives no value.
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
