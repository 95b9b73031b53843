//! What HAIP 1.0 demands of those who get credentials by signing in, where the issuer keeps it.

use selfsame_driver::Result;
use selfsame_haip::HaipRule;
use selfsame_oauth::{Code, Error as Refused, ScopeSet};
use selfsame_oidc::request::ReturnedError;

use crate::read::RequestRead;
use crate::refusal::refuse;
use crate::service::SignIns;
use crate::token::TokenCall;

impl SignIns {
    /// Refuses a request for credentials that was not pushed (HAIP §4). Its client learns that.
    pub(crate) fn unpushed(&self, read: RequestRead) -> RequestRead {
        match read {
            RequestRead::Read(read) if self.is_by_profile(&read.request.scope) => {
                let request = read.request;
                let told = HaipRule::PUSHED_REQUESTS.told;
                RequestRead::Returned(Box::new(ReturnedError {
                    redirect_uri: request.redirect_uri,
                    mode: request.mode,
                    state: request.state,
                    error: Refused::new(Code::InvalidRequest, told),
                }))
            }
            other => other,
        }
    }

    /// Refuses a client without attestation that asks for credentials (HAIP §4.4.1).
    ///
    /// # Errors
    /// `invalid_client`.
    pub(crate) fn check_attested(&self, scope: &ScopeSet, instance: Option<&str>) -> Result<()> {
        match self.is_by_profile(scope) && instance.is_none() {
            true => Err(refuse(
                Code::InvalidClient,
                HaipRule::CLIENT_AUTHENTICATION.told,
            )),
            false => Ok(()),
        }
    }

    /// Refuses a token for credentials to a client without attestation, or that proves no key (HAIP §4, §4.4.1).
    ///
    /// # Errors
    /// `invalid_client`, `invalid_dpop_proof`.
    pub(crate) fn check_holder(&self, scope: &ScopeSet, call: &TokenCall) -> Result<()> {
        self.check_attested(scope, call.instance.as_deref())?;
        match self.is_by_profile(scope) && call.jkt.is_none() {
            true => Err(refuse(Code::InvalidDpopProof, HaipRule::BOUND_TOKENS.told)),
            false => Ok(()),
        }
    }

    /// Whether these scopes get a credential of an issuer that keeps the profile.
    fn is_by_profile(&self, scope: &ScopeSet) -> bool {
        let credentials = &self.service.parts.credentials;
        let mut names = credentials.names();
        credentials.profile().is_some() && names.any(|name| scope.has(name))
    }
}
