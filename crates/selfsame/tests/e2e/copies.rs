//! Backups of an instance: made while it runs, restored, and what must not happen twice afterwards.

use std::path::Path;

use serde_json::{Value, json};
use url::Url;

use crate::foreign::Holder;
use crate::http::Api;
use crate::instance::Instance;
use crate::rig::{
    World, answer, assert_error, issued, offer, post, recheck_until, run, selfsame, set_status,
    take, text, verdict,
};

/// The directory of a new backup.
pub fn copied(world: &World) -> String {
    copied_at(&world.instance.origin, &world.instance.token_file())
}

/// The directory of a copy of the instance at this origin.
pub fn copied_at(origin: &Url, token_file: &Path) -> String {
    let mut command = selfsame();
    command.args(["backup", "--json", "--instance", origin.as_str()]);
    command.arg("--token-file").arg(token_file);
    let (code, printed, complaints) = run(&mut command);
    assert_eq!(code, 0, "{complaints}");
    let made: Value = serde_json::from_str(&printed).unwrap();
    text(&made, "directory")
}

pub fn restored(copy: &str, data: &Path) -> (i32, String) {
    let mut command = selfsame();
    command.args(["restore", copy, "--data"]).arg(data);
    let (code, _, complaints) = run(&mut command);
    (code, complaints)
}

fn ask(operator: &Api) -> Value {
    post(
        operator,
        "/api/verifier/requests",
        &json!({"type": "immunization"}),
    )
}

#[test]
fn a_copy_that_is_put_back_keeps_what_was_issued_and_gives_nothing_out_again() {
    let mut world = World::start(&[]);
    let anna = world.person("anna");
    let before = offer(&world.operator, &json!({}));
    take(&anna, &before);
    let open = offer(&world.operator, &json!({}));
    let asked = ask(&world.operator);
    let copy = copied(&world);

    let holder = Holder::of(&open, &world.anybody());
    assert!(holder.redeem(&[]).is_success());
    let since = offer(&world.operator, &json!({}));
    take(&anna, &since);
    let place = |api, offer| {
        let credential = &issued(api, offer)[0];
        (
            text(credential, "status_list"),
            credential["status_index"].as_u64().unwrap(),
        )
    };
    let given = place(&world.operator, &since);

    world.instance.kill();
    let data = world.file("restored");
    assert_eq!(restored(&copy, &data), (0, String::new()));
    let key = std::fs::read(world.file("data").join("master-key")).unwrap();
    std::fs::write(data.join("master-key"), key).unwrap();
    let port = world.instance.origin.port().unwrap();
    let mut again = Instance::start(&data, port, &[]);
    again.ready();
    let operator = again.operator();
    let log = again.log();
    assert!(log.contains("the registry's ledger is a backup"), "{log}");

    assert_error(&holder.redeem(&[]), 400, "invalid_grant");
    let gone = format!("/api/verifier/requests/{}", text(&asked, "id"));
    assert_eq!(operator.send("GET", &gone, None).unwrap().status, 404);
    let mine = world.operator.send("GET", "/api/status", None).unwrap();
    assert_eq!(
        mine.status, 401,
        "a token that may have been withdrawn since"
    );
    let session = anna.send("GET", "/api/wallet/credentials", None).unwrap();
    assert_eq!(session.status, 401, "a session that may have ended since");
    assert!(again.log().contains("revoke it again"));

    let anna = post(
        &operator.with_token(""),
        "/api/wallet/sessions",
        &json!({"email": "anna@example.org", "password": "correct horse battery"}),
    );
    let anna = operator.with_token(&text(&anna, "token"));
    let asked = ask(&operator);
    answer(&anna, &asked);
    assert_eq!(verdict(&operator, &asked)["verdict"]["outcome"], "valid");
    set_status(&operator, &issued(&operator, &before)[0], "revoked");
    recheck_until(&operator, &asked, "revoked");
    let new = offer(&operator, &json!({}));
    take(&anna, &new);
    assert_ne!(place(&operator, &new).0, given.0, "another status list");
}

#[test]
fn a_directory_with_something_in_it_is_left_alone_and_so_is_a_missing_master_key() {
    let mut world = World::start(&[]);
    let copy = copied(&world);
    world.instance.kill();
    let (code, complaints) = restored(&copy, &world.file("data"));
    assert_eq!(code, 2, "{complaints}");
    assert!(
        complaints.contains("the directory is not empty"),
        "{complaints}"
    );
    let (code, complaints) = restored(world.file("").to_str().unwrap(), &world.file("new"));
    assert_eq!(code, 2);
    assert!(
        complaints.contains("contains no store.sqlite"),
        "{complaints}"
    );
    let nowhere = Path::new(&copy).join("store.sqlite").join("data");
    let (code, complaints) = restored(&copy, &nowhere);
    assert_eq!(code, 2);
    let place = nowhere.display().to_string();
    assert!(complaints.contains(&place), "{complaints}");

    let data = world.file("without-key");
    assert_eq!(restored(&copy, &data).0, 0);
    let mut up = selfsame();
    up.args(["up", "--no-demo", "--listen", "127.0.0.1:0", "--data"]);
    let (code, _, complaints) = run(up.arg(&data));
    assert_eq!(code, 2);
    assert!(
        complaints.contains("the master key of these data is missing"),
        "{complaints}"
    );
    assert!(!data.join("master-key").exists());
}
