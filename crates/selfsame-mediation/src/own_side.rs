//! How an agent presents itself in a connection: its DID, made for it or public, and the key of that DID.

use selfsame_aries::connection::DidWithDoc;
use selfsame_aries::key::VerKey;
use selfsame_aries::peer_document::contained;
use selfsame_core::Shared;
use selfsame_did::method::peer;
use selfsame_did::{Did, Representation};
use selfsame_didcomm::Version;
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, TenantId};
use url::Url;

use crate::own_did::{own_party, peer_with_document, peer_with_keys};
use crate::{keys, peers, public_did};

/// The names by which controllers ask for a DID without a method.
const UNQUALIFIED: [&str; 2] = ["sov", "did:sov"];

/// How this agent presents itself in a connection.
#[derive(Clone, Debug, Default)]
pub struct OwnSide {
    /// How it calls itself, if not by its own name.
    pub label: Option<String>,
    /// Where it takes messages, if not at its own endpoint.
    pub endpoint: Option<Url>,
    /// Its DID.
    pub did: OwnDid,
}

/// Which DID this agent has in a connection.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum OwnDid {
    /// One of the kind that the peer has; for a request, `did:peer:2`, or one without a method where the protocol knows
    /// no other.
    #[default]
    Suited,
    /// One without a method, with its document beside it (RFC 0793).
    Unqualified,
    /// `did:peer:2`.
    Peer2,
    /// `did:peer:4`.
    Peer4,
    /// The public one.
    Public,
}

impl OwnDid {
    /// The kind by its name in ACA-Py's `use_did_method`.
    ///
    /// # Errors
    /// `BadRequest` for another name.
    pub fn of_method(name: &str) -> Result<Self> {
        let kind = name.strip_prefix(&peer::METHOD.scheme());
        match kind.and_then(|kind| kind.strip_prefix(':')) {
            Some("2") => Ok(Self::Peer2),
            Some("4") => Ok(Self::Peer4),
            _ if UNQUALIFIED.contains(&name) => Ok(Self::Unqualified),
            _ => Err(Error::bad_request("aries-did-method").with("method", &name)),
        }
    }

    /// The identifier of the record of the DID of this kind that invitations have in common.
    pub fn common_id(self) -> &'static str {
        match self {
            Self::Suited => "suited",
            Self::Unqualified => "unqualified",
            Self::Peer2 => "peer-2",
            Self::Peer4 => "peer-4",
            Self::Public => "public",
        }
    }

    /// The kind that suits a peer with this DID.
    pub fn suiting(did: &str) -> Self {
        let did: Option<Did> = did.parse().ok();
        let id = did
            .as_ref()
            .filter(|did| did.method() == peer::METHOD.name)
            .and_then(|did| did.method_id().chars().next());
        match id {
            Some('2') => Self::Peer2,
            Some('4') => Self::Peer4,
            _ => Self::Unqualified,
        }
    }
}

/// This side, made for a step.
pub struct NewParty {
    /// Its key.
    pub key: VerKey,
    /// Its DID.
    pub party: DidWithDoc,
    /// How it calls itself.
    pub label: String,
    /// What was made for it.
    pub writes: Batch,
}

/// What this side is made by.
pub struct PartyWish {
    /// What the controller wants.
    pub side: OwnSide,
    /// Whether the peer gets the document beside the DID, because the protocol proves no DID alone.
    pub with_doc: bool,
    /// The version of DIDComm of the services that the DID names.
    pub version: Version,
}

/// How the agent of a tenant calls itself and where it takes messages, if a connection says nothing else.
pub struct OwnTerms<'a> {
    /// The tenant.
    pub tenant: &'a TenantId,
    /// Its name.
    pub label: &'a str,
    /// Its endpoint.
    pub endpoint: &'a Url,
    /// The same for WebSockets, if its documents name one.
    pub socket: Option<&'a Url>,
}

/// Makes this side. Nothing is kept until its writes are committed.
///
/// # Errors
/// `NotFound` if the tenant is no agent; `BadRequest` if it has no public DID; the store's.
pub async fn make(shared: &Shared, terms: &OwnTerms<'_>, wish: PartyWish) -> Result<NewParty> {
    let (tenant, side) = (terms.tenant, wish.side);
    let label = side.label.unwrap_or_else(|| terms.label.to_owned());
    if side.did == OwnDid::Public {
        let public = public_did::required(shared, tenant).await?;
        let did = public.did.to_string();
        return Ok(NewParty {
            key: public.key,
            party: DidWithDoc { did, doc: None },
            label,
            writes: Batch::new(tenant.clone()),
        });
    }
    // Where the controller names another endpoint, that one alone is meant.
    let (endpoint, socket) = match &side.endpoint {
        Some(endpoint) => (endpoint, None),
        None => (terms.endpoint, terms.socket),
    };
    let endpoints: Vec<&Url> = [endpoint].into_iter().chain(socket).collect();
    let (key, mut writes) = keys::create(shared, tenant)?;
    let made = match side.did {
        OwnDid::Peer2 => Some(peer_with_keys(&key, &endpoints, wish.version)?),
        OwnDid::Peer4 => Some(peer_with_document(&key, &endpoints, wish.version)?),
        OwnDid::Suited | OwnDid::Unqualified | OwnDid::Public => None,
    };
    if let (Some(did), Version::V2) = (&made, wish.version) {
        writes = named(writes, tenant, did, &key)?;
    }
    let party = match made {
        Some(did) => told(&did, wish.with_doc),
        None => own_party(&key, &endpoints),
    };
    Ok(NewParty {
        key,
        party,
        label,
        writes,
    })
}

/// With the routes from the names of the key in the documents of the DID's forms, and with its long form.
fn named(mut batch: Batch, tenant: &TenantId, did: &Did, key: &VerKey) -> Result<Batch> {
    let short = peer::resolve_short(did).ok();
    for document in contained(did).into_iter().chain(short) {
        for (name, _) in document.agreement_keys() {
            batch = keys::route_name(batch, tenant, &name, key)?;
        }
    }
    peers::remember(batch, did)
}

/// This side with a DID whose key the agent holds.
///
/// # Errors
/// `BadRequest` if the DID can't be resolved, or the agent holds no key that messages to it are encrypted to.
pub async fn held(shared: &Shared, terms: &OwnTerms<'_>, did: &Did) -> Result<NewParty> {
    let held = public_did::held(shared, terms.tenant, did).await?;
    Ok(NewParty {
        writes: keys::route(Batch::new(terms.tenant.clone()), terms.tenant, &held.key)?,
        party: DidWithDoc {
            did: held.did.to_string(),
            doc: None,
        },
        label: terms.label.to_owned(),
        key: held.key,
    })
}

fn told(did: &Did, with_doc: bool) -> DidWithDoc {
    let document = contained(did).filter(|_| with_doc);
    DidWithDoc {
        did: did.to_string(),
        doc: document.map(|document| document.to_value(Representation::Did)),
    }
}
