//! The wallet's shapes: people, cards, what is offered and what is asked.

use selfsame_openid4vc::dcql::SetMatches;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::CredentialUse;

/// A new session of a person.
#[derive(Clone, Deserialize, Serialize, ToSchema)]
pub struct NewSession {
    /// The bearer token; stands in a cookie or an `Authorization` header.
    pub token: String,
    /// Seconds until it ends.
    pub expires_in: u64,
}

/// An invitation to make a wallet.
#[derive(Clone, Deserialize, Serialize, ToSchema)]
pub struct Invitation {
    /// The page where the wallet is made.
    pub link: String,
    /// What a program sends in its place.
    pub invitation: String,
    /// Seconds until it is of no use.
    pub expires_in: u64,
}

/// A person who has signed in.
#[derive(Clone, Debug)]
pub struct Person {
    /// The tenant that holds all that is theirs.
    pub tenant: selfsame_store::TenantId,
    /// Their e-mail address.
    pub email: String,
    /// The session's hash: what forms are bound to.
    pub session: String,
}

/// How the wallet shows a credential.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Display {
    /// Its name.
    pub title: String,
    /// Its colour, as CSS, checked.
    pub color: Option<String>,
    /// A small picture: an emoji, never a link.
    pub icon: Option<String>,
}

/// A credential in the wallet, in short.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct CardSummary {
    /// Its id in this wallet.
    pub id: String,
    /// How to show it.
    pub display: Display,
    /// Who issued it.
    pub issuer: String,
    /// The issuer's own name for itself, as it said when the credential came.
    #[serde(default)]
    pub issuer_name: Option<String>,
    /// Its format.
    pub format: String,
    /// Its type: the `vct` or the W3C types.
    pub types: Vec<String>,
    /// When it came, RFC 3339.
    pub added: String,
    /// Until when it is valid, RFC 3339.
    pub expires: Option<String>,
}

/// A credential in the wallet.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Card {
    /// What the list shows.
    pub summary: CardSummary,
    /// Its claims with their labels.
    pub claims: Vec<ClaimLine>,
    /// `valid`, `spent`, `revoked`, `suspended`, `expired`, `not_yet_valid` or `unknown`, as of `status_as_of`.
    pub status: String,
    /// When the status was true, RFC 3339.
    pub status_as_of: Option<String>,
    /// Who used a card for one use up, or revoked it in its issuer's name.
    #[serde(default)]
    pub used: Option<CredentialUse>,
}

/// One claim for people.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ClaimLine {
    /// The path to it.
    #[schema(value_type = Vec<Value>)]
    pub path: Vec<Value>,
    /// Its name.
    pub label: String,
    /// Its value, as text.
    pub value: String,
}

/// What an offer would bring.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct OfferPreview {
    /// The issuer's identifier.
    pub issuer: String,
    /// The issuer's own name for itself.
    pub issuer_name: Option<String>,
    /// Whether this wallet's configuration trusts the issuer.
    pub trusted: bool,
    /// What is offered.
    pub credentials: Vec<OfferedCredential>,
    /// Whether a transaction code is needed, and how it looks.
    pub tx_code: Option<TxCodePrompt>,
}

/// One credential of an offer.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct OfferedCredential {
    /// Its configuration's id.
    pub configuration: String,
    /// Its format.
    pub format: String,
    /// How to show it.
    pub display: Display,
    /// The names of its claims.
    pub claims: Vec<String>,
}

/// How to ask the person for a transaction code.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct TxCodePrompt {
    /// `numeric` or `text`.
    pub input_mode: String,
    /// Its length, if the issuer told.
    pub length: Option<u64>,
    /// The issuer's hint.
    pub description: Option<String>,
}

/// Taking an offer.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptOffer {
    /// The offer's link or JSON.
    pub offer: String,
    /// The transaction code.
    #[serde(default)]
    pub tx_code: Option<String>,
    /// The DID to bind the credential to; a fresh key of its own unless told.
    #[serde(default)]
    pub did: Option<String>,
    /// How many copies with keys of their own to ask for; 1 unless told.
    #[serde(default)]
    pub copies: Option<usize>,
}

/// What a verifier asks, and what would leave the wallet.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct RequestPreview {
    /// The request's handle in this wallet, for the answer.
    pub id: String,
    /// Who asks.
    pub verifier: Asker,
    /// Whether the wallet has enough to answer; what is missing may be optional, or one of several alternatives.
    pub answerable: bool,
    /// What could be shown, one entry for each thing asked that the wallet has; empty if it can't be answered.
    pub shares: Vec<Share>,
    /// How much of that an answer needs, and may have: of each set one option at most.
    pub sets: Vec<ShareSet>,
    /// What the wallet has not, in words; all of it matters only if the request is not `answerable`.
    pub missing: Vec<String>,
    /// What is unusual about the request and harmless, in words.
    #[serde(default)]
    pub remarks: Vec<String>,
}

/// Who asks, and how that is known.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Asker {
    /// The client identifier with its prefix.
    pub client_id: String,
    /// `redirect_uri` (not authenticated), `decentralized_identifier` or `x509_san_dns`.
    pub prefix: String,
    /// The host the answer goes to.
    pub host: String,
    /// Whether a signature proves who asks.
    pub authenticated: bool,
    /// Whether this wallet's configuration trusts it.
    pub trusted: bool,
}

/// Alternatives of which one is enough.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ShareSet {
    /// Whether the verifier needs one of them.
    pub required: bool,
    /// Those that the wallet has, in the order it would take them: the ids of the queries that each consists of.
    pub options: Vec<Vec<String>>,
}

impl ShareSet {
    pub(crate) fn of(set: &SetMatches) -> Self {
        Self {
            required: set.required,
            options: set.options.clone(),
        }
    }
}

/// One thing asked, with the cards that fit.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Share {
    /// The query's id.
    pub query: String,
    /// Whether no answer does without it.
    pub required: bool,
    /// Whether it is part of what the wallet itself would answer with.
    pub preselected: bool,
    /// The cards that fit, the newest first, each with exactly the claims that would leave.
    pub choices: Vec<Choice>,
}

/// A card that fits, and what would leave with it.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Choice {
    /// The card's id.
    pub card: String,
    /// Its title.
    pub title: String,
    /// Who issued it.
    pub issuer: String,
    /// The issuer's own name for itself.
    #[serde(default)]
    pub issuer_name: Option<String>,
    /// Exactly what the verifier would learn.
    pub claims: Vec<ClaimLine>,
    /// Whether showing this gives the card's one use out of the person's hands.
    #[serde(default)]
    pub uses_up: bool,
}

/// Answering a verifier.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerRequest {
    /// The `id` of the request's preview; its link only where a policy chooses.
    pub request: String,
    /// Which card for which query: one option of each required set, and no more than that of any. Where there are any
    /// cards, no policy chooses others, and `request` is the `id` of a preview, so that what is sent is what was seen.
    #[serde(default)]
    pub cards: std::collections::BTreeMap<String, String>,
    /// In place of a person: `newest` answers with the newest card that fits. Absent, cards are chosen.
    #[serde(default)]
    pub policy: Option<String>,
}

/// What came of an answer.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Answered {
    /// Whether the verifier took the response.
    pub delivered: bool,
    /// Where the person should go on, if the verifier said.
    pub redirect_uri: Option<String>,
    /// The entry in the history.
    pub history: String,
}

/// An entry of the history: what was shown to whom, or what came from whom.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct HistoryEntry {
    /// Its id.
    pub id: String,
    /// When, RFC 3339.
    pub at: String,
    /// `received`, `shared`, `declined` or `failed`.
    pub what: String,
    /// The other party: an issuer's or verifier's identifier.
    pub party: String,
    /// The titles of the cards.
    pub cards: Vec<String>,
    /// The labels of the claims that left, or may have left where it failed; never their values.
    pub claims: Vec<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The cards for one use whose use was given out of the person's hands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_use: Vec<OneUse>,
    /// What the registry says became of them; read each time the history is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<CredentialUse>,
}

/// Where the registry has a card for one use.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, ToSchema)]
pub struct OneUse {
    /// Its issuer.
    pub issuer: String,
    /// What its handle is registered under, base64url.
    pub digest: String,
}

/// A key of a person.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct KeyInfo {
    /// Its handle: the RFC 7638 thumbprint.
    pub handle: String,
    /// `Ed25519` or `P-256`.
    pub kind: String,
    /// When it was made, RFC 3339.
    pub created: String,
}

/// A DID of a person.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct DidInfo {
    /// The DID.
    pub did: String,
    /// The handle of its key.
    pub key: String,
    /// When it was made, RFC 3339.
    pub created: String,
}
