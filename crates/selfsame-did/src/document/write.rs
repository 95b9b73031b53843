//! Writing DID documents: the representations and their contexts.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use super::method::{
    ED25519_2018, ED25519_2020, JSON_WEB_KEY, JSON_WEB_KEY_2020, MULTIKEY, SECP256K1_2019,
    X25519_2019, X25519_2020,
};
use super::{Document, KeyReference, Relationship};

/// The base context of DID Core §6.3.1.
const BASE_CONTEXT: &str = "https://www.w3.org/ns/did/v1";

/// The representation of a document.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub enum Representation {
    /// `application/did` (DID 1.1): JSON with `@context`.
    #[default]
    #[serde(rename = "application/did")]
    Did,
    /// `application/did+ld+json` (DID 1.0): the older name of `application/did`.
    #[serde(rename = "application/did+ld+json")]
    JsonLd,
    /// `application/did+json` (DID 1.0): JSON without `@context`.
    #[serde(rename = "application/did+json")]
    Json,
}

impl Representation {
    /// The media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Did => "application/did",
            Self::JsonLd => "application/did+ld+json",
            Self::Json => "application/did+json",
        }
    }
}

impl Document {
    /// The document in this representation.
    pub fn to_value(&self, representation: Representation) -> Value {
        let mut members = Map::new();
        if representation != Representation::Json {
            members.insert("@context".to_owned(), Value::Array(self.contexts()));
        }
        members.insert("id".to_owned(), Value::String(self.id.to_string()));
        put(
            &mut members,
            "alsoKnownAs",
            self.also_known_as
                .iter()
                .cloned()
                .map(Value::String)
                .collect(),
        );
        match self.controller.as_slice() {
            [one] => {
                members.insert("controller".to_owned(), Value::String(one.to_string()));
            }
            all => put(
                &mut members,
                "controller",
                all.iter()
                    .map(|did| Value::String(did.to_string()))
                    .collect(),
            ),
        }
        put(
            &mut members,
            "verificationMethod",
            self.verification_method
                .iter()
                .map(|method| method.write())
                .collect(),
        );
        for relationship in Relationship::ALL {
            let references =
                self.references(relationship)
                    .iter()
                    .map(|reference| match reference {
                        KeyReference::Id(id) => Value::String(id.to_string()),
                        KeyReference::Embedded(method) => method.write(),
                    });
            put(&mut members, relationship.as_str(), references.collect());
        }
        put(
            &mut members,
            "service",
            self.service.iter().map(|service| service.write()).collect(),
        );
        members.extend(self.other.clone());
        Value::Object(members)
    }

    /// The contexts as read, or those that its types need.
    fn contexts(&self) -> Vec<Value> {
        if !self.context.is_empty() {
            return self.context.clone();
        }
        let mut contexts = vec![BASE_CONTEXT];
        for context in self
            .methods()
            .filter_map(|method| context_of(method.type_name()))
        {
            if !contexts.contains(&context) {
                contexts.push(context);
            }
        }
        contexts
            .into_iter()
            .map(|context| Value::String(context.to_owned()))
            .collect()
    }
}

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value(Representation::default())
            .serialize(serializer)
    }
}

fn put(members: &mut Map<String, Value>, name: &str, values: Vec<Value>) {
    if !values.is_empty() {
        members.insert(name.to_owned(), Value::Array(values));
    }
}

fn context_of(type_: &str) -> Option<&'static str> {
    match type_ {
        JSON_WEB_KEY_2020 => Some("https://w3id.org/security/suites/jws-2020/v1"),
        JSON_WEB_KEY => Some("https://w3id.org/security/jwk/v1"),
        MULTIKEY => Some("https://w3id.org/security/multikey/v1"),
        ED25519_2020 => Some("https://w3id.org/security/suites/ed25519-2020/v1"),
        ED25519_2018 => Some("https://w3id.org/security/suites/ed25519-2018/v1"),
        SECP256K1_2019 => Some("https://w3id.org/security/suites/secp256k1-2019/v1"),
        X25519_2019 => Some("https://w3id.org/security/suites/x25519-2019/v1"),
        X25519_2020 => Some("https://w3id.org/security/suites/x25519-2020/v1"),
        _ => None,
    }
}
