//! Revocation registries of a definition: their records, and the machine that makes, publishes and changes them.

mod change;
mod machine;
mod making;
mod record;
mod view;

pub(crate) use change::RegistryChange;
pub(crate) use machine::Registries;
pub(crate) use making::RegistryWorkshop;
pub use record::RegistryStage;
pub(crate) use record::{REGISTRY, RegistryRecord, is_open_tag};
pub use view::RegistryView;
