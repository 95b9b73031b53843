//! did:peer:2: the DID has keys, each with its purpose, and services.

use selfsame_crypto::agreement::AgreementKey;
use selfsame_crypto::encoding::{base64url_decode, base64url_encode, multibase_decode};
use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::{KeyError, PublicKey};
use serde_json::{Map, Value};

use crate::did::Did;
use crate::document::{Document, Relationship, Service, VerificationMethod};
use crate::resolution::ResolutionError;

use super::{PeerError, hash_of, made};

/// Limits on one service.
const LIMITS: Limits = Limits {
    max_bytes: 4096,
    max_depth: 8,
    max_members: 128,
};
/// The maximum number of keys and services.
const MAX_ELEMENTS: usize = 32;
/// The least length of a multikey (the method's grammar: 46 characters after the letter).
const MIN_MULTIKEY: usize = 47;
/// Names and what stands for them in a service ("Common String Abbreviations").
const ABBREVIATIONS: [[&str; 2]; 5] = [
    ["type", "t"],
    ["DIDCommMessaging", "dm"],
    ["serviceEndpoint", "s"],
    ["routingKeys", "r"],
    ["accept", "a"],
];
const SERVICE: char = 'S';

/// A key to put into a DID, with its purpose.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PeerKey {
    /// What the key is for.
    pub purpose: Relationship,
    /// The key as multikey.
    pub multikey: String,
}

impl PeerKey {
    /// A key that authenticates.
    pub fn authentication(key: &PublicKey) -> Self {
        Self {
            purpose: Relationship::Authentication,
            multikey: key.to_multikey(),
        }
    }

    /// A key that messages are encrypted to.
    pub fn agreement(key: &AgreementKey) -> Self {
        Self {
            purpose: Relationship::KeyAgreement,
            multikey: key.to_multikey(),
        }
    }
}

/// Makes a DID of keys and services, in this order. The identifiers of services are relative: `#service`.
///
/// # Errors
/// If a key is no multikey of its purpose, a service is malformed, or the DID is too long.
pub fn create_with_keys(
    keys: &[PeerKey],
    services: &[Map<String, Value>],
) -> Result<Did, PeerError> {
    let mut id = "2".to_owned();
    for key in keys {
        check(key.purpose, &key.multikey).map_err(|_| PeerError::Malformed("key"))?;
        id.push('.');
        id.push(code(key.purpose));
        id.push_str(&key.multikey);
    }
    for service in services {
        let short = renamed(Value::Object(service.clone()), abbreviated);
        let text = json::to_bytes(&short.ok_or(PeerError::Malformed("service"))?);
        id.push('.');
        id.push(SERVICE);
        id.push_str(&base64url_encode(&text));
    }
    let did = made(&id)?;
    match resolve(&did) {
        Ok(_) => Ok(did),
        Err(_) => Err(PeerError::Malformed("service")),
    }
}

/// The document of the DID ("Resolving a did:peer:2").
pub(super) fn resolve(did: &Did) -> Result<Document, ResolutionError> {
    let invalid = ResolutionError::InvalidDid;
    let encoded = did.method_id().strip_prefix('2').ok_or(invalid)?;
    let elements = encoded.strip_prefix('.').ok_or(invalid)?;
    if elements.split('.').count() > MAX_ELEMENTS {
        return Err(invalid);
    }
    let mut document = Document::new(did.clone());
    document.also_known_as.push(format!(
        "{}:3{}",
        super::METHOD.scheme(),
        hash_of(encoded.as_bytes())
    ));
    let (mut keys, mut nameless) = (0_u32, 0_u32);
    for element in elements.split('.') {
        let mut rest = element.chars();
        let code = rest.next().ok_or(invalid)?;
        if code == SERVICE {
            let service = service(did, rest.as_str(), &mut nameless)?;
            if document.service.iter().any(|other| other.id == service.id) {
                return Err(invalid);
            }
            document.service.push(service);
            continue;
        }
        let purpose = purpose(code).ok_or(invalid)?;
        check(purpose, rest.as_str()).map_err(|_| invalid)?;
        keys = keys.saturating_add(1);
        let id = did
            .with_fragment(&format!("key-{keys}"))
            .map_err(|_| invalid)?;
        let method = VerificationMethod::of_multikey(id, rest.as_str());
        document.add(method, &[purpose]);
    }
    Ok(document)
}

fn service(did: &Did, text: &str, nameless: &mut u32) -> Result<Service, ResolutionError> {
    let invalid = ResolutionError::InvalidDid;
    let bytes = base64url_decode(text).map_err(|_| invalid)?;
    let value = json::parse(&bytes, &LIMITS).map_err(|_| invalid)?;
    let Some(Value::Object(mut members)) = renamed(value, expanded) else {
        return Err(invalid);
    };
    match members.get("id") {
        Some(Value::String(id)) if id.starts_with('#') => {}
        Some(_) => return Err(invalid),
        None => {
            let id = match *nameless {
                0 => "#service".to_owned(),
                number => format!("#service-{number}"),
            };
            *nameless = nameless.saturating_add(1);
            members.insert("id".to_owned(), Value::String(id));
        }
    }
    Service::read(Value::Object(members), did).map_err(|_| invalid)
}

/// The value with its members' names, and the values of its types, replaced at any depth; `None` if two members would
/// get one name.
fn renamed(value: Value, rename: fn(&str) -> String) -> Option<Value> {
    match value {
        Value::Object(members) => {
            let mut all = Map::new();
            for (name, value) in members {
                let name = rename(&name);
                let value = match value {
                    Value::String(text) if name == "t" || name == "type" => rename(&text).into(),
                    other => renamed(other, rename)?,
                };
                if all.insert(name, value).is_some() {
                    return None;
                }
            }
            Some(Value::Object(all))
        }
        Value::Array(elements) => {
            let elements = elements.into_iter().map(|one| renamed(one, rename));
            elements.collect::<Option<Vec<_>>>().map(Value::Array)
        }
        other => Some(other),
    }
}

fn abbreviated(name: &str) -> String {
    let known = ABBREVIATIONS.iter().find(|[long, _]| *long == name);
    known.map_or(name, |[_, short]| short).to_owned()
}

fn expanded(name: &str) -> String {
    let known = ABBREVIATIONS.iter().find(|[_, short]| *short == name);
    known.map_or(name, |[long, _]| long).to_owned()
}

/// Whether the multikey can be a key of this purpose. Keys of types that are not supported here are for others to judge.
fn check(purpose: Relationship, multikey: &str) -> Result<(), KeyError> {
    let malformed = KeyError::Malformed("multikey");
    if !multikey.starts_with('z') || multikey.len() < MIN_MULTIKEY {
        return Err(malformed);
    }
    let bytes = multibase_decode(multikey).map_err(|_| malformed)?;
    let key = match purpose {
        Relationship::KeyAgreement => AgreementKey::from_multicodec(&bytes).map(|_| ()),
        _ => PublicKey::from_multicodec(&bytes).map(|_| ()),
    };
    match key {
        Err(KeyError::Unsupported) | Ok(()) => Ok(()),
        Err(error) => Err(error),
    }
}

const fn code(purpose: Relationship) -> char {
    match purpose {
        Relationship::AssertionMethod => 'A',
        Relationship::KeyAgreement => 'E',
        Relationship::Authentication => 'V',
        Relationship::CapabilityInvocation => 'I',
        Relationship::CapabilityDelegation => 'D',
    }
}

fn purpose(code_of: char) -> Option<Relationship> {
    Relationship::ALL
        .into_iter()
        .find(|purpose| code(*purpose) == code_of)
}
