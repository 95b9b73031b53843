//! Trusted DIDs as the leaves of a Merkle tree (RFC 6962 §2.1): a verifier stores its root, peers staple their path.

use std::collections::{BTreeMap, BTreeSet};

use selfsame_did::Did;
use selfsame_proof::log::{
    Frontier, Hash, LogRead, TreeHead, inclusion, leaf_hash, verify_inclusion,
};
use selfsame_proof::tree::ReadError;

use crate::codec::Staple;

/// The kind of the staple that proves a DID's place in the tree: its index (8 bytes), then the hashes of its audit
/// path, from the leaf up.
pub const MEMBERSHIP: u8 = 64;

/// A set of DIDs, identified by the root of their tree. Each leaf is the text of one DID.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Members {
    /// The root hash.
    pub root: Hash,
    /// The number of DIDs.
    pub size: u64,
}

impl Members {
    /// The tree of these DIDs, in their order, and the staple that each DID has to show.
    pub fn of(dids: &BTreeSet<Did>) -> (Self, BTreeMap<Did, Staple>) {
        let (mut tree, mut kept) = (Frontier::new(), KeptHashes::default());
        for did in dids {
            let leaf = leaf_hash(did.as_str().as_bytes());
            tree.append_and(leaf, |one| {
                kept.0.insert((one.level, one.index), one.hash);
            });
        }
        let members = Self {
            root: tree.root(),
            size: tree.size(),
        };
        let staple = |(index, did): (u64, &Did)| {
            let path = inclusion(index, members.size, &kept).ok()?;
            let body = [&index.to_be_bytes()[..], path.concat().as_slice()].concat();
            let kind = MEMBERSHIP;
            Some((did.clone(), Staple { kind, body }))
        };
        (members, (0..).zip(dids).filter_map(staple).collect())
    }

    /// Whether one of the staples proves that the DID is in the tree.
    pub(crate) fn contains(&self, did: &Did, staples: &[Staple]) -> bool {
        let leaf = leaf_hash(did.as_str().as_bytes());
        let head = TreeHead {
            size: self.size,
            root: self.root,
        };
        let mut proofs = staples.iter().filter(|staple| staple.kind == MEMBERSHIP);
        proofs.any(|staple| {
            let Some((index, path)) = staple.body.split_first_chunk::<8>() else {
                return false;
            };
            let (path, []) = path.as_chunks::<32>() else {
                return false;
            };
            let index = u64::from_be_bytes(*index);
            verify_inclusion(&leaf, index, head, path).is_ok()
        })
    }
}

/// The tree's hashes, from which proofs are made.
#[derive(Default)]
struct KeptHashes(BTreeMap<(u8, u64), Hash>);

impl LogRead for KeptHashes {
    fn hashes(&self, level: u8, first: u64, count: u64) -> Result<Vec<Hash>, ReadError> {
        let indexes = first..first.saturating_add(count);
        let hashes = indexes.filter_map(|index| self.0.get(&(level, index)).copied());
        Ok(hashes.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dids(count: u32) -> BTreeSet<Did> {
        let did = |number| Did::parse(&format!("did:web:member{number}.example")).unwrap();
        (0..count).map(did).collect()
    }

    #[test]
    fn only_a_member_shows_a_place() {
        for count in [1, 2, 3, 7, 300] {
            let all = dids(count);
            let (members, staples) = Members::of(&all);
            assert_eq!(staples.len(), all.len());
            let stranger = Did::parse("did:web:stranger.example").unwrap();
            for (did, staple) in &staples {
                let staple = std::slice::from_ref(staple);
                assert!(members.contains(did, staple));
                assert!(!members.contains(&stranger, staple));
            }
        }
    }

    #[test]
    fn a_changed_or_foreign_proof_shows_nothing() {
        let (members, staples) = Members::of(&dids(9));
        let (did, staple) = staples.first_key_value().unwrap();
        assert!(!members.contains(did, &[]));
        for at in 0..staple.body.len() {
            let mut changed = staple.clone();
            changed.body[at] ^= 1;
            assert!(!members.contains(did, &[changed]), "byte {at}");
            let mut short = staple.clone();
            short.body.truncate(at);
            assert!(!members.contains(did, &[short]), "cut at {at}");
        }
        let other_kind = Staple {
            kind: 1,
            ..staple.clone()
        };
        assert!(!members.contains(did, &[other_kind]));
        let (larger, _) = Members::of(&dids(10));
        assert!(!larger.contains(did, std::slice::from_ref(staple)));
    }
}
