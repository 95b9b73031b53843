//! The verifier's side of OpenID4VP: a request is made, fetched, answered and judged.

pub mod request;
pub mod response;

use selfsame_credential::{
    Format,
    dcql::Query,
    evidence::{Evidence, Step},
    signer::Signer,
    verdict::{Outcome, Policy, Verdict},
};
use selfsame_crypto::{SecretString, ctx::Ctx, time::UnixTime};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use crate::{
    error::Error,
    wire::{
        request::{ClientMetadata, RequestUriMethod},
        response::{AuthorizationResponse, Receipt, VpToken},
    },
};

/// What a request has come to, as a record that outlives its process.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum State {
    /// It was made.
    #[serde(rename = "created/1")]
    Created(Created),
    /// A wallet has fetched it.
    #[serde(rename = "fetched/1")]
    Fetched(Fetched),
    /// A wallet has answered, and the answer was judged.
    #[serde(rename = "answered/1")]
    Answered(Box<Answered>),
    /// A wallet has said no.
    #[serde(rename = "declined/1")]
    Declined(Declined),
}

/// A request that was made.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Created {
    /// What is asked.
    pub asked: Asked,
}

/// A request that a wallet has fetched, or that has answers which do not count.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Fetched {
    /// What is asked.
    pub asked: Asked,
    /// The answers that were refused: nothing in them is by an issuer who is trusted, or they are not what was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Box<RefusedAnswers>>,
}

/// Answers that were refused while the request stays open.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct RefusedAnswers {
    /// How many.
    pub count: u32,
    /// What was made of the last one.
    pub last: Judged,
}

/// A request that was answered.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Answered {
    /// What was asked.
    pub asked: Asked,
    /// What was presented.
    pub vp_token: VpToken,
    /// When.
    pub at: UnixTime,
    /// What is made of it.
    pub judged: Judged,
    /// SHA-256 of the response code the person's browser comes back with.
    pub response_code: Option<[u8; 32]>,
}

/// A request that was declined.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Declined {
    /// What was asked.
    pub asked: Asked,
    /// The wallet's error code.
    pub error: String,
    /// When.
    pub at: UnixTime,
    /// SHA-256 of the response code the person's browser comes back with.
    pub response_code: Option<[u8; 32]>,
}

/// What is asked, of whom and by whom.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Asked {
    /// The client identifier with its prefix.
    pub client_id: String,
    /// Where the wallet posts its answer.
    pub response_uri: Url,
    /// Where the wallet fetches the request object; none for requests that travel in the link.
    pub request_uri: Option<Url>,
    /// How it fetches it.
    pub request_uri_method: RequestUriMethod,
    /// Where the person's browser goes after the answer, in the same-device flow.
    pub redirect_uri: Option<Url>,
    /// What binds presentations to this request.
    pub nonce: String,
    /// What the answer repeats.
    pub state: String,
    /// What is asked for.
    pub query: Query,
    /// What this verifier can check.
    pub metadata: ClientMetadata,
    /// Until when.
    pub expires: UnixTime,
}

/// What is made of an answer.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Judged {
    /// The conclusion over all of it.
    pub outcome: Outcome,
    /// Why, where it is not that every rule holds; without claim values.
    pub reason: Option<String>,
    /// Each presentation.
    pub credentials: Vec<JudgedCredential>,
}

/// What is made of one presentation.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct JudgedCredential {
    /// The credential query it answers.
    pub query_id: String,
    /// Its format.
    pub format: Format,
    /// The verdict as it was when it was made.
    pub verdict: Verdict,
    /// What it discloses; none if it is not genuine.
    pub claims: Option<Value>,
}

/// What comes in.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// A wallet fetches the request object.
    Fetch {
        /// The verifier's key.
        signer: &'a Signer,
        /// The wallet's nonce, where it posted one.
        wallet_nonce: Option<&'a str>,
    },
    /// A wallet answers.
    Response {
        /// The answer.
        response: &'a AuthorizationResponse,
        /// What the verifier asks of credentials.
        policy: &'a Policy,
    },
    /// What was answered is judged again, by what is known now.
    Recheck {
        /// What the verifier asks of credentials.
        policy: &'a Policy,
    },
}

/// What is to be done, together with storing the state or not at all.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Answer with the request object.
    RequestObject(String),
    /// Answer the wallet's response.
    Receipt(Receipt),
    /// Refuse the wallet's response, which does not count, and tell the log what was made of it.
    Refuse {
        /// What the wallet is told.
        error: Error,
        /// What was made of it.
        judged: Box<Judged>,
    },
}

/// What a step comes to.
pub type Next = (State, Vec<Effect>);

/// Takes one step. An error leaves the state as it is.
pub fn step(
    state: &State,
    input: Input<'_>,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<Next>, Error> {
    match (state, input) {
        (
            State::Created(_) | State::Fetched(_),
            Input::Fetch {
                signer,
                wallet_nonce,
            },
        ) => request::object(&open(state), (signer, wallet_nonce), evidence, ctx),
        (State::Created(Created { asked }), Input::Response { .. })
            if asked.request_uri.is_some() =>
        {
            Err(Error::invalid_request(
                "the request has not been fetched yet",
            ))
        }
        (State::Created(_) | State::Fetched(_), Input::Response { response, policy }) => {
            response::take(&open(state), (response, policy), evidence, ctx)
        }
        (State::Answered(answered), Input::Recheck { policy }) => {
            response::recheck(answered, policy, evidence, ctx)
        }
        (State::Answered(_) | State::Declined(_), Input::Fetch { .. }) => {
            Err(Error::Expired("the request has been answered"))
        }
        (State::Answered(_) | State::Declined(_), Input::Response { .. }) => {
            Err(Error::invalid_request("the request has been answered"))
        }
        (_, Input::Recheck { .. }) => Err(Error::State("there is no answer to judge again")),
    }
}

/// An open request, as it is once a wallet has it.
fn open(state: &State) -> Fetched {
    let refused = match state {
        State::Fetched(fetched) => fetched.refused.clone(),
        _ => None,
    };
    Fetched {
        asked: state.asked().clone(),
        refused,
    }
}

impl State {
    /// What is or was asked.
    pub fn asked(&self) -> &Asked {
        match self {
            Self::Created(Created { asked })
            | Self::Fetched(Fetched { asked, .. })
            | Self::Declined(Declined { asked, .. }) => asked,
            Self::Answered(answered) => &answered.asked,
        }
    }

    /// Whether this is the response code that was given to the wallet's browser alone (OpenID4VP 1.0 §14.2).
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
