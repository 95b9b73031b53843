//! Questions about the features of peers (RFC 0031, RFC 0557): their records, and how they are driven.

use selfsame_agent_view::discovery::DiscoveryView;
use selfsame_aries::advance::{Footing, Outset, Problem};
use selfsame_aries::discover_features::{DiscoveryInput, DiscoveryRecord, step};
use selfsame_aries::key::VerKey;
use selfsame_credential::evidence::Step;
use selfsame_mediation::destination::Destination;
use selfsame_store::Tag;
use serde::{Deserialize, Serialize};

use crate::machine::{AgentProtocol, AgentTurn, Parcel, Startable, Taken};
use selfsame_mediation::notice::{Told, Untold};

/// Finds the questions on a connection.
pub const DISCOVERY_CONNECTION: &str = "aries_discovery_connection";

/// The protocol discover-features.
pub struct Discovery;

/// A question as it is kept.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct DiscoveryEntry {
    /// What the protocol knows of it; `None` before its first step.
    pub record: Option<DiscoveryRecord>,
    /// The connection.
    pub connection_id: String,
    /// Notices that are told once its messages were sent.
    pub untold: Untold,
}

/// What a question is given.
pub struct DiscoveryGiven {
    pub what: DiscoveryInput,
    /// What a new record begins with.
    pub outset: Option<Outset>,
    /// The way to the peer.
    pub way: Option<(VerKey, Destination)>,
}

impl DiscoveryEntry {
    /// The identifier of the question's record.
    pub fn id(&self) -> String {
        let record = self.record.as_ref();
        let thread = record.map_or("", |record| &record.dialogue.thread_id);
        crate::exchanges::record_id(Some(&self.connection_id), thread)
    }
}

impl AgentProtocol for Discovery {
    const KIND: &'static str = "aries_discovery";
    type Entry = DiscoveryEntry;
    type Input = DiscoveryGiven;

    fn step(
        entry: &mut DiscoveryEntry,
        given: &DiscoveryGiven,
        turn: &AgentTurn<'_>,
    ) -> Result<Step<Taken<DiscoveryEntry>>, Problem> {
        let footing = match (&entry.record, &given.outset) {
            (Some(record), _) => Footing::Known(record),
            (None, Some(outset)) => Footing::New(outset),
            (None, None) => return Err(Problem::unknown_thread()),
        };
        let advance = step(footing, &given.what, turn.round.ctx)?;
        if advance.is_repeated {
            return Ok(Step::Done(Taken::repeated()));
        }
        let is_answered = matches!(&given.what, DiscoveryInput::Received { .. });
        entry.record = Some(advance.record);
        let (from, to) = given.way.clone().ok_or_else(Problem::wrong_state)?;
        let send = advance.send.into_iter().map(|sent| Parcel {
            from: from.clone(),
            to: to.clone(),
            message: sent.message,
        });
        let taken = Taken::sending(send.collect());
        let tell = match is_answered && turn.is_heard {
            true => vec![entry.told()],
            false => Vec::new(),
        };
        Ok(Step::Done(taken.telling(tell)))
    }

    fn tags(entry: &DiscoveryEntry) -> Vec<Tag> {
        vec![Tag::hashed(DISCOVERY_CONNECTION, &entry.connection_id)]
    }

    fn untold(entry: &mut DiscoveryEntry) -> &mut Untold {
        &mut entry.untold
    }
}

impl DiscoveryEntry {
    /// What controllers are told of the answer.
    fn told(&self) -> Told {
        let record = self.record.as_ref();
        let major = record.map_or(2, |record| record.dialogue.kind.version.major);
        let topic = match major {
            1 => "discover_feature",
            _ => "discover_feature_v2_0",
        };
        Told::new(topic, &self.view(&self.id()))
    }

    /// What controllers see of it.
    pub fn view(&self, id: &str) -> DiscoveryView {
        DiscoveryView::of(id, &self.connection_id, self.record.as_ref())
    }
}

impl Startable for Discovery {
    fn record_id(entry: &DiscoveryEntry) -> String {
        entry.id()
    }
}
