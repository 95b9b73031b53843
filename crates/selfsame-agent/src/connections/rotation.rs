//! DID rotate on a connection (RFC 0794): one side changes its DID, or ends the connection.

use selfsame_aries::advance::{Advance, Footing, Outset, Problem};
use selfsame_aries::connection::DidWithDoc;
use selfsame_aries::did_rotate::{
    RotateAct, RotateInput, RotateMessage, RotateRefusal, RotateRole, RotateState, RotationRecord,
    step,
};
use selfsame_aries::key::VerKey;
use selfsame_aries::wire::{Incoming, Vocabulary as _};
use selfsame_credential::evidence::Step;
use selfsame_did::Did;
use selfsame_did::method::METHODS;
use selfsame_didcomm::Version;
use selfsame_didcomm::message::{MessageType, Semver};
use selfsame_mediation::destination::{Located, located};
use selfsame_mediation::own_side::NewParty;
use selfsame_mediation::speaker::Speaker;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ConnectionEntry, ConnectionStep, v2};
use crate::machine::{AgentTurn, Taken};
use selfsame_mediation::given::Rotating;

/// A change of a DID.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RotationEntry {
    /// What the protocol knows of it.
    record: RotationRecord,
    /// Our side after it, until the peer acknowledges it.
    next: Option<NextSide>,
}

/// This side after a change.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct NextSide {
    key: VerKey,
    party: DidWithDoc,
}

impl RotationEntry {
    /// Our next key.
    pub fn next_key(&self) -> Option<&VerKey> {
        self.next.as_ref().map(|next| &next.key)
    }
}

/// This side changes its DID, or ends the connection.
pub fn act(
    entry: &mut ConnectionEntry,
    rotating: &Rotating,
    made: Option<&NewParty>,
    turn: &AgentTurn<'_>,
) -> ConnectionStep {
    if !entry.record.state.is_ready() {
        return Err(Problem::wrong_state());
    }
    if entry.is_v2() {
        return v2::rotate(entry, made, turn);
    }
    let (act, made) = match (rotating, made) {
        (Rotating::Hangup, _) => (RotateAct::Hangup, None),
        (_, Some(made)) => {
            let to_did = made.party.did.clone();
            (RotateAct::Rotate { to_did }, Some(made))
        }
        (_, None) => return Err(Problem::wrong_state()),
    };
    // A change that the peer has not acknowledged yet comes first.
    let is_open = |one: &RotationEntry| one.record.state == RotateState::Sent;
    if made.is_some() && entry.rotation.as_ref().is_some_and(is_open) {
        return Err(Problem::wrong_state());
    }
    let outset = outset(turn);
    let advance = step(
        Footing::New(&outset),
        &RotateInput::Act(act),
        turn.round.ctx,
    )?;
    let send = entry.parcels(advance.send)?;
    entry.is_over = made.is_none();
    entry.rotation = Some(RotationEntry {
        record: advance.record,
        next: made.map(|made| NextSide {
            key: made.key.clone(),
            party: made.party.clone(),
        }),
    });
    let writes = made.map(|made| made.writes.clone());
    let said = send.first();
    let shown = said.map(|said| Value::Object(said.message.to_members(Version::V1)));
    let mut taken = Taken::sending(send).with(writes);
    taken.shown = shown;
    Ok(Step::Done(taken))
}

/// A message of the protocol came, authenticated.
pub fn receive(
    entry: &mut ConnectionEntry,
    message: &Incoming<RotateMessage>,
    turn: &AgentTurn<'_>,
) -> ConnectionStep {
    let known = entry.rotation.as_ref();
    let known = known.filter(|one| one.record.dialogue.thread_id == message.thread_id);
    let is_answer = matches!(
        message.content,
        RotateMessage::Ack(_) | RotateMessage::Report(_)
    );
    // A report names the thread as its parent (RFC 0794, "Problem Report").
    let known = match is_answer {
        true => entry.rotation.as_ref(),
        false => known,
    };
    let input = RotateInput::Received(message.clone());
    let outset = outset(turn);
    let footing = match known {
        Some(known) => Footing::Known(&known.record),
        None => Footing::New(&outset),
    };
    let advance = step(footing, &input, turn.round.ctx)?;
    if advance.is_repeated {
        return Ok(Step::Done(Taken::repeated()));
    }
    match advance.record.role {
        RotateRole::Rotating => acknowledged(entry, advance),
        RotateRole::Observing => observed(entry, advance, turn),
    }
}

/// The peer acknowledged our new DID, or does not take it.
fn acknowledged(entry: &mut ConnectionEntry, advance: Advance<RotationRecord>) -> ConnectionStep {
    let rotation = entry.rotation.take();
    let next = rotation.and_then(|rotation| rotation.next);
    if let (RotateState::Done, Some(next)) = (advance.record.state, next) {
        let own = entry.own_key.replace(next.key);
        entry.former.keep_own(own);
        entry.record.ours = Some(next.party);
    }
    entry.rotation = Some(RotationEntry {
        record: advance.record,
        next: None,
    });
    Ok(Step::Done(Taken::sending(Vec::new())))
}

/// The peer has a new DID, or ends the connection. The new DID is acknowledged to the prior one; what follows goes to
/// the new one.
fn observed(
    entry: &mut ConnectionEntry,
    advance: Advance<RotationRecord>,
    turn: &AgentTurn<'_>,
) -> ConnectionStep {
    let Some(to_did) = advance.record.to_did.clone() else {
        entry.end();
        entry.rotation = Some(RotationEntry {
            record: advance.record,
            next: None,
        });
        return Ok(Step::Done(Taken::sending(Vec::new())));
    };
    // A peer with an endpoint keeps one.
    let has_endpoint = entry.peer()?.endpoint.is_some();
    let found = match located(&to_did, None, turn.round) {
        Ok(Step::Done(found)) if has_endpoint => {
            found.reached().map_err(|_| refusal(&to_did, turn))
        }
        Ok(Step::Done(found)) => Ok(found),
        Ok(Step::Needs(needs)) => return Ok(Step::Needs(needs)),
        Err(_) => Err(refusal(&to_did, turn)),
    };
    let act = RotateInput::Act(match &found {
        Ok(_) => RotateAct::Accept,
        Err(refusal) => RotateAct::Refuse(*refusal),
    });
    let answered = step(Footing::Known(&advance.record), &act, turn.round.ctx)?;
    let send = entry.parcels(answered.send)?;
    entry.rotation = Some(RotationEntry {
        record: answered.record,
        next: None,
    });
    if let Ok(Located { destination, .. }) = found {
        let former = entry.peer_at.replace(destination);
        for key in former.into_iter().flat_map(|peer| peer.keys) {
            entry.former.keep_theirs(Some(Speaker::Key(key)));
        }
        let (did, doc) = (to_did, None);
        entry.record.theirs = Some(DidWithDoc { did, doc });
    }
    Ok(Step::Done(Taken::sending(send)))
}

/// Why a new DID can't be used.
fn refusal(to_did: &str, turn: &AgentTurn<'_>) -> RotateRefusal {
    let Ok(did) = to_did.parse::<Did>() else {
        return RotateRefusal::Unresolvable;
    };
    if METHODS.of(&did).is_none() {
        return RotateRefusal::MethodUnsupported;
    }
    let contained = selfsame_aries::peer_document::contained(&did).is_some();
    let fetched = turn.round.evidence.did(&did);
    let resolved = fetched.and_then(|fetched| fetched.value.as_ref().ok());
    let is_resolved = resolved.is_some_and(|found| found.document_of(&did).is_ok());
    match contained || is_resolved {
        true => RotateRefusal::DocUnsupported,
        false => RotateRefusal::Unresolvable,
    }
}

fn outset(turn: &AgentTurn<'_>) -> Outset {
    Outset {
        kind: MessageType::new(RotateMessage::PROTOCOL, Semver::new(1, 0), "rotate"),
        connection_id: Some(turn.round.at.id.to_owned()),
        parent_thread_id: None,
    }
}
