//! Plans that are read, rewritten and refused, by a small one of our own.

use super::*;

const SMALL: &str = include_str!("small.jmx");

fn place(host: &str, port: u16) -> Place {
    let host = host.to_owned();
    Place { host, port }
}

fn published() -> Published {
    Published {
        schema_id: "did:example:x/schema?a&b".to_owned(),
        cred_def_id: "did:example:x/definition".to_owned(),
        issuer_did: "did:example:x".to_owned(),
        moment: 1_795_932_000,
    }
}

#[test]
fn a_plan_says_its_agents_its_schema_and_its_steps() {
    let plan = Plan::read(SMALL).unwrap();
    assert_eq!(plan.issuer, place("library.example", 9001));
    assert_eq!(plan.verifier, place("cafe.example", 80));
    let readers = [place("reader.example", 9001), place("reader.example", 9002)];
    assert_eq!(plan.holders, readers);
    assert_eq!(plan.places().len(), 4);
    assert_eq!(
        plan.steps,
        ["Reader receives", "Library issues", "Café asks"]
    );
    assert_eq!(plan.users, 3);
    let schema = PlanSchema {
        name: "library".to_owned(),
        version: "1.4".to_owned(),
        attributes: vec!["reader".to_owned(), "until".to_owned()],
        is_revocable: true,
    };
    assert_eq!(plan.schema, schema);
}

#[test]
fn a_run_replaces_what_was_published_the_moment_and_nothing_else() {
    let plan = Plan::read(SMALL).unwrap();
    let (text, replaced) = plan.rewritten(&published(), None);
    let expected = SMALL
        .replace(">Abc:2:library:1.4<", ">did:example:x/schema?a&amp;b<")
        .replace(">Abc:3:CL:7:library<", ">did:example:x/definition<")
        .replace(">Abc<", ">did:example:x<")
        .replace("1600000000", "1795932000");
    assert_eq!(text, expected);
    let names: Vec<&str> = replaced.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "schema_id",
            "credential_definition_id",
            "issuer_did",
            "non_revoked.to"
        ]
    );
    assert_eq!(replaced[3].from, "1600000000");
    let again = Plan::read(&text).unwrap();
    assert_eq!(again.rewritten(&published(), None), (text, Vec::new()));
}

#[test]
fn the_number_of_users_is_replaced_if_it_is_given() {
    let plan = Plan::read(SMALL).unwrap();
    let (as_it_is, _) = plan.rewritten(&published(), None);
    let (text, replaced) = plan.rewritten(&published(), Some(20));
    let expected = as_it_is.replace("num_threads\">3<", "num_threads\">20<");
    assert_eq!(text, expected);
    assert_eq!(replaced.len(), 5);
}

#[test]
fn a_plan_without_a_proof_of_non_revocation_has_no_moment() {
    let asks = "    &quot;non_revoked&quot;: {&quot;to&quot;: 1600000000},\n";
    let plan = Plan::read(&SMALL.replace(asks, "")).unwrap();
    assert!(!plan.schema.is_revocable);
    let (_, replaced) = plan.rewritten(&published(), None);
    assert_eq!(replaced.len(), 3);
}

#[test]
fn another_plan_is_refused_with_what_was_looked_for() {
    let changed = |from: &str, to: &str| {
        assert!(SMALL.contains(from), "{from}");
        Plan::read(&SMALL.replace(from, to)).unwrap_err()
    };
    for (from, to, why) in [
        ("jmeterTestPlan", "project", "<jmeterTestPlan>"),
        (
            "Argument.name\">issuer_did",
            "Argument.name\">did",
            "issuer_did",
        ),
        (">Abc:2:library:1.4<", "><", "schema_id"),
        (
            "/issue-credential-2.0/send<",
            "/issue<",
            "/issue-credential-2.0/send",
        ),
        ("/send-request<", "/send-request-free<", "/send-request"),
        ("/receive-invitation<", "/x<", "/receive-invitation"),
        ("library.example", "192.0.2.1", "192.0.2.1"),
        ("library.example", "", "host name"),
        ("protocol\"><", "protocol\">https<", "https"),
        (">9002<", ">ninety<", "ninety"),
        (
            "testname=\"Not any more\" enabled=\"false\"",
            "testname=\"x\"",
            "elsewhere.example",
        ),
        (
            "num_threads\">3<",
            "num_threads\">${users}<",
            "number of users",
        ),
        (
            "&quot;attributes&quot;",
            "&quot;names&quot;",
            "credential_preview",
        ),
        ("{&quot;to&quot;: 1600000000}", "{}", "non_revoked.to"),
        ("20260101", "1600000000", "non_revoked.to"),
        ("${credential_definition_id}&quot;", "", "not JSON"),
    ] {
        let refused = changed(from, to);
        assert!(refused.contains(why), "{from}: {refused}");
    }
}
