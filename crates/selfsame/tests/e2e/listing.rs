//! A file of people by the command: refused with the place of each fault, issued once, its offers taken from a link.

use std::fs;

use serde_json::{Value, json};

use crate::rig::{World, command, get, items, post, put, run, take, text};

/// An instance that issues badges.
fn world() -> World {
    let world = World::start(&[]);
    let badge = json!({"id": "badge", "title": {"en": "Badge"}, "claims": [
        {"path": ["name"], "kind": "text", "required": true},
        {"path": ["born"], "kind": "date"},
    ]});
    put(&world.operator, "/api/types/badge", &badge);
    post(&world.operator, "/api/types/badge/publish", &json!({}));
    world
}

#[test]
fn a_file_is_checked_whole_then_each_row_is_offered_once_however_often_it_is_run() {
    let world = world();
    let people = world.file("people.csv");
    let path = people.to_str().unwrap();
    fs::write(
        &people,
        "reference,name,born\n1,Maja,2001-02-03\n2,Zoe,2001-02-30\n1,Ada,\n",
    )
    .unwrap();
    let (code, printed, complaints) =
        run(&mut command(&world, &["issue", "badge", "--from", path]));
    assert_eq!(code, 1, "{printed}{complaints}");
    for told in [
        "line 3, column 7: ",
        "line 4, column 1: the row on line 2",
        "nothing was offered",
    ] {
        assert!(printed.contains(told), "{told}: {printed}");
    }
    assert!(items(&get(&world.operator, "/api/issuer/offers")).is_empty());

    let rows: String = (0..700)
        .map(|row| format!("ref {row},=Maja {row},\n"))
        .collect();
    fs::write(&people, format!("reference,name,born\n{rows}")).unwrap();
    let check = ["issue", "badge", "--from", path, "--check"];
    let (code, printed, _) = run(&mut command(&world, &check));
    assert_eq!(code, 0);
    assert!(printed.contains("700 rows have no fault"), "{printed}");
    let results = world.file("offers.ndjson");
    let issue = [
        "issue",
        "badge",
        "--from",
        path,
        "--results",
        results.to_str().unwrap(),
    ];
    for _ in 0..2 {
        let (code, printed, complaints) = run(&mut command(&world, &issue));
        assert_eq!(code, 0, "{printed}{complaints}");
        assert!(complaints.contains("700 offers"), "{complaints}");
    }
    let lists = get(&world.operator, "/api/issuer/lists");
    let done: Vec<&Value> = items(&lists)
        .iter()
        .filter(|one| one["state"] == "done")
        .collect();
    assert_eq!(done.len(), 1, "{lists}");
    let written = fs::read_to_string(&results).unwrap();
    let written: Vec<Value> = written
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (written.len(), &written[699]["reference"]),
        (700, &json!("ref 699"))
    );

    let maja = world.person("maja");
    let taken = take(&maja, &written[3]);
    assert_eq!(taken.len(), 1);
    let issued = get(&world.operator, "/api/issuer/credentials");
    assert_eq!(text(&items(&issued)[0], "label"), "ref 3");
}
