//! The wallet's side of OpenID4VP: a request is opened, shown to the person, answered or declined.
//!
//! [`request`] reads and authenticates what was scanned; [`selection`] finds what fits; [`technical`] says
//! what of it need not be shown; [`step`] is the machine from the person's decision on.

mod client;
pub mod request;
pub mod response;
pub mod selection;
pub mod technical;

use selfsame_credential::{
    ClaimPath, Held,
    evidence::{Evidence, Step},
};
use selfsame_crypto::{Algorithm, KeyHandle, ctx::Ctx};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::{error::Error, wire::request::Request};

/// What a request has come to, as a record that outlives its process.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum State {
    /// It is authentic and waits for the person.
    #[serde(rename = "asked/1")]
    Asked(Asked),
    /// The presentations are on their way.
    #[serde(rename = "answering/1")]
    Answering(Answering),
    /// The refusal is on its way.
    #[serde(rename = "declining/1")]
    Declining(Declining),
    /// The verifier has the answer.
    #[serde(rename = "done/1")]
    Done(Done),
    /// The answer did not arrive.
    #[serde(rename = "failed/1")]
    Failed(Failed),
}

/// A request that waits for the person.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Asked {
    /// The request.
    pub request: Request,
    /// Who asks.
    pub verifier: Verifier,
    /// The audience that the request object names, where it is not that of the specification (OpenID4VP 1.0 §5.8).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
}

/// Whom a request object is for, where it does not say that it is for a wallet.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Audience {
    /// By an identifier of the verifier's own, the verifier.
    Verifier(String),
    /// It does not say.
    Unsaid {},
}

/// Who asks, as far as it was proven.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Verifier {
    /// The client identifier's prefix.
    pub prefix: String,
    /// The DID, the DNS name, or the host the answer goes to.
    pub name: String,
    /// Whether a signature proves that name; if not, anyone could have asked.
    pub authenticated: bool,
}

/// Presentations are on their way.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Answering {
    /// Who asked.
    pub verifier: Verifier,
    /// For which credential queries.
    pub query_ids: Vec<String>,
}

/// A refusal is on its way.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Declining {
    /// Who asked.
    pub verifier: Verifier,
}

/// The verifier has the answer.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Done {
    /// Who asked.
    pub verifier: Verifier,
    /// Whether something was presented.
    pub presented: bool,
    /// Where the person's browser goes next.
    pub redirect_uri: Option<Url>,
}

/// The answer did not arrive.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Failed {
    /// Who asked.
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
    /// What is revealed of an SD-JWT VC.
    pub reveal: &'a [ClaimPath],
    /// The key it is bound to; may be absent where no holder binding is asked for.
    pub key: Option<&'a HolderKey>,
}

/// A key of the person's that a credential is bound to.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct HolderKey {
    /// Its name in the key store.
    pub key: KeyHandle,
    /// How it signs.
    pub algorithm: Algorithm,
    /// The DID URL it is known by; W3C presentations need it.
    pub kid: Option<String>,
}

/// What comes in.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// The person presents these.
    Present(&'a [Choice<'a>]),
    /// The person declines, or has nothing that fits.
    Decline,
    /// The verifier has answered.
    Delivered {
        /// The status code.
        status: u16,
        /// The body.
        body: &'a [u8],
    },
    /// The verifier cannot be reached.
    Unreachable(&'a str),
}

/// What is to be done, together with storing the state or not at all.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Effect {
    /// Post the form to the verifier, without following redirects (OpenID4VP 1.0 with errata); once, since the verifier
    /// takes one answer.
    PostResponse {
        /// The response URI.
        url: Url,
        /// The form's parameters.
        form: Vec<(String, String)>,
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
        (State::Asked(asked), Input::Present(choices)) => {
            response::present(asked, choices, evidence, ctx)
        }
        (State::Asked(asked), Input::Decline) => response::decline(asked, ctx).map(Step::Done),
        (State::Answering(Answering { verifier, .. }), Input::Delivered { status, body }) => Ok(
            Step::Done(response::delivered(verifier, true, (status, body))),
        ),
        (State::Declining(Declining { verifier }), Input::Delivered { status, body }) => Ok(
            Step::Done(response::delivered(verifier, false, (status, body))),
        ),
        (
            State::Answering(Answering { verifier, .. }) | State::Declining(Declining { verifier }),
            Input::Unreachable(reason),
        ) => Ok(Step::Done(response::unreachable(verifier, reason))),
        _ => Err(Error::State(
            "the input does not fit what this request has come to",
        )),
    }
}
