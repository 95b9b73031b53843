//! The pages and von-network's addresses on a node of a network, whose proofs need no trust in the node.

use serde_json::{Value, json};
use url::Url;

use crate::http::Api;
use crate::processes::{Network, ends_with, selfsame, until};
use crate::rig::{get, post, text};
use crate::turn;

fn page(node: &Api, path: &str) -> String {
    let reply = node.send("GET", path, None).unwrap();
    let body = String::from_utf8(reply.body.clone()).unwrap();
    assert!(reply.is_success(), "{path}: {} {body}", reply.status);
    body
}

/// The validators that have not signed the newest checkpoint, by von-network's addresses.
fn missing(node: &Api) -> Vec<String> {
    let status = get(node, "/status?validators=1");
    let all = status["validators"].as_array().unwrap().iter();
    let without = all.filter(|one| !one["error"].is_null());
    without.map(Value::to_string).collect()
}

#[test]
fn a_nodes_pages_show_the_validators_and_who_is_gone_and_prove_what_they_show() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let (mut network, instance) = Network::with_instance(folder.path(), &[0, 1, 2, 3]);
    let operator = instance.operator();
    let new = json!({"method": "selfsame"});
    let did = text(&post(&operator, "/api/dids", &new), "did");

    let node = Api::new(&Url::parse(&network.url(1)).unwrap(), "");
    let object = format!("/registry/object?id={did}");
    until(
        "the node that is asked has heard of it, and it is signed",
        || page(&node, &object).contains("Present, and proven"),
    );
    let absent = page(&node, "/registry/object?id=resource/none");
    assert!(absent.contains("Absent, and proven"), "{absent}");
    // Found by a text search, and among the domain ledger's operations.
    let id = did.rsplit(':').next().unwrap();
    until("the search finds it", || {
        let found = page(&node, "/registry/search?q=create");
        let listed = get(&node, "/ledger/domain?query=create");
        found.contains(id) && listed.to_string().contains(id)
    });
    let genesis = page(&node, "/genesis");
    assert!(
        genesis.contains(network.made["network"].as_str().unwrap()),
        "{genesis}"
    );
    assert_eq!(get(&node, "/status")["ready"], true);
    // The instance that uses the network resolves the DID with the time of the checkpoint.
    let resolved = get(&operator, &format!("/1.0/identifiers/{did}"));
    let as_of = &resolved["didResolutionMetadata"]["asOf"];
    assert!(as_of["height"].as_u64() >= Some(1), "{resolved}");

    let validators = page(&node, "/registry/validators");
    for name in ["node-1", "node-2", "node-3", "node-4"] {
        assert!(
            validators.contains(&format!("<b>{name}</b>")),
            "{validators}"
        );
    }
    // A node has no backup: a restored node could vote twice.
    let mut backup = selfsame();
    backup.args(["backup", "--instance", &network.url(1), "--token-file"]);
    let said = ends_with(2, backup.arg(network.home(1).join("operator-token")));
    assert!(said.contains("could vote twice"), "{said}");
    assert!(said.contains("selfsame registry join"), "{said}");

    network.nodes[3].take().unwrap().kill();
    // The others sign without it, and the pages show that.
    until("it is shown who is gone", || {
        // A write may now take longer than the client waits for it.
        operator.send("POST", "/api/dids", Some(&new)).unwrap();
        let gone = missing(&node);
        let shown = page(&node, "/registry/validators");
        gone.len() == 1
            && gone[0].contains("node-4")
            && shown.contains("3 of 4 signed the newest checkpoint")
    });
    drop(instance);
    network.stop();
}
