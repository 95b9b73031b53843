//! What every role stands on: the driver of machines, and the parts that the roles of one process share.
//!
//! Owns: how a step is driven (load, gather, step, one commit, calls, events), the instance's own DIDs and identities,
//! the resolver, and the settings of trust. Does not own: what a role does, how events are kept, how a registry is reached, HTTP.

pub mod certificate;
pub mod config;
pub mod contexts;
pub mod dids;
mod fetches;
pub mod gather;
mod host_cache;
pub mod identity;
pub mod machine;
pub mod newcomer;
pub mod organisation;
pub mod registry;
pub mod resolver;
mod shared;
pub mod trust;
pub mod view;

pub use fetches::Recency;
pub use selfsame_driver::ShortLived;
pub use selfsame_driver::record::events;
pub use shared::{Correspondent, Resources, Shared, below};

pub use selfsame_driver::record::notice;
