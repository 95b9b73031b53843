//! The verifier's shapes: requests, their state, verdicts.

use std::borrow::Cow;
use std::time::Duration;

use selfsame_credential::verdict::{Outcome, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// What to ask.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRequest {
    /// A DCQL query; or else `template`.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub dcql_query: Option<Value>,
    /// A template's id, to ask for a credential of its kind.
    #[serde(default)]
    pub template: Option<String>,
    /// The format to ask for with `template`; `dc+sd-jwt` unless told.
    #[serde(default)]
    pub format: Option<String>,
    /// The claims to ask with `template`; its typical ones unless told.
    #[serde(default)]
    pub claims: Option<Vec<Vec<String>>>,
    /// `redirect_uri`, `decentralized_identifier` or `x509_san_dns`; the configured one unless told.
    #[serde(default)]
    pub client_id_prefix: Option<String>,
    /// How wallets fetch the signed request: `get`, unless told, or `post`, with which they may send a nonce of their
    /// own.
    #[serde(default)]
    pub request_uri_method: Option<String>,
    /// Whether the wallet is on the device of the browser that asks; the answer then comes back to it.
    #[serde(default)]
    pub same_device: bool,
    /// What for; stands in the list of requests.
    #[serde(default)]
    pub purpose: Option<String>,
    /// How old, in seconds, a status list may be for this request; what is configured unless told. 0 asks the
    /// issuer each time.
    #[serde(default)]
    pub max_status_age: Option<u64>,
    /// Whether a credential for one use is used up once it was judged valid; nobody can use it again. With `template`
    /// its handle is asked for; a `dcql_query` must ask for `single_use_handle` of one credential.
    #[serde(default)]
    pub spend: bool,
    /// Who uses it up: a `did:selfsame` of this instance; the verifier's own unless told. If it is not the issuer's,
    /// the issuer must have delegated to it.
    #[serde(default)]
    pub spender: Option<String>,
}

/// A request that was made.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct VerificationRequest {
    /// Its id.
    pub id: String,
    /// The link a wallet takes: `openid4vp://…`.
    pub uri: String,
    /// Until when it can be answered, RFC 3339.
    pub expires: String,
    /// The secret that binds a same-device answer to this browser; only in the answer that made it.
    pub browser_binding: Option<String>,
}

/// Where a request stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestState {
    /// Nobody has fetched it.
    Created,
    /// A wallet has fetched it.
    Fetched,
    /// What was shown is being used up; only then is there a verdict.
    Spending,
    /// It was answered; there is a verdict.
    Answered,
    /// The person declined, or the wallet could not.
    Declined,
    /// Its time is over.
    Expired,
}

/// A request with its verdict.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct VerificationStatus {
    /// Its id.
    pub id: String,
    /// Where it stands.
    pub state: RequestState,
    /// The link a wallet takes.
    pub uri: String,
    /// What was asked, in words.
    pub title: String,
    /// When it was made, RFC 3339.
    pub created: String,
    /// What came of it.
    pub verdict: Option<PresentationVerdict>,
    /// The wallet's error code, if it declined.
    pub error: Option<String>,
    /// The answers that were refused while it stays open: nothing in them is by an issuer who is trusted, or they are
    /// not what was asked.
    #[serde(default)]
    pub refused: Option<RefusedAnswers>,
    /// What became of using it up, or of revoking it.
    #[serde(default)]
    pub spending: Option<SpendingStatus>,
    /// For how long from now it can still be answered, while nobody has.
    #[serde(skip)]
    pub open_for: Option<Duration>,
}

/// Answers that were refused while the request stays open for another.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct RefusedAnswers {
    /// How many there were; after a few the last one counts.
    pub count: u32,
    /// What was made of the last one, without its claims.
    pub last: PresentationVerdict,
}

/// Using up what was shown, or revoking it in its issuer's name.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct SpendingStatus {
    /// `consume` or `revoke`.
    pub action: String,
    /// How far it has come.
    pub state: SpendingState,
    /// The DID that does it.
    pub by: String,
    /// When the registry took it, RFC 3339.
    pub at: Option<String>,
    /// The number of its transaction.
    pub seq_no: Option<u64>,
    /// Why it was refused.
    pub reason: Option<String>,
}

/// How far a use or a revocation has come.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpendingState {
    /// The registry has not answered yet; it will be asked again.
    Pending,
    /// It is done.
    Done,
    /// It will never be done: somebody was first, or may not.
    Refused,
}

impl SpendingState {
    /// Its name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Done => "done",
            Self::Refused => "refused",
        }
    }
}

impl RequestState {
    /// Whether nothing more is to come by itself.
    #[must_use]
    pub const fn is_over(self) -> bool {
        !matches!(self, Self::Created | Self::Fetched | Self::Spending)
    }
}

/// The verdict on a whole response.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct PresentationVerdict {
    /// `valid`, or the worst of the parts: `revoked`, `spent`, `suspended`, `expired`, `not_yet_valid`,
    /// `untrusted`, `unverifiable`, `invalid`.
    #[schema(value_type = String)]
    pub outcome: Outcome,
    /// Why, where it is not that every rule holds.
    pub reason: Option<String>,
    /// Each presentation.
    pub credentials: Vec<CredentialVerdict>,
}

/// The verdict on one presentation.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct CredentialVerdict {
    /// The query it answers; empty for a credential judged by itself.
    pub query: String,
    /// The conclusion.
    #[schema(value_type = String)]
    pub outcome: Outcome,
    /// Each rule and its result.
    pub rules: Vec<RuleLine>,
    /// When its status was true, RFC 3339.
    pub status_as_of: Option<String>,
    /// What was shown, if the verdict allows to believe it.
    #[schema(value_type = Option<Object>)]
    pub claims: Option<Value>,
}

/// One rule of a verdict.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct RuleLine {
    /// The rule's name.
    #[schema(value_type = String)]
    pub name: Cow<'static, str>,
    /// Whether it holds; absent where it does not apply or could not be judged.
    pub passed: Option<bool>,
    /// What was seen, without any claim's value.
    pub detail: String,
    /// The specification's paragraph.
    #[schema(value_type = String)]
    pub paragraph: Cow<'static, str>,
}

impl CredentialVerdict {
    /// The verdict of the model in this shape.
    #[must_use]
    pub fn new(query: &str, verdict: &Verdict, claims: Option<Value>) -> Self {
        Self {
            query: query.to_owned(),
            outcome: verdict.outcome,
            rules: verdict
                .rules
                .iter()
                .map(|rule| RuleLine {
                    name: rule.name.clone(),
                    passed: rule.passed,
                    detail: rule.detail.clone(),
                    paragraph: rule.paragraph.clone(),
                })
                .collect(),
            status_as_of: verdict.as_of.map(|at| at.rfc3339()),
            claims,
        }
    }
}
