//! A deserialiser of JSON values that enforces the limits and refuses duplicate members.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::{JsonError, Limits};

pub(super) fn parse(bytes: &[u8], limits: &Limits) -> Result<Value, JsonError> {
    if bytes.len() > limits.max_bytes {
        return Err(JsonError::TooLong);
    }
    let budget = ReadBudget {
        members: Cell::new(limits.max_members),
        refused: Cell::new(None),
    };
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = StrictReader {
        depth: limits.max_depth,
        budget: &budget,
    }
    .deserialize(&mut deserializer);
    let value = value.and_then(|value| deserializer.end().map(|()| value));
    value.map_err(|error| {
        let syntax = JsonError::Syntax {
            line: error.line(),
            column: error.column(),
        };
        budget.refused.take().unwrap_or(syntax)
    })
}

struct ReadBudget {
    members: Cell<usize>,
    refused: Cell<Option<JsonError>>,
}

impl ReadBudget {
    fn refuse<E: serde::de::Error>(&self, error: JsonError) -> E {
        self.refused.set(Some(error.clone()));
        E::custom(error)
    }

    fn spend<E: serde::de::Error>(&self) -> Result<(), E> {
        match self.members.get().checked_sub(1) {
            Some(left) => {
                self.members.set(left);
                Ok(())
            }
            None => Err(self.refuse(JsonError::TooMany)),
        }
    }
}

#[derive(Clone, Copy)]
struct StrictReader<'b> {
    depth: usize,
    budget: &'b ReadBudget,
}

impl StrictReader<'_> {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        match self.depth.checked_sub(1) {
            Some(depth) => Ok(Self { depth, ..self }),
            None => Err(self.budget.refuse(JsonError::TooDeep)),
        }
    }
}

impl<'de> DeserializeSeed<'de> for StrictReader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictReader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("not a number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut elements = Vec::new();
        while let Some(element) = access.next_element_seed(inner)? {
            self.budget.spend()?;
            elements.push(element);
        }
        Ok(Value::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut members = Map::new();
        while let Some(name) = access.next_key::<String>()? {
            self.budget.spend()?;
            if members.contains_key(&name) {
                return Err(self.budget.refuse(JsonError::Duplicate));
            }
            let value = access.next_value_seed(inner)?;
            members.insert(name, value);
        }
        Ok(Value::Object(members))
    }
}
