//! The envelopes of DIDComm v2 for peers, wrapped for the mediators on the way.

use selfsame_core::Shared;
use selfsame_crypto::agreement::AgreementPrivate;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::jwe::ContentEncryption;
use selfsame_did::{Did, DidUrl, Document};
use selfsame_didcomm::Message;
use selfsame_didcomm::forward::{Hop, RouteV2, wrap_v2};
use selfsame_didcomm::service::{V2Endpoint, V2Service};
use selfsame_didcomm::v2::{Packing, Sealable, SenderKey, encrypt};
use selfsame_driver::Result;
use selfsame_store::TenantId;
use serde::{Deserialize, Serialize};

use crate::error::unreadable;
use crate::keys::OwnKey;
use crate::peers;

/// The two DIDs of a connection over DIDComm v2.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct DidPair {
    /// This agent's.
    pub own: Did,
    /// The peer's.
    pub theirs: Did,
    /// The JWT that says which DID this agent had before. Each message has it until the peer writes to the new one
    /// (DIDComm v2.1, "DID Rotation").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_prior: Option<String>,
    /// Whether this agent ends the connection, which its last message says without a sender.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_leaving: bool,
}

/// The envelope of a message in the form of DIDComm v2 from this key of ours, wrapped for the mediators on the way.
///
/// # Errors
/// `BadRequest` if a DID on the way can't be resolved or encrypted to; `Internal` if the key is missing.
pub(crate) async fn seal(
    shared: &Shared,
    from: OwnKey<'_>,
    dids: &DidPair,
    message: &Message,
) -> Result<Vec<u8>> {
    let mut written = message.clone();
    let (ctx, now) = (shared.clock.ctx(), shared.clock.now());
    let is_leaving = dids.is_leaving;
    written.from = (!is_leaving).then(|| dids.own.clone().into());
    written.to = vec![dids.theirs.clone().into()];
    written.created.get_or_insert(now);
    written.from_prior.clone_from(&dids.from_prior);
    let own = peers::document(shared, from.tenant, &dids.own).await?;
    let to = peers::document(shared, from.tenant, &dids.theirs).await?;
    let way = mediators(shared, from.tenant, &to).await?;
    let key = shared
        .keys
        .unsealed(from.tenant, &from.key.handle())
        .await?;
    let packing = move || {
        let key = AgreementPrivate::of_ed25519(&key)?;
        let mut keys = own.agreement_keys();
        let kid = keys.find(|(_, public)| public == key.public());
        let (kid, _) = kid.ok_or(selfsame_didcomm::Error::Missing("keyAgreement"))?;
        let sender = SenderKey {
            kid: &kid,
            key: &key,
        };
        let packing = Packing {
            to: &to,
            from: (!is_leaving).then_some(sender),
            enc: ContentEncryption::A256CbcHs512,
            hides_sender: false,
        };
        let envelope = encrypt(Sealable::Plain(&written), &packing, &ctx)?;
        wrapped(envelope, &to.id, &way, &ctx)
    };
    let bytes = shared.work.run_in_turn(packing).await?;
    bytes.map_err(|error| unreadable(&error))
}

/// A mediator on the way.
struct Mediator {
    document: Document,
    key: Option<DidUrl>,
}

/// The mediators on the way to the subject of a document, the first one first.
async fn mediators(
    shared: &Shared,
    tenant: &TenantId,
    document: &Document,
) -> Result<Vec<Mediator>> {
    let Some(service) = V2Service::of(document) else {
        return Ok(Vec::new());
    };
    let first = match service.to {
        V2Endpoint::Mediator(mediator) => Some(DidUrl::from(mediator)),
        V2Endpoint::Url(_) => None,
    };
    let mut way = Vec::new();
    for hop in first.into_iter().chain(service.through) {
        way.push(Mediator {
            document: peers::document(shared, tenant, &hop.did).await?,
            key: hop.fragment.is_some().then_some(hop),
        });
    }
    Ok(way)
}

fn wrapped(
    envelope: Vec<u8>,
    to: &Did,
    way: &[Mediator],
    ctx: &Ctx,
) -> std::result::Result<Vec<u8>, selfsame_didcomm::Error> {
    let hops: Vec<Hop<'_>> = way
        .iter()
        .map(|mediator| Hop {
            document: &mediator.document,
            key: mediator.key.as_ref(),
        })
        .collect();
    let route = RouteV2 {
        to,
        through: &hops,
        enc: ContentEncryption::A256CbcHs512,
    };
    wrap_v2(envelope, &route, ctx)
}
