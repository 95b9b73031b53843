//! The verifier's side of OpenID4VP: creates a request, serves it to the wallet, and verifies the answer.

pub mod request;
pub mod response;

use selfsame_credential::{
    Format,
    evidence::{Evidence, Step},
    signer::Signer,
    verdict::{Outcome, Policy, Verdict},
};
use selfsame_crypto::{SecretString, ctx::Ctx, time::UnixTime};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use response::CameBack;

use crate::{
    dcql::DcqlQuery,
    error::Error,
    wire::{
        client_metadata::ClientMetadata,
        encryption::EncryptionKey,
        request::RequestUriMethod,
        response::{AuthorizationResponse, PostedResponse, Receipt, VpToken},
        transaction::AskedTransaction,
    },
};

/// The state of a request, stored as a record so that it survives a restart.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum VerificationState {
    /// The request was created.
    #[serde(rename = "created/1")]
    Created(Created),
    /// A wallet has fetched the request.
    #[serde(rename = "fetched/1")]
    Fetched(Fetched),
    /// A wallet has answered, and the answer was verified.
    #[serde(rename = "answered/1")]
    Answered(Box<AnsweredRequest>),
    /// A wallet has declined.
    #[serde(rename = "declined/1")]
    Declined(Declined),
}

/// A request that was created.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Created {
    /// The request.
    pub asked: Asked,
}

/// A request that a wallet has fetched, or that has received only answers that do not count.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Fetched {
    /// The request.
    pub asked: Asked,
    /// The answers that were refused: they do not match the request, or contain nothing by a trusted issuer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Box<RefusedAnswers>>,
}

/// Answers that were refused while the request stays open.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct RefusedAnswers {
    /// How many answers were refused.
    pub count: u32,
    /// The result for the last one.
    pub last: Judged,
}

/// A request that was answered.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct AnsweredRequest {
    /// The request.
    pub asked: Asked,
    /// The presentations.
    pub vp_token: VpToken,
    /// The time of the answer.
    pub at: UnixTime,
    /// The result.
    pub judged: Judged,
    /// SHA-256 of the response code that the person's browser returns with.
    pub response_code: Option<[u8; 32]>,
}

/// A request that was declined.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Declined {
    /// The request.
    pub asked: Asked,
    /// The wallet's error code.
    pub error: String,
    /// The time of the answer.
    pub at: UnixTime,
    /// SHA-256 of the response code that the person's browser returns with.
    pub response_code: Option<[u8; 32]>,
}

/// A presentation request and the data to check its answer against.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Asked {
    /// The client identifier with its prefix.
    pub client_id: String,
    /// The URL that the wallet posts its answer to.
    pub response_uri: Url,
    /// The URL that the wallet fetches the request object from; `None` if the request is in the link.
    pub request_uri: Option<Url>,
    /// The HTTP method that the wallet fetches it with.
    pub request_uri_method: RequestUriMethod,
    /// The URL that the person's browser opens after the answer, in the same-device flow.
    pub redirect_uri: Option<Url>,
    /// The nonce that binds presentations to this request.
    pub nonce: String,
    /// The value that the answer must repeat.
    pub state: String,
    /// The DCQL query.
    pub query: DcqlQuery,
    /// The formats and algorithms that this verifier can check.
    pub metadata: ClientMetadata,
    /// Why it asks, for the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// What the person is to agree to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transaction_data: Vec<AskedTransaction>,
    /// The key that the answer must be encrypted to, until the request is answered (OpenID4VP 1.0 §8.3). It is of this
    /// request alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encryption: Option<Box<EncryptionKey>>,
    /// The time at which the request expires.
    pub expires: UnixTime,
}

impl Asked {
    /// The request once it is answered: its key is not needed any more, and is not kept.
    fn closed(&self) -> Self {
        Self {
            encryption: None,
            ..self.clone()
        }
    }
}

/// The result of verifying an answer.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Judged {
    /// The overall result.
    pub outcome: Outcome,
    /// The reason, unless the outcome is valid; contains no claim values.
    pub reason: Option<String>,
    /// The result for each presentation.
    pub credentials: Vec<JudgedCredential>,
}

/// The result of verifying one presentation.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct JudgedCredential {
    /// The credential query it answers.
    pub query_id: String,
    /// Its format.
    pub format: Format,
    /// The verdict at the time it was made.
    pub verdict: Verdict,
    /// The claims it discloses; `None` if it is not genuine or does not match its query.
    pub claims: Option<Value>,
}

/// An input of [`step`].
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// A wallet fetches the request object.
    Fetch {
        /// The verifier's key.
        signer: &'a Signer,
        /// The wallet's nonce, if it posted one.
        wallet_nonce: Option<&'a str>,
    },
    /// A wallet answers.
    Response {
        /// The answer.
        response: &'a AuthorizationResponse,
        /// The verifier's policy for credentials.
        policy: &'a Policy,
    },
    /// A browser brings a wallet's answer back to a page of the verifier (Appendix A.4).
    Returned {
        /// The answer.
        response: &'a AuthorizationResponse,
        /// The origin of that page.
        origin: &'a str,
        /// The verifier's policy for credentials.
        policy: &'a Policy,
    },
    /// Verify the stored answer again, with current evidence.
    Recheck {
        /// The verifier's policy for credentials.
        policy: &'a Policy,
    },
}

/// The reply to a wallet, sent once the new state is stored.
#[derive(Clone, Debug)]
pub enum Reply {
    /// The request object.
    RequestObject(String),
    /// The receipt of the wallet's response.
    Receipt(Receipt),
    /// The refusal of a response that does not count, and its result for the log.
    Refusal {
        /// The error sent to the wallet.
        error: Error,
        /// The result to log.
        judged: Box<Judged>,
    },
}

/// What a step gives.
#[derive(Clone, Debug)]
pub struct VerifierNext {
    /// The new state.
    pub state: VerificationState,
    /// The reply to the wallet; none if no wallet asks.
    pub reply: Option<Reply>,
}

impl VerifierNext {
    fn replying(state: VerificationState, reply: Reply) -> Self {
        let reply = Some(reply);
        Self { state, reply }
    }
}

/// Takes one step. On an error the state stays as it is.
pub fn step(
    state: &VerificationState,
    input: Input<'_>,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<VerifierNext>, Error> {
    match (state, input) {
        (
            VerificationState::Created(_) | VerificationState::Fetched(_),
            Input::Fetch {
                signer,
                wallet_nonce,
            },
        ) => request::object(&open(state), signer, wallet_nonce, evidence, ctx),
        (VerificationState::Created(Created { asked }), Input::Response { .. })
            if asked.request_uri.is_some() =>
        {
            Err(Error::invalid_request(
                "the request has not been fetched yet",
            ))
        }
        (
            VerificationState::Created(_) | VerificationState::Fetched(_),
            Input::Response { response, policy }
            | Input::Returned {
                response, policy, ..
            },
        ) => {
            let origin = match input {
                Input::Returned { origin, .. } => Some(origin),
                _ => None,
            };
            let came = CameBack { response, origin };
            response::take(&open(state), came, policy, evidence, ctx)
        }
        (VerificationState::Answered(answered), Input::Recheck { policy }) => {
            response::recheck(answered, policy, evidence, ctx)
        }
        (VerificationState::Answered(_) | VerificationState::Declined(_), Input::Fetch { .. }) => {
            Err(Error::Expired("the request has been answered"))
        }
        (
            VerificationState::Answered(_) | VerificationState::Declined(_),
            Input::Response { .. } | Input::Returned { .. },
        ) => Err(Error::invalid_request("the request has been answered")),
        (_, Input::Recheck { .. }) => Err(Error::State("there is no answer to verify again")),
    }
}

/// The state of an open request once a wallet has it.
fn open(state: &VerificationState) -> Fetched {
    let refused = match state {
        VerificationState::Fetched(fetched) => fetched.refused.clone(),
        _ => None,
    };
    Fetched {
        asked: state.asked().clone(),
        refused,
    }
}

impl VerificationState {
    /// The request.
    pub fn asked(&self) -> &Asked {
        match self {
            Self::Created(Created { asked })
            | Self::Fetched(Fetched { asked, .. })
            | Self::Declined(Declined { asked, .. }) => asked,
            Self::Answered(answered) => &answered.asked,
        }
    }

    /// What a wallet posted as the answer to this request, decrypted if the request asks for that.
    ///
    /// # Errors
    /// `invalid_request` if the request is answered, or if it was not posted as the request asks.
    pub fn opened(&self, posted: &PostedResponse) -> Result<AuthorizationResponse, Error> {
        match self {
            Self::Created(Created { asked }) | Self::Fetched(Fetched { asked, .. }) => {
                posted.opened(asked.encryption.as_deref())
            }
            Self::Answered(_) | Self::Declined(_) => {
                Err(Error::invalid_request("the request has been answered"))
            }
        }
    }

    /// Whether this is the response code, which was given only to the browser next to the wallet (OpenID4VP 1.0 §14.2).
    pub fn is_response_code(&self, code: &SecretString) -> bool {
        let hash = match self {
            Self::Answered(answered) => answered.response_code,
            Self::Declined(declined) => declined.response_code,
            Self::Created(_) | Self::Fetched(_) => None,
        };
        hash.is_some_and(|hash| {
            let given = selfsame_crypto::hash::sha256(code.expose().as_bytes());
            selfsame_crypto::hash::ct_eq(&hash, &given)
        })
    }
}
