//! What the wallet takes and returns: people, cards, offers and requests. The API, the pages and the command line share
//! these types.

pub mod carried;
pub mod export_file;
mod named;
pub mod path;
pub mod sent;
mod table;
pub mod words;

use selfsame_driver::{Reason, Reasons};
use selfsame_openid4vc::dcql::SetMatches;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use selfsame_core::view::readable;
use selfsame_core::view::words::KeyKind;
use selfsame_openid_view::uses::CredentialUse;
use selfsame_openid_view::words::FormatName;

use words::{AnswerPolicy, AskerPrefix, CardStatus, HistoryKind, TxCodeInput};

pub use named::{NamedValue, NamedValues};
pub use selfsame_accounts::{Invitation, NewSession, Person};
pub use table::{ClaimTable, MemberLabel, plain};

/// How the wallet shows a credential.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Display {
    /// Its title.
    pub title: String,
    /// Its colour, as CSS; checked.
    pub color: Option<String>,
    /// The colour of its text, as CSS; checked.
    #[serde(default)]
    pub text_color: Option<String>,
    /// The address of its logo at the issuer, which the wallet does not load; of an organisation of this instance, the
    /// address here.
    #[serde(default)]
    pub logo: Option<String>,
    /// A pictogram: an emoji, never a link.
    pub icon: Option<String>,
}

/// A summary of a credential in the wallet.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct CardSummary {
    /// Its id in this wallet.
    pub id: String,
    /// How to show it.
    pub display: Display,
    /// Its issuer.
    pub issuer: String,
    /// The issuer's name for itself, from its metadata when the credential was received.
    #[serde(default)]
    pub issuer_name: Option<String>,
    /// Its format.
    #[schema(value_type = FormatName)]
    pub format: String,
    /// Its type: the `vct` or the W3C types.
    pub types: Vec<String>,
    /// When it was received, RFC 3339.
    pub added: String,
    /// Until when it is valid, RFC 3339.
    pub expires: Option<String>,
    /// Its status when it was last checked, or that it has expired; absent if it was never checked.
    #[serde(default)]
    #[schema(value_type = Option<CardStatus>)]
    pub status: Option<String>,
}

/// A credential that its issuer still prepares (OpenID4VCI 1.0 §9).
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct PreparedCredential {
    /// Its issuer.
    pub issuer: String,
    /// How to show it.
    pub display: Display,
    /// When the issuer is next asked for it, RFC 3339.
    pub next_look: String,
}

/// A credential in the wallet.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Card {
    /// The summary shown in the list.
    pub summary: CardSummary,
    /// Its claims with their labels.
    pub claims: Vec<ClaimLine>,
    /// Its status as of `status_as_of`.
    #[schema(value_type = CardStatus)]
    pub status: String,
    /// The time as of which the status was checked, RFC 3339.
    pub status_as_of: Option<String>,
    /// The use of a single-use card, or its revocation on the issuer's behalf.
    #[serde(default)]
    pub used: Option<CredentialUse>,
}

/// One claim, as shown to people.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ClaimLine {
    /// The path to it.
    #[schema(value_type = Vec<Value>)]
    pub path: Vec<Value>,
    /// Its label.
    pub label: String,
    /// Its value, as text.
    pub value: String,
    /// The issuer's words for that value, if it has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// Its value as a table, if it is an object or a list of objects, in the issuer's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<ClaimTable>,
    /// Whether it belongs to the protocol and is no claim.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub technical: bool,
    /// Whether the verifier says that it means to keep it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
}

/// How the values of claims begin that are pictures.
const PICTURES: [&str; 3] = [
    "data:image/jpeg;base64,",
    "data:image/png;base64,",
    "data:image/webp;base64,",
];

impl ClaimLine {
    /// The line of this value, with the labels of its members in their order.
    #[must_use]
    pub fn of(label: &str, value: &Value, members: &[MemberLabel]) -> Self {
        let table = ClaimTable::of(value, members);
        let text = match &table {
            // Without columns, the names of the members say what is what.
            Some(wide) if wide.is_wide() => ClaimTable::of(value, &[]).map(|table| table.text()),
            table => table.as_ref().map(ClaimTable::text),
        };
        Self {
            path: Vec::new(),
            label: readable(label),
            value: text.unwrap_or_else(|| readable(&plain(value))),
            words: None,
            table: table.filter(|table| !table.is_wide()),
            technical: false,
            kept: false,
        }
    }

    /// The line, with this value in place of its own for people to read.
    #[must_use]
    pub fn in_words(self, value: &Value, members: &[MemberLabel]) -> Self {
        let shown = Self::of(&self.label, value, members);
        Self {
            words: Some(shown.value).filter(|words| *words != self.value),
            table: shown.table,
            ..self
        }
    }

    /// Its value as a `data:` URL, if it is a picture that every browser shows.
    #[must_use]
    pub fn picture(&self) -> Option<&str> {
        let encoded = PICTURES
            .iter()
            .find_map(|start| self.value.strip_prefix(start));
        let is_one = encoded.is_some_and(|text| {
            text.bytes()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'/' | b'='))
        });
        is_one.then_some(self.value.as_str())
    }

    /// Its value in the issuer's words, followed by the value itself, which is what others receive.
    #[must_use]
    pub fn in_full(&self) -> String {
        match &self.words {
            Some(words) => format!("{words} ({})", self.value),
            None => self.value.clone(),
        }
    }

    /// The line of the claim at this path.
    #[must_use]
    pub fn at(self, path: Vec<Value>) -> Self {
        Self { path, ..self }
    }
}

/// A preview of an offer.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct OfferPreview {
    /// The issuer's identifier.
    pub issuer: String,
    /// The issuer's own name for itself.
    pub issuer_name: Option<String>,
    /// The address of the issuer's logo, if it is an organisation of this instance: nothing is loaded from elsewhere.
    #[serde(default)]
    pub issuer_logo: Option<String>,
    /// Whether this wallet's configuration trusts the issuer.
    pub trusted: bool,
    /// The credentials offered.
    pub credentials: Vec<OfferedCredential>,
    /// How to ask for the transaction code, if one is needed.
    pub tx_code: Option<TxCodePrompt>,
    /// The authorization server that the person signs in at to get the credentials, if they must.
    #[serde(default)]
    pub sign_in: Option<String>,
}

/// Where a person signs in to get the credentials of an offer.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct SignInForOffer {
    /// The address for the person's browser. It leads back to `/wallet/received` here.
    pub url: String,
}

/// One credential of an offer.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct OfferedCredential {
    /// Its configuration's id.
    pub configuration: String,
    /// Its format.
    #[schema(value_type = FormatName)]
    pub format: String,
    /// How to show it.
    pub display: Display,
    /// The labels of its claims.
    pub claims: Vec<String>,
}

/// How to ask the person for a transaction code.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct TxCodePrompt {
    /// Its characters.
    #[schema(value_type = TxCodeInput)]
    pub input_mode: String,
    /// Its length, if the issuer states it.
    pub length: Option<u64>,
    /// The issuer's hint.
    pub description: Option<String>,
}

/// An offer to accept.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptOffer {
    /// The offer's link or JSON.
    pub offer: String,
    /// The transaction code.
    #[serde(default)]
    pub tx_code: Option<String>,
    /// The DID to bind the credential to; default: a fresh key for this credential.
    #[serde(default)]
    pub did: Option<String>,
    /// Number of copies to request, each with a key of its own; default 1.
    #[serde(default)]
    pub copies: Option<usize>,
}

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
    /// How it identifies itself; `redirect_uri` proves nothing.
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
    pub(crate) fn of(set: &SetMatches) -> Self {
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
}

/// An entry of the history: what was shared with whom, or received from whom.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct HistoryEntry {
    /// Its id.
    pub id: String,
    /// Its time, RFC 3339.
    pub at: String,
    /// What happened.
    #[schema(value_type = HistoryKind)]
    pub what: String,
    /// The other party: an issuer's or verifier's identifier.
    pub party: String,
    /// The other party's name for itself at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub party_name: Option<String>,
    /// The titles of the cards.
    pub cards: Vec<String>,
    /// The labels of the claims that left, or may have left if it failed; never their values.
    pub claims: Vec<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub reason: Option<Reason>,
    /// The single-use cards whose handles were shared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_use: Vec<OneUse>,
    /// Their uses in the registry, looked up each time the history is read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<CredentialUse>,
}

impl Reasons for HistoryEntry {
    fn reasons(&mut self) -> Vec<&mut Reason> {
        self.reason.iter_mut().collect()
    }
}

/// Identifies a single-use card in the registry.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, ToSchema)]
pub struct OneUse {
    /// Its issuer.
    pub issuer: String,
    /// The digest that its handle is registered under, base64url.
    pub digest: String,
}

/// A key of a person.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct KeyInfo {
    /// Its handle: the RFC 7638 thumbprint.
    pub handle: String,
    /// Its type.
    #[schema(value_type = KeyKind)]
    pub kind: String,
    /// When it was created, RFC 3339.
    pub created: String,
}

/// A DID of a person.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct DidInfo {
    /// The DID.
    pub did: String,
    /// The handle of its key.
    pub key: String,
    /// When it was created, RFC 3339.
    pub created: String,
}
