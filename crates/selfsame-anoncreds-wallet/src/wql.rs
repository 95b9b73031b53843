//! Queries of the wallet query language over held credentials: the tags that lead to what may fit, and whether it does.

use selfsame_anoncreds::format::{Query, normalise_attribute};
use selfsame_driver::{Error, Result};
use selfsame_store::Tag;
use serde_json::Value;

/// Reads a query. An empty one, or none, fits everything.
///
/// # Errors
/// `BadRequest` for what is no query, or compares in a way that credentials can't be found by.
pub(crate) fn parsed(query: &Value) -> Result<Query> {
    let malformed = || Error::bad_request("anoncreds-query-malformed");
    let query = match query {
        Value::Null => Query::And(Vec::new()),
        query => serde_json::from_value(query.clone()).map_err(|_| malformed())?,
    };
    match is_plain(&query) {
        true => Ok(query),
        false => Err(malformed()),
    }
}

/// Whether it compares for equality alone: tags are stored as keyed hashes.
fn is_plain(query: &Query) -> bool {
    match query {
        Query::And(all) | Query::Or(all) => all.iter().all(is_plain),
        Query::Not(query) => is_plain(query),
        Query::Eq(..) | Query::Neq(..) | Query::In(..) | Query::Exist(_) => true,
        Query::Gt(..) | Query::Gte(..) | Query::Lt(..) | Query::Lte(..) | Query::Like(..) => false,
    }
}

/// The tag of a record for a tag of a query with this value; `None` for a tag that no credential has.
pub(crate) fn tag(name: &str, value: &str) -> Option<Tag> {
    Some(match name {
        "schema_id" => Tag::hashed("schema_id", value),
        "schema_issuer_did" | "schema_issuer_id" => Tag::hashed("schema_issuer", value),
        "schema_name" => Tag::hashed("schema_name", value),
        "schema_version" => Tag::hashed("schema_version", value),
        "issuer_did" | "issuer_id" => Tag::hashed("issuer", value),
        "cred_def_id" => Tag::hashed("cred_def_id", value),
        "rev_reg_id" => Tag::hashed("rev_reg_id", value),
        _ => {
            let (name, kind) = name.strip_prefix("attr::")?.rsplit_once("::")?;
            match kind {
                "marker" if value == "1" => marker(name),
                "value" => value_of(name, value),
                _ => return None,
            }
        }
    })
}

/// The tag of a credential that has this attribute.
pub(crate) fn marker(attribute: &str) -> Tag {
    Tag::hashed("marker", normalise_attribute(attribute))
}

/// The tag of a credential in which this attribute has this value.
pub(crate) fn value_of(attribute: &str, value: &str) -> Tag {
    // The length says where the name ends.
    let name = normalise_attribute(attribute);
    Tag::hashed("value", format!("{}:{name}={value}", name.len()))
}

/// The tag of a credential that has more attributes, or longer ones, than can be tags.
pub(crate) fn wide() -> Tag {
    Tag::hashed("wide", "1")
}

/// Whether it is the tag of an attribute.
pub(crate) fn is_of_attribute(tag: &Tag) -> bool {
    let (Tag::Hashed { name, .. } | Tag::Plain { name, .. }) = tag;
    matches!(*name, "marker" | "value")
}

/// The tags of which each credential that fits has one; `None` if no tags narrow it.
pub(crate) fn leads(query: &Query) -> Option<Vec<Tag>> {
    let mut tags = narrowest(query)?;
    if tags.iter().any(is_of_attribute) {
        tags.push(wide());
    }
    Some(tags)
}

fn narrowest(query: &Query) -> Option<Vec<Tag>> {
    match query {
        Query::Eq(name, value) => Some(tag(name, value).into_iter().collect()),
        Query::In(name, values) => {
            let tags = values.iter().filter_map(|value| tag(name, value));
            Some(tags.collect())
        }
        Query::And(all) => all
            .iter()
            .filter_map(narrowest)
            .min_by_key(|tags| rank(tags)),
        Query::Or(any) if any.is_empty() => None,
        Query::Or(any) => {
            let each: Option<Vec<_>> = any.iter().map(narrowest).collect();
            Some(each?.into_iter().flatten().collect())
        }
        Query::Exist(names) => names.iter().find_map(|name| {
            let attribute = name.strip_prefix("attr::")?.rsplit_once("::")?.0;
            Some(vec![marker(attribute)])
        }),
        Query::Not(_)
        | Query::Neq(..)
        | Query::Gt(..)
        | Query::Gte(..)
        | Query::Lt(..)
        | Query::Lte(..)
        | Query::Like(..) => None,
    }
}

/// How much tags narrow: fewer are better, and then those that fewer credentials have.
fn rank(tags: &[Tag]) -> (usize, usize) {
    let order = ["value", "rev_reg_id", "cred_def_id", "schema_id", "issuer"];
    let widest = tags.iter().map(|tag| match tag {
        Tag::Hashed { name, .. } | Tag::Plain { name, .. } => {
            let place = order.iter().position(|known| known == name);
            place.unwrap_or(order.len())
        }
    });
    (tags.len(), widest.max().unwrap_or(0))
}

/// Whether a query holds for what has these tags.
pub(crate) fn holds(query: &Query, tags: &[Tag]) -> bool {
    let has = |name: &str, value: &str| tag(name, value).is_some_and(|tag| tags.contains(&tag));
    match query {
        Query::And(all) => all.iter().all(|query| holds(query, tags)),
        Query::Or(any) => any.is_empty() || any.iter().any(|query| holds(query, tags)),
        Query::Not(query) => !holds(query, tags),
        Query::Eq(name, value) => has(name, value),
        Query::Neq(name, value) => exists(name, tags) && !has(name, value),
        Query::In(name, values) => values.iter().any(|value| has(name, value)),
        Query::Exist(names) => names.iter().all(|name| exists(name, tags)),
        Query::Gt(..) | Query::Gte(..) | Query::Lt(..) | Query::Lte(..) | Query::Like(..) => false,
    }
}

/// Whether what has these tags has a tag of a query, with any value.
fn exists(name: &str, tags: &[Tag]) -> bool {
    if let Some((attribute, _)) = name
        .strip_prefix("attr::")
        .and_then(|rest| rest.rsplit_once("::"))
    {
        return tags.contains(&marker(attribute));
    }
    let Some(Tag::Hashed { name, .. }) = tag(name, "") else {
        return false;
    };
    let is_it = |known: &Tag| matches!(known, Tag::Hashed { name: known, .. } if *known == name);
    tags.iter().any(is_it)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tags() -> Vec<Tag> {
        vec![
            Tag::hashed("cred_def_id", "did:x:1"),
            Tag::hashed("schema_name", "donor"),
            marker("Given Name"),
            value_of("Given Name", "Alice"),
        ]
    }

    #[test]
    fn each_operator_judges_by_the_tags() {
        for (query, expected) in [
            (json!({}), true),
            (json!(null), true),
            (
                json!({"cred_def_id": "did:x:1", "schema_name": "donor"}),
                true,
            ),
            (json!({"cred_def_id": "did:x:2"}), false),
            (json!({"attr::given name::value": "Alice"}), true),
            (json!({"attr::givenname::value": "Bob"}), false),
            (json!({"attr::givenname::marker": "1"}), true),
            (json!({"attr::other::marker": "1"}), false),
            (
                json!({"$or": [{"schema_name": "x"}, {"schema_name": "donor"}]}),
                true,
            ),
            (
                json!({"$and": [{"schema_name": "x"}, {"schema_name": "donor"}]}),
                false,
            ),
            (json!({"$not": {"schema_name": "x"}}), true),
            (json!({"schema_name": {"$neq": "x"}}), true),
            (json!({"schema_name": {"$neq": "donor"}}), false),
            (json!({"rev_reg_id": {"$neq": "x"}}), false),
            (json!({"schema_name": {"$in": ["x", "donor"]}}), true),
            (
                json!({"$exist": ["schema_name", "attr::givenname::value"]}),
                true,
            ),
            (json!({"$exist": ["rev_reg_id"]}), false),
            (json!({"unknown": "1"}), false),
            (
                json!([{"cred_def_id": "did:x:2"}, {"cred_def_id": "did:x:1"}]),
                true,
            ),
        ] {
            let parsed = parsed(&query).unwrap();
            assert_eq!(holds(&parsed, &tags()), expected, "{query}");
            // What fits has a tag that leads to it.
            if let (true, Some(leads)) = (expected, leads(&parsed)) {
                assert!(leads.iter().any(|tag| tags().contains(tag)), "{query}");
            }
        }
    }

    #[test]
    fn the_narrowest_tag_leads() {
        let query = parsed(&json!({"schema_name": "donor", "cred_def_id": "d"})).unwrap();
        assert_eq!(leads(&query), Some(vec![Tag::hashed("cred_def_id", "d")]));
        let query = parsed(&json!({"$not": {"cred_def_id": "d"}})).unwrap();
        assert_eq!(leads(&query), None);
    }

    #[test]
    fn what_is_looked_for_by_an_attribute_may_be_a_credential_with_many() {
        let query = parsed(&json!({"attr::blood::value": "A+"})).unwrap();
        assert_eq!(leads(&query), Some(vec![value_of("blood", "A+"), wide()]));
        let query = json!({"$or": [{"schema_name": "donor"}, {"attr::blood::marker": "1"}]});
        let query = parsed(&query).unwrap();
        assert!(leads(&query).unwrap().contains(&wide()));
    }

    #[test]
    fn what_hashes_can_not_answer_is_refused() {
        for query in [
            json!({"schema_name": {"$like": "d%"}}),
            json!({"schema_version": {"$gt": "1"}}),
            json!({"$not": {"schema_version": {"$lt": "1"}}}),
            json!("donor"),
            json!({"schema_name": 7}),
        ] {
            let refused = parsed(&query).unwrap_err();
            assert_eq!(refused.reason.id(), "anoncreds-query-malformed", "{query}");
        }
    }

    #[test]
    fn a_name_and_a_value_can_not_be_taken_for_another_pair() {
        assert_ne!(value_of("a", "b=c"), value_of("a=b", "c"));
    }
}
