//! This side of a connection: its DID, made for it or public, and the key of that DID.

use selfsame_aries::connection::{ConnectionRole, DidWithDoc};
use selfsame_aries::key::VerKey;
use selfsame_aries::peer_document::contained;
use selfsame_crypto::agreement::AgreementKey;
use selfsame_did::method::peer::{PeerKey, create_with_document, create_with_keys};
use selfsame_did::{Did, Representation};
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, TenantId};
use serde_json::{Map, Value, json};
use url::Url;

use super::ConnectionEntry;
use super::given::ConnectionWhat;
use super::side::{NewParty, OwnDid, OwnSide};
use crate::destination::own_party;
use crate::parts::AgentParts;
use crate::{keys, public_did};

/// What this side is made by.
pub struct PartyWish {
    side: OwnSide,
    label: Option<String>,
    /// Whether the peer gets the document beside the DID, because the protocol proves no DID alone.
    with_doc: bool,
}

impl PartyWish {
    /// What the connection and the input ask for.
    pub fn of(entry: &ConnectionEntry, what: &ConnectionWhat, side: OwnSide) -> Self {
        let received = match what {
            ConnectionWhat::Received(received) => Some(received),
            _ => None,
        };
        let known = &entry.record.dialogue.kind;
        let kind = received.map_or(known, |received| received.kind());
        let told = received.and_then(|received| received.party());
        let theirs = told.or_else(|| entry.record.theirs.clone());
        let is_inviter = entry.record.role == ConnectionRole::Inviter;
        let theirs = theirs.filter(|_| is_inviter);
        let is_exchange = kind.protocol == "didexchange";
        // Version 1.1 wants a DID that can be resolved (RFC 0023), and agents of it may know no other.
        let requests = match is_exchange && kind.version.minor > 0 {
            true => OwnDid::Peer2,
            false => OwnDid::Unqualified,
        };
        let suited = theirs.map_or(requests, |theirs| OwnDid::suiting(&theirs.did));
        let is_rotating = matches!(what, ConnectionWhat::Rotate(_));
        let did = match (is_exchange, side.did) {
            // A new DID is told without its document (RFC 0794).
            (_, OwnDid::Suited | OwnDid::Unqualified) if is_rotating => OwnDid::Peer4,
            (_, other) if is_rotating => other,
            (false, _) => OwnDid::Unqualified,
            (true, OwnDid::Suited) => suited,
            (true, other) => other,
        };
        Self {
            label: side.label.clone().or_else(|| entry.label.clone()),
            side: OwnSide { did, ..side },
            with_doc: is_inviter && kind.version.minor == 0 && !is_rotating,
        }
    }
}

/// Makes this side. Nothing is kept until its writes are committed.
///
/// # Errors
/// `NotFound` if the tenant is no agent; `BadRequest` if it has no public DID; the store's.
pub async fn make(agent: &AgentParts, tenant: &TenantId, wish: PartyWish) -> Result<NewParty> {
    let terms = agent.terms(tenant);
    let label = wish.label.unwrap_or_else(|| terms.label.clone());
    if wish.side.did == OwnDid::Public {
        let public = public_did::required(&agent.shared, tenant).await?;
        let did = public.did.to_string();
        return Ok(NewParty {
            key: public.key,
            party: DidWithDoc { did, doc: None },
            label,
            writes: Batch::new(tenant.clone()),
        });
    }
    let endpoint = wish.side.endpoint.as_ref().unwrap_or(&terms.endpoint);
    let (key, writes) = keys::create(&agent.shared, tenant)?;
    let party = match wish.side.did {
        OwnDid::Peer2 => peer(&with_keys(&key, endpoint)?, wish.with_doc),
        OwnDid::Peer4 => peer(&with_document(&key, endpoint)?, wish.with_doc),
        OwnDid::Suited | OwnDid::Unqualified | OwnDid::Public => own_party(&key, endpoint),
    };
    Ok(NewParty {
        key,
        party,
        label,
        writes,
    })
}

/// This side with a DID whose key the agent holds.
///
/// # Errors
/// `BadRequest` if the DID can't be resolved, or the agent holds no key that messages to it are encrypted to.
pub async fn held(agent: &AgentParts, tenant: &TenantId, did: &Did) -> Result<NewParty> {
    let held = public_did::held(&agent.shared, tenant, did).await?;
    Ok(NewParty {
        writes: keys::route(Batch::new(tenant.clone()), tenant, &held.key)?,
        party: DidWithDoc {
            did: held.did.to_string(),
            doc: None,
        },
        label: agent.terms(tenant).label.clone(),
        key: held.key,
    })
}

/// Makes a DID of this kind, for no connection in particular.
///
/// # Errors
/// As [`make`].
pub async fn make_did(agent: &AgentParts, tenant: &TenantId, did: OwnDid) -> Result<NewParty> {
    let wish = PartyWish {
        side: OwnSide {
            did,
            ..OwnSide::default()
        },
        label: None,
        with_doc: false,
    };
    make(agent, tenant, wish).await
}

fn peer(did: &Did, with_doc: bool) -> DidWithDoc {
    let document = contained(did).filter(|_| with_doc);
    DidWithDoc {
        did: did.to_string(),
        doc: document.map(|document| document.to_value(Representation::Did)),
    }
}

/// The service of DIDComm v1 (RFC 0067), whose key is the first of the document.
fn service(endpoint: &Url) -> Value {
    json!({
        "id": "#didcomm-0",
        "type": "did-communication",
        "priority": 0,
        "recipientKeys": ["#key-1"],
        "routingKeys": [],
        "serviceEndpoint": endpoint,
    })
}

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// A `did:peer:2` with this key, which messages of DIDComm v1 are encrypted to, and its X25519 form for v2.
fn with_keys(key: &VerKey, endpoint: &Url) -> Result<Did> {
    let agreement = AgreementKey::of_ed25519(key.public_key()).map_err(Error::internal)?;
    let keys = [
        PeerKey::authentication(key.public_key()),
        PeerKey::agreement(&agreement),
    ];
    create_with_keys(&keys, &[members(service(endpoint))]).map_err(Error::internal)
}

/// A `did:peer:4` with the same keys, in its long form.
fn with_document(key: &VerKey, endpoint: &Url) -> Result<Did> {
    let agreement = AgreementKey::of_ed25519(key.public_key()).map_err(Error::internal)?;
    let document = json!({
        "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/multikey/v1"],
        "verificationMethod": [
            {
                "id": "#key-1",
                "type": "Multikey",
                "publicKeyMultibase": key.public_key().to_multikey(),
            },
            {
                "id": "#key-2",
                "type": "Multikey",
                "publicKeyMultibase": agreement.to_multikey(),
            },
        ],
        "authentication": ["#key-1"],
        "assertionMethod": ["#key-1"],
        "keyAgreement": ["#key-2"],
        "service": [service(endpoint)],
    });
    let both = create_with_document(&members(document)).map_err(Error::internal)?;
    Ok(both.long)
}
