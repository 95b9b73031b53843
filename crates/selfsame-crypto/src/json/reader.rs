//! Deserialises a value, accepting nothing but an object for a struct.
//!
//! The code that serde derives for a struct also accepts an array, with the members in the order of the source text.

use std::iter;

use serde::de::value::{MapAccessDeserializer, StringDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IntoDeserializer, SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value, map};

use super::Misfit;
use super::members::Members;

pub(super) struct Reader(pub(super) Value);

/// An object's members, each read by this same deserialiser.
type ObjectMembers =
    Members<String, Reader, iter::Map<map::IntoIter, fn((String, Value)) -> (String, Reader)>>;

/// The remaining elements, and the number of elements read.
struct Elements {
    left: std::vec::IntoIter<Value>,
    read: usize,
}

impl Reader {
    fn object<'de, V: Visitor<'de>>(self, visitor: &V) -> Result<Map<String, Value>, Misfit> {
        match self.0 {
            Value::Object(members) => Ok(members),
            Value::Array(_) => Err(Misfit::invalid_type(Unexpected::Seq, visitor)),
            _ => Err(Misfit::invalid_type(
                Unexpected::Other("no object"),
                visitor,
            )),
        }
    }
}

fn members(object: Map<String, Value>) -> ObjectMembers {
    let each: fn((String, Value)) -> (String, Reader) = |(name, value)| (name, Reader(value));
    Members::of(object.into_iter().map(each))
}

impl<'de> SeqAccess<'de> for Elements {
    type Error = Misfit;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Misfit> {
        let Some(value) = self.left.next() else {
            return Ok(None);
        };
        let index = self.read;
        self.read = index.saturating_add(1);
        seed.deserialize(Reader(value))
            .map(Some)
            .map_err(|misfit| misfit.in_element(index))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.len())
    }
}

impl<'de> Deserializer<'de> for Reader {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Number(value) => match (value.as_u64(), value.as_i64(), value.as_f64()) {
                (Some(value), _, _) => visitor.visit_u64(value),
                (_, Some(value), _) => visitor.visit_i64(value),
                (_, _, Some(value)) => visitor.visit_f64(value),
                _ => Err(Misfit::invalid_type(
                    Unexpected::Other("a number"),
                    &visitor,
                )),
            },
            Value::String(value) => visitor.visit_string(value),
            Value::Array(elements) => {
                let mut elements = Elements {
                    left: elements.into_iter(),
                    read: 0,
                };
                let value = visitor.visit_seq(&mut elements)?;
                match elements.left.next() {
                    None => Ok(value),
                    Some(_) => Err(Misfit::invalid_length(elements.read, &"fewer elements")),
                }
            }
            Value::Object(found) => {
                let mut found = members(found);
                let value = visitor.visit_map(&mut found)?;
                match found.left.next() {
                    None => Ok(value),
                    Some(_) => Err(Misfit::custom("more members")),
                }
            }
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _members: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.deserialize_map(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let object = self.object(&visitor)?;
        Self(Value::Object(object)).deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
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
    ) -> Result<V::Value, Misfit> {
        if let Value::String(variant) = self.0 {
            let variant: StringDeserializer<Misfit> = variant.into_deserializer();
            return visitor.visit_enum(variant);
        }
        let object = self.object(&visitor)?;
        if object.len() != 1 {
            return Err(Misfit::invalid_length(object.len(), &"the one variant"));
        }
        visitor.visit_enum(MapAccessDeserializer::new(members(object)))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Misfit> for Reader {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}
