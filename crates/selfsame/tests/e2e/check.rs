//! `selfsame check`: damage found while nothing runs, and a ledger rebuilt from its log.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::copies::copied;
use crate::instance::{Instance, free_port};
use crate::rig::{World, run, selfsame};

fn check(data: &Path, arguments: &[&str]) -> (i32, Value, String) {
    let mut command = selfsame();
    command.args(["check", "--json", "--data"]).arg(data);
    let (code, printed, complaints) = run(command.args(arguments));
    let report = serde_json::from_str(&printed).unwrap_or(Value::Null);
    (code, report, complaints)
}

/// Stops an instance, which writes everything to its files, and waits until they are unlocked.
fn stop(world: &mut World) {
    let id = world.instance.id().to_string();
    let asked = std::process::Command::new("kill")
        .arg(&id)
        .status()
        .unwrap();
    assert!(asked.success());
    let data = world.file("data");
    let until = Instant::now() + Duration::from_secs(60);
    while check(&data, &[]).0 == 2 {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(100));
    }
    world.instance.kill();
}

/// The damaged parts, by file and part.
fn damaged(report: &Value) -> Vec<String> {
    let parts = report["parts"].as_array().unwrap().iter();
    let damaged = parts.filter(|part| !part["damage"].as_array().unwrap().is_empty());
    let name = |part: &Value| format!("{} {}", part["file"], part["what"]).replace('"', "");
    damaged.map(name).collect()
}

/// Flips a bit after each occurrence of this text in a file.
fn flip(file: &Path, behind: &str) {
    let mut content = std::fs::read(file).unwrap();
    let length = behind.len();
    let found: Vec<usize> = (0..content.len() - length)
        .filter(|at| &content[*at..*at + length] == behind.as_bytes())
        .collect();
    assert!(!found.is_empty());
    for at in found {
        content[at + length + 12] ^= 4;
    }
    std::fs::write(file, content).unwrap();
}

#[test]
fn a_damaged_ledger_is_named_while_nothing_runs_and_made_anew_of_its_log() {
    let mut world = World::start(&[]);
    let data = world.file("data");
    let (code, _, complaints) = check(&data, &[]);
    assert_eq!(code, 2, "{complaints}");
    assert!(complaints.contains("hint: ") && complaints.contains("stop it first"));

    stop(&mut world);
    let (code, report, complaints) = check(&data, &[]);
    assert_eq!(code, 0, "{complaints} {report}");
    assert_eq!(
        (&report["sound"], &report["kind"]),
        (&true.into(), &"instance".into())
    );
    assert_eq!(damaged(&report), [""; 0]);

    let ledger = data.join("ledger.sqlite");
    flip(&ledger, "validators/changes/v/1");
    let (code, report, _) = check(&data, &[]);
    assert_eq!(code, 1, "{report}");
    assert!(
        damaged(&report).contains(&"ledger.sqlite objects".to_owned()),
        "{report}"
    );
    let next = report["next"][0].as_str().unwrap();
    assert!(next.contains("--rebuild-ledger"), "{report}");

    let (code, report, _) = check(&data, &["--rebuild-ledger"]);
    assert_eq!((code, &report["sound"]), (0, &true.into()), "{report}");
    let kept = report["damaged_ledger"].as_str().unwrap();
    assert!(Path::new(kept).exists(), "{kept}");
    assert!(!data.join("ledger.anew").exists());
    assert_eq!(damaged(&check(&data, &[]).1), [""; 0]);
    let mut again = Instance::start(&data, free_port(), &[]);
    again.ready();
}

#[test]
fn a_check_names_rows_that_are_not_what_was_written_and_folders_without_data() {
    let mut world = World::start(&[]);
    let copy = copied(&world);
    world.instance.kill();
    let key = std::fs::read(world.file("data").join("master-key")).unwrap();
    std::fs::write(Path::new(&copy).join("master-key"), key).unwrap();
    let store = Path::new(&copy).join("store.sqlite");
    assert_eq!(check(Path::new(&copy), &[]).0, 0, "a copy is sound");
    // A record's columns are adjacent: the tenant and the kind, then the sealed value.
    flip(&store, "registrygenesisown");
    let (code, report, _) = check(Path::new(&copy), &[]);
    assert_eq!(code, 1, "{report}");
    assert!(
        damaged(&report).contains(&"store.sqlite sum".to_owned()),
        "{report}"
    );
    assert!(
        report["next"][0]
            .as_str()
            .unwrap()
            .contains("selfsame restore"),
        "{report}"
    );

    let (code, _, complaints) = check(&world.file("nowhere"), &[]);
    assert_eq!(code, 2, "{complaints}");
    assert!(
        complaints.contains("the directory contains no data"),
        "{complaints}"
    );
}
