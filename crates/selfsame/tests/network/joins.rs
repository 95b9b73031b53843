//! A fifth node joins by a snapshot, becomes a validator, and is needed from then on; with the output of `status`
//! meanwhile.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use url::Url;

use crate::http::Api;
use crate::instance::free_port;
use crate::processes::{Network, ends_with, processes_of, selfsame, signal, until, walks};
use crate::rig::{get, post, run};
use crate::turn;

#[test]
fn a_fifth_node_joins_by_a_snapshot_and_carries_the_network_when_an_old_one_is_lost() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let (mut network, instance) = Network::with_instance(folder.path(), &[1, 2, 3]);
    let (origin, token) = (instance.origin.to_string(), instance.token_file());
    walks(&origin, &token);

    let (fifth, of) = (network.home(4), network.home(0));
    let join = |from: &[String]| {
        let mut join = selfsame();
        join.args(["registry", "join"])
            .arg(&fifth)
            .arg("--of")
            .arg(&of);
        for url in from {
            join.args(["--from", url]);
        }
        join
    };
    let two = [network.url(0), network.url(1)];
    // A single node could show false blocks; an address without a node shows nothing.
    let said = ends_with(2, &mut join(&two[..1]));
    assert!(said.contains("from at least two nodes"), "{said}");
    let twice = [two[0].clone(), two[0].clone()];
    let said = ends_with(2, &mut join(&twice));
    assert!(said.contains("from at least two nodes"), "{said}");
    assert!(!fifth.exists(), "nothing was made");
    let said = ends_with(
        2,
        &mut join(&[two[0].clone(), format!("http://localhost:{}/", free_port())]),
    );
    assert!(said.contains("does not answer"), "{said}");
    let said = ends_with(0, &mut join(&two));
    assert!(said.contains("selfsame registry admit NODE "), "{said}");
    // The node that it was made from knows it; the others are told about it.
    (1..4).for_each(|node| network.admit(node, 4));
    network.join(4);
    // A snapshot needs two further blocks; it is available sooner if the network writes.
    until("the newcomer has taken the ledger", || {
        walks(&origin, &token);
        network.status()["nodes"][4]["verified"] == true
    });
    until("it has what the others have", || {
        let nodes = network.status()["nodes"].clone();
        nodes[4]["transactions"] == nodes[0]["transactions"]
    });
    // Its log begins with the first transaction, but its engine with a later block, so the log came by a snapshot.
    let token_of_fifth = std::fs::read_to_string(fifth.join("operator-token")).unwrap();
    let newcomer = Api::new(&Url::parse(&network.url(4)).unwrap(), &token_of_fifth);
    let first = get(&newcomer, "/api/registry/entries?first=1&count=1");
    assert_eq!(first["items"][0]["seq_no"], 1);
    let first = json!({"jsonrpc": "2.0", "id": 1, "method": "commit", "params": {"height": "1"}});
    let first = post(&newcomer, "/registry/engine", &first);
    assert!(first["error"].is_object(), "{first}");
    let said = ends_with(2, &mut join(&two));
    assert!(said.contains("already has blocks"), "{said}");

    let trustee = network.folder.join("trustee.key");
    add_validator(&fifth, (&of, &two[0]), &trustee, || walks(&origin, &token));
    until("it signs", || network.signs("node-5"));

    // Four of five are needed: without the fifth node's vote nothing could be written.
    network.nodes[0].take().unwrap().kill();
    walks(&origin, &token);
    drop(instance);
    network.stop();
}

/// Adds a validator, while clients write. Three of four signatures complete a block, so the slowest validator is seen in
/// some blocks only. An idle network makes too few of them for `add-validator` to see it in time.
fn add_validator(newcomer: &Path, (of, node): (&Path, &str), trustee: &Path, write: impl Fn()) {
    let mut add = selfsame();
    add.args(["registry", "add-validator"]).arg(newcomer);
    add.arg("--key").arg(trustee).args(["--node", node]);
    let token_file = of.join("operator-token");
    let mut add = add.arg("--token-file").arg(token_file).spawn().unwrap();
    until("the command has seen all validators sign", || {
        write();
        add.try_wait().unwrap().is_some()
    });
    assert!(add.wait().unwrap().success());
}

#[test]
fn a_node_made_of_public_files_gets_and_hands_in_nothing_until_it_is_admitted() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let (mut network, instance) = Network::with_instance(folder.path(), &[0, 1, 2]);
    let (origin, token) = (instance.origin.to_string(), instance.token_file());
    walks(&origin, &token);

    // The public files of a node's folder are enough to make a node that knows all others.
    let public = folder.path().join("public");
    std::fs::create_dir_all(public.join("engine/config")).unwrap();
    for file in ["node.json", "genesis.cbor", "engine/config/genesis.json"] {
        std::fs::copy(network.home(0).join(file), public.join(file)).unwrap();
    }
    let mut join = selfsame();
    join.args(["registry", "join"]).arg(network.home(4));
    ends_with(0, join.arg("--of").arg(&public));
    network.join(4);
    let height = |network: &Network| network.status()["nodes"][4]["own"]["height"].as_u64();
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(15) {
        assert_eq!(height(&network), Some(0), "it has blocks");
        std::thread::sleep(Duration::from_millis(500));
    }
    let log = std::fs::read_to_string(network.home(0).with_extension("log")).unwrap();
    assert!(
        log.contains("a node that is not admitted was refused"),
        "{log}"
    );

    // Its engine may have ended by now.
    network.admit(0, 4);
    network.nodes[4].take().unwrap().stop();
    network.start_node(4);
    until("it has blocks", || height(&network) > Some(0));
    drop(instance);
    network.stop();
}

#[test]
fn status_shows_each_node_with_its_height_and_why_one_does_not_take_part() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let mut network = Network::make(&folder.path().join("network"), &[]);
    network.start();
    until("nothing is wrong", || {
        network.status()["wrong"] == json!([])
    });
    // A node may answer late, and an engine may seem healthy until it ends again.
    let says = |network: &Network, code, words: &str| {
        until(words, || {
            let mut status = selfsame();
            status.args(["registry", "status"]);
            let (ended, said, _) = run(status.args((0..4).map(|node| network.home(node))));
            ended == code && said.contains(words)
        });
    };
    says(&network, 0, "blocks stored");

    // An engine that can't start again: its settings are damaged while it runs, then it is killed.
    let engine = network.home(1).join("engine");
    let settings = engine.join("config/config.toml");
    let kept = std::fs::read(&settings).unwrap();
    std::fs::write(&settings, "no settings").unwrap();
    let engine = engine.display().to_string();
    let mut running = processes_of(&engine).into_iter();
    let (id, _) = running.find(|(_, line)| !line.starts_with("sh ")).unwrap();
    signal(id, "-KILL");
    let told = || network.status()["nodes"][1]["own"]["trouble"].clone();
    until("its operator is told why", || {
        told().as_str().is_some_and(|why| why.contains("toml"))
    });
    says(&network, 1, "it does not take part: the engine ended");
    assert!(network.status()["nodes"][1]["own"]["height"].as_u64() > Some(0));

    std::fs::write(&settings, kept).unwrap();
    until("it takes part again", || {
        network.status()["wrong"] == json!([])
    });
    // A stopped node is a problem too, and the others are not.
    network.nodes[2].take().unwrap().kill();
    says(&network, 1, "node-3: it does not answer");
    network.stop();
}
