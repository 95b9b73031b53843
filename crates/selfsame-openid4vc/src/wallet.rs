//! The wallet's side of OpenID4VCI: from an offer to the stored credentials.
//!
//! Reading the offer and the metadata of the issuer and its server, before the person consents, is done by plain
//! functions over fetched documents. After that a state machine takes over: [`begin`] creates the first state, [`step`]
//! all others. A step gives the next state, the next call to the issuer, and the credentials received; all of it is stored
//! at once.

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
use crate::{error::Error, wire::credential::WantedCredential};

/// How many nonces the wallet fetches for one credential before it gives up.
const MAX_NONCES: u32 = 3;

/// The state of receiving credentials, stored as a record so that it survives a restart.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum ReceivingState {
    /// The code is being sent to the token endpoint.
    #[serde(rename = "redeeming/1")]
    Redeeming(Redeeming),
    /// The wallet waits for a nonce.
    #[serde(rename = "proving/1")]
    Proving(Proving),
    /// A credential request is being sent.
    #[serde(rename = "requesting/1")]
    Requesting(Requesting),
    /// All credentials have been received.
    #[serde(rename = "received/1")]
    Received(Received),
    /// Receiving the credentials failed.
    #[serde(rename = "failed/1")]
    Failed(Failed),
}

/// A code that is being sent to the token endpoint.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Redeeming {
    /// The credentials to request.
    pub plan: CredentialPlan,
    /// Whether a transaction code was sent with it.
    pub with_tx_code: bool,
    /// A nonce that was fetched in advance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<String>,
}

/// The wallet waits for a nonce.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Proving {
    /// The state of the remaining requests.
    pub progress: RequestsProgress,
}

/// A credential request that is being sent.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Requesting {
    /// The state of the remaining requests; the first ask is the one being sent.
    pub progress: RequestsProgress,
}

/// All credentials have been received.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Received {
    /// The issuer's identifier.
    pub issuer: String,
    /// The credentials.
    pub credentials: Vec<ReceivedCredential>,
}

/// Receiving the credentials failed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Failed {
    /// The issuer's error code, if it gave one.
    pub code: Option<String>,
    /// What happened.
    pub reason: String,
    /// What the person can do.
    pub advice: String,
    /// The credentials that arrived before the failure.
    pub credentials: Vec<ReceivedCredential>,
}

/// The credentials to request, and the issuer to request them from.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct CredentialPlan {
    /// The credential issuer's identifier.
    pub issuer: String,
    /// Its credential endpoint.
    pub credential_endpoint: Url,
    /// Its nonce endpoint, if it has one.
    pub nonce_endpoint: Option<Url>,
    /// The credentials to request.
    pub asks: Vec<Ask>,
}

/// A credential configuration to request.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Ask {
    /// The configuration's identifier.
    pub configuration_id: String,
    /// Its format.
    pub format: Format,
    /// The types that its credentials must have: a `vct`, or W3C types.
    pub types: Vec<String>,
    /// The DID that the issuer's metadata names as the signer, if the credentials do not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The keys to bind to; empty for credentials without holder binding.
    pub bindings: Vec<Binding>,
}

/// A key of the person to bind a credential to.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Binding {
    /// The key's handle in the key store.
    pub key: KeyHandle,
    /// The signature algorithm.
    pub algorithm: Algorithm,
    /// The public key.
    pub jwk: Jwk,
    /// The DID URL of the key, if it is to be named by one.
    pub kid: Option<String>,
}

/// The progress of the credential requests.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RequestsProgress {
    /// The credentials still to request; the first ask is the current one.
    pub plan: CredentialPlan,
    /// The access token.
    #[serde(with = "secret")]
    pub token: SecretString,
    /// How the credential request names each ask, in the same order.
    pub wanted: Vec<WantedCredential>,
    /// How many nonces were fetched for the current ask.
    pub nonces: u32,
    /// The credentials received so far.
    pub credentials: Vec<ReceivedCredential>,
}

/// A credential that arrived.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ReceivedCredential {
    /// The configuration's identifier.
    pub configuration_id: String,
    /// Its format.
    pub format: Format,
    /// The credential as sent by the issuer.
    pub raw: String,
    /// The key it is bound to.
    pub key: Option<KeyHandle>,
    /// The DID URL of that key, if the credential is bound to a DID.
    pub kid: Option<String>,
    /// The DID that the issuer's metadata names as the signer, if the credential does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
}

impl ReceivingState {
    /// The answer to the call that this state waits for, as the next input.
    pub const fn answered<'a>(&self, answer: HttpAnswer<'a>) -> Input<'a> {
        match self {
            Self::Proving(_) => Input::Nonce(answer),
            Self::Requesting(_) => Input::Credential(answer),
            Self::Redeeming(_) | Self::Received(_) | Self::Failed(_) => Input::Token(answer),
        }
    }

    /// The URL to fetch a nonce from before the code is redeemed. A nonce is not bound to a token (OpenID4VCI 1.0 §7),
    /// so with one fetched in advance the credential request can follow the token response at once.
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

    /// Takes the nonce endpoint's answer before the code is redeemed. An unusable answer is ignored: the wallet then
    /// fetches a nonce after it has the token.
    pub fn take_nonce(&mut self, answer: HttpAnswer<'_>) {
        if let Self::Redeeming(redeeming) = self {
            redeeming.nonce = nonce::read(answer).ok();
        }
    }
}

/// An input of [`step`].
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// The token endpoint's answer.
    Token(HttpAnswer<'a>),
    /// The nonce endpoint's answer.
    Nonce(HttpAnswer<'a>),
    /// The credential endpoint's answer.
    Credential(HttpAnswer<'a>),
    /// The issuer did not answer, for this reason.
    Unreachable(&'a str),
}

/// An HTTP answer.
#[derive(Clone, Copy, Debug)]
pub struct HttpAnswer<'a> {
    /// The status code.
    pub status: u16,
    /// The content type.
    pub content_type: Option<&'a str>,
    /// The body.
    pub body: &'a [u8],
}

/// A call to the issuer, to be stored together with the new state.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum WalletCall {
    /// Post the form to the token endpoint; only once, since the code is for a single use.
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
    /// Post the request to the credential endpoint; only once, since its nonce is for a single use.
    RequestCredential {
        /// The credential endpoint.
        url: Url,
        /// The bearer token.
        #[serde(with = "secret")]
        token: SecretString,
        /// The JSON body.
        body: String,
    },
}

/// What a step gives.
#[derive(Clone, Debug)]
pub struct WalletNext {
    /// The new state.
    pub state: ReceivingState,
    /// The next call.
    pub call: Option<WalletCall>,
    /// The credentials received, to be kept.
    pub received: Vec<ReceivedCredential>,
}

impl WalletNext {
    /// A state that waits for the answer to this call.
    fn calling(state: ReceivingState, call: WalletCall) -> Self {
        Self {
            state,
            call: Some(call),
            received: Vec::new(),
        }
    }

    /// A last state.
    fn ended(state: ReceivingState, received: Vec<ReceivedCredential>) -> Self {
        Self {
            state,
            call: None,
            received,
        }
    }
}

/// Takes one step. If the issuer breaks the rules, the result is [`ReceivingState::Failed`]; an error means that the input does
/// not fit the state, or that this wallet has a fault.
pub fn step(
    state: &ReceivingState,
    input: &Input<'_>,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<WalletNext>, Error> {
    let next = match (state, input) {
        (ReceivingState::Redeeming(redeeming), Input::Token(answer)) => {
            token::redeemed(redeeming, *answer, evidence, ctx)
        }
        (ReceivingState::Proving(proving), Input::Nonce(answer)) => {
            nonce::fetched(proving, *answer, evidence, ctx)
        }
        (ReceivingState::Requesting(requesting), Input::Credential(answer)) => {
            credential::answered(requesting, *answer, evidence, ctx)
        }
        (
            ReceivingState::Redeeming(_)
            | ReceivingState::Proving(_)
            | ReceivingState::Requesting(_),
            Input::Unreachable(reason),
        ) => Err(Error::counterpart(
            format!("the issuer cannot be reached: {reason}"),
            "Try again later; if the offer works only once, ask the issuer for a new one.",
        )),
        (ReceivingState::Received(_) | ReceivingState::Failed(_), _) => {
            return Err(Error::State("this receipt has ended"));
        }
        _ => return Err(Error::State("the answer is not the expected one")),
    };
    match next {
        Err(Error::Counterpart { reason, advice }) => {
            Ok(Step::Done(failed(state, None, reason, advice)))
        }
        other => other,
    }
}

/// Requests the next credential. If the issuer has a nonce endpoint and the credential requires proofs, fetches a nonce
/// first.
fn ask(
    progress: RequestsProgress,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<WalletNext>, Error> {
    let Some(current) = progress.plan.asks.first() else {
        let RequestsProgress {
            plan, credentials, ..
        } = progress;
        let received = Received {
            issuer: plan.issuer,
            credentials: credentials.clone(),
        };
        let state = ReceivingState::Received(received);
        return Ok(Step::Done(WalletNext::ended(state, credentials)));
    };
    match &progress.plan.nonce_endpoint {
        Some(url) if !current.bindings.is_empty() => {
            let call = WalletCall::FetchNonce { url: url.clone() };
            let state = ReceivingState::Proving(Proving { progress });
            Ok(Step::Done(WalletNext::calling(state, call)))
        }
        _ => proof::request(progress, None, evidence, ctx),
    }
}

fn failed(
    state: &ReceivingState,
    code: Option<String>,
    reason: String,
    advice: &str,
) -> WalletNext {
    let credentials = match state {
        ReceivingState::Proving(Proving { progress })
        | ReceivingState::Requesting(Requesting { progress }) => progress.credentials.clone(),
        ReceivingState::Redeeming(_) | ReceivingState::Received(_) | ReceivingState::Failed(_) => {
            Vec::new()
        }
    };
    let failed = Failed {
        code,
        reason,
        advice: advice.to_owned(),
        credentials: credentials.clone(),
    };
    // Credentials that arrived before belong to the person, even if the rest failed.
    WalletNext::ended(ReceivingState::Failed(failed), credentials)
}
