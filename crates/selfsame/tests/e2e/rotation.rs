//! Rotation of the master key while an instance serves: by a command, with processes killed in the middle, and with
//! replicas that do not have the new key yet.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::copies::{copied, restored};
use crate::http::{Api, Reply, Request};
use crate::instance::{Instance, free_port};
use crate::postgres_server::Server;
use crate::replicas::signal;
use crate::replicas_rig::Replicas;
use crate::rig::{
    World, get, items, offer, person, post, run, selfsame, take, text, write_private,
};

const PATIENCE: Duration = Duration::from_secs(60);

/// `selfsame master-key rotate` against a process with this data directory.
fn rotate(data: &Path, instance: &Instance) -> std::process::Command {
    let mut command = selfsame();
    command.args(["master-key", "rotate", "--json", "--data"]);
    command
        .arg(data)
        .env("SELFSAME_INSTANCE", instance.origin.as_str());
    command.arg("--token-file").arg(instance.token_file());
    command
}

fn stage(operator: &Api) -> String {
    let status = get(operator, "/api/master-key");
    status["stage"].as_str().unwrap().to_owned()
}

#[track_caller]
fn until_settled(operator: &Api) {
    let began = Instant::now();
    while stage(operator) != "settled" {
        assert!(began.elapsed() < PATIENCE, "the rotation does not end");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Issues and takes until `ends`; every request must succeed. Returns how many cards the person has got.
fn works(operator: &Api, person: &Api, ends: &AtomicBool) -> usize {
    let mut cards = 0;
    while !ends.load(Ordering::SeqCst) {
        cards += take(person, &offer(operator, &json!({}))).len();
        // A page of the wallet has two hundred cards.
        std::thread::sleep(Duration::from_millis(100));
    }
    cards
}

fn cards(person: &Api) -> usize {
    let listed = get(person, "/api/wallet/credentials?limit=200");
    items(&listed).len()
}

/// Starts with a master key, and returns the exit code and what was said.
fn started_with(data: &Path, key: &Path) -> (i32, String) {
    let mut command = selfsame();
    command.args(["up", "--no-demo", "--data"]).arg(data);
    command.args(["--listen", &format!("127.0.0.1:{}", free_port())]);
    command.arg("--master-key-file").arg(key);
    let (code, _, complaints) = run(&mut command);
    (code, complaints)
}

#[test]
fn the_master_key_is_rotated_while_people_use_the_instance_and_the_former_one_opens_nothing() {
    let mut world = World::start(&[]);
    let data = world.file("data");
    let anna = world.person("anna");
    let copy = copied(&world);
    let before = std::fs::read_to_string(data.join("master-key")).unwrap();
    let ends = AtomicBool::new(false);
    let (taken, rotated) = std::thread::scope(|scope| {
        let working = scope.spawn(|| works(&world.operator, &anna, &ends));
        let coming = scope.spawn(|| {
            let mut people = Vec::new();
            while !ends.load(Ordering::SeqCst) {
                people.push(world.person(&format!("person-{}", people.len())));
            }
            people
        });
        let (code, said, complaints) = run(&mut rotate(&data, &world.instance));
        ends.store(true, Ordering::SeqCst);
        let taken = working.join().unwrap();
        for person in coming.join().unwrap() {
            assert_eq!(cards(&person), 0);
        }
        assert_eq!(code, 0, "{complaints}");
        (taken, serde_json::from_str::<Value>(&said).unwrap())
    });
    assert_eq!(cards(&anna), taken);
    assert_eq!(stage(&world.operator), "settled");
    assert_eq!(
        get(&world.operator, "/api/master-key")["present"],
        rotated["present"]
    );
    let former = PathBuf::from(rotated["former"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(&former).unwrap(), before);
    assert_ne!(
        std::fs::read_to_string(data.join("master-key")).unwrap(),
        before
    );
    assert!(
        world
            .instance
            .log()
            .contains("the rotation of the master key has ended")
    );
    let audited = get(&world.operator, "/api/audit?limit=200").to_string();
    assert!(audited.contains("/api/master-key/rotation"), "{audited}");

    world.instance.kill();
    let (code, said) = started_with(&data, &former);
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains("this master key was replaced by another one"),
        "{said}"
    );
    let mut again = Instance::start(&data, world.instance.origin.port().unwrap(), &[]);
    again.ready();
    assert_eq!(cards(&anna), taken);
    again.kill();
    // A backup made before needs the former key.
    let old = world.file("old");
    assert_eq!(restored(&copy, &old), (0, String::new()));
    let (code, said) = started_with(&old, &data.join("master-key"));
    assert_eq!(code, 2, "{said}");
    std::fs::copy(&former, old.join("master-key")).unwrap();
    Instance::start(&old, free_port(), &[]).ready();
}

#[test]
fn an_instance_that_is_killed_during_a_rotation_goes_on_at_its_next_start() {
    let mut world = World::start(&[]);
    let (data, port) = (world.file("data"), world.instance.origin.port().unwrap());
    let anna = world.person("anna");
    let taken = take(&anna, &offer(&world.operator, &json!({}))).len();
    for (round, millis) in [0, 20, 100, 400, 900, 1_100].into_iter().enumerate() {
        let key = format!("{:02x}", round + 1).repeat(32);
        write_private(&data.join("master-key.next"), &key);
        let begun = post(&world.operator, "/api/master-key/rotation", &json!({}));
        assert_eq!(begun["stage"], "begun");
        std::thread::sleep(Duration::from_millis(millis));
        world.instance.kill();
        let mut again = Instance::start(&data, port, &[]);
        again.ready();
        assert_eq!(cards(&anna), taken);
        until_settled(&world.operator);
        assert_eq!(cards(&anna), taken);
        std::fs::rename(data.join("master-key.next"), data.join("master-key")).unwrap();
        world.instance = again;
    }
    // The last key alone opens everything.
    world.instance.kill();
    Instance::start(&data, port, &[]).ready();
}

#[test]
fn a_rotation_is_refused_without_a_next_key_and_while_another_one_is_under_way() {
    let world = World::start(&[]);
    let begin = || {
        let path = "/api/master-key/rotation";
        world.operator.send("POST", path, Some(&json!({}))).unwrap()
    };
    let refused = begin();
    assert_eq!(refused.status, 400);
    let why = refused.json().to_string();
    assert!(why.contains("master-key.next"), "{why}");
    let anybody = world.anybody();
    let anonymous = anybody.send("POST", "/api/master-key/rotation", Some(&json!({})));
    assert_eq!(anonymous.unwrap().status, 401);
    write_private(
        &world.file("data").join("master-key.next"),
        &"07".repeat(32),
    );
    assert!(begin().is_success());
    assert_eq!(begin().status, 409);
    until_settled(&world.operator);
    // The key that is in the file now is the present one.
    assert_eq!(begin().status, 400);
}

#[test]
fn a_passphrase_is_rotated_to_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let (data, port) = (folder.path().join("data"), free_port());
    let token = folder.path().join("token");
    let arguments = ["--operator-token-file", token.to_str().unwrap()];
    let former = [("SELFSAME_PASSPHRASE", "rain on the roof")];
    let mut instance = Instance::start_in(&former, &data, port, &arguments);
    instance.ready();
    let mut command = selfsame();
    command.args(["master-key", "rotate", "--data"]).arg(&data);
    command.arg("--instance").arg(instance.origin.as_str());
    command.arg("--token-file").arg(&token);
    command.env("SELFSAME_PASSPHRASE", "rain on the roof");
    let (code, _, complaints) = run(&mut command);
    assert_eq!(code, 2, "{complaints}");
    assert!(
        complaints.contains("SELFSAME_NEXT_PASSPHRASE"),
        "{complaints}"
    );
    let (code, said, complaints) = run(command.env("SELFSAME_NEXT_PASSPHRASE", "sun in the yard"));
    assert_eq!(code, 0, "{complaints}");
    assert!(said.contains("Start with the new passphrase"), "{said}");
    instance.kill();
    std::fs::remove_file(data.join("passphrase.next")).unwrap();
    let next = [("SELFSAME_PASSPHRASE", "sun in the yard")];
    Instance::start_in(&next, &data, port, &arguments).ready();
    let mut former = selfsame();
    former.args(["check", "--data"]).arg(&data);
    former.env("SELFSAME_PASSPHRASE", "rain on the roof");
    let (code, _, complaints) = run(&mut former);
    assert_eq!(code, 2, "{complaints}");
    assert!(
        complaints.contains("was replaced by another one"),
        "{complaints}"
    );
}

/// Sends a request to one of the replicas, as the balancer would.
fn sent_to(replicas: &Replicas, number: usize, request: Request) -> std::io::Result<Reply> {
    let mut url = request.url().clone();
    let host = format!("localhost:{}", url.port().unwrap());
    url.set_port(replicas.replicas[number].origin.port())
        .unwrap();
    request.to(&url).under(&host).send()
}

/// The answer of one of the replicas.
fn at(replicas: &Replicas, number: usize, request: Request) -> Value {
    let reply = sent_to(replicas, number, request).unwrap();
    assert!(reply.is_success(), "{reply:?}");
    reply.json()
}

#[test]
fn replicas_rotate_together_once_each_has_the_new_key_and_one_of_them_may_be_killed() {
    let server = Server::shared();
    let mut replicas = Replicas::start(&server.fresh(), 2);
    let operator = replicas.operator();
    let anna = person(&operator.with_token(""), "anna");
    let data: Vec<PathBuf> = (replicas.replicas.iter())
        .map(|replica| replica.seen_at().to_owned())
        .collect();
    let begin = || {
        let request = operator.request("POST", "/api/master-key/rotation");
        request.json(&json!({}))
    };
    let status = || operator.request("GET", "/api/master-key");
    write_private(&data[0].join("master-key.next"), &"05".repeat(32));
    at(&replicas, 0, begin());
    // The second one learns of it from the database, and says where it looks for the new key.
    let began = Instant::now();
    let wanted = data[1].join("master-key.next");
    while !replicas.replicas[1]
        .log()
        .contains(wanted.to_str().unwrap())
    {
        assert!(began.elapsed() < PATIENCE, "{}", replicas.replicas[1].log());
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(at(&replicas, 1, status())["waits_for"], 1);
    // Started again while the rotation waits, it goes on with the former key.
    replicas.kill(1);
    replicas.again(1);
    let ends = AtomicBool::new(false);
    let taken = std::thread::scope(|scope| {
        let working = scope.spawn(|| works(&operator, &anna, &ends));
        std::thread::sleep(Duration::from_millis(500));
        write_private(&wanted, &"05".repeat(32));
        // The command watches a rotation that is under way.
        let mut command = rotate(&data[0], &replicas.replicas[0]);
        command.env("SELFSAME_INSTANCE", replicas.origin.as_str());
        let (code, _, complaints) = run(&mut command);
        ends.store(true, Ordering::SeqCst);
        assert_eq!(code, 0, "{complaints}");
        working.join().unwrap()
    });
    assert_eq!(cards(&anna), taken);
    std::fs::rename(&wanted, data[1].join("master-key")).unwrap();
    // The next one: the process that has begun it is killed at once, and the other one ends it.
    for data in &data {
        write_private(&data.join("master-key.next"), &"07".repeat(32));
    }
    at(&replicas, 0, begin());
    replicas.kill(0);
    let began = Instant::now();
    while at(&replicas, 1, status())["stage"] != "settled" {
        assert!(began.elapsed() < PATIENCE, "the rotation does not end");
        std::thread::sleep(Duration::from_millis(100));
    }
    replicas.again(0);
    for number in 0..2 {
        let listed = anna.request("GET", "/api/wallet/credentials?limit=200");
        assert_eq!(items(&at(&replicas, number, listed)).len(), taken);
    }
}

#[test]
fn a_process_that_was_stopped_during_a_rotation_writes_nothing_under_the_former_key_when_it_goes_on()
 {
    let server = Server::shared();
    let mut replicas = Replicas::start(&server.fresh(), 2);
    let operator = replicas.operator();
    let anna = person(&operator.with_token(""), "anna");
    let taken = take(&anna, &offer(&operator, &json!({}))).len();
    let data: Vec<PathBuf> = (replicas.replicas.iter())
        .map(|replica| replica.seen_at().to_owned())
        .collect();
    let key = "05".repeat(32);
    write_private(&data[0].join("master-key.next"), &key);
    let begin = operator.request("POST", "/api/master-key/rotation");
    let paused = replicas.replicas[1].id();
    signal("STOP", paused);
    at(&replicas, 0, begin.json(&json!({})));
    // The rotation waits for the other process until that is taken for dead.
    let status = || operator.request("GET", "/api/master-key");
    let began = Instant::now();
    while at(&replicas, 0, status())["stage"] != "settled" {
        assert!(began.elapsed() < PATIENCE, "the rotation does not end");
        std::thread::sleep(Duration::from_millis(100));
    }
    signal("CONT", paused);
    // The first record of a person needs a key, which would be wrapped under a master key that is gone.
    let joined = |name: &str| {
        let who = json!({"email": name, "password": "correct horse battery"});
        let request = operator
            .with_token("")
            .request("POST", "/api/wallet/register");
        operator.with_token(&text(&at(&replicas, 1, request.json(&who)), "token"))
    };
    let began = Instant::now();
    let people = loop {
        // It takes its place among the processes again first.
        let ready = operator.request("GET", "/readyz");
        if sent_to(&replicas, 1, ready).is_ok_and(|reply| reply.is_success()) {
            break [joined("berta@example.org"), joined("carla@example.org")];
        }
        assert!(began.elapsed() < PATIENCE, "{}", replicas.replicas[1].log());
        std::thread::sleep(Duration::from_millis(200));
    };
    let makes_key = |person: &Api| {
        let request = person.request("POST", "/api/wallet/keys").json(&json!({}));
        sent_to(&replicas, 1, request).unwrap()
    };
    let refused = makes_key(&people[0]);
    let why = refused.json().to_string();
    assert!(
        refused.status == 503 && why.contains("present master key"),
        "{} {why}",
        refused.status
    );
    // What it knows already it serves: the keys of tenants stay the same.
    let listed = || anna.request("GET", "/api/wallet/credentials?limit=200");
    assert_eq!(items(&at(&replicas, 1, listed())).len(), taken);
    // With the new key it goes on without a restart.
    write_private(&data[1].join("master-key.next"), &key);
    let began = Instant::now();
    while !people.iter().all(|person| makes_key(person).is_success()) {
        assert!(began.elapsed() < PATIENCE, "{}", replicas.replicas[1].log());
        std::thread::sleep(Duration::from_millis(200));
    }
    for (number, data) in data.iter().enumerate() {
        replicas.kill(number);
        std::fs::rename(data.join("master-key.next"), data.join("master-key")).unwrap();
    }
    // Every key of a tenant opens with the new master key.
    for number in 0..2 {
        replicas.again(number);
        assert_eq!(items(&at(&replicas, number, listed())).len(), taken);
    }
    let mut check = selfsame();
    check.args(["check", "--database", &replicas.url, "--data"]);
    for number in 0..2 {
        replicas.kill(number);
    }
    let (code, said, complaints) = run(check.arg(&data[0]));
    assert_eq!(code, 0, "{said}{complaints}");
}
