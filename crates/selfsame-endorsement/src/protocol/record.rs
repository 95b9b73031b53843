//! The record of a transaction on either side, and the table of its states.

use selfsame_aries::advance::Move;
use selfsame_crypto::time::UnixTime;
use serde::{Deserialize, Serialize};

use super::messages::{AttachedTransaction, SignatureRequest, SignatureResponse};

/// A transaction, as one side knows it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct TransactionRecord {
    /// Its state.
    pub state: TransactionState,
    /// Which side this is.
    pub role: TransactionRole,
    /// The connection with the other side.
    pub connection_id: String,
    /// The other side's record; unknown to the author before the first answer.
    pub thread_id: Option<String>,
    /// The transaction, signed by its author.
    pub attached: AttachedTransaction,
    /// The text of the transaction, signed by its endorser too.
    pub endorsed: Option<String>,
    /// The signature that is asked for.
    pub signature_request: Option<SignatureRequest>,
    /// The answer to that.
    pub signature_response: Option<SignatureResponse>,
    /// Until when the request stands, as its author says.
    pub expires_time: Option<String>,
    /// When it was made.
    pub created_at: UnixTime,
    /// When it was changed last.
    pub updated_at: UnixTime,
}

/// Which side an agent is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum TransactionRole {
    /// It writes the transaction.
    #[serde(rename = "author")]
    Author,
    /// It endorses the transaction.
    #[serde(rename = "endorser")]
    Endorser,
}

/// Where a transaction stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum TransactionState {
    /// The author has signed it, and has not asked yet.
    #[serde(rename = "transaction_created/1")]
    Created,
    /// The author has asked for the endorsement.
    #[serde(rename = "request_sent/1")]
    RequestSent,
    /// The endorser is asked.
    #[serde(rename = "request_received/1")]
    RequestReceived,
    /// It is endorsed.
    #[serde(rename = "transaction_endorsed/1")]
    Endorsed,
    /// The endorser does not endorse it.
    #[serde(rename = "transaction_refused/1")]
    Refused,
    /// The author has asked again.
    #[serde(rename = "transaction_resent/1")]
    Resent,
    /// The endorser is asked again.
    #[serde(rename = "transaction_resent_received/1")]
    ResentReceived,
    /// The author has taken its request back.
    #[serde(rename = "transaction_cancelled/1")]
    Cancelled,
    /// The registry has it.
    #[serde(rename = "transaction_acked/1")]
    Acked,
}

/// A message of the protocol, in the table of states.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MessageKind {
    /// `request`.
    Request,
    /// `endorse`.
    Endorse,
    /// `refuse`.
    Refuse,
    /// `cancel`.
    Cancel,
    /// `resend`.
    Resend,
    /// `ack`.
    Ack,
}

impl TransactionState {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Created,
        Self::RequestSent,
        Self::RequestReceived,
        Self::Endorsed,
        Self::Refused,
        Self::Resent,
        Self::ResentReceived,
        Self::Cancelled,
        Self::Acked,
    ];

    /// The state's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Created => "transaction_created",
            Self::RequestSent => "request_sent",
            Self::RequestReceived => "request_received",
            Self::Endorsed => "transaction_endorsed",
            Self::Refused => "transaction_refused",
            Self::Resent => "transaction_resent",
            Self::ResentReceived => "transaction_resent_received",
            Self::Cancelled => "transaction_cancelled",
            Self::Acked => "transaction_acked",
        }
    }

    /// The state after a message; `None` if this state does not allow it.
    pub fn after(self, role: TransactionRole, event: Move<MessageKind>) -> Option<Self> {
        use MessageKind as Kind;
        match (role, self, event) {
            (TransactionRole::Author, Self::Created, Move::Sends(Kind::Request)) => {
                Some(Self::RequestSent)
            }
            (TransactionRole::Author, Self::RequestSent | Self::Resent, event) => match event {
                Move::Receives(Kind::Endorse) => Some(Self::Endorsed),
                Move::Receives(Kind::Refuse) => Some(Self::Refused),
                Move::Sends(Kind::Cancel) => Some(Self::Cancelled),
                _ => None,
            },
            (
                TransactionRole::Author,
                Self::Refused | Self::Cancelled,
                Move::Sends(Kind::Resend),
            ) => Some(Self::Resent),
            (TransactionRole::Author, Self::Endorsed, event) => match event {
                Move::Sends(Kind::Ack) => Some(Self::Acked),
                // The registry may refuse what was endorsed.
                Move::Sends(Kind::Cancel) => Some(Self::Cancelled),
                _ => None,
            },
            (
                TransactionRole::Endorser,
                Self::RequestReceived | Self::ResentReceived,
                Move::Sends(Kind::Endorse),
            ) => Some(Self::Endorsed),
            (
                TransactionRole::Endorser,
                Self::RequestReceived | Self::ResentReceived,
                Move::Sends(Kind::Refuse),
            ) => Some(Self::Refused),
            // The answer and what the author takes back may cross.
            (
                TransactionRole::Endorser,
                Self::RequestReceived | Self::ResentReceived | Self::Endorsed | Self::Refused,
                Move::Receives(Kind::Cancel),
            ) => Some(Self::Cancelled),
            (
                TransactionRole::Endorser,
                Self::Refused | Self::Cancelled,
                Move::Receives(Kind::Resend),
            ) => Some(Self::ResentReceived),
            (TransactionRole::Endorser, Self::Endorsed, Move::Receives(Kind::Ack)) => {
                Some(Self::Acked)
            }
            _ => None,
        }
    }
}
