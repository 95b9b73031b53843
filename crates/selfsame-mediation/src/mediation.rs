//! What waits for the peers of the agents of one process, and whom these mediate for.

use std::sync::Arc;

use selfsame_aries::key::VerKey;
use selfsame_core::Shared;
use selfsame_didcomm::forward::Forward;
use selfsame_driver::{Error, Result};
use selfsame_store::TenantId;

use crate::error::unreadable;
use crate::grants::MediationGrants;
use crate::mediated;
use crate::pickup::Pickup;
use crate::presence::Presences;
use crate::queue::EnvelopeQueue;

/// The largest envelope that is passed on: a delivery has room for it.
const FORWARDED_MAX: usize = 1 << 20;

/// What waits for the peers of the agents of one process, and whom these mediate for. Clones are the same.
#[derive(Clone)]
pub struct Mediation {
    /// What the parts of the process share.
    pub shared: Arc<Shared>,
    /// The envelopes that wait.
    pub queue: EnvelopeQueue,
    /// Who is connected.
    pub presences: Presences,
    /// Whom the agents mediate for.
    pub grants: MediationGrants,
    /// How these fetch what waits.
    pub pickup: Pickup,
}

/// An envelope that is passed on.
#[derive(Clone, Debug)]
pub struct PassedOn {
    /// The connection with its recipient.
    pub connection_id: String,
    /// The key that it is for.
    pub key: VerKey,
    /// The envelope.
    pub envelope: Vec<u8>,
}

impl Mediation {
    /// The mediation of the agents on these parts.
    pub fn new(shared: Arc<Shared>) -> Self {
        let queue = EnvelopeQueue::new(shared.clone());
        Self {
            presences: Presences::new(shared.clone()),
            grants: MediationGrants::new(shared.clone(), queue.clone()),
            pickup: Pickup::new(shared.clone(), queue.clone()),
            queue,
            shared,
        }
    }

    /// Whom a forward (RFC 0094) goes to that was wrapped for this routing key. Each envelope that is passed on is a
    /// layer less, so a chain of forwards ends.
    ///
    /// # Errors
    /// `BadRequest` for an envelope that is too large, or several; `NotFound` if no client has named the key.
    pub async fn passed_on(
        &self,
        tenant: &TenantId,
        routing_key: &VerKey,
        forward: Forward,
    ) -> Result<PassedOn> {
        let unknown = || Error::not_found("aries-forward-unknown");
        let Forward { next, envelopes } = forward;
        let [envelope] = <[Vec<u8>; 1]>::try_from(envelopes)
            .map_err(|_| unreadable(&"a forward has one message"))?;
        if envelope.len() > FORWARDED_MAX {
            return Err(Error::bad_request("aries-forward-large"));
        }
        let key = VerKey::parse(&next).map_err(|_| unknown())?;
        let found = mediated::find(&self.shared, tenant, routing_key, &key).await?;
        let Some(found) = found else {
            tracing::info!("a forward is refused: no recipient has named the key");
            return Err(unknown());
        };
        Ok(PassedOn {
            connection_id: found.connection_id,
            key,
            envelope,
        })
    }
}
