//! Compares two checkpoints of a network to detect a fork.

use crate::checkpoint::Standing;
use crate::log::{Hash, ProvenEntry, leaf_hash, root_before, verify_consistency};

/// The relation of two verified checkpoints of a network.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Relation {
    /// They have the same log and state.
    Same,
    /// The longer log begins with the shorter one.
    Extends,
    /// They contradict each other: the validators signed two histories. Both notes are the evidence.
    Fork,
    /// The proof does not show that one log begins with the other. This is not evidence of a fork, as another node may
    /// have a better proof.
    Unproven,
}

/// Compares two verified checkpoints of a network, in any order. `proof` is the consistency proof from the shorter log
/// to the longer (RFC 9162 §2.1.4), empty if they have the same length.
pub fn compare(a: &Standing, b: &Standing, proof: &[Hash]) -> Relation {
    let (old, new) = match (a.size, a.height) <= (b.size, b.height) {
        true => (a, b),
        false => (b, a),
    };
    if contradict(old, new) {
        return Relation::Fork;
    }
    if old.size == new.size {
        return Relation::Same;
    }
    match verify_consistency(old.tree_head(), new.tree_head(), proof) {
        Ok(()) => Relation::Extends,
        Err(_) => Relation::Unproven,
    }
}

/// Compares a verified checkpoint with one of a longer log, by the first transaction that only the longer log has. Its
/// inclusion proof determines the preceding log. If that differs from the shorter log, there are two histories; both
/// notes and the transaction with its proof are the evidence.
pub fn compare_by_entry(old: &Standing, new: &Standing, next: &ProvenEntry) -> Relation {
    if next.seq_no != old.size.saturating_add(1) {
        return Relation::Unproven;
    }
    let leaf = leaf_hash(&next.transaction);
    match root_before(&leaf, old.size, new.tree_head(), &next.path) {
        Err(_) => Relation::Unproven,
        Ok(before) if before == old.log && !contradict(old, new) => Relation::Extends,
        Ok(_) => Relation::Fork,
    }
}

/// Whether no single history contains both. `old` must have the shorter log or, with logs of one length, the lower
/// height.
pub(super) fn contradict(old: &Standing, new: &Standing) -> bool {
    let grown = old.size < new.size;
    // The log never shrinks and time never goes back. If nothing has happened, a checkpoint may be signed again with a
    // later time, so equal heights may have different times.
    old.height > new.height
        || old.height == new.height && grown
        || old.height < new.height && old.time > new.time
        // The log determines the state.
        || !grown && (old.log, old.state) != (new.log, new.state)
}
