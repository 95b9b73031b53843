//! A full disk: what is refused, what still works, and what recovers by itself.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::{Api, Reply};
use crate::instance::{Instance, free_port};
use crate::postgres_server::Server;
use crate::rig::{World, get, items, offer, person, post, take};

/// Enough to start and to issue something; small enough to be filled at once.
const MEBIBYTES: u32 = 48;
/// A new cluster of PostgreSQL has some 40 MiB.
const DATABASE_MEBIBYTES: u32 = 96;
/// How long an instance may take to notice that there is room again.
const PATIENCE: Duration = Duration::from_secs(60);
/// Checkpointing moves pages from the log to the file and frees space, which is filled again; that happens a limited
/// number of times.
const ATTEMPTS: usize = 400;

#[test]
fn an_instance_on_a_full_disk_refuses_to_write_serves_what_it_has_and_goes_on_once_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut instance = Instance::start_on_small_disk(MEBIBYTES, &data, free_port());
    instance.ready();
    let operator = instance.operator();
    let anybody = operator.with_token("");
    let holder = person(&anybody, "anna");
    let kept = take(&holder, &offer(&operator, &json!({})));
    let filler = instance.seen_at().join("filler");

    let wanted = json!({"type": "immunization", "examples": true});
    let refused = full(&filler, &operator, ("/api/issuer/offers", &wanted));
    assert_eq!(refused.json()["code"], "full", "{refused:?}");
    assert!(refused.json()["hint"].as_str().unwrap().contains("disk"));
    let did = json!({"method": "selfsame"});
    full(&filler, &operator, ("/api/dids", &did));

    let ready = anybody.send("GET", "/readyz", None).unwrap();
    assert_eq!(
        (ready.status, &ready.body[..]),
        (503, &b"the disk is full\n"[..])
    );
    assert_eq!(anybody.send("GET", "/livez", None).unwrap().status, 200);
    assert_eq!(cards(&holder), kept.len());
    let log = instance.log();
    let line = log
        .lines()
        .find(|line| line.contains("the store has no room"));
    let line: Value = serde_json::from_str(line.unwrap()).unwrap();
    assert_eq!(line["level"], "ERROR");
    assert!(
        line["fields"]["error"]
            .as_str()
            .unwrap()
            .starts_with("the disk is full")
    );

    std::fs::remove_file(&filler).unwrap();
    let began = Instant::now();
    instance.ready();
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    let more = take(&holder, &offer(&operator, &json!({})));
    assert_eq!(cards(&holder), kept.len() + more.len());
    post(&operator, "/api/dids", &did);
}

#[test]
fn an_instance_whose_database_has_a_full_disk_refuses_to_write_and_goes_on_once_there_is_room() {
    let (server, disk) = Server::start_on_small_disk(DATABASE_MEBIBYTES);
    let mut world = World::start(&["--database", &server.fresh()]);
    let holder = world.person("anna");
    let kept = take(&holder, &offer(&world.operator, &json!({})));
    let filler = disk.join("filler");

    let wanted = json!({"type": "immunization", "examples": true});
    let refused = full(&filler, &world.operator, ("/api/issuer/offers", &wanted));
    assert_eq!(refused.json()["code"], "full", "{refused:?}");
    let ready = world.anybody().send("GET", "/readyz", None).unwrap();
    assert_eq!(
        (ready.status, &ready.body[..]),
        (503, &b"the disk is full\n"[..])
    );
    assert_eq!(cards(&holder), kept.len());
    let log = world.instance.log();
    assert!(log.contains("No space left on device (53100)"), "{log}");

    std::fs::remove_file(&filler).unwrap();
    let began = Instant::now();
    world.instance.ready();
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    let more = take(&holder, &offer(&world.operator, &json!({})));
    assert_eq!(cards(&holder), kept.len() + more.len());
}

/// Fills the disk until a request is refused because the disk is full.
fn full(filler: &Path, api: &Api, (path, body): (&str, &Value)) -> Reply {
    for _ in 0..ATTEMPTS {
        fill(filler);
        let reply = api.send("POST", path, Some(body)).unwrap();
        if !reply.is_success() {
            assert_eq!(reply.status, 507, "{reply:?}");
            return reply;
        }
    }
    panic!("there is room for {ATTEMPTS} requests on a disk that was full before each");
}

/// Writes until there is no room for another block.
fn fill(filler: &Path) {
    let zeros = ["if=/dev/zero", "bs=4k", "oflag=append", "conv=notrunc"];
    let to = format!("of={}", filler.display());
    let filled = Command::new("dd").args(zeros).arg(to).output().unwrap();
    assert!(!filled.status.success());
}

fn cards(holder: &Api) -> usize {
    items(&get(holder, "/api/wallet/credentials")).len()
}
