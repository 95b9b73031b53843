//! Nodes of a network, each a process, and an instance elsewhere that writes to them.

use crate::instance::{Instance, free_port};
use crate::processes::{Network, ends_with, selfsame, until, walks};
use crate::turn;

#[test]
fn an_instance_elsewhere_walks_the_scenario_while_a_node_is_killed_and_comes_back() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let mut network = Network::make(&folder.path().join("network"), &[]);
    network.start();
    let settings = folder.path().join("settings.toml");
    let text = network.settings(&[0, 1, 2, 3], &network.folder.join("trust-root"));
    std::fs::write(&settings, text).unwrap();
    let mut instance = Instance::start(
        &folder.path().join("data"),
        free_port(),
        &["--config", settings.to_str().unwrap()],
    );
    instance.ready();
    walks(instance.origin.as_str(), &instance.token_file());

    network.nodes[3].take().unwrap().kill();
    for _ in 0..3 {
        walks(instance.origin.as_str(), &instance.token_file());
    }
    let shown = network.status();
    assert_eq!(shown["nodes"][3]["verified"], false, "{shown}");
    assert_eq!(shown["nodes"][0]["verified"], true, "{shown}");

    network.start_node(3);
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
