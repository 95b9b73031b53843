//! What a peer's DID document says to those who send it messages of DIDComm v1: its keys, and where it takes messages
//! (RFC 0067). Documents from before DID Core and later ones are read into the same form.

use selfsame_did::legacy::{LegacyDocument, LegacyService};
use selfsame_did::{Did, DidUrl, Document, DocumentError, Relationship, Service};
use serde_json::{Value, json};

use crate::connection::DidWithDoc;
use crate::key::VerKey;

/// Keys of one service, at most.
const KEYS_MAX: usize = 16;
/// The types of services that messages of DIDComm v1 are sent to.
const SERVICE_TYPES: [&str; 2] = ["did-communication", "IndyAgent"];

/// The keys of a peer, and where it takes messages.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PeerDocument {
    /// Its Ed25519 keys.
    pub keys: Vec<VerKey>,
    /// Its services for DIDComm v1, the preferred one first.
    pub services: Vec<PeerService>,
}

/// Where a peer takes messages of DIDComm v1.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PeerService {
    /// The keys that a message is encrypted to.
    pub recipient_keys: Vec<VerKey>,
    /// The mediators' keys, the peer's own mediator first.
    pub routing_keys: Vec<VerKey>,
    /// The address.
    pub endpoint: String,
}

impl PeerDocument {
    /// Reads the document that the peer sent with its DID.
    ///
    /// # Errors
    /// If it sent none, or the document can't be read.
    pub fn told(party: &DidWithDoc) -> Result<Self, DocumentError> {
        let doc = party.doc.clone();
        let mut doc = doc.ok_or(DocumentError::Malformed("form"))?;
        // Old documents have no `id`; the DID beside them is meant.
        if let Some(members) = doc.as_object_mut() {
            members.entry("id").or_insert_with(|| json!(party.did));
        }
        match LegacyDocument::from_value(doc.clone()) {
            Ok(legacy) if !legacy.keys.is_empty() || !legacy.services.is_empty() => {
                Self::of_legacy(legacy)
            }
            Ok(_) | Err(_) => Document::from_value(doc).map(|document| Self::of(&document)),
        }
    }

    /// What a document of DID Core says.
    pub fn of(document: &Document) -> Self {
        let keys: Vec<VerKey> = document
            .methods()
            .filter(|method| method.controller == document.id)
            .filter_map(|method| VerKey::new(method.public_key().ok()?).ok())
            .collect();
        let mut services: Vec<(u64, PeerService)> = document
            .service
            .iter()
            .filter_map(|service| PeerService::of(service, document))
            .collect();
        services.sort_by_key(|(priority, _)| *priority);
        Self {
            keys,
            services: services.into_iter().map(|(_, service)| service).collect(),
        }
    }

    fn of_legacy(document: LegacyDocument) -> Result<Self, DocumentError> {
        let keys = document.keys.into_iter();
        let keys = keys.map(|key| VerKey::new(key.key));
        let services = document.services.into_iter();
        Ok(Self {
            keys: keys.collect::<Result<_, _>>().map_err(DocumentError::Key)?,
            services: services
                .map(PeerService::of_legacy)
                .collect::<Result<_, _>>()
                .map_err(DocumentError::Key)?,
        })
    }

    /// Whether the key is one of the peer's: it stands in the document, or messages are encrypted to it.
    pub fn has(&self, key: &VerKey) -> bool {
        let mut services = self.services.iter();
        self.keys.contains(key) || services.any(|one| one.recipient_keys.contains(key))
    }

    /// The service to use.
    pub fn service(&self) -> Option<&PeerService> {
        self.services.first()
    }
}

impl PeerService {
    /// The service with its priority; `None` if messages of DIDComm v1 are not sent there.
    fn of(service: &Service, document: &Document) -> Option<(u64, Self)> {
        let mut types = service.type_.iter();
        if !types.any(|one| SERVICE_TYPES.contains(&one.as_str())) {
            return None;
        }
        let listed = |name: &str| {
            let listed = service.other.get(name).and_then(Value::as_array);
            listed.map_or(&[][..], Vec::as_slice)
        };
        let keys = |name: &str| {
            let texts = listed(name).iter().take(KEYS_MAX);
            texts
                .map(|text| key(text.as_str()?, document))
                .collect::<Option<Vec<VerKey>>>()
        };
        let recipient_keys = match listed("recipientKeys").is_empty() {
            // A document whose services have an address alone: the keys that authenticate its subject are meant.
            true => authenticating(document),
            false => keys("recipientKeys")?,
        };
        let read = Self {
            routing_keys: keys("routingKeys")?,
            endpoint: service.endpoint.as_str()?.to_owned(),
            recipient_keys,
        };
        let priority = service.other.get("priority").and_then(Value::as_u64);
        (!read.recipient_keys.is_empty()).then_some((priority.unwrap_or_default(), read))
    }

    fn of_legacy(service: LegacyService) -> Result<Self, selfsame_crypto::KeyError> {
        let keys = |keys: Vec<selfsame_crypto::PublicKey>| {
            let keys = keys.into_iter().take(KEYS_MAX);
            keys.map(VerKey::new).collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            recipient_keys: keys(service.recipient_keys)?,
            routing_keys: keys(service.routing_keys)?,
            endpoint: service.endpoint,
        })
    }
}

fn authenticating(document: &Document) -> Vec<VerKey> {
    let keys = document.keys(Relationship::Authentication);
    keys.filter_map(|(_, key)| VerKey::new(key).ok())
        .take(KEYS_MAX)
        .collect()
}

/// A key as services name it: a reference into the document, a `did:key`, or base58.
fn key(text: &str, document: &Document) -> Option<VerKey> {
    let id = match text.starts_with('#') {
        true => document.id.with_fragment(text.trim_start_matches('#')).ok(),
        false => DidUrl::parse(text).ok(),
    };
    let mut methods = document.methods();
    let found = id.and_then(|id| methods.find(|method| method.id == id));
    match found {
        Some(method) => VerKey::new(method.public_key().ok()?).ok(),
        None => VerKey::parse(text).ok(),
    }
}

/// The document of a DID that contains it, such as a `did:key` or a `did:peer:2`; `None` if the DID must be resolved by
/// asking others.
pub fn contained(did: &Did) -> Option<Document> {
    use selfsame_did::method::METHODS;
    use selfsame_did::{Options, ResolutionPlan};
    match METHODS.plan(did, &Options::default()) {
        Ok(ResolutionPlan::Done(resolution)) => resolution.document().ok().cloned(),
        Ok(_) | Err(_) => None,
    }
}

#[cfg(test)]
mod tests;
