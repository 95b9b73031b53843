//! By the batch and by commands: credentials are revoked from a file; a wallet goes from one instance to another, and
//! answers a request there.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::rig::{
    World, answer, command, get, issued, items, offer, post, run, take, text, write_private,
};

/// A command about the wallet of Maja.
fn wallet(world: &World, arguments: &[&str]) -> Command {
    let mut command = command(world, &[&["wallet"], arguments].concat());
    let password = world.file("password");
    if !password.exists() {
        write_private(&password, "correct horse battery\n");
    }
    command.args(["--email", "maja@example.org", "--password-file"]);
    command.arg(password);
    command
}

/// The file with the passphrase of an export.
fn passphrase(world: &World) -> String {
    let file = world.file("phrase");
    if !file.exists() {
        write_private(&file, "rain on the roof\n");
    }
    file.to_str().unwrap().to_owned()
}

fn lines(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn write_lines(file: &Path, lines: &[String]) {
    fs::write(file, lines.join("\n") + "\n").unwrap();
}

#[test]
fn a_wallet_goes_to_another_instance_and_answers_a_request_there() {
    let here = World::start(&[]);
    let trusts = format!("[trust]\norigins = [\"{}\"]\n", here.instance.origin);
    let there = World::configured(&trusts, &[]);
    let maja = here.person("maja");
    for format in ["dc+sd-jwt", "jwt_vc_json", "dc+sd-jwt"] {
        take(&maja, &offer(&here.operator, &json!({"format": format})));
    }
    let cards = here.file("cards.ndjson");
    let (path, phrase) = (cards.to_str().unwrap(), passphrase(&here));
    let export = ["export", path, "--passphrase-file", &phrase];
    let (code, printed, complaints) = run(&mut wallet(&here, &export));
    assert_eq!(code, 0, "{printed}{complaints}");
    assert!(printed.contains("3 credentials are in"), "{printed}");
    let whole = lines(&cards);
    assert_eq!(whole.len(), 5, "a head, three credentials, an end");
    assert!(!whole.concat().contains("PRIVATE"), "{whole:?}");

    // An export that was cut off goes on where it ended, and comes to the same credentials.
    let cut = format!("{}\n{}\n{}", whole[0], whole[1], &whole[2][..100]);
    fs::write(&cards, cut).unwrap();
    let (code, printed, complaints) = run(&mut wallet(&here, &export));
    assert_eq!(code, 0, "{printed}{complaints}");
    let again = lines(&cards);
    let keys = |lines: &[String]| -> Vec<Value> {
        let read = |line: &String| serde_json::from_str::<Value>(line).unwrap()["key"].clone();
        lines.iter().map(read).collect()
    };
    assert_eq!(keys(&again), keys(&whole));

    let person = there.person("maja");
    let import = ["import", path, "--passphrase-file", &phrase];
    let (code, printed, complaints) = run(&mut wallet(&there, &import));
    assert_eq!(code, 0, "{printed}{complaints}");
    assert!(
        printed.contains("3 credentials were taken in, 0 were"),
        "{printed}"
    );
    let (code, printed, _) = run(&mut wallet(&there, &import));
    assert_eq!(code, 0, "{printed}");
    assert!(
        printed.contains("0 credentials were taken in, 3 were"),
        "{printed}"
    );
    let titles = |api| -> Vec<Value> {
        let listed = get(api, "/api/wallet/credentials");
        items(&listed)
            .iter()
            .map(|card| card["display"]["title"].clone())
            .collect()
    };
    assert_eq!(titles(&person), titles(&maja));

    // The instance that issued them asks, and the wallet elsewhere answers with the keys that came along.
    let asked = post(
        &here.operator,
        "/api/verifier/requests",
        &json!({"type": "immunization"}),
    );
    answer(&person, &asked);
    let request = format!("/api/verifier/requests/{}?wait=20", text(&asked, "id"));
    let verdict = get(&here.operator, &request);
    assert_eq!(verdict["verdict"]["outcome"], "valid", "{verdict}");
}

#[test]
fn a_lost_wallet_is_restored_on_another_instance_by_its_words_and_a_wrong_word_is_named() {
    let here = World::start(&[]);
    let maja = here.person("maja");
    take(&maja, &offer(&here.operator, &json!({})));
    let words = here.file("words.txt");
    let made = ["words", words.to_str().unwrap()];
    let (code, printed, complaints) = run(crate::rig::selfsame().arg("wallet").args(made));
    assert_eq!(code, 0, "{printed}{complaints}");
    let cards = here.file("cards.ndjson");
    let sealed = [
        cards.to_str().unwrap(),
        "--words-file",
        words.to_str().unwrap(),
    ];
    let (code, printed, complaints) = run(wallet(&here, &["export"]).args(sealed));
    assert_eq!(code, 0, "{printed}{complaints}");
    let origin = here.instance.origin.to_string();

    // The first instance is lost; the file and the words are not.
    let there = World::configured(&format!("[trust]\norigins = [\"{origin}\"]\n"), &[]);
    there.person("maja");
    let right = fs::read_to_string(&words).unwrap();
    let mut typed: Vec<&str> = right.split_whitespace().collect();
    let seventh = std::mem::replace(&mut typed[6], "zebra");
    typed[6] = if seventh == "zebra" { "above" } else { "zebra" };
    let wrong = there.file("typed.txt");
    fs::write(&wrong, typed.join("\n")).unwrap();
    let restore = |file: &Path| {
        let sealed = [
            cards.to_str().unwrap(),
            "--words-file",
            file.to_str().unwrap(),
        ];
        run(wallet(&there, &["import"]).args(sealed))
    };
    let (code, printed, complaints) = restore(&wrong);
    assert_ne!(code, 0, "{printed}");
    assert!(complaints.contains("word 7 is"), "{complaints}");
    typed[6] = seventh;
    fs::write(&wrong, typed.join(" ").to_uppercase()).unwrap();
    let (code, printed, complaints) = restore(&wrong);
    assert_eq!(code, 0, "{printed}{complaints}");

    // The restored wallet shows the card beside the living one: both are valid.
    let restored = there.anybody();
    let who = json!({"email": "maja@example.org", "password": "correct horse battery"});
    let session = post(&restored, "/api/wallet/sessions", &who);
    let restored = restored.with_token(&text(&session, "token"));
    assert_eq!(items(&get(&restored, "/api/wallet/credentials")).len(), 1);
    let request = json!({"type": "immunization", "claims": [["patient", "family_name"]]});
    for person in [&maja, &restored] {
        let asked = post(&here.operator, "/api/verifier/requests", &request);
        answer(person, &asked);
        let verdict = crate::rig::verdict(&here.operator, &asked);
        assert_eq!(verdict["verdict"]["outcome"], "valid", "{verdict}");
    }
}

#[test]
fn a_holder_takes_everything_along_and_deletes_the_account_for_good() {
    let world = World::start(&[]);
    let maja = world.person("maja");
    take(&maja, &offer(&world.operator, &json!({})));
    let (code, printed, complaints) = run(&mut wallet(&world, &["everything"]));
    assert_eq!(code, 0, "{complaints}");
    let entries: Vec<Value> = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<&str> = entries
        .iter()
        .filter_map(|one| one["kind"].as_str())
        .collect();
    assert_eq!(kinds[..3], ["account", "card", "history"], "{printed}");
    assert!(printed.contains("maja@example.org") && printed.contains("eyJ"));
    assert!(!printed.contains("\"d\""), "no private key");

    let wrong = maja.send(
        "DELETE",
        "/api/wallet/account",
        Some(&json!({"password": "wrong horse"})),
    );
    assert_eq!(wrong.unwrap().status, 401);
    let (code, printed, complaints) = run(&mut wallet(&world, &["delete", "--yes"]));
    assert_eq!(code, 0, "{printed}{complaints}");
    let cards = maja.send("GET", "/api/wallet/credentials", None).unwrap();
    assert_eq!(cards.status, 401, "its sessions are over");
    let who = json!({"email": "maja@example.org", "password": "correct horse battery"});
    let again = world
        .anybody()
        .send("POST", "/api/wallet/sessions", Some(&who))
        .unwrap();
    assert_eq!(again.status, 401);
    // The address is free again, for a wallet without anything of the first one.
    let new = world.person("maja");
    assert!(items(&get(&new, "/api/wallet/credentials")).is_empty());
}

#[test]
fn each_line_of_an_import_that_is_wrong_is_named_and_all_others_go_in() {
    let world = World::start(&[]);
    let maja = world.person("maja");
    for _ in 0..3 {
        take(&maja, &offer(&world.operator, &json!({})));
    }
    let cards = world.file("cards.ndjson");
    let (path, phrase) = (cards.to_str().unwrap(), passphrase(&world));
    let export = ["export", path, "--passphrase-file", &phrase];
    assert_eq!(run(&mut wallet(&world, &export)).0, 0);
    for card in items(&get(&maja, "/api/wallet/credentials")) {
        let path = format!("/api/wallet/credentials/{}", text(card, "id"));
        assert!(maja.send("DELETE", &path, None).unwrap().is_success());
    }
    let good = lines(&cards);
    let changed = |name: &str, value: Value| {
        let mut line: Value = serde_json::from_str(&good[3]).unwrap();
        line[name] = value;
        line.to_string()
    };
    let wrong = [
        good[0].clone(),
        good[1].clone(),
        "{\"key\": 7".to_owned(),
        good[1].clone(),
        format!("{{\"credential\": \"{}\"}}", "x".repeat(400 << 10)),
        changed("key", json!("another")),
        "\u{1f600}".to_owned(),
        good[2].clone(),
        good[3][..200].to_owned(),
    ];
    write_lines(&cards, &wrong);
    let import = ["import", path, "--passphrase-file", &phrase];
    let (code, printed, complaints) = run(&mut wallet(&world, &import));
    assert_eq!(code, 1, "{printed}{complaints}");
    for said in [
        "line 3: this is no line of an export",
        "line 4: the same credential as on line 2",
        "line 5: the line is longer than",
        "line 6: the credential does not fit its key",
        "line 7: this is no line of an export",
        "line 9: this is no line of an export",
        "the file has no end",
    ] {
        assert!(complaints.contains(said), "{said}: {complaints}");
    }
    assert!(printed.contains("2 credentials were taken in"), "{printed}");
    write_lines(&cards, &good);
    let (code, printed, complaints) = run(&mut wallet(&world, &import));
    assert_eq!(code, 0, "{printed}{complaints}");
    assert!(
        printed.contains("1 credentials were taken in, 2 were"),
        "{printed}"
    );

    let other = world.file("other");
    write_private(&other, "another passphrase\n");
    let import = ["import", path, "--passphrase-file", other.to_str().unwrap()];
    let (code, _, complaints) = run(&mut wallet(&world, &import));
    assert_eq!(code, 2, "{complaints}");
    assert!(complaints.contains("do not open this file"), "{complaints}");
}

#[test]
fn the_ids_in_a_file_are_revoked_and_the_wrong_ones_are_named_by_their_lines() {
    let world = World::start(&[]);
    let maja = world.person("maja");
    let mut ids = Vec::new();
    for _ in 0..3 {
        let offer = offer(&world.operator, &json!({}));
        take(&maja, &offer);
        ids.push(text(&issued(&world.operator, &offer)[0], "id"));
    }
    let file = world.file("ids.txt");
    let wrong = [
        ids[0].clone(),
        "no-such-credential".to_owned(),
        String::new(),
        "x".repeat(1000),
        ids[1].clone(),
        ids[0].clone(),
    ];
    write_lines(&file, &wrong);
    let revoke = ["revoke", "--file", file.to_str().unwrap()];
    let (code, printed, complaints) = run(&mut command(&world, &revoke));
    assert_eq!(code, 1, "{printed}{complaints}");
    assert!(
        complaints.contains("line 2: no-such-credential: there is no such"),
        "{complaints}"
    );
    assert!(
        complaints.contains("line 4: the line is longer than 128 bytes"),
        "{complaints}"
    );
    let status = |id: &str| get(&world.operator, &format!("/api/issuer/credentials/{id}"));
    let statuses: Vec<Value> = ids.iter().map(|id| status(id)["status"].clone()).collect();
    assert_eq!(statuses, ["revoked", "revoked", "valid"]);

    write_lines(&file, &ids);
    let (code, printed, complaints) = run(command(&world, &revoke).arg("--json"));
    assert_eq!(code, 0, "{printed}{complaints}");
    let told: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((&told["done"], &told["refused"]), (&json!(3), &json!([])));
}
