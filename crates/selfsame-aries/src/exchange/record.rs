//! The record of an exchange.

use std::collections::BTreeMap;
use std::fmt::Debug;

use selfsame_crypto::ctx::Ctx;
use selfsame_didcomm::message::Semver;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::advance::Move;
use crate::dialogue::{Dialogue, Initiator};

use super::body::MessageEntry;
use super::payload::Payload;

/// A protocol in which two roles exchange something: its states, its messages, and the table of states.
pub trait Course: Clone + Debug + PartialEq + 'static {
    /// Who an agent is.
    type Role: Copy + Debug + DeserializeOwned + Eq + Send + Serialize + Sync;
    /// Where an exchange stands.
    type State: Copy + Debug + DeserializeOwned + Eq + Send + Serialize + Sync;
    /// A message of the protocol.
    type Kind: Copy + Debug + DeserializeOwned + Ord + Send + Serialize + Sync;
    /// What the record has beside its messages.
    type Extra: Clone + Debug + Default + DeserializeOwned + PartialEq + Send + Serialize + Sync;

    /// The protocol's name.
    const PROTOCOL: &'static str;
    /// The latest supported minor version of each supported major version.
    const VERSIONS: &'static [Semver];
    /// The messages that have attachments.
    const MESSAGES: &'static [MessageEntry<Self::Kind>];
    /// The acknowledgement.
    const ACK: Self::Kind;
    /// The problem report.
    const REPORT: Self::Kind;

    /// The state after a message; `None` if the table does not allow the message.
    fn next(
        role: Self::Role,
        from: Option<Self::State>,
        moved: Move<Self::Kind>,
    ) -> Option<Self::State>;

    /// Who this agent is in an exchange that begins with this message; `None` if none begins so.
    fn role(moved: Move<Self::Kind>) -> Option<Self::Role>;

    /// The state's name in the RFC.
    fn name(state: Self::State) -> &'static str;

    /// The state in which an exchange stands after a message that leads to `to`, seeing what was said before.
    fn settled(_record: &Exchange<Self>, _moved: Move<Self::Kind>, to: Self::State) -> Self::State {
        to
    }
}

/// How many messages a record remembers to have been sent or received.
const SPOKEN_MAX: usize = 16;

/// A message that was sent or received: which, whether it was ours, and how many seconds after the record was made.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Utterance<K>(K, bool, u64);

impl<K: Copy> Utterance<K> {
    /// Which message it was.
    pub fn kind(&self) -> K {
        self.0
    }

    /// Whether this agent sent it.
    pub fn is_ours(&self) -> bool {
        self.1
    }

    /// How many seconds after the record was made.
    pub fn after(&self) -> u64 {
        self.2
    }
}

/// One exchange.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(bound = "")]
pub struct Exchange<C: Course> {
    /// Its state.
    pub state: C::State,
    /// Who this agent is.
    pub role: C::Role,
    /// Who began it.
    pub initiator: Initiator,
    /// Its thread.
    pub dialogue: Dialogue,
    /// The agent's identifier of the connection; `None` without one.
    pub connection_id: Option<String>,
    /// The latest message of each kind, of either side.
    pub messages: BTreeMap<C::Kind, Payload>,
    /// What this agent said last, if nothing came since.
    pub(super) said_last: Option<C::Kind>,
    /// The messages of both sides, the oldest first; of many, the newest.
    #[serde(default)]
    pub spoken: Vec<Utterance<C::Kind>>,
    /// What belongs to the protocol.
    #[serde(default)]
    pub extra: C::Extra,
}

impl<C: Course> Exchange<C> {
    pub(super) fn new(
        role: C::Role,
        initiator: Initiator,
        dialogue: Dialogue,
        state: C::State,
    ) -> Self {
        Self {
            state,
            role,
            initiator,
            dialogue,
            connection_id: None,
            messages: BTreeMap::new(),
            said_last: None,
            spoken: Vec::new(),
            extra: C::Extra::default(),
        }
    }

    /// The latest message of this kind.
    pub fn message(&self, kind: C::Kind) -> Option<&Payload> {
        self.messages.get(&kind)
    }

    /// The protocol's version.
    pub fn version(&self) -> Semver {
        self.dialogue.kind.version
    }

    /// Notes that a message was sent or received.
    pub(super) fn note_spoken(&mut self, moved: Move<C::Kind>, ctx: &Ctx) {
        let after = ctx.now().0.saturating_sub(self.dialogue.created_at.0);
        let utterance = match moved {
            Move::Sends(kind) => Utterance(kind, true, after),
            Move::Receives(kind) => Utterance(kind, false, after),
        };
        if self.spoken.len() >= SPOKEN_MAX {
            self.spoken.remove(0);
        }
        self.spoken.push(utterance);
    }

    /// Notes something for the controller.
    pub(crate) fn note_error(&mut self, text: String, ctx: &Ctx) {
        self.dialogue.error_msg = Some(text);
        self.dialogue.updated_at = ctx.now();
    }
}
