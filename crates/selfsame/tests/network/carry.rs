//! A registry exported to a file, and an instance's own registry carried over into a network.

use std::path::Path;

use serde_json::{Value, json};
use url::Url;

use crate::http::Api;
use crate::instance::{Instance, free_port};
use crate::processes::{self, Network, ends_with, selfsame, until, walks};
use crate::rig::{get, post, text};
use crate::turn;

/// The numbers and hashes of a registry's transactions.
fn entries(registry: &Api) -> Vec<Value> {
    let listed = get(registry, "/api/registry/entries?first=1&count=200");
    let entries = listed["items"].as_array().unwrap().iter();
    entries
        .map(|entry| {
            json!([
                entry["seq_no"],
                entry["hash"],
                entry["height"],
                entry["time"]
            ])
        })
        .collect()
}

#[test]
fn what_is_exported_is_imported_to_the_same_app_hash_and_an_altered_export_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut instance = Instance::start(&data, free_port(), &[]);
    instance.ready();
    walks(instance.origin.as_str(), &instance.token_file());
    drop(instance);

    let file = folder.path().join("backup");
    let mut export = selfsame();
    export.args(["registry", "export", "--json"]).arg(&data);
    let written = processes::json(export.arg(&file));
    assert!(written["transactions"].as_u64() > Some(1), "{written}");
    let import = |file: &Path, name: &str| {
        let mut import = selfsame();
        import.args(["registry", "import", "--json"]).arg(file);
        import.arg(folder.path().join(name));
        import
    };
    let read = processes::json(&mut import(&file, "restored"));
    assert_eq!(read, written);
    let said = ends_with(2, &mut import(&file, "restored"));
    assert!(said.contains("a ledger already"), "{said}");

    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let altered = folder.path().join("altered");
    std::fs::write(&altered, bytes).unwrap();
    let said = ends_with(2, &mut import(&altered, "refused"));
    assert!(said.contains("the export is refused"), "{said}");
    assert!(!folder.path().join("refused/ledger.sqlite").exists());
}

/// A fifth node starts from the network's beginning, and catches up with the others.
fn joins(network: &mut Network) {
    let (fifth, of) = (network.home(4), network.home(0));
    let mut added = selfsame();
    added.args(["registry", "add-validator", "--force"]);
    added.arg(&fifth);
    added.arg("--of").arg(&of).arg("--node").arg(network.url(0));
    added.arg("--key").arg(network.folder.join("trustee.key"));
    ends_with(0, added.arg("--token-file").arg(of.join("operator-token")));
    let mut import = selfsame();
    import.args(["registry", "import"]);
    import.arg(network.folder.join("carried.selfsame"));
    ends_with(0, import.arg(&fifth));
    network.join(4);
}

/// What a stopped node exports, which is then imported under the network's trust root.
fn exported(network: &Network, folder: &Path) -> Value {
    let file = folder.join("of-network");
    let mut export = selfsame();
    export
        .args(["registry", "export", "--json"])
        .arg(network.home(2));
    let written = processes::json(export.arg(&file));
    let mut import = selfsame();
    import.args(["registry", "import", "--json", "--trust-root"]);
    import.arg(network.folder.join("trust-root")).arg(&file);
    let read = processes::json(import.arg(folder.join("restored")));
    assert_eq!(read, written);
    written
}

#[test]
fn an_instances_own_registry_goes_on_in_a_network_number_by_number() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let (data, port) = (folder.path().join("data"), free_port());
    let mut instance = Instance::start(&data, port, &[]);
    instance.ready();
    walks(instance.origin.as_str(), &instance.token_file());
    let (status, before) = (
        get(&instance.operator(), "/api/status"),
        entries(&instance.operator()),
    );
    drop(instance);

    let from = ["--from", data.to_str().unwrap()];
    let mut network = Network::make(&folder.path().join("network"), &from);
    assert_eq!(network.made["network"], status["network"]);
    // Only one of the two may continue the log.
    let mut up = selfsame();
    let said = ends_with(
        2,
        up.args(["up", "--listen", "127.0.0.1:0", "--data"])
            .arg(&data),
    );
    assert!(said.contains("has moved to a network"), "{said}");

    network.start();
    let settings = folder.path().join("settings.toml");
    let root = network.folder.join("trust-root");
    std::fs::write(&settings, network.settings(&[0, 1, 2, 3], &root)).unwrap();
    let mut instance = Instance::start(&data, port, &["--config", settings.to_str().unwrap()]);
    instance.ready();
    assert_eq!(
        get(&instance.operator(), "/api/status")["did"],
        status["did"]
    );
    walks(instance.origin.as_str(), &instance.token_file());
    let new = json!({"method": "selfsame"});
    let did = text(&post(&instance.operator(), "/api/dids", &new), "did");
    assert!(
        did.contains(network.made["network"].as_str().unwrap()),
        "{did}"
    );
    let token = std::fs::read_to_string(network.home(0).join("operator-token")).unwrap();
    let node = Api::new(&Url::parse(&network.url(0)).unwrap(), &token);
    // Another node may have accepted the write, which this one receives later.
    until("the network writes on", || {
        entries(&node).len() > before.len() + 1
    });
    let after = entries(&node);
    assert_eq!(after[..before.len()], before);
    drop(instance);

    joins(&mut network);

    // A node's log can be exported too, with the change of validators in it.
    until("all have the same", || {
        let shown = network.status();
        let nodes = shown["nodes"].as_array().unwrap().iter();
        let sizes: Vec<_> = nodes.map(|node| node["transactions"].clone()).collect();
        sizes
            .iter()
            .all(|size| !size.is_null() && *size == sizes[0])
    });
    network.stop();
    let written = exported(&network, folder.path());
    // At least one more: the fifth validator.
    let least = u64::try_from(after.len()).unwrap();
    assert!(written["transactions"].as_u64() > Some(least), "{written}");
}
