//! Compares the log with literal implementations of the definitions, and with vectors of Certificate Transparency.

use super::*;
use proptest::prelude::*;
use selfsame_crypto::encoding::{base64_decode, hex_decode, hex_encode};

use crate::error::{ReadError, TreeError};

/// RFC 6962 §2.1, literally: split at the largest power of two below n.
fn naive_root(leaves: &[Vec<u8>]) -> Hash {
    match leaves {
        [] => sha256(b""),
        [leaf] => leaf_hash(leaf),
        _ => {
            let (left, right) = split(leaves);
            node_hash(&naive_root(left), &naive_root(right))
        }
    }
}

/// RFC 6962 §2.1.1, literally: PATH(m, D[n]).
fn naive_path(m: usize, leaves: &[Vec<u8>]) -> Vec<Hash> {
    if leaves.len() <= 1 {
        return vec![];
    }
    let (left, right) = split(leaves);
    let (mut path, beside) = match m < left.len() {
        true => (naive_path(m, left), right),
        false => (naive_path(m - left.len(), right), left),
    };
    path.push(naive_root(beside));
    path
}

/// RFC 6962 §2.1.2, literally: SUBPROOF(m, D[n], b).
fn naive_subproof(m: usize, leaves: &[Vec<u8>], whole: bool) -> Vec<Hash> {
    if m == leaves.len() {
        return match whole {
            true => vec![],
            false => vec![naive_root(leaves)],
        };
    }
    let (left, right) = split(leaves);
    let (mut proof, beside) = match m <= left.len() {
        true => (naive_subproof(m, left, whole), right),
        false => (naive_subproof(m - left.len(), right, false), left),
    };
    proof.push(naive_root(beside));
    proof
}

fn split(leaves: &[Vec<u8>]) -> (&[Vec<u8>], &[Vec<u8>]) {
    leaves.split_at(leaves.len().next_power_of_two() / 2)
}

/// The hashes that a store has of a log.
#[derive(Default)]
struct Log {
    frontier: Frontier,
    roots: Vec<Hash>,
    kept: Vec<Vec<Hash>>,
}

impl Log {
    fn of(leaves: impl IntoIterator<Item = Hash>) -> Self {
        let mut log = Self::default();
        log.roots.push(log.frontier.root());
        for leaf in leaves {
            let kept = &mut log.kept;
            log.frontier
                .append_and(leaf, |Kept { level, index, hash }| {
                    let level = usize::from(level);
                    kept.resize(kept.len().max(level + 1), vec![]);
                    assert_eq!(kept[level].len() as u64, index);
                    kept[level].push(hash);
                });
            log.roots.push(log.frontier.root());
        }
        log
    }
}

fn head(size: u64, root: Hash) -> TreeHead {
    TreeHead { size, root }
}

impl LogRead for Log {
    fn hashes(&self, level: u8, first: u64, count: u64) -> Result<Vec<Hash>, ReadError> {
        let last = first + count - 1;
        assert_eq!(first / 256, last / 256, "{level} {first} {count}");
        let level = self.kept.get(usize::from(level));
        let hashes = level.and_then(|kept| kept.get(first as usize..=last as usize));
        hashes
            .map(<[Hash]>::to_vec)
            .ok_or(ReadError("not kept".to_owned()))
    }
}

#[test]
fn good_proofs_of_certificate_transparency_hold_and_bad_ones_are_refused() {
    let hash = |text: &str| -> Option<Hash> { base64_decode(text).ok()?.try_into().ok() };
    let verified = |words: &[&str]| -> Option<bool> {
        let numbers = (words[2].parse().ok()?, words[3].parse().ok()?);
        let (first, second) = (hash(words[4])?, hash(words[5])?);
        let proof: Option<Vec<Hash>> = match words[6] {
            "-" => Some(vec![]),
            hashes => hashes.split(',').map(hash).collect(),
        };
        let (a, b) = numbers;
        let result = match words[0] {
            "inclusion" => verify_inclusion(&first, a, head(b, second), &proof?),
            _ => verify_consistency(head(a, first), head(b, second), &proof?),
        };
        Some(result.is_ok())
    };
    let (mut held, mut refused) = (0, 0);
    let lines = include_str!("../../vectors/rfc6962-proofs.txt").lines();
    for line in lines.filter(|line| !line.starts_with('#')) {
        let words: Vec<_> = line.split(' ').collect();
        let holds = verified(&words).unwrap_or(false);
        assert_eq!(holds, words[1] == "holds", "{line}");
        match holds {
            true => held += 1,
            false => refused += 1,
        }
    }
    assert_eq!((held, refused), (11, 182));
}

#[test]
fn proofs_of_a_log_of_many_tiles_need_only_what_is_kept() {
    let leaf = |n: u64| leaf_hash(&n.to_be_bytes());
    let sizes = [
        1, 2, 255, 256, 257, 511, 512, 1_000, 65_535, 65_536, 65_537, 131_328, 140_000,
    ];
    let log = Log::of((0..140_000).map(leaf));
    assert_eq!(
        log.kept.iter().map(Vec::len).collect::<Vec<_>>(),
        [140_000, 546, 2]
    );
    for size in sizes {
        let new = head(size, log.roots[size as usize]);
        for index in [0, 1, size / 3, size / 2, size - 1] {
            let index = index.min(size - 1);
            let proof = inclusion(index, size, &log).unwrap();
            assert_eq!(verify_inclusion(&leaf(index), index, new, &proof), Ok(()));
        }
        for old in sizes.into_iter().filter(|old| *old <= size) {
            let proof = consistency(old, size, &log).unwrap();
            let old = head(old, log.roots[old as usize]);
            assert_eq!(verify_consistency(old, new, &proof), Ok(()));
        }
    }
}

#[test]
fn what_is_not_in_the_log_cannot_be_proven() {
    let log = Log::of((0..3_u8).map(|n| leaf_hash(&[n])));
    assert_eq!(inclusion(3, 3, &log), Err(TreeError::Missing));
    assert!(matches!(inclusion(0, 4, &log), Err(TreeError::Read(_))));
    assert_eq!(consistency(3, 2, &log), Err(TreeError::Missing));
    assert!(matches!(consistency(3, 4, &log), Err(TreeError::Read(_))));
}

#[test]
fn the_empty_log_is_the_beginning_of_every_log() {
    let log = Log::of([leaf_hash(b"a")]);
    let (empty, one) = (head(0, log.roots[0]), head(1, log.roots[1]));
    assert_eq!(
        verify_consistency(empty, one, &consistency(0, 1, &log).unwrap()),
        Ok(())
    );
    assert!(verify_consistency(head(0, one.root), one, &[]).is_err());
    assert!(verify_consistency(empty, one, &[one.root]).is_err());
    assert!(verify_consistency(one, empty, &[]).is_err());
}

#[test]
fn the_certificate_transparency_vectors_hold() {
    let vectors = include_str!("../../vectors/rfc6962-roots.txt");
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

    #[test]
    fn proofs_are_those_of_the_recursive_definitions(
        leaves in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4), 1..70),
        index in any::<prop::sample::Index>(),
        bit in any::<prop::sample::Index>(),
    ) {
        let log = Log::of(leaves.iter().map(|leaf| leaf_hash(leaf)));
        let new = head(leaves.len() as u64, log.frontier.root());
        let at = index.index(leaves.len());
        let (leaf, index) = (leaf_hash(&leaves[at]), at as u64);
        let path = inclusion(index, new.size, &log).unwrap();
        prop_assert_eq!(&path, &naive_path(at, &leaves));
        prop_assert_eq!(verify_inclusion(&leaf, index, new, &path), Ok(()));

        let old = head(index + 1, log.roots[at + 1]);
        let proof = consistency(old.size, new.size, &log).unwrap();
        prop_assert_eq!(&proof, &naive_subproof(at + 1, &leaves, true));
        prop_assert_eq!(verify_consistency(old, new, &proof), Ok(()));

        let flipped = |hashes: &[Hash]| {
            let mut hashes = hashes.to_vec();
            let bit = bit.index(hashes.len() * 256);
            hashes[bit / 256][bit % 256 / 8] ^= 1 << (bit % 8);
            hashes
        };
        if !path.is_empty() {
            prop_assert!(verify_inclusion(&leaf, index, new, &flipped(&path)).is_err());
            prop_assert!(verify_inclusion(&leaf, index, new, &path[1..]).is_err());
        }
        if !proof.is_empty() {
            prop_assert!(verify_consistency(old, new, &flipped(&proof)).is_err());
            prop_assert!(verify_consistency(old, new, &proof[1..]).is_err());
        }
        let longer = |hashes: &[Hash]| [hashes, &[new.root]].concat();
        prop_assert!(verify_inclusion(&leaf, index, new, &longer(&path)).is_err());
        prop_assert!(verify_consistency(old, new, &longer(&proof)).is_err());
    }
}
