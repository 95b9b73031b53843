//! The steps of revocation notification. It has no states: the exchange in which the credential was issued does.

use selfsame_crypto::ctx::Ctx;

use crate::advance::{Advance, Notice, Outset, Recipient};
use crate::dialogue::Dialogue;
use crate::wire::Incoming;

use super::messages::{RevocationMessage, RevokedCredential};

/// What can be given.
#[derive(Clone, Debug, PartialEq)]
pub enum RevocationInput {
    /// A notification came. What it says is untrusted until the registry shows it.
    Received(Incoming<RevocationMessage>),
    /// Notifies the holder.
    Send {
        /// Which credential. Version 2 needs its place.
        credential: RevokedCredential,
        /// A word for people.
        comment: Option<String>,
    },
}

/// Takes a step.
pub fn step(opening: &Outset, input: &RevocationInput, ctx: &Ctx) -> Advance<()> {
    match input {
        RevocationInput::Received(_) => Advance::of(()).tell(Notice::Received("revoke")),
        RevocationInput::Send {
            credential,
            comment,
        } => {
            let revoke = RevocationMessage::Revoke {
                credential: credential.clone(),
                comment: comment.clone(),
            };
            let message = Dialogue::opened(opening, ctx).say(&revoke, ctx);
            Advance::of(()).send(Recipient::Peer, message)
        }
    }
}
