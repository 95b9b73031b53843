//! Measures how fast proofs are made and verified:
//! `cargo test --release -p selfsame-proof speed -- --ignored --nocapture`.

#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "it measures and prints what it measured"
)]

use std::time::Instant;

use super::*;

const OBJECTS: u32 = 200_000;
const ROUNDS: usize = 200_000;

fn key(n: u32) -> Vec<u8> {
    format!("did/did:selfsame:main:{n:022}").into_bytes()
}

#[test]
#[ignore = "measures; needs --release and a quiet machine"]
fn proofs_at_200_000_objects() {
    let object = [7_u8; 300];
    let mut nodes = Store::new();
    let mut root = Root::EMPTY;
    let begin = Instant::now();
    for block in 0..OBJECTS / 1_000 {
        let keys: Vec<_> = (0..1_000).map(|n| key(block * 1_000 + n)).collect();
        let writes = keys.iter().map(|key| (&key[..], Some(&object[..])));
        let changes = update(&nodes, root, u64::from(block), writes).unwrap();
        nodes.extend(changes.nodes);
        changes
            .stale
            .iter()
            .for_each(|key| assert!(nodes.remove(key).is_some()));
        root = changes.root;
    }
    rate("objects written, 1,000 a block", begin, OBJECTS as usize);
    let bytes: usize = nodes.iter().map(|(key, node)| key.len() + node.len()).sum();
    println!("{:>12} bytes of nodes an object", bytes / OBJECTS as usize);

    nodes.extend((0..OBJECTS).map(|n| (sha256(&key(n)).to_vec(), key(n))));
    let sample = |from: u32| -> Vec<_> {
        let keys = (0..2_000).map(|n| key(from + n * 7));
        let begin = Instant::now();
        let proofs: Vec<_> = keys
            .map(|key| (prove(&nodes, root, &key).unwrap(), key))
            .collect();
        rate("proofs made a second", begin, proofs.len());
        let bytes: usize = proofs.iter().map(|(proof, _)| proof.to_bytes().len()).sum();
        println!("{:>12} bytes a proof", bytes / proofs.len());
        proofs
    };
    for (what, proofs, object) in [
        (
            "proofs of presence verified a second",
            sample(0),
            Some(&object[..]),
        ),
        ("proofs of absence verified a second", sample(OBJECTS), None),
    ] {
        let begin = Instant::now();
        for (proof, key) in proofs.iter().cycle().take(ROUNDS) {
            assert_eq!(verify(&root.hash, key, object, proof), Ok(()));
        }
        rate(what, begin, ROUNDS);
    }
}

fn rate(what: &str, begin: Instant, count: usize) {
    println!(
        "{:>12.0} {what}",
        count as f64 / begin.elapsed().as_secs_f64()
    );
}
