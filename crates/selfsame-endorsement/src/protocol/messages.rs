//! The messages. They name records and not threads: `transaction_id` is the author's record, and so is `thread_id` in
//! what the author sends after its request.

use std::collections::BTreeMap;

use selfsame_aries::wire::{self, Unreadable, Vocabulary};
use selfsame_didcomm::Message;
use selfsame_didcomm::message::Semver;
use serde::{Deserialize, Serialize};

/// The largest text of a transaction, in bytes.
const TEXT_MAX: usize = 1 << 20;
/// The most signatures of one answer.
const SIGNATURES_MAX: usize = 4;

/// A message of the protocol.
#[derive(Clone, Debug, PartialEq)]
pub enum TransactionMessage {
    /// `request`: the author asks for a signature.
    Request(Box<TransactionRequest>),
    /// `endorse`: the endorser signs.
    Endorse(Box<EndorsedResponse>),
    /// `refuse`: the endorser does not sign.
    Refuse(Box<RefusedResponse>),
    /// `cancel`: the author takes its request back.
    Cancel(ThreadNote),
    /// `resend`: the author asks again.
    Resend(ThreadNote),
    /// `ack`: the author has written the transaction.
    Ack(ThreadNote),
    /// `transaction_my_job`: what the sender does on this connection.
    Job(TransactionJob),
}

/// What an author asks for.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct TransactionRequest {
    /// The author's record.
    pub transaction_id: String,
    /// The signature that is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature_request: Option<SignatureRequest>,
    /// Until when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
    /// The transaction.
    pub messages_attach: AttachedTransaction,
    /// Whether the endorser is to write the transaction. No endorser does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endorser_write_txn: Option<bool>,
}

/// The signature that is asked for.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct SignatureRequest {
    /// The method of the DIDs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// How a signature is added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature_type: Option<String>,
    /// What the signer is to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signer_goal_code: Option<String>,
    /// What the author does then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author_goal_code: Option<String>,
}

/// Until when a request stands, for people: the protocol does not say what follows.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Timing {
    /// The time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_time: Option<String>,
}

/// A transaction as an attachment.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct AttachedTransaction {
    /// Its identifier.
    #[serde(rename = "@id")]
    pub id: String,
    /// Its media type.
    #[serde(rename = "mime-type", default = "json_type")]
    pub mime_type: String,
    /// What it is.
    pub data: AttachedJson,
}

/// The text of an attached transaction: JSON as a text.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct AttachedJson {
    /// The text.
    pub json: String,
}

/// What an endorser answers with its signature.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct EndorsedResponse {
    /// The author's record.
    pub transaction_id: String,
    /// The endorser's record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The signature.
    pub signature_response: SignatureResponse,
    /// The endorser's state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The endorser.
    pub endorser_did: String,
}

/// What an endorser answers without a signature.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct RefusedResponse {
    /// The author's record.
    pub transaction_id: String,
    /// The endorser's record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// What is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature_response: Option<SignatureResponse>,
    /// The endorser's state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

/// An answer to the request for a signature.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct SignatureResponse {
    /// The attachment that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The method of the DIDs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// How the signature was added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// What the signer did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signer_goal_code: Option<String>,
    /// Its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature_type: Option<String>,
    /// The text of the signed transaction, by the endorser's DID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<BTreeMap<String, String>>,
}

/// A word about a transaction that the other side knows.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ThreadNote {
    /// The author's record.
    pub thread_id: String,
    /// The state that the other side comes to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// `OK`, in an acknowledgement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

/// What an agent does on a connection.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum TransactionJob {
    /// It writes transactions that the other endorses.
    #[serde(rename = "TRANSACTION_AUTHOR")]
    Author,
    /// It endorses transactions of the other.
    #[serde(rename = "TRANSACTION_ENDORSER")]
    Endorser,
    /// Nothing any more.
    #[serde(rename = "reset")]
    Reset,
}

#[derive(Deserialize, Serialize)]
struct JobBody {
    job: TransactionJob,
}

fn json_type() -> String {
    "application/json".to_owned()
}

impl AttachedTransaction {
    /// A transaction with this text.
    pub fn new(id: String, text: String) -> Self {
        Self {
            id,
            mime_type: json_type(),
            data: AttachedJson { json: text },
        }
    }
}

impl Vocabulary for TransactionMessage {
    const PROTOCOL: &'static str = "transactions";
    const VERSIONS: &'static [Semver] = &[Semver::new(1, 0)];
    /// Its acknowledgements are its own.
    const ADOPTS: bool = false;

    fn read(message: &Message) -> Result<Self, Unreadable> {
        let read = match message.kind.name.as_str() {
            "request" => Self::Request(wire::body(message)?),
            "endorse" => Self::Endorse(wire::body(message)?),
            "refuse" => Self::Refuse(wire::body(message)?),
            "cancel" => Self::Cancel(wire::body(message)?),
            "resend" => Self::Resend(wire::body(message)?),
            "ack" => Self::Ack(wire::body(message)?),
            "transaction_my_job" => Self::Job(wire::body::<JobBody>(message)?.job),
            _ => return Err(Unreadable::Name),
        };
        match read.is_bounded() {
            true => Ok(read),
            false => Err(Unreadable::Rule("a transaction is too long")),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Request(_) => "request",
            Self::Endorse(_) => "endorse",
            Self::Refuse(_) => "refuse",
            Self::Cancel(_) => "cancel",
            Self::Resend(_) => "resend",
            Self::Ack(_) => "ack",
            Self::Job(_) => "transaction_my_job",
        }
    }

    fn write(&self, message: &mut Message) {
        match self {
            Self::Request(request) => wire::put_body(message, request),
            Self::Endorse(response) => wire::put_body(message, response),
            Self::Refuse(response) => wire::put_body(message, response),
            Self::Cancel(note) | Self::Resend(note) | Self::Ack(note) => {
                wire::put_body(message, note);
            }
            Self::Job(job) => wire::put_body(message, &JobBody { job: *job }),
        }
    }
}

impl TransactionMessage {
    fn is_bounded(&self) -> bool {
        match self {
            Self::Request(request) => request.messages_attach.data.json.len() <= TEXT_MAX,
            Self::Endorse(response) => {
                let signatures = response.signature_response.signature.as_ref();
                signatures.is_none_or(|signatures| {
                    let mut texts = signatures.values();
                    signatures.len() <= SIGNATURES_MAX && texts.all(|text| text.len() <= TEXT_MAX)
                })
            }
            _ => true,
        }
    }
}
