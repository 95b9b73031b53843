//! Verifying inclusion and consistency proofs.

use super::{Hash, node_hash};
use crate::ProofError;

/// RFC 9162 §2.1.3.2: the leaf with this hash is number `index` (from 0) of the log of `size` leaves
/// with this root.
pub fn verify_inclusion(
    leaf: &Hash,
    index: u64,
    (size, root): (u64, &Hash),
    proof: &[Hash],
) -> Result<(), ProofError> {
    if index >= size {
        return Err(ProofError::Log("the log has no such entry"));
    }
    let (mut place, mut last) = (index, size.saturating_sub(1));
    let mut hash = *leaf;
    for beside in proof {
        if last == 0 {
            return Err(ProofError::Log("it is too long"));
        }
        if place & 1 == 1 || place == last {
            hash = node_hash(beside, &hash);
            // Levels on which there is nothing to the right.
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
    reached(last == 0 && hash == *root)
}

/// The root of the first `index` leaves of a log, by the proof that a leaf with this hash is number `index` of it: the
/// hashes on the left of its way are those of the perfect subtrees of the leaves before it (RFC 9162 §2.1.1), and of
/// nothing else. So whoever proves any leaf has said which log it goes on from.
pub fn root_before(
    leaf: &Hash,
    index: u64,
    (size, root): (u64, &Hash),
    proof: &[Hash],
) -> Result<Hash, ProofError> {
    verify_inclusion(leaf, index, (size, root), proof)?;
    let (mut place, mut last) = (index, size.saturating_sub(1));
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

/// RFC 9162 §2.1.4.2: the log with the `new` size and root begins with that of the `old`. A log that
/// did not grow, and the empty log, take an empty proof.
pub fn verify_consistency(
    (old, old_root): (u64, &Hash),
    (new, new_root): (u64, &Hash),
    proof: &[Hash],
) -> Result<(), ProofError> {
    if old > new {
        return Err(ProofError::Log("the log has become shorter"));
    }
    if old == new {
        return reached(old_root == new_root && proof.is_empty());
    }
    if old == 0 {
        return reached(proof.is_empty() && *old_root == super::Frontier::new().root());
    }
    // Where the old log is one perfect subtree, its root begins the proof unsaid.
    let own = old.is_power_of_two().then_some(old_root);
    let mut hashes = own.into_iter().chain(proof);
    let first = hashes.next().ok_or(ProofError::Log("it is too short"))?;
    let (mut place, mut last) = (old.saturating_sub(1), new.saturating_sub(1));
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
    reached(last == 0 && of_old == *old_root && of_new == *new_root)
}

fn reached(right: bool) -> Result<(), ProofError> {
    match right {
        true => Ok(()),
        false => Err(ProofError::Log("it leads to another root")),
    }
}
