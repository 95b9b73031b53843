//! The steps of basic message. It has no states (RFC 0095, "States"), so the agent knows what it received before.

use selfsame_crypto::ctx::Ctx;

use crate::advance::{Advance, Notice, Outset, Recipient};
use crate::dialogue::Dialogue;
use crate::wire::Incoming;

use super::messages::{BasicMessage, TextMessage};

/// What can be given.
#[derive(Clone, Debug, PartialEq)]
pub enum BasicInput {
    /// A message came.
    Received(Incoming<BasicMessage>),
    /// Sends a text.
    Send {
        /// The text.
        content: String,
        /// Its language.
        locale: Option<String>,
    },
}

/// Takes a step.
pub fn step(opening: &Outset, input: &BasicInput, ctx: &Ctx) -> Advance<()> {
    match input {
        BasicInput::Received(_) => Advance::of(()).tell(Notice::Received("message")),
        BasicInput::Send { content, locale } => {
            let text = BasicMessage::Text(TextMessage {
                content: content.clone(),
                sent_time: Some(ctx.now().rfc3339()),
                locale: locale.clone(),
            });
            let message = Dialogue::opened(opening, ctx).say(&text, ctx);
            Advance::of(()).send(Recipient::Peer, message)
        }
    }
}
