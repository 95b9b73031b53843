//! Discover features 1.0 (RFC 0031) and 2.0 (RFC 0557): which protocols does the other agent speak?

mod messages;
mod state;
mod step;

pub use messages::{Feature, FeatureMessage, FeatureQuery};
pub use state::{DiscoveryRecord, DiscoveryState};
pub use step::{DiscoveryInput, step};
