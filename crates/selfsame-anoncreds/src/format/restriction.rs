//! Whether a credential meets the restrictions of a request, from what is known of it.
//!
//! There are three answers: a condition that a verifier cannot judge (an unknown tag, an ordering, a pattern, the value
//! of an attribute that is not revealed) neither holds nor fails, and neither does its negation.

use std::collections::{BTreeMap, BTreeSet};

use super::encoding::normalise_attribute;
use super::identifier::{
    CredentialDefinitionId, IssuerId, RevocationRegistryId, SchemaId, is_legacy_did,
};
use super::query::Query;
use super::schema::Schema;

/// The result of a query.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum QueryAnswer {
    /// The query holds.
    Holds,
    /// The query does not hold.
    Fails,
    /// The query cannot be judged, and so does not count as met.
    Unknown,
}

/// What is known of a credential.
#[derive(Clone, Debug)]
pub struct Known<'a> {
    /// The identifier of the credential's schema.
    pub schema_id: &'a SchemaId,
    /// The credential's schema.
    pub schema: &'a Schema,
    /// Whether the definition is known to be for this schema. A definition from the time of Indy names its schema by a
    /// ledger sequence number; then only the schema's attributes are known to be the credential's.
    pub schema_is_certain: bool,
    /// The identifier of the credential's definition.
    pub definition_id: &'a CredentialDefinitionId,
    /// The credential's issuer.
    pub issuer_id: &'a IssuerId,
    /// The registry in which non-revocation is proven; nothing else ties a registry to a credential.
    pub registry_id: Option<&'a RevocationRegistryId>,
    /// The revealed raw values, by normalised name.
    pub shown: BTreeMap<String, &'a str>,
}

impl Known<'_> {
    /// The result of the query for this credential.
    pub fn judge(&self, query: &Query) -> QueryAnswer {
        match query {
            Query::And(all) => all
                .iter()
                .map(|q| self.judge(q))
                .fold(QueryAnswer::Holds, both),
            Query::Or(any) if any.is_empty() => QueryAnswer::Holds,
            Query::Or(any) => any
                .iter()
                .map(|q| self.judge(q))
                .fold(QueryAnswer::Fails, either),
            Query::Not(query) => opposite(self.judge(query)),
            Query::Eq(tag, value) => self.equal(tag, value),
            Query::Neq(tag, value) => opposite(self.equal(tag, value)),
            Query::In(tag, values) => values
                .iter()
                .map(|value| self.equal(tag, value))
                .fold(QueryAnswer::Fails, either),
            Query::Gt(..)
            | Query::Gte(..)
            | Query::Lt(..)
            | Query::Lte(..)
            | Query::Like(..)
            | Query::Exist(_) => QueryAnswer::Unknown,
        }
    }

    fn equal(&self, tag: &str, value: &str) -> QueryAnswer {
        match tag {
            "schema_id" | "schema_name" | "schema_version" | "schema_issuer_id"
            | "schema_issuer_did"
                if !self.schema_is_certain =>
            {
                QueryAnswer::Unknown
            }
            "schema_id" => answer(self.schema_id.as_str() == value),
            "schema_name" => answer(self.schema.name == value),
            "schema_version" => answer(self.schema.version == value),
            "schema_issuer_id" => answer(self.schema.issuer_id.as_str() == value),
            "schema_issuer_did" => legacy(self.schema.issuer_id.as_str(), value),
            "issuer_id" => answer(self.issuer_id.as_str() == value),
            "issuer_did" => legacy(self.issuer_id.as_str(), value),
            "cred_def_id" => answer(self.definition_id.as_str() == value),
            "rev_reg_id" => match self.registry_id {
                Some(id) => answer(id.as_str() == value),
                None => QueryAnswer::Unknown,
            },
            _ => self.attribute(tag, value),
        }
    }

    /// `attr::<name>::marker`: the schema has the attribute; `attr::<name>::value`: it is revealed with this value.
    fn attribute(&self, tag: &str, value: &str) -> QueryAnswer {
        let named = tag.strip_prefix("attr::");
        let Some((name, kind)) = named.and_then(|rest| rest.rsplit_once("::")) else {
            return QueryAnswer::Unknown;
        };
        let name = normalise_attribute(name);
        match kind {
            "marker" => answer(value == "1" && self.schema.attributes().contains(&name)),
            "value" => match self.shown.get(&name) {
                Some(shown) => answer(*shown == value),
                None => QueryAnswer::Unknown,
            },
            _ => QueryAnswer::Unknown,
        }
    }
}

/// Judges an old tag, which applies to legacy DIDs only; with any other identifier the condition fails.
fn legacy(known: &str, value: &str) -> QueryAnswer {
    answer(is_legacy_did(known) && known == value)
}

fn answer(holds: bool) -> QueryAnswer {
    if holds {
        QueryAnswer::Holds
    } else {
        QueryAnswer::Fails
    }
}

fn opposite(of: QueryAnswer) -> QueryAnswer {
    match of {
        QueryAnswer::Holds => QueryAnswer::Fails,
        QueryAnswer::Fails => QueryAnswer::Holds,
        QueryAnswer::Unknown => QueryAnswer::Unknown,
    }
}

fn both(a: QueryAnswer, b: QueryAnswer) -> QueryAnswer {
    match (a, b) {
        (QueryAnswer::Fails, _) | (_, QueryAnswer::Fails) => QueryAnswer::Fails,
        (QueryAnswer::Holds, QueryAnswer::Holds) => QueryAnswer::Holds,
        _ => QueryAnswer::Unknown,
    }
}

fn either(a: QueryAnswer, b: QueryAnswer) -> QueryAnswer {
    opposite(both(opposite(a), opposite(b)))
}

/// Whether the queries use both the old tag and the new one for an issuer, or for a schema's issuer.
pub(crate) fn mixes_tags<'a>(queries: impl Iterator<Item = &'a Query>) -> bool {
    let mut tags = BTreeSet::new();
    for query in queries {
        query.visit(&mut |tag, _| {
            tags.insert(tag.to_owned());
        });
    }
    let both = |a, b| tags.contains(a) && tags.contains(b);
    both("issuer_id", "issuer_did") || both("schema_issuer_id", "schema_issuer_did")
}
