//! What arrives: an envelope of either version is opened.

use std::sync::Arc;

use selfsame_aries::key::VerKey;
use selfsame_core::Shared;
use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;
use selfsame_didcomm::v2::{DidRotation, Documents, Opened, verify_rotation};
use selfsame_didcomm::{ArrivedEnvelope, Incoming, IncomingV1, Message, receive};
use selfsame_driver::{Error, Result};
use selfsame_store::TenantId;

use crate::destination::Destination;
use crate::error::unreadable;
use crate::speaker::Speaker;
use crate::{keys, peers};

/// Documents that one envelope can need: those of the sender, of the one who signed, and of the DID before a rotation.
const DOCUMENTS_MAX: usize = 3;

/// A message that arrived, with what its envelope proves.
pub struct OpenedMessage {
    /// The agent's tenant.
    pub tenant: TenantId,
    /// Our key that it was encrypted to.
    pub recipient: VerKey,
    /// Who encrypted or signed it; `None` if the sender is anonymous.
    pub sender: Option<Speaker>,
    /// The message, in the form of its version.
    pub message: Message,
    /// Where the answers go if there is no connection (RFC 0056).
    pub service: Option<Destination>,
    /// What DIDComm v2 adds; `None` for v1.
    pub v2: Option<OfV2>,
}

/// What an envelope of DIDComm v2 adds.
#[derive(Clone, Debug)]
pub struct OfV2 {
    /// Our DID that it was encrypted to.
    pub own: Did,
    /// The sender's DID; `None` if the sender is anonymous.
    pub from: Option<Did>,
    /// The sender's change from another DID, verified.
    pub rotation: Option<DidRotation>,
}

/// Opens an envelope from outside.
///
/// # Errors
/// `BadRequest` if no tenant holds its key, or it can't be opened or read; the store's.
pub async fn open(shared: &Shared, envelope: Vec<u8>) -> Result<OpenedMessage> {
    let envelope = ArrivedEnvelope::read(envelope).map_err(|error| unreadable(&error))?;
    let kids = envelope.kids().map_err(|error| unreadable(&error))?;
    let held = keys::held(shared, &kids).await?;
    let held = held.ok_or_else(|| Error::bad_request("aries-key-unknown"))?;
    let (envelope, ring) = (Arc::new(envelope), Arc::new(held.ring));
    let mut documents = Documents::new();
    let received = loop {
        let (envelope, ring, known) = (envelope.clone(), ring.clone(), documents.clone());
        let opening = move || {
            let received = receive(&envelope, &*ring, &known)?;
            let rotation = match &received {
                Incoming::V1(_) => None,
                Incoming::V2(opened) => verify_rotation(&opened.message, &known)?,
            };
            Ok::<_, selfsame_didcomm::Error>((received, rotation))
        };
        match shared.reading.run_in_turn(opening).await? {
            Err(selfsame_didcomm::Error::Unresolved(did)) if documents.len() < DOCUMENTS_MAX => {
                let document = Box::pin(peers::document(shared, &held.tenant, &did)).await?;
                documents.insert(*did, document);
            }
            received => break received.map_err(|error| unreadable(&error))?,
        }
    };
    match received {
        (Incoming::V1(received), _) => of_v1(*received, held.tenant),
        (Incoming::V2(opened), rotation) => {
            if is_expired(&opened.message, shared.clock.now()) {
                return Err(unreadable(&"the message has expired"));
            }
            let kid = opened.recipient.as_ref().map(ToString::to_string);
            let recipient = kid.and_then(|kid| held.named.get(&kid).cloned());
            let holder = KeyHolder {
                tenant: held.tenant,
                recipient: recipient.ok_or_else(unencrypted)?,
            };
            of_v2(*opened, rotation, holder)
        }
    }
}

/// The agent that a message is for.
struct KeyHolder {
    tenant: TenantId,
    recipient: VerKey,
}

fn of_v1(received: IncomingV1, tenant: TenantId) -> Result<OpenedMessage> {
    let key = |key| VerKey::new(key).map_err(|error| unreadable(&error));
    Ok(OpenedMessage {
        tenant,
        recipient: key(received.recipient)?,
        sender: received.sender.map(key).transpose()?.map(Speaker::Key),
        service: Destination::decorated(&received.message),
        message: received.message,
        v2: None,
    })
}

fn of_v2(
    opened: Opened,
    rotation: Option<DidRotation>,
    holder: KeyHolder,
) -> Result<OpenedMessage> {
    let own = opened.recipient.ok_or_else(unencrypted)?.did;
    let from = opened.sender.or(opened.signer).map(|key| key.did);
    Ok(OpenedMessage {
        tenant: holder.tenant,
        recipient: holder.recipient,
        sender: from.as_ref().map(Speaker::of),
        message: opened.message,
        service: None,
        v2: Some(OfV2 {
            own,
            from,
            rotation,
        }),
    })
}

/// DIDComm v2.1, "Message Headers": the sender considers the message invalid from then on.
fn is_expired(message: &Message, now: UnixTime) -> bool {
    message.expires.is_some_and(|until| until <= now)
}

fn unencrypted() -> Error {
    unreadable(&"the message is not encrypted to a key of this agent")
}
