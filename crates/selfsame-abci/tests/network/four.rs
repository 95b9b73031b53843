//! A network of four validators: it goes on with one lost, stands still with two lost, and loses nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use selfsame_app::registry::{log_origin, trust_root};
use selfsame_crypto::encoding::hex_encode;
use selfsame_proof::note::SignedNote;
use selfsame_proof::validators::{STATE_KEY, ValidatorSet};
use tokio::time::Instant;

use crate::TURN;
use crate::cluster::{Actor, Cluster};

/// Generous, since other tests may want the machine too: the bars are the bench's to keep.
const STALL: Duration = Duration::from_secs(6);
const RESUMED: Duration = Duration::from_secs(12);

/// What a client was told: its transactions and the numbers they have.
#[derive(Default)]
struct Acknowledged(BTreeMap<String, u64>);

impl Acknowledged {
    async fn write(&mut self, cluster: &Cluster, at: usize) -> Actor {
        let actor = Actor::new(&cluster.genesis);
        let transaction = actor.create();
        let receipt = cluster.node(at).write(&transaction).await;
        self.keep(&transaction.hash(), &receipt);
        actor
    }

    fn keep(&mut self, hash: &[u8; 32], receipt: &str) {
        let seq_no = receipt.split(' ').next().unwrap().parse().unwrap();
        assert!(self.0.insert(hex_encode(hash), seq_no).is_none());
    }

    /// Each stands in every node's log under its number and nowhere else, and nothing else stands there.
    async fn stands_once_in_every_log(&self, cluster: &Cluster, nodes: &[usize]) {
        for n in nodes {
            let log = cluster.log(*n).await;
            assert_eq!(log.len(), self.0.len(), "node {n}");
            let numbered = log.into_iter().zip(1_u64..).collect::<BTreeMap<_, _>>();
            assert_eq!(numbered, self.0, "node {n}");
        }
    }
}

#[tokio::test]
async fn what_one_validator_takes_all_have_and_sign() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::start(4).await;
    let mut told = Acknowledged::default();
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
            assert!(begun.elapsed() < RESUMED, "it is not proven");
        }
    }
    let nobody = Actor::new(genesis);
    assert_eq!(
        cluster.node(2).proves(genesis, &nobody.state_key()).await,
        None
    );
    assert_ne!(cluster.agree().await, head);
    told.stands_once_in_every_log(&cluster, &[0, 1, 2, 3]).await;

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
async fn with_one_lost_writes_go_on_and_with_two_they_wait_until_one_is_back() {
    let _turn = TURN.lock().await;
    let mut cluster = Cluster::start(4).await;
    let mut told = Acknowledged::default();
    let first = told.write(&cluster, 0).await;

    cluster.kill(3).await;
    let mut worst = Duration::ZERO;
    for at in [0, 1, 2, 0, 1, 2, 0, 1] {
        let begun = Instant::now();
        told.write(&cluster, at).await;
        worst = worst.max(begun.elapsed());
    }
    assert!(worst < STALL, "a write took {worst:?}");

    cluster.kill(2).await;
    let waiting = Actor::new(&cluster.genesis).create();
    let refused = cluster.node(0).submit(&waiting).await.unwrap_err();
    assert!(refused.starts_with("Unavailable"), "{refused}");
    assert!(refused.contains("too few validators"), "{refused}");
    let genesis = cluster.genesis.clone();
    let key = first.state_key();
    for node in cluster.alive() {
        assert!(node.resolves(&first.did).await);
        assert!(node.proves(&genesis, &key).await.is_some());
    }
    // The last one, even started anew, needs nobody to prove what it says.
    cluster.kill(1).await;
    assert!(cluster.node(0).proves(&genesis, &key).await.is_some());
    cluster.kill(0).await;
    cluster.restart(0).await;
    assert!(cluster.node(0).proves(&genesis, &key).await.is_some());
    cluster.restart(1).await;

    cluster.restart(2).await;
    let begun = Instant::now();
    let receipt = cluster.node(0).write(&waiting).await;
    let took = begun.elapsed();
    assert!(took < RESUMED, "writes went on after {took:?}");
    told.keep(&waiting.hash(), &receipt);

    cluster.restart(3).await;
    for at in [3, 2, 1, 0] {
        told.write(&cluster, at).await;
    }
    cluster.agree().await;
    told.stands_once_in_every_log(&cluster, &[0, 1, 2, 3]).await;
    cluster.stop().await;
}

#[tokio::test]
async fn a_validator_is_removed_and_readers_are_handed_over_to_the_others() {
    let _turn = TURN.lock().await;
    let mut cluster = Cluster::start(4).await;
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
