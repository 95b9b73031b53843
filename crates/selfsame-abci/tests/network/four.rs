//! A network of four validators: what one takes all have and sign, and who validates changes.

use std::time::Duration;

use selfsame_app::registry::{log_origin, trust_root};
use selfsame_proof::note::SignedNote;
use selfsame_proof::validators::{STATE_KEY, ValidatorSet};
use tokio::time::Instant;

use crate::TURN;
use crate::cluster::{Actor, Cluster};
use crate::told::Told;

/// Generous, since other tests may want the machine too: the bars are the bench's to keep.
const STALL: Duration = Duration::from_secs(6);
const SIGNED: Duration = Duration::from_secs(12);

#[tokio::test]
async fn what_one_validator_takes_all_have_and_sign() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::start(4).await;
    let told = Told::default();
    let actor = told.write(&cluster, 0).await;
    let head = cluster.agree().await;
    for node in cluster.alive() {
        assert!(node.resolves(&actor.did).await);
    }
    let genesis = &cluster.genesis;
    for at in [1, 2, 3, 0, 1] {
        let actor = told.write(&cluster, at).await;
        // Who wrote reads it where he wrote, with proof; on a busy machine the signatures may take their time.
        let (begun, key) = (Instant::now(), actor.state_key());
        while cluster.node(at).proves(genesis, &key).await.is_none() {
            assert!(begun.elapsed() < SIGNED, "it is not proven");
        }
    }
    let nobody = Actor::new(genesis);
    assert_eq!(
        cluster.node(2).proves(genesis, &nobody.state_key()).await,
        None
    );
    assert_ne!(cluster.agree().await, head);
    told.is_true_on_all(&cluster).await;

    let validators = cluster.genesis.validators();
    let origin = log_origin(&cluster.genesis.network());
    let keys = validators.verifier_keys(&origin).unwrap();
    for node in cluster.alive() {
        let note = SignedNote::parse(&node.note().await.unwrap()).unwrap();
        let signers = note.signers(&keys).unwrap();
        assert!(signers.len() >= 3, "signed by {}", signers.len());
    }
    cluster.stop().await;
}

#[tokio::test]
async fn a_validator_is_removed_and_readers_are_handed_over_to_the_others() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::start(4).await;
    let genesis = cluster.genesis.clone();
    let removed = cluster.trustee.remove_validator(1, "node-4");
    cluster.node(1).write(&removed).await;
    // The engine takes the change two blocks later; each of these makes at least one.
    for at in [0, 1, 2] {
        let actor = Actor::new(&genesis);
        cluster.node(at).write(&actor.create()).await;
    }
    cluster.kill(3).await;
    let actor = Actor::new(&genesis);
    let begun = Instant::now();
    cluster.node(0).write(&actor.create()).await;
    assert!(begun.elapsed() < STALL);
    for node in cluster.alive() {
        let note = SignedNote::parse(&node.note().await.unwrap()).unwrap();
        let origin = log_origin(&genesis.network());
        let keys = genesis.validators().verifier_keys(&origin).unwrap();
        let signers = note.signers(&keys).unwrap();
        let gone = |name: &str| name.ends_with("/node-4");
        assert!(!signers.iter().any(|signer| gone(signer.key.name())));
        // The reader has the genesis alone, with the four, and is led to the three.
        let (set, trust) = node.reads(STATE_KEY, &trust_root(&genesis)).await;
        let set = ValidatorSet::from_bytes(&set.unwrap()).unwrap();
        assert_eq!(set.validators().len(), 3);
        assert_eq!(trust.set, set);
    }
    cluster.agree().await;
    cluster.stop().await;
}
