//! Claim paths, which select claims of a credential (OpenID4VP 1.0 §7, SD-JWT VC Type Metadata).

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

/// Maximum length of a path; longer than any credential's nesting limit.
const MAX_SEGMENTS: usize = 32;

/// A non-empty path to one claim or, with [`Segment::All`], to several.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ClaimPath(Vec<Segment>);

/// One step of a path.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Segment {
    /// The member of this name of an object.
    Name(String),
    /// The element at this index of an array.
    Index(usize),
    /// Every element of an array.
    All,
}

/// The value is not a claim path.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "not a claim path: a non-empty array of strings, non-negative integers and nulls is expected"
)]
pub struct PathError;

impl ClaimPath {
    /// A path of these steps.
    pub fn new(segments: Vec<Segment>) -> Result<Self, PathError> {
        if segments.is_empty() || segments.len() > MAX_SEGMENTS {
            return Err(PathError);
        }
        Ok(Self(segments))
    }

    /// A path of member names only; `None` if there is no name.
    pub fn of_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, PathError> {
        let segments = names.into_iter().map(|name| Segment::Name(name.to_owned()));
        Self::new(segments.collect())
    }

    /// Reads a path from its JSON form (OpenID4VP 1.0 §7).
    pub fn parse(value: &Value) -> Result<Self, PathError> {
        let segments = value.as_array().ok_or(PathError)?;
        Self::new(
            segments
                .iter()
                .map(Segment::parse)
                .collect::<Result<_, _>>()?,
        )
    }

    /// The path's JSON form.
    pub fn to_value(&self) -> Value {
        Value::Array(self.0.iter().map(Segment::to_value).collect())
    }

    /// Whether it leads to the place of another path, or to something within it.
    pub fn begins_with(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }

    /// The steps, outermost first; never empty.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// All values in `root` that the path leads to; empty if the path leads to no value (OpenID4VP 1.0 §7.1).
    pub fn select<'a>(&self, root: &'a Value) -> Vec<&'a Value> {
        let mut selected = vec![root];
        for segment in &self.0 {
            selected = selected
                .into_iter()
                .flat_map(|value| segment.step(value))
                .collect();
        }
        selected
    }
}

impl Segment {
    fn parse(value: &Value) -> Result<Self, PathError> {
        match value {
            Value::String(name) => Ok(Self::Name(name.clone())),
            Value::Null => Ok(Self::All),
            Value::Number(number) => number
                .as_u64()
                .and_then(|index| usize::try_from(index).ok())
                .map(Self::Index)
                .ok_or(PathError),
            _ => Err(PathError),
        }
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Name(name) => Value::from(name.as_str()),
            Self::Index(index) => Value::from(*index),
            Self::All => Value::Null,
        }
    }

    fn step<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        match (self, value) {
            (Self::Name(name), Value::Object(members)) => members.get(name).into_iter().collect(),
            (Self::Index(index), Value::Array(elements)) => {
                elements.get(*index).into_iter().collect()
            }
            (Self::All, Value::Array(elements)) => elements.iter().collect(),
            _ => Vec::new(),
        }
    }
}

impl fmt::Display for ClaimPath {
    /// For people and logs: `address.locality`, `nationalities[0]`, `degrees[].type`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Name(name) if position == 0 => f.write_str(name)?,
                Segment::Name(name) => write!(f, ".{name}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::All => f.write_str("[]")?,
            }
        }
        Ok(())
    }
}

impl Serialize for ClaimPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.0)
    }
}

impl<'de> Deserialize<'de> for ClaimPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(Vec::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl Serialize for Segment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Name(name) => serializer.serialize_str(name),
            Self::Index(index) => serializer.serialize_u64(*index as u64),
            Self::All => serializer.serialize_unit(),
        }
    }
}

impl<'de> Deserialize<'de> for Segment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SegmentVisitor)
    }
}

struct SegmentVisitor;

impl de::Visitor<'_> for SegmentVisitor {
    type Value = Segment;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, a non-negative integer or null")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Segment, E> {
        Ok(Segment::Name(name.to_owned()))
    }

    fn visit_string<E: de::Error>(self, name: String) -> Result<Segment, E> {
        Ok(Segment::Name(name))
    }

    fn visit_u64<E: de::Error>(self, index: u64) -> Result<Segment, E> {
        usize::try_from(index)
            .map(Segment::Index)
            .map_err(|_| E::custom(PathError))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Segment, E> {
        Ok(Segment::All)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn select(path: Value, root: &Value) -> Vec<Value> {
        let path = ClaimPath::parse(&path).unwrap();
        path.select(root).into_iter().cloned().collect()
    }

    #[test]
    fn a_path_leads_to_members_elements_and_all_elements() {
        let root = json!({"a": {"b": [{"c": 1}, {"c": 2}, {"d": 3}]}});
        assert_eq!(select(json!(["a", "b", 1, "c"]), &root), [json!(2)]);
        assert_eq!(
            select(json!(["a", "b", null, "c"]), &root),
            [json!(1), json!(2)]
        );
        assert!(select(json!(["a", 0]), &root).is_empty());
        assert!(select(json!(["a", "b", "c"]), &root).is_empty());
    }

    #[test]
    fn only_arrays_of_names_indices_and_nulls_are_paths() {
        for bad in [
            json!([]),
            json!("a"),
            json!([-1]),
            json!([1.5]),
            json!([true]),
            json!({}),
        ] {
            assert_eq!(ClaimPath::parse(&bad), Err(PathError), "{bad}");
            let text = bad.to_string();
            assert!(serde_json::from_str::<ClaimPath>(&text).is_err(), "{bad}");
        }
        let good = json!(["a", 0, null]);
        assert_eq!(ClaimPath::parse(&good).unwrap().to_value(), good);
        assert_eq!(ClaimPath::parse(&good).unwrap().to_string(), "a[0][]");
        let read: ClaimPath = serde_json::from_str(r#"["a",0,null]"#).unwrap();
        assert_eq!(read, ClaimPath::parse(&good).unwrap());
        assert_eq!(serde_json::to_string(&read).unwrap(), r#"["a",0,null]"#);
    }
}
