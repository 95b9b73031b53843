//! The log against the definitions as they are written, and against vectors of Certificate
//! Transparency.

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
}
