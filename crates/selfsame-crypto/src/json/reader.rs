//! A value read as a type: what is written as a struct has to come as an object.
//!
//! What serde derives for a struct also takes an array, with the members in the order of the source text.

use std::iter;

use serde::de::value::{
    MapAccessDeserializer, MapDeserializer, SeqDeserializer, StringDeserializer,
};
use serde::de::{Deserializer, Error as _, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Map, Value, map};

pub(super) struct Reader(pub(super) Value);

type Members = iter::Map<map::IntoIter, fn((String, Value)) -> (String, Reader)>;

impl Reader {
    fn object<'de, V: Visitor<'de>>(self, visitor: &V) -> Result<Map<String, Value>, Error> {
        match self.0 {
            Value::Object(members) => Ok(members),
            Value::Array(_) => Err(Error::invalid_type(Unexpected::Seq, visitor)),
            _ => Err(Error::invalid_type(Unexpected::Other("no object"), visitor)),
        }
    }
}

fn members<'de>(members: Map<String, Value>) -> MapDeserializer<'de, Members, Error> {
    let each: fn((String, Value)) -> (String, Reader) = |(name, value)| (name, Reader(value));
    MapDeserializer::new(members.into_iter().map(each))
}

impl<'de> Deserializer<'de> for Reader {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(elements) => {
                let mut elements = SeqDeserializer::new(elements.into_iter().map(Self));
                let value = visitor.visit_seq(&mut elements)?;
                elements.end().map(|()| value)
            }
            Value::Object(found) => {
                let mut found = members(found);
                let value = visitor.visit_map(&mut found)?;
                found.end().map(|()| value)
            }
            single => single.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _members: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let object = self.object(&visitor)?;
        Self(Value::Object(object)).deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if let Value::String(variant) = self.0 {
            let variant: StringDeserializer<Error> = variant.into_deserializer();
            return visitor.visit_enum(variant);
        }
        let object = self.object(&visitor)?;
        if object.len() != 1 {
            return Err(Error::invalid_length(object.len(), &"the one variant"));
        }
        visitor.visit_enum(MapAccessDeserializer::new(members(object)))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Error> for Reader {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}
