//! The steps of discover features.

use selfsame_crypto::ctx::Ctx;

use crate::advance::{Advance, Advanced, Footing, Notice, Problem, Recipient};
use crate::dialogue::Dialogue;
use crate::wire::Incoming;

use super::messages::{Feature, FeatureMessage, FeatureQuery};
use super::state::{DiscoveryRecord, DiscoveryState};

/// What a question can be given.
#[derive(Clone, Debug, PartialEq)]
pub enum DiscoveryInput {
    /// Asks the peer. Version 1 sends the first question alone.
    Ask(Vec<FeatureQuery>),
    /// A message came.
    Received {
        /// The message.
        message: Incoming<FeatureMessage>,
        /// What this agent is willing to tell that peer, such as everything in the table of protocols.
        features: Vec<Feature>,
    },
}

/// Takes a step of a question.
///
/// # Errors
/// If an answer belongs to a question that is not open.
pub fn step(
    footing: Footing<'_, DiscoveryRecord>,
    input: &DiscoveryInput,
    ctx: &Ctx,
) -> Advanced<DiscoveryRecord> {
    match (footing, input) {
        (Footing::New(opening), DiscoveryInput::Ask(queries)) => {
            let mut dialogue = Dialogue::opened(opening, ctx);
            let message = dialogue.say(&FeatureMessage::Queries(queries.clone()), ctx);
            let record = DiscoveryRecord {
                state: DiscoveryState::QuerySent,
                dialogue,
                queries: queries.clone(),
                disclosures: Vec::new(),
            };
            Ok(Advance::of(record).send(Recipient::Peer, message))
        }
        (Footing::New(_), DiscoveryInput::Received { message, features }) => {
            Ok(first(message, features, ctx))
        }
        (Footing::Known(record), DiscoveryInput::Received { message, .. }) => {
            next(record, message, ctx)
        }
        (Footing::Known(_), DiscoveryInput::Ask(_)) => Err(Problem::wrong_state()),
    }
}

/// A question is answered at once; what is disclosed without being asked is kept (RFC 0557, "States").
fn first(
    message: &Incoming<FeatureMessage>,
    features: &[Feature],
    ctx: &Ctx,
) -> Advance<DiscoveryRecord> {
    let mut record = DiscoveryRecord {
        state: DiscoveryState::Done,
        dialogue: Dialogue::joined(message, ctx),
        queries: Vec::new(),
        disclosures: Vec::new(),
    };
    match &message.content {
        FeatureMessage::Queries(queries) => {
            let asked = |feature: &&Feature| queries.iter().any(|query| query.matches(feature));
            record.queries.clone_from(queries);
            record.disclosures = features.iter().filter(asked).cloned().collect();
            let answer = FeatureMessage::Disclosures(record.disclosures.clone());
            let message = record.dialogue.say(&answer, ctx);
            Advance::of(record).send(Recipient::Peer, message)
        }
        FeatureMessage::Disclosures(disclosures) => {
            record.disclosures.clone_from(disclosures);
            Advance::of(record).tell(Notice::Received("disclosures"))
        }
    }
}

fn next(
    record: &DiscoveryRecord,
    message: &Incoming<FeatureMessage>,
    ctx: &Ctx,
) -> Advanced<DiscoveryRecord> {
    if record.dialogue.has_heard(message) {
        return Ok(Advance::repeated(record.clone()));
    }
    let mut next = record.clone();
    next.dialogue.hear(message, ctx)?;
    match (record.state, &message.content) {
        (DiscoveryState::QuerySent, FeatureMessage::Disclosures(disclosures)) => {
            next.state = DiscoveryState::Done;
            next.disclosures.clone_from(disclosures);
            Ok(Advance::of(next).tell(Notice::Received("disclosures")))
        }
        _ => Err(Problem::wrong_state()),
    }
}
