//! The engine's snapshot connection: offers this ledger to other nodes, and takes another node's ledger if this node
//! joins.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use selfsame_crypto::hash::sha256;
use selfsame_ledger::Ledger;
use selfsame_proof::cbor::CborItem as _;
use selfsame_proof::checkpoint::Standing;
use selfsame_store::ledger::MemoryLedger;
use tendermint::abci::request::{ApplySnapshotChunk, LoadSnapshotChunk, OfferSnapshot};
use tendermint::abci::response;
use tendermint::abci::response::ApplySnapshotChunkResult as Applied;
use tendermint::abci::types::Snapshot;

use super::replay::{RefusedSnapshot, Replay};
use super::{Application, Halt, answers};
use crate::notes::Noted;
use crate::signer::signers;
use crate::snapshot::{CHUNK_MAX, Chunk, Cuts, FORMAT, Manifest, handovers, stored};

/// The minimum number of blocks between two snapshots.
const STEP: u64 = 10;
/// The number of blocks after a snapshot whose headers a joining node needs to verify it.
const HEADERS: u64 = 2;
/// The number of remembered blocks: the last may be too new to be offered.
const REMEMBERED: usize = 2;

/// The snapshots that this node offers, and the one that it is taking.
#[derive(Default)]
pub(super) struct Snapshots {
    /// Blocks with complete checkpoints, oldest first.
    noted: Mutex<VecDeque<Arc<Noted>>>,
    cuts: Mutex<Cuts>,
    taken: tokio::sync::Mutex<Option<TakenSnapshot>>,
}

/// A snapshot that is being taken. It is kept apart from the ledger until all of it is verified.
struct TakenSnapshot {
    manifest: Manifest,
    standing: Standing,
    next: usize,
    replay: Replay,
}

impl Snapshots {
    /// Records the newest complete checkpoint after a block was stored.
    pub(super) fn after(&self, newest: Option<Arc<Noted>>) {
        let Some(newest) = newest.filter(|noted| noted.head.height > 0) else {
            return;
        };
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        // The first is offered at once, so that a node need not wait to join a young network, or nodes that have just
        // started.
        let due = |last: &Arc<Noted>| newest.head.height >= last.head.height.saturating_add(STEP);
        if noted.back().is_none_or(due) {
            noted.push_back(newest);
        }
        if noted.len() > REMEMBERED {
            noted.pop_front();
        }
    }

    /// The newest block that can be verified by the headers of the blocks after it.
    fn newest(&self, height: u64) -> Option<Arc<Noted>> {
        let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let old_enough = |noted: &&Arc<Noted>| noted.head.height.saturating_add(HEADERS) <= height;
        noted.iter().rev().find(old_enough).cloned()
    }

    /// The hashes of all chunks up to a height; `None` if there are too many. The ledger is cut on a copy, since the
    /// first time takes long and other nodes request chunks meanwhile.
    fn hashes(&self, ledger: &Ledger, to: u64) -> selfsame_driver::Result<Option<Vec<[u8; 32]>>> {
        let mut cuts = self.cuts().clone();
        let hashes = cuts.hashes(ledger, to);
        let mut known = self.cuts();
        if cuts.is_further_than(&known) {
            *known = cuts;
        }
        hashes
    }

    #[cfg(test)]
    pub(super) fn cut_into(&self, cuts: Cuts) {
        *self.cuts() = cuts;
    }

    fn cuts(&self) -> MutexGuard<'_, Cuts> {
        self.cuts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Application {
    /// The snapshots that this node offers.
    pub(crate) fn snapshots(&self) -> Result<response::ListSnapshots, Halt> {
        let Some(noted) = self.snapshots.newest(self.head().height) else {
            return Ok(response::ListSnapshots::default());
        };
        let hashes = self.snapshots.hashes(&self.ledger, noted.head.height);
        let Some(chunks) = hashes.map_err(Halt::from)? else {
            tracing::warn!(
                height = noted.head.height,
                "the ledger is too large for a snapshot: other nodes can join by its blocks, or by a copy of the log"
            );
            return Ok(response::ListSnapshots::default());
        };
        let manifest = Manifest {
            note: noted.text.clone(),
            chunks,
        };
        let metadata = manifest.to_cbor();
        Ok(response::ListSnapshots {
            snapshots: vec![Snapshot {
                height: answers::height(noted.head.height)?,
                format: FORMAT,
                chunks: u32::try_from(manifest.chunks.len()).unwrap_or(0),
                hash: sha256(&metadata).to_vec().into(),
                metadata: metadata.into(),
            }],
        })
    }

    /// A chunk of a snapshot; empty if there is no such chunk.
    pub(crate) fn chunk(&self, request: &LoadSnapshotChunk) -> response::LoadSnapshotChunk {
        let to = request.height.value();
        if request.format != FORMAT || to > self.head().height {
            return response::LoadSnapshotChunk::default();
        }
        let index = usize::try_from(request.chunk).unwrap_or(usize::MAX);
        let cuts = self.snapshots.cuts().clone();
        let found = cuts.chunk(&self.ledger, index, to);
        let bytes = found.unwrap_or_else(|error| {
            tracing::error!(%error, "a chunk of a snapshot can't be read");
            None
        });
        response::LoadSnapshotChunk {
            chunk: Bytes::from(bytes.unwrap_or_default()),
        }
    }

    /// Accepts or refuses another node's snapshot. The engine has verified the app hash by its headers.
    pub(crate) async fn offered(
        &self,
        request: &OfferSnapshot,
    ) -> Result<response::OfferSnapshot, Halt> {
        let snapshot = &request.snapshot;
        if snapshot.format != FORMAT {
            return Ok(response::OfferSnapshot::RejectFormat);
        }
        let manifest = match described(request) {
            Ok(manifest) => manifest,
            Err(RefusedSnapshot(reason)) => {
                tracing::warn!(height = %snapshot.height, reason, "a snapshot is refused");
                return Ok(response::OfferSnapshot::Reject);
            }
        };
        tracing::info!(height = %snapshot.height, chunks = snapshot.chunks, "a snapshot is taken");
        let (manifest, standing) = manifest;
        let staged = Ledger::open(Arc::new(MemoryLedger::new()), self.ledger.machine().clone());
        let replay = Replay::new(staged.map_err(Halt::from)?)?;
        *self.snapshots.taken.lock().await = Some(TakenSnapshot {
            manifest,
            standing,
            next: 0,
            replay,
        });
        Ok(response::OfferSnapshot::Accept)
    }

    /// Takes the next chunk. After the last one, the ledger is at the snapshot's height and the result is true.
    pub(crate) async fn take(
        &self,
        request: &ApplySnapshotChunk,
    ) -> Result<(response::ApplySnapshotChunk, bool), Halt> {
        let mut taken = self.snapshots.taken.lock().await;
        let Some(taking) = taken.as_mut() else {
            return Ok((answer(Applied::Abort, None), false));
        };
        let is_last = match taking.add(request).await {
            Ok(is_last) => is_last,
            Err(RefusedSnapshot(reason)) => {
                tracing::warn!(
                    chunk = request.index,
                    sender = request.sender,
                    reason,
                    "a snapshot is refused"
                );
                *taken = None;
                let sender = Some(request.sender.clone());
                return Ok((answer(Applied::RejectSnapshot, sender), false));
            }
        };
        if !is_last {
            return Ok((answer(Applied::Accept, None), false));
        }
        if let Some(done) = taken.take() {
            self.put(done).await?;
        }
        Ok((answer(Applied::Accept, None), true))
    }

    /// Moves the verified snapshot into the ledger. If the ledger has blocks of its own, they must equal the
    /// snapshot's.
    async fn put(&self, taken: TakenSnapshot) -> Result<(), Halt> {
        let (staged, own) = (taken.replay.ledger, self.ledger.clone());
        let own_head = own.head().map_err(Halt::from)?;
        let same = match own_head.height {
            0 => true,
            height if height > taken.standing.height => false,
            height => staged.block(height).map_err(Halt::from)? == own_head,
        };
        if !same {
            return Err(Halt(format!(
                "the ledger's block {} differs from the network's, or the snapshot lacks it; move the ledger away",
                own_head.height
            )));
        }
        let handovers = handovers(&staged).map_err(Halt::from)?;
        let mut replay = Replay::new(own)?;
        for height in own_head.height.saturating_add(1)..=taken.standing.height {
            let block = stored(&staged, &handovers, height).map_err(Halt::from)?;
            let put = replay.add(&block).await;
            put.map_err(|RefusedSnapshot(reason)| Halt(format!("block {height}: {reason}")))?;
        }
        let (ledger, head) = (replay.ledger, replay.head);
        let set = signers(&ledger, &head).map_err(Halt::from)?;
        self.notes.begin(head.clone(), set).map_err(Halt::from)?;
        self.notes.take(taken.manifest.note, &ledger);
        tracing::info!(
            height = head.height,
            size = head.log.size(),
            "the ledger was taken from a snapshot"
        );
        self.stands_at(head);
        Ok(())
    }
}

impl TakenSnapshot {
    /// Adds a chunk. Returns whether it was the last and everything is verified.
    async fn add(&mut self, request: &ApplySnapshotChunk) -> Result<bool, RefusedSnapshot> {
        let index = usize::try_from(request.index).unwrap_or(usize::MAX);
        let hash = self.manifest.chunks.get(index);
        if index != self.next || request.chunk.len() > CHUNK_MAX {
            return Err(RefusedSnapshot(
                "a chunk is out of order or too long".to_owned(),
            ));
        }
        if hash != Some(&sha256(&request.chunk)) {
            return Err(RefusedSnapshot(
                "a chunk does not match its hash".to_owned(),
            ));
        }
        let chunk = Chunk::from_cbor(&request.chunk);
        let chunk = chunk.map_err(|malformed| RefusedSnapshot(malformed.to_string()))?;
        if chunk.first != self.replay.head.height.saturating_add(1) {
            return Err(RefusedSnapshot(
                "a chunk does not continue the previous one".to_owned(),
            ));
        }
        for block in &chunk.blocks {
            self.replay.add(block).await?;
            let (head, whole) = (&self.replay.head, &self.standing);
            if head.height > whole.height || head.log.size() > whole.size {
                return Err(RefusedSnapshot(
                    "it continues after its last block".to_owned(),
                ));
            }
        }
        self.next = index.saturating_add(1);
        if self.next < self.manifest.chunks.len() {
            return Ok(false);
        }
        self.replay.is_at(&self.standing, &self.manifest.note)?;
        Ok(true)
    }
}

/// The manifest and state of an offer, if they match the state that the engine has verified.
fn described(request: &OfferSnapshot) -> Result<(Manifest, Standing), RefusedSnapshot> {
    let (snapshot, refused) = (&request.snapshot, |reason: &str| {
        RefusedSnapshot(reason.to_owned())
    });
    if snapshot.hash.as_ref() != sha256(&snapshot.metadata) {
        return Err(refused("its description does not match its hash"));
    }
    let manifest = Manifest::from_cbor(&snapshot.metadata);
    let manifest = manifest.map_err(|malformed| RefusedSnapshot(malformed.to_string()))?;
    if manifest.chunks.is_empty() || u32::try_from(manifest.chunks.len()) != Ok(snapshot.chunks) {
        return Err(refused("its number of chunks is wrong"));
    }
    let standing = manifest.standing();
    let standing = standing.ok_or_else(|| refused("its checkpoint is invalid"))?;
    if standing.height != snapshot.height.value()
        || standing.app_hash().as_slice() != request.app_hash.as_bytes()
    {
        return Err(refused("its checkpoint is of another state"));
    }
    Ok((manifest, standing))
}

fn answer(result: Applied, refused: Option<String>) -> response::ApplySnapshotChunk {
    response::ApplySnapshotChunk {
        result,
        refetch_chunks: Vec::new(),
        reject_senders: refused.into_iter().collect(),
    }
}
