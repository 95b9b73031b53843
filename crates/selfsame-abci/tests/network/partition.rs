//! Faults: the network between the nodes is cut.

use std::sync::Arc;

use tokio::time::Instant;

use crate::TURN;
use crate::cluster::{Actor, Cluster};
use crate::load::Load;
use crate::told::Told;

#[tokio::test]
async fn fault_cut_in_two_halves_nothing_is_written_on_either_and_all_goes_on_once_it_is_healed() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::apart(4, &["deadline=2"]).await;
    let told = Arc::new(Told::begin(&cluster).await);
    let load = Load::start(&cluster, (8, &[0, 1, 2, 3]), &told);
    load.writes(40).await;
    load.stop().await;
    let known = told.write(&cluster, 0).await;
    known.is_proven_on_all(&cluster).await;

    cluster.divide(&[0, 0, 1, 1]);
    let waiting: Vec<_> = (0..4).map(|_| Actor::new(&cluster.genesis)).collect();
    for (actor, at) in waiting.iter().zip(0..) {
        let refused = cluster.node(at).submit(&actor.create()).await.unwrap_err();
        assert!(refused.contains("too few validators"), "{refused}");
        let (node, key) = (cluster.node(at), known.state_key());
        let value = node.proves(&cluster.genesis, &key);
        assert!(value.await.is_some(), "node {at} proves what it has");
    }
    cluster.divide(&[0, 0, 0, 0]);
    for (actor, at) in waiting.iter().zip(0..) {
        let transaction = actor.create();
        told.keep(&transaction, &cluster.node(at).write(&transaction).await);
    }
    told.is_true_on_all(&cluster).await;
    cluster.stop().await;
}

#[tokio::test]
async fn fault_one_cut_off_from_three_says_so_while_they_go_on_and_follows_them_once_healed() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::wired(4, &["deadline=6"]).await;
    let told = Arc::new(Told::begin(&cluster).await);
    let load = Load::start(&cluster, (6, &[0, 1, 2]), &told);
    load.writes(40).await;
    cluster.divide(&[0, 0, 0, 1]);
    load.writes(60).await;
    let alone = Actor::new(&cluster.genesis).create();
    let refused = cluster.node(3).submit(&alone).await.unwrap_err();
    assert!(refused.contains("too few validators"), "{refused}");
    cluster.divide(&[0, 0, 0, 0]);
    let begun = Instant::now();
    told.keep(&alone, &cluster.node(3).write(&alone).await);
    let healed = begun.elapsed();
    load.writes(40).await;
    let figures = load.stop().await;
    figures.print(&format!(
        "one cut off, back after {} ms",
        healed.as_millis()
    ));
    assert_eq!(figures.failed, Vec::<String>::new());
    told.is_true_on_all(&cluster).await;
    cluster.stop().await;
}
