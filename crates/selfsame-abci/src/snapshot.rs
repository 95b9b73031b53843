//! The ledger in chunks, for a node that joins late: the manifest, the encoding of chunks, and the cuts between them.
//!
//! A snapshot contains every block with its transactions, and nothing derived from them: the joining node applies them
//! again. So it must trust only the blocks' times, and the resulting state confirms those.

use std::collections::BTreeMap;

use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, Result};
use selfsame_ledger::Ledger;
use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};
use selfsame_proof::checkpoint::{Checkpoint, Standing};
use selfsame_proof::note::SignedNote;

/// The number of the format, for the engine.
pub(crate) const FORMAT: u32 = 1;
/// The maximum size of a chunk that is accepted, in bytes. The engine passes on 16 MB.
pub(crate) const CHUNK_MAX: usize = 4 * 1024 * 1024;
/// A chunk is full at this many bytes of transactions; a block has half a MiB at most.
const CHUNK_BYTES: usize = 1024 * 1024;
/// A chunk is full at this many blocks.
const CHUNK_BLOCKS: usize = 8_192;
/// The maximum number of chunks: their hashes take a quarter of what the engine passes on as a snapshot's description.
const CHUNKS_MAX: usize = 32_768;
/// The number of transactions that are read from the ledger at once.
const PAGE: u64 = 500;

const MANIFEST: &str = "selfsame/snapshot/1";
const CHUNK: &str = "selfsame/blocks/1";

/// The description of a snapshot: its checkpoint and its chunks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Manifest {
    /// The complete checkpoint of its last block.
    pub(crate) note: String,
    /// The SHA-256 of each chunk.
    pub(crate) chunks: Vec<[u8; 32]>,
}

/// A run of consecutive blocks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Chunk {
    /// The height of the first block.
    pub(crate) first: u64,
    pub(crate) blocks: Vec<Stored>,
}

/// The parts of a block from which its effect follows.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Stored {
    pub(crate) time: UnixTime,
    /// The complete checkpoint of the previous block, if that block changed the validators.
    pub(crate) handover: Option<String>,
    /// The transactions that entered the log.
    pub(crate) transactions: Vec<Vec<u8>>,
}

/// The cuts of a ledger into chunks. Full chunks do not change while the ledger grows.
#[derive(Clone)]
pub(crate) struct Cuts {
    full: Vec<Full>,
    /// The number of bytes at which a chunk is full.
    bytes_max: usize,
    /// The number of blocks at which a chunk is full.
    blocks_max: usize,
    /// The maximum number of chunks in a snapshot.
    chunks_max: usize,
}

#[derive(Clone, Copy)]
struct Full {
    first: u64,
    next: u64,
    hash: [u8; 32],
}

impl Default for Cuts {
    fn default() -> Self {
        Self::with(CHUNK_BYTES, CHUNK_BLOCKS)
    }
}

impl Manifest {
    /// The state in its checkpoint. The signatures are not verified here.
    pub(crate) fn standing(&self) -> Option<Standing> {
        let note = SignedNote::parse(&self.note).ok()?;
        let text = std::str::from_utf8(note.signing_bytes()).ok()?;
        Checkpoint::parse(text).ok()?.standing().ok()
    }
}

impl Cuts {
    /// Cuts chunks that are full at this many bytes or blocks.
    pub(crate) fn with(bytes_max: usize, blocks_max: usize) -> Self {
        Self {
            full: Vec::new(),
            bytes_max,
            blocks_max,
            chunks_max: CHUNKS_MAX,
        }
    }

    /// Limits the number of chunks in a snapshot.
    #[cfg(test)]
    pub(crate) fn at_most(self, chunks_max: usize) -> Self {
        Self { chunks_max, ..self }
    }

    /// Whether this has more full chunks than `other`.
    pub(crate) fn is_further_than(&self, other: &Self) -> bool {
        self.full.len() > other.full.len()
    }

    /// The hashes of all chunks up to height `to`, which never decreases between calls; `None` if there are too many.
    pub(crate) fn hashes(&mut self, ledger: &Ledger, to: u64) -> Result<Option<Vec<[u8; 32]>>> {
        let handovers = handovers(ledger)?;
        let mut first = self.full.last().map_or(1, |full| full.next);
        let mut hashes: Vec<[u8; 32]> = self.full.iter().map(|full| full.hash).collect();
        while first <= to {
            if hashes.len() >= self.chunks_max {
                return Ok(None);
            }
            let (chunk, is_full) = self.cut(ledger, &handovers, first, to)?;
            let (hash, next) = (sha256(&chunk.to_cbor()), next(&chunk));
            if is_full {
                self.full.push(Full { first, next, hash });
            }
            hashes.push(hash);
            first = next;
        }
        Ok(Some(hashes))
    }

    /// A chunk of the snapshot up to height `to`; `None` if it has no such chunk.
    pub(crate) fn chunk(&self, ledger: &Ledger, index: usize, to: u64) -> Result<Option<Vec<u8>>> {
        let first = match (self.full.get(index), index.checked_sub(1)) {
            (Some(full), _) => full.first,
            (None, None) => 1,
            (None, Some(before)) => match self.full.get(before) {
                Some(full) => full.next,
                None => return Ok(None),
            },
        };
        if first > to {
            return Ok(None);
        }
        let (chunk, _) = self.cut(ledger, &handovers(ledger)?, first, to)?;
        Ok(Some(chunk.to_cbor()))
    }

    /// The blocks from one height to another, at most as many as a chunk holds, and whether the chunk is full.
    fn cut(
        &self,
        ledger: &Ledger,
        handovers: &BTreeMap<u64, String>,
        first: u64,
        to: u64,
    ) -> Result<(Chunk, bool)> {
        let mut chunk = Chunk {
            first,
            blocks: Vec::new(),
        };
        let mut bytes = 0_usize;
        for height in first..=to {
            let stored = stored(ledger, handovers, height)?;
            let lengths = stored.transactions.iter().map(Vec::len);
            bytes = bytes.saturating_add(lengths.sum());
            chunk.blocks.push(stored);
            if bytes >= self.bytes_max || chunk.blocks.len() >= self.blocks_max {
                return Ok((chunk, true));
            }
        }
        Ok((chunk, false))
    }
}

/// The checkpoints of all blocks that changed the validators, by height.
pub(crate) fn handovers(ledger: &Ledger) -> Result<BTreeMap<u64, String>> {
    let height = |note: &String| {
        let manifest = Manifest {
            note: note.clone(),
            chunks: Vec::new(),
        };
        manifest.standing().map(|standing| standing.height)
    };
    let mut all = BTreeMap::new();
    let mut from = 0;
    loop {
        let some = ledger.handovers(from, u64::MAX)?.into_iter();
        all.extend(some.filter_map(|handover| Some((height(&handover.note)?, handover.note))));
        match all.last_key_value() {
            Some((last, _)) if *last >= from => from = last.saturating_add(1),
            _ => return Ok(all),
        }
    }
}

/// The block at a height, as a snapshot contains it.
pub(crate) fn stored(
    ledger: &Ledger,
    handovers: &BTreeMap<u64, String>,
    height: u64,
) -> Result<Stored> {
    let before = match height.saturating_sub(1) {
        0 => 0,
        before => ledger.block(before)?.log.size(),
    };
    let head = ledger.block(height)?;
    let (mut next, end) = (before.saturating_add(1), head.log.size().saturating_add(1));
    let mut transactions = Vec::new();
    while next < end {
        let page = ledger.transactions(next, PAGE.min(end.saturating_sub(next)))?;
        if page.is_empty() {
            return Err(Error::internal("a transaction of the ledger is missing"));
        }
        next = next.saturating_add(page.len() as u64);
        transactions.extend(page.into_iter().map(|placed| placed.entry.bytes));
    }
    Ok(Stored {
        time: head.time,
        handover: handovers.get(&height.saturating_sub(1)).cloned(),
        transactions,
    })
}

fn next(chunk: &Chunk) -> u64 {
    chunk.first.saturating_add(chunk.blocks.len() as u64)
}

impl CborItem for Manifest {
    fn write(&self, to: &mut CborWriter) {
        to.array(3).text(MANIFEST).text(&self.note);
        to.array(self.chunks.len());
        for hash in &self.chunks {
            to.bytes(hash);
        }
    }

    fn read(from: &mut CborReader<'_>) -> std::result::Result<Self, Malformed> {
        from.tuple(3)?;
        from.domain(MANIFEST)?;
        let note = from.text()?.to_owned();
        let count = from.array()?;
        if count > CHUNKS_MAX {
            return Err(Malformed("a snapshot has too many chunks"));
        }
        let chunks = (0..count).map(|_| from.array_of());
        Ok(Self {
            note,
            chunks: chunks.collect::<std::result::Result<_, _>>()?,
        })
    }
}

impl CborItem for Chunk {
    fn write(&self, to: &mut CborWriter) {
        to.array(3).text(CHUNK).uint(self.first).items(&self.blocks);
    }

    fn read(from: &mut CborReader<'_>) -> std::result::Result<Self, Malformed> {
        from.tuple(3)?;
        from.domain(CHUNK)?;
        Ok(Self {
            first: from.uint()?,
            blocks: from.items()?,
        })
    }
}

impl CborItem for Stored {
    fn write(&self, to: &mut CborWriter) {
        to.array(3).uint(self.time.0);
        to.option(self.handover.as_deref().map(str::as_bytes));
        to.array(self.transactions.len());
        for bytes in &self.transactions {
            to.bytes(bytes);
        }
    }

    fn read(from: &mut CborReader<'_>) -> std::result::Result<Self, Malformed> {
        from.tuple(3)?;
        let time = UnixTime(from.uint()?);
        let handover = from.option()?.map(|bytes| {
            let text = String::from_utf8(bytes.to_vec());
            text.map_err(|_| Malformed("a note is not text"))
        });
        let count = from.array()?;
        let transactions = (0..count).map(|_| Ok(from.bytes()?.to_vec()));
        Ok(Self {
            time,
            handover: handover.transpose()?,
            transactions: transactions.collect::<std::result::Result<_, _>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk() -> Chunk {
        let block = |time, handover: Option<&str>, transactions: &[&[u8]]| Stored {
            time: UnixTime(time),
            handover: handover.map(str::to_owned),
            transactions: transactions.iter().map(|bytes| bytes.to_vec()).collect(),
        };
        Chunk {
            first: 7,
            blocks: vec![
                block(1_700_000_000, None, &[b"one", b""]),
                block(1_700_000_001, Some("a note\n"), &[]),
            ],
        }
    }

    fn manifest() -> Manifest {
        Manifest {
            note: "a note\n".to_owned(),
            chunks: vec![[7; 32], [8; 32]],
        }
    }

    /// Parsing accepts only the exact encoding of a value, and no input makes it panic.
    fn is_read_strictly<T: CborItem + PartialEq + std::fmt::Debug>(item: &T) {
        let bytes = item.to_cbor();
        assert_eq!(&T::from_cbor(&bytes).unwrap(), item);
        for end in 0..bytes.len() {
            assert!(T::from_cbor(&bytes[..end]).is_err(), "cut at {end}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(T::from_cbor(&longer).is_err());
        for at in 0..bytes.len() {
            for changed in 0..=u8::MAX {
                let mut bytes = bytes.clone();
                bytes[at] = changed;
                if let Ok(read) = T::from_cbor(&bytes) {
                    assert_eq!(read.to_cbor(), bytes, "byte {at} is {changed}");
                }
            }
        }
    }

    #[test]
    fn descriptions_and_chunks_have_one_encoding() {
        is_read_strictly(&chunk());
        is_read_strictly(&manifest());
    }

    #[test]
    fn a_description_may_not_claim_more_chunks_than_a_snapshot_may_have() {
        let mut most = manifest();
        most.chunks = vec![[7; 32]; CHUNKS_MAX];
        assert!(Manifest::from_cbor(&most.to_cbor()).is_ok());
        most.chunks.push([7; 32]);
        assert!(Manifest::from_cbor(&most.to_cbor()).is_err());
    }
}
