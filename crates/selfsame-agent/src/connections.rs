//! Connections: records, steps and acts of RFC 0160.

use async_trait::async_trait;
use selfsame_aries::advance::{Advance, Footing, Outgoing, Problem, ProblemKind, Recipient};
use selfsame_aries::connection::{
    Accepting, ConnectionRecord, ConnectionRole, ConnectionState, DidWithDoc,
};
use selfsame_aries::connections::{ConnectionAct, ConnectionInput, ConnectionMessage, step};
use selfsame_aries::key::VerKey;
use selfsame_aries::wire::Incoming;
use selfsame_core::machine::{At, Round};
use selfsame_credential::evidence::Step;
use selfsame_crypto::encoding::hex_encode;
use selfsame_didcomm::Message;
use selfsame_driver::Result;
use selfsame_store::{Batch, Tag};
use serde::{Deserialize, Serialize};

use crate::destination::{Destination, own_party};
use crate::keys;
use crate::machine::{AgentProtocol, AgentTurn, Beside, Parcel, Taken};
use crate::notice::{Told, Untold};
use crate::parts::AgentParts;
use crate::view::ConnectionView;

/// Finds the record of a thread.
pub const THREAD: &str = "aries_thread";
/// Finds an invitation that can be used by its key.
pub const INVITATION: &str = "aries_invitation";
/// Finds a connection by our key in it.
pub const OWN_KEY: &str = "aries_key";

/// The topic of their webhooks.
const TOPIC: &str = "connections";

/// The protocol connections 1.0.
pub struct Connections;

/// A connection as it is kept.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ConnectionEntry {
    /// What the protocol knows of it.
    pub record: ConnectionRecord,
    /// Our key in it; until we have a DID, none.
    pub own_key: Option<VerKey>,
    /// Where the invitation that we received asks to send the request.
    pub invited_to: Option<Destination>,
    /// Notices that are told once its messages were sent.
    #[serde(default)]
    pub untold: Untold,
}

/// What a connection is given.
pub struct ConnectionGiven {
    pub what: ConnectionWhat,
    /// This side, made for the step.
    made: Option<NewParty>,
}

pub enum ConnectionWhat {
    /// A message of the protocol.
    Received(Box<Incoming<ConnectionMessage>>),
    /// The controller goes on: with the request as the invited side, with the response as the inviting one.
    Accept,
    /// A message of another protocol came on the connection; these answer it.
    Heard(Vec<Message>),
    /// This agent says something of another protocol that needs no record.
    Say(Vec<Message>),
}

/// A new DID of ours.
struct NewParty {
    key: VerKey,
    party: DidWithDoc,
    label: String,
    writes: Batch,
}

impl ConnectionGiven {
    pub fn new(what: ConnectionWhat) -> Self {
        Self { what, made: None }
    }
}

#[async_trait]
impl AgentProtocol for Connections {
    const KIND: &'static str = "aries_connection";
    type Entry = ConnectionEntry;
    type Input = ConnectionGiven;

    fn step(
        entry: &mut ConnectionEntry,
        input: &ConnectionGiven,
        turn: &AgentTurn<'_>,
    ) -> std::result::Result<Step<Taken<ConnectionEntry>>, Problem> {
        let made = input.made.as_ref();
        match &input.what {
            ConnectionWhat::Received(message) => receive(entry, message, made, turn),
            ConnectionWhat::Accept => accept(entry, made, turn),
            ConnectionWhat::Heard(answers) => hear(entry, answers, turn),
            ConnectionWhat::Say(messages) => {
                if !entry.record.state.is_ready() {
                    return Err(Problem::wrong_state());
                }
                let send = entry.parcels(to_peer(messages))?;
                Ok(Step::Done(Taken::sending(send)))
            }
        }
    }

    fn tags(entry: &ConnectionEntry) -> Vec<Tag> {
        let record = &entry.record;
        let mut tags = vec![Tag::hashed(THREAD, &record.dialogue.thread_id)];
        if record.role == ConnectionRole::Inviter
            && record.state == ConnectionState::Invitation
            && let Some(key) = &record.invitation_key
        {
            tags.push(Tag::hashed(INVITATION, key.to_base58()));
        }
        if let Some(key) = &entry.own_key {
            tags.push(Tag::hashed(OWN_KEY, key.to_base58()));
        }
        tags
    }

    fn untold(entry: &mut ConnectionEntry) -> &mut Untold {
        &mut entry.untold
    }

    async fn prepare(
        agent: &AgentParts,
        at: At<'_>,
        entry: &ConnectionEntry,
        input: &mut ConnectionGiven,
    ) -> Result<()> {
        let is_needed = match &input.what {
            ConnectionWhat::Accept => true,
            ConnectionWhat::Received(message) => {
                let settings = agent.terms(at.tenant).settings;
                matches!(message.content, ConnectionMessage::Request(_))
                    && (entry.record.accept == Accepting::Auto || settings.auto_accept_requests)
            }
            ConnectionWhat::Heard(_) | ConnectionWhat::Say(_) => false,
        };
        if is_needed && input.made.is_none() {
            let (key, writes) = keys::create(&agent.shared, at.tenant)?;
            let terms = agent.terms(at.tenant);
            input.made = Some(NewParty {
                party: own_party(&key, &terms.endpoint),
                label: terms.label.clone(),
                key,
                writes,
            });
        }
        Ok(())
    }
}

type ConnectionStep = std::result::Result<Step<Taken<ConnectionEntry>>, Problem>;

/// The controller goes on.
fn accept(
    entry: &mut ConnectionEntry,
    made: Option<&NewParty>,
    turn: &AgentTurn<'_>,
) -> ConnectionStep {
    let made = made.ok_or_else(Problem::wrong_state)?;
    let party = made.party.clone();
    let act = match entry.record.role {
        ConnectionRole::Inviter => ConnectionAct::Respond { party },
        ConnectionRole::Invitee => ConnectionAct::Request {
            label: Some(made.label.clone()),
            party,
            inviter_key: None,
        },
    };
    let Advanced { advance, sent } = match advanced(entry, ConnectionInput::Act(act), turn.round)? {
        Step::Done(advanced) => advanced,
        Step::Needs(needs) => return Ok(Step::Needs(needs)),
    };
    if advance.is_repeated {
        return Ok(Step::Done(Taken::repeated()));
    }
    entry.record = advance.record;
    entry.own_key = Some(made.key.clone());
    let taken = Taken::sending(entry.parcels(sent)?).with(Some(made.writes.clone()));
    Ok(Step::Done(
        taken.telling(entry.told(turn.round.at.id, turn)),
    ))
}

/// A message of the protocol, and what follows from it without the controller: an accepted invitation's response, and
/// the confirmation of a response.
fn receive(
    entry: &mut ConnectionEntry,
    message: &Incoming<ConnectionMessage>,
    made: Option<&NewParty>,
    turn: &AgentTurn<'_>,
) -> ConnectionStep {
    let input = ConnectionInput::Received(message.clone());
    let Advanced { advance, .. } = match advanced(entry, input, turn.round)? {
        Step::Done(advanced) => advanced,
        Step::Needs(needs) => return Ok(Step::Needs(needs)),
    };
    if advance.is_repeated {
        return Ok(Step::Done(Taken::repeated()));
    }
    // Of an invitation that many may use, the request begins a connection of its own.
    let mut changed = ConnectionEntry {
        record: advance.beside.clone().unwrap_or(advance.record.clone()),
        ..entry.clone()
    };
    let is_beside = advance.beside.is_some();
    let id = match is_beside {
        true => new_id(turn.round),
        false => turn.round.at.id.to_owned(),
    };
    let mut tell = changed.told(&id, turn);
    let act = follow_up(&changed.record, made);
    let (send, writes) = match act {
        None => (Vec::new(), None),
        Some(act) => {
            let next = match advanced(&changed, ConnectionInput::Act(act), turn.round)? {
                Step::Done(next) => next,
                Step::Needs(needs) => return Ok(Step::Needs(needs)),
            };
            changed.record = next.advance.record;
            let is_inviter = changed.record.role == ConnectionRole::Inviter;
            let made = made.filter(|_| is_inviter);
            if let Some(made) = made {
                changed.own_key = Some(made.key.clone());
            }
            tell.extend(changed.told(&id, turn));
            let send = changed.parcels(next.sent)?;
            (send, made.map(|made| made.writes.clone()))
        }
    };
    if !is_beside {
        *entry = changed;
        let taken = Taken::sending(send).with(writes).telling(tell);
        return Ok(Step::Done(taken));
    }
    let entry = changed;
    let beside = Beside {
        id,
        entry,
        send,
        tell,
    };
    let taken = Taken {
        beside: Some(beside),
        ..Taken::sending(Vec::new())
    };
    Ok(Step::Done(taken.with(writes)))
}

/// A message of another protocol shows that the peer has the connection; these answer it.
fn hear(entry: &mut ConnectionEntry, answers: &[Message], turn: &AgentTurn<'_>) -> ConnectionStep {
    let is_confirmed = match advanced(entry, ConnectionInput::Heard, turn.round)? {
        Step::Done(Advanced { advance, .. }) => {
            let is_new = !advance.is_repeated;
            entry.record = advance.record;
            is_new
        }
        Step::Needs(needs) => return Ok(Step::Needs(needs)),
    };
    let send = entry.parcels(to_peer(answers))?;
    let tell = match is_confirmed {
        true => entry.told(turn.round.at.id, turn),
        false => Vec::new(),
    };
    let taken = Taken {
        is_repeated: !is_confirmed && send.is_empty(),
        tell,
        ..Taken::sending(send)
    };
    Ok(Step::Done(taken))
}

/// What this agent does next by itself.
fn follow_up(record: &ConnectionRecord, made: Option<&NewParty>) -> Option<ConnectionAct> {
    match (record.role, record.state) {
        (ConnectionRole::Inviter, ConnectionState::Request) => {
            let party = made?.party.clone();
            Some(ConnectionAct::Respond { party })
        }
        (ConnectionRole::Invitee, ConnectionState::Response) => Some(ConnectionAct::Confirm),
        _ => None,
    }
}

/// A step of the protocol with the messages that it sends.
struct Advanced {
    advance: Advance<ConnectionRecord>,
    sent: Vec<Outgoing>,
}

fn advanced(
    entry: &ConnectionEntry,
    input: ConnectionInput,
    round: &Round<'_>,
) -> std::result::Result<Step<Advanced>, Problem> {
    let place = Footing::Known(&entry.record);
    Ok(match step(place, &input, round.evidence, round.ctx)? {
        Step::Needs(needs) => Step::Needs(needs),
        Step::Done(mut advance) => {
            let sent = std::mem::take(&mut advance.send);
            Step::Done(Advanced { advance, sent })
        }
    })
}

impl ConnectionEntry {
    /// These messages with their ways.
    fn parcels(&self, sent: Vec<Outgoing>) -> std::result::Result<Vec<Parcel>, Problem> {
        let mut parcels = Vec::new();
        for Outgoing { to, message } in sent {
            let to = match to {
                Recipient::Peer => self.peer()?,
                Recipient::Invitation => self.invited_to.clone().ok_or_else(no_service)?,
                // People show an invitation to each other; a stranger that is refused gets no answer.
                Recipient::OutOfBand | Recipient::Sender => continue,
            };
            let from = self.own_key.clone().ok_or_else(Problem::wrong_state)?;
            parcels.push(Parcel { from, to, message });
        }
        Ok(parcels)
    }

    /// What controllers are told of its state.
    fn told(&self, id: &str, turn: &AgentTurn<'_>) -> Vec<Told> {
        match turn.is_heard {
            true => vec![Told::new(TOPIC, &ConnectionView::of(id, self))],
            false => Vec::new(),
        }
    }

    /// Where the peer gets its messages.
    ///
    /// # Errors
    /// If its document does not say.
    pub fn peer(&self) -> std::result::Result<Destination, Problem> {
        let theirs = self
            .record
            .theirs
            .as_ref()
            .ok_or_else(Problem::wrong_state)?;
        Destination::of(theirs).map_err(|_| no_service())
    }
}

fn to_peer(messages: &[Message]) -> Vec<Outgoing> {
    let outgoing = |message: &Message| Outgoing {
        to: Recipient::Peer,
        message: message.clone(),
    };
    messages.iter().map(outgoing).collect()
}

fn no_service() -> Problem {
    Problem::new(
        ProblemKind::Content,
        "request_not_accepted",
        "the document of the peer names no service with a key and a URL",
    )
}

/// The identifier of a new connection.
fn new_id(round: &Round<'_>) -> String {
    hex_encode(&round.ctx.random::<16>("aries/connection"))
}
