//! Reading DID documents from JSON, strictly (DID Core §6.2.2 and §6.3.2).

use std::collections::BTreeSet;

use selfsame_crypto::json::{self, Limits};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::members::{MAX_LIST, TakenMembers, strings, take};
use super::{Document, DocumentError, KeyReference, Relationship, Service, VerificationMethod};
use crate::did::Did;
use crate::did::DidUrl;

/// The limits on a document's JSON. Anyone can make the instance read a document. A document with ten keys and ten
/// services has 150 members.
const LIMITS: Limits = Limits {
    max_bytes: 256 * 1024,
    max_depth: 32,
    max_members: 1_000,
};
/// The base contexts of DID Core 1.0 and 1.1.
const BASE_CONTEXTS: [&str; 2] = [
    "https://www.w3.org/ns/did/v1",
    "https://www.w3.org/ns/did/v1.1",
];

impl Document {
    /// Parses a document in JSON or JSON-LD, which must describe `expected`.
    pub fn parse(bytes: &[u8], expected: &Did) -> Result<Self, DocumentError> {
        let document = Self::from_value(json::parse(bytes, &LIMITS).map_err(DocumentError::Json)?)?;
        if document.id == *expected {
            Ok(document)
        } else {
            Err(DocumentError::OtherDid)
        }
    }

    /// Reads a document from strictly parsed JSON. The caller must compare the identifier.
    pub fn from_value(value: Value) -> Result<Self, DocumentError> {
        let Value::Object(mut members) = value else {
            return Err(DocumentError::Malformed("form"));
        };
        let id = members
            .text("id")
            .and_then(|id| Did::parse(&id).ok())
            .ok_or(DocumentError::Malformed("id"))?;
        let mut document = Self::new(id);
        document.context = context(take(&mut members, "@context"))?;
        document.also_known_as = optional(&mut members, "alsoKnownAs", strings)
            .map_err(|()| DocumentError::Malformed("alsoKnownAs"))?;
        let controller = optional(&mut members, "controller", strings);
        document.controller = controller
            .and_then(|all| {
                all.iter()
                    .map(|one| Did::parse(one).map_err(|_| ()))
                    .collect()
            })
            .map_err(|()| DocumentError::Malformed("controller"))?;
        for value in list(&mut members, "verificationMethod")? {
            document
                .verification_method
                .push(VerificationMethod::read(value, &document.id)?);
        }
        for relationship in Relationship::ALL {
            for value in list(&mut members, relationship.as_str())? {
                let reference = reference(value, &document.id)?;
                document.references_mut(relationship).push(reference);
            }
        }
        for value in list(&mut members, "service")? {
            document.service.push(Service::read(value, &document.id)?);
        }
        document.other = members;
        document.has_unique_ids()?;
        Ok(document)
    }

    /// If two methods shared an identifier, a reference to it would be ambiguous.
    fn has_unique_ids(&self) -> Result<(), DocumentError> {
        let mut seen = BTreeSet::new();
        let unique = self.methods().all(|method| seen.insert(&method.id));
        let mut seen = BTreeSet::new();
        let unique = unique && self.service.iter().all(|service| seen.insert(&service.id));
        if unique {
            Ok(())
        } else {
            Err(DocumentError::Duplicate)
        }
    }
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_value(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

fn optional(
    members: &mut Map<String, Value>,
    name: &str,
    read: impl Fn(Option<Value>) -> Option<Vec<String>>,
) -> Result<Vec<String>, ()> {
    match members.remove(name) {
        None => Ok(Vec::new()),
        some => read(some).ok_or(()),
    }
}

fn list(members: &mut Map<String, Value>, name: &'static str) -> Result<Vec<Value>, DocumentError> {
    match members.remove(name) {
        None => Ok(Vec::new()),
        Some(Value::Array(all)) if all.len() <= MAX_LIST => Ok(all),
        Some(_) => Err(DocumentError::Malformed(name)),
    }
}

fn reference(value: Value, base: &Did) -> Result<KeyReference, DocumentError> {
    match value {
        Value::String(text) => DidUrl::join(base, &text)
            .map(KeyReference::Id)
            .map_err(|_| DocumentError::Malformed("verification relationship")),
        embedded => VerificationMethod::read(embedded, base)
            .map(|method| KeyReference::Embedded(Box::new(method))),
    }
}

/// DID Core §6.3.2: with `@context`, the base context must come first; without it the document is plain JSON.
fn context(value: Option<Value>) -> Result<Vec<Value>, DocumentError> {
    let contexts = match value {
        None => return Ok(Vec::new()),
        Some(Value::Array(all)) if all.len() <= MAX_LIST => all,
        Some(text @ Value::String(_)) => vec![text],
        Some(_) => return Err(DocumentError::Malformed("@context")),
    };
    let is_base = contexts
        .first()
        .and_then(Value::as_str)
        .is_some_and(|first| BASE_CONTEXTS.contains(&first));
    if is_base {
        Ok(contexts)
    } else {
        Err(DocumentError::Malformed("@context"))
    }
}
