//! The transaction endorser protocol 1.0, pure: an author asks an endorser to sign a transaction too.

mod attachment;
mod messages;
mod record;
mod step;

pub use attachment::{authored_of, authored_text, endorsed_of, endorsed_text};
pub use messages::{
    AttachedTransaction, EndorsedResponse, RefusedResponse, SignatureRequest, SignatureResponse,
    ThreadNote, Timing, TransactionJob, TransactionMessage, TransactionRequest,
};
pub use record::{MessageKind, TransactionRecord, TransactionRole, TransactionState};
pub use step::{AuthoredTerms, SteppedTransaction, TransactionInput, authored, received, step};

use selfsame_aries::protocol::Protocol;

/// The protocol's line beside the table of protocols.
pub const PROTOCOL: Protocol =
    Protocol::of::<TransactionMessage>(&["author", "endorser"], &["0586"]);
