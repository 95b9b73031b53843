//! A network of one validator: it orders transactions, answers and refuses.

use crate::TURN;
use crate::cluster::{Actor, Cluster};

#[tokio::test]
async fn a_transaction_is_ordered_by_the_engine_and_read_from_the_ledger() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::start(1).await;
    let node = cluster.node(0);
    let actor = Actor::new(&cluster.genesis);
    assert!(!node.resolves(&actor.did).await);
    let receipt = node.submit(&actor.create()).await.unwrap();
    assert!(receipt.starts_with("1 "), "{receipt}");
    assert!(node.resolves(&actor.did).await);
    assert_eq!(node.submit(&actor.create()).await.unwrap(), receipt);
    cluster.stop().await;
}

#[tokio::test]
async fn what_the_machine_refuses_is_refused_with_its_reason_before_it_reaches_a_block() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::start(1).await;
    let node = cluster.node(0);
    let actor = Actor::new(&cluster.genesis);
    node.submit(&actor.create()).await.unwrap();
    let before = cluster.agree().await;
    let refused = node.submit(&actor.deactivate(0)).await.unwrap_err();
    assert!(
        refused.starts_with("Conflict") && refused.contains("nonce"),
        "{refused}"
    );
    let refused = node.submit(&actor.signed_by_another()).await.unwrap_err();
    assert!(refused.starts_with("Forbidden"), "{refused}");
    let malformed = node.ask("submit a0a0a0").await.unwrap_err();
    assert!(malformed.starts_with("BadRequest"), "{malformed}");
    let size = |head: &str| head.split(' ').nth(1).map(str::to_owned);
    assert_eq!(size(&cluster.agree().await), size(&before));
    cluster.stop().await;
}
