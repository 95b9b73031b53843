//! What is different in connections over DIDComm v2: the DIDs of both sides stand in each message, and a side changes its
//! own by `from_prior`.

use selfsame_aries::advance::Problem;
use selfsame_aries::connection::{ConnectionRole, DidWithDoc, InvitationMode};
use selfsame_aries::wire::fresh_id;
use selfsame_aries_v2::forms::acknowledgement;
use selfsame_credential::evidence::Step;
use selfsame_did::Did;
use selfsame_didcomm::Version;
use selfsame_didcomm::message::PleaseAck;
use selfsame_mediation::destination::{Destination, Located};
use selfsame_mediation::own_side::NewParty;
use selfsame_mediation::{peers, v2};
use selfsame_store::{Batch, TenantId};
use serde_json::Value;

use super::{ConnectionEntry, ConnectionStep, to_peer};
use crate::machine::{AgentTurn, Taken};
use crate::parts::AgentParts;
use selfsame_mediation::given::{ConnectionWhat, V2What};

type StepResult<T> = Result<Step<T>, Problem>;

/// Where the subject of a DID takes messages from this DID of ours.
pub fn located(did: &str, own: &str, turn: &AgentTurn<'_>) -> StepResult<Located> {
    let own: Did = own.parse().map_err(|_| Problem::wrong_state())?;
    v2::located(did, &own, turn.round)
}

/// Where a stranger whose first message is refused takes the report.
pub fn reported(entry: &ConnectionEntry, party: &DidWithDoc) -> Option<Destination> {
    let own: Did = entry.record.invitation_did.as_ref()?.parse().ok()?;
    v2::named(&party.did, &own)
}

/// This side where it stays what the invitation says: the DID of an invitation for one is for this relation alone.
pub fn kept(
    agent: &AgentParts,
    tenant: &TenantId,
    entry: &ConnectionEntry,
    what: &ConnectionWhat,
) -> Option<NewParty> {
    let record = &entry.record;
    let is_shared = entry.is_branch || record.invitation_mode == InvitationMode::Multi;
    let is_inviter = record.role == ConnectionRole::Inviter;
    let is_rotating = matches!(what, ConnectionWhat::Rotate(_));
    if !entry.is_v2() || !is_inviter || is_shared || is_rotating {
        return None;
    }
    Some(NewParty {
        key: record.invitation_key.clone()?,
        party: DidWithDoc {
            did: record.invitation_did.clone()?,
            doc: None,
        },
        label: agent.terms(tenant).label.clone(),
        writes: Batch::new(tenant.clone()),
    })
}

/// With the long form of the peer's DID, which later messages may not have.
pub fn remembered(entry: &ConnectionEntry, writes: Batch) -> Batch {
    let peer = entry.peer_at.as_ref().and_then(|peer| peer.dids.as_ref());
    match peer.map(|dids| peers::remember(writes.clone(), &dids.theirs)) {
        Some(Ok(remembered)) => remembered,
        _ => writes,
    }
}

/// Has the messages to the peer come from this side. If the peer knows another DID, each says so until the peer writes to
/// the new one (DIDComm v2.1, "DID Rotation").
pub fn adopt(entry: &mut ConnectionEntry, made: &NewParty, turn: &AgentTurn<'_>) -> StepResult<()> {
    if !entry.is_v2() {
        return Ok(Step::Done(()));
    }
    if entry.record.role == ConnectionRole::Invitee && entry.peer_at.is_none() {
        entry.peer_at.clone_from(&entry.invited_to);
    }
    let key = entry
        .own_key
        .clone()
        .or(entry.record.invitation_key.clone());
    let dids = entry.peer_at.as_mut().and_then(|peer| peer.dids.as_mut());
    let dids = dids.ok_or_else(Problem::wrong_state)?;
    let now: Did = made.party.did.parse().map_err(|_| Problem::wrong_state())?;
    if dids.own == now {
        return Ok(Step::Done(()));
    }
    let key = key.ok_or_else(Problem::wrong_state)?;
    match v2::prior(&dids.own, &key, Some(&now), turn.round)? {
        Step::Done(jwt) => dids.from_prior = Some(jwt),
        Step::Needs(needs) => return Ok(Step::Needs(needs)),
    }
    dids.own = now;
    entry.former.keep_own(Some(key));
    Ok(Step::Done(()))
}

/// This side changes its DID, or ends the connection, and tells the peer by a message that says nothing else.
pub fn rotate(
    entry: &mut ConnectionEntry,
    made: Option<&NewParty>,
    turn: &AgentTurn<'_>,
) -> ConnectionStep {
    let mut changed = entry.clone();
    let done = match made {
        Some(made) => adopt(&mut changed, made, turn)?,
        None => leave(&mut changed, turn)?,
    };
    if let Step::Needs(needs) = done {
        return Ok(Step::Needs(needs));
    }
    if let Some(made) = made {
        changed.own_key = Some(made.key.clone());
        changed.record.ours = Some(made.party.clone());
    }
    let id = fresh_id("rotation", turn.round.ctx);
    let mut message = acknowledgement(&id.clone(), Vec::new(), id);
    // The answer shows that the peer writes to the new DID.
    message.please_ack = made.map(|_| PleaseAck {
        on: Vec::new(),
        ids: vec![String::new()],
    });
    let shown = Value::Object(message.to_members(Version::V2));
    let send = changed.parcels(to_peer(&[message]))?;
    *entry = changed;
    let mut taken = Taken::sending(send).with(made.map(|made| made.writes.clone()));
    taken.shown = Some(shown);
    Ok(Step::Done(taken))
}

fn leave(entry: &mut ConnectionEntry, turn: &AgentTurn<'_>) -> StepResult<()> {
    let key = entry.own_key.clone().ok_or_else(Problem::wrong_state)?;
    let dids = entry.peer_at.as_mut().and_then(|peer| peer.dids.as_mut());
    let dids = dids.ok_or_else(Problem::wrong_state)?;
    match v2::prior(&dids.own, &key, None, turn.round)? {
        Step::Done(jwt) => dids.from_prior = Some(jwt),
        Step::Needs(needs) => return Ok(Step::Needs(needs)),
    }
    dids.is_leaving = true;
    entry.is_over = true;
    Ok(Step::Done(()))
}

/// What an envelope says of the DIDs of the connection.
pub fn told(entry: &mut ConnectionEntry, what: &V2What, turn: &AgentTurn<'_>) -> ConnectionStep {
    let known = entry.peer()?.dids.ok_or_else(Problem::wrong_state)?;
    let mut writes = None;
    match what {
        V2What::Left => entry.end(),
        V2What::Settled => {
            let dids = entry.peer_at.as_mut().and_then(|peer| peer.dids.as_mut());
            dids.ok_or_else(Problem::wrong_state)?.from_prior = None;
        }
        V2What::Moved(did) => {
            let mut to = match v2::located(did.as_str(), &known.own, turn.round)? {
                Step::Done(located) => located.destination,
                Step::Needs(needs) => return Ok(Step::Needs(needs)),
            };
            if let Some(dids) = &mut to.dids {
                dids.from_prior = known.from_prior;
            }
            let former = entry.peer_at.replace(to);
            let former = former.and_then(|peer| peer.speakers().next());
            entry.former.keep_theirs(former);
            entry.record.theirs = Some(DidWithDoc {
                did: did.to_string(),
                doc: None,
            });
            let batch = Batch::new(turn.round.at.tenant.clone());
            writes = Some(remembered(entry, batch));
        }
    }
    Ok(Step::Done(Taken::sending(Vec::new()).with(writes)))
}
