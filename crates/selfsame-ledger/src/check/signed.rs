//! Checks the validators' signatures: on the changes of validators, and on the checkpoint that a node has stored.

use std::collections::BTreeMap;

use selfsame_proof::cbor::CborItem as _;
use selfsame_proof::note::SignedNote;
use selfsame_proof::read::{Handover, TrustRoot};
use selfsame_registry::Head;
use selfsame_store::Result;
use selfsame_store::ledger::LedgerView as _;
use selfsame_store::offline::Looked;

use super::Subject;
use crate::archive::{is_of, standing_of};
use crate::ledger::{handover_key, handover_of};
use crate::network::{log_origin, trust_root};

impl Subject<'_> {
    /// Verifies the stored signatures, from the genesis on.
    pub(super) fn signed(&self, looked: &mut Looked) -> Result<()> {
        if !self.of_network {
            looked.note = Some("an embedded registry signs on request and stores no signatures");
        }
        let trusts = self.handovers(looked)?;
        let Some(checkpoint) = self.checkpoint else {
            return Ok(());
        };
        looked.one(self.tell);
        let origin = log_origin(&self.machine.genesis().network());
        let (note, standing) = (
            SignedNote::parse(checkpoint),
            standing_of(checkpoint, &origin),
        );
        let (Ok(note), Ok(standing)) = (note, standing) else {
            looked.wrong("the newest stored checkpoint does not belong to this network");
            return Ok(());
        };
        if !trusts.iter().any(|trust| trust.agreed(&note).is_ok()) {
            looked.wrong("too few validators signed the newest stored checkpoint");
        }
        let row = match standing.height {
            0 => return Ok(()),
            height => self.file.blocks(height.saturating_sub(1), 1)?.pop(),
        };
        let row = row.filter(|row| row.height == standing.height);
        let head = row.and_then(|row| Head::from_bytes(&row.bytes).ok());
        if !head.is_some_and(|head| is_of(&standing, &head)) {
            looked.wrong(format!(
                "block {} is not what the validators have signed",
                standing.height
            ));
        }
        Ok(())
    }

    /// The trust root of the genesis, and the one after each change of validators.
    fn handovers(&self, looked: &mut Looked) -> Result<Vec<TrustRoot>> {
        let mut kept: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
        self.file.for_each_value(|value| {
            if let Ok((key, value)) = value
                && let Some(height) = handover_of(&key)
            {
                kept.insert(height, value);
            }
            Ok(())
        })?;
        let mut trusts = vec![trust_root(self.machine.genesis())];
        for (height, bytes) in kept {
            looked.one(self.tell);
            let handover = Handover::from_cbor(&bytes).ok();
            let next = trusts.last().zip(handover).and_then(|(trust, handover)| {
                // The replay reads a handover by its key, so a read by key must return the same bytes.
                let found = self.file.get(&handover_key(height)).ok().flatten();
                let next = trust.after(&handover).ok();
                next.filter(|_| found == Some(bytes))
            });
            match next {
                Some(next) => trusts.push(next),
                None => looked.wrong(format!(
                    "the change of validators by block {height} is not what they have signed"
                )),
            }
        }
        Ok(trusts)
    }
}
