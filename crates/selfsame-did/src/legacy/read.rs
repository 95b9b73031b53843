//! Reading documents from before DID Core.

use selfsame_crypto::PublicKey;
use serde_json::{Map, Value};

use super::{LegacyDocument, LegacyKey, LegacyService, UnqualifiedDid, key_of_text};
use crate::document::DocumentError;

/// The maximum number of keys, of services, and of keys of a service.
const MAX_LIST: usize = 32;
/// The types of keys. They have the same form.
const KEY_TYPES: [&str; 2] = ["Ed25519VerificationKey2018", "Ed25519VerificationKey"];
/// The types of services that messages of v1 are sent to. Others do not concern them.
const SERVICE_TYPES: [&str; 2] = ["IndyAgent", "did-communication"];

pub(super) fn document(value: Value) -> Result<LegacyDocument, DocumentError> {
    let Value::Object(mut members) = value else {
        return Err(DocumentError::Malformed("form"));
    };
    let did = UnqualifiedDid::parse(&text(&mut members, "id")?)?;
    let mut keys = Vec::new();
    for value in list(&mut members, "publicKey")? {
        keys.push(key(value)?);
    }
    for value in list(&mut members, "authentication")? {
        authentication(value, &mut keys)?;
    }
    let mut services = Vec::new();
    for value in list(&mut members, "service")? {
        services.extend(service(value, &keys)?);
    }
    services.sort_by_key(|service: &LegacyService| service.priority);
    Ok(LegacyDocument {
        did,
        keys,
        services,
    })
}

fn key(value: Value) -> Result<LegacyKey, DocumentError> {
    let malformed = DocumentError::Malformed("public key");
    let Value::Object(mut members) = value else {
        return Err(malformed);
    };
    let type_ = text(&mut members, "type")?;
    if !KEY_TYPES.contains(&type_.as_str()) {
        return Err(malformed);
    }
    let key = text(&mut members, "publicKeyBase58")?;
    Ok(LegacyKey {
        id: text(&mut members, "id")?,
        key: super::key_of_base58(&key).map_err(DocumentError::Key)?,
    })
}

/// A key that authenticates: a reference, within an object or not, or a key that stands here alone.
fn authentication(value: Value, keys: &mut Vec<LegacyKey>) -> Result<(), DocumentError> {
    let reference = match &value {
        Value::String(reference) => Some(reference),
        other => match other.get("publicKey") {
            Some(Value::String(reference)) => Some(reference),
            _ => None,
        },
    };
    match reference {
        None => keys.push(key(value)?),
        Some(reference) => {
            find(reference, keys).ok_or(DocumentError::NoSuchKey)?;
        }
    }
    Ok(())
}

fn service(value: Value, keys: &[LegacyKey]) -> Result<Option<LegacyService>, DocumentError> {
    let malformed = DocumentError::Malformed("service");
    let Value::Object(mut members) = value else {
        return Err(malformed);
    };
    let type_ = text(&mut members, "type")?;
    if !SERVICE_TYPES.contains(&type_.as_str()) {
        return Ok(None);
    }
    let recipient_keys = key_list(&mut members, "recipientKeys", keys)?;
    if recipient_keys.is_empty() {
        return Err(malformed);
    }
    Ok(Some(LegacyService {
        id: text(&mut members, "id")?,
        type_,
        priority: members.get("priority").and_then(Value::as_u64).unwrap_or(0),
        recipient_keys,
        routing_keys: key_list(&mut members, "routingKeys", keys)?,
        endpoint: text(&mut members, "serviceEndpoint")?,
    }))
}

/// Keys as text, or as references to the document's keys.
fn key_list(
    members: &mut Map<String, Value>,
    name: &'static str,
    keys: &[LegacyKey],
) -> Result<Vec<PublicKey>, DocumentError> {
    let one = |value: Value| {
        let text = value.as_str().ok_or(DocumentError::Malformed(name))?;
        match find(text, keys) {
            Some(key) => Ok(key.key.clone()),
            None => key_of_text(text).map_err(DocumentError::Key),
        }
    };
    list(members, name)?.into_iter().map(one).collect()
}

/// The key with this identifier. Some agents write the whole identifier in one place and the fragment in another.
fn find<'k>(reference: &str, keys: &'k [LegacyKey]) -> Option<&'k LegacyKey> {
    let tail = |text: &str| text.rsplit(['#', ';']).next().map(str::to_owned);
    let exact = keys.iter().find(|key| key.id == reference);
    let has_tail = reference.contains('#') || reference.len() < 16;
    exact.or_else(|| {
        let mut matching = keys
            .iter()
            .filter(|key| has_tail && tail(&key.id) == tail(reference));
        let first = matching.next();
        first.filter(|_| matching.next().is_none())
    })
}

fn text(members: &mut Map<String, Value>, name: &'static str) -> Result<String, DocumentError> {
    match members.remove(name) {
        Some(Value::String(text)) if !text.is_empty() && text.len() <= 4096 => Ok(text),
        _ => Err(DocumentError::Malformed(name)),
    }
}

fn list(members: &mut Map<String, Value>, name: &'static str) -> Result<Vec<Value>, DocumentError> {
    match members.remove(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(all)) if all.len() <= MAX_LIST => Ok(all),
        Some(_) => Err(DocumentError::Malformed(name)),
    }
}
