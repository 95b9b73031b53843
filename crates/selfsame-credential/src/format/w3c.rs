//! What both of W3C's formats share: issuing, holding, presenting and judging a W3C credential as a JWT.

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

/// What the formats write differently.
pub(crate) struct Variant {
    pub model: Model,
    /// The payload of the JWT of a credential.
    pub credential: fn(&Issue, Map<String, Value>) -> Map<String, Value>,
    /// The payload of the JWT of a presentation, of what every presentation says.
    pub presentation: fn(&Present, Map<String, Value>) -> Map<String, Value>,
}

impl Model {
    /// The data model of a format; none for formats that are not W3C's.
    pub fn of(format: Format) -> Option<Self> {
        let variant = format.entry().w3c.as_ref();
        variant.map(|variant| variant.model)
    }
}
