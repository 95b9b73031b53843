//! The steps of a mediation. Which keys there are is in the mediator's own records: it answers a change or a question
//! by an act, once it has carried it out.

use selfsame_crypto::ctx::Ctx;
use selfsame_didcomm::Message;

use crate::advance::{Advance, Advanced, Footing, Notice, Outset, Problem, Recipient};
use crate::dialogue::Dialogue;
use crate::key::VerKey;
use crate::wire::{Incoming, Vocabulary, fresh_id};

use super::messages::{KeyPage, KeyUpdate, KeyUpdated, MediationMessage, PageLeft};
use super::state::{MediationRecord, MediationRole, MediationState};

/// What a mediation can be given.
#[derive(Clone, Debug, PartialEq)]
pub enum MediationInput {
    /// A message came.
    Received(Incoming<MediationMessage>),
    /// An act of the controller.
    Act(MediationAct),
}

/// What the controller of a mediation can do.
#[derive(Clone, Debug, PartialEq)]
pub enum MediationAct {
    /// The client asks for it.
    Request,
    /// The server grants it.
    Grant {
        /// Where it takes messages.
        endpoint: String,
        /// Its keys.
        routing_keys: Vec<VerKey>,
    },
    /// The server denies it, or ends it.
    Deny,
    /// The client tells its keys.
    Update(Vec<KeyUpdate>),
    /// The server has carried out a change.
    Updated {
        /// The thread of the change.
        thread_id: String,
        /// What became of each key.
        updated: Vec<KeyUpdated>,
    },
    /// The client asks which keys there are.
    Query(Option<KeyPage>),
    /// The server says which keys there are.
    Keys {
        /// The thread of the question.
        thread_id: String,
        /// The keys.
        keys: Vec<VerKey>,
        /// What is left.
        left: Option<PageLeft>,
    },
}

/// Takes a step of a mediation.
///
/// # Errors
/// If thread or state do not allow the input. The record stays as it is.
pub fn step(
    footing: Footing<'_, MediationRecord>,
    input: &MediationInput,
    ctx: &Ctx,
) -> Advanced<MediationRecord> {
    match (footing, input) {
        (Footing::New(opening), MediationInput::Act(MediationAct::Request)) => {
            let mut dialogue = Dialogue::opened(opening, ctx);
            let message = dialogue.say(&MediationMessage::Request, ctx);
            Ok(began(MediationRole::Client, dialogue, opening).send(Recipient::Peer, message))
        }
        (Footing::New(opening), MediationInput::Received(message)) => match message.content {
            MediationMessage::Request => {
                let dialogue = Dialogue::joined(message, ctx);
                Ok(began(MediationRole::Server, dialogue, opening))
            }
            _ => Err(Problem::unknown_thread()),
        },
        (Footing::New(_), MediationInput::Act(_)) => Err(Problem::wrong_state()),
        (Footing::Known(record), MediationInput::Received(message)) => {
            receive(record, message, ctx)
        }
        (Footing::Known(record), MediationInput::Act(act)) => do_act(record, act, ctx),
    }
}

fn began(role: MediationRole, dialogue: Dialogue, opening: &Outset) -> Advance<MediationRecord> {
    let record = MediationRecord {
        state: MediationState::Request,
        role,
        dialogue,
        connection_id: opening.connection_id.clone(),
        endpoint: None,
        routing_keys: Vec::new(),
    };
    moved(record, MediationState::Request)
}

fn moved(record: MediationRecord, state: MediationState) -> Advance<MediationRecord> {
    let record = MediationRecord { state, ..record };
    Advance::of(record).tell(Notice::State(state.name()))
}

fn receive(
    record: &MediationRecord,
    message: &Incoming<MediationMessage>,
    ctx: &Ctx,
) -> Advanced<MediationRecord> {
    use MediationMessage as M;
    use MediationRole::{Client, Server};
    use MediationState::{Denied, Granted, Request};
    if record.dialogue.has_heard(message) {
        return Ok(Advance::repeated(record.clone()));
    }
    let mut next = record.clone();
    next.dialogue.note(&message.id, ctx);
    let is_of_request = record.dialogue.is_of(message);
    match (record.role, record.state, &message.content) {
        (
            Client,
            Request,
            M::Grant {
                endpoint,
                routing_keys,
            },
        ) if is_of_request => {
            next.endpoint = Some(endpoint.clone());
            next.routing_keys.clone_from(routing_keys);
            Ok(moved(next, Granted))
        }
        (Client, Request | Granted, M::Deny) if is_of_request => Ok(moved(next, Denied)),
        (Client, Request, M::Report(report)) if is_of_request => {
            next.dialogue.error_msg = Some(report.line());
            Ok(moved(next, Denied).tell(Notice::Reported(report.clone())))
        }
        (Client, Request, M::Grant { .. } | M::Deny) => Err(Problem::unknown_thread()),
        (Client, Granted, M::Updated(_) | M::Keys { .. })
        | (Server, Granted, M::Update(_) | M::Query(_)) => {
            Ok(Advance::of(next).tell(Notice::Received(message.content.name())))
        }
        _ => Err(Problem::wrong_state()),
    }
}

fn do_act(record: &MediationRecord, act: &MediationAct, ctx: &Ctx) -> Advanced<MediationRecord> {
    use MediationAct as A;
    use MediationRole::{Client, Server};
    use MediationState::{Denied, Granted, Request};
    let mut next = record.clone();
    match (record.role, record.state, act) {
        (
            Server,
            Request,
            A::Grant {
                endpoint,
                routing_keys,
            },
        ) => {
            next.endpoint = Some(endpoint.clone());
            next.routing_keys.clone_from(routing_keys);
            let grant = MediationMessage::Grant {
                endpoint: endpoint.clone(),
                routing_keys: routing_keys.clone(),
            };
            let message = next.dialogue.say(&grant, ctx);
            Ok(moved(next, Granted).send(Recipient::Peer, message))
        }
        (Server, Request | Granted, A::Deny) => {
            let message = next.dialogue.say(&MediationMessage::Deny, ctx);
            Ok(moved(next, Denied).send(Recipient::Peer, message))
        }
        (Server, Granted, A::Grant { endpoint, .. })
            if record.endpoint.as_ref() == Some(endpoint) =>
        {
            Ok(Advance::repeated(next))
        }
        (Server, Denied, A::Deny) | (Client, Request, A::Request) => Ok(Advance::repeated(next)),
        (Client, Granted, A::Update(updates)) => {
            let update = MediationMessage::Update(updates.clone());
            Ok(beside(next, &update, None, ctx))
        }
        (Client, Granted, A::Query(page)) => {
            Ok(beside(next, &MediationMessage::Query(*page), None, ctx))
        }
        (Server, Granted, A::Updated { thread_id, updated }) => {
            let updated = MediationMessage::Updated(updated.clone());
            Ok(beside(next, &updated, Some(thread_id), ctx))
        }
        (
            Server,
            Granted,
            A::Keys {
                thread_id,
                keys,
                left,
            },
        ) => {
            let keys = keys.clone();
            let list = MediationMessage::Keys { keys, left: *left };
            Ok(beside(next, &list, Some(thread_id), ctx))
        }
        _ => Err(Problem::wrong_state()),
    }
}

/// A message about keys: in a thread of its own, or in answer to one.
fn beside(
    record: MediationRecord,
    content: &MediationMessage,
    thread: Option<&String>,
    ctx: &Ctx,
) -> Advance<MediationRecord> {
    let kind = record.dialogue.kind.sibling(content.name());
    let mut message = Message::new(kind, fresh_id(content.name(), ctx));
    message.thread.thid = thread.cloned();
    content.write(&mut message);
    Advance::of(record).send(Recipient::Peer, message)
}
