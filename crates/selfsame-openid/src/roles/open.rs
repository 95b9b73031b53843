//! The roles of organisations that are open: each organisation's once, and no more of them than the bound.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_core::organisation::OrganisationName;
use selfsame_driver::Result;
use tokio::sync::OnceCell;

use super::OrganisationRoles;

/// Number of organisations whose roles stay open without a request; each takes some kilobytes.
const OPEN_MAX: usize = 2_048;

/// The open roles, by the name of their organisation.
#[derive(Default)]
pub(super) struct OpenRoles {
    held: Mutex<HashMap<OrganisationName, HeldRoles>>,
    used: AtomicU64,
}

struct HeldRoles {
    roles: Arc<OnceCell<Arc<OrganisationRoles>>>,
    /// Orders the entries by their last use.
    used: u64,
}

impl OpenRoles {
    /// The roles of this organisation. Requests at the same time open them once: an issuer keeps its status lists in
    /// memory, so that two of one organisation would publish different lists.
    ///
    /// # Errors
    /// Those of `open`.
    pub async fn get<F: Future<Output = Result<OrganisationRoles>>>(
        &self,
        name: &OrganisationName,
        open: impl FnOnce() -> F,
    ) -> Result<Arc<OrganisationRoles>> {
        let roles = self.place(name);
        let opened = roles.get_or_try_init(|| async { open().await.map(Arc::new) });
        opened.await.cloned()
    }

    /// The roles that are open now.
    pub fn all(&self) -> Vec<Arc<OrganisationRoles>> {
        let held = self.held();
        let open = held.values().filter_map(|held| held.roles.get().cloned());
        open.collect()
    }

    fn place(&self, name: &OrganisationName) -> Arc<OnceCell<Arc<OrganisationRoles>>> {
        let used = self.used.fetch_add(1, Ordering::Relaxed);
        let mut held = self.held();
        if let Some(known) = held.get_mut(name) {
            known.used = used;
            return known.roles.clone();
        }
        if held.len() >= OPEN_MAX {
            close_idle(&mut held);
        }
        let roles = Arc::default();
        let entry = HeldRoles {
            roles: Arc::clone(&roles),
            used,
        };
        held.insert(name.clone(), entry);
        roles
    }

    fn held(&self) -> MutexGuard<'_, HashMap<OrganisationName, HeldRoles>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes a part of the roles: those that no request uses and that were not used for the longest time.
fn close_idle(held: &mut HashMap<OrganisationName, HeldRoles>) {
    let mut uses: Vec<u64> = held.values().map(|held| held.used).collect();
    uses.sort_unstable();
    let until = uses.get(OPEN_MAX / 8).copied().unwrap_or_default();
    held.retain(|_, held| held.used > until || is_in_use(held));
}

/// Whether somebody else holds the roles, is opening them, or has something of theirs to anchor.
fn is_in_use(held: &HeldRoles) -> bool {
    if Arc::strong_count(&held.roles) > 1 {
        return true;
    }
    let Some(roles) = held.roles.get() else {
        return false;
    };
    let parts = [
        Arc::strong_count(roles) > 1,
        roles
            .issuer
            .as_ref()
            .is_some_and(|issuer| Arc::strong_count(issuer) > 1 || issuer.has_unanchored()),
        roles
            .verifier
            .as_ref()
            .is_some_and(|verifier| Arc::strong_count(verifier) > 1),
    ];
    parts.contains(&true)
}
