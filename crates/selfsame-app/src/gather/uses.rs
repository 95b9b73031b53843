//! What people are shown of uses.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::registry::uses::Place;
use crate::shared::Shared;
use crate::view::CredentialUse;

/// So long a page waits for a registry elsewhere.
const PATIENCE: Duration = Duration::from_secs(2);

impl Shared {
    /// What became of these, as far as the registry says so in a moment: for people to look at, not to judge by.
    pub(crate) async fn uses_seen(&self, places: HashSet<Place>) -> HashMap<Place, CredentialUse> {
        let mut seen = HashMap::new();
        let look = async {
            for place in places {
                match self.single_use(&place.0, &place.1).await.value {
                    Ok(Some(used)) => drop(seen.insert(place, CredentialUse::of(&used))),
                    Ok(None) => {}
                    // What one read has not brought the next will not bring either.
                    Err(_) => break,
                }
            }
        };
        drop(tokio::time::timeout(PATIENCE, look).await);
        seen
    }
}
