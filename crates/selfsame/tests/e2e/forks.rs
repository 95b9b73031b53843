//! Two histories of one registry: an instance's data were copied, and both copies continued.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::http::Reply;
use crate::instance::{Instance, free_port};
use crate::rig::{World, post, run, selfsame, text};

fn copied(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copied(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).unwrap()),
        }
    }
}

#[track_caller]
fn says_two_histories(reply: &Reply, nodes: &[&Instance; 2]) {
    assert_eq!(reply.status, 503, "{reply:?}");
    assert_eq!(reply.header("retry-after"), Some("3600"));
    let said = String::from_utf8_lossy(&reply.body);
    assert!(said.contains("signed two histories"), "{said}");
    for node in nodes {
        assert!(
            said.contains(node.origin.as_str().trim_end_matches('/')),
            "{said}"
        );
    }
}

#[test]
fn who_reads_a_registry_of_two_histories_is_told_with_503_until_its_operator_settles_which_holds() {
    let mut world = World::start(&[]);
    let new = json!({"method": "selfsame"});
    let did = text(&post(&world.operator, "/api/dids", &new), "did");
    world.instance.kill();
    let second = world.file("copy");
    copied(&world.file("data"), &second);
    let mut one = Instance::start(&world.file("data"), free_port(), &[]);
    let mut other = Instance::start(&second, free_port(), &[]);
    for instance in [&mut one, &mut other] {
        instance.ready();
        post(&instance.operator(), "/api/dids", &new);
    }

    let mut status = selfsame();
    status.args(["registry", "status", one.origin.as_str()]);
    status.arg(other.origin.as_str());
    let (code, said, _) = run(&mut status);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("prove two different histories"), "{said}");

    let file = world.file("reader.toml");
    std::fs::write(&file, settings("", &[&one, &other])).unwrap();
    let arguments = ["--role", "wallet", "--config", file.to_str().unwrap()];
    let data = world.file("reader");
    let mut reader = Instance::start(&data, free_port(), &arguments);
    reader.ready();
    let nodes = [&one, &other];
    let path = format!("/1.0/identifiers/{did}");
    let operator = reader.operator();
    let first = operator.send("GET", &path, None).unwrap();
    says_two_histories(&first, &nodes);
    assert_eq!(first.json()["didResolutionMetadata"]["retryAfter"], 3_600);
    // The page shows the same, and nothing is written.
    let page = operator.send("GET", &format!("/resolver?did={did}"), None);
    let page = page.unwrap();
    let said = String::from_utf8_lossy(&page.body);
    assert!(said.contains("signed two histories"), "{said}");
    let written = operator.send("POST", "/api/dids", Some(&new)).unwrap();
    says_two_histories(&written, &nodes);
    let log = reader.log();
    assert!(log.contains("signed two histories"), "{log}");
    assert!(log.contains("height "), "both notes are in it: {log}");
    assert!(log.contains("no network is pinned"), "{log}");
    let mut resolve = selfsame();
    resolve.args(["did", "resolve", &did, "--instance", reader.origin.as_str()]);
    let (code, _, complaints) = run(&mut resolve);
    assert_eq!(code, 2, "{complaints}");
    assert!(complaints.contains("signed two histories"), "{complaints}");

    // The reader remembers the fork: after a restart it trusts neither history alone.
    reader.kill();
    drop(one);
    let mut reader = Instance::start(&data, free_port(), &arguments);
    reader.ready();
    let again = reader.operator().send("GET", &path, None).unwrap();
    assert_eq!(again.status, 503, "{again:?}");
    reader.kill();

    // The operator decides which history holds, as docs/network.md says.
    let settled = world.file("settled");
    is_settled(&settled, &other);
    let pin = "trust_root = \"settled\"\n";
    std::fs::write(&file, settings(pin, &[&other])).unwrap();
    let before = reader.log().len();
    let mut reader = Instance::start(&data, free_port(), &arguments);
    reader.ready();
    let operator = reader.operator();
    let resolved = operator.send("GET", &path, None).unwrap();
    assert_eq!(resolved.status, 200, "{resolved:?}");
    let made = text(&post(&operator, "/api/dids", &new), "did");
    let log = reader.log().split_off(before);
    assert!(log.contains("pinned the registry beyond its fork"), "{log}");
    assert!(!log.contains("no network is pinned"), "{log}");
    reader.kill();

    // The other history is still refused.
    let mut one = Instance::start(&world.file("data"), free_port(), &[]);
    one.ready();
    std::fs::write(&file, settings(pin, &[&one])).unwrap();
    let mut reader = Instance::start(&data, free_port(), &arguments);
    reader.ready();
    for did in [did, made] {
        let path = format!("/1.0/identifiers/{did}");
        let refused = reader.operator().send("GET", &path, None).unwrap();
        assert_eq!(refused.status, 503, "{refused:?}");
        let said = String::from_utf8_lossy(&refused.body);
        assert!(said.contains("signed two histories"), "{said}");
    }
}

/// The settings file of a reader of these nodes.
fn settings(pin: &str, nodes: &[&Instance]) -> String {
    let mut settings = format!("[registry]\n{pin}");
    for node in nodes {
        let (url, token) = (&node.origin, node.token_file());
        settings.push_str(&format!(
            "[[registry.nodes]]\nurl = \"{url}\"\ntoken_file = {token:?}\n"
        ));
    }
    settings
}

/// Advances a trust root to a checkpoint that a node signs from now on.
fn is_settled(file: &Path, node: &Instance) {
    // A checkpoint signed in the second in which the fork was found may be from either history.
    std::thread::sleep(Duration::from_secs(4));
    let mut advance = selfsame();
    advance.args(["registry", "status", node.origin.as_str(), "--advance"]);
    advance.arg("--trust-root").arg(file);
    let (code, said, complaints) = run(&mut advance);
    assert_eq!(code, 0, "{said}{complaints}");
}
