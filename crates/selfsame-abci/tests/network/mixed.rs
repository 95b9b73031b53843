//! Networks whose nodes run different versions of the program.

use std::sync::Arc;

use selfsame_registry::network::MACHINE_VERSION;

use crate::TURN;
use crate::cluster::{Cluster, until};
use crate::load::Load;
use crate::told::Told;

const NEXT: u64 = MACHINE_VERSION + 1;

/// A network of four nodes, of which these also have the next machine version.
async fn mixed(newer: &[usize], limits: &[&str]) -> Cluster {
    let mut cluster = Cluster::create(4, limits);
    for n in newer {
        cluster.has_machine(*n, NEXT);
    }
    cluster.all_up().await;
    cluster
}

fn height(head: &str) -> u64 {
    head.split(' ').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_network_goes_over_to_the_next_machine_and_the_node_left_behind_stops_until_its_program_is_replaced()
 {
    let _turn = TURN.lock().await;
    let mut cluster = mixed(&[0, 1, 2], &[]).await;
    let told = Arc::new(Told::begin(&cluster).await);
    let load = Load::start(&cluster, (6, &[0, 1, 2]), &told);
    load.writes(40).await;

    let from_height = height(&cluster.node(0).ask("head").await.unwrap()) + 20;
    let over = cluster.trustee.go_over(1, (NEXT, from_height));
    let refused = cluster.node(3).submit(&over).await.unwrap_err();
    assert!(refused.contains("install a newer one"), "{refused}");
    told.keep(&over, &cluster.node(0).write(&over).await);
    let stopped = async || {
        let trouble = cluster.node(3).ask("trouble").await.unwrap();
        trouble.contains("goes over to machine") && trouble.contains("install a newer one")
    };
    until("the node left behind says why", stopped).await;
    let gone_over = async || height(&cluster.node(0).ask("head").await.unwrap()) > from_height;
    until("the others go over", gone_over).await;
    load.writes(40).await;

    cluster.shut_down(3).await;
    cluster.has_machine(3, NEXT);
    cluster.restart(3).await;
    load.writes(40).await;
    let figures = load.stop().await;
    figures.print("a network of mixed versions goes over");
    assert_eq!(figures.failed, Vec::<String>::new());
    told.write(&cluster, 3).await;
    told.is_true_on_all(&cluster).await;
    cluster.stop().await;
}

#[tokio::test]
async fn a_network_of_which_half_lacks_a_machine_never_goes_over_and_writes_go_on() {
    let _turn = TURN.lock().await;
    let cluster = mixed(&[0, 1], &["deadline=5"]).await;
    let told = Arc::new(Told::begin(&cluster).await);
    // A height so far ahead that it is not refused.
    let from_height = height(&cluster.node(0).ask("head").await.unwrap()) + 100_000;
    let over = cluster.trustee.go_over(1, (NEXT, from_height));
    let load = Load::start(&cluster, (4, &[0, 1, 2, 3]), &told);
    let waits = cluster.node(0).submit(&over).await.unwrap_err();
    assert!(waits.starts_with("Unavailable"), "{waits}");
    load.writes(60).await;
    load.stop()
        .await
        .print("half of the network does not go over");
    let log = cluster.log(0).await;
    assert!(
        log.iter()
            .all(|transaction| transaction.hash() != over.hash())
    );
    for node in cluster.alive() {
        assert_eq!(node.ask("trouble").await.unwrap(), "");
    }
    told.is_true_on_all(&cluster).await;
    cluster.stop().await;
}
