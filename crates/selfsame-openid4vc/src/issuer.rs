//! The credential issuer's side of OpenID4VCI: offers, tokens, nonces, credentials.
//!
//! An offer and each access token issued for it are separate records, each a [`IssuanceState`]; [`redeem`] takes the steps of the
//! first kind, [`issue`] those of the second.

pub mod credential;
mod deferral;
mod enforced;
pub mod metadata;
pub mod nonce;
pub mod offer;
mod proof;
pub mod token;

use std::collections::BTreeMap;

use selfsame_credential::evidence::{Evidence, Step};
use selfsame_crypto::{ctx::Ctx, seal::SealingKey, time::UnixTime};
use selfsame_oauth::{TokenRequest, TokenResponse};
use serde::{Deserialize, Serialize};

use crate::{
    error::Error,
    wire::credential::{CredentialResponse, EndpointEncryption},
};

pub use deferral::{Deferral, DeferralAsked, defer};
pub use enforced::{EnforcedConfiguration, EnforcedMetadata, EnforcedProofs};

/// The issuer's configuration.
#[derive(Clone, Debug)]
pub struct IssuerSettings {
    /// What the issuer enforces of the metadata that it publishes.
    pub metadata: EnforcedMetadata,
    /// The key that authenticates nonces and transaction codes.
    pub key: SealingKey,
    /// How the credential endpoint encrypts messages; `None` if it does not.
    pub encryption: Option<EndpointEncryption>,
    /// Lifetime of a nonce, in seconds.
    pub nonce_lifetime: u64,
    /// Lifetime of an access token, in seconds: 300 at most, since it is bound to no key (OpenID4VCI 1.0 §13.10).
    pub token_lifetime: u64,
    /// Maximum age of a proof's `iat`, in seconds.
    pub proof_age: u64,
    /// How far, in seconds, a proof's `iat` may lie in the future.
    pub leeway: u64,
    /// Times in credentials are rounded down to a multiple of this many seconds (privacy: OpenID4VCI 1.0 §15.4.1).
    pub round_times_to: u64,
}

impl IssuerSettings {
    /// The expiry time that a credential states: rounded down like its other times, unless it would then be expired
    /// from the start.
    #[must_use]
    pub fn stated_end(&self, end: UnixTime, now: UnixTime) -> UnixTime {
        let rounded = end.rounded_down(self.round_times_to);
        if rounded > now { rounded } else { end }
    }
}

/// The state of an issuance, stored as a record so that it survives a restart.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum IssuanceState {
    /// The code can be redeemed.
    #[serde(rename = "offered/1")]
    Offered(Offered),
    /// The code can no longer be redeemed.
    #[serde(rename = "closed/1")]
    Closed(Closed),
    /// An access token was issued.
    #[serde(rename = "granted/1")]
    Granted(Granted),
}

impl IssuanceState {
    /// The access token, if it is one.
    pub fn granted(&self) -> Option<&Granted> {
        match self {
            Self::Granted(granted) => Some(granted),
            Self::Offered(_) | Self::Closed(_) => None,
        }
    }
}

/// An offer whose code can be redeemed.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Offered {
    /// The application's identifier of the offer.
    pub offer_id: String,
    /// The credential configurations that are offered.
    pub configuration_ids: Vec<String>,
    /// SHA-256 of the code.
    pub code_hash: [u8; 32],
    /// How often the code can still be redeemed; 1 except for offers to several people.
    pub uses_left: u32,
    /// The transaction code, if one is required.
    pub tx_code: Option<ExpectedTxCode>,
    /// The time at which the offer expires.
    pub expires: UnixTime,
}

/// A required transaction code.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ExpectedTxCode {
    /// A keyed hash of the code.
    pub mac: [u8; 32],
    /// How many wrong entries are still tolerated (OpenID4VCI 1.0 §13.6.3).
    pub attempts_left: u32,
}

/// An offer whose code can no longer be redeemed.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Closed {
    /// The application's identifier of the offer.
    pub offer_id: String,
    /// The reason.
    pub because: Closure,
}

/// The reason an offer was closed.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Closure {
    /// The code was redeemed as often as allowed.
    Redeemed,
    /// The transaction code was entered wrongly too often.
    TooManyAttempts,
}

/// An access token and the credentials that may be requested with it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Granted {
    /// The application's identifier of the offer that the token was issued for.
    pub offer_id: String,
    /// SHA-256 of the token.
    pub token_hash: [u8; 32],
    /// The time at which the token expires.
    pub expires: UnixTime,
    /// The client's identifier, if it gave one.
    pub client_id: Option<String>,
    /// The credential configurations that may be requested, each with a credential identifier if the client sent
    /// authorization details.
    pub credentials: BTreeMap<String, Option<String>>,
    /// The answers given, by configuration; a repeated request gets the same answer again.
    #[serde(deserialize_with = "one_or_several")]
    pub issued: BTreeMap<String, Vec<Given>>,
    /// SHA-256 of the request that was deferred, by configuration.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub deferred: BTreeMap<String, [u8; 32]>,
}

/// Reads the answers given; records of earlier builds have a single answer per configuration.
fn one_or_several<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Vec<Given>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Kept {
        Several(Vec<Given>),
        One(Box<Given>),
    }
    let kept: BTreeMap<String, Kept> = Deserialize::deserialize(deserializer)?;
    let several = |kept| match kept {
        Kept::Several(given) => given,
        Kept::One(given) => vec![*given],
    };
    Ok(kept
        .into_iter()
        .map(|(id, kept)| (id, several(kept)))
        .collect())
}

/// An answer to a credential request, kept so that it can be repeated.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Given {
    /// SHA-256 of the request.
    pub request_hash: [u8; 32],
    /// The answer.
    pub response: CredentialResponse,
    /// The thumbprints of the keys that its credentials are bound to; empty in records of earlier builds.
    #[serde(default)]
    pub holders: Vec<String>,
}

/// What redeeming a code gives. The state is stored even if the request is refused: it counts wrong codes.
#[derive(Clone, Debug)]
pub struct Redemption {
    /// The offer's next state.
    pub state: IssuanceState,
    /// The access token, or why the request is refused.
    pub outcome: Result<Redeemed, Error>,
}

/// A redeemed code.
#[derive(Clone, Debug)]
pub struct Redeemed {
    /// The record of the access token, to be created under the token's hash.
    pub granted: Box<Granted>,
    /// The answer to the token request.
    pub response: Box<TokenResponse>,
}

/// What a credential request gives.
#[derive(Clone, Debug)]
pub struct Issuance {
    /// The grant's next state.
    pub state: IssuanceState,
    /// Nonces to mark as used. If one is marked already, nothing is stored and the answer is `invalid_nonce`.
    pub spent: Vec<nonce::Spent>,
    /// The credentials issued; none if the answer is one that was given before.
    pub issued: Vec<credential::Issued>,
    /// The answer to the credential request.
    pub response: CredentialResponse,
}

/// Redeems an offer's code. On an error the state stays as it is.
///
/// # Errors
/// RFC 6749 §5.2; [`Error::State`] if the record is not an offer.
pub fn redeem(
    state: &IssuanceState,
    request: &TokenRequest,
    settings: &IssuerSettings,
    ctx: &Ctx,
) -> Result<Redemption, Error> {
    match state {
        IssuanceState::Offered(offered) => token::redeem(offered, request, settings, ctx),
        IssuanceState::Closed(closed) => Err(token::refuse_closed(closed)),
        IssuanceState::Granted(_) => Err(Error::State("this record is an access token")),
    }
}

/// Issues credentials for an access token. On an error the state stays as it is.
///
/// # Errors
/// OpenID4VCI 1.0 §8.3.1 or RFC 6750 §3.1; [`Error::State`] if the record is not an access token.
pub fn issue(
    state: &IssuanceState,
    asked: &credential::CredentialAsked<'_>,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<Issuance>, Error> {
    match state {
        IssuanceState::Granted(granted) => credential::issue(granted, asked, evidence, ctx),
        IssuanceState::Offered(_) | IssuanceState::Closed(_) => {
            Err(Error::State("this record is an offer"))
        }
    }
}
