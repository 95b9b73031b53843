//! Drafting and reading W3C credentials; verdicts are tested with `verify`.

use serde_json::json;

use super::*;
use crate::{
    format::{
        Format,
        w3c::{Issue, IssueError},
    },
    testing::{NOW, Party, object},
};
use selfsame_crypto::KeyType;

fn issue(format: Format) -> Issue {
    Issue {
        format,
        issuer: "did:example:issuer".to_owned(),
        subject: Some("did:example:holder".to_owned()),
        types: vec!["Degree".to_owned()],
        contexts: Vec::new(),
        claims: object(json!({"degree": "BSc"})),
        id: None,
        valid_from: NOW,
        valid_until: None,
        status: Some(json!({"type": "BitstringStatusListEntry"})),
        token_status: None,
        cnf: None,
        further: object(json!({"name": "Diploma", "issuer": "did:example:evil"})),
        signer: Party::new(KeyType::P256).signer(),
    }
}

fn draft(format: Format) -> VcJwt {
    let text = issue(format).draft().unwrap().finish(&[0; 64]);
    VcJwt::parse(&text, Model::of(format).unwrap()).unwrap()
}

#[test]
fn a_1_1_credential_says_everything_in_claims_and_members() {
    let credential = draft(Format::JwtVcJson);
    assert_eq!(credential.jwt().header.typ.as_deref(), Some("JWT"));
    assert_eq!(credential.payload()["iss"], "did:example:issuer");
    assert_eq!(credential.payload()["sub"], "did:example:holder");
    assert_eq!(credential.payload()["nbf"], NOW.0);
    let expected = json!({
        "@context": ["https://www.w3.org/2018/credentials/v1"],
        "type": ["VerifiableCredential", "Degree"],
        "issuer": "did:example:issuer",
        "issuanceDate": NOW.rfc3339(),
        "credentialSubject": {"id": "did:example:holder", "degree": "BSc"},
        "credentialStatus": {"type": "BitstringStatusListEntry"},
        "name": "Diploma",
    });
    assert_eq!(*credential.credential(), expected);
}

#[test]
fn a_2_0_credential_is_the_payload_itself() {
    let credential = draft(Format::VcJwt);
    assert_eq!(credential.jwt().header.typ.as_deref(), Some("vc+jwt"));
    assert_eq!(credential.credential()["validFrom"], json!(NOW.rfc3339()));
    assert!(!credential.payload().contains_key("vc"));
    assert_eq!(credential.types(), ["VerifiableCredential", "Degree"]);
    assert_eq!(credential.subject(), Some("did:example:holder"));
}

#[test]
fn claims_about_another_subject_and_foreign_formats_are_not_issued() {
    let mut other = issue(Format::VcJwt);
    other
        .claims
        .insert("id".to_owned(), json!("did:example:other"));
    assert_eq!(other.draft().unwrap_err(), IssueError::Subject);
    let foreign = Issue {
        format: Format::SdJwtVc,
        ..issue(Format::VcJwt)
    };
    assert_eq!(foreign.draft().unwrap_err(), IssueError::Format);
}

#[test]
fn a_credential_and_the_presentation_around_it_share_one_budget_of_memory() {
    let many = |objects: usize| Value::Array(vec![json!({ "a": 0 }); objects]);
    let token = |claims: Value| jws::Unsigned::new(&json!({"alg": "ES256"}), &claims).finish(&[0]);
    for model in [Model::V1, Model::V2] {
        let credential = |objects: usize| {
            token(match model {
                Model::V1 => json!({"vc": {"evidence": many(objects)}}),
                Model::V2 => json!({"evidence": many(objects)}),
            })
        };
        let presentation = |objects: usize, inner: &str| {
            token(match model {
                Model::V1 => json!({"x": many(objects), "vp": {"verifiableCredential": [inner]}}),
                Model::V2 => json!({"x": many(objects), "verifiableCredential": [{
                    "type": "EnvelopedVerifiableCredential",
                    "id": format!("{ENVELOPE}{inner}"),
                }]}),
            })
        };
        let read = |objects: usize, inner: usize| {
            VpJwt::parse(&presentation(objects, &credential(inner)), model).map(|_| ())
        };
        // Each for itself is within what is read of any JSON.
        let heavy = VcJwt::parse(&credential(4_900), model).map(|_| ());
        assert_eq!(heavy, Err(VcJwtError::TooMuch));
        assert_eq!(read(4_900, 0), Err(VcJwtError::TooMuch));
        assert!(VcJwt::parse(&credential(1_000), model).is_ok());
        assert_eq!((read(1_000, 0), read(0, 1_000)), (Ok(()), Ok(())));
        assert_eq!(read(1_000, 1_000), Err(VcJwtError::TooMuch));
    }
}

#[test]
fn several_subjects_have_no_one_identifier() {
    let credential = |subject: Value| {
        let payload = json!({"credentialSubject": subject});
        let text = jws::Unsigned::new(&json!({"alg": "ES256"}), &payload).finish(&[0; 64]);
        VcJwt::parse(&text, Model::V2).unwrap()
    };
    assert_eq!(credential(json!([{"id": "a"}])).subject(), Some("a"));
    assert_eq!(
        credential(json!([{"id": "a"}, {"id": "b"}])).subject(),
        None
    );
    assert_eq!(credential(json!({"name": "a"})).subject(), None);
}
