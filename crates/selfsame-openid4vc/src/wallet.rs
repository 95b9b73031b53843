//! The wallet's side of OpenID4VCI: from an offer to credentials that are kept.
//!
//! What leads up to the person's consent (reading the offer, the issuer's and the server's metadata) is plain
//! functions over fetched documents. What follows is a machine: [`begin`] makes the first state, [`step`] every
//! other. Calls that must not be made twice are [`Effect`]s, to be stored with the state that asks for them.

pub mod credential;
pub mod metadata;
mod nonce;
pub mod offer;
mod proof;
pub mod token;

use selfsame_credential::{
    Format,
    evidence::{Evidence, Step},
};
use selfsame_crypto::{Algorithm, Jwk, KeyHandle, SecretString, ctx::Ctx};
use selfsame_oauth::secret;
use serde::{Deserialize, Serialize};
use url::Url;

pub use self::token::{Accept, begin, kinds_of_keys};
use crate::{error::Error, wire::credential::Wanted};

/// How often a nonce that the issuer refuses is replaced by a new one.
const MAX_NONCES: u32 = 3;

/// What receiving credentials has come to, as a record that outlives its process.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum State {
    /// The code is on its way to the token endpoint.
    #[serde(rename = "redeeming/1")]
    Redeeming(Redeeming),
    /// A nonce is awaited.
    #[serde(rename = "proving/1")]
    Proving(Proving),
    /// A credential request is on its way.
    #[serde(rename = "requesting/1")]
    Requesting(Requesting),
    /// All credentials are here.
    #[serde(rename = "received/1")]
    Received(Received),
    /// It did not work out.
    #[serde(rename = "failed/1")]
    Failed(Failed),
}

/// The code is on its way to the token endpoint.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Redeeming {
    /// What is wanted of whom.
    pub plan: Plan,
    /// Whether a transaction code went with it.
    pub with_tx_code: bool,
    /// A nonce that is at hand already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<String>,
}

/// A nonce is awaited.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Proving {
    /// What is still wanted of whom.
    pub progress: Progress,
}

/// A credential request is on its way.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Requesting {
    /// What is still wanted of whom; the first ask is the one on its way.
    pub progress: Progress,
}

/// All credentials are here.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Received {
    /// The issuer's identifier.
    pub issuer: String,
    /// The credentials.
    pub credentials: Vec<ReceivedCredential>,
}

/// It did not work out.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Failed {
    /// The issuer's error code, if it gave one.
    pub code: Option<String>,
    /// What happened.
    pub reason: String,
    /// What the person can do.
    pub advice: String,
    /// The credentials that did arrive before.
    pub credentials: Vec<ReceivedCredential>,
}

/// What is wanted of whom.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Plan {
    /// The credential issuer's identifier.
    pub issuer: String,
    /// Its credential endpoint.
    pub credential_endpoint: Url,
    /// Its nonce endpoint, if it has one.
    pub nonce_endpoint: Option<Url>,
    /// The credentials that are wanted.
    pub asks: Vec<Ask>,
}

/// One credential configuration that is wanted.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Ask {
    /// The configuration.
    pub configuration_id: String,
    /// Its format.
    pub format: Format,
    /// What its credentials must be: a `vct`, or W3C types.
    pub types: Vec<String>,
    /// The keys to bind to; empty for credentials without holder.
    pub bindings: Vec<Binding>,
}

/// A key of the person's that a credential shall be bound to.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Binding {
    /// Its name in the key store.
    pub key: KeyHandle,
    /// How it signs.
    pub algorithm: Algorithm,
    /// Its public half.
    pub jwk: Jwk,
    /// The DID URL it is known by, if it shall be.
    pub kid: Option<String>,
}

/// How far it has come.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Progress {
    /// What is still wanted; the first ask is the current one.
    pub plan: Plan,
    /// The access token.
    #[serde(with = "secret")]
    pub token: SecretString,
    /// For each ask, in order, how the credential request names it.
    pub wanted: Vec<Wanted>,
    /// How many nonces the current ask has used.
    pub nonces: u32,
    /// What arrived so far.
    pub credentials: Vec<ReceivedCredential>,
}

/// A credential that arrived.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ReceivedCredential {
    /// Its configuration.
    pub configuration_id: String,
    /// Its format.
    pub format: Format,
    /// The credential as the issuer made it.
    pub raw: String,
    /// The key it is bound to.
    pub key: Option<KeyHandle>,
    /// The DID URL of that key, where the credential is bound to a DID.
    pub kid: Option<String>,
}

impl State {
    /// Where a nonce for the first credential can be had before the code is redeemed. Nonces are bound to no token
    /// (OpenID4VCI 1.0 §7), and with one at hand the token leads to the credential request in one step.
    pub fn nonce_ahead(&self) -> Option<&Url> {
        let Self::Redeeming(Redeeming { plan, .. }) = self else {
            return None;
        };
        let is_bound = plan
            .asks
            .first()
            .is_some_and(|ask| !ask.bindings.is_empty());
        plan.nonce_endpoint.as_ref().filter(|_| is_bound)
    }

    /// Takes the answer of the nonce endpoint before the code is redeemed. One that is no good is left: then a nonce
    /// is asked for when the token is there.
    pub fn take_nonce(&mut self, answer: Answer<'_>) {
        if let Self::Redeeming(redeeming) = self {
            redeeming.nonce = nonce::read(answer).ok();
        }
    }
}

/// What comes in.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// The token endpoint's answer.
    Token(Answer<'a>),
    /// The nonce endpoint's answer.
    Nonce(Answer<'a>),
    /// The credential endpoint's answer.
    Credential(Answer<'a>),
    /// No answer can be had, for this reason.
    Unreachable(&'a str),
}

/// An HTTP answer.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The status code.
    pub status: u16,
    /// The content type.
    pub content_type: Option<&'a str>,
    /// The body.
    pub body: &'a [u8],
}

/// What is to be done, together with storing the state or not at all.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Effect {
    /// Post the form to the token endpoint; once, since the code is good for one use.
    RedeemToken {
        /// The token endpoint.
        url: Url,
        /// The form body.
        #[serde(with = "secret")]
        form: SecretString,
    },
    /// Post to the nonce endpoint; may be repeated.
    FetchNonce {
        /// The nonce endpoint.
        url: Url,
    },
    /// Post the request to the credential endpoint; once, since its nonce is good for one use.
    RequestCredential {
        /// The credential endpoint.
        url: Url,
        /// The bearer token.
        #[serde(with = "secret")]
        token: SecretString,
        /// The JSON body.
        body: String,
    },
    /// Keep these credentials.
    Keep(Vec<ReceivedCredential>),
}

impl Effect {
    /// Whether doing it twice does no harm.
    pub const fn may_be_repeated(&self) -> bool {
        matches!(self, Self::FetchNonce { .. })
    }
}

/// What a step comes to.
pub type Next = (State, Vec<Effect>);

/// Takes one step. A fault of the issuer's does not end in an error but in [`State::Failed`]; an error means that the
/// input does not fit the state, or that something of our own is wrong.
pub fn step(
    state: &State,
    input: &Input<'_>,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<Next>, Error> {
    let next = match (state, input) {
        (State::Redeeming(redeeming), Input::Token(answer)) => {
            token::redeemed(redeeming, *answer, (evidence, ctx))
        }
        (State::Proving(proving), Input::Nonce(answer)) => {
            nonce::fetched(proving, *answer, (evidence, ctx))
        }
        (State::Requesting(requesting), Input::Credential(answer)) => {
            credential::answered(requesting, *answer, (evidence, ctx))
        }
        (
            State::Redeeming(_) | State::Proving(_) | State::Requesting(_),
            Input::Unreachable(reason),
        ) => Err(Error::counterpart(
            format!("the issuer cannot be reached: {reason}"),
            "Try again later; if the offer is for one use, ask the issuer for a new one.",
        )),
        (State::Received(_) | State::Failed(_), _) => {
            return Err(Error::State("this receipt has come to its end"));
        }
        _ => return Err(Error::State("the answer is not the one that is awaited")),
    };
    match next {
        Err(Error::Counterpart { reason, advice }) => {
            Ok(Step::Done(failed(state, None, reason, advice)))
        }
        other => other,
    }
}

/// How the next credential is asked for: with a nonce first, where the issuer has an endpoint for them and the
/// credential needs proofs; else at once.
fn ask(progress: Progress, (evidence, ctx): (&Evidence, &Ctx)) -> Result<Step<Next>, Error> {
    let Some(current) = progress.plan.asks.first() else {
        let Progress {
            plan, credentials, ..
        } = progress;
        let received = Received {
            issuer: plan.issuer,
            credentials: credentials.clone(),
        };
        return Ok(Step::Done((
            State::Received(received),
            vec![Effect::Keep(credentials)],
        )));
    };
    match &progress.plan.nonce_endpoint {
        Some(url) if !current.bindings.is_empty() => {
            let effect = Effect::FetchNonce { url: url.clone() };
            Ok(Step::Done((
                State::Proving(Proving { progress }),
                vec![effect],
            )))
        }
        _ => proof::request(progress, None, (evidence, ctx)),
    }
}

fn failed(state: &State, code: Option<String>, reason: String, advice: &str) -> Next {
    let credentials = match state {
        State::Proving(Proving { progress }) | State::Requesting(Requesting { progress }) => {
            progress.credentials.clone()
        }
        State::Redeeming(_) | State::Received(_) | State::Failed(_) => Vec::new(),
    };
    // What arrived before is the person's, whatever became of the rest.
    let effects = match credentials.is_empty() {
        true => Vec::new(),
        false => vec![Effect::Keep(credentials.clone())],
    };
    let failed = Failed {
        code,
        reason,
        advice: advice.to_owned(),
        credentials,
    };
    (State::Failed(failed), effects)
}
