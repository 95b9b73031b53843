//! Compares roots and proofs with those of the crates `jmt` and `ics23`.

use ics23::commitment_proof::Proof as InnerNode;
use ics23::{CommitmentProof, ExistenceProof, HostFunctionsManager, InnerOp, NonExistenceProof};
use jmt::mock::MockTreeStore;
use jmt::{KeyHash, Sha256Jmt, ics23_spec};

use super::*;

/// Our proof as ICS23 messages. The value is the object's digest.
fn to_ics23(key: &[u8], object: Option<&[u8]>, proof: Proof) -> CommitmentProof {
    let neighbour = |it: Neighbour| existence(&it.key, it.value, &it.path);
    let proof = match proof {
        Proof::Present(path) => InnerNode::Exist(existence(key, sha256(object.unwrap()), &path)),
        Proof::Absent { left, right } => InnerNode::Nonexist(NonExistenceProof {
            key: key.to_vec(),
            left: left.map(neighbour),
            right: right.map(neighbour),
        }),
    };
    CommitmentProof { proof: Some(proof) }
}

fn existence(key: &[u8], value: Hash, path: &SiblingPath) -> ExistenceProof {
    let place = sha256(key);
    let step = |(level, beside): (usize, &Hash)| {
        let is_right = place[level / 8] >> (7 - level % 8) & 1 == 1;
        let (before, after) = if is_right {
            (&beside[..], &[][..])
        } else {
            (&[][..], &beside[..])
        };
        InnerOp {
            hash: ics23::HashOp::Sha256.into(),
            prefix: [b"JMT::IntrnalNode", before].concat(),
            suffix: after.to_vec(),
        }
    };
    ExistenceProof {
        key: key.to_vec(),
        value: value.to_vec(),
        leaf: ics23_spec().leaf_spec,
        path: path.hashes().iter().enumerate().rev().map(step).collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn roots_and_proofs_are_those_of_the_published_tree(blocks in blocks()) {
        let (mut kept, store) = (Kept::default(), MockTreeStore::default());
        let tree = Sha256Jmt::new(&store);
        for (version, block) in blocks.iter().enumerate() {
            let version = version as u64;
            kept.write(block);
            let writes: BTreeMap<_, _> = (block.iter())
                .map(|(key, object)| (&KEYS[*key], object.map(|n| vec![n; usize::from(n)])))
                .collect();
            for key in writes.keys() {
                store.put_key_preimage(KeyHash(sha256(key)), key);
            }
            let values = (writes.iter()).map(|(key, object)| {
                (KeyHash(sha256(key)), object.as_ref().map(|object| sha256(object).to_vec()))
            });
            let (root, batch) = tree.put_value_set(values, version).unwrap();
            store.write_tree_update_batch(batch).unwrap();
            let (ours, model) = kept.last();
            prop_assert_eq!(ours.hash, root.0);
            // The published tree cannot prove absence from the empty tree.
            if model.is_empty() {
                continue;
            }
            let nodes = with_keys(&kept.nodes);
            for key in KEYS.iter() {
                let object = model.get(key).map(Vec::as_slice);
                let proof = prove(&nodes, ours, key).unwrap();
                let proof = to_ics23(key, object, proof);
                let (_, theirs) = tree.get_with_ics23_proof(key.clone(), version).unwrap();
                prop_assert_eq!(&proof, &theirs);
                let (spec, root) = (ics23_spec(), root.0.to_vec());
                let agrees = match object {
                    Some(object) => {
                        let value = sha256(object);
                        ics23::verify_membership::<HostFunctionsManager>(&proof, &spec, &root, key, &value)
                    }
                    None => ics23::verify_non_membership::<HostFunctionsManager>(&proof, &spec, &root, key),
                };
                prop_assert!(agrees);
            }
        }
    }
}
