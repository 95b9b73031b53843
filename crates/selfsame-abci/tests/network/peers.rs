//! Peers: a dismissed node is disconnected, and a folder that admits every peer does not start.

use selfsame_abci::Home;
use serde_json::json;

use crate::TURN;
use crate::bad_input::try_call;
use crate::cluster::{Cluster, until};
use crate::told::Told;

/// Whether a node's engine is connected to the peer of that name; `None` while it does not answer.
fn speaks(cluster: &Cluster, n: usize, name: &str) -> Option<bool> {
    let answer = try_call(cluster.rpc(n), "net_info", json!({})).ok()?;
    let peers = answer["result"]["peers"].as_array()?;
    Some(peers.iter().any(|peer| peer["node_info"]["id"] == name))
}

#[tokio::test]
async fn a_node_that_is_dismissed_loses_its_connection_and_the_others_go_on() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::start(4).await;
    let told = Told::begin(&cluster).await;
    let peer = Home::open(&cluster.home(3))
        .unwrap()
        .peer()
        .unwrap()
        .to_owned();
    let (name, _) = peer.split_once('@').unwrap();
    let speaks = |n| speaks(&cluster, n, name);
    let connected = async || (0..3).all(|n| speaks(n) == Some(true));
    until("all are connected", connected).await;
    for n in 0..3 {
        assert!(Home::open(&cluster.home(n)).unwrap().dismiss(name).unwrap());
    }
    let parted = async || (0..3).all(|n| speaks(n) == Some(false));
    until("no node is connected to it", parted).await;
    for _ in 0..5 {
        told.write(&cluster, 0).await;
    }
    assert!(parted().await, "it does not come back");
    for n in 0..3 {
        assert_eq!(cluster.node(n).ask("trouble").await.unwrap(), "");
        Home::open(&cluster.home(n)).unwrap().admit(&peer).unwrap();
    }
    // The dismissed node dials again after its next start.
    cluster.shut_down(3).await;
    cluster.restart(3).await;
    told.write(&cluster, 3).await;
    told.is_true_on_all(&cluster).await;
    cluster.stop().await;
}

#[tokio::test]
async fn a_node_whose_engine_would_speak_to_everybody_does_not_start() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::create(1, &[]);
    let file = cluster.home(0).join("engine/config/config.toml");
    let good = std::fs::read_to_string(&file).unwrap();
    std::fs::write(
        &file,
        good.replace("filter_peers = true", "filter_peers = false"),
    )
    .unwrap();
    let refused = cluster.try_start(0).await.unwrap_err();
    assert!(
        refused.contains("lets every node connect to this one"),
        "{refused}"
    );
    std::fs::write(&file, good).unwrap();
    cluster.restart(0).await;
    cluster.stop().await;
}
