//! This side of a connection: its DID, made for it or public, and the key of that DID.

use selfsame_aries::connection::{ConnectionRole, DidWithDoc};
use selfsame_aries::peer_document::contained;
use selfsame_did::{Did, Representation};
use selfsame_driver::Result;
use selfsame_mediation::own_did::{own_party, peer_with_document, peer_with_keys};
use selfsame_mediation::{keys, public_did};
use selfsame_store::{Batch, TenantId};
use url::Url;

use super::ConnectionEntry;
use super::given::ConnectionWhat;
use super::side::{NewParty, OwnDid, OwnSide};
use crate::parts::AgentParts;

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
    // Where the controller names another endpoint, that one alone is meant.
    let (endpoint, socket) = match &wish.side.endpoint {
        Some(endpoint) => (endpoint, None),
        None => (&terms.endpoint, terms.socket.as_ref()),
    };
    let endpoints: Vec<&Url> = [endpoint].into_iter().chain(socket).collect();
    let (key, writes) = keys::create(&agent.shared, tenant)?;
    let party = match wish.side.did {
        OwnDid::Peer2 => peer(&peer_with_keys(&key, &endpoints)?, wish.with_doc),
        OwnDid::Peer4 => peer(&peer_with_document(&key, &endpoints)?, wish.with_doc),
        OwnDid::Suited | OwnDid::Unqualified | OwnDid::Public => own_party(&key, &endpoints),
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
