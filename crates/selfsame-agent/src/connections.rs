//! Connections: records, steps and acts of connections 1.0 (RFC 0160) and DID exchange (RFC 0023), which share one kind
//! of record.

mod handshake;
mod party;
mod rotation;
mod v2;

use async_trait::async_trait;
use selfsame_agent_view::connection::ConnectionView;
use selfsame_aries::advance::{Outgoing, Problem, ProblemKind, Recipient};
use selfsame_aries::connection::{
    Accepting, ConnectionRecord, ConnectionRole, ConnectionState, HandshakeRejection, V2,
};
use selfsame_aries::did_exchange::DidExchangeMessage;
use selfsame_aries::key::VerKey;
use selfsame_aries::wire::Vocabulary as _;
use selfsame_core::machine::At;
use selfsame_credential::evidence::Step;
use selfsame_didcomm::Message;
use selfsame_driver::{Error, Result};
use selfsame_mediation::destination::settling::LastSent;
use selfsame_mediation::destination::{Destination, Located};
use selfsame_mediation::own_side::OwnSide;
use selfsame_mediation::speaker::Speaker;
use selfsame_mediation::speaker::former::FormerKeys;
use selfsame_store::Tag;
use serde::{Deserialize, Serialize};

use crate::machine::{AgentProtocol, AgentTurn, Parcel, Taken};
use crate::parts::AgentParts;
use selfsame_mediation::notice::{Told, Untold};

pub use party::{make_did, own_terms};
pub use rotation::RotationEntry;
pub use selfsame_mediation::given::{
    Aside, ConnectionGiven, ConnectionWhat, HandshakeMessage, ReceivedHandshake, Rotating, V2What,
};

/// Finds the record of a thread.
pub const THREAD: &str = "aries_thread";
/// Finds an invitation by its key.
pub const INVITATION: &str = "aries_invitation";
/// Finds an invitation by its identifier.
pub const INVITED: &str = "aries_invited";
/// Finds a connection by our key in it and one of the peer's keys, or the peer's DID.
pub const PAIR: &str = "aries_pair";
/// Finds the connections with a DID: the peer's, or the one that it invited by.
pub const THEIR_DID: &str = "aries_their_did";

/// The topic of their webhooks.
const TOPIC: &str = "connections";

/// The protocols that make connections.
pub struct Connections;

/// A connection as it is kept.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ConnectionEntry {
    /// What the protocol knows of it. The protocol is that of its thread's type.
    pub record: ConnectionRecord,
    /// Our key in it; until we have a DID, none.
    pub own_key: Option<VerKey>,
    /// Where the invitation that we received asks to send the request.
    pub invited_to: Option<Destination>,
    /// Where the peer gets its messages; none, until it has told its DID.
    pub peer_at: Option<Destination>,
    /// Whether it began beside the record of an invitation for many.
    pub is_branch: bool,
    /// How this agent calls itself in it, if not by its own name.
    pub label: Option<String>,
    /// The record of the invitation of out-of-band that it comes from.
    pub oob_id: Option<String>,
    /// The change of a DID that is under way, or the last one.
    pub rotation: Option<RotationEntry>,
    /// Keys of either side that were in use before a change of DIDs. What was sent before may come later.
    pub former: FormerKeys,
    /// Whether it is over and about to be removed.
    pub is_over: bool,
    /// The message after which it is.
    #[serde(default, skip_serializing_if = "LastSent::is_none")]
    pub last_sent: LastSent,
    /// Notices that are told once its messages were sent.
    pub untold: Untold,
}

type ConnectionStep = std::result::Result<Step<Taken<ConnectionEntry>>, Problem>;

impl ConnectionEntry {
    /// A connection that begins.
    pub fn new(record: ConnectionRecord) -> Self {
        Self {
            record,
            own_key: None,
            invited_to: None,
            peer_at: None,
            is_branch: false,
            label: None,
            oob_id: None,
            rotation: None,
            former: FormerKeys::default(),
            is_over: false,
            last_sent: LastSent::default(),
            untold: Untold::default(),
        }
    }

    /// Whether DID exchange makes it.
    pub fn is_exchange(&self) -> bool {
        self.record.dialogue.kind.protocol == DidExchangeMessage::PROTOCOL
    }

    /// Whether both sides write DIDComm v2 in it.
    pub fn is_v2(&self) -> bool {
        self.record.dialogue.kind.protocol == V2
    }

    /// Whether a peer waits for the controller to accept it.
    pub fn is_asked(&self) -> bool {
        let record = &self.record;
        (record.role, record.state) == (ConnectionRole::Inviter, ConnectionState::Request)
    }

    /// Where the peer gets its messages.
    ///
    /// # Errors
    /// If it has not told its DID, or its document does not say.
    pub fn peer(&self) -> std::result::Result<Destination, Problem> {
        self.peer_at.clone().ok_or_else(Problem::wrong_state)
    }

    /// Our keys in it: the one in use, the next one, and the former ones.
    fn own_keys(&self) -> impl Iterator<Item = &VerKey> {
        let next = self.rotation.as_ref().and_then(RotationEntry::next_key);
        let known = self.own_key.iter().chain(next);
        known.chain(&self.former.own)
    }

    /// Who messages of the peer are from: the keys or the DID in use, and the former ones.
    fn speakers(&self) -> impl Iterator<Item = Speaker> {
        let peer = self.peer_at.iter().flat_map(Destination::speakers);
        peer.chain(self.former.theirs.iter().cloned())
    }

    /// The peer has ended it.
    fn end(&mut self) {
        self.is_over = true;
        self.last_sent.forget();
    }

    /// What controllers are told of its state.
    pub fn notice(&self, id: &str) -> Told {
        Told::new(TOPIC, &self.view(id))
    }

    /// What controllers see of it.
    pub fn view(&self, id: &str) -> ConnectionView {
        ConnectionView::of(id, &self.record)
    }

    /// The same, if somebody hears it.
    fn told(&self, id: &str, turn: &AgentTurn<'_>) -> Vec<Told> {
        match turn.is_heard {
            true => vec![self.notice(id)],
            false => Vec::new(),
        }
    }

    /// These messages with their ways.
    fn parcels(&self, sent: Vec<Outgoing>) -> std::result::Result<Vec<Parcel>, Problem> {
        let mut parcels = Vec::new();
        for Outgoing { to, message } in sent {
            let to = match to {
                Recipient::Peer => self.peer()?,
                Recipient::Invitation => self.invited_to.clone().ok_or_else(no_service)?,
                // People show an invitation to each other; how a stranger is refused is in `report`.
                Recipient::OutOfBand | Recipient::Sender => continue,
            };
            let from = self.own_key.clone().ok_or_else(Problem::wrong_state)?;
            parcels.push(Parcel { from, to, message });
        }
        Ok(parcels)
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
    ) -> ConnectionStep {
        let made = input.made.as_ref();
        if entry.is_over && !input.what.is_farewell() {
            return Err(Problem::wrong_state());
        }
        match &input.what {
            ConnectionWhat::Received(received) => handshake::receive(entry, received, made, turn),
            ConnectionWhat::Accept(_) => handshake::accept(entry, made, turn),
            ConnectionWhat::Reject(rejection) => handshake::reject(entry, rejection, turn),
            ConnectionWhat::Heard(heard) => handshake::hear(entry, heard, turn),
            ConnectionWhat::Rotate(rotating) => rotation::act(entry, rotating, made, turn),
            ConnectionWhat::Rotated(message) => rotation::receive(entry, message, turn),
            ConnectionWhat::V2(what) => v2::told(entry, what, turn),
            ConnectionWhat::Say(said) => {
                if !entry.record.state.is_ready() {
                    return Err(Problem::wrong_state());
                }
                let told = said.tell.iter().filter(|_| turn.is_heard).cloned();
                let taken = Taken::sending(entry.parcels(to_peer(&said.answers))?);
                let taken = taken.with(said.writes.clone()).telling(told.collect());
                Ok(Step::Done(taken))
            }
        }
    }

    fn tags(entry: &ConnectionEntry) -> Vec<Tag> {
        let record = &entry.record;
        let mut tags = vec![Tag::hashed(THREAD, &record.dialogue.thread_id)];
        if record.role == ConnectionRole::Inviter && !entry.is_branch {
            tags.push(Tag::hashed(INVITED, &record.invitation_id));
            let key = record.invitation_key.iter();
            tags.extend(key.map(|key| Tag::hashed(INVITATION, key.to_base58())));
        }
        for own in entry.own_keys() {
            tags.extend(entry.speakers().map(|theirs| pair(own, &theirs)));
        }
        let theirs = record.theirs.as_ref().map(|theirs| &theirs.did);
        let invited_by = record.invitation_did.as_ref();
        let invited_by = invited_by.filter(|_| record.role == ConnectionRole::Invitee);
        let mut dids: Vec<&String> = theirs.into_iter().chain(invited_by).collect();
        dids.dedup();
        tags.extend(dids.into_iter().map(|did| Tag::hashed(THEIR_DID, did)));
        tags
    }

    fn untold(entry: &mut ConnectionEntry) -> &mut Untold {
        &mut entry.untold
    }

    fn is_ended(entry: &ConnectionEntry) -> bool {
        entry.is_over
    }

    fn last_sent(entry: &mut ConnectionEntry) -> Option<&mut LastSent> {
        Some(&mut entry.last_sent)
    }

    fn report(
        entry: &ConnectionEntry,
        input: &ConnectionGiven,
        report: &Outgoing,
    ) -> Option<Parcel> {
        let message = report.message.clone();
        let (from, to) = match report.to {
            Recipient::Peer => (entry.own_key.clone()?, entry.peer_at.clone()?),
            Recipient::Invitation => (entry.own_key.clone()?, entry.invited_to.clone()?),
            Recipient::OutOfBand => return None,
            Recipient::Sender => {
                let ConnectionWhat::Received(received) = &input.what else {
                    return None;
                };
                let sender = received.sender.as_ref()?;
                if let HandshakeMessage::V2(_) = &received.message {
                    let to = v2::reported(entry, &received.party()?)?;
                    let from = received.recipient.clone()?;
                    return Some(Parcel { from, to, message });
                }
                // For a stranger without an endpoint nothing waits.
                let located = Located::named(&received.party()?)?.reached().ok()?;
                // A stranger can have reports sent to a place of its own alone.
                located.document.has(sender.key()?).then_some(())?;
                (received.recipient.clone()?, located.destination)
            }
        };
        Some(Parcel { from, to, message })
    }

    async fn prepare(
        agent: &AgentParts,
        at: At<'_>,
        entry: &ConnectionEntry,
        input: &mut ConnectionGiven,
    ) -> Result<()> {
        let side = match &input.what {
            ConnectionWhat::Accept(side) | ConnectionWhat::Rotate(Rotating::To(side)) => {
                side.clone()
            }
            ConnectionWhat::Rotate(Rotating::ToHeld(_)) if entry.is_v2() => {
                return Err(Error::bad_request("aries-v2-did"));
            }
            ConnectionWhat::Rotate(Rotating::ToHeld(did)) if input.made.is_none() => {
                input.made = Some(party::held(agent, at.tenant, did).await?);
                return Ok(());
            }
            ConnectionWhat::Received(received) if received.is_request() => {
                let always = agent.terms(at.tenant).settings.auto_accept_requests;
                match always || entry.record.accept == Accepting::Auto {
                    true => OwnSide::default(),
                    false => return Ok(()),
                }
            }
            _ => return Ok(()),
        };
        if input.made.is_none() {
            input.made = Some(match v2::kept(agent, at.tenant, entry, &input.what) {
                Some(kept) => kept,
                None => {
                    party::make(agent, at.tenant, party::wish(entry, &input.what, side)).await?
                }
            });
        }
        Ok(())
    }
}

/// The tag of a connection by our key and who messages of the peer are from.
pub fn pair(own: &VerKey, theirs: &Speaker) -> Tag {
    Tag::hashed(PAIR, format!("{own}.{theirs}"))
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
        HandshakeRejection::REQUEST,
        "the document of the peer names no service with a key and a URL",
    )
}
