//! Browses a ledger in this process: blocks, operations and searches, everything with its proof.

mod finder;
mod object;
mod operations;
mod views;

use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_proof::entries::ENTRIES_MAX;

use crate::ledger::Ledger;
use crate::network::log_origin;
use crate::registry::Registry;
use crate::view::RegistryEntry;
use crate::view::browse::{
    BlockView, FoundView, InclusionView, OperationView, ValidatorView, ValidatorsView,
};

pub use object::state_key;
pub use views::{IndyLedger, Type};

use finder::Finder;
use selfsame_crypto::encoding::{base64_encode, hex_decode, hex_encode};
use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;
use selfsame_proof::checkpoint::{Agreed, Checkpoint};
use selfsame_proof::log::{inclusion, leaf_hash, verify_inclusion};
use selfsame_proof::note::SignedNote;
use selfsame_proof::validators::ValidatorSet;
use selfsame_registry::network::Role;
use selfsame_store::ledger::index::{COUNTED_MAX, From, Hit, Wanted};

/// Maximum length of a search text, in bytes.
pub const TEXT_MAX: usize = 200;
/// Maximum number of blocks in one answer.
pub const BLOCKS_MAX: u64 = 100;
/// Maximum number of changes of validators among which those of a height are searched.
const CHANGES_MAX: usize = 1_024;

/// The criteria of a search; at least one must be set.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchCriteria<'a> {
    /// Words to find in the public text.
    pub text: Option<&'a str>,
    /// A kind of operation.
    pub kind: Option<&'a str>,
    /// The DID that wrote an operation or that it is about.
    pub did: Option<&'a str>,
}

/// A page of a view, counted from 1 and from the oldest operation.
#[derive(Clone, Copy, Debug)]
pub struct ViewPage<'a> {
    /// Only operations of this type.
    pub kind: Option<Type>,
    /// Only operations with these words.
    pub text: Option<&'a str>,
    /// The number of the page.
    pub page: u64,
    /// Operations on each page.
    pub size: u64,
}

/// A browser of a ledger.
#[derive(Clone, Copy)]
pub struct Browser<'a> {
    registry: &'a dyn Registry,
    ledger: &'a Ledger,
}

impl<'a> Browser<'a> {
    /// A browser of this registry's ledger.
    ///
    /// # Errors
    /// `NotFound` if the ledger is in another process.
    pub fn of(registry: &'a dyn Registry) -> Result<Self> {
        let ledger = registry
            .ledger()
            .ok_or_else(|| Error::not_found("registry-not-here"))?;
        Ok(Self { registry, ledger })
    }

    /// The height and the number of transactions, as last stored.
    ///
    /// # Errors
    /// `Internal` if the store fails.
    pub fn head(&self) -> Result<(u64, u64)> {
        let head = self.ledger.head()?;
        Ok((head.height, head.log.size()))
    }

    /// The network's name for people.
    #[must_use]
    pub fn name(&self) -> &str {
        self.ledger.genesis().name()
    }

    /// Blocks below a height, the newest first. All of them are decided; the newest may not be signed yet.
    ///
    /// # Errors
    /// `Internal` if the store fails.
    pub fn blocks(&self, before: Option<u64>, count: u64) -> Result<Vec<BlockView>> {
        let newest = self.ledger.head()?.height;
        let end = before.unwrap_or(u64::MAX).min(newest.saturating_add(1));
        let first = end.saturating_sub(count.min(BLOCKS_MAX)).max(1);
        let mut blocks = Vec::new();
        for height in (first..end).rev() {
            match self.block_view(height)? {
                Some(block) => blocks.push(block),
                None => break,
            }
        }
        Ok(blocks)
    }

    /// A block with its transactions, but at most the first [`ENTRIES_MAX`].
    ///
    /// # Errors
    /// `NotFound` if there is no such block, `Internal` if the store fails.
    pub fn block(&self, height: u64) -> Result<(BlockView, Vec<RegistryEntry>)> {
        let block = self
            .block_view(height)?
            .ok_or_else(|| Error::not_found("block-unknown"))?;
        let count = usize::try_from(block.transactions).unwrap_or(ENTRIES_MAX);
        let entries = self.ledger.entries(block.first, count)?;
        Ok((block, entries))
    }

    fn block_view(&self, height: u64) -> Result<Option<BlockView>> {
        let stored = |height| -> Result<Option<selfsame_registry::Head>> {
            let bytes = self.ledger.store().block(height)?;
            bytes
                .map(|bytes| selfsame_registry::Head::from_bytes(&bytes).map_err(Error::internal))
                .transpose()
        };
        let Some(head) = stored(height)? else {
            return Ok(None);
        };
        let before = match height {
            0 | 1 => 0,
            // A node that began with a snapshot does not have the block before.
            _ => stored(height.saturating_sub(1))?.map_or(head.log.size(), |head| head.log.size()),
        };
        Ok(Some(BlockView {
            height,
            time: head.time.rfc3339(),
            first: before.saturating_add(1),
            transactions: head.log.size().saturating_sub(before),
            app_hash: hex_encode(&head.app_hash()),
        }))
    }

    /// The operations of a transaction.
    ///
    /// # Errors
    /// `NotFound` if there is no transaction with this number, `Internal` if the store fails.
    pub fn operations(&self, seq_no: u64) -> Result<Vec<OperationView>> {
        if seq_no == 0 {
            return Ok(operations::of_genesis(self.ledger));
        }
        let placed = self.ledger.store().entry(seq_no)?;
        let placed = placed.ok_or_else(|| Error::not_found("transaction-unknown"))?;
        operations::of(self.ledger, &placed)
    }

    /// The role that a DID had at a time, in seconds since the Unix epoch.
    ///
    /// # Errors
    /// `Internal` if the store fails.
    pub fn role(&self, did: &str, time: u64) -> Result<Option<&'static str>> {
        let Ok(did) = Did::parse(did) else {
            return Ok(None);
        };
        let machine = self.ledger.machine();
        let role = machine.role_at(self.ledger, &did, UnixTime(time));
        Ok(role.map_err(Error::internal)?.map(Role::name))
    }

    /// The number of the transaction with this hexadecimal hash; `None` if it is not a hash or no transaction has it.
    ///
    /// # Errors
    /// `Internal` if the store fails.
    pub fn by_hash(&self, hash: &str) -> Result<Option<u64>> {
        let hash = hex_decode(hash).ok();
        match hash.and_then(|hash| <[u8; 32]>::try_from(hash).ok()) {
            Some(hash) => Ok(self.ledger.store().by_hash(&hash)?),
            None => Ok(None),
        }
    }

    /// The results of a search, the newest first; `before` is the `next` of the page before.
    ///
    /// # Errors
    /// `BadRequest` for an empty search or a text that is too long, `Internal` if the store fails.
    pub async fn search(
        &self,
        search: &SearchCriteria<'_>,
        before: Option<u64>,
        count: u64,
    ) -> Result<FoundView> {
        checked(search.text)?;
        let labels = [
            search.kind.map(operations::kind_label),
            search.did.map(operations::did_label),
        ];
        let labels: Vec<String> = labels.into_iter().flatten().collect();
        if labels.is_empty() && search.text.is_none() {
            return Err(Error::bad_request("search-empty"));
        }
        let count = count.min(ENTRIES_MAX as u64);
        let wanted = Wanted {
            labels,
            words: search.text.map(str::to_owned),
            from: From::Newest { before },
            count,
        };
        let (found, searched) = Finder::new(self.ledger).find(wanted).await?;
        let full = found.hits.len() as u64 == count;
        let next = found.hits.last().filter(|_| full);
        Ok(FoundView {
            total: found.total,
            next: next.map(|hit| hit.cursor).filter(|cursor| *cursor > 1),
            items: self.shown(&found.hits)?,
            searched,
            transactions: self.ledger.head()?.log.size(),
        })
    }

    /// A page of a view, the oldest operation first.
    ///
    /// # Errors
    /// `BadRequest` for a text that is too long or, with a text, a page that is too far; `Internal` if the store fails.
    pub async fn view(&self, view: IndyLedger, page: &ViewPage<'_>) -> Result<FoundView> {
        checked(page.text)?;
        let skip = page.page.saturating_sub(1).saturating_mul(page.size);
        if page.text.is_some() && skip >= COUNTED_MAX {
            return Err(Error::bad_request("search-results-limit"));
        }
        let label = match page.kind {
            Some(kind) => operations::type_label(kind),
            None => operations::view_label(view),
        };
        let wanted = Wanted {
            labels: vec![label],
            words: page.text.map(str::to_owned),
            from: From::Oldest { skip },
            count: page.size.min(ENTRIES_MAX as u64),
        };
        let (found, searched) = Finder::new(self.ledger).find(wanted).await?;
        let transactions = self.ledger.head()?.log.size();
        if found.hits.is_empty() && skip > 0 {
            is_whole(searched, transactions)?;
        }
        Ok(FoundView {
            total: found.total,
            next: None,
            items: self.shown(&found.hits)?,
            searched,
            transactions,
        })
    }

    /// The number of operations in a view.
    ///
    /// # Errors
    /// `Internal` if the store fails.
    pub async fn count(&self, view: IndyLedger) -> Result<u64> {
        let label = operations::view_label(view);
        Finder::new(self.ledger).count(label).await
    }

    fn shown(&self, hits: &[Hit]) -> Result<Vec<OperationView>> {
        let mut last: (u64, Vec<OperationView>) = (u64::MAX, Vec::new());
        let mut shown = Vec::with_capacity(hits.len());
        for hit in hits {
            if last.0 != hit.seq {
                last = (hit.seq, self.operations(hit.seq)?);
            }
            let place = usize::try_from(hit.place).unwrap_or(usize::MAX);
            shown.extend(last.1.get(place).cloned());
        }
        Ok(shown)
    }

    /// The proof that a transaction is in the log; `None` until a signed checkpoint covers it.
    ///
    /// # Errors
    /// `NotFound` if there is no such transaction, `Internal` if the store fails.
    pub async fn inclusion(&self, seq_no: u64) -> Result<Option<InclusionView>> {
        let placed = self.ledger.store().entry(seq_no)?;
        let placed = placed.ok_or_else(|| Error::not_found("transaction-unknown"))?;
        let checkpoint = match self.registry.status().await {
            Ok(status) => status.checkpoint,
            Err(error) if matches!(error.kind, ErrorKind::Unavailable { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let Agreed { standing, signers } = self.agreed(&checkpoint)?;
        let Some(index) = seq_no.checked_sub(1).filter(|_| seq_no <= standing.size) else {
            return Ok(None);
        };
        let path = inclusion(index, standing.size, self.ledger).map_err(Error::internal)?;
        let leaf = leaf_hash(&placed.entry.bytes);
        // Only a proof that verifies is shown.
        verify_inclusion(&leaf, index, standing.tree_head(), &path).map_err(Error::internal)?;
        Ok(Some(InclusionView {
            seq_no,
            transaction: base64_encode(&placed.entry.bytes),
            leaf: hex_encode(&leaf),
            left: sides(index, standing.size),
            path: path.iter().map(|hash| hex_encode(hash)).collect(),
            size: standing.size,
            root: hex_encode(&standing.log),
            checkpoint,
            signers,
            height: standing.height,
            time: standing.time.rfc3339(),
        }))
    }

    /// The validators of the next height, and which of them signed the newest checkpoint.
    ///
    /// # Errors
    /// `Internal` if the store fails.
    pub async fn validators(&self) -> Result<ValidatorsView> {
        let machine = self.ledger.machine();
        let set = machine.validators(self.ledger).map_err(Error::internal)?;
        let agreed = match self.registry.status().await {
            Ok(status) => Some(self.agreed(&status.checkpoint)?),
            Err(error) => {
                tracing::debug!(%error, "no checkpoint is signed");
                None
            }
        };
        let signers = agreed.as_ref().map_or(&[][..], |agreed| &agreed.signers);
        let all = set.power().max(1);
        let mut validators = Vec::new();
        for validator in set.validators() {
            let owner = machine.validator_owner(self.ledger, &validator.name);
            let steward = owner
                .map_err(Error::internal)?
                .and_then(|id| machine.did(id));
            validators.push(ValidatorView {
                name: validator.name.clone(),
                power: validator.power,
                percent: validator.power.saturating_mul(100) / all,
                key: validator.key.to_multikey(),
                consensus_key: validator.consensus.as_ref().map(|key| key.to_multikey()),
                steward: steward.map(|did| did.to_string()),
                signed: signers.contains(&validator.name),
            });
        }
        Ok(ValidatorsView {
            tolerates: tolerated(&set),
            validators,
            height: agreed.as_ref().map(|agreed| agreed.standing.height),
            time: agreed.map(|agreed| agreed.standing.time.rfc3339()),
        })
    }

    /// What a checkpoint of this network states, and who signed it.
    fn agreed(&self, checkpoint: &str) -> Result<Agreed> {
        let note = SignedNote::parse(checkpoint).map_err(Error::internal)?;
        let text = std::str::from_utf8(note.signing_bytes()).map_err(Error::internal)?;
        let said = Checkpoint::parse(text).and_then(|checkpoint| checkpoint.standing());
        let set = self.signers_of(said.map_err(Error::internal)?.height)?;
        let origin = log_origin(self.ledger.machine().network());
        Checkpoint::agreed(&note, &origin, &set).map_err(Error::internal)
    }

    /// The validators that sign the checkpoint of a height: those that were set before it.
    fn signers_of(&self, height: u64) -> Result<ValidatorSet> {
        let changes = self
            .ledger
            .machine()
            .validator_changes(self.ledger, CHANGES_MAX)
            .map_err(Error::internal)?;
        let mut changes = changes.into_iter().rev();
        let set = changes.find(|change| change.receipt.height < height);
        Ok(set.map_or_else(
            || self.ledger.genesis().validators().clone(),
            |change| change.set,
        ))
    }
}

fn checked(text: Option<&str>) -> Result<()> {
    match text {
        Some(text) if text.len() > TEXT_MAX => Err(Error::bad_request("search-too-long")),
        _ => Ok(()),
    }
}

/// For each hash of an inclusion proof, whether it is a left sibling (RFC 9162 §2.1.3.2).
fn sides(index: u64, size: u64) -> Vec<bool> {
    let (mut place, mut last) = (index, size.saturating_sub(1));
    let mut left = Vec::new();
    while last > 0 {
        let beside_is_left = place & 1 == 1;
        if beside_is_left || place < last {
            left.push(beside_is_left);
        }
        place >>= 1;
        last >>= 1;
    }
    left
}

/// How many validators, starting with the strongest, may fail while the others still have a quorum.
fn tolerated(set: &ValidatorSet) -> u64 {
    let mut powers: Vec<u64> = set.validators().iter().map(|one| one.power).collect();
    powers.sort_unstable_by(|a, b| b.cmp(a));
    let mut left = set.power();
    let failing = powers.into_iter().take_while(|power| {
        left = left.saturating_sub(*power);
        set.is_quorum(left)
    });
    failing.count() as u64
}

/// Fails until the whole log is in the index: before that, a page may be missing only because it is not indexed yet.
fn is_whole(searched: u64, transactions: u64) -> Result<()> {
    if searched >= transactions {
        return Ok(());
    }
    let kind = ErrorKind::Unavailable { retry_after: 2 };
    Err(Error::new(kind, "index-incomplete")
        .with("searched", &searched)
        .with("transactions", &transactions))
}

#[cfg(test)]
mod tests {
    use selfsame_proof::log::{Frontier, Hash, LogRead, node_hash};
    use selfsame_proof::tree::ReadError;

    use super::*;

    struct Leaves(Vec<Hash>);

    impl LogRead for Leaves {
        fn hashes(
            &self,
            _: u8,
            first: u64,
            count: u64,
        ) -> std::result::Result<Vec<Hash>, ReadError> {
            let leaves = self.0.iter().skip(usize::try_from(first).unwrap());
            Ok(leaves
                .take(usize::try_from(count).unwrap())
                .copied()
                .collect())
        }
    }

    #[test]
    fn who_follows_the_sides_of_a_proof_comes_to_the_root() {
        for size in 1..40_u64 {
            let leaves = Leaves(
                (0..size)
                    .map(|leaf| leaf_hash(&leaf.to_be_bytes()))
                    .collect(),
            );
            let mut log = Frontier::new();
            for leaf in &leaves.0 {
                log.append(*leaf);
            }
            for index in 0..size {
                let path = inclusion(index, size, &leaves).unwrap();
                let left = sides(index, size);
                assert_eq!(left.len(), path.len(), "{index} of {size}");
                let start = leaves.0[usize::try_from(index).unwrap()];
                let root = path
                    .iter()
                    .zip(left)
                    .fold(start, |hash, (beside, left)| match left {
                        true => node_hash(beside, &hash),
                        false => node_hash(&hash, beside),
                    });
                assert_eq!(root, log.root(), "{index} of {size}");
            }
        }
    }

    #[test]
    fn a_page_that_is_not_there_yet_is_not_said_to_be_none() {
        assert!(is_whole(5, 5).is_ok());
        let unfinished = is_whole(4, 5).unwrap_err();
        assert_eq!(unfinished.kind, ErrorKind::Unavailable { retry_after: 2 });
    }
}
