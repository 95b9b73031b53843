//! AnonCreds objects: schemas, credential definitions, revocation registries, and their names.

mod definition;
mod name;
mod registry;
mod revocation;
mod schema;

pub use definition::{Definition, PublishedDefinition, Succession};
pub use name::ObjectName;
pub(crate) use name::{DEFINITION, REGISTRY, SCHEMA};
pub use registry::PublishedRegistry;
pub(crate) use revocation::RevokedBits;
pub use revocation::{RevocationEntry, RevocationState, RevocationVersion};
pub use schema::PublishedSchema;
