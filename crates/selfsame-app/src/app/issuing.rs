//! The credential endpoint: the issuer's own tokens, and those of the provider of the same organisation; applications;
//! lists of people who all get an offer.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::own_roles::OwnRoles;
use selfsame_applications::Applications;
use selfsame_approvals::possession::{OwnToken, PresentedOwn};
use selfsame_core::Shared;
use selfsame_crypto::SecretString;
use selfsame_driver::{Error, Result};
use selfsame_issuing_lists::IssuingLists;
use selfsame_openid::issuer::TokenBySignIn;
use selfsame_openid::{OrganisationRoles, Roles};
use selfsame_openid4vc::wire::credential::CredentialAnswer;
use selfsame_sign_in::CredentialScopes;
use selfsame_sign_in::access::PresentedToken;

use super::App;
use crate::config::Config;

/// What separates the parts of a JWT. The provider's access tokens are JWTs, the issuer's are not.
const PART: char = '.';

/// An access token of an endpoint of the issuer.
enum AcceptedToken<'t> {
    /// One that the issuer gave.
    Own(OwnToken<'t>),
    /// One that the provider gave, and that is valid.
    BySignIn(Box<TokenBySignIn>),
}

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
    ) -> Result<CredentialAnswer> {
        let issuer = roles.issuer()?;
        match self.accepted(roles, presented).await? {
            AcceptedToken::Own(token) => issuer.credential(token, body).await,
            AcceptedToken::BySignIn(by) => issuer.credential_by_sign_in(&by, body).await,
        }
    }

    /// Delivers credentials of an organisation that a wallet has asked for before, once they are approved.
    ///
    /// # Errors
    /// OpenID4VCI 1.0 §9.3, otherwise as [`Self::credential`].
    pub async fn deferred(
        &self,
        roles: &OrganisationRoles,
        presented: &PresentedToken<'_>,
        body: &[u8],
    ) -> Result<CredentialAnswer> {
        let issuer = roles.issuer()?;
        match self.accepted(roles, presented).await? {
            AcceptedToken::Own(token) => issuer.deferred(token, body).await,
            AcceptedToken::BySignIn(by) => issuer.deferred_by_sign_in(&by, body).await,
        }
    }

    /// Takes what a wallet says of the credentials that it got from an organisation.
    ///
    /// # Errors
    /// OpenID4VCI 1.0 §11.3, RFC 6750 §3.1 or RFC 9449 §7.1, with the code.
    pub async fn notified(
        &self,
        roles: &OrganisationRoles,
        presented: &PresentedToken<'_>,
        body: &[u8],
    ) -> Result<()> {
        let issuer = roles.issuer()?;
        match self.accepted(roles, presented).await? {
            AcceptedToken::Own(token) => issuer.notified(token, body).await,
            AcceptedToken::BySignIn(by) => issuer.notified_by_sign_in(&by, body).await,
        }
    }

    /// Whose access token was presented. One of the issuer's own is looked up later.
    async fn accepted<'t>(
        &self,
        roles: &OrganisationRoles,
        presented: &PresentedToken<'t>,
    ) -> Result<AcceptedToken<'t>> {
        self.config.issuer.check_presented(presented.is_dpop)?;
        if self.config.issuer.by_sign_in.is_empty() || !presented.token.contains(PART) {
            let presented = PresentedOwn {
                url: presented.url,
                token: presented.token,
                is_dpop: presented.is_dpop,
                proof: presented.proof,
            };
            let possession = roles.issuer()?.possession();
            let own = possession.at_resource(presented).await?;
            return Ok(AcceptedToken::Own(own));
        }
        let sign_ins = self.sign_ins(&roles.organisation)?;
        let holder = sign_ins.holder_of(presented).await?;
        Ok(AcceptedToken::BySignIn(Box::new(TokenBySignIn {
            token: SecretString::from(presented.token.to_owned()),
            sign_in: holder.sign_in,
            ends: holder.ends,
            key: holder.key,
            client_id: holder.client_id,
            subject: holder.subject,
            scope: holder.scope,
            details: holder.details,
            issuer_state: holder.issuer_state,
            claims: holder.claims,
            expires: holder.expires,
        })))
    }

    /// The applications of an organisation for credentials that need others.
    #[must_use]
    pub fn applications(&self, roles: &Arc<OrganisationRoles>) -> Applications {
        Applications::new(self.shared.clone(), Arc::new(OwnRoles(roles.clone())))
    }

    /// The lists of people who all get an offer, of every organisation.
    #[must_use]
    pub fn issuing_lists(&self) -> &IssuingLists {
        &self.lists
    }

    /// Works on lists until the instance stops.
    pub(super) fn start_lists(&self) {
        if self.config.roles.issuer {
            tokio::spawn(self.lists.clone().work(self.stopping.subscribe()));
        }
    }

    /// A nonce for the next proofs of possession at the credential endpoint of an organisation (RFC 9449 §9); `None` if
    /// nobody signs in for credentials, since the issuer's own tokens need none.
    ///
    /// # Errors
    /// The store's.
    pub async fn dpop_nonce(&self, roles: &OrganisationRoles) -> Result<Option<String>> {
        if self.config.issuer.by_sign_in.is_empty() {
            return Ok(None);
        }
        let sign_ins = self.sign_ins(&roles.organisation)?;
        sign_ins.next_nonce().await.map(Some)
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
        let scopes: CredentialScopes = of_type.collect();
        scopes.keeping(self.config.issuer.profile)
    }
}

/// The lists of an instance.
pub(super) fn lists(config: &Config, shared: &Arc<Shared>, roles: &Arc<Roles>) -> IssuingLists {
    let wallet = config.roles.wallet.then(|| config.origin.clone());
    IssuingLists::new(shared.clone(), roles.clone()).with_wallet(wallet)
}

/// Checks that people can sign in where credentials are issued to them for it.
pub(super) fn check(config: &Config) -> Result<()> {
    match config.issuer.by_sign_in.is_empty() || config.roles.wallet {
        true => Ok(()),
        false => Err(Error::bad_request("by-sign-in-without-provider")),
    }
}
