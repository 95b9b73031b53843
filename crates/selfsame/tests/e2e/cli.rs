//! The command line against a running instance: what it prints, in lines and in JSON, and its exit codes.

use std::io::{BufRead as _, BufReader};

use serde_json::{Value, json};

use crate::foreign::Holder;
use crate::instance::free_port;
use crate::rig::{
    World, command, get, items, offer, person, post, run, selfsame, text, write_private,
};

/// The output of a command that must succeed.
#[track_caller]
fn said(world: &World, arguments: &[&str]) -> String {
    let (code, printed, complaints) = run(&mut command(world, arguments));
    assert_eq!(code, 0, "{arguments:?}: {printed}{complaints}");
    printed
}

/// The one JSON object it prints with `--json`, and its exit code.
#[track_caller]
fn json_of(world: &World, arguments: &[&str]) -> (i32, Value) {
    let (code, printed, complaints) = run(command(world, arguments).arg("--json"));
    assert_eq!(
        printed.trim().lines().count(),
        1,
        "{arguments:?}: one object: {printed}{complaints}"
    );
    (code, serde_json::from_str(&printed).unwrap())
}

#[test]
fn every_verb_has_help_with_an_example() {
    let verbs: [&[&str]; 65] = [
        &["hsm"],
        &["person"],
        &["person", "invite"],
        &["key"],
        &["key", "create"],
        &["audit"],
        &["audit", "list"],
        &["audit", "export"],
        &["audit", "verify"],
        &["approve"],
        &["offer"],
        &["offer", "list"],
        &["credential"],
        &["credential", "show"],
        &["delegation"],
        &["delegation", "add"],
        &["request"],
        &["request", "create"],
        &["wallet"],
        &["wallet", "create"],
        &["wallet", "export"],
        &["wallet", "import"],
        &["completions"],
        &["manual"],
        &[],
        &["up"],
        &["demo"],
        &["demo", "permits"],
        &["did"],
        &["did", "new"],
        &["did", "show"],
        &["did", "resolve"],
        &["did", "update"],
        &["did", "deactivate"],
        &["issue"],
        &["present"],
        &["verify"],
        &["revoke"],
        &["type"],
        &["status"],
        &["backup"],
        &["restore"],
        &["anoncreds"],
        &["anoncreds", "schema"],
        &["anoncreds", "cred-def"],
        &["anoncreds", "offer"],
        &["anoncreds", "request"],
        &["anoncreds", "issue"],
        &["anoncreds", "process"],
        &["anoncreds", "rev-reg"],
        &["anoncreds", "status-list"],
        &["anoncreds", "revoke"],
        &["anoncreds", "present"],
        &["anoncreds", "verify"],
        &["bench"],
        &["tls"],
        &["tls", "server"],
        &["tls", "client"],
        &["tls", "proxy"],
        &["tls", "identity"],
        &["tls", "identity", "new"],
        &["tls", "identity", "show"],
        &["tls", "identity", "update"],
        &["tls", "identity", "deactivate"],
        &["tls", "identity", "fetch"],
    ];
    for verb in verbs {
        let (code, printed, _) = run(selfsame().args(verb).arg("--help"));
        assert_eq!(code, 0, "{verb:?}");
        assert!(printed.contains("Usage: selfsame"), "{verb:?}: {printed}");
        let example = format!("selfsame {}", verb.join(" "));
        let examples = printed
            .split("Example")
            .nth(1)
            .unwrap_or_else(|| panic!("{verb:?} has no example: {printed}"));
        assert!(
            examples.contains(example.trim()),
            "{verb:?}: the example is of something else: {examples}"
        );
    }
    let (code, _, complaints) = run(selfsame().arg("nonsense"));
    assert_eq!(code, 2, "{complaints}");
    assert_eq!(run(&mut selfsame()).0, 2, "no verb is no use");
}

#[test]
fn a_missing_instance_and_a_wrong_token_are_faults_of_the_environment() {
    let world = World::start(&[]);
    let nowhere = format!("http://localhost:{}/", free_port());
    let mut away = selfsame();
    away.args(["status", "--instance", &nowhere])
        .arg("--token-file")
        .arg(world.instance.token_file());
    let (code, printed, complaints) = run(&mut away);
    assert_eq!((code, printed.as_str()), (2, ""), "{complaints}");
    assert!(complaints.starts_with("selfsame: "), "{complaints}");
    let token = world.file("wrong-token");
    write_private(&token, "wrong");
    let mut wrong = selfsame();
    wrong
        .args([
            "status",
            "--instance",
            world.instance.origin.as_str(),
            "--token-file",
        ])
        .arg(&token);
    let (code, _, complaints) = run(&mut wrong);
    assert_eq!(code, 2, "{complaints}");
    assert!(complaints.contains("token"), "{complaints}");
    let mut absent = selfsame();
    absent
        .args(["status", "--token-file"])
        .arg(world.file("absent"));
    let (code, _, complaints) = run(&mut absent);
    assert_eq!(code, 2, "{complaints}");
    assert!(
        complaints.contains("hint: "),
        "what to do about it: {complaints}"
    );
}

#[test]
fn no_token_and_no_password_is_sent_in_the_clear_to_another_machine() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    write_private(&secret, "secret");
    let secret = secret.to_str().unwrap();
    // A reserved address that no host has (RFC 5737): a command that called it would wait.
    let far = "http://192.0.2.2:7380/";
    let present = ["present", "openid4vp://?request_uri=x", "--instance", far];
    let wallet = ["--email", "maja@example.org", "--password-file", secret];
    let to_far = ["--node", far, "--token-file", secret, "--key", secret];
    let registry = ["--registry", far, "--registry-token-file", secret];
    for arguments in [
        vec!["status", "--instance", far],
        [&present[..], &wallet].concat(),
        vec![
            "demo",
            "immunization",
            "--issuer",
            far,
            "--issuer-token-file",
            secret,
        ],
        [&["registry", "remove-validator", "node-1"], &to_far[..]].concat(),
        [
            &["up", "--no-demo", "--listen", "127.0.0.1:0"],
            &registry[..],
        ]
        .concat(),
        [
            &["tls", "identity", "new", "--identity", "node"],
            &registry[..],
        ]
        .concat(),
    ] {
        let mut command = selfsame();
        command.args(&arguments).env("SELFSAME_TOKEN", "secret");
        let (code, printed, complaints) = run(command.current_dir(folder.path()));
        assert_eq!(
            (code, printed.as_str()),
            (2, ""),
            "{arguments:?}: {complaints}"
        );
        assert!(complaints.contains("not encrypted"), "{complaints}");
        assert!(complaints.contains("hint: use https"), "{complaints}");
    }
}

#[test]
fn an_address_without_a_scheme_is_told_how_it_is_written() {
    for address in ["localhost:7380", "localhost", "ftp://localhost/"] {
        let (code, _, complaints) = run(selfsame().args(["status", "--instance", address]));
        assert_eq!(code, 2, "{complaints}");
        assert!(
            complaints.contains("http://localhost:7380/"),
            "{complaints}"
        );
    }
}

#[test]
fn a_variable_for_the_token_that_is_empty_names_none() {
    let world = World::start(&[]);
    for empty in ["", " "] {
        let (code, _, complaints) = run(command(&world, &["status"]).env("SELFSAME_TOKEN", empty));
        assert_eq!(code, 0, "{complaints}");
    }
    let (code, ..) = run(command(&world, &["status"]).env("SELFSAME_TOKEN", "wrong"));
    assert_eq!(code, 2);
}

#[test]
fn a_nodes_folder_that_is_mistyped_is_the_command_lines_fault_and_a_node_that_is_away_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let status = |node: &str| {
        let mut status = selfsame();
        status.args(["registry", "status", node]);
        run(status.current_dir(folder.path()))
    };
    let (code, _, complaints) = status("network/nod-1");
    assert_eq!(code, 2, "{complaints}");
    assert!(complaints.contains("network/nod-1"), "{complaints}");
    let (code, printed, complaints) = status(&format!("http://localhost:{}/", free_port()));
    assert_eq!(code, 1, "{complaints}");
    assert!(printed.contains("proves nothing"), "{printed}");
}

#[test]
fn an_id_may_begin_with_a_hyphen() {
    let world = World::start(&[]);
    for id in ["-hGoFbZ", "-pabc", "-h-h", "--hGo", "-Vabc"] {
        let (code, printed, complaints) = run(&mut command(&world, &["revoke", id]));
        assert_eq!((code, printed.as_str()), (2, ""), "{id}: {complaints}");
        assert!(
            complaints.contains("no such credential"),
            "{id}: {complaints}"
        );
    }
    let (code, printed, _) = run(&mut command(&world, &["revoke", "-h"]));
    assert_eq!(code, 0);
    assert!(printed.contains("Usage"), "{printed}");
}

#[test]
fn what_is_wrong_with_a_wallets_password_is_said_of_the_password() {
    let world = World::start(&[]);
    let password = world.file("password");
    let mut present = command(&world, &["present", "openid4vp://?client_id=x"]);
    present.args(["--email", "stranger@example.org", "--password-file"]);
    present.arg(&password);
    let (code, _, complaints) = run(&mut present);
    assert_eq!(code, 2, "{complaints}");
    assert!(complaints.contains("hint: ") && complaints.contains("--password-file"));
    assert!(!complaints.contains("--token-file"), "{complaints}");
    write_private(&password, "a wrong password");
    let (code, _, complaints) = run(&mut present);
    assert_eq!(code, 2, "{complaints}");
    assert!(complaints.contains("the page /wallet"), "{complaints}");
    assert!(!complaints.contains("--token-file"), "{complaints}");
}

#[test]
fn a_command_with_an_unknown_name_says_what_to_name() {
    let world = World::start(&[]);
    person(&world.anybody(), "maja");
    let password = world.file("password");
    write_private(&password, "correct horse battery");
    let password = password.to_str().unwrap();
    let wallet = ["--email", "maja@example.org", "--password-file", password];
    let present = |link| [&["present", link], &wallet[..]].concat();
    for (wrong, hint) in [
        (present("hello"), "the whole link"),
        (present("openid4vp://?client_id=…"), "the whole link"),
        (present("openid-credential-offer://?"), "new offer"),
        (vec!["verify"], "--ask"),
        (vec!["revoke", "5Zr…"], "/api/issuer/credentials"),
        (vec!["did", "update", "did:selfsame:…"], "selfsame did show"),
        (vec!["did", "deactivate", "x"], "selfsame did show"),
        (vec!["did", "new", "--method", "foo"], "one of"),
        (vec!["issue", "nothing"], "one of"),
    ] {
        let (code, printed, complaints) = run(&mut command(&world, &wrong));
        assert_eq!((code, printed.as_str()), (2, ""), "{wrong:?}: {complaints}");
        let told = complaints.split_once("hint: ").map(|(_, hint)| hint);
        assert!(
            told.is_some_and(|told| told.contains(hint)),
            "{wrong:?}: {complaints}"
        );
    }
}

#[test]
fn status_tells_what_the_instance_is() {
    let world = World::start(&[]);
    let printed = said(&world, &["status"]);
    for word in [
        world.instance.origin.as_str(),
        "issuer, wallet, verifier, registry",
        "did:selfsame:",
        "version",
    ] {
        assert!(printed.contains(word), "no `{word}` in {printed}");
    }
    let (code, status) = json_of(&world, &["status"]);
    assert_eq!(code, 0);
    assert_eq!(status["origin"], world.instance.origin.as_str());
    assert_eq!(
        status["roles"],
        json!(["issuer", "wallet", "verifier", "registry"])
    );
    assert_eq!(status["outbox_dead"], 0);
}

#[test]
fn what_cannot_be_written_is_told_and_a_reader_that_has_gone_is_not() {
    let world = World::start(&[]);
    let issue = || command(&world, &["issue", "immunization", "--examples", "--json"]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let lost = issue().stdout(full.unwrap()).output().unwrap();
    let complaints = String::from_utf8_lossy(&lost.stderr);
    assert_eq!(lost.status.code(), Some(2), "{complaints}");
    assert!(complaints.contains("standard output"), "{complaints}");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let unread = issue().stdout(writer).output().unwrap();
    assert_eq!(unread.status.code(), Some(0));
    assert!(unread.stderr.is_empty(), "{unread:?}");
}

#[test]
fn dids_of_every_method_are_made_shown_and_resolved() {
    let world = World::start(&[]);
    for (method, kind) in [
        ("key", "Ed25519"),
        ("key", "P-256"),
        ("jwk", "P-256"),
        ("selfsame", "Ed25519"),
        ("web", "P-256"),
    ] {
        let (code, made) = json_of(&world, &["did", "new", "--method", method, "--kind", kind]);
        assert_eq!(code, 0, "{made}");
        let did = text(&made, "did");
        assert!(did.starts_with(&format!("did:{method}:")), "{did}");
        assert_eq!(made["state"], "active");
        assert!(said(&world, &["did", "show"]).contains(&did));
        let (code, resolved) = json_of(&world, &["did", "resolve", &did]);
        assert_eq!(code, 0, "{resolved}");
        assert_eq!(resolved["didDocument"]["id"], did.as_str());
    }
    let (_, shown) = json_of(&world, &["did", "show"]);
    assert!(items(&shown).len() >= 5, "{shown}");
    let (code, printed, complaints) = run(&mut command(
        &world,
        &["did", "new", "--method", "nonsense"],
    ));
    assert_eq!((code, printed.as_str()), (2, ""), "{complaints}");
}

#[test]
fn a_did_selfsame_is_rotated_and_deactivated_and_keeps_its_history() {
    let world = World::start(&[]);
    let did = text(
        &json_of(&world, &["did", "new", "--method", "selfsame"]).1,
        "did",
    );
    let key = |resolved: &Value| resolved["didDocument"]["verificationMethod"][0].clone();
    let (_, before) = json_of(&world, &["did", "resolve", &did]);
    let (code, updated) = json_of(&world, &["did", "update", &did]);
    assert_eq!(code, 0, "{updated}");
    let (_, after) = json_of(&world, &["did", "resolve", &did]);
    assert_ne!(key(&before), key(&after), "the key was not rotated");
    let created = text(&before["didDocumentMetadata"], "created");
    for (url, expected) in [
        (format!("{did}?versionId=1"), &before),
        (format!("{did}?versionId=2"), &after),
    ] {
        let (code, then) = json_of(&world, &["did", "resolve", &url]);
        assert_eq!((code, key(&then)), (0, key(expected)), "{url}: {then}");
    }
    // Both versions may be from the same second; none is earlier.
    for (time, code) in [(created.as_str(), 0), ("2020-01-01T00:00:00Z", 1)] {
        let url = format!("{did}?versionTime={time}");
        assert_eq!(json_of(&world, &["did", "resolve", &url]).0, code, "{url}");
    }
    let printed = said(&world, &["did", "deactivate", &did]);
    assert!(printed.contains("deactivated"), "{printed}");
    let (code, gone) = json_of(&world, &["did", "resolve", &did]);
    assert_eq!(code, 1, "a deactivated DID is a proper no: {gone}");
    assert_eq!(gone["didDocumentMetadata"]["deactivated"], true, "{gone}");
    let (code, ..) = run(&mut command(&world, &["did", "update", &did]));
    assert_ne!(code, 0, "a deactivated DID was rotated");
    let no_time = format!("{did}?versionTime=garbage");
    for (did, what) in [
        ("did:selfsame:nonsense", "of no network"),
        ("nonsense", "no DID"),
        ("did:nobody:x", "of no method"),
        (&no_time, "at no time"),
    ] {
        let (code, answer) = json_of(&world, &["did", "resolve", did]);
        assert_eq!(code, 2, "{what}: {answer}");
        assert!(
            answer["didResolutionMetadata"]["error"].is_object(),
            "{what}: {answer}"
        );
    }
}

#[test]
fn a_credential_is_issued_taken_shown_verified_and_revoked_by_commands() {
    let world = World::start(&[]);
    person(&world.anybody(), "maja");
    let password = world.file("password");
    write_private(&password, "correct horse battery");
    let password = password.to_str().unwrap().to_owned();
    let wallet = ["--email", "maja@example.org", "--password-file", &password];

    let printed = said(
        &world,
        &[
            "issue",
            "immunization",
            "--examples",
            "--claim",
            "patient.given_name=Maja",
        ],
    );
    let link = printed
        .lines()
        .find(|line| line.starts_with("openid-credential-offer://"))
        .unwrap()
        .to_owned();
    let looked = [&["present", link.as_str(), "--preview"], &wallet[..]].concat();
    let preview = said(&world, &looked);
    assert!(
        preview.contains("offers") && preview.contains("Immunization record"),
        "{preview}"
    );
    let taken = said(&world, &[&["present", link.as_str()], &wallet[..]].concat());
    assert!(taken.contains("Immunization"), "{taken}");
    // An offer can be accepted once; the second time is a negative answer.
    let (code, _, complaints) = run(&mut command(
        &world,
        &[&["present", link.as_str()], &wallet[..]].concat(),
    ));
    assert_eq!(
        code, 1,
        "an offer that is gone is a proper no: {complaints}"
    );

    let ask = command(
        &world,
        &["verify", "--ask", "immunization", "--wait", "60", "--json"],
    )
    .stdout(std::process::Stdio::piped())
    .stderr(std::process::Stdio::piped())
    .spawn()
    .unwrap();
    let asked = newest_request(&world);
    let preview = said(
        &world,
        &[&["present", asked.as_str(), "--preview"], &wallet[..]].concat(),
    );
    assert!(
        preview.contains("Disease") && preview.contains("asks"),
        "{preview}"
    );
    let shown = said(
        &world,
        &[&["present", asked.as_str()], &wallet[..]].concat(),
    );
    assert!(shown.contains("shown"), "{shown}");
    let output = ask.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(status["verdict"]["outcome"], "valid");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("openid4vp://"),
        "the link for a wallet"
    );

    let listed = get(&world.operator, "/api/issuer/credentials");
    let id = text(&items(&listed)[0], "id");
    assert!(said(&world, &["revoke", &id, "--suspend"]).contains("suspended"));
    assert!(said(&world, &["revoke", &id, "--reinstate"]).contains("valid"));
    let (code, revoked) = json_of(&world, &["revoke", &id]);
    assert_eq!((code, revoked["status"].as_str()), (0, Some("revoked")));
    let (code, _, complaints) = run(&mut command(&world, &["revoke", &id, "--reinstate"]));
    assert_eq!(
        code, 1,
        "a revoked credential stays so, which is a proper no: {complaints}"
    );
    let (code, ..) = run(&mut command(
        &world,
        &["revoke", &id, "--suspend", "--reinstate"],
    ));
    assert_eq!(code, 2);
}

/// Starts a command whose output is read when it ends.
fn started(world: &World, arguments: &[&str]) -> std::process::Child {
    command(world, arguments)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn who_waits_for_a_wallet_is_told_what_it_does_and_pipes_get_no_code_to_scan() {
    let world = World::start(&[]);
    let maja = world.person("maja");
    let issue = ["issue", "immunization", "--examples", "--wait", "60"];
    let issue = started(&world, &issue);
    let offered = || {
        items(&get(&world.operator, "/api/issuer/offers"))
            .first()
            .cloned()
    };
    let offer = wait_for(offered);
    post(
        &maja,
        "/api/wallet/offers/accept",
        &json!({"offer": offer["uri"]}),
    );
    let issued = issue.wait_with_output().unwrap();
    let told = String::from_utf8(issued.stderr).unwrap();
    assert_eq!(
        told,
        "waiting for a wallet\na wallet has accepted the offer\n"
    );
    let printed = String::from_utf8(issued.stdout).unwrap();
    assert_eq!(
        printed.lines().count(),
        2,
        "the offer and its link: {printed}"
    );

    let mut ask = started(&world, &["verify", "--ask", "immunization", "--wait", "60"]);
    let said = BufReader::new(ask.stderr.take().unwrap());
    let mut said = said.lines().map(Result::unwrap);
    let asked = newest_request(&world);
    let preview = post(
        &maja,
        "/api/wallet/requests/preview",
        &json!({"request": asked}),
    );
    // It says so before the wallet answers.
    let mut told: Vec<String> = Vec::new();
    while told
        .last()
        .is_none_or(|line| line != "a wallet has opened the request")
    {
        told.push(said.next().expect("a wallet has opened the request"));
    }
    let share = &preview["shares"][0];
    let cards = json!({text(share, "query"): share["choices"][0]["card"]});
    let answer = json!({"request": preview["id"], "cards": cards});
    post(&maja, "/api/wallet/requests/answer", &answer);
    let asked = ask.wait_with_output().unwrap();
    told.extend(said);
    let told: Vec<&str> = told.iter().skip(1).map(String::as_str).collect();
    let expected = [
        "waiting for a wallet",
        "a wallet has opened the request",
        "the wallet has answered",
    ];
    assert_eq!(told, expected);
    let printed = String::from_utf8(asked.stdout).unwrap();
    assert!(
        printed.starts_with("VALID") && !printed.contains('\u{1b}'),
        "{printed}"
    );
}

fn wait_for<T>(what: impl Fn() -> Option<T>) -> T {
    for _ in 0..2_400 {
        if let Some(found) = what() {
            return found;
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    panic!("it did not come");
}

/// The link of the newest request.
fn newest_request(world: &World) -> String {
    for _ in 0..2_400 {
        let listed = get(&world.operator, "/api/verifier/requests");
        if let Some(request) = items(&listed).first() {
            return text(request, "uri");
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    panic!("no request was made");
}

#[test]
fn verify_prints_the_verdict_table_and_ends_by_it() {
    let world = World::start(&[]);
    let made = offer(&world.operator, &json!({}));
    let credential = Holder::of(&made, &world.anybody()).credential();
    let file = world.file("credential.txt");
    std::fs::write(&file, &credential).unwrap();
    let path = file.to_str().unwrap();
    let printed = said(&world, &["verify", path]);
    assert!(printed.starts_with("VALID"), "{printed}");
    for word in [
        "Immunization record",
        "issued by Selfsame Clinic",
        "valid until 20",
        "✓ issuer_signature",
        "RFC 7515 §5.2",
        "status as of",
    ] {
        assert!(printed.contains(word), "no `{word}` in {printed}");
    }
    let (code, verdict) = json_of(&world, &["verify", path, "--format", "dc+sd-jwt"]);
    assert_eq!((code, verdict["outcome"].as_str()), (0, Some("valid")));
    let (jwt, rest) = credential.split_once('~').unwrap();
    let (signed, signature) = jwt.rsplit_once('.').unwrap();
    let forged = if signature.starts_with('A') {
        signature.replacen('A', "B", 1)
    } else {
        format!("A{}", &signature[1..])
    };
    std::fs::write(&file, format!("{signed}.{forged}~{rest}")).unwrap();
    let (code, printed, _) = run(&mut command(&world, &["verify", path]));
    assert_eq!(code, 1, "{printed}");
    assert!(
        printed.starts_with("INVALID") && printed.contains("✗ issuer_signature"),
        "{printed}"
    );
    let (code, printed, complaints) = run(&mut command(
        &world,
        &["verify", world.file("absent").to_str().unwrap()],
    ));
    assert_eq!((code, printed.as_str()), (2, ""), "{complaints}");
    std::fs::write(&file, "nonsense").unwrap();
    let (code, printed, complaints) = run(&mut command(&world, &["verify", path]));
    assert_ne!(code, 0, "{printed}{complaints}");
    assert_ne!(code, 3, "nonsense is not our fault: {printed}{complaints}");
    let mut nothing = command(
        &world,
        &["verify", "--ask", "prescription", "--wait", "1", "--json"],
    );
    let (code, printed, complaints) = run(&mut nothing);
    assert_eq!(code, 1, "no answer is a proper no: {printed}{complaints}");
    let mut nothing = command(&world, &["verify", "--ask", "prescription", "--wait", "1"]);
    let (code, printed, _) = run(&mut nothing);
    assert_eq!(code, 1, "{printed}");
    assert!(
        printed.contains("no wallet has fetched the request"),
        "{printed}"
    );
}

#[test]
fn issue_says_what_is_wrong_with_claims() {
    let world = World::start(&[]);
    for (arguments, word) in [
        (&["issue", "nothing", "--examples"][..], "type"),
        (&["issue", "immunization"], "missing"),
        (
            &[
                "issue",
                "immunization",
                "--examples",
                "--claim",
                "shoe_size=44",
            ],
            "claim",
        ),
        (
            &["issue", "immunization", "--examples", "--claim", "nonsense"],
            "claim",
        ),
        (
            &[
                "issue",
                "immunization",
                "--examples",
                "--format",
                "mso_mdoc",
            ],
            "format",
        ),
    ] {
        let (code, printed, complaints) = run(&mut command(&world, arguments));
        assert!(
            matches!(code, 1 | 2),
            "{arguments:?}: {code} {printed}{complaints}"
        );
        assert!(complaints.contains(word), "{arguments:?}: {complaints}");
    }
    let (code, offer) = json_of(
        &world,
        &[
            "issue",
            "prescription",
            "--examples",
            "--tx-code",
            "--uses",
            "3",
            "--by-reference",
        ],
    );
    assert_eq!(code, 0);
    assert_eq!(offer["uses_left"], 3);
    assert!(
        offer["tx_code"].is_string() && text(&offer, "uri").contains("credential_offer_uri="),
        "{offer}"
    );
    let claims = world.file("claims.json");
    std::fs::write(&claims, r#"{"patient": {"given_name": "Otto"}}"#).unwrap();
    let claims = claims.to_str().unwrap();
    let (code, _) = json_of(
        &world,
        &[
            "issue",
            "immunization",
            "--examples",
            "--claims-file",
            claims,
        ],
    );
    assert_eq!(code, 0);
}

#[test]
fn a_type_of_ones_own_is_written_checked_published_issued_and_retired() {
    let world = World::start(&[]);
    let file = world.file("membership.toml");
    let path = file.to_str().unwrap();
    said(&world, &["type", "list"]);
    let (code, printed, _) = run(selfsame().args(["type", "new", "membership", "--out", path]));
    assert_eq!(
        (code, printed.trim()),
        (0, format!("wrote {path}").as_str())
    );
    let (code, printed, _) = run(selfsame().args(["type", "check", path]));
    assert_eq!((code, printed.trim()), (0, "membership can be published"));
    let published = said(&world, &["type", "publish", path]);
    assert!(
        published.starts_with("membership published, version 1"),
        "{published}"
    );
    let (_, offer) = json_of(&world, &["issue", "membership", "--examples"]);
    assert_eq!(offer["type"], "membership");
    let shown = said(&world, &["type", "show", "membership"]);
    assert!(shown.contains("pattern = \"[0-9]{5}\""), "{shown}");
    said(&world, &["type", "retire", "membership"]);
    let (code, _, complaints) = run(&mut command(&world, &["issue", "membership", "--examples"]));
    assert_ne!(code, 0);
    assert!(complaints.contains("retired"), "{complaints}");
}

#[test]
fn a_type_that_is_refused_is_told_where_and_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wrong.toml");
    let path = file.to_str().unwrap();
    let claims = "[[claims]]\npath = [\"a\"]\nkind = \"text\"\n[[claims]]\npath = [\"a\", \"b\"]\nkind = \"date\"\nmin = 3\n";
    std::fs::write(
        &file,
        format!("id = \"wrong\"\ntitle = {{ en = \"Wrong\" }}\n{claims}"),
    )
    .unwrap();
    let (code, printed, _) = run(selfsame().args(["type", "check", path]));
    assert_eq!(code, 1, "{printed}");
    assert!(
        printed.contains("`claims[1].path` is equal to `a`"),
        "{printed}"
    );
    assert!(
        printed.contains("`claims[1].min` is for claims of the kind `number` only"),
        "{printed}"
    );
    std::fs::write(&file, "id = \"wrong\"\ncolour = 3\n").unwrap();
    let (code, _, complaints) = run(selfsame().args(["type", "check", path]));
    assert_eq!(code, 2, "{complaints}");
    assert!(complaints.contains("`colour` is unknown"), "{complaints}");
}
