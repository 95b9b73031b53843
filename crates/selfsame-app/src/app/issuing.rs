//! The credential endpoint: the issuer's own tokens, and those of the provider of the same organisation.

use std::collections::BTreeSet;

use selfsame_crypto::SecretString;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_openid::OrganisationRoles;
use selfsame_openid::issuer::TokenBySignIn;
use selfsame_openid4vc::wire::credential::CredentialResponse;
use selfsame_sign_in::CredentialScopes;
use selfsame_sign_in::access::PresentedToken;

use super::App;
use crate::config::Config;

/// What separates the parts of a JWT. The provider's access tokens are JWTs, the issuer's are not.
const PART: char = '.';

impl App {
    /// Issues credentials of an organisation for an access token.
    ///
    /// # Errors
    /// OpenID4VCI 1.0 §8.3.1, RFC 6750 §3.1 or RFC 9449 §7.1, with the code.
    pub async fn credential(
        &self,
        roles: &OrganisationRoles,
        presented: &PresentedToken<'_>,
        body: &[u8],
    ) -> Result<CredentialResponse> {
        let issuer = roles.issuer()?;
        if self.config.issuer.by_sign_in.is_empty() || !presented.token.contains(PART) {
            // RFC 9449 §7.1: a token that is bound to no key does not come with the scheme DPoP.
            return match presented.is_dpop {
                true => Err(
                    Error::new(ErrorKind::Unauthenticated, "access-token-unknown")
                        .with_code("invalid_token"),
                ),
                false => issuer.credential(presented.token, body).await,
            };
        }
        let sign_ins = self.sign_ins(&roles.organisation)?;
        let holder = sign_ins.holder_of(presented).await?;
        let by = TokenBySignIn {
            token: SecretString::from(presented.token.to_owned()),
            client_id: holder.client_id,
            scope: holder.scope,
            details: holder.details,
            issuer_state: holder.issuer_state,
            claims: holder.claims,
            expires: holder.expires,
        };
        issuer.credential_by_sign_in(&by, body).await
    }

    /// A nonce for the next proofs of possession at the credential endpoint of an organisation (RFC 9449 §9).
    ///
    /// # Errors
    /// `NotFound` if nobody signs in here; the store's.
    pub async fn dpop_nonce(&self, roles: &OrganisationRoles) -> Result<String> {
        self.sign_ins(&roles.organisation)?.next_nonce().await
    }

    /// The scopes by which people get credentials, and the claims that each needs.
    pub(super) fn credential_scopes(&self) -> CredentialScopes {
        let types = self.config.issuer.by_sign_in.iter();
        // A member of a claim is agreed to with the whole claim.
        let whole = |source: &String| {
            let (whole, _) = source.split_once(PART).unwrap_or((source, ""));
            whole.to_owned()
        };
        let of_type = types.map(|(id, sources)| {
            let claims: BTreeSet<String> = sources.values().map(whole).collect();
            (id.clone(), claims)
        });
        of_type.collect()
    }
}

/// Checks that people can sign in where credentials are issued to them for it.
pub(super) fn check(config: &Config) -> Result<()> {
    match config.issuer.by_sign_in.is_empty() || config.roles.wallet {
        true => Ok(()),
        false => Err(Error::bad_request("by-sign-in-without-provider")),
    }
}
