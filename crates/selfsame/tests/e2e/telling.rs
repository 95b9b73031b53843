//! Error messages: each names what is wrong, and nothing else.

use crate::rig::{World, command, offer, person, run, text, write_private};

#[test]
fn a_refusal_speaks_of_the_link_only_where_the_link_is_wrong() {
    let world = World::start(&[]);
    person(&world.anybody(), "maja");
    let password = world.file("password");
    write_private(&password, "correct horse battery");
    let password = password.to_str().unwrap();
    let made = offer(&world.operator, &serde_json::json!({"tx_code": true}));
    let link = text(&made, "uri");
    let present = |email: &str, more: &[&str]| {
        let mut present = command(&world, &["present", &link, "--email", email]);
        let (code, _, complaints) = run(present.args(["--password-file", password]).args(more));
        assert_eq!(code, 2, "{complaints}");
        assert!(!complaints.contains("the whole link"), "{complaints}");
        complaints
    };
    let maja = "maja@example.org";
    let without = present(maja, &[]);
    assert!(without.contains("pass it with --tx-code"), "{without}");
    let short = present(maja, &["--tx-code", "1"]);
    assert!(short.contains("the wrong length"), "{short}");
    present("no address", &[]);
}

#[test]
fn claims_that_are_too_large_are_called_so() {
    let world = World::start(&[]);
    let claims = world.file("claims.json");
    let large = serde_json::json!({"patient": {"given_name": "M".repeat(5 << 20)}});
    std::fs::write(&claims, large.to_string()).unwrap();
    let file = claims.to_str().unwrap();
    let mut issue = command(&world, &["issue", "immunization", "--claims-file", file]);
    let (code, printed, complaints) = run(&mut issue);
    assert_eq!((code, printed.as_str()), (2, ""), "{complaints}");
    assert!(complaints.contains("too large"), "{complaints}");
}

#[test]
fn what_never_ends_and_claims_that_are_said_twice_are_refused() {
    let world = World::start(&[]);
    let (code, _, complaints) = run(&mut command(&world, &["verify", "/dev/zero"]));
    assert_eq!(code, 2, "{complaints}");
    assert!(complaints.contains("too large"), "{complaints}");
    let claims = world.file("claims.json");
    std::fs::write(
        &claims,
        r#"{"patient": {}, "patient": {"given_name": "Maja"}}"#,
    )
    .unwrap();
    let file = claims.to_str().unwrap();
    let mut issue = command(&world, &["issue", "immunization", "--claims-file", file]);
    let (code, printed, complaints) = run(issue.arg("--examples"));
    assert_eq!((code, printed.as_str()), (2, ""), "{complaints}");
    assert!(complaints.contains("twice"), "{complaints}");
}
