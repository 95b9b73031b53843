//! Saved requests by command and by API, from the file to the verdict that has its reference.

use serde_json::{Value, json};

use crate::rig::{World, answer, command, get, offer, run, take};

const FILE: &str = r#"
name = "age-check"
title = "Age check"
purpose = "To sell you what only adults may buy"

[[questions]]
alternatives = [
  { type = "machine" },
  { type = "immunization", claims = [["patient", "birth_date"]] },
]
"#;

impl World {
    /// What a command on saved requests prints, after it has succeeded.
    fn saved(&self, arguments: &[&str]) -> String {
        let whole = [&["saved-request"], arguments].concat();
        let (code, printed, errors) = run(&mut command(self, &whole));
        assert_eq!(code, 0, "{arguments:?}: {printed}{errors}");
        printed
    }
}

#[test]
fn a_request_is_checked_saved_opened_answered_and_deleted_by_command() {
    let world = World::start(&[]);
    let file = world.file("age-check.toml");
    std::fs::write(&file, FILE).unwrap();
    let file = file.to_str().unwrap();
    let checked = world.saved(&["check", file]);
    assert!(
        checked.contains("needed: machine, or immunization"),
        "{checked}"
    );
    assert!(checked.contains("Date of birth"), "{checked}");
    let link = world.instance.origin.join("ask/age-check").unwrap();
    let saved = world.saved(&["save", file]);
    assert_eq!(saved.lines().next(), Some(link.as_str()));
    assert_eq!(world.saved(&["list"]), "age-check: Age check\n");
    let shown = world.saved(&["show", "age-check"]);
    assert!(shown.contains("name = \"age-check\""), "{shown}");

    let opened = world.saved(&["open", "age-check", "--reference", "order-17", "--json"]);
    let opened: Value = serde_json::from_str(&opened).unwrap();
    let person = world.person("maja");
    take(
        &person,
        &offer(&world.operator, &json!({"type": "immunization"})),
    );
    answer(&person, &opened);
    let path = format!(
        "/api/verifier/requests/{}?wait=25",
        opened["id"].as_str().unwrap()
    );
    let status = get(&world.operator, &path);
    assert_eq!(status["verdict"]["outcome"], "valid", "{status}");
    assert_eq!(status["reference"], "order-17");
    assert_eq!(status["saved"], "age-check");

    world.saved(&["delete", "age-check"]);
    assert_eq!(world.saved(&["list"]), "");
    let (code, _, errors) = run(&mut command(
        &world,
        &["saved-request", "open", "age-check"],
    ));
    assert_ne!(code, 0);
    assert!(errors.contains("there is no saved request"), "{errors}");
}

#[test]
fn a_file_that_cannot_be_asked_is_refused_at_its_place() {
    let world = World::start(&[]);
    let file = world.file("wrong.toml");
    std::fs::write(&file, FILE.replace("birth_date", "shoe_size")).unwrap();
    let arguments = ["saved-request", "save", file.to_str().unwrap()];
    let (code, _, errors) = run(&mut command(&world, &arguments));
    assert_ne!(code, 0);
    let place = "`questions[0].alternatives[1].claims` names `patient.shoe_size`";
    assert!(errors.contains(place), "{errors}");
}
