//! Transactions of the log with their proofs: those that this process serves, and those that it reads from other nodes.

use selfsame_driver::{Error, Result};
use selfsame_proof::checkpoint::{Checkpoint, Standing};
use selfsame_proof::entries::{ENTRIES_MAX, MAX_BYTES, ProvenEntries, ProvenEntry};
use selfsame_proof::log::{inclusion, leaf_hash, verify_inclusion};
use selfsame_proof::note::SignedNote;
use selfsame_proof::read::Bundle;

use super::Ledger;

/// Upper bound of the bytes beside a transaction in an answer: its proof, numbers and lengths.
const ENTRY_OVERHEAD: usize = 64 * 32 + 64;

impl Ledger {
    /// Transactions by their numbers, proven under the checkpoint of a read.
    ///
    /// # Errors
    /// `BadRequest` for too many, `Internal` if the store fails.
    pub(crate) fn proven(&self, bundle: Bundle, numbers: &[u64]) -> Result<ProvenEntries> {
        if numbers.len() > ENTRIES_MAX {
            return Err(Error::bad_request("transactions-limit").with("maximum", &ENTRIES_MAX));
        }
        let standing = standing(&bundle.note)
            .ok_or_else(|| Error::internal("one of our own checkpoints can't be read"))?;
        let mut entries = Vec::with_capacity(numbers.len());
        let mut bytes = bundle.to_bytes().len();
        for seq_no in numbers.iter().filter(|seq_no| **seq_no <= standing.size) {
            let Some(placed) = self.store().entry(*seq_no)? else {
                continue;
            };
            let index = seq_no.saturating_sub(1);
            bytes = bytes.saturating_add(placed.entry.bytes.len().saturating_add(ENTRY_OVERHEAD));
            if bytes > MAX_BYTES {
                return Err(Error::bad_request("transactions-too-long"));
            }
            entries.push(ProvenEntry {
                seq_no: *seq_no,
                height: placed.height,
                time: self.block(placed.height)?.time,
                transaction: placed.entry.bytes,
                path: inclusion(index, standing.size, self).map_err(Error::internal)?,
            });
            self.is_logged(entries.last(), &standing)?;
        }
        Ok(ProvenEntries { bundle, entries })
    }

    /// Verifies that the checkpoint's log has what is served: a path over damaged neighbours leads to another root.
    fn is_logged(&self, entry: Option<&ProvenEntry>, standing: &Standing) -> Result<()> {
        let Some(entry) = entry else { return Ok(()) };
        let (leaf, index) = (
            leaf_hash(&entry.transaction),
            entry.seq_no.saturating_sub(1),
        );
        verify_inclusion(&leaf, index, standing.tree_head(), &entry.path).map_err(|_| {
            self.damage()
                .found("a transaction does not match the log's root")
        })
    }
}

/// The standing that a checkpoint states. Nothing of it is verified.
#[must_use]
pub fn standing(note: &str) -> Option<Standing> {
    let note = SignedNote::parse(note).ok()?;
    let said = std::str::from_utf8(note.signing_bytes()).ok()?;
    Checkpoint::parse(said).ok()?.standing().ok()
}
