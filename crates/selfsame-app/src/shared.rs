//! What every use case stands on: store, network, keys, clock, events.

use std::sync::Arc;

use selfsame_net::Net;
use selfsame_store::Store;

use crate::clock::Clock;
use crate::config::Config;
use crate::events::Events;
use crate::keys::Keys;
use crate::resolver::Resolver;
use crate::work::Work;

/// The parts that the roles of one process share.
pub struct Shared {
    /// What this instance was told.
    pub config: Config,
    /// Its records.
    pub store: Store,
    /// Its outbound calls.
    pub net: Net,
    /// Its keys.
    pub keys: Keys,
    /// Its time and randomness.
    pub clock: Clock,
    /// What happens in it.
    pub events: Events,
    /// Its pool for long computations.
    pub work: Work,
    /// Its resolver of DIDs.
    pub resolver: Arc<Resolver>,
    /// Status lists and issuer metadata that verification needs.
    pub fetched: crate::gather::Fetches,
}
