//! Requests for credentials (OpenID4VCI 1.0 §5.1): what they ask of the person, and what the person granted.

use std::collections::BTreeSet;

use selfsame_oauth::{AuthorizationDetail, Code, Error as Refused, ScopeSet};
use selfsame_oidc::token::AccessFacts;
use selfsame_oidc::{AuthorizationRequest, RelyingParty};

use crate::clients::FoundClient;
use crate::service::SignIns;

/// Seconds for which a token for credentials lasts that is bound to no key.
const UNBOUND: u64 = 300;

impl SignIns {
    /// Adds to a request what the credentials need that it asks for: the scopes of its authorization details, and claims.
    ///
    /// # Errors
    /// `invalid_authorization_details` for a credential that is not issued here, `invalid_scope` for one whose claims the
    /// client may not know.
    pub(crate) fn ask_for_credentials(
        &self,
        request: &mut AuthorizationRequest,
        party: &RelyingParty,
    ) -> Result<(), Refused> {
        let credentials = &self.service.parts.credentials;
        let mut scopes: BTreeSet<String> = request.scope.iter().map(str::to_owned).collect();
        for detail in &request.details {
            let scope = credentials.of_configuration(&detail.credential_configuration_id);
            let scope = scope.filter(|scope| self.is_issued_here(detail) && party.may_ask(scope));
            let reason = "a credential is asked for that is not issued here or not to this client";
            let refused = Refused::new(Code::InvalidAuthorizationDetails, reason);
            scopes.insert(scope.ok_or(refused)?.to_owned());
        }
        request.scope = scopes.iter().map(String::as_str).collect();
        let mut names = credentials.names();
        if request.challenge.is_none() && names.any(|scope| scopes.contains(scope)) {
            let reason = "a request for a credential needs a code challenge";
            return Err(Refused::new(Code::InvalidRequest, reason));
        }
        for claim in scopes.iter().flat_map(|scope| credentials.claims(scope)) {
            if !party.may_know(claim) {
                let reason = "the credential has claims that the client may not know";
                return Err(Refused::new(Code::InvalidScope, reason));
            }
            let wish = request.claims.userinfo.entry(claim.clone());
            wish.or_default().essential = true;
        }
        Ok(())
    }

    /// The lifetime of an access token, in seconds. One for credentials that is bound to no key lasts no more than five
    /// minutes (OpenID4VCI 1.0 §13.10).
    pub(crate) fn access_lifetime(&self, client: &FoundClient, access: &AccessFacts) -> u64 {
        let lifetime = client.rules.lifetimes.access_token;
        let mut scopes = self.service.parts.credentials.names();
        match access.jkt.is_none() && scopes.any(|scope| access.scope.has(scope)) {
            true => lifetime.min(UNBOUND),
            false => lifetime,
        }
    }

    /// OpenID4VCI 1.0 §5.1.1: `locations` names the issuer.
    fn is_issued_here(&self, detail: &AuthorizationDetail) -> bool {
        let here = &self.place.credential_issuer;
        let named = detail.locations.as_ref();
        named.is_none_or(|named| named.contains(here))
    }

    /// The authorization details of a request that these scopes cover, each with the identifier of its credential
    /// (OpenID4VCI 1.0 §6.2). A person has one credential of each configuration, so the configuration names it.
    pub(crate) fn granted_details(
        &self,
        request: &AuthorizationRequest,
        scope: &ScopeSet,
    ) -> Vec<AuthorizationDetail> {
        let credentials = &self.service.parts.credentials;
        let is_covered = |detail: &&AuthorizationDetail| {
            let one = credentials.of_configuration(&detail.credential_configuration_id);
            one.is_some_and(|one| scope.has(one))
        };
        let covered = request.details.iter().filter(is_covered);
        let named = covered.map(|detail| AuthorizationDetail {
            credential_identifiers: Some(vec![detail.credential_configuration_id.clone()]),
            ..detail.clone()
        });
        named.collect()
    }
}
