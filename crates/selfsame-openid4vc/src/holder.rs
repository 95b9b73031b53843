//! The wallet's side of OpenID4VP: opens a request, shows it to the person, and answers or declines it.
//!
//! [`request`] reads and authenticates the request behind a link; [`selection`] finds the credentials that match it;
//! [`step`] is the state machine from the person's decision on.

pub mod client;
pub mod request;
pub mod response;
pub mod selection;

use selfsame_credential::{
    ClaimPath, Held,
    evidence::{Evidence, Step},
};
use selfsame_crypto::{Algorithm, KeyHandle, ctx::Ctx};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use crate::{error::Error, wire::request::Request};

/// The state of a request, stored as a record so that it survives a restart.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum PresentationState {
    /// The request is authentic and waits for the person's decision.
    #[serde(rename = "asked/1")]
    Asked(Box<AwaitingConsent>),
    /// The presentations are being sent.
    #[serde(rename = "answering/1")]
    Answering(Answering),
    /// The refusal is being sent.
    #[serde(rename = "declining/1")]
    Declining(Declining),
    /// The verifier has accepted the answer.
    #[serde(rename = "done/1")]
    Done(Done),
    /// The answer could not be delivered, or the verifier did not accept it.
    #[serde(rename = "failed/1")]
    Failed(Failed),
}

/// A request that waits for the person's decision.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct AwaitingConsent {
    /// The request.
    pub request: Request,
    /// The verifier that sent the request.
    pub verifier: Verifier,
    /// The audience of the request object, if it is not the one that the specification sets (OpenID4VP 1.0 §5.8).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
}

/// The audience of a request object that does not name wallets as its audience.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Audience {
    /// An identifier of the verifier itself.
    Verifier(String),
    /// The request object has no `aud`.
    Unsaid {},
}

/// The verifier's identity, as far as it was proven.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Verifier {
    /// The client identifier prefix.
    pub prefix: String,
    /// The DID, the DNS name, or the host that receives the answer.
    pub name: String,
    /// Whether a signature proves that name; without one, anyone could have sent the request.
    pub authenticated: bool,
}

/// Presentations that are being sent.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Answering {
    /// The verifier that sent the request.
    pub verifier: Verifier,
    /// The credential queries that the presentations answer.
    pub query_ids: Vec<String>,
}

/// A refusal that is being sent.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Declining {
    /// The verifier that sent the request.
    pub verifier: Verifier,
}

/// A request whose answer the verifier accepted.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Done {
    /// The verifier that sent the request.
    pub verifier: Verifier,
    /// Whether credentials were presented.
    pub presented: bool,
    /// The URL to open next in the person's browser.
    pub redirect_uri: Option<Url>,
}

/// A request whose answer could not be delivered, or was not accepted.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Failed {
    /// The verifier that sent the request.
    pub verifier: Verifier,
    /// What happened.
    pub reason: String,
    /// What the person can do.
    pub advice: String,
}

/// One credential that the person agreed to present.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    /// The credential query it answers.
    pub query_id: &'a str,
    /// The credential.
    pub held: &'a Held,
    /// The claims to disclose from an SD-JWT VC.
    pub reveal: &'a [ClaimPath],
    /// The key that the credential is bound to; may be absent if the query requires no holder binding.
    pub key: Option<&'a HolderKey>,
}

/// A key of the person that a credential is bound to.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct HolderKey {
    /// The key's handle in the key store.
    pub key: KeyHandle,
    /// The signature algorithm.
    pub algorithm: Algorithm,
    /// The DID URL of the key; required for W3C presentations.
    pub kid: Option<String>,
}

/// An input of [`step`].
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// The person presents these credentials.
    Present(&'a [Choice<'a>]),
    /// The person declines, or has no matching credential.
    Decline,
    /// The verifier has replied.
    Delivered {
        /// The HTTP status code.
        status: u16,
        /// The body.
        body: &'a [u8],
    },
    /// The verifier cannot be reached.
    Unreachable(&'a str),
}

/// The delivery of an answer: a form to post to the verifier, without following redirects (OpenID4VP 1.0 with errata). To
/// be stored together with the new state; the verifier accepts one answer.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Delivery {
    /// The response URI.
    pub url: Url,
    /// The form's parameters.
    pub form: Vec<(String, String)>,
}

/// What a step gives.
#[derive(Clone, Debug)]
pub struct HolderNext {
    /// The new state.
    pub state: PresentationState,
    /// The answer to deliver; none once it is delivered.
    pub delivery: Option<Delivery>,
    /// The answer to a page, as `data` for the browser.
    pub returned: Option<Value>,
}

impl HolderNext {
    fn delivering(state: PresentationState, delivery: Delivery) -> Self {
        Self {
            delivery: Some(delivery),
            ..Self::ended(state)
        }
    }

    fn returning(state: PresentationState, data: Value) -> Self {
        Self {
            returned: Some(data),
            ..Self::ended(state)
        }
    }

    fn ended(state: PresentationState) -> Self {
        Self {
            state,
            delivery: None,
            returned: None,
        }
    }
}

/// Takes one step. On an error the state stays as it is.
pub fn step(
    state: &PresentationState,
    input: Input<'_>,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<HolderNext>, Error> {
    match (state, input) {
        (PresentationState::Asked(asked), Input::Present(choices)) => {
            response::present(asked, choices, evidence, ctx)
        }
        (PresentationState::Asked(asked), Input::Decline) => {
            response::decline(asked, ctx).map(Step::Done)
        }
        (
            PresentationState::Answering(Answering { verifier, .. }),
            Input::Delivered { status, body },
        ) => Ok(Step::Done(response::delivered(
            verifier, true, status, body,
        ))),
        (
            PresentationState::Declining(Declining { verifier }),
            Input::Delivered { status, body },
        ) => Ok(Step::Done(response::delivered(
            verifier, false, status, body,
        ))),
        (
            PresentationState::Answering(Answering { verifier, .. })
            | PresentationState::Declining(Declining { verifier }),
            Input::Unreachable(reason),
        ) => Ok(Step::Done(response::unreachable(verifier, reason))),
        _ => Err(Error::State(
            "the input does not fit the state of this request",
        )),
    }
}
