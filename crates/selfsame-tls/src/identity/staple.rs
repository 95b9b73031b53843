//! Staples, which a peer adds to its identity so that no other party has to be asked: registry reads and status lists.

use std::collections::BTreeMap;

use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;
use selfsame_proof::read::Bundle;

use super::ledger::{KnownState, NetworkRules, StaplePolicy};
use super::staple_reads::{Fault, reads};
pub use super::staple_reads::{READS, Read, Reads};
use crate::alert::{Alert, Refusal};
use crate::codec::Staple;

/// The kind of a staple that holds a status list.
pub const STATUS_LIST: u8 = 2;

/// A staple of a status list: its URI, then the list as its issuer serves it; `None` if it would be too long.
pub fn status_list(uri: &str, token: &[u8]) -> Option<Staple> {
    let length = u16::try_from(uri.len()).ok()?;
    let body = [&length.to_be_bytes()[..], uri.as_bytes(), token].concat();
    let fits = u16::try_from(body.len()).is_ok();
    fits.then_some(Staple {
        kind: STATUS_LIST,
        body,
    })
}

/// The status list with this URI among a peer's staples, as its issuer serves it.
pub(super) fn list_at<'s>(staples: &'s [Staple], uri: &str) -> Option<&'s [u8]> {
    let lists = staples.iter().filter(|staple| staple.kind == STATUS_LIST);
    let mut lists = lists.filter_map(|staple| {
        let (length, rest) = staple.body.split_first_chunk::<2>()?;
        rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))
    });
    let list = lists.find(|(of, _)| *of == uri.as_bytes());
    list.map(|(_, token)| token)
}

/// Collects registry reads for our own staples: the current state of DIDs, and issuers' anchors.
pub struct Stapling<'r> {
    rules: &'r dyn NetworkRules,
    dids: Vec<Did>,
    anchors: Vec<(Did, String)>,
    bundles: BTreeMap<Vec<u8>, Bundle>,
}

impl<'r> Stapling<'r> {
    /// For DIDs of the network with these rules (our own and perhaps our issuer's), and for issuers' status lists (by URI).
    pub fn new(rules: &'r dyn NetworkRules, dids: Vec<Did>, anchors: Vec<(Did, String)>) -> Self {
        Self {
            rules,
            dids,
            anchors,
            bundles: BTreeMap::new(),
        }
    }

    /// The key to be read next; `None` if nothing is missing. Reads need not be verified here: the receiver of the
    /// staples verifies them.
    pub fn missing(&self) -> Option<Vec<u8>> {
        let view = StapleView {
            bundles: &self.bundles,
            missing: std::cell::RefCell::default(),
        };
        // The results are not used, only the first missing key, which the view records.
        for did in &self.dids {
            let _ = self.rules.resolve(&view, did);
        }
        for (issuer, list) in &self.anchors {
            let _ = self.rules.anchor(&view, issuer, list);
        }
        view.missing.take()
    }

    /// Adds a read.
    pub fn add(&mut self, bundle: Bundle) {
        self.bundles.insert(bundle.key.clone(), bundle);
    }

    /// The keys that were read.
    pub fn keys(&self) -> Vec<Vec<u8>> {
        self.bundles.keys().cloned().collect()
    }

    /// Whether all reads have the same checkpoint.
    pub fn is_of_one_checkpoint(&self) -> bool {
        let mut notes = self.bundles.values().map(|bundle| &bundle.note);
        notes
            .next()
            .is_none_or(|first| notes.all(|note| note == first))
    }

    /// The staples, one for each checkpoint.
    pub fn staples(self) -> Vec<Staple> {
        let reads = Reads::of(self.bundles.into_values());
        reads.iter().filter_map(Reads::staple).collect()
    }
}

/// Judges whether a staple proves that a DID of the registry is active.
///
/// # Errors
/// The refusal that a peer which sends it would get.
pub fn judge(
    stapled: &StaplePolicy,
    staple: &Staple,
    did: &Did,
    now: UnixTime,
) -> Result<(), Refusal> {
    let reads = reads(std::slice::from_ref(staple)).map_err(Fault::refusal)?;
    let proved = stapled.ledger.judge(reads, stapled.handed(), now);
    let resolution = proved.and_then(|proved| proved.resolve(did));
    let resolution = resolution.map_err(Fault::refusal)?;
    let gone = Refusal::new(Alert::CertificateUnknown, "the DID is not in use");
    resolution.document_of(did).map(|_| ()).map_err(|_| gone)
}

struct StapleView<'a> {
    bundles: &'a BTreeMap<Vec<u8>, Bundle>,
    missing: std::cell::RefCell<Option<Vec<u8>>>,
}

impl KnownState for StapleView<'_> {
    fn get(&self, key: &[u8]) -> Option<Option<Vec<u8>>> {
        if let Some(bundle) = self.bundles.get(key) {
            return Some(bundle.value.clone());
        }
        self.missing
            .borrow_mut()
            .get_or_insert_with(|| key.to_owned());
        None
    }
}
