//! An instance whose records are in PostgreSQL: a whole flow across crashes of both, and a backup that is a file.

use serde_json::json;

use crate::copies::{copied, restored};
use crate::instance::Instance;
use crate::postgres_server::Server;
use crate::rig::{
    World, answer, issued, offer, post, recheck_until, run, selfsame, set_status, take, text,
    verdict,
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
    let figures = operator.send("GET", "/metrics", None).unwrap();
    let figures = String::from_utf8(figures.body).unwrap();
    for metric in [
        "selfsame_database_connections",
        "selfsame_database_wait_seconds_count",
        "selfsame_database_commits_queued",
        "selfsame_outbox_lag_seconds",
    ] {
        assert!(
            figures.contains(&format!("\n{metric} ")),
            "{metric}: {figures}"
        );
    }
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
