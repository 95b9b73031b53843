//! The token endpoint: codes and refresh tokens are redeemed for tokens, each of them once.

use std::sync::Arc;

use selfsame_driver::Result;
use selfsame_oauth::Code;
use selfsame_oauth::client::AuthenticationMethod;
use selfsame_oauth::grant::Grant;
use selfsame_oauth::grant::GrantType;
use selfsame_oidc::token::GrantedTokens;

use crate::clients::FoundClient;
use crate::dpop_check::{CalledEndpoint, proven_key};
use crate::refusal::{refusal, refuse};
use crate::service::SignIns;
use crate::spent::{SpentIds, spend_now};

/// A client that redeems something.
pub(crate) struct TokenCall {
    pub client: Arc<FoundClient>,
    /// The thumbprint of the key that it proved to have.
    pub jkt: Option<String>,
    /// The thumbprint of the key of the instance that is attested.
    pub instance: Option<String>,
    /// Identifiers that count once.
    pub spent: SpentIds,
}

impl TokenCall {
    /// Whether the client has a secret or a key of its own, so that its refresh tokens need none (RFC 9449 §5).
    pub fn is_confidential(&self) -> bool {
        self.client.party.method != AuthenticationMethod::None
    }
}

impl SignIns {
    /// The token endpoint.
    ///
    /// # Errors
    /// RFC 6749 §5.2 and RFC 9449 §5, with the code; those of the identity system.
    pub async fn token(&self, called: &CalledEndpoint<'_>) -> Result<GrantedTokens> {
        let mut form = called.form()?;
        let calling = self.caller(called, &mut form).await?;
        let (client, mut spent) = (calling.client, calling.spent);
        let nonces = self.nonces(&client.rules).await?;
        let now = self.shared().clock.now();
        let proven = proven_key(called, &client.rules, nonces.as_ref(), now)?;
        if proven.is_none() && client.party.requires_dpop {
            let reason = "this client needs a DPoP proof";
            return Err(refuse(Code::InvalidDpopProof, reason));
        }
        let grant = Grant::take(form).map_err(refusal)?;
        let proof = proven.iter().map(|proven| proven.spent.clone());
        spent.proofs.extend(proof);
        let call = TokenCall {
            client,
            jkt: proven.map(|proven| proven.thumbprint),
            instance: calling.instance,
            spent,
        };
        let granted = self.granted(&call, grant).await;
        if granted.is_err() {
            // Nothing was written, but an assertion that was sent does not count a second time.
            drop(spend_now(&self.shared().store, &self.place.tenant, &call.spent).await);
        }
        granted
    }

    async fn granted(&self, call: &TokenCall, grant: Grant) -> Result<GrantedTokens> {
        let may = |kind| match call.client.party.grants.contains(&kind) {
            true => Ok(()),
            false => Err(refuse(
                Code::UnauthorizedClient,
                "the client is not registered for this grant",
            )),
        };
        match grant {
            Grant::AuthorizationCode(redemption) => {
                may(GrantType::AuthorizationCode)?;
                self.redeem(call, &redemption).await
            }
            Grant::RefreshToken(refresh) => {
                may(GrantType::RefreshToken)?;
                self.refresh(call, &refresh).await
            }
            Grant::PreAuthorizedCode(_) => Err(refuse(
                Code::UnsupportedGrantType,
                "pre-authorized codes are redeemed at the credential issuer",
            )),
        }
    }
}
