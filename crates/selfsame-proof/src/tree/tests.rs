//! Compares the tree with a map of its expected content, and with the published implementation.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::ProofError;

mod oracle;
mod speed;

pub(super) type Store = BTreeMap<Vec<u8>, Vec<u8>>;
pub(super) type Model = BTreeMap<Vec<u8>, Vec<u8>>;
/// The writes of one block: the index of a key, and an object or none.
pub(super) type Block = Vec<(usize, Option<u8>)>;

/// Keys, half of them close together in the tree: their paths begin with twelve zero bits.
pub(super) static KEYS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let key = |n: u32| format!("key/{n}").into_bytes();
    let close = (0..u32::MAX).map(key).filter(|key| {
        let path = sha256(key);
        path[0] == 0 && path[1] < 16
    });
    (0..24).map(key).chain(close.take(24)).collect()
});

/// Nodes, with the keys by their places.
pub(super) fn with_keys(nodes: &Store) -> Store {
    let keys = KEYS.iter().map(|key| (sha256(key).to_vec(), key.clone()));
    nodes.clone().into_iter().chain(keys).collect()
}

/// A tree with all its versions.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) nodes: Store,
    stale: Vec<Vec<Vec<u8>>>,
    pub(super) versions: Vec<(Root, Model)>,
}

impl Kept {
    pub(super) fn last(&self) -> (Root, Model) {
        let empty = (Root::EMPTY, Model::new());
        self.versions.last().cloned().unwrap_or(empty)
    }

    pub(super) fn write(&mut self, block: &Block) {
        let (root, mut model) = self.last();
        let objects: Vec<_> = block
            .iter()
            .map(|(key, object)| (&KEYS[*key], object.map(|n| vec![n; usize::from(n)])))
            .collect();
        let version = self.versions.len() as u64;
        let writes = objects
            .iter()
            .map(|(key, object)| (&key[..], object.as_deref()));
        let changes = update(&self.nodes, root, version, writes).unwrap();
        for (key, object) in objects {
            match object {
                Some(object) => model.insert(key.clone(), object),
                None => model.remove(key),
            };
        }
        for (key, node) in changes.nodes {
            assert_eq!(
                self.nodes.insert(key, node),
                None,
                "a node was written twice"
            );
        }
        self.stale.push(changes.stale);
        self.versions.push((changes.root, model));
    }

    /// Removes the nodes that only older versions need.
    fn prune(&mut self) {
        for key in self.stale.drain(..).flatten() {
            assert!(self.nodes.remove(&key).is_some(), "a node was stale twice");
        }
    }

    fn holds(&self, root: Root, model: &Model) {
        let nodes = with_keys(&self.nodes);
        for key in KEYS.iter() {
            let proof = prove(&nodes, root, key).unwrap();
            let object = model.get(key).map(Vec::as_slice);
            assert_eq!(verify(&root.hash, key, object, &proof), Ok(()));
            assert_eq!(Proof::from_bytes(&proof.to_bytes()), Ok(proof.clone()));
            // The proof does not verify any other value.
            let other = match object {
                Some(_) => [None, Some(&b"another"[..])],
                None => [Some(&b""[..]), Some(&b"another"[..])],
            };
            for other in other {
                assert!(verify(&root.hash, key, other, &proof).is_err());
            }
        }
    }
}

pub(super) fn blocks() -> impl Strategy<Value = Vec<Block>> {
    let write = (0..KEYS.len(), prop::option::weighted(0.6, 0..4_u8));
    prop::collection::vec(prop::collection::vec(write, 0..24), 1..8)
}

/// A tree of all keys but the last, a tree of one key, and an empty tree.
fn trees() -> Vec<(Store, Root)> {
    let of = |keys: &[Vec<u8>]| {
        let writes = keys.iter().map(|key| (&key[..], Some(&b"object"[..])));
        let changes = update(&Store::new(), Root::EMPTY, 0, writes).unwrap();
        (changes.nodes.into_iter().collect(), changes.root)
    };
    vec![of(&KEYS[..KEYS.len() - 1]), of(&KEYS[..1]), of(&[])]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_version_proves_what_is_and_what_is_not_in_it(blocks in blocks()) {
        let mut kept = Kept::default();
        blocks.iter().for_each(|block| kept.write(block));
        for (root, model) in kept.versions.clone() {
            kept.holds(root, &model);
        }
    }

    #[test]
    fn the_last_version_needs_nothing_that_is_stale_and_all_that_is_not(blocks in blocks()) {
        let mut kept = Kept::default();
        blocks.iter().for_each(|block| kept.write(block));
        kept.prune();
        let (root, model) = kept.last();
        kept.holds(root, &model);
        // A tree written in one update has the same number of nodes and the same root.
        let writes = model.iter().map(|(key, object)| (&key[..], Some(&object[..])));
        let fresh = update(&Store::new(), Root::EMPTY, 0, writes).unwrap();
        prop_assert_eq!(fresh.root.hash, root.hash);
        prop_assert_eq!(fresh.nodes.len(), kept.nodes.len());
    }

    #[test]
    fn any_bytes_are_a_proof_in_one_form_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        if let Ok(proof) = Proof::from_bytes(&bytes) {
            prop_assert_eq!(proof.to_bytes(), bytes);
        }
    }

    #[test]
    fn any_bytes_are_a_node_in_one_form_or_damaged(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        if let Some(node) = TreeNode::from_bytes(&bytes) {
            prop_assert_eq!(node.to_bytes(), bytes);
        }
    }
}

#[test]
fn every_flipped_bit_of_a_proof_is_refused() {
    let mut flipped = 0;
    for (nodes, root) in trees() {
        let nodes = with_keys(&nodes);
        for key in KEYS.iter() {
            let proof = prove(&nodes, root, key).unwrap();
            let object = matches!(proof, Proof::Present(_)).then_some(&b"object"[..]);
            assert_eq!(verify(&root.hash, key, object, &proof), Ok(()));
            let good = proof.to_bytes();
            for bit in 0..good.len() * 8 {
                let mut bad = good.clone();
                bad[bit / 8] ^= 1 << (bit % 8);
                let verified =
                    Proof::from_bytes(&bad).and_then(|bad| verify(&root.hash, key, object, &bad));
                assert!(verified.is_err(), "bit {bit} of {proof:?}");
                flipped += 1;
            }
        }
    }
    assert!(flipped > 100_000, "{flipped}");
}

#[test]
fn an_object_cannot_be_hidden_between_its_neighbours() {
    let (nodes, root) = trees().swap_remove(0);
    let mut places: Vec<_> = KEYS[..KEYS.len() - 1]
        .iter()
        .map(|key| (sha256(key), key))
        .collect();
    places.sort();
    let neighbour = |key: &Vec<u8>| match prove(&nodes, root, key).unwrap() {
        Proof::Present(path) => Neighbour {
            key: key.clone(),
            value: sha256(b"object"),
            path,
        },
        absent => panic!("{absent:?}"),
    };
    let tried: Vec<_> = places.windows(3).collect();
    assert!(!tried.is_empty());
    for around in tried {
        let (left, right) = (neighbour(around[0].1), neighbour(around[2].1));
        for (left, right) in [
            (Some(left.clone()), Some(right.clone())),
            (Some(left.clone()), None),
            (None, Some(right)),
            (None, None),
        ] {
            let proof = Proof::Absent { left, right };
            let verified = verify(&root.hash, around[1].1, None, &proof);
            assert!(matches!(verified, Err(ProofError::Tree(_))), "{proof:?}");
        }
        // A neighbour cannot prove its own absence.
        let itself = Proof::Absent {
            left: Some(left),
            right: None,
        };
        assert!(verify(&root.hash, around[0].1, None, &itself).is_err());
    }
}

#[test]
fn no_two_objects_hide_another_however_they_are_chosen() {
    for count in 1..10 {
        let keys = &KEYS[KEYS.len() - count..];
        let writes = keys.iter().map(|key| (&key[..], Some(&b"object"[..])));
        let changes = update(&Store::new(), Root::EMPTY, 0, writes).unwrap();
        let (nodes, root): (Store, _) = (changes.nodes.into_iter().collect(), changes.root);
        let neighbour = |key: &Vec<u8>| match prove(&nodes, root, key).unwrap() {
            Proof::Present(path) => Neighbour {
                key: key.clone(),
                value: sha256(b"object"),
                path,
            },
            absent => panic!("{absent:?}"),
        };
        let sides: Vec<_> = keys.iter().map(neighbour).map(Some).chain([None]).collect();
        for hidden in keys {
            for (left, right) in sides.iter().flat_map(|a| sides.iter().map(move |b| (a, b))) {
                let (left, right) = (left.clone(), right.clone());
                let proof = Proof::Absent { left, right };
                assert!(
                    verify(&root.hash, hidden, None, &proof).is_err(),
                    "{proof:?}"
                );
            }
        }
    }
}

#[test]
fn what_changes_nothing_leaves_the_tree_as_it_is() {
    let (nodes, root) = trees().swap_remove(0);
    let absent = KEYS.last().unwrap();
    for writes in [
        vec![],
        vec![(&KEYS[0][..], Some(&b"object"[..]))],
        vec![(&absent[..], None)],
    ] {
        let changes = update(&nodes, root, 1, writes).unwrap();
        assert_eq!(
            changes,
            Changes {
                root,
                nodes: vec![],
                stale: vec![]
            }
        );
    }
}

#[test]
fn of_a_key_that_comes_twice_the_last_counts() {
    let writes = [
        (&b"key"[..], Some(&b"first"[..])),
        (b"key", None),
        (b"key", Some(b"last")),
    ];
    let changes = update(&Store::new(), Root::EMPTY, 0, writes).unwrap();
    let nodes: Store = changes.nodes.into_iter().collect();
    let proof = prove(&nodes, changes.root, b"key").unwrap();
    assert_eq!(
        verify(&changes.root.hash, b"key", Some(b"last"), &proof),
        Ok(())
    );
}

#[test]
fn a_version_or_a_key_that_cannot_be_is_refused() {
    let (nodes, root) = trees().swap_remove(1);
    let object = Some(&b"object"[..]);
    let written = |version, key: &[u8]| update(&nodes, root, version, [(key, object)]);
    assert_eq!(written(0, b"key"), Err(TreeError::Version));
    assert_eq!(written(1, b""), Err(TreeError::Key));
    assert_eq!(written(1, &[0; MAX_KEY_BYTES + 1]), Err(TreeError::Key));
    assert!(written(1, &[0; MAX_KEY_BYTES]).is_ok());
}

#[test]
fn a_store_that_lost_or_damaged_a_node_is_an_error_and_no_panic() {
    let (nodes, root) = trees().swap_remove(0);
    let names: BTreeSet<_> = nodes.keys().cloned().collect();
    for name in names {
        let mut lost = nodes.clone();
        lost.remove(&name);
        let mut cut = nodes.clone();
        cut.entry(name)
            .and_modify(|node| node.truncate(node.len() - 1));
        for (store, error) in [(lost, TreeError::Missing), (cut, TreeError::Damaged)] {
            let writes = KEYS.iter().map(|key| (&key[..], None));
            assert_eq!(update(&store, root, 1, writes), Err(error.clone()));
            let store = with_keys(&store);
            let proofs = KEYS.iter().map(|key| prove(&store, root, key));
            assert!(proofs.filter_map(Result::err).all(|found| found == error));
        }
    }
}

#[test]
fn a_node_with_a_flipped_bit_is_neither_proven_from_nor_built_on() {
    let (nodes, root) = trees().swap_remove(0);
    let (mut proofs_refused, mut flips) = (0, 0);
    for (name, good) in nodes.iter() {
        for bit in (0..good.len() * 8).step_by(7) {
            let mut store = with_keys(&nodes);
            store.get_mut(name).unwrap()[bit / 8] ^= 1 << (bit % 8);
            // Every node is on the way to one of the keys.
            let objects = KEYS.iter().map(|key| (&key[..], Some(&b"other"[..])));
            let written = update(&store, root, 1, objects);
            assert!(
                matches!(written, Err(TreeError::Damaged | TreeError::Missing)),
                "bit {bit} of {name:?}"
            );
            let proofs = KEYS.iter().filter_map(|key| prove(&store, root, key).err());
            proofs_refused += usize::from(proofs.count() > 0);
            flips += 1;
        }
    }
    assert!(flips > 1_000, "{flips}");
    assert_eq!(proofs_refused, flips);
}

#[test]
fn an_older_node_in_the_place_of_a_newer_is_noticed() {
    let mut kept = Kept::default();
    kept.write(&(0..KEYS.len()).map(|key| (key, Some(1))).collect());
    let (older, _) = kept.last();
    kept.write(&vec![(0, Some(2))]);
    let (newer, _) = kept.last();
    let key = |root: Root| node_key(root.version, &EMPTY, 0);
    let before = kept.nodes[&key(older)].clone();
    kept.nodes.insert(key(newer), before);
    let proven = prove(&with_keys(&kept.nodes), newer, &KEYS[0]);
    assert_eq!(proven, Err(TreeError::Damaged));
}

#[test]
fn an_absence_is_not_proven_by_a_key_of_another_place_or_none() {
    let (nodes, root) = trees().swap_remove(0);
    let absent = KEYS.last().unwrap();
    let mut store = with_keys(&nodes);
    let Proof::Absent { left, right } = prove(&store, root, absent).unwrap() else {
        panic!("it is present");
    };
    let beside = left.or(right).unwrap().key;
    let place = sha256(&beside).to_vec();
    store.insert(place.clone(), b"another".to_vec());
    assert_eq!(prove(&store, root, absent), Err(TreeError::Damaged));
    store.remove(&place);
    assert_eq!(prove(&store, root, absent), Err(TreeError::Missing));
}
