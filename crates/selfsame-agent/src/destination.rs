//! Where a message goes: the keys it is encrypted to, the mediators it passes, and the endpoint it is posted to.

use selfsame_aries::connection::DidWithDoc;
use selfsame_aries::key::VerKey;
use selfsame_core::Shared;
use selfsame_core::machine::{HttpBody, HttpCall};
use selfsame_crypto::PublicKey;
use selfsame_didcomm::forward::{RouteV1, wrap_v1};
use selfsame_didcomm::message::Prefix;
use selfsame_didcomm::{Message, Version, media, v1};
use selfsame_driver::Result;
use selfsame_store::TenantId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use crate::error::unreadable;

/// Where a peer gets its messages.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Destination {
    /// The keys that a message is encrypted to.
    pub keys: Vec<VerKey>,
    /// The mediators' keys, the recipient's own mediator first.
    pub through: Vec<VerKey>,
    /// Where it is posted.
    pub endpoint: Url,
}

/// A service of a document of connections 1.0, as agents write it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LegacyService {
    #[serde(default)]
    recipient_keys: Vec<VerKey>,
    #[serde(default)]
    routing_keys: Vec<VerKey>,
    service_endpoint: Url,
}

impl Destination {
    /// Where a side of a connection gets its messages, by the document it sent.
    ///
    /// # Errors
    /// `BadRequest` if the document has no service with keys and an endpoint.
    pub fn of(party: &DidWithDoc) -> Result<Self> {
        let services = party.doc.as_ref().and_then(|doc| doc.get("service"));
        let service = services
            .and_then(Value::as_array)
            .and_then(|all| all.first());
        let service = service.ok_or_else(|| unreadable(&"the DID document has no service"))?;
        let service: LegacyService =
            serde_json::from_value(service.clone()).map_err(|error| unreadable(&error))?;
        if service.recipient_keys.is_empty() {
            return Err(unreadable(&"the service of the DID document has no keys"));
        }
        Ok(Self {
            keys: service.recipient_keys,
            through: service.routing_keys,
            endpoint: service.service_endpoint,
        })
    }

    /// Packs a message from this key of ours, and gives the call that delivers it.
    ///
    /// # Errors
    /// `Internal` if the key is missing; `BadRequest` if a key of the peer can't be encrypted to.
    pub async fn call(
        self,
        shared: &Shared,
        from: OwnKey<'_>,
        message: &Message,
    ) -> Result<HttpCall> {
        let key = shared
            .keys
            .unsealed(from.tenant, &from.key.handle())
            .await?;
        let (plaintext, ctx) = (message.write(Version::V1), shared.clock.ctx());
        let prefix = message.kind.prefix.clone();
        let endpoint = self.endpoint.clone();
        let packing = move || {
            let keys = public(&self.keys);
            let envelope = v1::pack(&plaintext, &keys, Some(&key), &ctx)?;
            wrapped(envelope, &keys, &public(&self.through), &prefix, &ctx)
        };
        let bytes = shared.work.run(packing).await?;
        let bytes = bytes.map_err(|error| unreadable(&error))?;
        let media_type = media::V1_ENVELOPE.to_owned();
        let body = HttpBody::Envelope { media_type, bytes };
        Ok(HttpCall {
            // The receiver recognises a message by its identifier.
            is_repeatable: true,
            ..HttpCall::post(endpoint, body)
        })
    }
}

/// Who sends a message.
#[derive(Clone, Copy)]
pub struct OwnKey<'a> {
    /// The agent's tenant.
    pub tenant: &'a TenantId,
    /// Its key in the connection.
    pub key: &'a VerKey,
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

/// This side of a connection: an unqualified DID of the key (RFC 0793), with its document in the form that agents of
/// connections 1.0 read.
pub fn own_party(key: &VerKey, endpoint: &Url) -> DidWithDoc {
    let did = selfsame_crypto::encoding::base58_encode(
        key.public_key().bytes().get(..16).unwrap_or_default(),
    );
    let (full, verkey) = (format!("did:sov:{did}"), key.to_base58());
    let doc = json!({
        "@context": "https://w3id.org/did/v1",
        "id": full,
        "publicKey": [{
            "id": format!("{full}#1"),
            "type": "Ed25519VerificationKey2018",
            "controller": full,
            "publicKeyBase58": verkey,
        }],
        "authentication": [{
            "type": "Ed25519SignatureAuthentication2018",
            "publicKey": format!("{full}#1"),
        }],
        "service": [{
            "id": format!("{full};indy"),
            "type": "IndyAgent",
            "priority": 0,
            "recipientKeys": [verkey],
            "serviceEndpoint": endpoint,
        }],
    });
    DidWithDoc {
        did,
        doc: Some(doc),
    }
}
