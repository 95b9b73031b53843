//! Messages that other protocols adopt: acknowledgements (RFC 0015) and problem reports (RFC 0035).

mod messages;

use selfsame_crypto::ctx::Ctx;
use selfsame_didcomm::Message;
use selfsame_didcomm::message::{MessageType, Semver};

use crate::wire::{self, Unreadable};

pub use messages::{Ack, AckStatus, NotificationMessage, ProblemReport};

/// The type of a problem report that is not of a protocol's own, with the prefix of this type.
pub fn report_type(of: &MessageType) -> MessageType {
    let kind = MessageType::new(wire::REPORTS, Semver::new(1, 0), "problem-report");
    kind.with_prefix(of.prefix.clone())
}

/// The problem report that answers a message that was not read; `None` if the message is a report itself, since a
/// report is never answered with another (RFC 0035).
pub fn answer_unreadable(why: &Unreadable, message: &Message, ctx: &Ctx) -> Option<Message> {
    if wire::is_report(&message.kind) {
        return None;
    }
    let report = ProblemReport::new(why.code(), "The message can't be processed.");
    let kind = report_type(&message.kind);
    let mut answer = message.reply(kind, wire::fresh_id("unreadable", ctx));
    report.write(&mut answer);
    Some(answer)
}

#[cfg(test)]
mod tests;
