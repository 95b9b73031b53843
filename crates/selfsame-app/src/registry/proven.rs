//! Transactions of the log with what proves them: given by one node, judged by whoever asked for them.

use selfsame_crypto::time::UnixTime;
use selfsame_proof::cbor::{Item, Malformed, Reader, Writer};
use selfsame_proof::checkpoint::{Checkpoint, Standing};
use selfsame_proof::log::{Hash, inclusion, leaf_hash, verify_inclusion};
use selfsame_proof::note::SignedNote;
use selfsame_proof::read::Bundle;
use selfsame_registry::{Machine, Transaction};
use selfsame_store::ledger::{Entry, Placed};

use super::ledger::Ledger;
use super::{ENTRIES_MAX, describe};
use crate::error::{Error, Result};
use crate::view::registry::RegistryEntry;

const DOMAIN: &str = "selfsame/log/1";
/// Longest answer read.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;
/// More hashes than lead to the root of a log of 2⁶⁴ entries.
const PATH_MAX: usize = 64;

/// Transactions, and the checkpoint under whose log they are proven.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProvenEntries {
    /// The checkpoint, with all that leads a reader to its validators: a read of their set.
    pub bundle: Bundle,
    /// The transactions, in the order they were asked for; those beyond the log are left out.
    pub entries: Vec<ProvenEntry>,
}

/// A transaction with its proof.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProvenEntry {
    /// Its number, which the proof proves.
    pub seq_no: u64,
    /// The block it is in. The log does not prove it.
    pub height: u64,
    /// The block's time. The log does not prove it.
    pub time: UnixTime,
    /// The transaction.
    pub transaction: Vec<u8>,
    /// Its inclusion (RFC 9162 §2.1.3).
    pub path: Vec<Hash>,
}

impl ProvenEntries {
    /// The answer as it is sent.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_cbor()
    }

    /// Reads what [`ProvenEntries::to_bytes`] wrote, and nothing else.
    ///
    /// # Errors
    /// If it is anything else, or too long.
    pub fn from_bytes(bytes: &[u8]) -> std::result::Result<Self, Malformed> {
        match bytes.len() > MAX_BYTES {
            true => Err(Malformed("an answer is too long")),
            false => Self::from_cbor(bytes),
        }
    }

    /// The transactions of these numbers, each proven to stand in the log of that verified standing.
    ///
    /// # Errors
    /// `Upstream` if any is not, if one is left out that the log has, or if another was given.
    pub(super) fn judged(self, numbers: &[u64], standing: &Standing) -> Result<Vec<ProvenEntry>> {
        let logged = |number: &&u64| (1..=standing.size).contains(*number);
        let wanted: Vec<u64> = numbers.iter().filter(logged).copied().collect();
        let given = self.entries.iter().map(|entry| entry.seq_no);
        if !given.eq(wanted) {
            return Err(Error::upstream(
                "the registry gave other transactions than it was asked for",
            ));
        }
        let proven = |entry: &ProvenEntry| {
            let leaf = leaf_hash(&entry.transaction);
            let index = entry.seq_no.saturating_sub(1);
            verify_inclusion(&leaf, index, (standing.size, &standing.log), &entry.path).is_ok()
        };
        match self.entries.iter().find(|entry| !proven(entry)) {
            None => Ok(self.entries),
            Some(entry) => Err(Error::upstream(format!(
                "the registry does not prove that transaction {} is in its log",
                entry.seq_no
            ))),
        }
    }
}

impl ProvenEntry {
    /// The transaction for people, in the words of this process and not of the node's.
    pub(super) fn described(self, machine: &Machine) -> Result<RegistryEntry> {
        let hash = Transaction::from_bytes(&self.transaction)
            .map_err(|_| Error::upstream("the registry's log holds what is no transaction"))?
            .hash();
        let placed = Placed {
            seq: self.seq_no,
            height: self.height,
            entry: Entry {
                hash,
                bytes: self.transaction,
            },
        };
        describe::entry(machine, &placed, self.time)
    }
}

impl Ledger {
    /// Transactions by their numbers, proven under the checkpoint of a read.
    ///
    /// # Errors
    /// `BadRequest` for too many, `Internal` if the store fails.
    pub(super) fn proven(&self, bundle: Bundle, numbers: &[u64]) -> Result<ProvenEntries> {
        if numbers.len() > ENTRIES_MAX {
            return Err(Error::bad_request(format!(
                "at most {ENTRIES_MAX} transactions at once"
            )));
        }
        let standing = standing(&bundle.note)
            .ok_or_else(|| Error::internal("a checkpoint of ours can't be read"))?;
        let mut entries = Vec::with_capacity(numbers.len());
        for seq_no in numbers.iter().filter(|seq_no| **seq_no <= standing.size) {
            let Some(placed) = self.store().entry(*seq_no)? else {
                continue;
            };
            let index = seq_no.saturating_sub(1);
            entries.push(ProvenEntry {
                seq_no: *seq_no,
                height: placed.height,
                time: self.block(placed.height)?.time,
                transaction: placed.entry.bytes,
                path: inclusion(index, standing.size, self).map_err(Error::internal)?,
            });
        }
        Ok(ProvenEntries { bundle, entries })
    }
}

/// What a checkpoint says; nothing of it is verified.
pub(crate) fn standing(note: &str) -> Option<Standing> {
    let note = SignedNote::parse(note).ok()?;
    let said = std::str::from_utf8(note.signing_bytes()).ok()?;
    Checkpoint::parse(said).ok()?.standing().ok()
}

impl Item for ProvenEntries {
    fn write(&self, to: &mut Writer) {
        to.array(3).text(DOMAIN).item(&self.bundle);
        to.items(&self.entries);
    }

    fn read(from: &mut Reader<'_>) -> std::result::Result<Self, Malformed> {
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

impl Item for ProvenEntry {
    fn write(&self, to: &mut Writer) {
        to.array(5).uint(self.seq_no).uint(self.height);
        to.uint(self.time.0).bytes(&self.transaction);
        to.bytes(&self.path.concat());
    }

    fn read(from: &mut Reader<'_>) -> std::result::Result<Self, Malformed> {
        from.tuple(5)?;
        let (seq_no, height, time) = (from.uint()?, from.uint()?, UnixTime(from.uint()?));
        let (transaction, path) = (from.bytes()?.to_vec(), from.bytes()?);
        let (path, rest) = path.as_chunks::<32>();
        match rest.is_empty() && path.len() <= PATH_MAX {
            true => Ok(Self {
                seq_no,
                height,
                time,
                transaction,
                path: path.to_vec(),
            }),
            false => Err(Malformed("a proof of inclusion is none")),
        }
    }
}
