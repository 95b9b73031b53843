//! Cards: as they are listed, and each with its claims.

use crate::table::ClaimTable;
use crate::table::MemberLabel;
use crate::table::plain;
use crate::words::CardStatus;
use selfsame_core::view::readable;
use selfsame_openid_view::uses::CredentialUse;
use selfsame_openid_view::words::FormatName;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

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
