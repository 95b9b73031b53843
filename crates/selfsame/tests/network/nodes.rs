//! Nodes of a network, each a process, and an instance elsewhere that writes to them.

use crate::instance::{Instance, free_port};
use crate::processes::{Network, ends_with, selfsame, until, walks};
use crate::turn;

#[test]
fn an_instance_elsewhere_walks_the_scenario_while_a_node_is_killed_and_comes_back() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let (mut network, instance) = Network::with_instance(folder.path(), &[0, 1, 2, 3]);
    walks(instance.origin.as_str(), &instance.token_file());

    // The instance calls the first node first.
    network.nodes[0].take().unwrap().kill();
    for _ in 0..3 {
        walks(instance.origin.as_str(), &instance.token_file());
    }
    // The other node may answer late, so the request is repeated.
    until(
        "the one that is gone is seen to be, and the other is not",
        || {
            let shown = network.status();
            assert_eq!(shown["nodes"][0]["verified"], false, "{shown}");
            shown["nodes"][1]["verified"] == true
        },
    );

    network.start_node(0);
    until("the node that was gone has what the others have", || {
        let shown = network.status();
        let heights: Vec<_> = shown["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|node| node["transactions"].clone())
            .collect();
        heights
            .iter()
            .all(|height| !height.is_null() && *height == heights[0])
    });
    network.stop();
}

#[test]
fn a_validator_is_added_and_another_removed_and_the_network_goes_on() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let mut network = Network::make(&folder.path().join("network"), &[]);
    network.start();
    let change = |arguments: &[&str]| {
        let mut change = selfsame();
        change.arg("registry").args(arguments).arg("--key");
        change.arg(network.folder.join("trustee.key")).arg("--node");
        change.arg(network.url(0)).arg("--token-file");
        change.arg(network.home(0).join("operator-token"));
        change
    };
    let (fifth, of) = (network.home(4), network.home(0));
    let adding = ["add-validator", fifth.to_str().unwrap()];
    let said = ends_with(2, &mut change(&adding));
    assert!(said.contains("registry join` creates it"), "{said}");
    assert!(!fifth.exists());
    let mut join = selfsame();
    join.args(["registry", "join"]).arg(&fifth);
    ends_with(0, join.arg("--of").arg(&of));
    // A node that does not run yet would count as lost.
    let said = ends_with(2, &mut change(&adding));
    assert!(said.contains("--force adds it at once"), "{said}");
    ends_with(0, change(&adding).arg("--force"));
    // Only a trustee may change validators: a checkpoint's key may not.
    let mut other = selfsame();
    other.args(["registry", "remove-validator", "node-1", "--key"]);
    other
        .arg(network.home(1).join("checkpoint.key"))
        .arg("--node");
    other.arg(network.url(0)).arg("--token-file");
    ends_with(2, other.arg(network.home(0).join("operator-token")));

    (1..4).for_each(|node| network.admit(node, 4));
    network.join(4);
    until("the fifth signs", || network.signs("node-5"));
    let mut removed = selfsame();
    removed.args(["registry", "remove-validator", "node-1", "--key"]);
    removed
        .arg(network.folder.join("trustee.key"))
        .arg("--node");
    removed.arg(network.url(1)).arg("--token-file");
    let said = ends_with(0, removed.arg(network.home(1).join("operator-token")));
    assert!(
        said.contains("selfsame registry admit HOME NAME@IP:PORT --remove"),
        "{said}"
    );
    until("the first is no validator any more", || {
        let shown = network.status();
        let set = shown["validators"].as_array().unwrap();
        set.len() == 4 && set.iter().all(|one| one["name"] != "node-1")
    });
    // Readers that advance their trust root with the network need not trust the first validator any more.
    let root = network.folder.join("trust-root");
    let before = std::fs::read(&root).unwrap();
    let mut advance = selfsame();
    advance.args(["registry", "status", "--advance", "--trust-root"]);
    ends_with(0, advance.arg(&root).arg(network.home(2)));
    assert_ne!(std::fs::read(&root).unwrap(), before);
    // With the fifth node, three of four remain after the first two are gone.
    network.nodes[0].take().unwrap().kill();
    network.nodes[1].take().unwrap().kill();
    let settings = folder.path().join("settings.toml");
    let text = network.settings(&[2, 3, 4], &network.folder.join("trust-root"));
    std::fs::write(&settings, text).unwrap();
    let data = folder.path().join("data");
    let mut instance = Instance::start(
        &data,
        free_port(),
        &["--config", settings.to_str().unwrap()],
    );
    instance.ready();
    walks(instance.origin.as_str(), &instance.token_file());
    network.stop();
}

#[test]
fn a_trust_root_of_another_network_is_refused_with_the_reason() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let mut network = Network::make(&folder.path().join("network"), &["--validators", "1"]);
    network.start();
    let other = Network::make(&folder.path().join("other"), &["--validators", "1"]);
    let root = other.folder.join("trust-root");
    let settings = folder.path().join("settings.toml");
    std::fs::write(&settings, network.settings(&[0], &root)).unwrap();
    let mut up = selfsame();
    up.args(["up", "--listen", "127.0.0.1:0", "--config"])
        .arg(&settings);
    let said = ends_with(2, up.arg("--data").arg(folder.path().join("data")));
    let (ours, theirs) = (&network.made["network"], &other.made["network"]);
    for network in [ours, theirs] {
        assert!(said.contains(network.as_str().unwrap()), "{said}");
    }

    let mut status = selfsame();
    status
        .args(["registry", "status", "--trust-root"])
        .arg(root);
    let said = ends_with(1, status.arg(network.home(0)));
    assert!(said.contains("not of"), "{said}");
    network.stop();
}

#[test]
fn without_the_engine_a_node_says_how_to_come_by_it() {
    let folder = tempfile::tempdir().unwrap();
    let network = Network::make(&folder.path().join("network"), &["--validators", "1"]);
    let mut node = selfsame();
    node.args(["registry", "node", "--engine", "/nowhere/cometbft"]);
    let said = ends_with(2, node.arg(network.home(0)));
    assert!(said.contains("cargo xtask cometbft"), "{said}");
    let mut node = selfsame();
    let said = ends_with(2, node.args(["registry", "node"]).arg(folder.path()));
    assert!(said.contains("hint: "), "{said}");
}

#[test]
fn a_network_of_nodes_far_apart_runs_with_the_times_of_the_engine_itself() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let wan = ["--profile", "wan"];
    let mut network = Network::make(&folder.path().join("network"), &wan);
    for node in 0..4 {
        let file = network.home(node).join("engine/config/config.toml");
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.contains("timeout_propose = \"3s\"\n"), "{text}");
    }
    network.start();
    network.stop();
}
