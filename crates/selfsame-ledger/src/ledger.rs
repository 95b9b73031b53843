//! The ledger as every sequencer reads and writes it: the state for the machine, blocks, and the history for people.

mod damage;
mod judging;
mod known;
mod proven;

use std::collections::BTreeMap;
use std::sync::Arc;

use selfsame_crypto::hash::sha256;
use selfsame_did::{Did, Options, Resolution};
use selfsame_driver::room::Wanting;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_proof::cbor::CborItem as _;
use selfsame_proof::entries::ENTRIES_MAX;
use selfsame_proof::log::{Hash, LogRead, consistency, leaf_hash};
use selfsame_proof::read::{Bundle, Handover, MAX_HANDOVERS};
use selfsame_proof::reads::{ProvenReads, Read};
use selfsame_proof::tree::{self, NodeRead, Proof, ReadError, Root, TreeError};
use selfsame_registry::{
    Applied, Genesis, Head, Receipt, StateError, StateMachine, StateRead, Transaction,
};
use selfsame_store::StoreError;
use selfsame_store::ledger::{
    Block, Entry, KEPT_HEIGHTS, LedgerStore, Newest, Placed, TreeChanges,
};

pub use damage::Damage;
pub use proven::standing;

use crate::search::TransactionSearch;
use crate::view::{RegistryDelegation, RegistryEntry, RegistryUse};
use crate::{entry, uses};
use known::CachedDocuments;

/// The key of the network's genesis in the ledger. No key of the machine's state begins like this.
pub(crate) const OWNER: &[u8] = b"genesis";

/// Prefixes of the keys of the log's subtrees and of handovers.
const SUBTREE: &[u8] = b"log/";
const HANDOVER: &[u8] = b"handover/";

/// Attempts of a read that meets a change. Blocks follow each other more slowly than reads.
const READS_MAX: usize = 8;

/// The ledger of a network in this process. Clones share it.
#[derive(Clone)]
pub struct Ledger {
    store: Arc<dyn LedgerStore>,
    machine: Arc<StateMachine>,
    known: CachedDocuments,
    search: TransactionSearch,
    damage: Damage,
    wanting: Wanting,
    newest: Newest,
    /// Whether reads are proven under checkpoints that come later than their blocks.
    lags: bool,
}

impl Ledger {
    /// Opens the ledger of a machine's network.
    ///
    /// # Errors
    /// `Conflict` if what is stored belongs to another network.
    pub fn open(store: Arc<dyn LedgerStore>, machine: Arc<StateMachine>) -> Result<Self> {
        let owner = store.get(OWNER)?;
        let head = store.head()?;
        if head.is_some() && owner != Some(machine.genesis().to_bytes()) {
            return Err(Error::new(ErrorKind::Conflict, "ledger-of-other-network"));
        }
        Ok(Self {
            store,
            machine,
            known: CachedDocuments::default(),
            search: TransactionSearch::default(),
            damage: Damage::default(),
            wanting: Wanting::default(),
            newest: Newest::of(head.map(|head| head.bytes)),
            lags: false,
        })
    }

    /// Configures the ledger for a sequencer whose checkpoints are complete some blocks after their own block. An
    /// object that a block overwrites stays readable as long as the tree it was in.
    #[must_use]
    pub fn lagging(self) -> Self {
        Self { lags: true, ..self }
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &Arc<StateMachine> {
        &self.machine
    }

    pub(crate) fn store(&self) -> &dyn LedgerStore {
        &*self.store
    }

    /// The search over its transactions.
    pub(crate) fn search(&self) -> &TransactionSearch {
        &self.search
    }

    /// Whether damage was found in it.
    #[must_use]
    pub fn damage(&self) -> &Damage {
        &self.damage
    }

    /// Whether a block could not be stored lately because there was no room.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.wanting.is_believed()
    }

    /// The network's genesis.
    #[must_use]
    pub fn genesis(&self) -> &Genesis {
        self.machine.genesis()
    }

    /// The head: the state of the ledger after its newest block.
    ///
    /// # Errors
    /// `Damaged` if the head is not the one opened or stored last, `Internal` if the store fails.
    pub fn head(&self) -> Result<Head> {
        let read = || Ok(self.store.head()?.map(|head| head.bytes));
        let wrong = || self.damage.found("its head is not the one stored last");
        match self.newest.read(read, wrong)? {
            Some(head) => Head::from_bytes(&head).map_err(Error::internal),
            None => Ok(Head::of_genesis(self.genesis())),
        }
    }

    /// The head after the block of that height.
    ///
    /// # Errors
    /// `Internal` if there is no such block or the store fails.
    pub fn block(&self, height: u64) -> Result<Head> {
        let bytes = self
            .store
            .block(height)?
            .ok_or_else(|| Error::internal("a block of the ledger is missing"))?;
        Head::from_bytes(&bytes).map_err(Error::internal)
    }

    /// Stores a block durably. After an error it may nevertheless have been stored: compare the head.
    ///
    /// # Errors
    /// `Full` if there is no room; `Internal` if the store fails or the block does not follow.
    pub async fn append(&self, transactions: &[Transaction], applied: &Applied) -> Result<()> {
        self.append_and(transactions, applied, None).await
    }

    /// Stores a block durably, with the handover to the validators that the block before it set.
    ///
    /// # Errors
    /// As [`Ledger::append`].
    pub async fn append_and(
        &self,
        transactions: &[Transaction],
        applied: &Applied,
        handover: Option<&Handover>,
    ) -> Result<()> {
        let logged = applied.logged.iter();
        let mut block = Block {
            height: applied.head.height,
            entries: logged
                .filter_map(|index| transactions.get(*index))
                .map(stored)
                .collect(),
            writes: writes(applied),
            tree: self.tree(applied)?,
            head: applied.head.to_bytes(),
        };
        if block.height == 1 {
            block
                .writes
                .insert(OWNER.to_vec(), self.genesis().to_bytes());
        }
        if let Some(handover) = handover {
            let key = handover_key(block.height.saturating_sub(1));
            block.writes.insert(key, handover.to_cbor());
        }
        let changed = !block.writes.is_empty();
        self.newest.may_become(&block.head);
        let appended = self.store.append(block).await;
        if changed {
            self.known.forget();
        }
        match &appended {
            Ok(_) => self.wanting.over(),
            Err(error) if error.is_full() => self.wanting.found(),
            Err(_) => {}
        }
        appended.map(drop).map_err(Error::from)
    }

    /// The handovers from the validators of height `from` to those who sign the checkpoint of height `to`. At most
    /// [`MAX_HANDOVERS`] are returned; the reader asks again from the height that these reach.
    ///
    /// # Errors
    /// `Internal` if the store fails.
    pub fn handovers(&self, from: u64, to: u64) -> Result<Vec<Handover>> {
        let heights = self
            .machine
            .validators_changed_at(self, from..to, MAX_HANDOVERS)
            .map_err(Error::internal)?;
        let mut handovers = Vec::with_capacity(heights.len());
        for height in heights {
            handovers.extend(self.handover(height)?);
        }
        Ok(handovers)
    }

    /// The handover to the validators that the block of that height set, if it changed them.
    pub(crate) fn handover(&self, height: u64) -> Result<Option<Handover>> {
        let bytes = self.store.get(&handover_key(height))?;
        let handover = bytes.map(|bytes| Handover::from_cbor(&bytes));
        handover.transpose().map_err(Error::internal)
    }

    /// The receipt of a logged transaction.
    ///
    /// # Errors
    /// `Internal` if the store fails.
    pub fn receipt(&self, hash: &[u8; 32]) -> Result<Option<Receipt>> {
        let Some(seq_no) = self.store.by_hash(hash)? else {
            return Ok(None);
        };
        let placed = self
            .store
            .entry(seq_no)?
            .ok_or_else(|| Error::internal("an entry of the ledger is missing"))?;
        let placed = self.damage.refuses(placed)?;
        Ok(Some(Receipt {
            seq_no,
            height: placed.height,
            time: self.block(placed.height)?.time,
            tx_hash: *hash,
        }))
    }

    /// The value under a key of the state in that version of its tree, with its proof and the checkpoint `note`. `None`
    /// if the object has changed since then.
    ///
    /// # Errors
    /// `Damaged` if the stored data differ from what was written, `Internal` if the store fails or lacks that version.
    pub fn prove(&self, key: &[u8], tree: Root, note: &str) -> Result<Option<Bundle>> {
        let proof = tree::prove(self, tree, key).map_err(|error| match error {
            TreeError::Damaged => self.damage.found(error),
            other => Error::internal(other),
        })?;
        let holds = |value: Option<&[u8]>| tree::verify(&tree.hash, key, value, &proof).is_ok();
        let mut value = match proof {
            Proof::Present(_) => self.store.get(key)?,
            Proof::Absent { .. } => None,
        };
        if !holds(value.as_deref()) && self.lags {
            value = self.overwritten(key, tree.version, &holds)?;
        }
        let held = holds(value.as_deref());
        if !held && self.head()?.tree == tree {
            return Err(self.damage.found("an object does not match its tree"));
        }
        Ok(held.then(|| Bundle {
            note: note.to_owned(),
            key: key.to_owned(),
            value,
            proof,
            handovers: Vec::new(),
        }))
    }

    /// Adds to a bundle the objects that its value refers to in that version of the tree. An object that was
    /// overwritten since is left out: a reader asks for it separately.
    ///
    /// # Errors
    /// As [`Self::prove`].
    pub fn prove_further(&self, bundle: Bundle, tree: Root) -> Result<ProvenReads> {
        let mut further = Vec::new();
        for key in StateMachine::further(&bundle.key, bundle.value.as_deref().unwrap_or_default()) {
            further.extend(self.prove(&key, tree, "")?.map(|bundle| Read {
                key: bundle.key,
                value: bundle.value,
                proof: bundle.proof,
            }));
        }
        Ok(ProvenReads { bundle, further })
    }

    /// The object under a key in that version of the tree, if a later block overwrote it.
    fn overwritten(
        &self,
        key: &[u8],
        version: u64,
        holds: &dyn Fn(Option<&[u8]>) -> bool,
    ) -> Result<Option<Vec<u8>>> {
        let later = version.saturating_add(1)..=self.head()?.height;
        for height in later.take(usize::try_from(KEPT_HEIGHTS).unwrap_or(usize::MAX)) {
            let value = self.store.node(&before(height, key))?;
            if value.is_some() && holds(value.as_deref()) {
                return Ok(value);
            }
        }
        Ok(None)
    }

    /// The nodes that a block adds and makes stale, with the objects that it overwrites if they may still be read.
    fn tree(&self, applied: &Applied) -> Result<TreeChanges> {
        let mut changes = TreeChanges {
            nodes: applied.tree.nodes.clone(),
            stale: applied.tree.stale.clone(),
        };
        if !self.lags {
            return Ok(changes);
        }
        let view = self.store.view()?;
        for key in applied.objects.keys() {
            if let Some(value) = view.get(key)? {
                let place = before(applied.head.height, key);
                changes.nodes.push((place.clone(), value));
                changes.stale.push(place);
            }
        }
        Ok(changes)
    }

    /// The proof that the log of `new` transactions begins with the log of `old` transactions.
    ///
    /// # Errors
    /// `BadRequest` if the log is shorter or `old` is greater, `Internal` if the store fails.
    pub fn consistency(&self, old: u64, new: u64) -> Result<Vec<Hash>> {
        if old > new || new > self.head()?.log.size() {
            return Err(Error::bad_request("log-sizes-unknown"));
        }
        consistency(old, new, self).map_err(Error::internal)
    }

    /// Resolves a DID of this network.
    #[must_use]
    pub fn resolve(&self, did: &Did, options: &Options) -> Resolution {
        if *options != Options::default() {
            return self.machine.resolve(self, did, options);
        }
        self.known
            .or_read(did, || self.machine.resolve(self, did, options))
    }

    /// The transactions from `first`, at most `count` and [`ENTRIES_MAX`].
    ///
    /// # Errors
    /// `Internal` if the store fails.
    pub fn entries(&self, first: u64, count: usize) -> Result<Vec<RegistryEntry>> {
        self.described((first.max(1)..).take(count.min(ENTRIES_MAX)))
    }

    /// The transactions from number `first` in the form in which they were accepted, at most `count` and a thousand.
    ///
    /// # Errors
    /// `Internal` if the store fails.
    pub fn transactions(&self, first: u64, count: u64) -> Result<Vec<Placed>> {
        let first = first.max(1);
        let placed = self.store.entries(first..first.saturating_add(count))?;
        let judged = placed.into_iter().map(|placed| self.damage.refuses(placed));
        judged.collect()
    }

    /// The transactions that created and changed a DID, oldest first.
    ///
    /// # Errors
    /// `NotFound` for an unknown DID, `Internal` if the store fails.
    pub fn history(&self, did: &Did) -> Result<Vec<RegistryEntry>> {
        let receipts = self
            .machine
            .history(self, did, ENTRIES_MAX)
            .map_err(Error::internal)?;
        if receipts.is_empty() {
            return Err(Error::not_found("did-not-in-registry"));
        }
        self.described(receipts.iter().map(|receipt| receipt.seq_no))
    }

    /// The recorded use of an issuer's single-use credential; `None` if the credential is unused.
    ///
    /// # Errors
    /// `Internal` if the store fails.
    pub fn used(&self, issuer: &Did, digest: &[u8; 32]) -> Result<Option<RegistryUse>> {
        uses::used(&self.machine, self, issuer, digest).map_err(Error::internal)
    }

    /// A delegation of an issuer, including one that has ended.
    ///
    /// # Errors
    /// `Internal` if the store fails.
    pub fn delegation(&self, issuer: &Did, name: &str) -> Result<Option<RegistryDelegation>> {
        uses::delegation(&self.machine, self, issuer, name).map_err(Error::internal)
    }

    fn described(&self, seq_nos: impl IntoIterator<Item = u64>) -> Result<Vec<RegistryEntry>> {
        let mut times = BTreeMap::new();
        let mut entries = Vec::new();
        for seq_no in seq_nos {
            let Some(placed) = self.store.entry(seq_no)? else {
                break;
            };
            let time = match times.get(&placed.height) {
                Some(time) => *time,
                None => {
                    let time = self.block(placed.height)?.time;
                    times.insert(placed.height, time);
                    time
                }
            };
            let placed = self.damage.refuses(placed)?;
            entries.push(entry::described(&self.machine, &placed, time)?);
        }
        Ok(entries)
    }
}

impl StateRead for Ledger {
    fn get(&self, key: &[u8]) -> std::result::Result<Option<Vec<u8>>, StateError> {
        let failed = |error: StoreError| StateError(error.to_string());
        if StateMachine::is_mark(key) {
            return self.store.get(key).map_err(failed);
        }
        for _ in 0..READS_MAX {
            let tree = self
                .head()
                .map_err(|error| StateError(error.to_string()))?
                .tree;
            let value = self.store.get(key).map_err(failed)?;
            match tree::digest(self, tree, key) {
                Ok(digest) if digest == value.as_deref().map(sha256) => return Ok(value),
                Err(TreeError::Read(error)) => return Err(StateError(error.to_string())),
                // A block may have been stored between the reads.
                Ok(_) | Err(_) => {}
            }
            if self.head().is_ok_and(|head| head.tree == tree) {
                let wrong = self.damage.found("an object does not match its tree");
                return Err(StateError(wrong.to_string()));
            }
        }
        Err(StateError(
            "it changes faster than it can be read".to_owned(),
        ))
    }
}

impl NodeRead for Ledger {
    fn node(&self, key: &[u8]) -> std::result::Result<Option<Vec<u8>>, ReadError> {
        self.store
            .node(key)
            .map_err(|error| ReadError(error.to_string()))
    }

    fn key_at(&self, place: &Hash) -> std::result::Result<Option<Vec<u8>>, ReadError> {
        self.store
            .key(place)
            .map_err(|error| ReadError(error.to_string()))
    }
}

impl LogRead for Ledger {
    fn hashes(
        &self,
        level: u8,
        first: u64,
        count: u64,
    ) -> std::result::Result<Vec<Hash>, ReadError> {
        let failed = |error: StoreError| ReadError(error.to_string());
        let after = first.saturating_add(count);
        if level == 0 {
            let seqs = first.saturating_add(1)..after.saturating_add(1);
            let entries = self.store.entries(seqs).map_err(failed)?;
            return Ok(entries
                .iter()
                .map(|placed| leaf_hash(&placed.entry.bytes))
                .collect());
        }
        (first..after)
            .map_while(|index| {
                let found = self.store.get(&subtree(level, index)).map_err(failed);
                found.map(|hash| hash?.try_into().ok()).transpose()
            })
            .collect()
    }
}

/// All that a block writes under keys: the state, and the subtrees that proofs of the log need.
fn writes(applied: &Applied) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut writes = applied.objects.clone();
    writes.extend(applied.marks.iter().map(|(k, v)| (k.clone(), v.clone())));
    let subtrees = applied.subtrees.iter();
    writes.extend(subtrees.map(|kept| (subtree(kept.level, kept.index), kept.hash.to_vec())));
    writes
}

/// The key of an object that the block of that height overwrote. No node of the tree has such a key.
fn before(height: u64, key: &[u8]) -> Vec<u8> {
    [format!("before/{height}/").as_bytes(), key].concat()
}

/// The key of the root of a subtree of 256^`level` entries. No key of the machine's state begins like this.
fn subtree(level: u8, index: u64) -> Vec<u8> {
    [SUBTREE, format!("{level}/{index}").as_bytes()].concat()
}

/// The key of the handover made by a block. No key of the machine's state begins like this.
pub(crate) fn handover_key(height: u64) -> Vec<u8> {
    [HANDOVER, height.to_string().as_bytes()].concat()
}

/// The height of the block whose handover has this key.
pub(crate) fn handover_of(key: &[u8]) -> Option<u64> {
    std::str::from_utf8(key.strip_prefix(HANDOVER)?)
        .ok()?
        .parse()
        .ok()
}

/// Whether a key belongs to the ledger and not to the machine's state.
pub(crate) fn is_own(key: &[u8]) -> bool {
    key == OWNER || key.starts_with(SUBTREE) || key.starts_with(HANDOVER)
}

fn stored(transaction: &Transaction) -> Entry {
    Entry {
        hash: transaction.hash(),
        bytes: transaction.to_bytes(),
    }
}
