//! A type in the format AnonCreds, from its file to what others read in the registry.

use std::time::{Duration, Instant};

use selfsame_anoncreds::definition::PreparedDefinition;
use selfsame_anoncreds::format::{CredentialDefinition, Message as _, Schema};
use serde_json::{Value, json};

use crate::rig::{World, command, get, items, refused, run, text};

const DONOR: &str = r#"
id = "donor"
title = { en = "Blood donor" }
formats = ["vc+jwt", "anoncreds"]
claims = [
  { path = ["name"], kind = "text", required = true },
  { path = ["address"], kind = "object", claims = [{ path = ["city"], kind = "text" }] },
]
"#;

fn said(world: &World, arguments: &[&str]) -> String {
    let (code, printed, complaints) = run(&mut command(world, arguments));
    assert_eq!(code, 0, "{arguments:?}: {printed}{complaints}");
    printed
}

/// What the registry has of the type, once it is published.
fn published(world: &World) -> Value {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let objects = get(&world.operator, "/api/types/donor")["anoncreds"].take();
        if objects["state"] == "published" {
            return objects;
        }
        assert_eq!(objects["state"], "publishing", "{objects}");
        assert!(Instant::now() < deadline, "{objects}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_type_in_anoncreds_is_published_and_others_read_its_objects_in_the_registry() {
    let world = World::start(&[]);
    let file = world.file("donor.toml");
    std::fs::write(&file, DONOR).unwrap();
    let told = said(&world, &["type", "publish", file.to_str().unwrap()]);
    assert!(told.contains("# AnonCreds publi"), "{told}");
    let objects = published(&world);
    let (schema_id, cred_def_id) = (text(&objects, "schema_id"), text(&objects, "cred_def_id"));
    let shown = said(&world, &["type", "show", "donor"]);
    for line in [
        "# AnonCreds published".to_owned(),
        format!("# schema {schema_id}"),
        format!("# credential definition {cred_def_id}"),
        r#"    "anoncreds","#.to_owned(),
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}: {shown}");
    }

    // Anybody reads the transaction, and what is in it fits.
    let entries = format!("/api/registry/entries?first={}&count=1", objects["seq_no"]);
    let entries = get(&world.operator, &entries);
    let operations = items(&entries)[0]["content"]["operations"].clone();
    let value = |number: usize| operations[number]["value"].to_string();
    let schema = Schema::from_json(value(0).as_bytes()).unwrap();
    assert_eq!(schema.attr_names, ["name", "address.city"]);
    let definition = CredentialDefinition::from_json(value(1).as_bytes()).unwrap();
    assert_eq!(definition.schema_id.as_str(), schema_id);
    assert!(definition.value.revocation.is_some());
    definition.check_attributes(&schema.attributes()).unwrap();
    PreparedDefinition::new(definition).unwrap();
    for id in [&schema_id, &cred_def_id] {
        let page = format!("/registry/object?id={}", id.replace(':', "%3A"));
        let reply = world.anybody().send("GET", &page, None).unwrap();
        assert_eq!(reply.status, 200, "{page}");
    }

    // Over OpenID4VCI, it is not offered in this format.
    let metadata = get(
        &world.anybody(),
        "/.well-known/openid-credential-issuer/issuer",
    );
    let configurations = &metadata["credential_configurations_supported"];
    let of_type = configurations.as_object().unwrap().iter();
    let of_type: Vec<_> = of_type.filter(|(id, _)| id.starts_with("donor")).collect();
    assert_eq!(of_type.len(), 1);
    assert_eq!(of_type[0].1["format"], "vc+jwt");
    assert!(!metadata.to_string().contains("anoncreds"));
    let offer = json!({"type": "donor", "format": "anoncreds", "examples": true});
    assert_eq!(
        refused(&world.operator, "/api/issuer/offers", &offer).status,
        400
    );

    let export = world.operator.send("GET", "/api/export", None).unwrap();
    let export = String::from_utf8(export.body).unwrap();
    let exported = export
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let exported: Vec<_> = exported
        .filter(|line| line["kind"] == "anoncreds_definition")
        .collect();
    assert_eq!(exported.len(), 1);
    assert_eq!(
        exported[0]["record"]["objects"]["cred_def_id"],
        *cred_def_id
    );
    assert!(exported[0]["record"]["definition"].is_object());
    assert!(!export.contains("p_key"), "the private key stays here");
}
