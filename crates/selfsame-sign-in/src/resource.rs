//! What a resource of the same organisation learns from an access token: the issuer of credentials is one.

use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_oauth::{AuthorizationDetail, ScopeSet};
use serde_json::{Map, Value};

use crate::access::PresentedToken;
use crate::service::SignIns;

/// A person who signed in, as an access token stands for them.
#[derive(Clone, Debug)]
pub struct SignedInHolder {
    /// The identifier of the sign-in: all its access tokens have it, those after a refresh too.
    pub sign_in: String,
    /// When the sign-in ends, unless a refresh prolongs it.
    pub ends: UnixTime,
    /// The thumbprint of the key that the token is bound to, which was proven.
    pub key: Option<String>,
    /// The client that has the token.
    pub client_id: String,
    /// The person's subject for this client.
    pub subject: String,
    /// The scopes.
    pub scope: ScopeSet,
    /// The credentials that were granted one by one; if there are any, the scopes alone grant none.
    pub details: Vec<AuthorizationDetail>,
    /// What tells the credential offer by that the client began with.
    pub issuer_state: Option<String>,
    /// The claims that the person agreed to.
    pub claims: Map<String, Value>,
    /// When the token ends.
    pub expires: UnixTime,
}

impl SignIns {
    /// Whom an access token stands for.
    ///
    /// # Errors
    /// `invalid_token` (RFC 6750 §3.1), also after its code was used a second time; `invalid_dpop_proof` and
    /// `use_dpop_nonce` (RFC 9449 §7.1); the store's.
    pub async fn holder_of(&self, presented: &PresentedToken<'_>) -> Result<SignedInHolder> {
        let valid = self.presented(presented).await?;
        // With a client that was removed, its tokens ended.
        self.client_of(&valid.token).await?;
        let granted = valid.granted()?;
        let request = &valid.record.request;
        Ok(SignedInHolder {
            sign_in: valid.token.access.sign_in.clone(),
            ends: valid.record.expires,
            key: valid.token.access.jkt.clone(),
            client_id: valid.token.client_id.clone(),
            subject: granted.subject.clone(),
            details: self.granted_details(request, &valid.token.access.scope),
            scope: valid.token.access.scope.clone(),
            issuer_state: request.issuer_state.clone(),
            claims: granted.claims.plain()?,
            expires: valid.token.expires,
        })
    }
}
