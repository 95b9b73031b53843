//! The steps of a connection, in the protocol that makes it.

use selfsame_aries::advance::{Advance, Footing, Outgoing, Problem, ProblemKind};
use selfsame_aries::connection::{
    ConnectionRecord, ConnectionRole, ConnectionState, HandshakeRejection,
};
use selfsame_aries::connections::{self, ConnectionAct, ConnectionInput, ConnectionMessage};
use selfsame_aries::did_exchange::{self, DidExchangeAct, DidExchangeInput, DidExchangeMessage};
use selfsame_aries::wire::{Vocabulary as _, fresh_id};
use selfsame_credential::evidence::Step;
use selfsame_didcomm::Message;
use selfsame_mediation::destination::{Located, located};
use selfsame_mediation::own_side::NewParty;
use selfsame_mediation::relation::{self, RelationAct, RelationInput};

use super::{ConnectionEntry, ConnectionStep, to_peer, v2};
use crate::machine::{AgentTurn, Beside, Taken};
use selfsame_mediation::given::{Aside, HandshakeMessage, ReceivedHandshake};

type StepResult<T> = Result<T, Problem>;

/// An input of either protocol.
enum HandshakeInput {
    Connection(ConnectionInput),
    Exchange(DidExchangeInput),
    V2(RelationInput),
}

/// What this side does, in either protocol.
#[derive(Clone, Copy)]
enum HandshakeMove<'a> {
    Request(&'a NewParty),
    Respond(&'a NewParty),
    /// The controller responds, so that nothing else tells the peer.
    RespondLater(&'a NewParty),
    /// Shows the inviter that its response came.
    Finish,
    Reject(&'a HandshakeRejection),
}

/// A step of the protocol with the messages that it sends.
struct HandshakeStep {
    advance: Advance<ConnectionRecord>,
    sent: Vec<Outgoing>,
}

/// The controller goes on.
pub fn accept(
    entry: &mut ConnectionEntry,
    made: Option<&NewParty>,
    turn: &AgentTurn<'_>,
) -> ConnectionStep {
    let made = made.ok_or_else(Problem::wrong_state)?;
    let mut changed = entry.clone();
    let by_did = changed.record.invitation_did.clone();
    if let (None, ConnectionRole::Invitee, Some(did)) =
        (&changed.invited_to, changed.record.role, by_did)
    {
        let inviter = match changed.is_v2() {
            true => v2::located(&did, &made.party.did, turn)?,
            false => located(&did, None, turn.round)?,
        };
        match inviter {
            Step::Done(inviter) => changed.invited_to = Some(inviter.reached()?.destination),
            Step::Needs(needs) => return Ok(Step::Needs(needs)),
        }
    }
    let moved = match changed.record.role {
        ConnectionRole::Inviter => HandshakeMove::RespondLater(made),
        ConnectionRole::Invitee => HandshakeMove::Request(made),
    };
    let HandshakeStep { advance, sent } = match stepped(&changed, moved.input(&changed), turn)? {
        Step::Done(stepped) => stepped,
        Step::Needs(needs) => return Ok(Step::Needs(needs)),
    };
    if advance.is_repeated {
        return Ok(Step::Done(Taken::repeated()));
    }
    changed.record = advance.record;
    match v2::adopt(&mut changed, made, turn)? {
        Step::Done(()) => {}
        Step::Needs(needs) => return Ok(Step::Needs(needs)),
    }
    changed.own_key = Some(made.key.clone());
    let send = changed.parcels(sent)?;
    let writes = v2::remembered(&changed, made.writes.clone());
    *entry = changed;
    let taken = Taken::sending(send).with(Some(writes));
    Ok(Step::Done(
        taken.telling(entry.told(turn.round.at.id, turn)),
    ))
}

/// The controller refuses what the peer sent.
pub fn reject(
    entry: &mut ConnectionEntry,
    rejection: &HandshakeRejection,
    turn: &AgentTurn<'_>,
) -> ConnectionStep {
    let moved = HandshakeMove::Reject(rejection);
    let HandshakeStep { advance, sent } = match stepped(entry, moved.input(entry), turn)? {
        Step::Done(stepped) => stepped,
        Step::Needs(needs) => return Ok(Step::Needs(needs)),
    };
    if advance.is_repeated {
        return Ok(Step::Done(Taken::repeated()));
    }
    // A request that was not answered was encrypted to the key of the invitation.
    let invited_by = entry.record.invitation_key.clone();
    let invited_by = invited_by.filter(|_| entry.record.role == ConnectionRole::Inviter);
    let sender = ConnectionEntry {
        own_key: entry.own_key.clone().or(invited_by),
        ..entry.clone()
    };
    // Before the request this side has no key to report from: then the refusal is this side's alone.
    let send = sender.parcels(sent).unwrap_or_default();
    entry.record = advance.record;
    let told = entry.told(turn.round.at.id, turn);
    Ok(Step::Done(Taken::sending(send).telling(told)))
}

/// A message of the protocol, and what follows from it without the controller: an accepted invitation's response, and
/// the confirmation of a response.
pub fn receive(
    entry: &mut ConnectionEntry,
    received: &ReceivedHandshake,
    made: Option<&NewParty>,
    turn: &AgentTurn<'_>,
) -> ConnectionStep {
    is_from_the_peer(entry, received)?;
    let HandshakeStep { advance, .. } = match stepped(entry, HandshakeInput::of(received), turn)? {
        Step::Done(stepped) => stepped,
        Step::Needs(needs) => return Ok(Step::Needs(needs)),
    };
    if advance.is_repeated {
        return Ok(Step::Done(Taken::repeated()));
    }
    // Of an invitation that many may use, the request begins a connection of its own.
    let mut changed = ConnectionEntry {
        is_branch: entry.is_branch || advance.beside.is_some(),
        record: advance.beside.clone().unwrap_or(advance.record.clone()),
        ..entry.clone()
    };
    if received.is_request() || received.is_response() {
        match introduced(&changed, received, turn)? {
            Step::Done(peer) => changed.peer_at = Some(peer.destination),
            Step::Needs(needs) => return Ok(Step::Needs(needs)),
        }
        if changed.is_v2() {
            // Until this side has another DID, the peer writes to that of the invitation.
            changed.own_key.clone_from(&received.recipient);
        }
    }
    let id = match advance.beside.is_some() {
        true => fresh_id("connection", turn.round.ctx),
        false => turn.round.at.id.to_owned(),
    };
    let (mut tell, came) = (changed.told(&id, turn), changed.record.state);
    let Taken { send, batch, .. } = match followed(&mut changed, made, turn)? {
        Step::Done(taken) => taken,
        Step::Needs(needs) => return Ok(Step::Needs(needs)),
    };
    if changed.record.state != came {
        tell.extend(changed.told(&id, turn));
    }
    if advance.beside.is_none() {
        *entry = changed;
        return Ok(Step::Done(Taken::sending(send).with(batch).telling(tell)));
    }
    let beside = Beside {
        id,
        entry: changed,
        send,
        tell,
    };
    Ok(Step::Done(Taken {
        beside: Some(beside),
        ..Taken::sending(Vec::new()).with(batch)
    }))
}

/// What follows without the controller.
fn followed(
    entry: &mut ConnectionEntry,
    made: Option<&NewParty>,
    turn: &AgentTurn<'_>,
) -> ConnectionStep {
    let moved = match (entry.record.role, entry.record.state, made) {
        (ConnectionRole::Inviter, ConnectionState::Request, Some(made)) => {
            HandshakeMove::Respond(made)
        }
        (ConnectionRole::Invitee, ConnectionState::Response, _) => HandshakeMove::Finish,
        _ => return Ok(Step::Done(Taken::sending(Vec::new()))),
    };
    let HandshakeStep { advance, sent } = match stepped(entry, moved.input(entry), turn)? {
        Step::Done(stepped) => stepped,
        Step::Needs(needs) => return Ok(Step::Needs(needs)),
    };
    entry.record = advance.record;
    let writes = match moved {
        HandshakeMove::Respond(made) => {
            match v2::adopt(entry, made, turn)? {
                Step::Done(()) => {}
                Step::Needs(needs) => return Ok(Step::Needs(needs)),
            }
            entry.own_key = Some(made.key.clone());
            Some(v2::remembered(entry, made.writes.clone()))
        }
        _ => None,
    };
    let send = entry.parcels(sent)?;
    Ok(Step::Done(Taken::sending(send).with(writes)))
}

/// A message of another protocol shows that the peer has the connection; these answer it. DID exchange has a message of
/// its own for that.
pub fn hear(entry: &mut ConnectionEntry, heard: &Aside, turn: &AgentTurn<'_>) -> ConnectionStep {
    let mut is_confirmed = false;
    if !entry.is_exchange() {
        let any = match entry.is_v2() {
            true => HandshakeInput::V2(RelationInput::Heard),
            false => HandshakeInput::Connection(ConnectionInput::Heard),
        };
        match stepped(entry, any, turn)? {
            Step::Done(HandshakeStep { advance, .. }) => {
                is_confirmed = !advance.is_repeated;
                entry.record = advance.record;
            }
            Step::Needs(needs) => return Ok(Step::Needs(needs)),
        }
    }
    let send = entry.parcels(to_peer(&heard.answers))?;
    let mut tell = match is_confirmed {
        true => entry.told(turn.round.at.id, turn),
        false => Vec::new(),
    };
    if turn.is_heard {
        tell.extend(heard.tell.iter().cloned());
    }
    let is_silent = send.is_empty() && tell.is_empty() && heard.writes.is_none();
    Ok(Step::Done(Taken {
        is_repeated: !is_confirmed && is_silent,
        ..Taken::sending(send)
            .with(heard.writes.clone())
            .telling(tell)
    }))
}

/// Whether the keys of the envelope are those of the connection: one who knows a thread alone can't end it. A request
/// comes from a key that is not known yet, to the key of the invitation.
fn is_from_the_peer(entry: &ConnectionEntry, received: &ReceivedHandshake) -> StepResult<()> {
    let Some(recipient) = &received.recipient else {
        return Ok(());
    };
    let expected = match received.is_request() {
        true => entry.record.invitation_key.as_ref(),
        false => entry.own_key.as_ref(),
    };
    let is_known = match (&entry.peer_at, &received.sender) {
        _ if received.is_request() => true,
        (Some(peer), Some(sender)) => peer.is(sender),
        (Some(_), None) => false,
        (None, _) => true,
    };
    match expected == Some(recipient) && is_known {
        true => Ok(()),
        false => Err(Problem::unknown_thread()),
    }
}

/// Where the peer that introduced itself gets its messages. Its own key encrypted the message, unless the controller
/// brought the message: then a signature must prove the DID.
fn introduced(
    entry: &ConnectionEntry,
    received: &ReceivedHandshake,
    turn: &AgentTurn<'_>,
) -> StepResult<Step<Located>> {
    let theirs = entry.record.theirs.as_ref();
    let theirs = theirs.ok_or_else(Problem::wrong_state)?;
    let refused = |problem: Problem| refusal(entry, received, problem, turn);
    if let HandshakeMessage::V2(_) = &received.message {
        // The machine wrote the sender's DID, which the envelope proves.
        let own = entry.record.invitation_did.as_deref().unwrap_or_default();
        return v2::located(&theirs.did, own, turn).map_err(refused);
    }
    let peer = match located(&theirs.did, theirs.doc.as_ref(), turn.round).map_err(refused)? {
        Step::Done(peer) => peer,
        Step::Needs(needs) => return Ok(Step::Needs(needs)),
    };
    // A peer without an endpoint is reached on its own connections alone (RFC 0092).
    let peer = match received.has_line {
        true => peer,
        false => peer.reached().map_err(refused)?,
    };
    let is_signed = theirs.doc.is_some() && entry.is_exchange();
    let is_own = match (&received.sender, &received.recipient) {
        (Some(sender), _) => sender.key().is_some_and(|key| peer.document.has(key)),
        (None, Some(_)) => false,
        (None, None) => is_signed,
    };
    if is_own {
        return Ok(Step::Done(peer));
    }
    let explain = "the message was not encrypted by a key of the DID that it names";
    let code = match received.is_request() {
        true => HandshakeRejection::REQUEST,
        false => HandshakeRejection::RESPONSE,
    };
    Err(refused(Problem::new(ProblemKind::Signature, code, explain)))
}

/// The refusal with the protocol's report to the peer.
fn refusal(
    entry: &ConnectionEntry,
    received: &ReceivedHandshake,
    problem: Problem,
    turn: &AgentTurn<'_>,
) -> Problem {
    use selfsame_aries::advance::Recipient;
    let report = HandshakeRejection::default().report(entry.record.role);
    let id = fresh_id("refusal", turn.round.ctx);
    let mut message = match &received.message {
        HandshakeMessage::Connection(_) => {
            let report = ConnectionMessage::Report(report);
            let mut message = Message::new(received.kind().sibling(report.name()), id);
            report.write(&mut message);
            message
        }
        HandshakeMessage::Exchange(_) => {
            let report = DidExchangeMessage::Report(report);
            let mut message = Message::new(received.kind().sibling(report.name()), id);
            report.write(&mut message);
            message
        }
        HandshakeMessage::V2(message) => relation::refusal(message, turn.round.ctx),
    };
    message.thread.thid = Some(received.thread_id().to_owned());
    let to = match received.is_request() {
        true => Recipient::Sender,
        false => Recipient::Invitation,
    };
    problem.reported(to, message)
}

impl HandshakeInput {
    /// A message of the peer.
    fn of(received: &ReceivedHandshake) -> Self {
        match &received.message {
            HandshakeMessage::Connection(message) => {
                Self::Connection(ConnectionInput::Received((**message).clone()))
            }
            HandshakeMessage::Exchange(message) => {
                Self::Exchange(DidExchangeInput::Received(message.clone()))
            }
            HandshakeMessage::V2(message) => Self::V2(RelationInput::Received((**message).clone())),
        }
    }
}

impl HandshakeMove<'_> {
    /// The act in the protocol of the connection.
    fn input(self, entry: &ConnectionEntry) -> HandshakeInput {
        if entry.is_v2() {
            return HandshakeInput::V2(self.relation_input());
        }
        match entry.is_exchange() {
            true => HandshakeInput::Exchange(DidExchangeInput::Act(self.exchange_act(entry))),
            false => HandshakeInput::Connection(ConnectionInput::Act(self.connection_act(entry))),
        }
    }

    fn relation_input(self) -> RelationInput {
        RelationInput::Act(match self {
            Self::Request(made) => RelationAct::Request(made.party.clone()),
            Self::Respond(made) | Self::RespondLater(made) => RelationAct::Respond {
                party: made.party.clone(),
                is_telling: matches!(self, Self::RespondLater(_)),
            },
            Self::Reject(rejection) => RelationAct::Reject(rejection.clone()),
            // Any message of the peer completed the connection, so nothing is left to confirm.
            Self::Finish => return RelationInput::Heard,
        })
    }

    fn connection_act(self, entry: &ConnectionEntry) -> ConnectionAct {
        match self {
            Self::Request(made) => ConnectionAct::Request {
                label: Some(made.label.clone()),
                party: made.party.clone(),
                inviter_key: entry.inviter_key(),
            },
            Self::Respond(made) | Self::RespondLater(made) => ConnectionAct::Respond {
                party: made.party.clone(),
            },
            Self::Finish => ConnectionAct::Confirm,
            Self::Reject(rejection) => ConnectionAct::Reject(rejection.clone()),
        }
    }

    fn exchange_act(self, entry: &ConnectionEntry) -> DidExchangeAct {
        match self {
            Self::Request(made) => DidExchangeAct::Request {
                label: Some(made.label.clone()),
                party: made.party.clone(),
                key: made.key.clone(),
                inviter_key: entry.inviter_key(),
            },
            Self::Respond(made) | Self::RespondLater(made) => DidExchangeAct::Respond {
                party: made.party.clone(),
            },
            Self::Finish => DidExchangeAct::Complete,
            Self::Reject(rejection) => DidExchangeAct::Reject(rejection.clone()),
        }
    }
}

impl ConnectionEntry {
    /// The key of the DID that invited, which signs the response.
    fn inviter_key(&self) -> Option<selfsame_aries::key::VerKey> {
        self.invited_to.as_ref()?.keys.first().cloned()
    }
}

fn stepped(
    entry: &ConnectionEntry,
    input: HandshakeInput,
    turn: &AgentTurn<'_>,
) -> StepResult<Step<HandshakeStep>> {
    let footing = Footing::Known(&entry.record);
    let step = match input {
        HandshakeInput::Connection(input) => {
            connections::step(footing, &input, turn.round.evidence, turn.round.ctx)?
        }
        HandshakeInput::Exchange(input) => {
            did_exchange::step(footing, &input, turn.round.evidence, turn.round.ctx)?
        }
        HandshakeInput::V2(input) => {
            Step::Done(relation::step(&entry.record, &input, turn.round.ctx)?)
        }
    };
    Ok(match step {
        Step::Needs(needs) => Step::Needs(needs),
        Step::Done(mut advance) => {
            let sent = std::mem::take(&mut advance.send);
            Step::Done(HandshakeStep { advance, sent })
        }
    })
}
