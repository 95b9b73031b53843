//! Invalid input is refused with its reason before it reaches a block.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use selfsame_crypto::encoding::base64_encode;
use selfsame_registry::Transaction;
use serde_json::{Value, json};

use crate::TURN;
use crate::cluster::{Actor, Cluster, until};
use crate::told::Told;

/// A name, a transaction's bytes, and the code and code space of its refusal.
type Case = (&'static str, Vec<u8>, (u32, &'static str));

fn cases(known: &Actor, cluster: &Cluster, elsewhere: &Cluster) -> Vec<Case> {
    let new = || Actor::new(&cluster.genesis);
    let good = new().create().to_bytes();
    let (mut flipped, mut longer) = (good.clone(), good.clone());
    // The signature ends before an empty list of endorsements.
    flipped[good.len() - 2] ^= 1;
    longer.push(0);
    let of = |transaction: Transaction| transaction.to_bytes();
    vec![
        ("nothing", Vec::new(), (1, "malformed")),
        ("noise", vec![0xa0; 40], (1, "malformed")),
        (
            "cut short",
            good[..good.len() - 1].to_vec(),
            (1, "malformed"),
        ),
        ("something behind it", longer, (1, "malformed")),
        ("unsigned", new().unsigned(), (1, "malformed")),
        (
            "a flipped bit in the signature",
            flipped,
            (2, "bad_signature"),
        ),
        (
            "signed by another",
            of(known.signed_by_another()),
            (2, "bad_signature"),
        ),
        (
            "an unknown author",
            of(new().deactivate(1)),
            (2, "author_unknown"),
        ),
        (
            "not a trustee",
            of(known.remove_validator(1, "node-1")),
            (2, "not_allowed"),
        ),
        ("a used nonce", of(known.deactivate(0)), (2, "nonce_used")),
        (
            "too large an object",
            of(new().create_with(9_000)),
            (2, "content_refused"),
        ),
        (
            "another network's",
            of(Actor::new(&elsewhere.genesis).create()),
            (2, "wrong_network"),
        ),
    ]
}

#[tokio::test]
async fn what_is_not_right_is_refused_at_the_engines_own_door_with_its_reason() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::start(1).await;
    let (told, elsewhere) = (Told::default(), Cluster::create(1, &[]));
    let known = told.write(&cluster, 0).await;
    let head = cluster.agree().await;
    let rpc = cluster.rpc(0);
    let mut wrong = Vec::new();
    for (what, bytes, (code, space)) in cases(&known, &cluster, &elsewhere) {
        let answer = hand_in(rpc, &bytes);
        let result = &answer["result"];
        let reason = result["log"].as_str().unwrap_or_default();
        if result["code"] != code || result["codespace"] != space || reason.is_empty() {
            wrong.push(format!("{what}: {answer}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // A transaction above the size limit does not even reach the machine.
    let oversized = hand_in(rpc, &vec![0; 257 * 1024]);
    let reason = oversized["error"]["data"].as_str().unwrap();
    assert!(reason.contains("Tx too large"), "{oversized}");
    assert_eq!(
        call(rpc, "num_unconfirmed_txs", json!({}))["result"]["n_txs"],
        "0"
    );

    // None of them is in a block: the log and the state have not changed.
    let state = |head: &str| {
        head.split(' ')
            .skip(1)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(state(&cluster.agree().await), state(&head));
    told.is_true_on_all(&cluster).await;
    cluster.stop().await;
}

#[tokio::test]
async fn a_genesis_that_does_not_match_is_refused_with_the_reason() {
    let _turn = TURN.lock().await;
    let another = Cluster::create(1, &[]);
    let theirs = another.home(0);

    // Our genesis is of another network than the engine's.
    let cluster = Cluster::create(1, &[]);
    let own = cluster.home(0).join("genesis.cbor");
    std::fs::copy(theirs.join("genesis.cbor"), &own).unwrap();
    cluster.restart(0).await;
    let node = cluster.node(0);
    let reason = "the registry's genesis in the engine's genesis differs from this node's";
    until("the engine is refused", async || node.said(reason)).await;
    until("it is its trouble", async || {
        node.ask("trouble").await.unwrap().contains(reason)
    })
    .await;
    cluster.stop().await;

    // The engine's genesis names other validators.
    let cluster = Cluster::create(1, &[]);
    let file = cluster.home(0).join("engine/config/genesis.json");
    let mut genesis: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    genesis["validators"][0]["power"] = json!("11");
    std::fs::write(&file, genesis.to_string()).unwrap();
    cluster.restart(0).await;
    let node = cluster.node(0);
    let reason = "the validators in the engine's genesis differ from the registry's";
    until("the engine is refused", async || node.said(reason)).await;
    cluster.stop().await;

    // The ledger is of another network.
    another.restart(0).await;
    let told = Told::default();
    told.write(&another, 0).await;
    another.shut_down(0).await;
    let cluster = Cluster::create(1, &[]);
    let own = cluster.home(0).join("ledger.db");
    std::fs::copy(theirs.join("ledger.db"), own).unwrap();
    let refused = cluster.try_start(0).await.unwrap_err();
    assert!(
        refused.contains("the ledger belongs to another network"),
        "{refused}"
    );
}

/// Submits bytes as a transaction, as our half does.
fn hand_in(rpc: SocketAddr, bytes: &[u8]) -> Value {
    call(
        rpc,
        "broadcast_tx_sync",
        json!({ "tx": base64_encode(bytes) }),
    )
}

pub fn call(rpc: SocketAddr, method: &str, parameters: Value) -> Value {
    try_call(rpc, method, parameters).unwrap()
}

/// Calls an engine that may be about to end.
#[allow(
    clippy::disallowed_methods,
    reason = "a stranger who has got at the engine's door"
)]
pub fn try_call(rpc: SocketAddr, method: &str, parameters: Value) -> std::io::Result<Value> {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": parameters });
    let body = body.to_string();
    let mut stream = TcpStream::connect(rpc)?;
    let head = format!(
        "POST / HTTP/1.0\r\nHost: {rpc}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body);
    Ok(serde_json::from_str(body.unwrap_or_default())?)
}
