//! What the issuers of one instance keep in memory together, however many they are.

use selfsame_driver::lanes::Lanes;
use selfsame_driver::record::RecordCache;

use super::offers::OfferRecord;
use super::protocol::GrantRecord;
use crate::view::documents::DocumentCache;

/// What all issuers share. Versions of records are unique in a store, so records of all organisations have one cache.
#[derive(Default)]
pub(crate) struct IssuerMemory {
    pub(super) offers: RecordCache<OfferRecord>,
    pub(super) grants: RecordCache<GrantRecord>,
    pub(super) redeeming: Lanes,
    pub(super) documents: DocumentCache,
}
