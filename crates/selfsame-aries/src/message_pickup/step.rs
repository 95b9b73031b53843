//! The steps of message pickup. The queue is the mediator's own; a step sees what of it the message asks for.

use selfsame_crypto::ctx::Ctx;
use selfsame_didcomm::Message;
use selfsame_didcomm::message::MessageType;

use crate::advance::{Advance, Advanced, Notice, Outset, Problem, Recipient};
use crate::dialogue::Dialogue;
use crate::notification::{self, ProblemReport};
use crate::wire::{Incoming, Vocabulary, fresh_id};

use super::messages::{DELIVERY_MAX, Delivered, PickupMessage, QueueStatus};
use super::state::PickupSession;

/// What a line can be given.
#[derive(Clone, Debug, PartialEq)]
pub enum PickupInput {
    /// The mediator got a message.
    Asked {
        /// The message.
        message: Incoming<PickupMessage>,
        /// The queue as it is, without the messages that this one confirms.
        queue: Queue,
    },
    /// The recipient got a message.
    Answered(Incoming<PickupMessage>),
    /// An act of the recipient.
    Act(PickupAct),
}

/// What of a queue a step sees.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queue {
    /// How many messages wait, for the key that is asked about.
    pub status: QueueStatus,
    /// The first of them, as many as are asked for. They stay in the queue until they are confirmed.
    pub waiting: Vec<Delivered>,
    /// Whether the line stays open, so that messages can be delivered at once.
    pub is_persistent: bool,
}

/// What a recipient can do.
#[derive(Clone, Debug, PartialEq)]
pub enum PickupAct {
    /// Asks how many messages wait.
    AskStatus {
        /// For which key.
        recipient_key: Option<String>,
    },
    /// Asks for messages.
    AskDelivery {
        /// How many.
        limit: u32,
        /// For which key.
        recipient_key: Option<String>,
    },
    /// Confirms messages that it has stored.
    Confirm(Vec<String>),
    /// Wants new messages at once, or not any more.
    SetLive(bool),
}

/// Takes a step of a line. A question that comes twice is answered twice, since an answer changes nothing.
///
/// # Errors
/// If the message is not one that this side gets.
pub fn step(
    session: PickupSession,
    opening: &Outset,
    input: &PickupInput,
    ctx: &Ctx,
) -> Advanced<PickupSession> {
    match input {
        PickupInput::Asked { message, queue } => asked(session, message, queue, ctx),
        PickupInput::Answered(message) => answered(session, message),
        PickupInput::Act(act) => {
            let content = match act.clone() {
                PickupAct::AskStatus { recipient_key } => {
                    PickupMessage::StatusRequest { recipient_key }
                }
                PickupAct::AskDelivery {
                    limit,
                    recipient_key,
                } => PickupMessage::DeliveryRequest {
                    limit,
                    recipient_key,
                },
                PickupAct::Confirm(ids) => PickupMessage::MessagesReceived(ids),
                PickupAct::SetLive(live) => PickupMessage::LiveDelivery(live),
            };
            let message = Dialogue::opened(opening, ctx).say(&content, ctx);
            Ok(Advance::of(session).send(Recipient::Peer, message))
        }
    }
}

fn asked(
    session: PickupSession,
    message: &Incoming<PickupMessage>,
    queue: &Queue,
    ctx: &Ctx,
) -> Advanced<PickupSession> {
    let mut next = session;
    let advance = |next, content: &PickupMessage| {
        let answer = answer(message, message.kind.sibling(content.name()), content, ctx);
        Advance::of(next).send(Recipient::Peer, answer)
    };
    let status = |next: PickupSession, recipient_key: &Option<String>| {
        PickupMessage::Status(QueueStatus {
            recipient_key: recipient_key.clone(),
            live_delivery: next.live_delivery,
            ..queue.status.clone()
        })
    };
    match &message.content {
        PickupMessage::StatusRequest { recipient_key } => {
            Ok(advance(next, &status(next, recipient_key)))
        }
        PickupMessage::DeliveryRequest { recipient_key, .. } if queue.waiting.is_empty() => {
            Ok(advance(next, &status(next, recipient_key)))
        }
        PickupMessage::DeliveryRequest {
            limit,
            recipient_key,
        } => {
            let limit = usize::try_from(*limit)
                .unwrap_or(DELIVERY_MAX)
                .min(DELIVERY_MAX);
            let delivery = PickupMessage::Delivery {
                recipient_key: recipient_key.clone(),
                messages: queue.waiting.iter().take(limit).cloned().collect(),
            };
            Ok(advance(next, &delivery))
        }
        PickupMessage::MessagesReceived(_) => {
            Ok(advance(next, &status(next, &None)).tell(Notice::Received("messages-received")))
        }
        PickupMessage::LiveDelivery(true) if !queue.is_persistent => {
            let report = ProblemReport::new(
                "e.m.live-mode-not-supported",
                "Connection does not support Live Delivery",
            );
            let kind = notification::report_type(&message.kind);
            let report = answer(message, kind, &PickupMessage::Report(report), ctx);
            Ok(Advance::of(next).send(Recipient::Peer, report))
        }
        PickupMessage::LiveDelivery(live) => {
            next.live_delivery = *live;
            Ok(advance(next, &status(next, &None)))
        }
        _ => Err(Problem::wrong_state()),
    }
}

fn answer(
    to: &Incoming<PickupMessage>,
    kind: MessageType,
    content: &PickupMessage,
    ctx: &Ctx,
) -> Message {
    let mut message = Message::new(kind, fresh_id(content.name(), ctx));
    message.thread.thid = Some(to.thread_id.clone());
    content.write(&mut message);
    message
}

fn answered(session: PickupSession, message: &Incoming<PickupMessage>) -> Advanced<PickupSession> {
    let mut next = session;
    match &message.content {
        PickupMessage::Status(status) => {
            next.live_delivery = status.live_delivery;
            Ok(Advance::of(next).tell(Notice::Received("status")))
        }
        PickupMessage::Delivery { .. } => Ok(Advance::of(next).tell(Notice::Received("delivery"))),
        PickupMessage::Report(report) => {
            Ok(Advance::of(next).tell(Notice::Reported(report.clone())))
        }
        _ => Err(Problem::wrong_state()),
    }
}
