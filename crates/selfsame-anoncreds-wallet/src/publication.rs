//! Publications: their records, and the machine that carries them out.

mod machine;
mod record;

pub(crate) use machine::Publishing;
pub use record::{
    AcceptedPublication, DefinitionFilter, FailedPublication, NewCredentialDefinition, NewSchema,
    Publication, PublicationState,
};
pub(crate) use record::{
    DEFAULT_TAG, DEFINITION, DefinitionRecord, PRIVATE_KEY, PUBLICATION, successor_tag,
};
