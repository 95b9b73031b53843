//! An organisation issues, asks, verifies and revokes by itself, beside the first one of its instance.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::rig::{World, answer, command, get, items, post, put, run, take, text};

/// A world with an organisation beside the first one, and what the command printed of it.
fn with_acme() -> (World, Value) {
    let world = World::start(&[]);
    let create = [
        "organisation",
        "create",
        "acme",
        "--title",
        "Acme Corporation",
        "--json",
    ];
    let (code, printed, complaints) = run(&mut command(&world, &create));
    assert_eq!(code, 0, "{printed}{complaints}");
    let created = serde_json::from_str(&printed).unwrap();
    (world, created)
}

fn offered(world: &World, organisation: &str) -> Value {
    let offer = json!({"type": "immunization", "examples": true});
    post(
        &world.operator,
        &format!("{organisation}/api/issuer/offers"),
        &offer,
    )
}

#[test]
fn a_credential_of_an_organisation_is_valid_to_its_verifier_until_it_revokes_it() {
    let (world, created) = with_acme();
    let person = world.person("maja");
    let offer = offered(&world, "/o/acme");
    let card = take(&person, &offer).remove(0);
    let asked = json!({"type": "immunization"});
    let asked = post(&world.operator, "/o/acme/api/verifier/requests", &asked);
    answer(&person, &asked);
    let request = format!("/o/acme/api/verifier/requests/{}", text(&asked, "id"));
    let verdict = get(&world.operator, &format!("{request}?wait=20"));
    assert_eq!(verdict["verdict"]["outcome"], "valid", "{verdict}");
    let issued = get(&world.operator, "/o/acme/api/issuer/credentials");
    let id = text(&items(&issued)[0], "id");
    let path = format!("/o/acme/api/issuer/credentials/{id}/status");
    put(&world.operator, &path, &json!({"status": "revoked"}));
    let began = Instant::now();
    let recheck = || post(&world.operator, &format!("{request}/recheck"), &json!({}));
    while recheck()["verdict"]["outcome"] != "revoked" {
        assert!(began.elapsed() < Duration::from_secs(60), "not revoked");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_ne!(
        created["did"],
        get(&world.operator, "/api/status")["did"],
        "{card}"
    );
}

#[test]
fn a_wallet_shows_the_logo_of_an_organisation_of_its_instance_beside_its_name() {
    let (world, _) = with_acme();
    let file = world.file("acme.svg");
    let drawing = r#"<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h9v9z"/></svg>"#;
    std::fs::write(&file, drawing).unwrap();
    let file = file.to_str().unwrap();
    for arguments in [["logo", "acme", file], ["colour", "acme", "#1f4e79"]] {
        let arguments = [&["organisation"], &arguments[..]].concat();
        let (code, printed, complaints) = run(&mut command(&world, &arguments));
        assert_eq!(code, 0, "{printed}{complaints}");
    }
    let shown = get(&world.operator, "/api/organisations/acme");
    assert_eq!(shown["colour"], "#1f4e79");
    let logo = text(&shown, "logo");
    let person = world.person("maja");
    let offer = json!({"offer": offered(&world, "/o/acme")["uri"]});
    let preview = post(&person, "/api/wallet/offers/preview", &offer);
    assert_eq!(preview["issuer_logo"], logo, "{preview}");
    let asked = json!({"type": "immunization", "client_id_prefix": "decentralized_identifier"});
    let asked = post(&world.operator, "/o/acme/api/verifier/requests", &asked);
    let request = json!({"request": asked["uri"]});
    let preview = post(&person, "/api/wallet/requests/preview", &request);
    assert_eq!(preview["verifier"]["logo"], logo, "{preview}");
    let wrong = ["organisation", "colour", "acme", "red"];
    let (code, _, complaints) = run(&mut command(&world, &wrong));
    assert!(
        code != 0 && complaints.contains("six hexadecimal digits"),
        "{complaints}"
    );
}

#[test]
fn the_first_organisation_neither_finds_nor_trusts_what_another_one_issued() {
    let (world, _) = with_acme();
    let person = world.person("maja");
    take(&person, &offered(&world, "/o/acme"));
    assert!(items(&get(&world.operator, "/api/issuer/credentials")).is_empty());
    let issued = get(&world.operator, "/o/acme/api/issuer/credentials");
    let id = text(&items(&issued)[0], "id");
    let path = format!("/api/issuer/credentials/{id}/status");
    let status = json!({"status": "revoked"});
    let reply = world.operator.send("PUT", &path, Some(&status)).unwrap();
    assert_eq!(reply.status, 404);
    let asked = json!({"type": "immunization"});
    let asked = post(&world.operator, "/api/verifier/requests", &asked);
    let given = json!({"request": asked["uri"], "policy": "newest"});
    drop(person.send("POST", "/api/wallet/requests/answer", Some(&given)));
    let state = get(
        &world.operator,
        &format!("/api/verifier/requests/{}", text(&asked, "id")),
    );
    // OpenID4VP leaves the request open for an answer by an issuer that is trusted.
    assert_eq!(state["state"], "fetched", "{state}");
    assert_eq!(state["refused"]["last"]["outcome"], "untrusted", "{state}");
}

#[test]
fn an_organisation_accepts_what_an_issuer_on_its_own_list_issued_and_no_more_than_its_types() {
    let (world, _) = with_acme();
    let person = world.person("maja");
    let card = take(&person, &offered(&world, "")).remove(0);
    let issuer = text(&card, "issuer");
    let issued = get(
        &world.operator,
        "/.well-known/openid-credential-issuer/issuer",
    );
    let configurations = &issued["credential_configurations_supported"];
    let vct = text(&configurations["immunization_sd_jwt_vc"], "vct");
    let trust = |arguments: &[&str]| {
        let arguments = [&["organisation", "trust", "acme"], arguments].concat();
        let (code, printed, complaints) = run(&mut command(&world, &arguments));
        assert_eq!(code, 0, "{printed}{complaints}");
        printed
    };
    let asked = || {
        let asked = json!({"type": "immunization"});
        let asked = post(&world.operator, "/o/acme/api/verifier/requests", &asked);
        let given = json!({"request": asked["uri"], "policy": "newest"});
        drop(person.send("POST", "/api/wallet/requests/answer", Some(&given)));
        let path = format!("/o/acme/api/verifier/requests/{}", text(&asked, "id"));
        get(&world.operator, &path)
    };
    let refused = asked();
    assert_eq!(
        refused["refused"]["last"]["outcome"], "untrusted",
        "{refused}"
    );
    let add = ["--add", &issuer, "--title", "The first one", "--type"];
    trust(&[&add[..], &["urn:example:other"]].concat());
    let refused = asked();
    assert_eq!(
        refused["refused"]["last"]["outcome"], "untrusted",
        "{refused}"
    );
    let printed = trust(&[&add[..], &[&vct]].concat());
    assert!(
        printed.contains("The first one") && printed.contains(&vct),
        "{printed}"
    );
    let answered = asked();
    assert_eq!(answered["verdict"]["outcome"], "valid", "{answered}");
    let shown = &answered["verdict"]["credentials"][0]["credential"];
    assert_eq!(shown["issuer_name"], "The first one", "{shown}");
    assert!(!trust(&["--remove", &issuer]).contains(&issuer));
    assert_eq!(asked()["refused"]["last"]["outcome"], "untrusted");
}

#[test]
fn a_suspended_organisation_is_verified_but_issues_nothing_until_it_is_reinstated() {
    let (world, _) = with_acme();
    let act = |verb: &str| {
        let (code, printed, complaints) =
            run(&mut command(&world, &["organisation", verb, "acme"]));
        assert_eq!(code, 0, "{printed}{complaints}");
        printed
    };
    let issue = [
        "issue",
        "immunization",
        "--examples",
        "--organisation",
        "acme",
    ];
    assert!(act("suspend").contains("suspended"));
    let (code, _, complaints) = run(&mut command(&world, &issue));
    assert_eq!(code, 2, "{complaints}");
    assert!(complaints.contains("suspended"), "{complaints}");
    let list = world
        .anybody()
        .send("GET", "/o/acme/status/0", None)
        .unwrap();
    assert_eq!(list.status, 200);
    assert!(act("reinstate").contains("active"));
    let (code, printed, complaints) = run(&mut command(&world, &issue));
    assert_eq!(code, 0, "{complaints}");
    assert!(printed.contains("openid-credential-offer://"), "{printed}");
}

#[test]
fn an_organisation_is_exported_and_erased_by_command() {
    let (world, _) = with_acme();
    let person = world.person("maja");
    take(&person, &offered(&world, "/o/acme"));
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("acme.ndjson");
    let file = file.to_str().unwrap();
    let export = ["organisation", "export", "acme", "--out", file];
    let (code, printed, complaints) = run(&mut command(&world, &export));
    assert_eq!(code, 0, "{printed}{complaints}");
    let exported = std::fs::read_to_string(file).unwrap();
    let lines: Vec<Value> = exported
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let has = |kind: &str| lines.iter().any(|line| line["kind"] == kind);
    assert!(
        has("header") && has("did") && has("credential"),
        "{exported}"
    );
    let end = json!({"kind": "end", "lines": lines.len()});
    assert_eq!(lines.last(), Some(&end));

    // Nothing is typed: standard input is empty.
    let (code, _, complaints) = run(&mut command(&world, &["organisation", "erase", "acme"]));
    assert_eq!(code, 2, "{complaints}");
    assert!(
        complaints.contains("1 credential that it issued is valid now"),
        "{complaints}"
    );
    let erase = ["organisation", "erase", "acme", "--yes", "--now", "--json"];
    let (code, printed, complaints) = run(&mut command(&world, &erase));
    assert_eq!(code, 0, "{printed}{complaints}");
    let began = Instant::now();
    let state = || get(&world.operator, "/api/organisations/acme");
    while state()["erasure"]["over"] != true {
        assert!(began.elapsed() < Duration::from_secs(60), "{}", state());
        std::thread::sleep(Duration::from_millis(200));
    }
    let (code, _, complaints) = run(&mut command(&world, &export));
    assert_ne!(code, 0);
    assert!(complaints.contains("was erased"), "{complaints}");
}
