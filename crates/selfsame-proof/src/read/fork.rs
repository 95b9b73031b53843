//! Whether two checkpoints of one network are of one history.

use crate::checkpoint::Standing;
use crate::log::{Hash, ProvenEntry, leaf_hash, root_before, verify_consistency};

/// How two verified checkpoints of one network go together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Relation {
    /// They are of one log and one state.
    Same,
    /// The longer log begins with the shorter one.
    Extends,
    /// They contradict each other: the validators signed two histories. Both notes are the evidence.
    Fork,
    /// The proof does not show that one log begins with the other. That is no evidence of a fork as
    /// long as another node may have a better proof.
    Unproven,
}

/// Compares two verified checkpoints of one network, in any order; `proof` is the consistency proof
/// from the shorter log to the longer (RFC 9162 §2.1.4), empty where they are of one length.
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
    match verify_consistency((old.size, &old.log), (new.size, &new.log), proof) {
        Ok(()) => Relation::Extends,
        Err(_) => Relation::Unproven,
    }
}

/// Compares a verified checkpoint with another of a longer log by the first transaction that only the longer one has: the
/// proof of its place says which log it goes on from, so that here another log is evidence of two histories. Both notes
/// and the transaction with its proof are that evidence.
pub fn compare_by_entry(old: &Standing, new: &Standing, next: &ProvenEntry) -> Relation {
    if next.seq_no != old.size.saturating_add(1) {
        return Relation::Unproven;
    }
    let leaf = leaf_hash(&next.transaction);
    match root_before(&leaf, old.size, (new.size, &new.log), &next.path) {
        Err(_) => Relation::Unproven,
        Ok(before) if before == old.log && !contradict(old, new) => Relation::Extends,
        Ok(_) => Relation::Fork,
    }
}

/// Whether no one history has both, `old` having the shorter log, or one as long at a lower height.
pub(super) fn contradict(old: &Standing, new: &Standing) -> bool {
    let grown = old.size < new.size;
    // The log never shrinks and time never goes back. A checkpoint may be signed anew at a later time where
    // nothing has happened, so one height alone says nothing about the time.
    old.height > new.height
        || old.height == new.height && grown
        || old.height < new.height && old.time > new.time
        // The state follows from the log.
        || !grown && (old.log, old.state) != (new.log, new.state)
}
