//! What AnonCreds publishes: schemas, credential definitions, revocation registries, and how each
//! is named.

mod definition;
mod name;
mod registry;
mod revocation;
mod schema;

pub use definition::{Definition, PublishedDefinition, Succession};
pub use name::ObjectName;
pub(crate) use name::{DEFINITION, REGISTRY, SCHEMA};
pub use registry::PublishedRegistry;
pub(crate) use revocation::Bits;
pub use revocation::{RevocationEntry, RevocationState, RevocationVersion};
pub use schema::PublishedSchema;
