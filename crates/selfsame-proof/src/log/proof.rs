//! Verifying inclusion and consistency proofs.

use super::{Hash, TreeHead, node_hash};
use crate::ProofError;

/// RFC 9162 §2.1.3.2: verifies that the leaf with this hash has `index` (from 0) in the log with this head.
pub fn verify_inclusion(
    leaf: &Hash,
    index: u64,
    head: TreeHead,
    proof: &[Hash],
) -> Result<(), ProofError> {
    if index >= head.size {
        return Err(ProofError::Log("the log has no such entry"));
    }
    let (mut place, mut last) = (index, head.size.saturating_sub(1));
    let mut hash = *leaf;
    for beside in proof {
        if last == 0 {
            return Err(ProofError::Log("it is too long"));
        }
        if place & 1 == 1 || place == last {
            hash = node_hash(beside, &hash);
            // Skips the levels on which there is no right sibling.
            let skipped = match place & 1 == 1 {
                true => 0,
                false => place.trailing_zeros(),
            };
            place = place.checked_shr(skipped).unwrap_or(0);
            last = last.checked_shr(skipped).unwrap_or(0);
        } else {
            hash = node_hash(&hash, beside);
        }
        place >>= 1;
        last >>= 1;
    }
    reached(last == 0 && hash == head.root)
}

/// Computes the root of the first `index` leaves of a log from the inclusion proof of the leaf `index`: the hashes on
/// the left of its path are exactly the roots of the perfect subtrees of the leaves before it (RFC 9162 §2.1.1). So an
/// inclusion proof of a leaf also determines the log that precedes it.
pub fn root_before(
    leaf: &Hash,
    index: u64,
    head: TreeHead,
    proof: &[Hash],
) -> Result<Hash, ProofError> {
    verify_inclusion(leaf, index, head, proof)?;
    let (mut place, mut last) = (index, head.size.saturating_sub(1));
    let mut before: Option<Hash> = None;
    for beside in proof {
        if place & 1 == 1 || place == last {
            before = Some(before.map_or(*beside, |right| node_hash(beside, &right)));
            let skipped = match place & 1 == 1 {
                true => 0,
                false => place.trailing_zeros(),
            };
            place = place.checked_shr(skipped).unwrap_or(0);
            last = last.checked_shr(skipped).unwrap_or(0);
        }
        place >>= 1;
        last >>= 1;
    }
    Ok(before.unwrap_or_else(|| super::Frontier::new().root()))
}

/// RFC 9162 §2.1.4.2: verifies that the log with the head `new` begins with the log with the head `old`. If the log did
/// not grow, or the old log is empty, the proof must be empty.
pub fn verify_consistency(old: TreeHead, new: TreeHead, proof: &[Hash]) -> Result<(), ProofError> {
    if old.size > new.size {
        return Err(ProofError::Log("the log has become shorter"));
    }
    if old.size == new.size {
        return reached(old.root == new.root && proof.is_empty());
    }
    if old.size == 0 {
        return reached(proof.is_empty() && old.root == super::Frontier::new().root());
    }
    // If the old log is one perfect subtree, its root is omitted from the start of the proof.
    let own = old.size.is_power_of_two().then_some(&old.root);
    let mut hashes = own.into_iter().chain(proof);
    let first = hashes.next().ok_or(ProofError::Log("it is too short"))?;
    let (mut place, mut last) = (old.size.saturating_sub(1), new.size.saturating_sub(1));
    let skipped = place.trailing_ones();
    place = place.checked_shr(skipped).unwrap_or(0);
    last = last.checked_shr(skipped).unwrap_or(0);
    let (mut of_old, mut of_new) = (*first, *first);
    for beside in hashes {
        if last == 0 {
            return Err(ProofError::Log("it is too long"));
        }
        if place & 1 == 1 || place == last {
            of_old = node_hash(beside, &of_old);
            of_new = node_hash(beside, &of_new);
            let skipped = match place & 1 == 1 {
                true => 0,
                false => place.trailing_zeros(),
            };
            place = place.checked_shr(skipped).unwrap_or(0);
            last = last.checked_shr(skipped).unwrap_or(0);
        } else {
            of_new = node_hash(&of_new, beside);
        }
        place >>= 1;
        last >>= 1;
    }
    reached(last == 0 && of_old == old.root && of_new == new.root)
}

fn reached(right: bool) -> Result<(), ProofError> {
    match right {
        true => Ok(()),
        false => Err(ProofError::Log("it leads to another root")),
    }
}
