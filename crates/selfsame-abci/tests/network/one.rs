//! A network of one validator: answers, restarts, and nothing left behind.

use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use crate::TURN;
use crate::cluster::{Actor, Cluster, PATIENCE};

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

#[tokio::test]
async fn a_node_that_is_killed_takes_its_engine_along_and_goes_on_where_it_stopped() {
    let _turn = TURN.lock().await;
    let mut cluster = Cluster::start(1).await;
    let (before, after) = (Actor::new(&cluster.genesis), Actor::new(&cluster.genesis));
    let receipt = cluster.node(0).write(&before.create()).await;
    cluster.kill(0).await;
    until_free(cluster.rpc(0)).await;
    cluster.restart(0).await;
    assert!(cluster.node(0).resolves(&before.did).await);
    assert_eq!(cluster.node(0).write(&before.create()).await, receipt);
    assert!(
        cluster
            .node(0)
            .write(&after.create())
            .await
            .starts_with("2 ")
    );
    cluster.stop().await;
}

#[tokio::test]
async fn an_engine_that_is_killed_is_started_again_with_our_half() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::start(1).await;
    let (before, after) = (Actor::new(&cluster.genesis), Actor::new(&cluster.genesis));
    cluster.node(0).write(&before.create()).await;
    cluster.kill_engine(0);
    assert!(cluster.node(0).resolves(&before.did).await);
    assert!(
        cluster
            .node(0)
            .write(&after.create())
            .await
            .starts_with("2 ")
    );
    cluster.stop().await;
}

/// Until nobody listens there any more.
async fn until_free(address: SocketAddr) {
    let begun = tokio::time::Instant::now();
    while TcpListener::bind(address).is_err() {
        assert!(begun.elapsed() < PATIENCE, "the engine was left behind");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
