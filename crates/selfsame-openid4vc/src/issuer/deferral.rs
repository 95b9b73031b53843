//! Credentials that take their time: what their request must prove at once, and what is kept of it (OpenID4VCI 1.0 §8.3,
//! §9).

use selfsame_credential::evidence::{Evidence, Step};
use selfsame_crypto::{ctx::Ctx, hash::sha256};

use super::credential::{RequestInHand, configuration_named, configuration_of, lasting, prove};
use super::proof::Holder;
use super::{IssuanceState, IssuerSettings, nonce};
use crate::error::{CredentialCode, Error};
use crate::wire::{credential::CredentialRequest, deferred::KeptHolder};

/// A request whose credentials are to be made later.
#[derive(Clone, Copy, Debug)]
pub struct DeferralAsked<'a> {
    /// The request.
    pub request: &'a CredentialRequest,
    /// The issuer's configuration.
    pub settings: &'a IssuerSettings,
}

/// What a request gives whose credentials are to be made later.
#[derive(Clone, Debug)]
pub struct Deferral {
    /// The grant's next state.
    pub state: IssuanceState,
    /// Nonces to mark as used.
    pub spent: Vec<nonce::Spent>,
    /// The keys that the request proved, in its order.
    pub holders: Vec<KeptHolder>,
    /// Whether the same request was deferred before: then nothing changes.
    pub is_repeated: bool,
}

/// Defers the credentials of a request: its keys are proven now. On an error the state stays as it is.
///
/// # Errors
/// As [`super::issue`]; `credential_request_denied` if another request for the credential was deferred with this token.
pub fn defer(
    state: &IssuanceState,
    asked: &DeferralAsked<'_>,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<Deferral>, Error> {
    let granted = state
        .granted()
        .ok_or(Error::State("this record is an offer"))?;
    let DeferralAsked { request, settings } = *asked;
    lasting(granted, ctx)?;
    let id = configuration_of(granted, request, settings)?;
    let hash = sha256(request.to_json().as_bytes());
    match granted.deferred.get(id) {
        Some(first) if *first == hash => {
            return Ok(Step::Done(Deferral {
                state: state.clone(),
                spent: Vec::new(),
                holders: Vec::new(),
                is_repeated: true,
            }));
        }
        // One decision is about one request, with all its copies.
        Some(_) => {
            return Err(Error::credential(
                CredentialCode::CredentialRequestDenied,
                "another request for this credential was deferred with this access token",
            ));
        }
        None => {}
    }
    let asking = RequestInHand {
        granted,
        request,
        settings,
    };
    let proven = match prove(&asking, configuration_named(settings, id)?, evidence, ctx)? {
        Step::Needs(needs) => return Ok(Step::Needs(needs)),
        Step::Done(proven) => proven,
    };
    let mut granted = granted.clone();
    granted.deferred.insert(id.to_owned(), hash);
    Ok(Step::Done(Deferral {
        state: IssuanceState::Granted(granted),
        spent: proven.nonces,
        holders: proven.holders.iter().map(Holder::kept).collect(),
        is_repeated: false,
    }))
}
