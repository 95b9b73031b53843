//! The RFC 6962 Merkle tree: hashes, and a frontier for appending leaves.

use selfsame_crypto::hash::{sha256, sha256_parts};

use crate::ProofError;

mod entry;
mod proof;
mod prove;
#[cfg(test)]
mod tests;

pub use entry::ProvenEntry;
pub use proof::{root_before, verify_consistency, verify_inclusion};
pub use prove::{LogRead, consistency, inclusion};

/// A hash of the tree.
pub type Hash = [u8; 32];

/// RFC 6962 §2.1: hash of a leaf.
pub fn leaf_hash(data: &[u8]) -> Hash {
    sha256_parts(&[&[0x00], data])
}

/// RFC 6962 §2.1: hash of an inner node.
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    sha256_parts(&[&[0x01], left, right])
}

/// A log's size and root, which determine its content.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TreeHead {
    /// The number of leaves.
    pub size: u64,
    /// The root.
    pub root: Hash,
}

/// The roots of the perfect subtrees of a log, the largest first. They suffice to append leaves and to compute the
/// root.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Frontier {
    size: u64,
    peaks: Vec<Hash>,
}

/// A hash to store for proofs: the root of the `index`th perfect subtree of 256^`level` leaves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Kept {
    /// 0 for a leaf.
    pub level: u8,
    /// The index on its level, from 0.
    pub index: u64,
    /// The hash.
    pub hash: Hash,
}

impl Frontier {
    /// The frontier of the empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a leaf by its hash and returns the leaf's index.
    pub fn append(&mut self, leaf_hash: Hash) -> u64 {
        self.append_and(leaf_hash, |_| ())
    }

    /// Appends a leaf as [`Frontier::append`] does, and passes each hash to `keep` that [`LogRead`] needs: the hash of
    /// the leaf, and the roots of the subtrees of 256, 256², … leaves that it completes.
    pub fn append_and(&mut self, leaf_hash: Hash, mut keep: impl FnMut(Kept)) -> u64 {
        let index = self.size;
        let mut node = leaf_hash;
        let mut kept = Kept {
            level: 0,
            index,
            hash: leaf_hash,
        };
        keep(kept);
        // Each trailing one bit of the size stands for a perfect subtree that this leaf completes.
        for height in 1..=index.trailing_ones() {
            if let Some(left) = self.peaks.pop() {
                node = node_hash(&left, &node);
            }
            if height.is_multiple_of(8) {
                kept = Kept {
                    level: kept.level.saturating_add(1),
                    index: kept.index >> 8,
                    hash: node,
                };
                keep(kept);
            }
        }
        self.peaks.push(node);
        // The log cannot reach 2^64 leaves.
        self.size = index.saturating_add(1);
        index
    }

    /// The log's root (RFC 6962 §2.1).
    pub fn root(&self) -> Hash {
        self.peaks
            .iter()
            .rev()
            .copied()
            .reduce(|right, left| node_hash(&left, &right))
            .unwrap_or_else(|| sha256(b""))
    }

    /// The number of leaves.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The log's size and root.
    pub fn tree_head(&self) -> TreeHead {
        TreeHead {
            size: self.size,
            root: self.root(),
        }
    }

    /// Encodes the size (8 bytes, big endian), then the peaks, the largest first.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.size.to_be_bytes().to_vec();
        bytes.extend(self.peaks.iter().flatten());
        bytes
    }

    /// Decodes the output of [`Frontier::to_bytes`]; refuses any other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ProofError> {
        let (size, rest) = bytes.split_first_chunk::<8>().ok_or(ProofError::Frontier)?;
        let size = u64::from_be_bytes(*size);
        let (peaks, []) = rest.as_chunks::<32>() else {
            return Err(ProofError::Frontier);
        };
        if u32::try_from(peaks.len()) != Ok(size.count_ones()) {
            return Err(ProofError::Frontier);
        }
        Ok(Self {
            size,
            peaks: peaks.to_vec(),
        })
    }
}
