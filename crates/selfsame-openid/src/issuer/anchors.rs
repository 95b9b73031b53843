//! Anchors the status lists in the registry, so that a list served to only one verifier would be detected.

use selfsame_driver::{ErrorKind, Result};
use selfsame_store::{Batch, Expect, Put};

use super::Issuer;
use super::lists::ANCHORED;
use crate::view::list_faces::ListFace;
use selfsame_core::dids::Dids;

/// Anchors the lists that changed.
///
/// # Errors
/// The store's and the registry's; what could not be anchored is tried again by the next call.
pub(crate) async fn anchor(issuer: &Issuer, dids: &Dids) -> Result<()> {
    if !issuer.anchors() {
        return Ok(());
    }
    let mut outcome = Ok(());
    for list in issuer.lists().take_unanchored() {
        let Err(error) = anchor_one(issuer, dids, list).await else {
            continue;
        };
        issuer.lists().is_unanchored(list);
        // Another process anchored it: the next call sees what.
        if error.kind != ErrorKind::Conflict {
            outcome = Err(error);
        }
    }
    outcome
}

/// Stores the new digest together with the call that anchors it, so that a crash loses neither.
async fn anchor_one(issuer: &Issuer, dids: &Dids, list: u64) -> Result<()> {
    let digest = issuer.lists().digest(list)?;
    let id = list.to_string();
    let known = issuer
        .shared
        .store
        .read(issuer.tenant(), ANCHORED, &id)
        .await?;
    let expected = match &known {
        Some(record) if record.value == digest => return Ok(()),
        Some(record) => Expect::Version(record.version),
        None => Expect::Absent,
    };
    let uri = issuer.lists().uri(list, ListFace::Token);
    let anchored = Batch::new(issuer.tenant().clone())
        .expect(ANCHORED, &id, expected)
        .put(Put::new(ANCHORED, &id, digest.to_vec()));
    dids.anchor(issuer.identity(), &uri, digest, anchored).await
}

impl Issuer {
    /// Whether its lists are anchored in a registry.
    fn anchors(&self) -> bool {
        self.shared.registry.is_some() && self.identity().did().origin().is_registry()
    }

    /// Whether lists wait to be anchored.
    pub(crate) fn has_unanchored(&self) -> bool {
        self.anchors() && self.lists.has_unanchored()
    }
}
