//! The thread of one exchange, as its record keeps it: who it is with, which messages came, how to answer.

use std::collections::VecDeque;

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;
use selfsame_didcomm::Message;
use selfsame_didcomm::message::MessageType;
use serde::{Deserialize, Serialize};

use crate::advance::{Outset, Problem};
use crate::wire::{Incoming, Vocabulary, fresh_id, is_report};

/// How many identifiers of received messages a record keeps. No thread has as many messages, except one that
/// negotiates without end; then the oldest are forgotten, and the table of states refuses them.
const RECEIVED_MAX: usize = 32;

/// Who began an exchange.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Initiator {
    /// This agent.
    #[serde(rename = "self")]
    Us,
    /// The peer.
    External,
}

/// The thread of one exchange.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Dialogue {
    /// Its identifier: that of its first message.
    pub thread_id: String,
    /// The thread or invitation that it comes from.
    pub parent_thread_id: Option<String>,
    /// A type with the prefix and the version of its messages.
    pub kind: MessageType,
    /// When the record was made.
    pub created_at: UnixTime,
    /// When the record was changed last.
    pub updated_at: UnixTime,
    /// What went wrong, for the controller.
    pub error_msg: Option<String>,
    /// Whether its first message exists.
    is_begun: bool,
    /// The identifiers of the messages received, the oldest first.
    received: VecDeque<String>,
}

impl Dialogue {
    /// A thread that this agent begins with the message it sends next.
    pub(crate) fn opened(opening: &Outset, ctx: &Ctx) -> Self {
        let thread_id = fresh_id("first", ctx);
        Self::new(
            thread_id,
            opening.parent_thread_id.clone(),
            opening.kind.clone(),
            ctx,
        )
    }

    /// A thread that the peer began with this message.
    pub(crate) fn joined<M>(message: &Incoming<M>, ctx: &Ctx) -> Self {
        let parent = message.parent_thread_id.clone();
        let mut joined = Self::new(message.thread_id.clone(), parent, message.kind.clone(), ctx);
        joined.is_begun = true;
        joined.received.push_back(message.id.clone());
        joined
    }

    /// The thread of an invitation, until a request begins one.
    pub(crate) fn of_invitation(id: &str, kind: MessageType, ctx: &Ctx) -> Self {
        Self {
            is_begun: true,
            ..Self::new(id.to_owned(), None, kind, ctx)
        }
    }

    fn new(thread_id: String, parent: Option<String>, kind: MessageType, ctx: &Ctx) -> Self {
        Self {
            thread_id,
            parent_thread_id: parent,
            kind,
            created_at: ctx.now(),
            updated_at: ctx.now(),
            error_msg: None,
            is_begun: false,
            received: VecDeque::new(),
        }
    }

    /// Whether the message was received before.
    pub(crate) fn has_heard<M>(&self, message: &Incoming<M>) -> bool {
        self.received.contains(&message.id)
    }

    /// Whether the message belongs to the thread. A problem report may name it as its parent (RFC 0035).
    pub(crate) fn is_of<M>(&self, message: &Incoming<M>) -> bool {
        let by_parent = message.parent_thread_id.as_ref() == Some(&self.thread_id);
        message.thread_id == self.thread_id || (is_report(&message.kind) && by_parent)
    }

    /// Takes in a message of the thread.
    ///
    /// # Errors
    /// If it belongs to another.
    pub(crate) fn hear<M>(&mut self, message: &Incoming<M>, ctx: &Ctx) -> Result<(), Problem> {
        if !self.is_of(message) {
            return Err(Problem::unknown_thread());
        }
        self.note(&message.id, ctx);
        Ok(())
    }

    /// Notes that the message with this identifier was received.
    pub(crate) fn note(&mut self, id: &str, ctx: &Ctx) {
        if self.received.len() >= RECEIVED_MAX {
            self.received.pop_front();
        }
        self.received.push_back(id.to_owned());
        self.updated_at = ctx.now();
    }

    /// Goes on in the thread that this message begins below that of the invitation.
    pub(crate) fn go_below<M>(&mut self, parent: &str, message: &Incoming<M>, ctx: &Ctx) {
        self.thread_id.clone_from(&message.thread_id);
        self.parent_thread_id = Some(parent.to_owned());
        self.kind = message.kind.clone();
        self.is_begun = true;
        self.note(&message.id, ctx);
    }

    /// Begins a thread of our own below that of the invitation.
    pub fn begin_below(&mut self, parent: &str, ctx: &Ctx) {
        self.thread_id = fresh_id("first", ctx);
        self.parent_thread_id = Some(parent.to_owned());
        self.is_begun = false;
    }

    /// Writes a message of the thread. The first one gives the thread its identifier; the parent is named by each
    /// message, since RFC 0023 requires it of the last one too.
    pub(crate) fn say<M: Vocabulary>(&mut self, content: &M, ctx: &Ctx) -> Message {
        let kind = self.kind.sibling(content.name());
        let mut message = match self.is_begun {
            false => Message::new(kind, self.thread_id.clone()),
            true => {
                let mut message = Message::new(kind, fresh_id(content.name(), ctx));
                message.thread.thid = Some(self.thread_id.clone());
                message
            }
        };
        message.thread.pthid.clone_from(&self.parent_thread_id);
        content.write(&mut message);
        self.is_begun = true;
        self.updated_at = ctx.now();
        message
    }
}
