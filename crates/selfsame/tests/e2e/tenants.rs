//! An organisation moves from an instance with a file to one with PostgreSQL and back, by commands, and works there.

use std::path::Path;

use serde_json::{Value, json};

use crate::instance::{Instance, free_port};
use crate::postgres_server::Server;
use crate::rig::{
    World, answer, get, items, person, post, put, run, selfsame, succeeded, take, text,
};

/// Runs a `selfsame tenant` command; returns its exit code, its JSON and its complaints.
fn tenant(arguments: &[&str], key: &Path, kept: &[&str]) -> (i32, Value, String) {
    let mut command = selfsame();
    command.arg("tenant").args(arguments).args(kept);
    command.arg("--json").arg("--key-file").arg(key);
    let (code, printed, complaints) = run(&mut command);
    let printed = serde_json::from_str(&printed).unwrap_or_default();
    (code, printed, complaints)
}

fn set_state(instance: &Instance, state: &str) {
    let path = "/api/organisations/acme";
    let change = json!({"state": state});
    let changed = instance.operator().send("PATCH", path, Some(&change));
    succeeded(path, &changed.unwrap());
}

/// An instance that was started once.
fn started_once(data: &Path, port: u16, arguments: &[&str]) {
    let mut instance = Instance::start(data, port, arguments);
    instance.ready();
}

/// The organisation issues, verifies and revokes.
fn works(instance: &Instance, name: &str) {
    let operator = instance.operator();
    let person = person(&operator.with_token(""), name);
    let offer = json!({"type": "immunization", "examples": true});
    take(
        &person,
        &post(&operator, "/o/acme/api/issuer/offers", &offer),
    );
    let asked = json!({"type": "immunization"});
    let asked = post(&operator, "/o/acme/api/verifier/requests", &asked);
    answer(&person, &asked);
    let path = format!(
        "/o/acme/api/verifier/requests/{}?wait=20",
        text(&asked, "id")
    );
    assert_eq!(get(&operator, &path)["verdict"]["outcome"], "valid");
}

fn issued(instance: &Instance) -> Vec<Value> {
    let listed = get(&instance.operator(), "/o/acme/api/issuer/credentials");
    items(&listed).to_vec()
}

#[test]
fn an_organisation_moves_to_postgresql_and_back_and_issues_revokes_and_verifies_there() {
    let mut world = World::start(&[]);
    let acme = json!({"name": "acme", "title": "Acme", "did_method": "jwk"});
    post(&world.operator, "/api/organisations", &acme);
    works(&world.instance, "anna");
    let key = world.file("move.key");
    crate::rig::write_private(&key, "rain on the roof");
    let folder = key.parent().unwrap().to_owned();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (first, file, back) = (path("data"), path("acme.tenant"), path("back.tenant"));
    let export = |to: &str, kept: &[&str]| tenant(&["export", "acme", "--to", to], &key, kept);

    let (code, _, complaints) = export(&file, &["--data", &first]);
    assert_eq!(code, 2, "another process has the file open: {complaints}");
    let port = world.instance.origin.port().unwrap();
    world.instance.kill();
    let (code, _, complaints) = export(&file, &["--data", &first]);
    assert!(code == 2 && complaints.contains("suspend"), "{complaints}");
    assert!(!Path::new(&file).exists());
    let mut instance = Instance::start(Path::new(&first), port, &[]);
    instance.ready();
    set_state(&instance, "suspended");
    let before = issued(&instance);
    drop(instance);
    let (code, left, complaints) = export(&file, &["--data", &first]);
    assert_eq!(code, 0, "{complaints}");

    let (second, url) = (path("second"), Server::shared().fresh());
    started_once(Path::new(&second), port, &["--database", &url]);
    let there = ["--data", &second, "--database", &url];
    let (code, arrived, complaints) = tenant(&["import", &file], &key, &there);
    assert_eq!(
        (code, &arrived["complete"]),
        (0, &json!(true)),
        "{complaints}"
    );
    assert_eq!(arrived["hash"], left["hash"]);
    assert_eq!(arrived["kinds"], left["kinds"]);
    let (code, _, complaints) = tenant(&["import", &file], &key, &there);
    assert!(code == 2 && complaints.contains("already"), "{complaints}");
    let mut instance = Instance::start(Path::new(&second), port, &["--database", &url]);
    instance.ready();
    assert_eq!(issued(&instance), before);
    set_state(&instance, "active");
    let revoked = format!(
        "/o/acme/api/issuer/credentials/{}/status",
        text(&before[0], "id")
    );
    put(
        &instance.operator(),
        &revoked,
        &json!({"status": "revoked"}),
    );
    works(&instance, "berta");
    let places: Vec<Value> = issued(&instance)
        .iter()
        .map(|one| one["index"].clone())
        .collect();
    assert_eq!(places.len(), 2, "{places:?}");
    set_state(&instance, "suspended");
    drop(instance);

    let (code, left, complaints) = export(&back, &there);
    assert_eq!(code, 0, "{complaints}");
    let third = path("third");
    started_once(Path::new(&third), port, &[]);
    let (code, arrived, complaints) = tenant(&["import", &back], &key, &["--data", &third]);
    assert_eq!((code, &arrived["hash"]), (0, &left["hash"]), "{complaints}");
    let mut instance = Instance::start(Path::new(&third), port, &[]);
    instance.ready();
    set_state(&instance, "active");
    let states: Vec<String> = issued(&instance)
        .iter()
        .map(|one| text(one, "status"))
        .collect();
    assert!(states.contains(&"revoked".to_owned()), "{states:?}");
    works(&instance, "clara");
}

#[test]
fn an_organisation_that_is_known_by_a_registry_moves_with_its_did_and_acts_under_it_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let register = ["--role", "registry"];
    let mut registry = Instance::start(&path("registry"), free_port(), &register);
    registry.ready();
    let token = registry.token_file();
    let elsewhere = [
        "--role",
        "issuer,wallet,verifier",
        "--registry",
        registry.origin.as_str(),
        "--registry-token-file",
        token.to_str().unwrap(),
    ];
    let (port, first, second) = (free_port(), path("first"), path("second"));
    let mut instance = Instance::start(&first, port, &elsewhere);
    instance.ready();
    let acme = json!({"name": "acme", "title": "Acme", "did_method": "selfsame"});
    let acme = post(&instance.operator(), "/api/organisations", &acme);
    let did = text(&acme, "did");
    assert!(did.starts_with("did:selfsame:"), "{did}");
    works(&instance, "anna");
    let before = issued(&instance);
    set_state(&instance, "suspended");
    drop(instance);

    let (key, file) = (path("move.key"), path("acme.tenant"));
    crate::rig::write_private(&key, "rain on the roof");
    let file = file.to_str().unwrap();
    let (first, there) = (first.to_str().unwrap(), second.to_str().unwrap());
    let export = ["export", "acme", "--to", file];
    let (code, _, complaints) = tenant(&export, &key, &["--data", first]);
    assert_eq!(code, 0, "{complaints}");
    started_once(&second, port, &elsewhere);
    let (code, _, complaints) = tenant(&["import", file], &key, &["--data", there]);
    assert_eq!(code, 0, "{complaints}");

    let mut instance = Instance::start(&second, port, &elsewhere);
    instance.ready();
    set_state(&instance, "active");
    let operator = instance.operator();
    let moved = get(&operator, "/api/organisations/acme");
    assert_eq!(text(&moved, "did"), did);
    assert_eq!(issued(&instance), before);
    works(&instance, "berta");
    // What it publishes in the registry is still accepted there: a delegation under its DID, which only its key can sign.
    let delegation = json!({"to": did, "action": "revoke", "types": ["prescription"]});
    let path = "/o/acme/api/issuer/delegations";
    post(&operator, path, &delegation);
    assert_eq!(items(&get(&operator, path)).len(), 1);
    let resolved = registry
        .operator()
        .send("GET", &format!("/1.0/identifiers/{did}"), None);
    assert!(resolved.unwrap().is_success());
}
