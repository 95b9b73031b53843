//! The values of enumerations, in the issuer's words.

use selfsame_credential::ClaimPath;
use selfsame_credential::path::Segment;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A value of an enumeration, and what people call it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct NamedValue {
    /// The value.
    pub value: String,
    /// Its name.
    pub name: String,
}

/// The values that a claim can have, with their names.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct NamedValues {
    /// The way to the claim, or to each element of a list.
    pub path: ClaimPath,
    /// Its values.
    pub values: Vec<NamedValue>,
}

impl NamedValues {
    /// Puts the names in place of the values at the path within a value that stands at `place`.
    pub fn put_into(&self, place: &[Segment], value: &mut Value) {
        if let Some(way) = self.path.segments().strip_prefix(place) {
            self.put(way, value);
        }
    }

    fn put(&self, way: &[Segment], value: &mut Value) {
        match (way.split_first(), value) {
            (None, Value::String(text)) => {
                let named = self.values.iter().find(|named| named.value == *text);
                if let Some(named) = named {
                    text.clone_from(&named.name);
                }
            }
            // A label may be for a list whose elements are such values.
            (None, Value::Array(elements)) => {
                elements.iter_mut().for_each(|one| self.put(&[], one));
            }
            (Some((Segment::Name(name), rest)), Value::Object(members)) => {
                if let Some(member) = members.get_mut(name) {
                    self.put(rest, member);
                }
            }
            (Some((Segment::All, rest)), Value::Array(elements)) => {
                elements.iter_mut().for_each(|one| self.put(rest, one));
            }
            (Some((Segment::Index(index), rest)), Value::Array(elements)) => {
                if let Some(one) = elements.get_mut(*index) {
                    self.put(rest, one);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn name(name: &str) -> Segment {
        Segment::Name(name.to_owned())
    }

    #[test]
    fn a_value_is_named_where_the_issuer_says_and_nowhere_else() {
        let levels = NamedValues {
            path: ClaimPath::new(vec![name("levels"), Segment::All, name("level")]).unwrap(),
            values: vec![NamedValue {
                value: "basic".to_owned(),
                name: "Basic membership".to_owned(),
            }],
        };
        let mut value = json!([{"level": "basic", "note": "basic"}, {"level": "full"}, "basic"]);
        levels.put_into(&[name("levels")], &mut value);
        assert_eq!(
            value,
            json!([{"level": "Basic membership", "note": "basic"}, {"level": "full"}, "basic"])
        );
        let before = value.clone();
        levels.put_into(&[name("other")], &mut value);
        assert_eq!(value, before);
    }

    #[test]
    fn a_list_of_values_is_named_element_by_element() {
        let sports = NamedValues {
            path: ClaimPath::new(vec![name("sports")]).unwrap(),
            values: vec![NamedValue {
                value: "row".to_owned(),
                name: "Rowing".to_owned(),
            }],
        };
        let mut value = json!(["row", "chess", 7]);
        sports.put_into(&[name("sports")], &mut value);
        assert_eq!(value, json!(["Rowing", "chess", 7]));
    }
}
