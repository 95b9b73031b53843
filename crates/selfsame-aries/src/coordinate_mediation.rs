//! Coordinate mediation 1.0 (RFC 0211): a mediator takes messages for another agent, and learns for which of its keys.

mod messages;
mod state;
mod step;

pub use messages::{
    KeyAction, KeyPage, KeyResult, KeyUpdate, KeyUpdated, MediationMessage, PageLeft,
};
pub use state::{MediationRecord, MediationRole, MediationState};
pub use step::{MediationAct, MediationInput, step};
