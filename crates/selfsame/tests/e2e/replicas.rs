//! Several processes on one database behind nginx: any of them serves any step, and one that is killed takes nothing with
//! it.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::Api;
use crate::instance::free_port;
use crate::load::{TAKEN_OVER, immunization, is_taken, under_load, until_answered};
use crate::postgres_server::Server;
use crate::replicas_rig::Replicas;
use crate::rig::{
    answer, issued, items, offer, person, post, recheck_until, run, selfsame, set_status, take,
    text, verdict,
};

#[test]
fn any_replica_serves_any_step_and_none_serves_what_another_one_has_changed() {
    let server = Server::shared();
    let mut replicas = Replicas::start(&server.fresh(), 2);
    let operator = replicas.operator();
    let anna = person(&operator.with_token(""), "anna");
    // Each request goes to the next replica.
    for _ in 0..2 {
        whole_life(&operator, &anna);
    }
    // A session that one replica ends is over at all.
    let ended = anna.send("DELETE", "/api/wallet/sessions", None).unwrap();
    assert_eq!(ended.status, 204);
    for _ in 0..4 {
        let reply = anna.send("GET", "/api/wallet/credentials", None).unwrap();
        assert_eq!(reply.status, 401);
    }
    // The others go on without one that is killed.
    replicas.kill(1);
    let given =
        until_answered(|| operator.send("POST", "/api/issuer/offers", Some(&immunization())));
    let berta = json!({"email": "berta@example.org", "password": "correct horse battery"});
    let anybody = operator.with_token("");
    let session = until_answered(|| anybody.send("POST", "/api/wallet/register", Some(&berta)));
    let berta = operator.with_token(&text(&session, "token"));
    let accept = json!({"offer": given["uri"]});
    let taken = until_answered(|| berta.send("POST", "/api/wallet/offers/accept", Some(&accept)));
    assert_eq!(items(&taken).len(), 1);
}

/// A credential is issued, shown, suspended, reinstated and revoked.
fn whole_life(operator: &Api, person: &Api) {
    let given = offer(operator, &json!({}));
    assert_eq!(take(person, &given).len(), 1);
    let asked = post(
        operator,
        "/api/verifier/requests",
        &json!({"type": "immunization"}),
    );
    answer(person, &asked);
    assert_eq!(verdict(operator, &asked)["verdict"]["outcome"], "valid");
    let credential = &issued(operator, &given)[0];
    set_status(operator, credential, "suspended");
    recheck_until(operator, &asked, "suspended");
    set_status(operator, credential, "valid");
    recheck_until(operator, &asked, "valid");
    set_status(operator, credential, "revoked");
    recheck_until(operator, &asked, "revoked");
}

#[test]
fn a_replica_that_is_killed_in_the_middle_of_flows_loses_none_and_does_none_twice() {
    let server = Server::start(&[]);
    let mut replicas = Replicas::start(&server.fresh(), 3);
    let operator = replicas.operator();
    under_load(&operator, |load| {
        load.goes_on(Duration::from_secs(60));
        replicas.kill(1);
        load.goes_on(Duration::from_secs(60));
        replicas.again(1);
        load.goes_on(Duration::from_secs(60));
        replicas.kill(0);
        load.goes_on(Duration::from_secs(60));
    });
}

#[test]
fn a_replica_that_is_paused_until_others_have_taken_over_does_nothing_twice_when_it_goes_on() {
    let server = Server::shared();
    let replicas = Replicas::start(&server.fresh(), 2);
    under_load(&replicas.operator(), |load| {
        for _ in 0..2 {
            load.goes_on(Duration::from_secs(60));
            signal("STOP", replicas.replicas[1].id());
            std::thread::sleep(TAKEN_OVER);
            signal("CONT", replicas.replicas[1].id());
        }
        load.goes_on(Duration::from_secs(60));
    });
}

#[test]
fn one_command_starts_processes_that_share_an_address_and_starts_again_one_that_is_killed() {
    let url = Server::shared().fresh();
    let folder = tempfile::tempdir().unwrap();
    let mut command = selfsame();
    command.args(["up", "--replicas", "2", "--json", "--database", &url]);
    command.args(["--listen", &format!("127.0.0.1:{}", free_port())]);
    command.arg("--data").arg(folder.path());
    let mut supervisor = Supervisor(command.stdout(Stdio::piped()).spawn().unwrap());
    let mut said = String::new();
    let mut printed = BufReader::new(supervisor.0.stdout.take().unwrap());
    printed.read_line(&mut said).unwrap();
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["replicas"], 2);
    let token = std::fs::read_to_string(text(&said, "operator_token_file")).unwrap();
    let operator = Api::new(&text(&said, "origin").parse().unwrap(), &token);
    let anna = person(&operator.with_token(""), "anna");
    let take_one = || {
        let given =
            until_answered(|| operator.send("POST", "/api/issuer/offers", Some(&immunization())));
        assert!(is_taken(&operator, &anna, &given));
    };
    take_one();
    let replicas = children(supervisor.0.id(), "--replica 2");
    assert_eq!(replicas.len(), 1);
    signal("KILL", replicas[0]);
    take_one();
    let began = Instant::now();
    while children(supervisor.0.id(), "--replica 2").is_empty() {
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(50));
    }
    take_one();
    let all = children(supervisor.0.id(), "--replica");
    assert_eq!(all.len(), 3);
    signal("TERM", supervisor.0.id());
    assert!(supervisor.0.wait().unwrap().success());
    let still_there = all
        .iter()
        .filter(|id| Path::new(&format!("/proc/{id}")).exists());
    assert_eq!(still_there.count(), 0);
}

#[test]
fn replicas_without_a_database_are_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = selfsame();
    command
        .args(["up", "--replicas", "3"])
        .arg("--data")
        .arg(folder.path());
    let (code, _, complaints) = run(&mut command);
    assert_eq!(code, 2, "{complaints}");
    assert!(
        complaints.contains("--database postgres://"),
        "{complaints}"
    );
}

/// `selfsame up --replicas`. Its processes end with it.
struct Supervisor(Child);

impl Drop for Supervisor {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The processes that this one has started, whose arguments contain these words.
fn children(parent: u32, words: &str) -> Vec<u32> {
    let listed = Command::new("pgrep")
        .args(["-P", &parent.to_string(), "-f", "--", words])
        .output();
    let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
    listed.lines().map(|id| id.parse().unwrap()).collect()
}

pub fn signal(name: &str, process: u32) {
    let told = Command::new("kill")
        .args(["-s", name, &process.to_string()])
        .status();
    assert!(told.unwrap().success());
}
