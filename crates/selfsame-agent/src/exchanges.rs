//! Issuing and presenting as records of the agent: what both protocols have in common.

mod attachments;
pub mod issuing;
pub mod proving;

use selfsame_agent_view::exchange::Depth;
use selfsame_aries::advance::{Advanced, Footing, Outgoing, Outset, Problem};
use selfsame_aries::exchange::{Course, Exchange};
use selfsame_aries::key::VerKey;
use selfsame_aries::wire::{Incoming, Vocabulary};
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash;
use selfsame_didcomm::{Message, Version};
use selfsame_driver::ErrorKind;
use selfsame_store::Tag;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::destination::{Destination, SERVICE};
use crate::machine::{AgentTurn, Parcel, Startable, Taken};
use crate::notice::{Told, Untold};

/// Finds the exchanges of a connection.
pub const CONNECTION: &str = "aries_connection";
/// Finds the exchanges of a thread.
pub const THREAD: &str = "aries_thread";

/// An exchange as it is kept.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(bound(serialize = "D: Serialize", deserialize = "D: DeserializeOwned"))]
pub struct ExchangeEntry<C: Course, D> {
    /// What the protocol knows of it; `None` before its first step.
    pub exchange: Option<Exchange<C>>,
    /// What the agent knows of it.
    pub details: D,
    /// The message that goes with an invitation, while there is no connection.
    pub unsent: Option<Value>,
    /// The way to the peer of an exchange without a connection.
    pub alone: Option<Way>,
    /// Notices that are told once its messages were sent.
    pub untold: Untold,
    /// Whether it is removed once its messages were sent.
    pub is_ended: bool,
}

/// How a message gets to the peer of an exchange.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Way {
    /// Our key in the connection, or for this exchange.
    pub from: VerKey,
    /// Where the peer gets its messages.
    pub to: Destination,
    /// Without a connection: where this agent gets the answers, as the decorator `~service` says it (RFC 0056).
    pub service: Option<Value>,
}

/// Where the inputs of an exchange come from.
#[derive(Default)]
pub struct Ground {
    /// How messages get to the peer; `None` without a connection.
    pub way: Option<Way>,
    /// What a new record begins with.
    pub outset: Option<Outset>,
    /// The connection on which an exchange goes on that began with an invitation.
    pub connection_id: Option<String>,
    /// How far the agent goes on by itself.
    pub wishes: Wishes,
}

/// How far the agent goes on by itself in one exchange; `None` leaves it as it is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Wishes {
    /// Whether the issuer answers a request with the credential.
    pub auto_issue: Option<bool>,
    /// Whether the prover presents what it proposed.
    pub auto_present: Option<bool>,
    /// Whether the verifier verifies a presentation.
    pub auto_verify: Option<bool>,
    /// Whether the record is removed once the exchange is done.
    pub auto_remove: Option<bool>,
}

/// The record of an exchange, whatever its protocol.
pub trait ExchangeRecord: Default {
    /// Its connection.
    fn connection_id(&self) -> Option<&str>;

    /// Its thread.
    fn thread_id(&self) -> &str;

    /// Whether it is over and about to be removed.
    fn is_ended(&self) -> bool;

    /// The message that goes with an invitation.
    fn unsent(&self) -> Option<&Value>;

    /// The way to the peer without a connection.
    fn alone(&self) -> Option<&Way>;

    /// Who this agent is in it, and its state, by their names in the RFC.
    fn standing(&self) -> Option<ExchangeStanding>;

    /// The record as controllers see it.
    fn shown(&self, depth: Depth) -> Value;
}

/// Who an agent is in an exchange, and where that stands.
pub struct ExchangeStanding {
    /// The major version of the protocol.
    pub major: u16,
    pub role: String,
    pub state: &'static str,
}

/// A protocol of exchanges.
pub trait ExchangeProtocol: Startable<Entry: ExchangeRecord> {
    /// What can happen in it.
    type What: Send + Sync + 'static;
    /// Its messages.
    type Speech: Vocabulary + Clone + Send + Sync + 'static;
    /// The protocol's name.
    const NAME: &'static str;

    /// A message of the peer.
    fn received(message: Incoming<Self::Speech>) -> Self::What;

    /// The input.
    fn given(what: Self::What, ground: Ground) -> Self::Input;
}

impl Ground {
    /// The way of a report to the peer.
    fn parcel(&self, report: &Outgoing) -> Option<Parcel> {
        let way = self.way.clone()?;
        Some(Parcel {
            from: way.from,
            to: way.to,
            message: report.message.clone(),
        })
    }

    /// Notes the connection of an exchange that has none yet.
    pub fn bind(&self, connection_id: &mut Option<String>) {
        if connection_id.is_none() {
            connection_id.clone_from(&self.connection_id);
        }
    }
}

/// What could not be made for an exchange, although it would follow by itself.
#[derive(Clone, Debug)]
pub enum Unmade {
    /// What the peer sent is at fault: the exchange ends.
    Refused(String),
    /// The controller can try it again.
    Failed(String),
}

impl Unmade {
    /// What follows from an error in what was made of a message. `is_answer` tells that only the peer can mend it.
    pub fn of(error: &selfsame_driver::Error, is_answer: bool) -> Self {
        let text = error.to_string();
        match error.kind {
            ErrorKind::BadRequest if is_answer => Self::Refused(text),
            _ => Self::Failed(text),
        }
    }
}

/// The identifier of the record of a thread. Both sides choose threads, so the connection is in it.
pub fn record_id(connection_id: Option<&str>, thread_id: &str) -> String {
    let named = format!("{}\0{thread_id}", connection_id.unwrap_or_default());
    let digest = hash::sha256(named.as_bytes());
    hex_encode(digest.get(..16).unwrap_or_default())
}

/// A role's name in the RFC, which is how it is stored.
fn role_name(role: impl Serialize) -> String {
    let name = serde_json::to_value(role).unwrap_or_default();
    name.as_str().unwrap_or_default().to_owned()
}

impl<C: Course, D: Default> Default for ExchangeEntry<C, D> {
    fn default() -> Self {
        Self {
            exchange: None,
            details: D::default(),
            unsent: None,
            alone: None,
            untold: Untold::default(),
            is_ended: false,
        }
    }
}

impl<C: Course, D> ExchangeEntry<C, D> {
    /// Its identifier.
    pub fn id(&self) -> String {
        let known = self.exchange.as_ref();
        known.map_or_else(String::new, |exchange| {
            record_id(self.origin_connection(), &exchange.dialogue.thread_id)
        })
    }

    /// The connection that the exchange began on. One that began with an invitation keeps its identifier.
    fn origin_connection(&self) -> Option<&str> {
        match self.unsent {
            Some(_) => None,
            None => self.exchange.as_ref()?.connection_id.as_deref(),
        }
    }

    /// The tags by which it is found.
    pub fn tags(&self) -> Vec<Tag> {
        let Some(exchange) = &self.exchange else {
            return Vec::new();
        };
        let thread = Tag::hashed(THREAD, &exchange.dialogue.thread_id);
        let connection = exchange.connection_id.as_ref();
        let connection = connection.map(|id| Tag::hashed(CONNECTION, id));
        std::iter::once(thread).chain(connection).collect()
    }
}

/// The steps that follow each other in one commit.
pub struct ExchangeRun<'a, C: Course, D> {
    entry: &'a mut ExchangeEntry<C, D>,
    ground: &'a Ground,
    turn: &'a AgentTurn<'a>,
    taken: Taken<ExchangeEntry<C, D>>,
}

impl<'a, C: Course, D> ExchangeRun<'a, C, D> {
    pub fn new(
        entry: &'a mut ExchangeEntry<C, D>,
        ground: &'a Ground,
        turn: &'a AgentTurn<'a>,
    ) -> Self {
        Self {
            entry,
            ground,
            turn,
            taken: Taken::sending(Vec::new()),
        }
    }

    /// The record as it is now.
    pub fn entry(&mut self) -> &mut ExchangeEntry<C, D> {
        self.entry
    }

    /// Adds writes.
    pub fn write(&mut self, batch: &selfsame_store::Batch) {
        let before = self.taken.batch.take();
        self.taken.batch = Some(match before {
            Some(before) => before.and(batch.clone()),
            None => batch.clone(),
        });
    }

    /// Takes a step; `told` is what controllers see of the record after it. Returns whether the input is new.
    ///
    /// # Errors
    /// The protocol's refusal.
    pub fn take(
        &mut self,
        step: impl FnOnce(Footing<'_, Exchange<C>>) -> Advanced<Exchange<C>>,
        told: fn(&ExchangeEntry<C, D>) -> Told,
    ) -> Result<bool, Problem> {
        let known = self.entry.exchange.as_ref();
        let bound = known.and_then(|exchange| exchange.connection_id.as_ref());
        let came_on = self.ground.connection_id.as_ref();
        // A thread that began with an invitation belongs to the connection that answered first.
        if let (Some(bound), Some(came_on)) = (bound, came_on)
            && bound != came_on
        {
            return Err(Problem::unknown_thread());
        }
        if self.entry.alone.is_some() && came_on.is_some() {
            return Err(Problem::unknown_thread());
        }
        let way = self.ground.way.as_ref();
        let way = way.filter(|way| way.service.is_some());
        if let (Some(alone), Some(way)) = (&self.entry.alone, way)
            && alone != way
        {
            return Err(Problem::unknown_thread());
        }
        let footing = match (&self.entry.exchange, &self.ground.outset) {
            (Some(known), _) => Footing::Known(known),
            (None, Some(outset)) => Footing::New(outset),
            (None, None) => return Err(Problem::unknown_thread()),
        };
        let advance = step(footing)?;
        if advance.is_repeated {
            return Ok(false);
        }
        self.entry.exchange = Some(advance.record);
        if let Some(way) = way {
            self.entry.alone = Some(way.clone());
        }
        for Outgoing { message, .. } in advance.send {
            self.send(message);
        }
        if self.turn.is_heard {
            self.taken.tell.push(told(self.entry));
        }
        Ok(true)
    }

    fn send(&mut self, mut message: Message) {
        let service = self.ground.way.as_ref().and_then(|way| way.service.clone());
        if let Some(service) = service {
            message.other.insert(SERVICE.to_owned(), service);
        }
        match &self.ground.way {
            Some(Way { from, to, .. }) => self.taken.send.push(Parcel {
                from: from.clone(),
                to: to.clone(),
                message,
            }),
            None if self.entry.unsent.is_none() => {
                let members = message.to_members(Version::V1);
                self.entry.unsent = Some(Value::Object(members));
            }
            // Without a peer there is nobody to tell.
            None => {}
        }
    }

    /// Tells controllers of something beside the record, if somebody hears.
    pub fn tell(&mut self, told: Told) {
        if self.turn.is_heard {
            self.taken.tell.push(told);
        }
    }

    /// Notes why something did not follow by itself.
    pub fn note(&mut self, error: &str) {
        if let Some(exchange) = &mut self.entry.exchange {
            exchange.dialogue.error_msg = Some(error.to_owned());
        }
    }

    /// What the steps give, with the record as `shown`.
    pub fn finish(mut self, shown: Value) -> Taken<ExchangeEntry<C, D>> {
        self.taken.shown = Some(shown);
        self.taken
    }
}
