//! Transactions of the log with their proofs, as a node returns them: encoding and verification.

use crate::ProofError;
use crate::cbor::{CborItem, CborReader, CborWriter, Malformed};
use crate::checkpoint::Standing;
use crate::log::{leaf_hash, verify_inclusion};
use crate::read::Bundle;

pub use crate::log::ProvenEntry;

const DOMAIN: &str = "selfsame/log/1";
/// Maximum length of an answer, in bytes.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;
/// Maximum number of transactions in an answer.
pub const ENTRIES_MAX: usize = 200;

/// Transactions, and the checkpoint whose log contains them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProvenEntries {
    /// The checkpoint, with the handovers to its validators: a read of the validator set.
    pub bundle: Bundle,
    /// The transactions, in the requested order. Those beyond the end of the log are left out.
    pub entries: Vec<ProvenEntry>,
}

impl ProvenEntries {
    /// The encoded answer.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_cbor()
    }

    /// Decodes the output of [`ProvenEntries::to_bytes`].
    ///
    /// # Errors
    /// If the bytes have any other form or are too long.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        match bytes.len() > MAX_BYTES {
            true => Err(Malformed("an answer is too long")),
            false => Self::from_cbor(bytes),
        }
    }

    /// The transactions with these numbers, each proven to be in the log of this verified standing. Numbers beyond the
    /// end of the log are skipped.
    ///
    /// # Errors
    /// `Entries` if a transaction of the log is missing or another one is present; `Entry` if a proof is invalid.
    pub fn judged(
        self,
        numbers: &[u64],
        standing: &Standing,
    ) -> Result<Vec<ProvenEntry>, ProofError> {
        let logged = |number: &&u64| (1..=standing.size).contains(*number);
        let wanted = numbers.iter().filter(logged).copied();
        let given = self.entries.iter().map(|entry| entry.seq_no);
        if !given.eq(wanted) {
            return Err(ProofError::Entries);
        }
        let proven = |entry: &ProvenEntry| {
            let leaf = leaf_hash(&entry.transaction);
            let index = entry.seq_no.saturating_sub(1);
            verify_inclusion(&leaf, index, standing.tree_head(), &entry.path).is_ok()
        };
        match self.entries.iter().find(|entry| !proven(entry)) {
            None => Ok(self.entries),
            Some(entry) => Err(ProofError::Entry(entry.seq_no)),
        }
    }
}

impl CborItem for ProvenEntries {
    fn write(&self, to: &mut CborWriter) {
        to.array(3).text(DOMAIN).item(&self.bundle);
        to.items(&self.entries);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        from.domain(DOMAIN)?;
        let bundle = Bundle::read(from)?;
        let entries: Vec<ProvenEntry> = from.items()?;
        match entries.len() > ENTRIES_MAX {
            true => Err(Malformed("there are too many transactions")),
            false => Ok(Self { bundle, entries }),
        }
    }
}
