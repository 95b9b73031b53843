//! The RFC 6962 Merkle tree: hashes, and a frontier that grows leaf by leaf.

use selfsame_crypto::hash::{sha256, sha256_parts};

use crate::ProofError;

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

/// The roots of the perfect subtrees of a log, the largest first: all that is needed to append to
/// it and to know its root.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Frontier {
    size: u64,
    peaks: Vec<Hash>,
}

impl Frontier {
    /// The frontier of the empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a leaf by its hash and returns the leaf's index.
    pub fn append(&mut self, leaf_hash: Hash) -> u64 {
        let index = self.size;
        let mut node = leaf_hash;
        // One perfect subtree is completed for each trailing one bit of the size.
        for _ in 0..index.trailing_ones() {
            if let Some(left) = self.peaks.pop() {
                node = node_hash(&left, &node);
            }
        }
        self.peaks.push(node);
        // 2^64 leaves are out of reach.
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

    /// How many leaves the log has.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Size (8 bytes, big endian), then the peaks, the largest first.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.size.to_be_bytes().to_vec();
        bytes.extend(self.peaks.iter().flatten());
        bytes
    }

    /// Reads what [`Frontier::to_bytes`] wrote, and nothing else.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use selfsame_crypto::encoding::{hex_decode, hex_encode};

    /// RFC 6962 §2.1 as it is written: split at the largest power of two below n.
    fn naive_root(leaves: &[Vec<u8>]) -> Hash {
        match leaves {
            [] => sha256(b""),
            [leaf] => leaf_hash(leaf),
            _ => {
                let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
                node_hash(&naive_root(left), &naive_root(right))
            }
        }
    }

    #[test]
    fn the_certificate_transparency_vectors_hold() {
        let vectors = include_str!("../vectors/rfc6962-roots.txt");
        let mut frontier = Frontier::new();
        let mut checked = 0;
        for line in vectors.lines().filter(|line| !line.starts_with('#')) {
            let (leaf, root) = line.split_once(' ').unwrap();
            if leaf != "-" {
                frontier.append(leaf_hash(&hex_decode(leaf).unwrap()));
            }
            assert_eq!(
                hex_encode(&frontier.root()),
                root,
                "size {}",
                frontier.size()
            );
            checked += 1;
        }
        assert_eq!((checked, frontier.size()), (9, 8));
    }

    #[test]
    fn bytes_that_are_not_a_frontier_are_refused() {
        let mut frontier = Frontier::new();
        for n in 0..3u8 {
            frontier.append(leaf_hash(&[n]));
        }
        let good = frontier.to_bytes();
        assert_eq!(Frontier::from_bytes(&good), Ok(frontier));
        let longer = [&good[..], &[0]].concat();
        let another_peak = [&good[..], &[0; 32]].concat();
        let mut other_size = good.clone();
        other_size[7] = 4;
        for bad in [
            &good[..good.len() - 1],
            &good[..8],
            &good[..7],
            &[],
            &longer,
            &another_peak,
            &other_size,
        ] {
            assert_eq!(Frontier::from_bytes(bad), Err(ProofError::Frontier));
        }
    }

    proptest! {
        #[test]
        fn the_frontier_agrees_with_the_recursive_definition(
            leaves in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..200),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut frontier = Frontier::new();
            let cut = cut.index(leaves.len() + 1);
            for (n, leaf) in leaves.iter().enumerate() {
                if n == cut {
                    frontier = Frontier::from_bytes(&frontier.to_bytes()).unwrap();
                }
                prop_assert_eq!(frontier.append(leaf_hash(leaf)), n as u64);
            }
            prop_assert_eq!(frontier.root(), naive_root(&leaves));
        }

        #[test]
        fn any_bytes_are_a_frontier_in_one_form_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(frontier) = Frontier::from_bytes(&bytes) {
                prop_assert_eq!(frontier.to_bytes(), bytes);
            }
        }
    }
}
