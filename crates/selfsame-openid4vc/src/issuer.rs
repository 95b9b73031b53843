//! The credential issuer's side of OpenID4VCI: offers, tokens, nonces, credentials.
//!
//! An offer and the access tokens that come of it are two kinds of record, each a [`State`]; [`step`] is the one
//! dispatcher for both.

pub mod credential;
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
    wire::{
        credential::{CredentialRequest, CredentialResponse},
        metadata::IssuerMetadata,
    },
};

/// What the issuer is configured to do.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The metadata the issuer publishes; what it says is what is enforced.
    pub metadata: IssuerMetadata,
    /// The key that nonces and transaction codes are authenticated with.
    pub key: SealingKey,
    /// For how many seconds a nonce is good.
    pub nonce_lifetime: u64,
    /// For how many seconds an access token is good.
    pub token_lifetime: u64,
    /// How far, in seconds, a proof's `iat` may lie in the past.
    pub proof_age: u64,
    /// How far, in seconds, a proof's `iat` may lie in the future.
    pub leeway: u64,
    /// Times in credentials are rounded down to a multiple of this many seconds (privacy: OpenID4VCI 1.0 §15.4.1).
    pub round_times_to: u64,
}

impl Settings {
    /// The end that a credential states: rounded like its other times, unless it would be born expired.
    #[must_use]
    pub fn stated_end(&self, end: UnixTime, now: UnixTime) -> UnixTime {
        let rounded = end.rounded_down(self.round_times_to);
        if rounded > now { rounded } else { end }
    }
}

/// What an issuance has come to, as a record that outlives its process.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum State {
    /// The code can be redeemed.
    #[serde(rename = "offered/1")]
    Offered(Offered),
    /// The code cannot be redeemed any more.
    #[serde(rename = "closed/1")]
    Closed(Closed),
    /// An access token was given out.
    #[serde(rename = "granted/1")]
    Granted(Granted),
}

/// An offer whose code can be redeemed.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Offered {
    /// The application's name for the offer.
    pub offer_id: String,
    /// What is offered.
    pub configuration_ids: Vec<String>,
    /// SHA-256 of the code.
    pub code_hash: [u8; 32],
    /// How often it can still be redeemed; 1 but for offers to many.
    pub uses_left: u32,
    /// The transaction code, where one is asked for.
    pub tx_code: Option<ExpectedTxCode>,
    /// Until when.
    pub expires: UnixTime,
}

/// A transaction code that is asked for.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ExpectedTxCode {
    /// Its keyed hash.
    pub mac: [u8; 32],
    /// How many wrong answers are still borne (OpenID4VCI 1.0 §13.6.3).
    pub attempts_left: u32,
}

/// An offer whose code cannot be redeemed any more.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Closed {
    /// The application's name for the offer.
    pub offer_id: String,
    /// Why.
    pub because: Closure,
}

/// Why an offer was closed.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Closure {
    /// The code was redeemed as often as it could be.
    Redeemed,
    /// The transaction code was wrong too often.
    TooManyAttempts,
}

/// What an access token is good for.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Granted {
    /// The application's name for the offer it came of.
    pub offer_id: String,
    /// SHA-256 of the token.
    pub token_hash: [u8; 32],
    /// Until when.
    pub expires: UnixTime,
    /// How the client named itself, if it did.
    pub client_id: Option<String>,
    /// What can be asked for: credential configurations, with the identifier of the data set where details were
    /// asked for.
    pub credentials: BTreeMap<String, Option<String>>,
    /// What was issued, by configuration: each answer is given again if its request comes again.
    #[serde(deserialize_with = "one_or_several")]
    pub issued: BTreeMap<String, Vec<Given>>,
}

/// Reads what was issued; grants of earlier builds have one answer a configuration.
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

/// An answer that was given.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Given {
    /// SHA-256 of the request.
    pub request_hash: [u8; 32],
    /// The answer.
    pub response: CredentialResponse,
    /// The thumbprints of the keys that its credentials are bound to; grants of earlier builds have none.
    #[serde(default)]
    pub holders: Vec<String>,
}

/// What comes in.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// What the issuer is configured to do.
    pub settings: &'a Settings,
    /// What happened.
    pub event: Event<'a>,
}

/// What happened.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A request at the token endpoint, with the code of this offer.
    Token(&'a TokenRequest),
    /// A request at the credential endpoint, with this access token.
    Credential {
        /// The request.
        request: &'a CredentialRequest,
        /// What goes into the credentials.
        content: &'a credential::Content,
    },
}

/// What is to be done, together with storing the state or not at all.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Open a record for an access token, found by the token's hash.
    Grant(Box<Granted>),
    /// Note that these nonces are spent; if one is already, nothing is stored and the answer is `invalid_nonce`.
    SpendNonces(Vec<nonce::Spent>),
    /// Note what was issued.
    Issued(Vec<credential::Issued>),
    /// Answer the token request.
    AnswerToken(Box<TokenResponse>),
    /// Answer the credential request.
    AnswerCredential(CredentialResponse),
    /// Refuse the request; the state is stored all the same.
    Refuse(Error),
}

/// Takes one step. An error leaves the state as it is.
pub fn step(
    state: &State,
    input: Input<'_>,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<(State, Vec<Effect>)>, Error> {
    match (state, input.event) {
        (State::Offered(offered), Event::Token(request)) => {
            token::redeem(offered, request, input.settings, ctx).map(Step::Done)
        }
        (State::Closed(closed), Event::Token(_)) => Err(token::refuse_closed(closed)),
        (State::Granted(granted), Event::Credential { request, content }) => {
            let call = credential::Call {
                granted,
                request,
                content,
                settings: input.settings,
            };
            credential::issue(&call, evidence, ctx)
        }
        (State::Granted(_), Event::Token(_)) => Err(Error::State("this record is an access token")),
        (State::Offered(_) | State::Closed(_), Event::Credential { .. }) => {
            Err(Error::State("this record is an offer"))
        }
    }
}
