//! `selfsame explain` on files: what it shows, and how it ends.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The recorded licence as issued, in hexadecimal.
fn licence() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/mdoc/licence.json");
    let vector: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    vector["issued"].as_str().unwrap().to_owned()
}

/// Shows what comes from standard input.
fn show(input: &str, further: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_selfsame"));
    command.args(["explain", "-"]).args(further);
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    child.wait_with_output().unwrap()
}

#[test]
fn an_mdoc_is_shown_to_people_to_programs_and_as_cbor() {
    let shown = show(&licence(), &[]);
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(
        text.starts_with("ISO mdoc, as issued (mso_mdoc)\n"),
        "{text}"
    );
    assert!(text.contains("\"given_name\": \"Erika\""), "{text}");
    let shown = show(&licence(), &["--json"]);
    let json: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(json["content"]["doctype"], "org.iso.18013.5.1.mDL");
    let shown = show(&licence(), &["--diagnostic"]);
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(
        text.contains("\"elementIdentifier\": \"given_name\""),
        "{text}"
    );
}

#[test]
fn what_is_nothing_known_and_what_cannot_be_read_end_with_their_codes() {
    assert_eq!(show("hello", &[]).status.code(), Some(1));
    let jwt = show("a.b.c", &["--diagnostic"]);
    assert_eq!(jwt.status.code(), Some(1));
    let mut command = Command::new(env!("CARGO_BIN_EXE_selfsame"));
    let missing = command.args(["show", "/nowhere"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
}
