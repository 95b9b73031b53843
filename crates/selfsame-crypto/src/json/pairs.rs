//! Deserialises pairs of names and texts, such as those of a query. Each text is parsed as the type of its member.

use std::borrow::Cow;

use serde::de::value::{CowStrDeserializer, MapAccessDeserializer};
use serde::de::{Deserializer, Error as _, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

use super::Misfit;
use super::members::Members;

type QueryPair<'p> = (Cow<'p, str>, Cow<'p, str>);

pub(super) fn reader<'de, 'p>(
    pairs: impl Iterator<Item = QueryPair<'p>>,
) -> impl Deserializer<'de, Error = Misfit> {
    let typed = pairs.map(|(name, text)| (name, Typed(text)));
    MapAccessDeserializer::new(Members::of(typed))
}

/// The text of a member.
struct Typed<'p>(Cow<'p, str>);

macro_rules! parsed {
    ($($method:ident $visit:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            match self.0.parse() {
                Ok(value) => visitor.$visit(value),
                Err(_) => Err(Misfit::invalid_type(Unexpected::Other("text"), &visitor)),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Typed<'_> {
    type Error = Misfit;

    parsed! {
        deserialize_bool visit_bool
        deserialize_i8 visit_i8
        deserialize_i16 visit_i16
        deserialize_i32 visit_i32
        deserialize_i64 visit_i64
        deserialize_u8 visit_u8
        deserialize_u16 visit_u16
        deserialize_u32 visit_u32
        deserialize_u64 visit_u64
        deserialize_f32 visit_f32
        deserialize_f64 visit_f64
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_str(&self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        let variant: CowStrDeserializer<'_, Misfit> = self.0.into_deserializer();
        visitor.visit_enum(variant)
    }

    forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
        ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Misfit> for Typed<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::super::pairs_as;
    use super::*;

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Asked {
        id: String,
        #[serde(default)]
        after: Option<String>,
        #[serde(default)]
        limit: Option<usize>,
        #[serde(default)]
        whole: bool,
        #[serde(default)]
        order: Option<Order>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Order {
        Newest,
        Oldest,
    }

    fn read(query: &str) -> Result<Asked, Misfit> {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs_as(pairs.map(|(name, text)| (name.into(), text.into())))
    }

    #[test]
    fn texts_are_read_as_what_their_members_are() {
        let read = read("id=a b c&limit=7&whole=true&order=oldest").unwrap();
        let asked = Asked {
            id: "a b c".to_owned(),
            after: None,
            limit: Some(7),
            whole: true,
            order: Some(Order::Oldest),
        };
        assert_eq!(read, asked);
    }

    #[test]
    fn what_is_wrong_is_named_without_its_value() {
        let known = "known are `id`, `after`, `limit`, `whole`, `order`";
        for (query, said) in [
            ("", "the member `id` is missing".to_owned()),
            ("id=1&id=2", "the member `id` is there twice".to_owned()),
            (
                "id=1&limit=-1",
                "`limit` must be a whole number, not below 0".to_owned(),
            ),
            (
                "id=1&limit=",
                "`limit` must be a whole number, not below 0".to_owned(),
            ),
            (
                "id=1&whole=secret",
                "`whole` must be true or false".to_owned(),
            ),
            (
                "id=1&order=secret",
                "`order` must be one of `newest`, `oldest`".to_owned(),
            ),
            (
                "id=1&lmiit=2",
                format!("the member `lmiit` is unknown; {known}"),
            ),
            ("id=1&\0=2", format!("a member is unknown; {known}")),
        ] {
            let misfit = read(query).unwrap_err();
            assert_eq!(misfit.to_string(), said, "{query}");
        }
    }
}
