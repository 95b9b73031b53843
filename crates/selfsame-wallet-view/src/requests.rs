//! Requests: what a person sees of one, and how they answer it.

use crate::cards::ClaimLine;
use crate::words::AnswerPolicy;
use crate::words::AskerPrefix;
use selfsame_openid4vc::dcql::SetMatches;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A preview of a verifier's request, with what would leave the wallet.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct RequestPreview {
    /// The request's id in this wallet, to answer it with.
    pub id: String,
    /// The verifier that asks.
    pub verifier: Asker,
    /// Why it asks, by its own words.
    #[serde(default)]
    pub purpose: Option<String>,
    /// What the person agrees to by answering, such as a payment.
    #[serde(default)]
    pub transactions: Vec<TransactionText>,
    /// Whether the wallet can answer; what is missing may be optional, or one of several alternatives.
    pub answerable: bool,
    /// What could be shared: an entry for each query that the wallet has cards for; empty if it can't answer.
    pub shares: Vec<Share>,
    /// Which of these an answer needs, and may contain: at most one option of each set.
    pub sets: Vec<ShareSet>,
    /// What the wallet lacks, in words; it matters only if the request is not `answerable`.
    pub missing: Vec<String>,
    /// Unusual but harmless properties of the request, in words.
    #[serde(default)]
    pub remarks: Vec<String>,
}

/// What a person agrees to by answering.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct TransactionText {
    /// What it is, such as "Payment".
    pub title: String,
    /// What it says.
    pub lines: Vec<TransactionFact>,
}

/// A line of a transaction.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct TransactionFact {
    /// What the value is.
    pub label: String,
    /// The value.
    pub value: String,
}

/// The verifier that asks, and how its identity is known.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Asker {
    /// The client identifier with its prefix.
    pub client_id: String,
    /// How it identifies itself; `redirect_uri` and `origin` prove nothing.
    #[schema(value_type = AskerPrefix)]
    pub prefix: String,
    /// Its name for itself; only `trusted` vouches for it.
    #[serde(default)]
    pub name: Option<String>,
    /// The address of its logo, if it is an organisation of this instance that signed the request: nothing is loaded from
    /// elsewhere.
    #[serde(default)]
    pub logo: Option<String>,
    /// The host the answer goes to.
    pub host: String,
    /// Whether a signature proves the verifier's identity.
    pub authenticated: bool,
    /// Whether this wallet's configuration trusts it.
    pub trusted: bool,
}

/// A set of alternatives, one of which is enough.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ShareSet {
    /// Whether the verifier requires one of them.
    pub required: bool,
    /// The options that the wallet can meet, in its order of preference, each as a list of query ids.
    pub options: Vec<Vec<String>>,
}

impl ShareSet {
    /// What the person can choose from for one of the request's sets.
    #[must_use]
    pub fn of(set: &SetMatches) -> Self {
        Self {
            required: set.required,
            options: set.options.clone(),
        }
    }
}

/// One query, with the cards that answer it.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Share {
    /// The query's id.
    pub query: String,
    /// Whether every answer must include it.
    pub required: bool,
    /// Whether the wallet would include it by default.
    pub preselected: bool,
    /// The cards that fit, newest first, each with exactly the claims that would leave the wallet.
    pub choices: Vec<Choice>,
}

/// A card that fits, with the claims that would leave with it.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Choice {
    /// The card's id.
    pub card: String,
    /// Its title.
    pub title: String,
    /// Its issuer.
    pub issuer: String,
    /// The issuer's own name for itself.
    #[serde(default)]
    pub issuer_name: Option<String>,
    /// Exactly the claims that the verifier would learn.
    pub claims: Vec<ClaimLine>,
    /// The labels of the card's other claims, which stay in the wallet.
    #[serde(default)]
    pub hidden: Vec<String>,
    /// Whether sharing it lets the verifier use up a single-use card.
    #[serde(default)]
    pub uses_up: bool,
}

/// An answer to a verifier.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerRequest {
    /// The `id` of the request's preview; its link is allowed only with a policy.
    pub request: String,
    /// The card for each query: one option of each required set, and at most one of any set. If cards are given, no
    /// policy chooses others, and `request` is the `id` of a preview, so that what is sent is what was seen.
    #[serde(default)]
    pub cards: std::collections::BTreeMap<String, String>,
    /// Chooses instead of a person: `newest` answers with the newest card that fits. If absent, `cards` decides.
    #[serde(default)]
    #[schema(value_type = Option<AnswerPolicy>)]
    pub policy: Option<String>,
}

/// The result of an answer.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Answered {
    /// Whether the verifier accepted the response.
    pub delivered: bool,
    /// Where to send the person next, if the verifier says so.
    pub redirect_uri: Option<String>,
    /// The id of the history entry.
    pub history: String,
    /// The answer to a page that asks by a browser: for the caller to give to that page, and to no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returned: Option<ReturnedAnswer>,
}

/// An answer that goes back to a page by a browser (OpenID4VP 1.0 Appendix A.4).
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ReturnedAnswer {
    /// The origin of the page that it is for.
    pub origin: String,
    /// The protocol of the exchange, that of the request.
    pub protocol: String,
    /// What the page gets.
    #[schema(value_type = Object)]
    pub data: Value,
}
