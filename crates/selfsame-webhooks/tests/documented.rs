//! The lines of docs/webhooks.md that check a signature, run with a vector of the specification's repository.

use std::process::Command;

const DOCUMENT: &str = include_str!("../../../docs/webhooks.md");
const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const ID: &str = "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk";
const TIMESTAMP: &str = "1649367553";
const BODY: &str = r#"{"email":"test@example.com","username":"test_user"}"#;
const SIGNATURE: &str = "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=";

/// The documented lines in this language.
fn lines(language: &str) -> &'static str {
    let (_, rest) = DOCUMENT.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

fn output(program: &str, script: &str) -> String {
    let output = Command::new(program).args(["-c", script]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
#[ignore = "needs python3"]
fn the_documented_python_accepts_a_true_signature_and_refuses_another() {
    let check = |signature: &str| {
        let script = format!(
            "{}\nheaders = {{'webhook-id': '{ID}', 'webhook-timestamp': '{TIMESTAMP}', 'webhook-signature': \
             '{signature}'}}\nprint(is_signed('{SECRET}', headers, b'{BODY}'))",
            lines("python")
        );
        output("python3", &script)
    };
    assert_eq!(check(SIGNATURE), "True");
    assert_eq!(check(&format!("v1,AAAA {SIGNATURE}")), "True");
    assert_eq!(check("v1,AAAA"), "False");
}

#[test]
#[ignore = "needs openssl"]
fn the_documented_shell_gives_the_signature() {
    let given = format!("secret='{SECRET}' id='{ID}' timestamp='{TIMESTAMP}' body='{BODY}'");
    assert_eq!(
        output("sh", &format!("{given}\n{}", lines("sh"))),
        SIGNATURE
    );
}
