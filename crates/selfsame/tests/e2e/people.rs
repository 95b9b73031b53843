//! People, API keys and the audit trail from the command line alone.

use crate::rig::{World, command, run};

/// What a command prints; its exit code must be `code`.
#[track_caller]
fn says(world: &World, code: i32, args: &[&str]) -> String {
    let (ended, printed, complaints) = run(&mut command(world, args));
    assert_eq!(ended, code, "{args:?}: {printed}{complaints}");
    format!("{printed}{complaints}")
}

#[test]
fn a_program_with_a_key_does_what_its_scope_allows_and_the_trail_tells_it() {
    let world = World::start(&[]);
    let created = says(
        &world,
        0,
        &["key", "create", "admissions", "--scope", "issuer:write"],
    );
    let key = created.lines().next().unwrap();
    let with_key = |code: i32, args: &[&str]| {
        let mut args = args.to_vec();
        args.extend(["--token", key]);
        says(&world, code, &args)
    };
    with_key(0, &["issue", "immunization", "--examples"]);
    let refused = with_key(2, &["offer", "list"]);
    assert!(refused.contains("issuer:read"), "{refused}");
    let offers = says(&world, 0, &["offer", "list"]);
    assert_eq!(offers.lines().count(), 1, "{offers}");
    let listed = says(&world, 0, &["key", "list"]);
    assert!(
        listed.contains("admissions") && !listed.contains("never"),
        "{listed}"
    );
    let id = listed.split_whitespace().next().unwrap();
    says(&world, 0, &["key", "revoke", id]);
    with_key(2, &["issue", "immunization", "--examples"]);
    let acts = says(&world, 0, &["audit", "list"]);
    let acts: Vec<&str> = acts.lines().collect();
    assert_eq!(acts.len(), 3, "{acts:?}");
    assert!(acts[0].contains("DELETE /api/keys/{id}"), "{acts:?}");
    assert!(acts[1].contains("admissions") && acts[1].contains("POST /api/issuer/offers"));
    assert!(!acts.concat().contains(key));
}

#[test]
fn a_trail_that_was_exported_verifies_until_a_line_is_changed() {
    let world = World::start(&[]);
    for _ in 0..3 {
        says(&world, 0, &["issue", "immunization", "--examples"]);
    }
    let verified = says(&world, 0, &["audit", "verify"]);
    assert!(
        verified.contains("complete and unchanged: 3 entries"),
        "{verified}"
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trail.ndjson");
    let path = file.to_str().unwrap();
    says(&world, 0, &["audit", "export", "--out", path]);
    let again = says(&world, 0, &["audit", "verify", path]);
    let head = again
        .lines()
        .find_map(|line| line.strip_prefix("head "))
        .unwrap();
    says(&world, 0, &["audit", "verify", path, "--head", head]);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("operator token", "another person", 1)).unwrap();
    let changed = says(&world, 1, &["audit", "verify", path]);
    assert!(changed.contains("an entry was changed"), "{changed}");
    let (_, after) = text.split_once('\n').unwrap();
    std::fs::write(&file, after).unwrap();
    says(&world, 1, &["audit", "verify", path]);
    let wrong = says(&world, 2, &["audit", "verify", path, "--head", "3"]);
    assert!(wrong.contains("is not a head"), "{wrong}");
}

#[test]
fn a_person_is_invited_listed_and_removed_in_an_organisation() {
    let world = World::start(&[]);
    says(
        &world,
        0,
        &["organisation", "create", "acme", "--title", "Acme"],
    );
    let invite = [
        "person",
        "invite",
        "--role",
        "issuer",
        "--organisation",
        "acme",
    ];
    let invited = says(&world, 0, &invite);
    assert!(invited.contains("/operator/invited?token="), "{invited}");
    let people = says(&world, 0, &["person", "list", "--organisation", "acme"]);
    assert_eq!(people, "", "no invitation is accepted yet");
    let gone = says(
        &world,
        2,
        &["person", "remove", "unknown", "--organisation", "acme"],
    );
    assert!(gone.contains("no person with this id"), "{gone}");
    let raised = [
        "person",
        "invite",
        "--role",
        "administrator",
        "--organisation",
        "acme",
    ];
    let raised = says(&world, 2, &raised);
    assert!(
        raised.contains("only people of the organisation main"),
        "{raised}"
    );
}

#[test]
fn a_request_is_made_and_shown_from_a_file() {
    let world = World::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("query.json");
    let query = r#"{"credentials": [{"id": "c", "format": "dc+sd-jwt", "meta": {"vct_values": ["urn:x"]}, "claims": [{"path": ["name"]}]}]}"#;
    std::fs::write(&file, query).unwrap();
    let create = ["request", "create", "--dcql", file.to_str().unwrap()];
    let created = says(&world, 0, &create);
    assert!(created.starts_with("openid4vp://"), "{created}");
    let id = created.split_whitespace().last().unwrap();
    let shown = says(&world, 0, &["request", "show", id]);
    assert!(shown.contains("created"), "{shown}");
    let listed = says(&world, 0, &["request", "list"]);
    assert!(listed.starts_with(id), "{listed}");
    std::fs::write(&file, "{").unwrap();
    let broken = says(&world, 2, &create);
    assert!(broken.contains("not JSON"), "{broken}");
}
