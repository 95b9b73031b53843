//! What a proof is asked for with.

use selfsame_crypto::time::UnixTime;
use serde_json::{Value, json};

use super::{example_key, method_of, plain, signed};
use crate::{
    ExpectedProof, IntegrityError, IntegrityProof, ProofOptions, ProofPurpose, Secured,
    UnexpectedProof,
};

const NOW: UnixTime = UnixTime(1_700_000_000);

fn proof(change: impl FnOnce(&mut Value)) -> Result<IntegrityProof, IntegrityError> {
    let key = example_key();
    let method = method_of(&key);
    let options = ProofOptions {
        created: Some(NOW),
        expires: Some(NOW.plus(60)),
        domain: &["https://a.example", "https://b.example"],
        challenge: Some("challenge"),
        ..super::options(&method)
    };
    let mut document = Value::Object(signed(plain(), &options, &key));
    change(&mut document["proof"]);
    Ok(Secured::of(document)?.proofs()[0].clone())
}

fn expected<'a>() -> ExpectedProof<'a> {
    ExpectedProof {
        purpose: ProofPurpose::AssertionMethod,
        domain: Some(&["https://b.example", "https://a.example"]),
        challenge: Some("challenge"),
        now: NOW,
        leeway: 5,
    }
}

fn refusal(expected: &ExpectedProof<'_>) -> UnexpectedProof {
    match proof(|_| {}).unwrap().check(expected) {
        Err(IntegrityError::Unexpected(wrong)) => wrong,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_proof_has_what_it_was_asked_for_with() {
    let proof = proof(|_| {}).unwrap();
    assert_eq!(proof.check(&expected()), Ok(()));
    let anything = ExpectedProof {
        domain: None,
        challenge: None,
        ..expected()
    };
    assert_eq!(proof.check(&anything), Ok(()));
}

#[test]
fn a_proof_that_was_made_for_something_else_is_refused() {
    let base = expected();
    let purpose = ExpectedProof {
        purpose: ProofPurpose::Authentication,
        ..base
    };
    assert_eq!(refusal(&purpose), UnexpectedProof::Purpose);
    for domain in [
        &["https://a.example"][..],
        &[],
        &["https://a.example", "https://c.example"],
    ] {
        let domain = ExpectedProof {
            domain: Some(domain),
            ..base
        };
        assert_eq!(refusal(&domain), UnexpectedProof::Domain);
    }
    let challenge = ExpectedProof {
        challenge: Some("another"),
        ..base
    };
    assert_eq!(refusal(&challenge), UnexpectedProof::Challenge);
    assert_eq!(
        IntegrityError::Unexpected(UnexpectedProof::Challenge).problem_type(),
        "https://w3id.org/security#INVALID_CHALLENGE_ERROR"
    );
}

#[test]
fn a_proof_without_an_audience_is_not_one_for_a_verifier() {
    let key = example_key();
    let method = method_of(&key);
    let document = signed(plain(), &super::options(&method), &key);
    let proof = Secured::of(document.into()).unwrap().proofs()[0].clone();
    for (domain, challenge, wrong) in [
        (
            Some(&["https://a.example"][..]),
            None,
            UnexpectedProof::Domain,
        ),
        (None, Some("challenge"), UnexpectedProof::Challenge),
    ] {
        let expected = ExpectedProof {
            domain,
            challenge,
            ..expected()
        };
        assert_eq!(
            proof.check(&expected),
            Err(IntegrityError::Unexpected(wrong))
        );
    }
}

#[test]
fn the_times_are_judged_with_a_tolerance() {
    let at = |now| ExpectedProof { now, ..expected() };
    let proof = proof(|_| {}).unwrap();
    assert_eq!(proof.check(&at(NOW.minus(5))), Ok(()));
    assert_eq!(refusal(&at(NOW.minus(6))), UnexpectedProof::Early);
    assert_eq!(proof.check(&at(NOW.plus(64))), Ok(()));
    assert_eq!(refusal(&at(NOW.plus(65))), UnexpectedProof::Expired);
}

#[test]
fn malformed_members_are_named() {
    for (member, value) in [
        ("type", json!(1)),
        ("cryptosuite", json!(null)),
        ("verificationMethod", json!({"id": "did:example:1#k"})),
        ("proofPurpose", json!(["assertionMethod"])),
        ("proofValue", json!("f00")),
        ("created", json!("2023-02-24T23:36:38")),
        ("created", json!("2023-02-24 23:36:38Z")),
        ("expires", json!("2023-02-24t23:36:38z")),
        ("domain", json!([1])),
        ("previousProof", json!({})),
        ("challenge", json!(7)),
    ] {
        let refused = proof(|proof| proof[member] = value).unwrap_err();
        assert_eq!(refused, IntegrityError::Malformed(member));
    }
    for member in [
        "cryptosuite",
        "verificationMethod",
        "proofPurpose",
        "proofValue",
    ] {
        let refused = proof(|proof| {
            proof.as_object_mut().unwrap().remove(member);
        });
        assert_eq!(refused.unwrap_err(), IntegrityError::Malformed(member));
    }
}

#[test]
fn a_signature_of_another_length_is_refused() {
    let key = example_key();
    let method = method_of(&key);
    let mut document = Value::Object(signed(plain(), &super::options(&method), &key));
    document["proof"]["proofValue"] = "z2".into();
    let malformed = IntegrityError::Malformed("proofValue");
    assert_eq!(super::verified(document), [Err(malformed)]);
    let unsigned = super::prepared(plain(), &super::options(&method), &key).unwrap();
    assert!(unsigned.signed(&[0; 63]).is_err());
}

#[test]
fn a_document_without_proofs_is_refused() {
    for document in [
        json!({}),
        json!({"proof": []}),
        json!([]),
        json!({"proof": "text"}),
    ] {
        assert!(matches!(
            Secured::of(document),
            Err(IntegrityError::Malformed(_))
        ));
    }
}
