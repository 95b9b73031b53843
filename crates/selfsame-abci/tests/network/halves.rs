//! Faults: one half of a node dies, ours or the engine's.

use std::sync::Arc;

use crate::TURN;
use crate::cluster::{Cluster, engines, until};
use crate::load::Load;
use crate::told::Told;

#[tokio::test]
async fn fault_a_node_that_loses_either_half_starts_both_again_under_load() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::start(4).await;
    let told = Arc::new(Told::begin(&cluster).await);
    let load = Load::start(&cluster, (8, &[0, 1, 2, 3]), &told);
    load.writes(40).await;

    // The engine dies: our half notices, reports it and restarts both.
    let (home, before) = (cluster.home(0), engines(&cluster.home(0)));
    cluster.kill_engine(0);
    let started = async || engines(&home).len() == 1 && engines(&home) != before;
    until("the engine is started again", started).await;
    let node = cluster.node(0);
    until("its operator is told", async || {
        node.said("both halves of the node stopped and are started again")
            && node.said("the engine ended: signal 9")
    })
    .await;
    load.writes(40).await;

    // Our half dies: the engine does not outlive it.
    cluster.kill(0).await;
    until("the engine is gone too", async || engines(&home).is_empty()).await;
    cluster.restart(0).await;
    load.writes(40).await;
    let figures = load.stop().await;
    figures.print("each half of a node killed");
    assert_eq!(figures.failed, Vec::<String>::new());
    until("its trouble is over", async || {
        cluster.node(0).ask("trouble").await.unwrap().is_empty()
    })
    .await;
    told.is_true_on_all(&cluster).await;
    cluster.stop().await;
}
