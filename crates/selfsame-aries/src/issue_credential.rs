//! Issuing a credential: version 2.0 (RFC 0453) and 1.0 (RFC 0036), one machine with two vocabularies.

mod course;
mod messages;
mod state;
mod step;

use crate::exchange::{Exchange, Speech};

pub use course::IssueCredential;
pub use messages::IssueMessage;
pub use state::{IssueExtra, IssueRole, IssueState};
pub use step::{IssueInput, step};

/// The issuing of a credential.
pub type CredentialExchange = Exchange<IssueCredential>;
/// A message of the protocol.
pub type IssueSpeech = Speech<IssueCredential>;
