//! Owns: issuing lists, their rows and the search of what was issued, as clerks and programs see them.
//! Does not own: what happens to a list, which is for `selfsame-issuing-lists`; HTML; HTTP.

#![allow(unused_qualifications, reason = "the code that utoipa's macros write")]

use selfsame_driver::{Reason, Reasons};
use selfsame_sheets::written;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The most cards of a printed sheet.
pub const PRINTED_MAX: usize = 400;

/// A list to begin.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewIssuingList {
    /// The id of the credentials' type.
    #[serde(rename = "type")]
    pub type_id: String,
    /// A format that the settings enable; default: the first one enabled.
    #[serde(default)]
    pub format: Option<String>,
    /// How the file is written.
    pub kind: ListKind,
    /// The name of the file, for people.
    #[serde(default)]
    pub name: Option<String>,
    /// The SHA-256 of the file, base64url: a program that was interrupted finds its list by it.
    #[serde(default)]
    pub digest: Option<String>,
    /// Whether the wallets must send a transaction code that reaches each person separately.
    #[serde(default)]
    pub tx_code: bool,
    /// How long the offers can be accepted, in seconds; default 30 days.
    #[serde(default)]
    pub expires_in: Option<u64>,
    /// Whether each offer is sent to the address in the column `email`.
    #[serde(default)]
    pub mail: bool,
}

/// How the file of a list is written.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ListKind {
    /// Cells with a header line (RFC 4180).
    Csv,
    /// A JSON object a line.
    Ndjson,
}

/// Where a list stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ListState {
    /// Its file is being received.
    Receiving,
    /// Its file has no fault. Nothing is offered before it is issued.
    Checked,
    /// Its file has faults; nothing was offered.
    Refused,
    /// Offers are being made.
    Offering,
    /// Offers are being mailed.
    Mailing,
    /// Every row has its result.
    Done,
    /// It was ended. What was offered stands.
    Cancelled,
}

impl ListState {
    /// Its name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Receiving => "receiving",
            Self::Checked => "checked",
            Self::Refused => "refused",
            Self::Offering => "offering",
            Self::Mailing => "mailing",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether nothing more comes of it.
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Refused | Self::Done | Self::Cancelled)
    }
}

/// A list.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct IssuingList {
    /// Its id.
    pub id: String,
    /// The id of the credentials' type.
    #[serde(rename = "type")]
    pub type_id: String,
    /// The name of its file.
    pub name: Option<String>,
    /// The SHA-256 of its file, if it was given.
    pub digest: Option<String>,
    /// Where it stands.
    pub state: ListState,
    /// The number of bytes received.
    pub received: u64,
    /// The number of rows.
    pub rows: u64,
    /// How many offers were made.
    pub offered: u64,
    /// How many rows could not be offered, because their type changed meanwhile.
    pub refused: u64,
    /// How many offers were mailed.
    pub mailed: u64,
    /// How many addresses were refused, or could not be reached in time.
    pub mail_failed: u64,
    /// How many faults the file has.
    pub faults: u64,
    /// The first of them.
    pub first_faults: Vec<ListFault>,
    /// When it began, RFC 3339.
    pub created: String,
    /// When its last row had a result, RFC 3339.
    pub ended: Option<String>,
}

impl Reasons for IssuingList {
    fn reasons(&mut self) -> Vec<&mut Reason> {
        let faults = self.first_faults.iter_mut();
        faults.map(|fault| &mut fault.why).collect()
    }
}

/// A fault of a file.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ListFault {
    /// The line, counted from 1.
    pub line: u64,
    /// The character within the line, counted from 1.
    pub column: u64,
    /// What is wrong.
    #[schema(value_type = String)]
    pub why: Reason,
}

/// What came of a row.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ListResult {
    /// The line on which the row begins, counted from 1.
    pub line: u64,
    /// The clerk's name for the credential.
    pub reference: Option<String>,
    /// Where it stands.
    pub state: RowState,
    /// The id of the offer.
    pub offer: Option<String>,
    /// The link for the wallet.
    pub uri: Option<String>,
    /// The transaction code, if the list has them. It must reach the person separately.
    pub tx_code: Option<String>,
    /// Until when the offer can be accepted, RFC 3339.
    pub expires: Option<String>,
    /// The address that the offer is mailed to.
    pub email: Option<String>,
    /// Why there is no offer, or why it was not mailed.
    #[schema(value_type = Option<String>)]
    pub why: Option<Reason>,
}

impl ListResult {
    /// The header of results as CSV.
    #[must_use]
    pub fn csv_header() -> String {
        written([
            "line",
            "reference",
            "state",
            "offer",
            "uri",
            "tx_code",
            "expires",
            "email",
            "why",
        ])
    }

    /// The result as a line of CSV, with the reason in words.
    #[must_use]
    pub fn csv(&self, why: &str) -> String {
        let line = self.line.to_string();
        let text = |text: &'_ Option<String>| text.clone().unwrap_or_default();
        let texts = [
            &self.offer,
            &self.uri,
            &self.tx_code,
            &self.expires,
            &self.email,
        ];
        let texts = texts.map(text);
        let reference = text(&self.reference);
        let first = [line.as_str(), &reference, self.state.as_str()];
        let cells = first.into_iter().chain(texts.iter().map(String::as_str));
        written(cells.chain([why]))
    }

    /// The result as a line of NDJSON.
    #[must_use]
    pub fn ndjson(&self) -> String {
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        line
    }
}

impl Reasons for ListResult {
    fn reasons(&mut self) -> Vec<&mut Reason> {
        self.why.iter_mut().collect()
    }
}

/// Where a row stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowState {
    /// It has no result yet.
    Waiting,
    /// The offer was made.
    Offered,
    /// The offer was made and mailed.
    Mailed,
    /// The offer was made, and the mail was given up.
    MailFailed,
    /// There is no offer.
    Refused,
}

impl RowState {
    /// Its name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Offered => "offered",
            Self::Mailed => "mailed",
            Self::MailFailed => "mail_failed",
            Self::Refused => "refused",
        }
    }
}
