//! The common parts of both W3C formats: issuing, holding, presenting and verifying a W3C credential as a JWT.

pub(super) mod hold;
mod issue;
pub(super) mod present;
pub(crate) mod verify;

use serde_json::{Map, Value};

pub use self::{
    issue::{Issue, IssueError},
    present::Present,
};
use super::Format;
use crate::w3c::Model;

/// The parts that the formats encode differently.
pub(crate) struct Variant {
    pub model: Model,
    /// The payload of the JWT of a credential.
    pub credential: fn(&Issue, Map<String, Value>) -> Map<String, Value>,
    /// The payload of the JWT of a presentation, from the members that every presentation has.
    pub presentation: fn(&Present, Map<String, Value>) -> Map<String, Value>,
}

impl Model {
    /// The data model of a format; `None` for formats that are not W3C's.
    pub fn of(format: Format) -> Option<Self> {
        let variant = format.entry().w3c.as_ref();
        variant.map(|variant| variant.model)
    }
}
