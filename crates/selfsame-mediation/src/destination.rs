//! Where a message goes: the keys it is encrypted to, the mediators it passes, and the endpoint it is posted to. A peer
//! without an endpoint gets its messages on connections of its own.

pub mod settling;

use selfsame_aries::advance::{Problem, ProblemKind};
use selfsame_aries::connection::DidWithDoc;
use selfsame_aries::connections::{ConnectionInvitation, InvitedTo};
use selfsame_aries::key::VerKey;
use selfsame_aries::out_of_band::InlineService;
use selfsame_aries::peer_document::{PeerDocument, contained};
use selfsame_core::Shared;
use selfsame_core::machine::{Call, HttpBody, HttpCall, Round};
use selfsame_credential::evidence::{Need, Step};
use selfsame_crypto::PublicKey;
use selfsame_did::Did;
use selfsame_didcomm::forward::{RouteV1, wrap_v1};
use selfsame_didcomm::message::Prefix;
use selfsame_didcomm::{Message, Version, media};
use selfsame_driver::Result;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use crate::error::unreadable;
pub use crate::keys::OwnKey;
use crate::packing::{self, DidPair};
use crate::speaker::Speaker;

/// The decorator of messages that are answered without a connection.
pub const SERVICE: &str = "~service";
/// The keys of such a decorator, at most.
const KEYS_MAX: usize = 16;
/// What a document names as the endpoint of an agent that has none.
const NO_ENDPOINT: &str = "didcomm:transport/queue";

/// Where a peer gets its messages.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Destination {
    /// The keys that a message is encrypted to.
    pub keys: Vec<VerKey>,
    /// The mediators' keys, the recipient's own mediator first.
    pub through: Vec<VerKey>,
    /// Where it is posted; `None` if it waits until the peer comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Url>,
    /// The DIDs of both sides, in DIDComm v2. Then keys and mediators are those of the peer's document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dids: Option<DidPair>,
}

/// Where the subject of a DID gets its messages, and the document that says so.
#[derive(Clone, Debug)]
pub struct Located {
    /// Where.
    pub destination: Destination,
    /// The document.
    pub document: PeerDocument,
}

impl Located {
    /// By a document. One that names no service is that of an agent without an endpoint.
    ///
    /// # Errors
    /// If it has no key, or its service no URL.
    pub fn by(document: PeerDocument) -> std::result::Result<Self, Problem> {
        let destination = match document.service() {
            Some(service) => Destination {
                keys: service.recipient_keys.clone(),
                through: service.routing_keys.clone(),
                endpoint: match service.endpoint.as_str() {
                    NO_ENDPOINT => None,
                    endpoint => Some(endpoint.parse().map_err(|_| no_service())?),
                },
                dids: None,
            },
            None => Destination {
                keys: document.keys.iter().take(KEYS_MAX).cloned().collect(),
                through: Vec::new(),
                endpoint: None,
                dids: None,
            },
        };
        if destination.keys.is_empty() {
            return Err(no_service());
        }
        Ok(Self {
            destination,
            document,
        })
    }

    /// The same, if messages can be posted there.
    ///
    /// # Errors
    /// If the document names no endpoint.
    pub fn reached(self) -> std::result::Result<Self, Problem> {
        match self.destination.endpoint {
            Some(_) => Ok(self),
            None => Err(no_service()),
        }
    }

    /// By what a party says of itself, without asking others; `None` if that does not suffice.
    pub fn named(party: &DidWithDoc) -> Option<Self> {
        let document = match &party.doc {
            Some(_) => PeerDocument::told(party).ok()?,
            None => PeerDocument::of(&contained(&party.did.parse().ok()?)?),
        };
        Self::by(document).ok()
    }
}

/// Where the subject of a DID gets its messages: by the document that came with it, by the one that the DID contains, or
/// by the one that others resolve it to, which is a need.
///
/// # Errors
/// If the DID can't be resolved, or its document has no key.
pub fn located(
    did: &str,
    doc: Option<&Value>,
    round: &Round<'_>,
) -> std::result::Result<Step<Located>, Problem> {
    if let Some(doc) = doc {
        let party = DidWithDoc {
            did: did.to_owned(),
            doc: Some(doc.clone()),
        };
        let document = PeerDocument::told(&party).map_err(|_| no_service())?;
        return Located::by(document).map(Step::Done);
    }
    let did: Did = did.parse().map_err(|_| unresolved())?;
    if let Some(document) = contained(&did) {
        return Located::by(PeerDocument::of(&document)).map(Step::Done);
    }
    let Some(fetched) = round.evidence.did(&did) else {
        return Ok(Step::Needs(vec![Need::Did(did)]));
    };
    let resolution = fetched.value.as_ref().map_err(|_| unresolved())?;
    let document = resolution.document_of(&did).map_err(|_| unresolved())?;
    Located::by(PeerDocument::of(document)).map(Step::Done)
}

fn no_service() -> Problem {
    let explain = "the DID document names no service with a key and a URL";
    Problem::new(ProblemKind::Content, "request_not_accepted", explain)
}

fn unresolved() -> Problem {
    let explain = "the DID can't be resolved";
    Problem::new(ProblemKind::Content, "request_not_accepted", explain)
}

impl Destination {
    /// Where an invitation asks to send the request; `None` if it names a DID, which is resolved for the request.
    ///
    /// # Errors
    /// If the endpoint is no URL.
    pub fn invited(invitation: &ConnectionInvitation) -> Result<Option<Self>> {
        match &invitation.to {
            InvitedTo::Keys {
                recipient_keys,
                endpoint,
                routing_keys,
            } => Ok(Some(Self {
                keys: recipient_keys.clone(),
                through: routing_keys.clone(),
                endpoint: Some(endpoint.parse().map_err(|error| unreadable(&error))?),
                dids: None,
            })),
            InvitedTo::Did(_) => Ok(None),
        }
    }

    /// Where the sender of a message without a connection gets the answers: the decorator `~service` (RFC 0056).
    pub fn decorated(message: &Message) -> Option<Self> {
        let service = message.other.get(SERVICE)?;
        let service: InlineService = serde_json::from_value(service.clone()).ok()?;
        let (keys, through) = (service.recipient_keys, service.routing_keys);
        if keys.is_empty() || keys.len().max(through.len()) > KEYS_MAX {
            return None;
        }
        Some(Self {
            keys,
            through,
            endpoint: Some(service.service_endpoint.parse().ok()?),
            dids: None,
        })
    }

    /// What the decorator says of this agent: answers to this key go to this endpoint.
    pub fn decorator(key: &VerKey, endpoint: &Url) -> Value {
        json!({
            "recipientKeys": [key.to_base58()],
            "routingKeys": [],
            "serviceEndpoint": endpoint,
        })
    }

    /// As such a decorator says it.
    pub fn service(&self) -> Value {
        json!({
            "recipientKeys": self.keys,
            "routingKeys": self.through,
            "serviceEndpoint": self.endpoint,
        })
    }

    /// The key or the DID that tells this peer from others; messages to it arrive in order.
    pub fn peer(&self) -> String {
        let first = self.speakers().next();
        first.map_or_else(String::new, |first| first.to_string())
    }

    /// Who messages of this peer are from.
    pub fn speakers(&self) -> impl Iterator<Item = Speaker> {
        let keys = self.keys.iter().cloned().map(Speaker::Key);
        let theirs = self.dids.iter().map(|dids| Speaker::of(&dids.theirs));
        theirs.chain(keys)
    }

    /// Whether messages from there are this peer's.
    pub fn is(&self, speaker: &Speaker) -> bool {
        self.speakers().any(|one| one == *speaker)
    }

    /// The version of DIDComm that the peer is written to in.
    pub fn version(&self) -> Version {
        match self.dids {
            Some(_) => Version::V2,
            None => Version::V1,
        }
    }

    /// The envelope of a message, in the form of the peer's version, from this key of ours.
    ///
    /// # Errors
    /// `Internal` if the key is missing; `BadRequest` if a key of the peer can't be encrypted to.
    pub async fn seal(
        &self,
        shared: &Shared,
        from: OwnKey<'_>,
        message: &Message,
    ) -> Result<Vec<u8>> {
        if let Some(dids) = &self.dids {
            return Box::pin(packing::seal(shared, from, dids, message)).await;
        }
        let key = shared
            .keys
            .unsealed(from.tenant, &from.key.handle())
            .await?;
        let (plaintext, ctx) = (message.write(Version::V1), shared.clock.ctx());
        let prefix = message.kind.prefix.clone();
        let (keys, through) = (public(&self.keys), public(&self.through));
        let packing = move || {
            let envelope = selfsame_didcomm::v1::pack(&plaintext, &keys, Some(&key), &ctx)?;
            wrapped(envelope, &keys, &through, &prefix, &ctx)
        };
        let bytes = shared.work.run_in_turn(packing).await?;
        bytes.map_err(|error| unreadable(&error))
    }
}

/// The call that delivers an envelope of this version.
pub fn delivery(endpoint: Url, bytes: Vec<u8>, version: Version) -> Call {
    let media_type = match version {
        Version::V1 => media::V1_ENVELOPE.to_owned(),
        Version::V2 => media::V2_ENCRYPTED.to_owned(),
    };
    let body = HttpBody::Envelope { media_type, bytes };
    Call::Http(Box::new(HttpCall {
        // The receiver recognises a message by its identifier.
        is_repeatable: true,
        ..HttpCall::post(endpoint, body)
    }))
}

fn wrapped(
    envelope: Vec<u8>,
    keys: &[PublicKey],
    through: &[PublicKey],
    prefix: &Prefix,
    ctx: &selfsame_crypto::ctx::Ctx,
) -> std::result::Result<Vec<u8>, selfsame_didcomm::Error> {
    match keys.first() {
        Some(to) if !through.is_empty() => {
            let route = RouteV1 {
                to,
                through,
                prefix,
            };
            wrap_v1(envelope, &route, ctx)
        }
        _ => Ok(envelope),
    }
}

fn public(keys: &[VerKey]) -> Vec<PublicKey> {
    keys.iter().map(|key| key.public_key().clone()).collect()
}
