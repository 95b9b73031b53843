//! The wallet's side of OpenID4VCI: from an offer to the stored credentials.
//!
//! Reading the offer and the metadata of the issuer and its server, before the person consents, is done by plain
//! functions over fetched documents. After that a state machine takes over: [`begin`] creates the first state, [`step`]
//! all others. A step gives the next state, the next call to the issuer, and the credentials received; all of it is stored
//! at once.

pub mod credential;
pub mod deferred;
pub mod metadata;
mod nonce;
mod proof;
pub mod token;

pub use selfsame_openid4vc_messages::http_answer::HttpAnswer;
pub use selfsame_openid4vc_messages::{offer_link as offer, planned_encryption as encryption};

use selfsame_credential::{
    Format,
    evidence::{Evidence, Step},
};
use selfsame_crypto::{Algorithm, Jwk, KeyHandle, SecretString, ctx::Ctx};
use selfsame_oauth::secret;
use serde::{Deserialize, Serialize};
use url::Url;

use self::deferred::Deferred;
use self::encryption::PlannedEncryption;
pub use self::token::{Accept, begin, kinds_of_keys};
use crate::{
    error::Error,
    wire::{credential::WantedCredential, encryption::EncryptionKey},
};

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
    /// The issuer prepares a credential.
    #[serde(rename = "deferred/1")]
    Deferred(Deferred),
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
    /// Whether a proof of possession was sent with it.
    #[serde(default)]
    pub with_proof: bool,
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
    /// Its deferred credential endpoint, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred_endpoint: Option<Url>,
    /// Its notification endpoint, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notification_endpoint: Option<Url>,
    /// How requests and responses are encrypted; `None` if they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encryption: Option<Box<PlannedEncryption>>,
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
    /// The attestation of these keys. Who begins adds it if the issuer requires one (OpenID4VCI 1.0 Appendix D).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_attestation: Option<String>,
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
    /// Whether the token is bound to the key that was proven with the code (RFC 9449 §7).
    #[serde(default)]
    pub is_bound: bool,
    /// How the credential request names each ask, in the same order.
    pub wanted: Vec<WantedCredential>,
    /// How many nonces were fetched for the current ask.
    pub nonces: u32,
    /// The key that the response to the current request is encrypted to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_key: Option<Box<EncryptionKey>>,
    /// The credentials received so far.
    pub credentials: Vec<ReceivedCredential>,
    /// The names of the responses received so far, for notifications.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<NamedResponse>,
}

/// A credential response that the issuer wants to hear of (OpenID4VCI 1.0 §11).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct NamedResponse {
    /// The issuer's name for it.
    pub notification_id: String,
    /// The configuration of its credentials.
    pub configuration_id: String,
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
            Self::Requesting(_) | Self::Deferred(_) => Input::Credential(answer),
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

    /// The progress of the credential requests, while there is any.
    pub const fn progress(&self) -> Option<&RequestsProgress> {
        match self {
            Self::Proving(Proving { progress })
            | Self::Requesting(Requesting { progress })
            | Self::Deferred(Deferred { progress, .. }) => Some(progress),
            Self::Redeeming(_) | Self::Received(_) | Self::Failed(_) => None,
        }
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
        /// The access token.
        #[serde(with = "secret")]
        token: SecretString,
        /// Whether a proof of possession goes with the token.
        #[serde(default)]
        is_bound: bool,
        /// The body: JSON, or a JWE.
        body: String,
        /// Whether the body is a JWE (`application/jwt`).
        #[serde(default)]
        encrypted: bool,
    },
    /// Post to the deferred credential endpoint, to see whether the credential is ready; may be repeated.
    RequestDeferred {
        /// The deferred credential endpoint.
        url: Url,
        /// The access token.
        #[serde(with = "secret")]
        token: SecretString,
        /// Whether a proof of possession goes with the token.
        is_bound: bool,
        /// The body: JSON, or a JWE.
        body: String,
        /// Whether the body is a JWE.
        encrypted: bool,
        /// Seconds to wait before.
        after: u32,
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
    /// The responses that the issuer wants to hear of.
    pub named: Vec<NamedResponse>,
}

impl WalletNext {
    /// A state that waits for the answer to this call.
    fn calling(state: ReceivingState, call: WalletCall) -> Self {
        Self {
            state,
            call: Some(call),
            received: Vec::new(),
            named: Vec::new(),
        }
    }

    /// A last state.
    fn ended(
        state: ReceivingState,
        received: Vec<ReceivedCredential>,
        named: Vec<NamedResponse>,
    ) -> Self {
        Self {
            state,
            call: None,
            received,
            named,
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
        (ReceivingState::Requesting(requesting), Input::Credential(answer))
            if answer.status == deferred::ACCEPTED =>
        {
            deferred::begun(requesting.progress.clone(), *answer, ctx)
        }
        (ReceivingState::Requesting(requesting), Input::Credential(answer)) => {
            credential::answered(requesting, *answer, evidence, ctx)
        }
        (ReceivingState::Deferred(waiting), Input::Credential(answer)) => {
            deferred::looked(waiting, *answer, evidence, ctx)
        }
        (ReceivingState::Deferred(waiting), Input::Unreachable(_)) => {
            deferred::unreachable(waiting, ctx)
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
            plan,
            credentials,
            named,
            ..
        } = progress;
        let received = Received {
            issuer: plan.issuer,
            credentials: credentials.clone(),
        };
        let state = ReceivingState::Received(received);
        return Ok(Step::Done(WalletNext::ended(state, credentials, named)));
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
    let progress = state.progress();
    let credentials = progress.map(|progress| progress.credentials.clone());
    let credentials = credentials.unwrap_or_default();
    let named = progress.map(|progress| progress.named.clone());
    let failed = Failed {
        code,
        reason,
        advice: advice.to_owned(),
        credentials: credentials.clone(),
    };
    // Credentials that arrived before belong to the person, even if the rest failed.
    let state = ReceivingState::Failed(failed);
    WalletNext::ended(state, credentials, named.unwrap_or_default())
}
