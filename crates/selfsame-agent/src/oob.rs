//! Invitations of out-of-band (RFC 0434): their records, and how they are driven.

use selfsame_agent_view::out_of_band::{OobSides, OobView};
use selfsame_aries::advance::{Footing, Outgoing, Problem, Recipient};
use selfsame_aries::key::VerKey;
use selfsame_aries::out_of_band::{
    OobInput, OobInvitation, OobMessage, OobRecord, OobRole, OobState, step,
};
use selfsame_aries_v2::invitation::recorded;
use selfsame_credential::evidence::Step;
use selfsame_crypto::time::UnixTime;
use selfsame_mediation::destination::Destination;
use selfsame_store::{Batch, Tag};
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use crate::connections::Connections;
use crate::machine::{AgentProtocol, AgentTurn, Parcel, Taken};
use selfsame_mediation::notice::{Told, Untold};

/// Finds the records of an invitation by its identifier.
pub const OOB_INVITATION: &str = "aries_oob_invitation";
/// The topic of their webhooks.
const TOPIC: &str = "out_of_band";
/// The topic of the wish of a peer to use a connection again.
const REUSE_TOPIC: &str = "connection_reuse";
/// The topic of the answer of a peer to such a wish.
const REUSE_ACCEPTED_TOPIC: &str = "connection_reuse_accepted";

/// The protocol out-of-band.
pub struct OutOfBand;

/// An invitation as it is kept.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct OobEntry {
    /// What the protocol knows of it.
    pub record: OobRecord,
    /// Our key: that of an invitation of ours, or the one for answers without a connection.
    pub own_key: Option<VerKey>,
    /// Where the sender of the invitation gets its messages, if the invitation says so.
    pub their_service: Option<Destination>,
    /// The connection that waits for the answer to an invitation of ours for one.
    pub pending: Option<String>,
    /// The controller's name for the connection.
    pub alias: Option<String>,
    /// Whether the agent goes on by itself.
    pub is_auto: bool,
    /// Notices that are told once its messages were sent.
    pub untold: Untold,
    /// When it is removed, with the exchange that answers it without a connection; `None` for never.
    #[serde(default)]
    pub expires: Option<UnixTime>,
}

/// What an invitation is given.
pub struct OobGiven {
    pub what: OobInput,
    /// The way of what is sent.
    pub way: Option<OobWay>,
}

/// The way to the other side, by a connection.
#[derive(Clone)]
pub struct OobWay {
    /// The connection.
    pub connection_id: String,
    /// Our key.
    pub from: VerKey,
    /// Where the peer gets its messages.
    pub to: Destination,
}

impl OobEntry {
    /// An invitation that begins.
    pub fn new(record: OobRecord) -> Self {
        Self {
            record,
            own_key: None,
            their_service: None,
            pending: None,
            alias: None,
            is_auto: false,
            untold: Untold::default(),
            expires: None,
        }
    }

    /// What the invitation says; `None` if it can't be read any more.
    pub fn invitation(&self) -> Option<OobInvitation> {
        recorded(&self.record.invitation)
    }

    /// The connection that it led to, or that waits for its answer.
    pub fn connection_id(&self) -> Option<String> {
        let led = self.record.connection_id.as_ref();
        led.or(self.pending.as_ref()).cloned()
    }

    /// What controllers are told of its state.
    pub fn notice(&self, id: &str) -> Told {
        Told::new(TOPIC, &self.view(id))
    }

    /// What controllers see of it.
    pub fn view(&self, id: &str) -> OobView {
        let sides = OobSides {
            connection_id: self.connection_id(),
            own_key: self.own_key.as_ref(),
            their_service: self.their_service.as_ref().map(Destination::service),
        };
        OobView::of(id, &self.record, sides)
    }

    /// What controllers are told of a connection that is used again; `None` for another message. A reuse that is refused
    /// has the same topic as one that is accepted.
    fn reused(&self, given: &OobGiven) -> Option<Told> {
        let OobInput::Received(message) = &given.what else {
            return None;
        };
        let (topic, state) = match message.content {
            OobMessage::Reuse => (REUSE_TOPIC, None),
            OobMessage::ReuseAccepted => (REUSE_ACCEPTED_TOPIC, Some("accepted")),
            OobMessage::Report(_) => (REUSE_ACCEPTED_TOPIC, Some("rejected")),
            OobMessage::Invitation(_) => return None,
        };
        let (invitation, mut payload) = (&self.record.dialogue.thread_id, Map::new());
        payload.insert("thread_id".to_owned(), json!(message.thread_id));
        payload.insert("invi_msg_id".to_owned(), json!(invitation));
        if let Some(OobWay { connection_id, .. }) = &given.way {
            let comment = format!("Connection {connection_id} for invitation {invitation}");
            payload.insert("connection_id".to_owned(), json!(connection_id));
            payload.insert("comment".to_owned(), json!(comment));
        }
        if let Some(state) = state {
            payload.insert("state".to_owned(), json!(state));
        }
        Some(Told::new(topic, &payload))
    }
}

impl AgentProtocol for OutOfBand {
    const KIND: &'static str = "aries_oob";
    type Entry = OobEntry;
    type Input = OobGiven;

    fn step(
        entry: &mut OobEntry,
        input: &OobGiven,
        turn: &AgentTurn<'_>,
    ) -> Result<Step<Taken<OobEntry>>, Problem> {
        let place = Footing::Known(&entry.record);
        let advance = step(place, &input.what, turn.round.ctx)?;
        if advance.is_repeated {
            return Ok(Step::Done(Taken::repeated()));
        }
        let mut send = Vec::new();
        for outgoing in advance.send {
            let way = input.way.clone().ok_or_else(Problem::wrong_state)?;
            send.extend(parcel(way, &outgoing));
        }
        let was = entry.record.state;
        entry.record = advance.record;
        let mut taken = Taken::sending(send);
        if turn.is_heard {
            let state = (was != entry.record.state).then(|| entry.notice(turn.round.at.id));
            let told = state.into_iter().chain(entry.reused(input));
            taken = taken.telling(told.collect());
        }
        // A connection that is used again makes the one superfluous that waits for a request.
        let is_reused = matches!(&input.what, OobInput::Received(_))
            && (entry.record.role, entry.record.state) == (OobRole::Sender, OobState::Done);
        let pending = entry.pending.take_if(|_| is_reused);
        if entry.record.state == OobState::Done {
            entry.pending = None;
        }
        Ok(Step::Done(taken.with(pending.map(|id| {
            Batch::new(turn.round.at.tenant.clone()).delete(Connections::KIND, &id)
        }))))
    }

    fn tags(entry: &OobEntry) -> Vec<Tag> {
        let invitation = &entry.record.dialogue.thread_id;
        vec![Tag::hashed(OOB_INVITATION, invitation)]
    }

    fn expires(entry: &OobEntry) -> Option<UnixTime> {
        entry.expires
    }

    fn untold(entry: &mut OobEntry) -> &mut Untold {
        &mut entry.untold
    }

    fn report(_entry: &OobEntry, input: &OobGiven, report: &Outgoing) -> Option<Parcel> {
        parcel(input.way.clone()?, report)
    }
}

fn parcel(way: OobWay, outgoing: &Outgoing) -> Option<Parcel> {
    let OobWay { from, to, .. } = way;
    match outgoing.to {
        Recipient::Peer | Recipient::Sender => Some(Parcel {
            from,
            to,
            message: outgoing.message.clone(),
        }),
        Recipient::Invitation | Recipient::OutOfBand => None,
    }
}
