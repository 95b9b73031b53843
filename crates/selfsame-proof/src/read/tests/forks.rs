//! Tests whether two checkpoints belong to one history.

use super::world::Leaves;
use super::*;
use crate::entries::ProvenEntry;
use crate::log::{Frontier, Kept, consistency, inclusion, leaf_hash};

fn transaction(n: u64, other_from: u64) -> [u8; 2] {
    [u8::from(n >= other_from), n as u8]
}

/// A log of `size` entries that differs from `other_from` on, and its standing at a height.
fn history(size: u64, other_from: u64, height: u64) -> (Leaves, Standing) {
    let (mut log, mut leaves) = (Frontier::new(), vec![]);
    for n in 0..size {
        let leaf = leaf_hash(&transaction(n, other_from));
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
fn contradicting_checkpoints_are_a_fork_in_either_order() {
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

#[test]
fn the_entry_after_a_log_tells_whether_a_longer_one_goes_on_from_it_or_is_another() {
    for (shorter, longer) in [
        (0_u64, 1),
        (1, 2),
        (4, 5),
        (4, 11),
        (6, 11),
        (7, 64),
        (8, 64),
        (10, 11),
    ] {
        for other_from in [99, 0, shorter / 2, shorter.saturating_sub(1)] {
            let (_, old) = history(shorter, other_from, 5);
            let (leaves, new) = history(longer, 99, 9);
            let next = ProvenEntry {
                seq_no: shorter + 1,
                height: 6,
                time: UnixTime(1_006),
                transaction: transaction(shorter, 99).to_vec(),
                path: inclusion(shorter, longer, &leaves).unwrap(),
            };
            let is_same = other_from >= shorter;
            let expected = if is_same {
                Relation::Extends
            } else {
                Relation::Fork
            };
            let seen = (shorter, longer, other_from);
            assert_eq!(compare_by_entry(&old, &new, &next), expected, "{seen:?}");

            // An invalid proof is not evidence, whatever the logs are.
            let mut unproven = [next.clone(), next.clone(), next];
            unproven[0].transaction.push(0);
            unproven[1].seq_no += 1;
            match unproven[2].path.first_mut() {
                Some(hash) => hash[0] ^= 1,
                None => unproven[2].path.push([0; 32]),
            }
            for next in &unproven {
                let relation = compare_by_entry(&old, &new, next);
                assert_eq!(relation, Relation::Unproven, "{seen:?}");
            }
        }
    }
}
