//! Identifiers in the unqualified form of Indy's ledgers: each names the object whose DID URL has the same DID, name and
//! version. They are taken wherever an identifier is, and what is stored and compared has DID URLs.

use std::collections::BTreeMap;

use selfsame_anoncreds::format::{PresentationRequest, Query};
use selfsame_core::Shared;
use selfsame_crypto::encoding::base58_decode;
use selfsame_did::Did;
use selfsame_did::selfsame::{Network, prefix};
use selfsame_driver::{Error, Result};
use selfsame_registry::anoncreds::ObjectName;

use crate::publication::DefinitionFilter;

/// The bytes of a DID.
const DID_BYTES: usize = 16;

/// An unqualified identifier.
#[derive(Debug, Eq, PartialEq)]
enum Unqualified<'a> {
    Did(&'a str),
    Schema(UnqualifiedSchema<'a>),
    Definition(UnqualifiedDefinition<'a>),
    /// `<did>:4:<definition>:CL_ACCUM:<tag>`.
    Registry {
        did: &'a str,
        definition: UnqualifiedDefinition<'a>,
        tag: &'a str,
    },
}

/// `<did>:2:<name>:<version>`.
#[derive(Debug, Eq, PartialEq)]
struct UnqualifiedSchema<'a> {
    did: &'a str,
    name: &'a str,
    version: &'a str,
}

/// `<did>:3:CL:<schema>:<tag>`.
#[derive(Debug, Eq, PartialEq)]
struct UnqualifiedDefinition<'a> {
    did: &'a str,
    schema: NamedSchema<'a>,
    tag: &'a str,
}

/// The schema in the identifier of a definition.
#[derive(Debug, Eq, PartialEq)]
enum NamedSchema<'a> {
    /// The number of the transaction that published it.
    Number(u64),
    /// Its identifier.
    Named(UnqualifiedSchema<'a>),
}

/// Gives identifiers their qualified form.
#[derive(Clone, Copy)]
pub(crate) struct Naming<'a>(pub &'a Shared);

impl Naming<'_> {
    /// The identifier in its qualified form; one that is not unqualified as it is. A number that no schema has leaves the
    /// identifier as it is too: no object has it.
    pub(crate) async fn qualified(self, id: &str) -> Result<String> {
        let Some(read) = Unqualified::read(id) else {
            return Ok(id.to_owned());
        };
        let registry = self.0.own_registry()?;
        let network = registry.network().await?;
        let number = match &read {
            Unqualified::Definition(definition) | Unqualified::Registry { definition, .. } => {
                definition.schema.number()
            }
            _ => None,
        };
        let numbered = match number {
            Some(number) => registry.schema_numbered(number).await?,
            None => None,
        };
        let named = read.named(&network, numbered.as_deref());
        Ok(named.unwrap_or_else(|| id.to_owned()))
    }

    async fn option(self, id: Option<String>) -> Result<Option<String>> {
        match id {
            Some(id) => self.qualified(&id).await.map(Some),
            None => Ok(None),
        }
    }

    /// A filter with qualified identifiers.
    pub(crate) async fn filter(self, of: &DefinitionFilter) -> Result<DefinitionFilter> {
        let of = of.clone();
        Ok(DefinitionFilter {
            cred_def_id: self.option(of.cred_def_id).await?,
            issuer: self.option(of.issuer).await?,
            schema_id: self.option(of.schema_id).await?,
            schema_issuer: self.option(of.schema_issuer).await?,
            ..of
        })
    }

    /// A presentation request whose restrictions have qualified identifiers.
    pub(crate) async fn request(
        self,
        mut request: PresentationRequest,
    ) -> Result<PresentationRequest> {
        for asked in request.requested_attributes.values_mut() {
            asked.restrictions = self.restrictions(asked.restrictions.take()).await?;
        }
        for asked in request.requested_predicates.values_mut() {
            asked.restrictions = self.restrictions(asked.restrictions.take()).await?;
        }
        Ok(request)
    }

    async fn restrictions(self, query: Option<Query>) -> Result<Option<Query>> {
        match query {
            Some(query) => self.query(&query).await.map(Some),
            None => Ok(None),
        }
    }

    /// A query with qualified identifiers. The tags of DIDs then are those of issuers, since the DIDs are qualified.
    pub(crate) async fn query(self, query: &Query) -> Result<Query> {
        let mut values = BTreeMap::new();
        query.visit(&mut |tag, value| {
            if is_identifier(tag) {
                values.insert(value.to_owned(), String::new());
            }
        });
        for (value, qualified) in &mut values {
            *qualified = self.qualified(value).await?;
        }
        Ok(renamed(query, &values))
    }
}

impl<'a> Unqualified<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let Some((did, rest)) = text.split_once(':') else {
            return is_did(text).then_some(Self::Did(text));
        };
        if !is_did(did) {
            return None;
        }
        if let Some(rest) = rest.strip_prefix("4:") {
            let (definition, tag) = rest.rsplit_once(":CL_ACCUM:")?;
            let definition = UnqualifiedDefinition::read(definition)?;
            return Some(Self::Registry {
                did,
                definition,
                tag,
            });
        }
        let schema = UnqualifiedSchema::read(text).map(Self::Schema);
        schema.or_else(|| UnqualifiedDefinition::read(text).map(Self::Definition))
    }

    /// The qualified identifier. `numbered` is the schema whose number the identifier has.
    fn named(&self, network: &Network, numbered: Option<&str>) -> Option<String> {
        match self {
            Self::Did(did) => Some(prefix(network.as_str()) + did),
            Self::Schema(schema) => schema.named(network),
            Self::Definition(definition) => definition.named(network, numbered),
            Self::Registry {
                did,
                definition,
                tag,
            } => {
                let definition = definition.named(network, numbered)?;
                let name = ObjectName::registry(&did_in(network, did)?, &definition, tag)?;
                Some(name.to_string())
            }
        }
    }
}

impl<'a> UnqualifiedSchema<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let (did, rest) = text.split_once(":2:")?;
        let (name, version) = rest.rsplit_once(':')?;
        let schema = Self { did, name, version };
        is_did(did).then_some(schema)
    }

    fn named(&self, network: &Network) -> Option<String> {
        let did = did_in(network, self.did)?;
        Some(ObjectName::schema(&did, self.name, self.version)?.to_string())
    }
}

impl<'a> UnqualifiedDefinition<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let (did, rest) = text.split_once(":3:CL:")?;
        let (schema, tag) = rest.rsplit_once(':')?;
        let schema = match schema.parse() {
            Ok(number) => NamedSchema::Number(number),
            Err(_) => NamedSchema::Named(UnqualifiedSchema::read(schema)?),
        };
        is_did(did).then_some(Self { did, schema, tag })
    }

    fn named(&self, network: &Network, numbered: Option<&str>) -> Option<String> {
        let schema = match &self.schema {
            NamedSchema::Number(_) => numbered?.to_owned(),
            NamedSchema::Named(schema) => schema.named(network)?,
        };
        let did = did_in(network, self.did)?;
        Some(ObjectName::definition(&did, &schema, self.tag)?.to_string())
    }
}

impl NamedSchema<'_> {
    fn number(&self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Named(_) => None,
        }
    }
}

fn is_did(text: &str) -> bool {
    base58_decode(text).is_ok_and(|bytes| bytes.len() == DID_BYTES)
}

fn did_in(network: &Network, did: &str) -> Option<Did> {
    Did::parse(&(prefix(network.as_str()) + did)).ok()
}

/// Whether the values of a tag are identifiers.
fn is_identifier(tag: &str) -> bool {
    matches!(
        tag,
        "schema_id"
            | "cred_def_id"
            | "rev_reg_id"
            | "issuer_id"
            | "issuer_did"
            | "schema_issuer_id"
            | "schema_issuer_did"
    )
}

fn renamed(query: &Query, values: &BTreeMap<String, String>) -> Query {
    let all = |queries: &[Query]| queries.iter().map(|one| renamed(one, values)).collect();
    let value = |tag: &str, value: &String| match is_identifier(tag) {
        true => values.get(value).unwrap_or(value).clone(),
        false => value.clone(),
    };
    let tag = |tag: &str| match tag {
        "issuer_did" => "issuer_id".to_owned(),
        "schema_issuer_did" => "schema_issuer_id".to_owned(),
        tag => tag.to_owned(),
    };
    match query {
        Query::And(queries) => Query::And(all(queries)),
        Query::Or(queries) => Query::Or(all(queries)),
        Query::Not(query) => Query::Not(Box::new(renamed(query, values))),
        Query::Eq(name, one) => Query::Eq(tag(name), value(name, one)),
        Query::Neq(name, one) => Query::Neq(tag(name), value(name, one)),
        Query::In(name, some) => {
            Query::In(tag(name), some.iter().map(|one| value(name, one)).collect())
        }
        other => other.clone(),
    }
}

/// The DID that a text names in the network of this one, qualified or not.
///
/// # Errors
/// `BadRequest` if it names none.
pub fn did_beside(beside: &Did, text: &str) -> Result<Did> {
    let wrong = || Error::bad_request("did-malformed");
    if let Ok(did) = Did::parse(text) {
        return Ok(did);
    }
    let (network, _) = selfsame_did::selfsame::parts(beside).ok_or_else(wrong)?;
    did_in(&network, text).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DID: &str = "TwKz7Lnh9vd89s1C1Cyx8F";

    fn network() -> Network {
        Network::of_genesis(b"a network")
    }

    fn named(text: &str, numbered: Option<&str>) -> String {
        let read = Unqualified::read(text).unwrap();
        read.named(&network(), numbered).unwrap()
    }

    #[test]
    fn an_unqualified_identifier_names_the_object_of_the_same_did_name_and_version() {
        let did = did_in(&network(), DID).unwrap();
        assert_eq!(named(DID, None), did.to_string());
        let schema = ObjectName::schema(&did, "a: schema", "1.0").unwrap();
        let schema = schema.to_string();
        assert_eq!(named(&format!("{DID}:2:a: schema:1.0"), None), schema);
        let definition = ObjectName::definition(&did, &schema, "tag").unwrap();
        let definition = definition.to_string();
        let numbered = format!("{DID}:3:CL:18:tag");
        assert_eq!(named(&numbered, Some(&schema)), definition);
        let of_named = format!("{DID}:3:CL:{DID}:2:a: schema:1.0:tag");
        assert_eq!(named(&of_named, None), definition);
        let registry = ObjectName::registry(&did, &definition, "1").unwrap();
        let unqualified = format!("{DID}:4:{numbered}:CL_ACCUM:1");
        assert_eq!(named(&unqualified, Some(&schema)), registry.to_string());
    }

    #[test]
    fn what_is_qualified_or_no_identifier_is_not_read_as_unqualified() {
        let did = did_in(&network(), DID).unwrap().to_string();
        let schema = format!("{did}/anoncreds/v0/SCHEMA/a/1");
        for other in [&did, &schema, "", "18", "a:2:b:c", "did:sov:x", "https://a"] {
            assert_eq!(Unqualified::read(other), None, "{other}");
        }
        let unknown = Unqualified::read("TwKz7Lnh9vd89s1C1Cyx8F:3:CL:18:tag").unwrap();
        assert_eq!(unknown.named(&network(), None), None);
    }

    #[test]
    fn the_old_tags_of_a_query_become_those_of_issuers() {
        let values = BTreeMap::from([("a".to_owned(), "did:x:a".to_owned())]);
        let query = Query::And(vec![
            Query::Eq("issuer_did".to_owned(), "a".to_owned()),
            Query::Eq("attr::x::value".to_owned(), "a".to_owned()),
        ]);
        let expected = Query::And(vec![
            Query::Eq("issuer_id".to_owned(), "did:x:a".to_owned()),
            Query::Eq("attr::x::value".to_owned(), "a".to_owned()),
        ]);
        assert_eq!(renamed(&query, &values), expected);
    }
}
