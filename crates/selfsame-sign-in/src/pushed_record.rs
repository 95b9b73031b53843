//! The records of pushed requests.

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::sha256;
use selfsame_driver::record::decode;
use selfsame_driver::{Error, Result};
use selfsame_oauth::Code;
use selfsame_oidc::AuthorizationRequest;
use selfsame_store::{Batch, Expect};
use serde::{Deserialize, Serialize};

use crate::refusal::refuse;
use crate::service::SignIns;

/// The kind of the records of pushed requests.
pub const PUSHED: &str = "oidc_pushed";
/// What the address of a pushed request begins with (RFC 9126 §2.2).
pub(crate) const PREFIX: &str = "urn:ietf:params:oauth:request_uri:";

/// A pushed request that is kept until the browser comes.
#[derive(Deserialize, Serialize)]
pub(crate) struct PushedRequest {
    pub request: AuthorizationRequest,
}

/// The record of a pushed request that was read.
pub(crate) struct PushedId {
    id: String,
    version: u64,
}

impl PushedId {
    /// Adds to the batch that the request is taken, once.
    pub fn taken(&self, batch: Batch) -> Batch {
        batch
            .expect(PUSHED, &self.id, Expect::Version(self.version))
            .delete(PUSHED, &self.id)
    }
}

impl PushedRequest {
    /// The request of this client at an address that was given out.
    ///
    /// # Errors
    /// `invalid_request_uri` for an address of another kind or client, or one that is over.
    pub async fn take(
        of: &SignIns,
        uri: &str,
        client_id: &str,
    ) -> Result<(PushedId, AuthorizationRequest)> {
        // No other address is ever fetched.
        let token = uri.strip_prefix(PREFIX).ok_or_else(unknown)?;
        let id = base64url_encode(&sha256(token.as_bytes()));
        let (store, tenant) = (&of.shared().store, &of.place.tenant);
        let record = store.read(tenant, PUSHED, &id).await?.ok_or_else(unknown)?;
        let kept: Self = decode(&record.value)?;
        let version = record.version;
        match kept.request.client_id == client_id {
            true => Ok((PushedId { id, version }, kept.request)),
            false => Err(unknown()),
        }
    }
}

/// The refusal of an address at which there is no request, or no longer.
pub(crate) fn unknown() -> Error {
    let reason = "request_uri is not one of a pushed request, or is over";
    refuse(Code::InvalidRequestUri, reason)
}
