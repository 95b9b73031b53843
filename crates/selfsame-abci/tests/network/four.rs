//! A network of four validators: a write to one is logged and signed by all, and the validators change.

use std::sync::Arc;
use std::time::Duration;

use selfsame_ledger::{Ledger, log_origin, trust_root};
use selfsame_proof::note::SignedNote;
use selfsame_proof::validators::{STATE_KEY, ValidatorSet};
use selfsame_registry::{StateMachine, Transaction};
use selfsame_store::ledger::{Placed, SqliteLedger};
use selfsame_testkit::consensus::Consensus;
use tokio::time::Instant;

use crate::TURN;
use crate::cluster::{Actor, Cluster};
use crate::load::Load;
use crate::told::Told;

/// Generous limits, since other tests may use the machine too. The bench has the strict bars.
const STALL: Duration = Duration::from_secs(30);
const SIGNED: Duration = Duration::from_secs(60);

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
        // An author reads its write from the node that took it, with proof. On a busy machine the signatures may take
        // longer.
        let (begun, key) = (Instant::now(), actor.state_key());
        while cluster.node(at).proves(genesis, &key).await.is_none() {
            assert!(begun.elapsed() < SIGNED, "it is not proven");
        }
    }
    let unregistered = Actor::new(genesis);
    assert_eq!(
        cluster
            .node(2)
            .proves(genesis, &unregistered.state_key())
            .await,
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
async fn what_the_engine_decides_leads_to_the_same_app_hash_without_it() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::start(4).await;
    let told = Arc::new(Told::begin(&cluster).await);
    let load = Load::start(&cluster, (8, &[0, 1, 2, 3]), &told);
    load.writes(60).await;
    let removal = cluster.trustee.remove_validator(1, "node-4");
    told.keep(&removal, &cluster.node(0).write(&removal).await);
    load.writes(20).await;
    load.stop().await;
    told.is_true_on_all(&cluster).await;
    for n in 0..4 {
        cluster.shut_down(n).await;
    }

    // Decides the blocks again by a consensus without an engine.
    let genesis = &cluster.genesis;
    let stored = SqliteLedger::open(cluster.home(0).join("ledger.db")).unwrap();
    let machine = Arc::new(StateMachine::new(genesis.clone()));
    let ledger = Ledger::open(Arc::new(stored), machine).unwrap();
    let last = ledger.head().unwrap();
    assert!(last.log.size() >= 85, "{last:?}");
    let mut paper = Consensus::new(genesis, &[0; 4]);
    paper.begin(ledger.block(1).unwrap().time);
    let mut before = 0;
    for height in 1..=last.height {
        let block = ledger.block(height).unwrap();
        let count = block.log.size() - before;
        let placed = match count {
            0 => Vec::new(),
            _ => ledger.transactions(before + 1, count).unwrap(),
        };
        let read = |placed: &Placed| Transaction::from_bytes(&placed.entry.bytes).unwrap();
        let transactions: Vec<_> = placed.iter().map(read).collect();
        let next = ledger.block((height + 1).min(last.height)).unwrap().time;
        let decided = paper.decide(next, &transactions);
        assert_eq!(decided.heads, vec![block.clone(); 4], "block {height}");
        before = block.log.size();
    }
}

#[tokio::test]
async fn a_validator_is_removed_and_readers_are_handed_over_to_the_others() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::start(4).await;
    let genesis = cluster.genesis.clone();
    let removed = cluster.trustee.remove_validator(1, "node-4");
    cluster.node(1).write(&removed).await;
    // The engine applies the change two blocks later; each of these writes makes at least one block.
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
        // The reader has only the genesis, with the four validators, and is led to the three.
        let (set, trust) = node.reads(STATE_KEY, &trust_root(&genesis)).await;
        let set = ValidatorSet::from_bytes(&set.unwrap()).unwrap();
        assert_eq!(set.validators().len(), 3);
        assert_eq!(trust.set, set);
    }
    cluster.agree().await;
    cluster.stop().await;
}
