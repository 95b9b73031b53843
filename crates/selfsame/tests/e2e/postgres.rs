//! An instance whose records are in PostgreSQL: a whole flow across crashes of both, and a backup that is a file.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::copies::{copied, copied_at, restored};
use crate::instance::Instance;
use crate::postgres_server::Server;
use crate::replicas_rig::Replicas;
use crate::rig::{
    World, answer, issued, offer, person, post, recheck_until, run, selfsame, set_status, take,
    text, verdict,
};

#[test]
fn records_in_a_database_outlive_a_crash_of_the_database_and_of_the_instance() {
    let server = Server::start(&[]);
    let url = server.fresh();
    let mut world = World::start(&["--database", &url]);
    let anna = world.person("anna");
    let given = offer(&world.operator, &json!({}));
    server.end("KILL");
    server.run();
    take(&anna, &given);
    assert!(!world.file("data").join("store.sqlite").exists());

    let port = world.instance.origin.port().unwrap();
    world.instance.kill();
    let data = world.file("data");
    // A process that crashed is taken for alive for a while, and the start waits for that.
    let mut again = Instance::start(&data, port, &["--database", &url]);
    again.ready();
    let operator = again.operator();
    let asked = post(
        &operator,
        "/api/verifier/requests",
        &json!({"type": "immunization"}),
    );
    answer(&anna, &asked);
    assert_eq!(verdict(&operator, &asked)["verdict"]["outcome"], "valid");
    set_status(&operator, &issued(&operator, &given)[0], "revoked");
    recheck_until(&operator, &asked, "revoked");
    let metrics = [
        "selfsame_database_connections",
        "selfsame_database_wait_seconds_count",
        "selfsame_database_commits_queued",
        "selfsame_outbox_lag_seconds",
        "selfsame_flows_ended_total{flow=\"presentation\",result=\"valid\"}",
    ];
    // The outbox is looked at a moment after the start.
    let began = Instant::now();
    loop {
        let figures = operator.send("GET", "/metrics", None).unwrap();
        let figures = String::from_utf8(figures.body).unwrap();
        let is_there = |metric: &&str| figures.contains(&format!("\n{metric} "));
        if metrics.iter().all(is_there) {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{figures}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_process_is_not_ready_while_its_database_is_stopped_and_lives_on() {
    let server = Server::start(&["fsync=off"]);
    let world = World::start(&["--database", &server.fresh()]);
    let anybody = world.anybody();
    let state = |path: &str| {
        let reply = anybody.send("GET", path, None).unwrap();
        (reply.status, String::from_utf8(reply.body).unwrap())
    };
    let until = |status: u16| {
        let began = Instant::now();
        while state("/readyz").0 != status {
            assert!(began.elapsed() < Duration::from_secs(60), "not {status}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    for signal in ["INT", "KILL"] {
        assert_eq!(state("/readyz").0, 200);
        server.end(signal);
        until(503);
        // All who ask share a question of two seconds at most, so none waits for long.
        let began = Instant::now();
        std::thread::scope(|scope| {
            let askers: Vec<_> = (0..50).map(|_| scope.spawn(|| state("/readyz"))).collect();
            for asker in askers {
                let said = asker.join().unwrap();
                assert_eq!(said, (503, "the database does not answer\n".to_owned()));
            }
        });
        assert!(began.elapsed() < Duration::from_secs(20));
        assert_eq!(state("/livez").0, 200);
        server.run();
        until(200);
        offer(&world.operator, &json!({}));
    }
}

#[test]
fn an_entry_of_a_book_that_a_killed_process_left_unindexed_is_found_after_the_next_start() {
    let server = Server::start(&["fsync=off"]);
    let url = server.fresh();
    let mut world = World::start(&["--database", &url]);
    let registration = json!({
        "id": "registration",
        "title": {"en": "Registration"},
        "claims": [
            {"path": ["number"], "kind": "text", "required": true},
            {"path": ["name"], "kind": "text", "required": true},
        ],
        "book": {
            "topic": {"type": "registration", "source_id": ["number"]},
            "names": [{"type": "entity_name", "claim": ["name"]}],
        },
    });
    post(&world.operator, "/api/types", &registration);
    post(
        &world.operator,
        "/api/types/registration/publish",
        &json!({}),
    );
    let row = |number: &str| {
        let claims = json!({"number": number, "name": "Blue Whale"});
        json!({"type": "registration", "rows": [{"claims": claims}]})
    };
    post(&world.operator, "/api/book/quick-load", &row("1"));
    let schema = server.ask("SELECT nspname FROM pg_namespace WHERE nspname LIKE '%_book_%'");
    let topics = |number: &str| {
        server.ask(&format!(
            "SELECT count(*) FROM {schema}.topics WHERE source_id = '{number}'"
        ))
    };
    let until = |is_so: &dyn Fn() -> bool| {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    assert_eq!(topics("1"), "1");

    // Somebody else changes the index, so that the process commits the entry and waits.
    let lock = format!("SELECT pg_advisory_lock(hashtextextended('{schema}', 0)), pg_sleep(60)");
    let waiting = |granted: bool| {
        let locks = format!(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted = {granted}
             AND pid IN (SELECT pid FROM pg_stat_activity WHERE query LIKE '%hashtextextended(''{schema}''%')"
        );
        server.ask(&locks) != "0"
    };
    std::thread::scope(|scope| {
        let held = scope.spawn(|| server.held(&lock));
        until(&|| waiting(true));
        let (operator, body) = (world.operator.clone(), row("2"));
        let load = scope.spawn(move || {
            operator
                .send("POST", "/api/book/quick-load", Some(&body))
                .is_ok()
        });
        until(&|| waiting(false));
        world.instance.kill();
        server.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)' AND pid <> pg_backend_pid()");
        held.join().unwrap();
        assert!(!load.join().unwrap());
    });
    assert_eq!(topics("2"), "0");

    let port = world.instance.origin.port().unwrap();
    let mut again = Instance::start(&world.file("data"), port, &["--database", &url]);
    again.ready();
    until(&|| topics("2") == "1");
    let notes = json!({"state": "done", "records": 2, "of": 2});
    let (code, printed, complaints) = run(selfsame()
        .args([
            "book",
            "rebuild",
            "--json",
            "--instance",
            again.origin.as_str(),
        ])
        .arg("--token-file")
        .arg(again.token_file()));
    assert_eq!(code, 0, "{complaints}");
    assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), notes);
    assert_eq!(topics("1"), "1");
}

#[test]
fn a_backup_of_a_database_is_a_file_that_an_instance_starts_from() {
    let url = Server::shared().fresh();
    let mut world = World::start(&["--database", &url]);
    let anna = world.person("anna");
    let given = offer(&world.operator, &json!({}));
    take(&anna, &given);
    let copy = copied(&world);
    world.instance.kill();

    let data = world.file("restored");
    assert_eq!(restored(&copy, &data), (0, String::new()));
    let key = std::fs::read(world.file("data").join("master-key")).unwrap();
    std::fs::write(data.join("master-key"), key).unwrap();
    let port = world.instance.origin.port().unwrap();
    let mut again = Instance::start(&data, port, &[]);
    again.ready();
    let operator = again.operator();
    assert_eq!(text(&issued(&operator, &given)[0], "status"), "valid");
}

/// Restores into a database; the data directory has the master key already.
fn restored_into(world: &World, copy: &str, name: &str, url: &str) -> (i32, Value, String) {
    let data = world.file(name);
    std::fs::create_dir_all(&data).unwrap();
    let key = std::fs::read(world.file("data").join("master-key")).unwrap();
    std::fs::write(data.join("master-key"), key).unwrap();
    let mut command = selfsame();
    command.args(["restore", copy, "--json", "--database", url, "--data"]);
    let (code, printed, complaints) = run(command.arg(&data));
    let restored = serde_json::from_str(&printed).unwrap_or(Value::Null);
    (code, restored, complaints)
}

fn check(data: &Path, url: &str) -> (i32, Value, String) {
    let mut command = selfsame();
    command.args(["check", "--json", "--database", url, "--data"]);
    let (code, printed, complaints) = run(command.arg(data));
    let report = serde_json::from_str(&printed).unwrap_or(Value::Null);
    (code, report, complaints)
}

#[test]
fn a_backup_of_a_file_is_restored_into_an_empty_database_and_no_other() {
    let server = Server::shared();
    let url = server.fresh();
    let mut world = World::start(&[]);
    let anna = world.person("anna");
    let given = offer(&world.operator, &json!({}));
    take(&anna, &given);
    let open = offer(&world.operator, &json!({}));
    let copy = copied(&world);
    world.instance.kill();

    let (code, restored, complaints) = restored_into(&world, &copy, "restored", &url);
    assert_eq!((code, complaints.as_str()), (0, ""));
    assert_eq!(restored["files"], json!(["ledger.sqlite"]));
    let rows = restored["rows"].as_array().unwrap();
    let keys = rows.iter().find(|rows| rows["kind"] == "selfsame.key");
    assert!(keys.unwrap()["rows"].as_u64().unwrap() >= 2, "{restored}");
    let (code, report, complaints) = check(&world.file("restored"), &url);
    assert_eq!(
        (code, &report["sound"]),
        (0, &true.into()),
        "{report} {complaints}"
    );

    let (code, _, complaints) = restored_into(&world, &copy, "again", &url);
    assert_eq!(code, 2, "{complaints}");
    assert!(
        complaints.contains("already has records; nothing was written"),
        "{complaints}"
    );
    assert!(!world.file("again").join("ledger.sqlite").exists());

    let (data, port) = (
        world.file("restored"),
        world.instance.origin.port().unwrap(),
    );
    let mut again = Instance::start(&data, port, &["--database", &url]);
    again.ready();
    assert!(again.log().contains("revoke it again"));
    let operator = again.operator();
    assert_eq!(text(&issued(&operator, &given)[0], "status"), "valid");
    let path = format!("/api/issuer/offers/{}", text(&open, "id"));
    let ended = operator.send("GET", &path, None).unwrap();
    assert_eq!(ended.status, 404, "{ended:?}");
    let (code, _, complaints) = check(&data, &url);
    assert_eq!(code, 2, "{complaints}");
    assert!(
        complaints.contains("stop all processes that serve these records"),
        "{complaints}"
    );
}

#[test]
fn a_damaged_copy_and_another_key_are_refused_before_anything_is_written_to_a_database() {
    let server = Server::shared();
    let url = server.fresh();
    let mut world = World::start(&[]);
    let copy = copied(&world);
    world.instance.kill();
    let other = world.file("other");
    std::fs::create_dir_all(&other).unwrap();
    let restore = |data: &Path| {
        let mut command = selfsame();
        command.args(["restore", &copy, "--database", &url, "--data"]);
        let (code, _, complaints) = run(command.arg(data));
        assert_eq!(code, 2, "{complaints}");
        complaints
    };
    let said = restore(&other);
    assert!(said.contains("the master key is missing"), "{said}");
    std::fs::write(other.join("master-key"), "07".repeat(32)).unwrap();
    let said = restore(&other);
    assert!(
        said.contains("the master key does not open this store"),
        "{said}"
    );

    let store = Path::new(&copy).join("store.sqlite");
    let mut bytes = std::fs::read(&store).unwrap();
    let mark = b"registrygenesisown";
    let at = bytes.windows(mark.len()).position(|part| part == mark);
    bytes[at.unwrap() + mark.len() + 12] ^= 4;
    std::fs::write(&store, bytes).unwrap();
    let (code, _, said) = restored_into(&world, &copy, "damaged", &url);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("nothing was written"), "{said}");
    assert!(!world.file("damaged").join("ledger.sqlite").exists());
    let nothing = "SELECT 1 / (CASE count(*) WHEN 0 THEN 1 ELSE 0 END)
        FROM information_schema.tables WHERE table_schema = 'SCHEMA'";
    let (_, schema) = url.split_once("?schema=").unwrap();
    server.execute(&url, &nothing.replace("SCHEMA", schema));
}

#[test]
fn an_older_dump_that_was_put_back_is_told_by_the_ledger() {
    let server = Server::shared();
    let url = server.fresh();
    let mut world = World::start(&["--database", &url]);
    let older = server.dump(&url);
    let anna = world.person("anna");
    for _ in 0..2 {
        let given = offer(&world.operator, &json!({}));
        take(&anna, &given);
        let did = json!({"method": "selfsame"});
        post(&world.operator, "/api/dids", &did);
    }
    world.instance.kill();
    let data = world.file("data");
    let (code, report, complaints) = check(&data, &url);
    assert_eq!(
        (code, &report["sound"]),
        (0, &true.into()),
        "{report} {complaints}"
    );
    server.put_back(&url, &older);
    let (code, report, _) = check(&data, &url);
    assert_eq!(code, 1, "{report}");
    let said = report.to_string();
    assert!(
        said.contains("the store is older than its ledger"),
        "{said}"
    );
    let port = world.instance.origin.port().unwrap();
    let mut up = selfsame();
    up.args(["up", "--no-demo", "--database", &url, "--listen"]);
    up.arg(format!("127.0.0.1:{port}")).arg("--data").arg(&data);
    let (code, _, complaints) = run(&mut up);
    assert_ne!(code, 0);
    assert!(complaints.contains("older"), "{complaints}");
}

/// The settings for a recovery that docs/high-availability.md shows.
const GUIDE: &str = include_str!("../../../../docs/high-availability.md");

#[test]
fn a_database_recovered_to_a_time_is_sound_and_is_used_by_way_of_a_backup() {
    let server = Server::start(&[
        "archive_mode=on",
        "archive_command=mkdir -p ../archive && cp %p ../archive/%f",
    ]);
    let mut replicas = Replicas::start(&server.fresh(), 1);
    let operator = replicas.operator();
    let anna = person(&operator.with_token(""), "anna");
    let base = server.base_backup();
    let kept = offer(&operator, &json!({}));
    take(&anna, &kept);
    let time = server.ask("SELECT clock_timestamp()");
    let undone = offer(&operator, &json!({}));
    take(&anna, &undone);
    server.ask("SELECT pg_switch_wal()");
    replicas.kill(0);
    server.end("INT");

    let mut blocks = GUIDE.split("```").skip(1).step_by(2);
    let settings = blocks.find(|block| block.contains("restore_command"));
    let settings = settings.unwrap().trim_start_matches("ini");
    let settings = settings.replace("2026-11-28 12:00:00+00", &time);
    assert!(settings.contains(&time), "{settings}");
    server.recover(&base, &settings);
    let began = Instant::now();
    while server.ask("SELECT pg_is_in_recovery()") == "t" {
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(100));
    }
    let (code, report, complaints) = check(&replicas.folder(0), &replicas.url);
    assert_eq!(
        (code, &report["sound"]),
        (0, &true.into()),
        "{report} {complaints}"
    );

    replicas.again(0);
    let copy = copied_at(&replicas.origin, &replicas.replicas[0].token_file());
    replicas.kill(0);
    let (data, former) = (replicas.folder(0), replicas.folder(1));
    std::fs::rename(&data, &former).unwrap();
    std::fs::create_dir(&data).unwrap();
    std::fs::copy(former.join("master-key"), data.join("master-key")).unwrap();
    let copy = copy.replace(data.to_str().unwrap(), former.to_str().unwrap());
    replicas.url = server.address("new");
    let (code, _, complaints) = restore(&copy, &data, &replicas.url);
    assert_eq!(code, 0, "{complaints}");
    replicas.again(0);
    assert!(replicas.replicas[0].log().contains("revoke it again"));
    let operator = replicas.operator();
    assert_eq!(text(&issued(&operator, &kept)[0], "status"), "valid");
    assert_eq!(issued(&operator, &undone).len(), 0);
}

fn restore(copy: &str, data: &Path, url: &str) -> (i32, String, String) {
    let mut command = selfsame();
    command.args(["restore", copy, "--database", url, "--data"]);
    run(command.arg(data))
}

#[test]
fn a_database_that_cannot_be_used_is_told_with_what_to_do_and_without_its_password() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |url: &str| {
        let mut command = selfsame();
        command.args([
            "up",
            "--no-demo",
            "--listen",
            "127.0.0.1:0",
            "--database",
            url,
        ]);
        command.arg("--data").arg(folder.path());
        let (code, _, complaints) = run(&mut command);
        assert_eq!(code, 2, "{complaints}");
        assert!(!complaints.contains("s3cret"), "{complaints}");
        complaints
    };
    let said = refused("postgres://me:s3cret@127.0.0.1:1/x");
    assert!(said.contains("hint: check that the server runs"), "{said}");
    let said = refused("mysql://me:s3cret@127.0.0.1/x");
    assert!(said.contains("postgres://"), "{said}");
    let said = refused("postgres://me:s3cret@127.0.0.1/x?sslmode=require");
    assert!(said.contains("verify-full"), "{said}");
}
