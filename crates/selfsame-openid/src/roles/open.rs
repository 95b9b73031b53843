//! The organisations that are open: each once, and no more of them than the bound.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_core::identity::Identity;
use selfsame_core::organisation::OrganisationName;
use selfsame_driver::Result;
use tokio::sync::OnceCell;

use crate::context::Context;
use crate::issuer::Issuer;
use crate::verifier::Verifier;

/// Number of organisations that stay open without a request; each takes some kilobytes.
const OPEN_MAX: usize = 2_048;

/// The open organisations, by their names.
#[derive(Default)]
pub(super) struct OpenOrganisations {
    held: Mutex<HashMap<OrganisationName, HeldOrganisation>>,
    used: AtomicU64,
}

/// An open organisation. Its roles can change while it is open; what they keep in memory stays.
pub(super) struct OpenOrganisation {
    pub context: Arc<Context>,
    pub identity: Arc<Identity>,
    /// Its issuer, once it was needed.
    pub issuer: OnceCell<Arc<Issuer>>,
    pub verifier: Arc<Verifier>,
}

struct HeldOrganisation {
    organisation: Arc<OnceCell<Arc<OpenOrganisation>>>,
    /// Orders the entries by their last use.
    used: u64,
}

impl OpenOrganisations {
    /// This organisation. Requests at the same time open it once: an issuer keeps its status lists in memory, so that
    /// two of one organisation would publish different lists.
    ///
    /// # Errors
    /// Those of `open`.
    pub async fn get<F: Future<Output = Result<OpenOrganisation>>>(
        &self,
        name: &OrganisationName,
        open: impl FnOnce() -> F,
    ) -> Result<Arc<OpenOrganisation>> {
        let place = self.place(name);
        let opened = place.get_or_try_init(|| async { open().await.map(Arc::new) });
        opened.await.cloned()
    }

    /// Closes an organisation. Who holds it now may finish.
    pub fn close(&self, name: &OrganisationName) {
        self.held().remove(name);
    }

    /// The issuers that are open now.
    pub fn issuers(&self) -> Vec<Arc<Issuer>> {
        let held = self.held();
        let open = held.values().filter_map(|held| held.organisation.get());
        open.filter_map(|open| open.issuer.get().cloned()).collect()
    }

    fn place(&self, name: &OrganisationName) -> Arc<OnceCell<Arc<OpenOrganisation>>> {
        let used = self.used.fetch_add(1, Ordering::Relaxed);
        let mut held = self.held();
        if let Some(known) = held.get_mut(name) {
            known.used = used;
            return known.organisation.clone();
        }
        if held.len() >= OPEN_MAX {
            close_idle(&mut held);
        }
        let organisation = Arc::default();
        let entry = HeldOrganisation {
            organisation: Arc::clone(&organisation),
            used,
        };
        held.insert(name.clone(), entry);
        organisation
    }

    fn held(&self) -> MutexGuard<'_, HashMap<OrganisationName, HeldOrganisation>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes a part of the organisations: those that no request uses and that were not used for the longest time.
fn close_idle(held: &mut HashMap<OrganisationName, HeldOrganisation>) {
    let mut uses: Vec<u64> = held.values().map(|held| held.used).collect();
    uses.sort_unstable();
    let until = uses.get(OPEN_MAX / 8).copied().unwrap_or_default();
    held.retain(|_, held| held.used > until || is_in_use(held));
}

/// Whether somebody else holds the organisation or one of its roles, is opening it, or has something of it to anchor.
fn is_in_use(held: &HeldOrganisation) -> bool {
    if Arc::strong_count(&held.organisation) > 1 {
        return true;
    }
    let Some(open) = held.organisation.get() else {
        return false;
    };
    let issuer = open.issuer.get();
    let parts = [
        Arc::strong_count(open) > 1,
        issuer.is_some_and(|issuer| Arc::strong_count(issuer) > 1 || issuer.has_unanchored()),
        Arc::strong_count(&open.verifier) > 1,
    ];
    parts.contains(&true)
}
