//! A validator's key in use twice: the engines find its double votes, and its operators learn of it.

use std::path::Path;
use std::sync::Arc;

use selfsame_abci::Home;
use selfsame_crypto::encoding::{base64_encode, hex_encode};
use selfsame_crypto::hash::sha256;
use selfsame_crypto::{KeyType, PrivateKey};
use serde_json::json;

use crate::TURN;
use crate::cluster::{Cluster, free_address, until};
use crate::load::Load;
use crate::process::NodeProcess;
use crate::told::Told;

const VALIDATOR: &str = "node-4";

#[tokio::test]
async fn a_validator_whose_key_is_in_use_twice_is_named_at_the_others() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::start(4).await;
    let told = Arc::new(Told::begin(&cluster).await);
    cluster.shut_down(3).await;
    let folder = tempfile::tempdir().unwrap();
    let twin = folder.path().join(VALIDATOR);
    let name = copy(&cluster.home(3), &twin);
    for n in 0..3 {
        Home::open(&cluster.home(n)).unwrap().admit(&name).unwrap();
    }
    cluster.restart(3).await;
    let second = NodeProcess::start(&[], &twin, &[]).await.unwrap();

    let load = Load::start(&cluster, (6, &[0, 1, 2]), &told);
    let found = async || {
        let said = cluster.node(0).ask("misbehaviour").await.unwrap();
        said.starts_with("node-4 double_vote ")
    };
    until("its double votes are found", found).await;
    second.kill().await;
    load.writes(20).await;
    load.stop().await.print("a validator votes twice");
    for n in [0, 1, 2] {
        let named = async || {
            let node = cluster.node(n);
            let said = node.ask("misbehaviour").await.unwrap();
            said.contains(VALIDATOR) && node.said("a validator broke the protocol")
        };
        until("all have it", named).await;
    }
    // It is still known after a restart.
    cluster.shut_down(0).await;
    cluster.restart(0).await;
    assert!(
        cluster
            .node(0)
            .ask("misbehaviour")
            .await
            .unwrap()
            .contains(VALIDATOR)
    );
    cluster.stop().await;
}

/// Copies a node's folder, with another transport key and other addresses. Returns `<name>@<address>` for others to
/// admit.
fn copy(home: &Path, twin: &Path) -> String {
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .args([home, twin])
        .status();
    assert!(copied.unwrap().success());
    let (p2p, rpc) = (free_address(), free_address());
    let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let name = hex_encode(&sha256(key.public().bytes())[..20]);
    let node = twin.join("node.json");
    let mut settings: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&node).unwrap()).unwrap();
    let before = settings["peer"].as_str().unwrap().to_owned();
    let before_rpc = settings["rpc"].as_str().unwrap().to_owned();
    let peer = format!("{name}@{p2p}");
    settings["peer"] = json!(peer);
    settings["rpc"] = json!(rpc.to_string());
    std::fs::write(node, settings.to_string()).unwrap();

    let config = twin.join("engine/config/config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    let (_, before_p2p) = before.split_once('@').unwrap();
    let text = text.replace(&format!("tcp://{before_p2p}"), &format!("tcp://{p2p}"));
    let text = text.replace(&format!("tcp://{before_rpc}"), &format!("tcp://{rpc}"));
    std::fs::write(config, text).unwrap();
    // The engine's file has the seed, then the public key.
    let pkcs8 = key.to_pkcs8().unwrap();
    let private = [seed(pkcs8.expose()), key.public().bytes()].concat();
    let private = json!({ "priv_key": {
        "type": "tendermint/PrivKeyEd25519", "value": base64_encode(&private),
    }});
    let file = twin.join("engine/config/node_key.json");
    std::fs::write(file, private.to_string()).unwrap();
    peer
}

/// The 32 bytes of an Ed25519 key in PKCS#8, after its algorithm (RFC 8410 §7).
fn seed(pkcs8: &[u8]) -> &[u8] {
    let before = [0x04, 0x22, 0x04, 0x20];
    let at = pkcs8.windows(4).position(|bytes| bytes == before).unwrap();
    &pkcs8[at + 4..at + 36]
}
