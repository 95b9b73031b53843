//! What validators did against the protocol, as an operator sees it.

use serde_json::json;
use url::Url;

use crate::http::Api;
use crate::processes::{Network, ends_with, selfsame};
use crate::rig::get;
use crate::turn;

#[test]
fn a_double_vote_of_before_a_start_stands_in_the_nodes_answer_its_figures_and_its_status() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let one = ["--validators", "1"];
    let mut network = Network::make(&folder.path().join("network"), &one);
    let found = json!({
        "validator": "node-7", "kind": "double_vote", "count": 3, "first_height": 5, "last_height": 9,
    });
    let kept = json!({ "up_to": 11, "validators": { "node-7": &found } });
    let home = network.home(0);
    std::fs::write(home.join("misbehaviour.json"), kept.to_string()).unwrap();
    network.start();

    let token = std::fs::read_to_string(home.join("operator-token")).unwrap();
    let operator = Api::new(&Url::parse(&network.url(0)).unwrap(), token.trim());
    let said = get(&operator, "/api/registry/node");
    assert_eq!(said["misbehaviour"], json!([found]));
    let figures = operator.send("GET", "/metrics", None).unwrap();
    let figures = String::from_utf8(figures.body).unwrap();
    let figure = r#"selfsame_registry_misbehaviour_total{validator="node-7",kind="double_vote"} 3"#;
    assert!(figures.contains(figure), "{figures}");
    let mut status = selfsame();
    let said = ends_with(1, status.args(["registry", "status"]).arg(&home));
    let words = "validator node-7 voted for two blocks at one height, last at height 9 (3 times)";
    assert!(said.contains(words), "{said}");
    network.stop();
}
