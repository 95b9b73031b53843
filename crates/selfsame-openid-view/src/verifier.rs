//! The verifier's types: requests, their state, verdicts.

use std::borrow::Cow;
use std::time::Duration;

use selfsame_credential::verdict::{Outcome, Verdict};
use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Reason, Reasons};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::words::{ClientIdPrefix, DelegatedAction, FormatName, ResponseMode, VerdictOutcome};

/// A request to create.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRequest {
    /// A DCQL query; use either this or `type`.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub dcql_query: Option<Value>,
    /// The id of a type, to request a credential of it.
    #[serde(default)]
    #[serde(rename = "type")]
    pub type_id: Option<String>,
    /// The format to request with `type`; default `dc+sd-jwt`.
    #[serde(default)]
    #[schema(value_type = Option<FormatName>)]
    pub format: Option<String>,
    /// The claims to request with `type`; default: those of its typical request.
    #[serde(default)]
    pub claims: Option<Vec<Vec<String>>>,
    /// How the verifier identifies itself; default: the configured one.
    #[serde(default)]
    #[schema(value_type = Option<ClientIdPrefix>)]
    pub client_id_prefix: Option<String>,
    /// How wallets fetch the signed request: `get` (default), or `post`, which lets them send a nonce of their own.
    #[serde(default)]
    #[schema(value_type = Option<RequestUriMethod>)]
    pub request_uri_method: Option<String>,
    /// How wallets post their answers: `direct_post`, or encrypted, `direct_post.jwt`; default: the configured way.
    #[serde(default)]
    #[schema(value_type = Option<ResponseMode>)]
    pub response_mode: Option<String>,
    /// What the person is to agree to: objects with `type` and its members; `credential_ids` default to all queries.
    #[serde(default)]
    #[schema(value_type = Option<Vec<Object>>)]
    pub transaction_data: Option<Vec<Value>>,
    /// Whether the wallet is on the device of the browser that asks; the result then returns to that browser.
    #[serde(default)]
    pub same_device: bool,
    /// The purpose, shown to the person who is asked (one line, cut at 300 characters) and in the list of requests.
    #[serde(default)]
    pub purpose: Option<String>,
    /// Maximum age of a status list for this request, in seconds; default: the configured one. 0 asks the issuer each
    /// time.
    #[serde(default)]
    pub max_status_age: Option<u64>,
    /// Whether to use up a single-use credential once it is found valid, so that it can't be used again. With
    /// `type` its handle is requested too; a `dcql_query` must request `single_use_handle` of one credential.
    #[serde(default)]
    pub spend: bool,
    /// The DID that uses it up: a `did:selfsame` of this instance; default: the verifier's own. Unless it is the
    /// issuer's, the issuer must have delegated to it.
    #[serde(default)]
    pub spender: Option<String>,
}

/// A created request.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct VerificationRequest {
    /// Its id.
    pub id: String,
    /// The link for the wallet: `openid4vp://…`.
    pub uri: String,
    /// Until when it can be answered, RFC 3339.
    pub expires: String,
    /// The secret that binds a same-device answer to this browser; only in the response that created the request.
    pub browser_binding: Option<String>,
}

/// The state of a request.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestState {
    /// No wallet has fetched it yet.
    Created,
    /// A wallet has fetched it.
    Fetched,
    /// The credential shown is being used up; the verdict follows after that.
    Spending,
    /// It was answered and has a verdict.
    Answered,
    /// The person declined, or the wallet could not answer.
    Declined,
    /// It has expired.
    Expired,
}

/// A request with its verdict.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct VerificationStatus {
    /// Its id.
    pub id: String,
    /// Its state.
    pub state: RequestState,
    /// The link for the wallet.
    pub uri: String,
    /// A title for what is requested.
    pub title: String,
    /// The saved request that it was opened from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<String>,
    /// The text of the one who opened it. If a visitor opened it by its link, they can have chosen any text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// When it was created, RFC 3339.
    pub created: String,
    /// The verdict, once there is one.
    pub verdict: Option<PresentationVerdict>,
    /// The wallet's error code, if it declined.
    pub error: Option<String>,
    /// The answers that were refused while the request stays open: they contain nothing from a trusted issuer, or do
    /// not match the request.
    #[serde(default)]
    pub refused: Option<RefusedAnswers>,
    /// The use of the credential shown, or its revocation.
    #[serde(default)]
    pub spending: Option<SpendingStatus>,
    /// The time left to answer it, while it is unanswered.
    #[serde(skip)]
    pub open_for: Option<Duration>,
}

impl Reasons for VerificationStatus {
    fn reasons(&mut self) -> Vec<&mut Reason> {
        let refused = self.refused.as_mut().map(|refused| &mut refused.last);
        let verdicts = self.verdict.as_mut().into_iter().chain(refused);
        let reasons = verdicts.filter_map(|verdict| verdict.reason.as_mut());
        let spending = self.spending.as_mut();
        let spending = spending.and_then(|spending| spending.reason.as_mut());
        reasons.chain(spending).collect()
    }
}

/// Answers that were refused while the request stays open for another one.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct RefusedAnswers {
    /// Number of refused answers; after a few, the last one counts as the answer.
    pub count: u32,
    /// The verdict on the last one, without its claims.
    pub last: PresentationVerdict,
}

/// The use of a credential that was shown, or its revocation on the issuer's behalf.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct SpendingStatus {
    /// What is done.
    #[schema(value_type = DelegatedAction)]
    pub action: String,
    /// Its state.
    pub state: SpendingState,
    /// The DID that does it.
    pub by: String,
    /// When the registry accepted it, RFC 3339.
    pub at: Option<String>,
    /// The number of its transaction.
    pub seq_no: Option<u64>,
    /// Why the registry refused it.
    #[schema(value_type = Option<String>)]
    pub reason: Option<Reason>,
}

/// The state of a use or a revocation.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpendingState {
    /// The registry has not answered yet; it will be asked again.
    Pending,
    /// It is done.
    Done,
    /// It will never be done: another use came first, or it is not permitted.
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
    /// Whether the state changes no more by itself.
    #[must_use]
    pub const fn is_over(self) -> bool {
        !matches!(self, Self::Created | Self::Fetched | Self::Spending)
    }
}

/// The verdict on a whole response.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct PresentationVerdict {
    /// `valid`, or the worst outcome of the parts.
    #[schema(value_type = VerdictOutcome)]
    pub outcome: Outcome,
    /// The reason, if it is something else than a broken rule.
    #[schema(value_type = Option<String>)]
    pub reason: Option<Reason>,
    /// The verdict on each presentation.
    pub credentials: Vec<CredentialVerdict>,
}

/// The verdict on one presentation.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct CredentialVerdict {
    /// The query it answers; empty for a credential verified on its own.
    pub query: String,
    /// The outcome.
    #[schema(value_type = VerdictOutcome)]
    pub outcome: Outcome,
    /// What it is, who issued it, and until when it is valid; absent if it is not genuine.
    #[serde(default)]
    pub credential: Option<NamedCredential>,
    /// The rules with their results.
    pub rules: Vec<RuleLine>,
    /// The time as of which its status was checked, RFC 3339.
    pub status_as_of: Option<String>,
    /// The claims shown, if the verdict allows relying on them.
    #[schema(value_type = Option<Object>)]
    pub claims: Option<Value>,
}

/// A genuine credential by its type and issuer, which its issuer signed, and their names as they are known here.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct NamedCredential {
    /// Its type: the `vct`, or the most specific W3C type.
    #[serde(rename = "type")]
    pub kind: String,
    /// The title of its type, if this organisation knows the type.
    pub title: Option<String>,
    /// The issuer's identifier; absent if only a certificate names the issuer.
    pub issuer: Option<String>,
    /// The issuer's name for people, if it is this organisation.
    pub issuer_name: Option<String>,
    /// Until when it is valid, RFC 3339; absent if it does not expire.
    pub valid_until: Option<String>,
}

/// One rule of a verdict.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct RuleLine {
    /// The rule's name.
    #[schema(value_type = String)]
    pub name: Cow<'static, str>,
    /// Whether the rule is satisfied; absent if it does not apply or could not be checked.
    pub passed: Option<bool>,
    /// What was found, without the value of any claim.
    pub detail: String,
    /// The specification's paragraph.
    #[schema(value_type = String)]
    pub paragraph: Cow<'static, str>,
}

impl CredentialVerdict {
    /// Converts a verdict of the credential crate.
    #[must_use]
    pub fn new(query: &str, verdict: &Verdict, claims: Option<Value>) -> Self {
        Self {
            query: query.to_owned(),
            outcome: verdict.outcome,
            credential: None,
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
            status_as_of: verdict.as_of.map(|at| UnixTime(at).rfc3339()),
            claims,
        }
    }
}

/// How a wallet fetches a signed request (OpenID4VP 1.0 §5.10).
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum RequestUriMethod {
    /// By GET.
    Get,
    /// By POST, with a nonce of the wallet's own.
    Post,
}
