//! The acknowledgements that clients received, which every fault test checks against the ledger at its end.

use std::collections::BTreeMap;
use std::sync::Mutex;

use selfsame_crypto::encoding::hex_encode;
use selfsame_ledger::log_origin;
use selfsame_proof::checkpoint::Checkpoint;
use selfsame_proof::log::{Frontier, leaf_hash};
use selfsame_proof::note::SignedNote;
use selfsame_registry::Transaction;

use crate::cluster::{Actor, Cluster, NodeProcess, until};

/// The acknowledged transactions, by their numbers.
#[derive(Default)]
pub struct Told(Mutex<BTreeMap<u64, [u8; 32]>>);

impl Told {
    /// Starts once all nodes take part: each has taken a write.
    pub async fn begin(cluster: &Cluster) -> Self {
        let told = Self::default();
        for at in 0..cluster.nodes.count() {
            told.write(cluster, at).await;
        }
        told
    }

    pub fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// Records a receipt, in the format of the example `node`.
    pub fn keep(&self, transaction: &Transaction, receipt: &str) {
        let seq_no = receipt.split(' ').next().unwrap().parse().unwrap();
        let before = self.0.lock().unwrap().insert(seq_no, transaction.hash());
        let same = before.is_none_or(|before| before == transaction.hash());
        assert!(same, "two transactions have the number {seq_no}");
    }

    /// Creates a new client, whose creation a node has acknowledged.
    pub async fn write(&self, cluster: &Cluster, at: usize) -> Actor {
        let actor = Actor::new(&cluster.genesis);
        let transaction = actor.create();
        let receipt = cluster.node(at).write(&transaction).await;
        self.keep(&transaction, &receipt);
        actor
    }

    /// Checks that all nodes run and agree on one app hash. On each, every acknowledged transaction must be in the log
    /// under its number and nowhere else, and the log must be the one that the validators have signed.
    pub async fn is_true_on_all(&self, cluster: &Cluster) {
        assert_eq!(cluster.alive().len(), cluster.nodes.count(), "all are back");
        cluster.agree().await;
        for n in 0..cluster.nodes.count() {
            let log = cluster.log(n).await;
            let mut numbers = BTreeMap::new();
            let mut hashes = Frontier::new();
            for (transaction, seq_no) in log.iter().zip(1_u64..) {
                hashes.append(leaf_hash(&transaction.to_bytes()));
                let before = numbers.insert(transaction.hash(), seq_no);
                assert_eq!(before, None, "node {n} has a transaction twice");
            }
            for (seq_no, hash) in &*self.0.lock().unwrap() {
                let found = numbers.get(hash);
                assert_eq!(found, Some(seq_no), "node {n}, {}", hex_encode(hash));
            }
            let node = cluster.node(n);
            let signed = async || {
                let standing = standing(cluster, &node).await;
                standing == Some((hashes.size(), hashes.root()))
            };
            until("the log is the one that was signed", signed).await;
        }
    }
}

/// Length and root of the log in a node's newest checkpoint, if enough of the first validators signed it.
async fn standing(cluster: &Cluster, node: &NodeProcess) -> Option<(u64, [u8; 32])> {
    let note = SignedNote::parse(&node.note().await?).unwrap();
    let origin = log_origin(&cluster.genesis.network());
    let agreed = Checkpoint::agreed(&note, &origin, cluster.genesis.validators()).unwrap();
    Some((agreed.standing.size, agreed.standing.log))
}
