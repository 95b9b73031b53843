//! Uses of credentials, as shown to people.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::shared::Shared;
use crate::uses::Place;
use crate::view::CredentialUse;

/// How long a page waits for a remote registry.
const PATIENCE: Duration = Duration::from_secs(2);

impl Shared {
    /// The uses of these credentials, as far as the registry answers quickly. For display, not for verification.
    pub(crate) async fn uses_seen(&self, places: HashSet<Place>) -> HashMap<Place, CredentialUse> {
        let mut seen = HashMap::new();
        let look = async {
            for place in places {
                match self.single_use(&place.0, &place.1).await.value {
                    Ok(Some(used)) => drop(seen.insert(place, CredentialUse::of(&used))),
                    Ok(None) => {}
                    // If one read fails, the next will fail too.
                    Err(_) => break,
                }
            }
        };
        drop(tokio::time::timeout(PATIENCE, look).await);
        seen
    }
}
