//! Uses of credentials, for display.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use selfsame_credential::single_use::Use;

use crate::registry::UseKey;
use crate::shared::Shared;

/// How long a page waits for a remote registry.
const PATIENCE: Duration = Duration::from_secs(2);

impl Shared {
    /// The uses of these credentials, as far as the registry answers quickly. For display, not for verification.
    pub async fn uses_seen(&self, keys: HashSet<UseKey>) -> HashMap<UseKey, Use> {
        let mut seen = HashMap::new();
        let look = async {
            for key in keys {
                match self.single_use(&key).await.value {
                    Ok(Some(used)) => drop(seen.insert(key, used)),
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
