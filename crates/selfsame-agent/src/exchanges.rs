//! Issuing and presenting as records of the agent: what both protocols have in common.

pub mod issuing;
pub mod proving;

use std::fmt::Debug;

use selfsame_agent_view::exchange::Depth;
use selfsame_agent_view::seen::SeenCourse;
use selfsame_aries::advance::{Advanced, Footing, Move, Outgoing, Outset, Problem};
use selfsame_aries::exchange::{Exchange, Payload, Speech};
use selfsame_aries::key::VerKey;
use selfsame_aries::wire::Incoming;
use selfsame_core::machine::FlowResult;
use selfsame_credential::evidence::Step;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash;
use selfsame_crypto::time::UnixTime;
use selfsame_didcomm::{Message, Version};
use selfsame_driver::{Error, ErrorKind};
use selfsame_mediation::destination::settling::LastSent;
use selfsame_mediation::destination::{Destination, SERVICE};
use selfsame_store::Tag;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::machine::{AgentTurn, Parcel, Startable, Taken};
use selfsame_mediation::notice::{Told, Untold};
use selfsame_mediation::wishes::Wishes;

/// The reason of a process that has too much to do.
const OVERLOADED: &str = "overloaded";
/// Finds the exchanges of a connection.
pub const CONNECTION: &str = "aries_connection";
/// Finds the exchanges of a thread.
pub const THREAD: &str = "aries_thread";

/// A course as the agent keeps its exchanges.
pub trait KeptCourse: SeenCourse {
    /// What the agent knows of an exchange beside the protocol.
    type Details: Clone + Debug + Default + DeserializeOwned + Send + Serialize + Sync + 'static;
    /// The topics of its notices: of version 1, and of the versions after it.
    const TOPICS: [&'static str; 2];

    /// Sets how far the agent goes on by itself.
    fn set(extra: &mut Self::Extra, wishes: Wishes);

    /// Whether an exchange is done, and no controller asked to keep its record. What came to nothing is kept for its controller.
    fn is_spent(exchange: &Exchange<Self>) -> bool;

    /// An exchange as controllers see it.
    fn shown(id: &str, exchange: &Exchange<Self>, of: ShownAs<'_, Self>) -> Value;
}

/// How an exchange is shown.
pub struct ShownAs<'a, C: KeptCourse> {
    /// What the agent knows of it.
    pub details: &'a C::Details,
    pub depth: Depth,
}

/// An exchange as it is kept.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(bound = "")]
pub struct ExchangeEntry<C: KeptCourse> {
    /// What the protocol knows of it; `None` before its first step.
    pub exchange: Option<Exchange<C>>,
    /// What the agent knows of it.
    pub details: C::Details,
    /// The message that goes with an invitation, while there is no connection.
    pub unsent: Option<Value>,
    /// The way to the peer of an exchange without a connection.
    pub alone: Option<Way>,
    /// Notices that are told once its messages were sent.
    pub untold: Untold,
    /// Whether it is removed once its messages were sent.
    pub is_ended: bool,
    /// The last one of them.
    #[serde(default, skip_serializing_if = "LastSent::is_none")]
    pub last_sent: LastSent,
    /// When it is removed, even if the peer never ends it; `None` for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<UnixTime>,
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

/// A protocol of exchanges.
pub trait ExchangeProtocol:
    Startable<
        Entry = ExchangeEntry<<Self as ExchangeProtocol>::Course>,
        Input = ExchangeGiven<<Self as ExchangeProtocol>::What, <Self as ExchangeProtocol>::Made>,
    >
{
    /// The rules of the protocol.
    type Course: KeptCourse;
    /// What can happen in it.
    type What: Send + Sync + 'static;
    /// What can be made for its steps.
    type Made: Send + Sync + 'static;

    /// A message of the peer.
    fn received(message: Incoming<Speech<Self::Course>>) -> Self::What;
}

/// What an exchange is given.
pub struct ExchangeGiven<W, M> {
    /// What happens.
    pub what: W,
    /// Where it comes from.
    pub ground: Ground,
    /// What was made for the step.
    pub made: Option<M>,
    /// Whether the giver looks at the record after the step.
    is_watched: bool,
}

/// What was made for a step.
pub trait MadeForStep<C: KeptCourse> {
    /// Takes the step that it is for.
    ///
    /// # Errors
    /// The protocol's refusal.
    fn apply(&self, run: &mut ExchangeRun<'_, C>) -> Result<(), Problem>;
}

impl<W, M> ExchangeGiven<W, M> {
    /// Something that no caller waits for, such as a message of the peer.
    pub fn told(what: W, ground: Ground) -> Self {
        Self {
            what,
            ground,
            made: None,
            is_watched: false,
        }
    }

    /// An act of a controller, who is shown the record.
    pub fn act(what: W, ground: Ground) -> Self {
        Self {
            is_watched: true,
            ..Self::told(what, ground)
        }
    }

    /// Takes the step of what happened, and then the one of what was made. `first` is missing if something is to be made
    /// for what happened.
    ///
    /// # Errors
    /// The protocol's refusal.
    pub fn step<C: KeptCourse>(
        &self,
        entry: &mut ExchangeEntry<C>,
        turn: &AgentTurn<'_>,
        first: Option<impl FnOnce(Footing<'_, Exchange<C>>) -> Advanced<Exchange<C>>>,
    ) -> Result<Step<Taken<ExchangeEntry<C>>>, Problem>
    where
        M: MadeForStep<C>,
    {
        let mut run = ExchangeRun::new(entry, &self.ground, turn);
        let is_news = match first {
            Some(first) => run.take(first)?,
            None if self.made.is_none() => return Err(Problem::wrong_state()),
            None => true,
        };
        if !is_news {
            return Ok(Step::Done(Taken::repeated()));
        }
        run.set();
        if let Some(made) = &self.made {
            made.apply(&mut run)?;
            run.set();
        }
        Ok(Step::Done(run.finish(self.is_watched)))
    }

    /// The way of a report to the peer.
    pub fn report(&self, report: &Outgoing) -> Option<Parcel> {
        let way = self.ground.way.clone()?;
        Some(Parcel {
            from: way.from,
            to: way.to,
            message: report.message.clone(),
        })
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
    ///
    /// # Errors
    /// That this process has too much to do. The message is not taken then, and its sender sends it again.
    pub fn of(error: Error, is_answer: bool) -> selfsame_driver::Result<Self> {
        if error.reason.id() == OVERLOADED {
            return Err(error);
        }
        tracing::warn!(%error, "an exchange does not go on by itself");
        let text = error.to_string();
        Ok(match error.kind {
            ErrorKind::BadRequest if is_answer => Self::Refused(text),
            _ => Self::Failed(text),
        })
    }
}

/// The identifier of the record of a thread. Both sides choose threads, so the connection is in it.
pub fn record_id(connection_id: Option<&str>, thread_id: &str) -> String {
    let named = format!("{}\0{thread_id}", connection_id.unwrap_or_default());
    let digest = hash::sha256(named.as_bytes());
    hex_encode(digest.get(..16).unwrap_or_default())
}

impl<C: KeptCourse> Default for ExchangeEntry<C> {
    fn default() -> Self {
        Self {
            exchange: None,
            details: C::Details::default(),
            unsent: None,
            alone: None,
            untold: Untold::default(),
            is_ended: false,
            last_sent: LastSent::default(),
            expires: None,
        }
    }
}

impl<C: KeptCourse> ExchangeEntry<C> {
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
            None => self.connection_id(),
        }
    }

    /// Its connection.
    pub fn connection_id(&self) -> Option<&str> {
        self.exchange.as_ref()?.connection_id.as_deref()
    }

    /// Its thread.
    pub fn thread_id(&self) -> &str {
        let exchange = self.exchange.as_ref();
        exchange.map_or("", |one| &one.dialogue.thread_id)
    }

    /// The major version of its protocol.
    pub fn major(&self) -> Option<u16> {
        self.exchange.as_ref().map(|one| one.version().major)
    }

    /// How it ended, by the name of its state; `None` while it goes on.
    pub fn result(&self) -> Option<FlowResult> {
        let state = C::name(self.exchange.as_ref()?.state);
        let result = ["done", "abandoned"]
            .into_iter()
            .find(|end| *end == state)?;
        let flow = C::PROTOCOL;
        Some(FlowResult { flow, result })
    }

    /// The record as controllers see it.
    pub fn shown(&self, depth: Depth) -> Value {
        let exchange = self.exchange.as_ref();
        let of = ShownAs {
            details: &self.details,
            depth,
        };
        exchange.map_or(Value::Null, |one| C::shown(&self.id(), one, of))
    }

    /// The notice of the record's state.
    fn told(&self, depth: Depth) -> Told {
        let [first, later] = C::TOPICS;
        let topic = if self.major() == Some(1) {
            first
        } else {
            later
        };
        Told::new(topic, &self.shown(depth))
    }

    /// The latest message of this kind.
    pub fn message(&self, kind: C::Kind) -> Option<&Payload> {
        self.exchange.as_ref()?.message(kind)
    }

    /// Whether the table of states allows this agent to send the message.
    pub fn may(&self, kind: C::Kind) -> bool {
        let (moved, exchange) = (Move::Sends(kind), self.exchange.as_ref());
        let role = exchange.map(|one| one.role).or_else(|| C::role(moved));
        let state = exchange.map(|one| one.state);
        role.is_some_and(|role| C::next(role, state, moved).is_some())
    }

    /// Whether the table allows this message of the peer now; then nothing was made for it before.
    pub fn is_news(&self, kind: C::Kind) -> bool {
        let moved = Move::Receives(kind);
        match &self.exchange {
            Some(one) => C::next(one.role, Some(one.state), moved).is_some(),
            None => C::role(moved).is_some(),
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
pub struct ExchangeRun<'a, C: KeptCourse> {
    entry: &'a mut ExchangeEntry<C>,
    ground: &'a Ground,
    turn: &'a AgentTurn<'a>,
    taken: Taken<ExchangeEntry<C>>,
}

impl<'a, C: KeptCourse> ExchangeRun<'a, C> {
    fn new(entry: &'a mut ExchangeEntry<C>, ground: &'a Ground, turn: &'a AgentTurn<'a>) -> Self {
        Self {
            entry,
            ground,
            turn,
            taken: Taken::sending(Vec::new()),
        }
    }

    /// The record as it is now.
    pub fn entry(&self) -> &ExchangeEntry<C> {
        self.entry
    }

    /// What the agent knows of the exchange beside the protocol.
    pub fn details(&mut self) -> &mut C::Details {
        &mut self.entry.details
    }

    /// Time and randomness of the step.
    pub fn ctx(&self) -> &'a Ctx {
        self.turn.round.ctx
    }

    /// Sets what the controller or the agent's settings say of the record.
    fn set(&mut self) {
        let Some(exchange) = &mut self.entry.exchange else {
            return;
        };
        if exchange.connection_id.is_none() {
            exchange
                .connection_id
                .clone_from(&self.ground.connection_id);
        }
        C::set(&mut exchange.extra, self.ground.wishes);
    }

    /// Adds writes.
    pub fn write(&mut self, batch: &selfsame_store::Batch) {
        let before = self.taken.batch.take();
        self.taken.batch = Some(match before {
            Some(before) => before.and(batch.clone()),
            None => batch.clone(),
        });
    }

    /// Takes a step. Returns whether the input is new.
    ///
    /// # Errors
    /// The protocol's refusal.
    pub fn take(
        &mut self,
        step: impl FnOnce(Footing<'_, Exchange<C>>) -> Advanced<Exchange<C>>,
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
            self.taken.tell.push(self.entry.told(self.turn.told));
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
            // Without a peer, no message can be sent.
            None => {}
        }
    }

    /// Tells controllers of something beside the record. It is made only if somebody hears.
    pub fn tell(&mut self, told: impl FnOnce(&ExchangeEntry<C>) -> Vec<Told>) {
        if self.turn.is_heard {
            self.taken.tell.extend(told(self.entry));
        }
    }

    /// Notes why something did not follow by itself.
    pub fn note(&mut self, error: &str) {
        if let Some(exchange) = &mut self.entry.exchange {
            exchange.dialogue.error_msg = Some(error.to_owned());
        }
    }

    /// What the steps give.
    fn finish(mut self, is_watched: bool) -> Taken<ExchangeEntry<C>> {
        let exchange = self.entry.exchange.as_ref();
        self.entry.is_ended = exchange.is_some_and(C::is_spent);
        self.taken.shown = is_watched.then(|| self.entry.shown(Depth::Messages));
        self.taken
    }
}
