//! Invitations of out-of-band (RFC 0434): their records, and how they are driven.

mod view;

use selfsame_aries::advance::{Footing, Outgoing, Problem, Recipient};
use selfsame_aries::key::VerKey;
use selfsame_aries::out_of_band::{
    OobInput, OobInvitation, OobMessage, OobRecord, OobRole, OobState, step,
};
use selfsame_aries::wire::Incoming;
use selfsame_credential::evidence::Step;
use selfsame_didcomm::{Message, Version};
use selfsame_mediation::destination::Destination;
use selfsame_store::{Batch, Tag};
use serde::{Deserialize, Serialize};

use crate::connections::Connections;
use crate::machine::{AgentProtocol, AgentTurn, Parcel, Taken};
use crate::notice::{Told, Untold};

pub use view::{OobInvitationView, OobView};

/// Finds the records of an invitation by its identifier.
pub const OOB_INVITATION: &str = "aries_oob_invitation";
/// The topic of their webhooks.
const TOPIC: &str = "out_of_band";

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
        }
    }

    /// What the invitation says; `None` if it can't be read any more.
    pub fn invitation(&self) -> Option<OobInvitation> {
        let message = Message::read(self.record.invitation.as_bytes(), Version::V1).ok()?;
        match Incoming::<OobMessage>::read(&message).ok()?.content {
            OobMessage::Invitation(invitation) => Some(invitation),
            _ => None,
        }
    }

    /// What controllers are told of its state.
    pub fn notice(&self, id: &str) -> Told {
        Told::new(TOPIC, &OobView::of(id, self))
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
        if was != entry.record.state && turn.is_heard {
            taken = taken.telling(vec![entry.notice(turn.round.at.id)]);
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

    fn untold(entry: &mut OobEntry) -> &mut Untold {
        &mut entry.untold
    }

    fn report(_entry: &OobEntry, input: &OobGiven, report: &Outgoing) -> Option<Parcel> {
        parcel(input.way.clone()?, report)
    }
}

fn parcel(way: OobWay, outgoing: &Outgoing) -> Option<Parcel> {
    let OobWay { from, to } = way;
    match outgoing.to {
        Recipient::Peer | Recipient::Sender => Some(Parcel {
            from,
            to,
            message: outgoing.message.clone(),
        }),
        Recipient::Invitation | Recipient::OutOfBand => None,
    }
}
