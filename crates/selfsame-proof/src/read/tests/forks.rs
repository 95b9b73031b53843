//! Whether two checkpoints are of one history.

use super::*;
use crate::log::{Frontier, Kept, consistency, leaf_hash};
use crate::tree::ReadError;

struct Leaves(Vec<Hash>);

impl crate::log::LogRead for Leaves {
    fn hashes(&self, level: u8, first: u64, count: u64) -> Result<Vec<Hash>, ReadError> {
        assert_eq!(level, 0);
        Ok(self.0[first as usize..(first + count) as usize].to_vec())
    }
}

/// A log of so many entries that is another from one entry on, its standing at a height.
fn history(size: u64, other_from: u64, height: u64) -> (Leaves, Standing) {
    let (mut log, mut leaves) = (Frontier::new(), vec![]);
    for n in 0..size {
        let leaf = leaf_hash(&[u8::from(n >= other_from), n as u8]);
        log.append_and(leaf, |Kept { hash, .. }| leaves.push(hash));
    }
    let standing = Standing {
        height,
        time: UnixTime(1_000 + height),
        size,
        log: log.root(),
        state: log.root(),
    };
    (Leaves(leaves), standing)
}

#[test]
fn checkpoints_of_one_history_are_the_same_or_extend_each_other() {
    let (leaves, new) = history(11, 99, 9);
    let (_, old) = history(6, 99, 5);
    let proof = consistency(6, 11, &leaves).unwrap();
    assert_eq!(compare(&old, &new, &proof), Relation::Extends);
    assert_eq!(compare(&new, &old, &proof), Relation::Extends);
    let fresher = Standing {
        height: 12,
        time: UnixTime(1_500),
        ..new
    };
    for (a, b) in [(new, new), (new, fresher), (fresher, new)] {
        assert_eq!(compare(&a, &b, &[]), Relation::Same);
    }
    assert_eq!(leaves.hashes(0, 0, 1).unwrap(), [leaf_hash(&[0, 0])]);
}

#[test]
fn contradicting_checkpoints_are_a_fork_whoever_comes_first() {
    let (_, ours) = history(11, 99, 9);
    for theirs in [
        history(11, 8, 9).1,
        history(11, 8, 10).1,
        history(10, 99, 9).1,
        history(10, 99, 10).1,
        Standing {
            state: [0; 32],
            height: 10,
            ..ours
        },
        Standing {
            time: UnixTime(0),
            height: 10,
            ..ours
        },
    ] {
        assert_eq!(compare(&ours, &theirs, &[]), Relation::Fork, "{theirs:?}");
        assert_eq!(compare(&theirs, &ours, &[]), Relation::Fork, "{theirs:?}");
    }
}

#[test]
fn a_log_that_cannot_be_shown_to_extend_another_is_left_unproven() {
    let (_, old) = history(6, 4, 5);
    let (leaves, new) = history(11, 99, 9);
    for proof in [consistency(6, 11, &leaves).unwrap(), vec![]] {
        assert_eq!(compare(&old, &new, &proof), Relation::Unproven);
    }
}
