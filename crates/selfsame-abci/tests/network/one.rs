//! A network of one validator.

use crate::cluster::{Actor, Cluster};

#[tokio::test]
async fn a_transaction_is_ordered_by_the_engine_and_read_from_the_ledger() {
    let cluster = Cluster::start(1).await;
    let node = cluster.node(0);
    let actor = Actor::new(&cluster.genesis);
    assert!(!node.resolves(&actor.did).await);
    let receipt = node.submit(&actor.create).await.unwrap();
    assert!(receipt.starts_with("1 "), "{receipt}");
    assert!(node.resolves(&actor.did).await);
    assert_eq!(node.submit(&actor.create).await.unwrap(), receipt);
}
