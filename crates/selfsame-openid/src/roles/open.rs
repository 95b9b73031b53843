//! The organisations that are open: each once, and no more of them than the bound. An issuer keeps its status lists in
//! memory, so that two of one organisation would publish different lists.

use std::sync::Arc;

use super::open_set::OpenSet;
use selfsame_core::identity::Identity;
use selfsame_core::organisation::OrganisationName;
use tokio::sync::OnceCell;

use crate::context::Context;
use crate::issuer::Issuer;
use crate::verifier::Verifier;

/// Number of organisations that stay open without a request; each takes some kilobytes.
const OPEN_MAX: usize = 2_048;

/// The open organisations, by their names.
pub(super) type OpenOrganisations = OpenSet<OrganisationName, OpenOrganisation>;

/// An open organisation. Its roles can change while it is open; what they keep in memory stays.
pub(super) struct OpenOrganisation {
    pub context: Arc<Context>,
    pub identity: Arc<Identity>,
    /// Its issuer, once it was needed.
    pub issuer: OnceCell<Arc<Issuer>>,
    pub verifier: Arc<Verifier>,
}

/// No organisation.
pub(super) fn none() -> OpenOrganisations {
    OpenSet::new(OPEN_MAX, is_in_use)
}

/// The issuers that are open now.
pub(super) fn issuers(open: &OpenOrganisations) -> Vec<Arc<Issuer>> {
    let open = open.open();
    let issuers = open.iter().filter_map(|open| open.issuer.get().cloned());
    issuers.collect()
}

/// Whether somebody else holds one of its roles, or it has something to anchor.
fn is_in_use(open: &Arc<OpenOrganisation>) -> bool {
    let is_used = |issuer: &Arc<Issuer>| Arc::strong_count(issuer) > 1 || issuer.has_unanchored();
    open.issuer.get().is_some_and(is_used) || Arc::strong_count(&open.verifier) > 1
}
