//! The record of a mediation.

use serde::{Deserialize, Serialize};

use crate::dialogue::Dialogue;
use crate::key::VerKey;

/// A mediation, of either side.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct MediationRecord {
    /// Its state.
    pub state: MediationState,
    /// Who this agent is.
    pub role: MediationRole,
    /// The thread of the request.
    pub dialogue: Dialogue,
    /// The connection with the other side.
    pub connection_id: Option<String>,
    /// Where the mediator takes messages, once it grants that.
    pub endpoint: Option<String>,
    /// The mediator's keys.
    pub routing_keys: Vec<VerKey>,
}

/// Who an agent is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MediationRole {
    /// It takes messages for the other: the mediator.
    Server,
    /// It wants its messages taken: the recipient.
    Client,
}

/// Where a mediation stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum MediationState {
    /// It is asked for.
    #[serde(rename = "request/1")]
    Request,
    /// The mediator grants it.
    #[serde(rename = "granted/1")]
    Granted,
    /// The mediator denies it.
    #[serde(rename = "denied/1")]
    Denied,
}

impl MediationState {
    /// The state's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Granted => "granted",
            Self::Denied => "denied",
        }
    }
}
