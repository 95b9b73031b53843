//! The issuers that are organisations of this instance and not active.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_core::Shared;
use selfsame_core::organisation::Organisations;
use selfsame_core::organisation::view::OrganisationState;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_driver::paging::Paging;

/// Seconds for which it is not looked again which organisations are suspended.
const LOOKED_EVERY: u64 = 5;

/// The identifiers of organisations of this instance that are not active, as they were read last.
#[derive(Default)]
pub(crate) struct InactiveIssuers(Mutex<Option<(UnixTime, Arc<HashSet<String>>)>>);

impl InactiveIssuers {
    /// Those of now, or of some seconds ago.
    ///
    /// # Errors
    /// The store's.
    pub async fn now(&self, shared: &Arc<Shared>) -> Result<Arc<HashSet<String>>> {
        let now = shared.clock.now();
        if let Some((read, known)) = &*self.held()
            && now.seconds_since(*read) < LOOKED_EVERY
        {
            return Ok(known.clone());
        }
        let organisations = Organisations::new(shared.clone());
        let mut inactive = HashSet::new();
        let mut paging = Paging::longest();
        loop {
            let page = organisations.list(&paging).await?;
            for one in page.items {
                if one.state != OrganisationState::Active {
                    inactive.extend([one.did, one.identifier]);
                }
            }
            match page.next {
                Some(after) => paging.after = Some(after),
                None => break,
            }
        }
        let inactive = Arc::new(inactive);
        *self.held() = Some((now, inactive.clone()));
        Ok(inactive)
    }

    fn held(&self) -> MutexGuard<'_, Option<(UnixTime, Arc<HashSet<String>>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
