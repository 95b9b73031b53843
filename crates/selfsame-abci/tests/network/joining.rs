//! A node that joins late, when the engines have pruned the first blocks, takes the ledger from the other nodes.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use selfsame_abci::{Home, StateSync};
use selfsame_crypto::encoding::hex_decode;
use serde_json::json;

use crate::TURN;
use crate::bad_input::call;
use crate::cluster::{Cluster, until};
use crate::load::Load;
use crate::told::Told;

#[tokio::test]
async fn fault_a_node_that_lost_its_disk_joins_by_a_snapshot_and_has_every_transaction_again() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::limited(4, &["retained=50"]).await;
    let told = Arc::new(Told::begin(&cluster).await);
    let load = Load::start(&cluster, (8, &[0, 1, 2, 3]), &told);
    let pruned = async || first_block(cluster.rpc(0)) > 1 && first_block(cluster.rpc(1)) > 1;
    until("the engines forget the first blocks", pruned).await;
    load.stop().await;

    cluster.kill(3).await;
    lose(&cluster.home(3));
    let (height, hash) = trusted(cluster.rpc(0));
    let from = StateSync {
        servers: [0, 1]
            .map(|n| format!("http://{}/", cluster.rpc(n)).parse().unwrap())
            .to_vec(),
        height,
        hash,
    };
    Home::open(&cluster.home(3))
        .unwrap()
        .sync_from(&from)
        .unwrap();
    cluster.restart(3).await;
    let joining = cluster.node(3);
    let taken = async || {
        // The headers after the snapshot are needed, so the network must continue, slowly.
        told.write(&cluster, 0).await;
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        joining.said("the ledger was taken from a snapshot")
    };
    let took = until("the ledger is taken", taken).await;

    // The node has everything that the others have, and takes part: without it, the two that remain could not write.
    told.write(&cluster, 3).await;
    let first = first_block(cluster.rpc(3));
    assert!(first > 1, "its engine has no older block: {first}");
    cluster.kill(0).await;
    let load = Load::start(&cluster, (4, &[1, 2, 3]), &told);
    load.writes(20).await;
    load.stop().await.print(&format!(
        "joined by a snapshot after {} ms",
        took.as_millis()
    ));
    cluster.restart(0).await;
    told.is_true_on_all(&cluster).await;
    cluster.stop().await;
}

/// Deletes everything that is lost with a disk, except the keys and the engine's record of its votes, which an operator
/// stores elsewhere.
fn lose(home: &Path) {
    for name in ["ledger.db", "ledger.db-wal", "ledger.db-shm", "checkpoint"] {
        let file = home.join(name);
        if file.exists() {
            std::fs::remove_file(file).unwrap();
        }
    }
    for entry in std::fs::read_dir(home.join("engine/data")).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => std::fs::remove_dir_all(entry.path()).unwrap(),
            false if entry.file_name() != "priv_validator_state.json" => {
                std::fs::remove_file(entry.path()).unwrap();
            }
            false => {}
        }
    }
}

fn first_block(rpc: SocketAddr) -> u64 {
    let status = call(rpc, "status", json!({}));
    let first = &status["result"]["sync_info"]["earliest_block_height"];
    first.as_str().unwrap().parse().unwrap()
}

/// A block that an operator trusts: the newest of a node of its own.
fn trusted(rpc: SocketAddr) -> (u64, [u8; 32]) {
    let commit = call(rpc, "commit", json!({}));
    let signed = &commit["result"]["signed_header"];
    let height = signed["header"]["height"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    let hash = signed["commit"]["block_id"]["hash"].as_str().unwrap();
    (
        height,
        hex_decode(&hash.to_lowercase())
            .unwrap()
            .try_into()
            .unwrap(),
    )
}
