//! Restrictions on credentials: the wallet query language, read from and written to JSON.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::limits::{MAX_CLAUSES, MAX_QUERY_DEPTH};
use super::message::why;

/// A query over tags and texts (AnonCreds v1.0, "Restrictions"). The older form, an array of maps, is read as a
/// disjunction; its `null` members count as absent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Query {
    /// All of these queries hold; true if empty.
    And(Vec<Self>),
    /// At least one of these queries holds; if empty, like an empty [`Query::And`].
    Or(Vec<Self>),
    /// This query does not hold.
    Not(Box<Self>),
    /// The tag has this value.
    Eq(String, String),
    /// The tag has a different value.
    Neq(String, String),
    /// The tag's value is greater. It can be written, but no verifier can judge it.
    Gt(String, String),
    /// The tag's value is not smaller. As for [`Query::Gt`], no verifier can judge it.
    Gte(String, String),
    /// The tag's value is smaller. As for [`Query::Gt`], no verifier can judge it.
    Lt(String, String),
    /// The tag's value is not greater. As for [`Query::Gt`], no verifier can judge it.
    Lte(String, String),
    /// The tag's value matches a pattern. As for [`Query::Gt`], no verifier can judge it.
    Like(String, String),
    /// The tag has one of these values.
    In(String, Vec<String>),
    /// The tags have some value. As for [`Query::Gt`], no verifier can judge it.
    Exist(Vec<String>),
}

impl Query {
    /// Whether the query has no conditions.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::And(all) | Self::Or(all) if all.is_empty())
    }

    /// Calls `visit` with every tag and every value it is compared to.
    pub fn visit(&self, visit: &mut impl FnMut(&str, &str)) {
        match self {
            Self::And(all) | Self::Or(all) => all.iter().for_each(|query| query.visit(visit)),
            Self::Not(query) => query.visit(visit),
            Self::Eq(tag, value)
            | Self::Neq(tag, value)
            | Self::Gt(tag, value)
            | Self::Gte(tag, value)
            | Self::Lt(tag, value)
            | Self::Lte(tag, value)
            | Self::Like(tag, value) => visit(tag, value),
            Self::In(tag, values) => values.iter().for_each(|value| visit(tag, value)),
            Self::Exist(tags) => tags.iter().for_each(|tag| visit(tag, "")),
        }
    }

    fn to_value(&self) -> Value {
        let several = |name: &str, all: &[Self]| match all {
            [] => json!({}),
            all => json!({ name: all.iter().map(Self::to_value).collect::<Vec<_>>() }),
        };
        match self {
            Self::And(all) => several("$and", all),
            Self::Or(all) => several("$or", all),
            Self::Not(query) => json!({ "$not": query.to_value() }),
            Self::Eq(tag, value) => json!({ tag: value }),
            Self::Neq(tag, value) => json!({ tag: { "$neq": value } }),
            Self::Gt(tag, value) => json!({ tag: { "$gt": value } }),
            Self::Gte(tag, value) => json!({ tag: { "$gte": value } }),
            Self::Lt(tag, value) => json!({ tag: { "$lt": value } }),
            Self::Lte(tag, value) => json!({ tag: { "$lte": value } }),
            Self::Like(tag, value) => json!({ tag: { "$like": value } }),
            Self::In(tag, values) => json!({ tag: { "$in": values } }),
            Self::Exist(tags) => json!({ "$exist": tags }),
        }
    }
}

impl Serialize for Query {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Query {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let mut reader = ClauseReader {
            clauses: MAX_CLAUSES,
        };
        let read = match value {
            Value::Object(members) => reader.object(members, MAX_QUERY_DEPTH),
            Value::Array(maps) => reader.maps(maps),
            _ => Err(why::QUERY),
        };
        read.map_err(serde::de::Error::custom)
    }
}

/// Reads queries, counting clauses.
struct ClauseReader {
    clauses: usize,
}

type Read<T> = Result<T, &'static str>;

impl ClauseReader {
    /// The older form: an array of maps, one of which must hold.
    fn maps(&mut self, maps: Vec<Value>) -> Read<Query> {
        let mut any = Vec::new();
        for map in maps {
            let Value::Object(members) = map else {
                return Err(why::QUERY);
            };
            let members: Map<_, _> = members.into_iter().filter(|(_, v)| !v.is_null()).collect();
            if !members.is_empty() {
                any.push(self.object(members, MAX_QUERY_DEPTH.saturating_sub(1))?);
            }
        }
        // Published readers treat an empty array as no condition.
        Ok(match any.len() {
            0 => Query::And(any),
            _ => Query::Or(any),
        })
    }

    fn object(&mut self, members: Map<String, Value>, depth: usize) -> Read<Query> {
        let depth = depth.checked_sub(1).ok_or(why::QUERY_SIZE)?;
        let mut all = Vec::new();
        for (key, value) in members {
            self.clauses = self.clauses.checked_sub(1).ok_or(why::QUERY_SIZE)?;
            all.extend(self.member(key, value, depth)?);
        }
        Ok(match <[Query; 1]>::try_from(all) {
            Ok([one]) => one,
            Err(all) => Query::And(all),
        })
    }

    fn member(&mut self, key: String, value: Value, depth: usize) -> Read<Option<Query>> {
        match (key.as_str(), value) {
            ("$and" | "$or" | "$exist", Value::Array(items)) if items.is_empty() => Ok(None),
            ("$and", Value::Array(items)) => Ok(Some(Query::And(self.list(items, depth)?))),
            ("$or", Value::Array(items)) => Ok(Some(Query::Or(self.list(items, depth)?))),
            ("$not", Value::Object(members)) => {
                let query = self.object(members, depth)?;
                Ok(Some(Query::Not(Box::new(query))))
            }
            ("$exist", Value::String(tag)) => Ok(Some(Query::Exist(vec![tag]))),
            ("$exist", Value::Array(tags)) => Ok(Some(Query::Exist(self.texts(tags)?))),
            ("$and" | "$or" | "$not" | "$exist", _) => Err(why::QUERY),
            (_, Value::String(value)) => Ok(Some(Query::Eq(key, value))),
            (_, Value::Object(members)) => self.comparison(key, members).map(Some),
            _ => Err(why::QUERY),
        }
    }

    fn list(&mut self, items: Vec<Value>, depth: usize) -> Read<Vec<Query>> {
        let object = |item| match item {
            Value::Object(members) => self.object(members, depth),
            _ => Err(why::QUERY),
        };
        items.into_iter().map(object).collect()
    }

    fn texts(&mut self, items: Vec<Value>) -> Read<Vec<String>> {
        self.clauses = self
            .clauses
            .checked_sub(items.len())
            .ok_or(why::QUERY_SIZE)?;
        let text = |item| match item {
            Value::String(text) => Ok(text),
            _ => Err(why::QUERY),
        };
        items.into_iter().map(text).collect()
    }

    /// A comparison as the only member.
    fn comparison(&mut self, tag: String, members: Map<String, Value>) -> Read<Query> {
        let mut members = members.into_iter();
        let (Some((operator, value)), None) = (members.next(), members.next()) else {
            return Err(why::QUERY);
        };
        match (operator.as_str(), value) {
            ("$eq", Value::String(value)) => Ok(Query::Eq(tag, value)),
            ("$neq", Value::String(value)) => Ok(Query::Neq(tag, value)),
            ("$gt", Value::String(value)) => Ok(Query::Gt(tag, value)),
            ("$gte", Value::String(value)) => Ok(Query::Gte(tag, value)),
            ("$lt", Value::String(value)) => Ok(Query::Lt(tag, value)),
            ("$lte", Value::String(value)) => Ok(Query::Lte(tag, value)),
            ("$like", Value::String(value)) => Ok(Query::Like(tag, value)),
            ("$in", Value::Array(values)) => Ok(Query::In(tag, self.texts(values)?)),
            _ => Err(why::QUERY),
        }
    }
}
