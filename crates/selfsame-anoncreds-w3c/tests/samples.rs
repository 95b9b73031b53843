//! The published library's samples in `vectors/anoncreds/w3c`, and ours beside them.

#[path = "../../selfsame-anoncreds/tests/oracle/ours.rs"]
mod ours;
#[path = "../../selfsame-anoncreds/tests/oracle/party.rs"]
mod party;
#[path = "support/vectors.rs"]
mod vectors;

use std::collections::BTreeMap;

use ours::Ours;
use party::Party as _;
use selfsame_anoncreds::format::{Credential, Message as _};
use selfsame_anoncreds_w3c::presentation::{ToRead, ToWrite};
use selfsame_anoncreds_w3c::{Error, IssuedBy, credential, presentation};
use selfsame_crypto::{ctx::Ctx, time::UnixTime};
use serde_json::{Value, json};
use vectors::{PRESENTATIONS, issuers, judged, read, text, tree};

/// A context with fresh randomness.
fn ctx() -> Ctx {
    Ctx::new(
        UnixTime(1_700_000_000),
        selfsame_crypto::seal::random_seed(),
    )
}

fn w3c(json: &[u8], issuer: &str) -> Value {
    let at = UnixTime(1_700_000_000);
    credential::to_w3c(json, IssuedBy { issuer, at }).unwrap()
}

/// A credential, whose points have several texts.
fn known(json: &[u8]) -> Credential {
    Credential::from_json(json).unwrap()
}

#[test]
fn a_sample_credential_is_the_own_one_in_another_form() {
    for flow in ["legacy", "qualified"] {
        let own = credential::from_w3c(&tree(&format!("w3c/{flow}_credential.json"))).unwrap();
        let mut expected = tree(&format!("{flow}/credential.json"));
        if flow == "legacy" {
            // The library takes a text that is a number as one, and the number has no zeros ahead.
            expected["values"]["id number"]["raw"] = json!("42");
        }
        assert_eq!(
            known(&own.json),
            known(expected.to_string().as_bytes()),
            "{flow}"
        );
        assert_eq!(
            own.issuer,
            tree(&format!("{flow}/cred_def.json"))["issuerId"]
        );
        assert_eq!(own.cred_def_id, expected["cred_def_id"]);
    }
}

#[test]
fn a_credential_is_the_same_after_both_conversions() {
    for name in [
        "legacy/credential",
        "legacy/credential_processed",
        "qualified/credential",
        "qualified/credential_processed",
    ] {
        let own = text(&format!("{name}.json"));
        let form = w3c(own.as_bytes(), "did:example:issuer");
        assert_eq!(form["issuanceDate"], "2023-11-14T22:13:20Z");
        let again = credential::from_w3c(&form).unwrap();
        assert_eq!(known(&again.json), known(own.as_bytes()), "{name}");
    }
}

#[test]
fn a_credential_that_says_more_than_is_signed_is_refused() {
    let good = tree("w3c/qualified_credential.json");
    assert!(credential::from_w3c(&good).is_ok());
    for (place, value) in [
        ("/credentialStatus", json!({"id": "a"})),
        ("/expirationDate", json!("2030-01-01T00:00:00Z")),
        ("/issuer", json!({"id": "did:example:issuer"})),
        ("/@context", json!(["https://example.org/v1"])),
        ("/@context", json!([])),
        ("/type", json!(["Degree"])),
        ("/credentialSubject", json!({"city": true, "points": 1})),
        (
            "/credentialSubject",
            json!({"city": "", "points": 2_147_483_648_u32}),
        ),
        ("/credentialSubject", json!({"city": {"name": "Oslo"}})),
        ("/proof", json!([])),
        ("/proof", json!({})),
        ("/proof/0/cryptosuite", json!("eddsa-rdfc-2022")),
        ("/proof/0/proofPurpose", json!("authentication")),
        (
            "/proof/0/verificationMethod",
            json!("did:example:issuer/cred-def/2"),
        ),
        ("/proof/0/proofValue", json!("ukg")),
        ("/proof/0/proofValue", json!("zkgGE")),
        (
            "/proof/0/proofValue",
            tree("w3c/predicate.json")["proof"]["proofValue"].clone(),
        ),
    ] {
        let mut altered = good.clone();
        match altered.pointer_mut(place) {
            Some(found) => *found = value.clone(),
            None => altered[&place[1..]] = value.clone(),
        }
        assert!(credential::from_w3c(&altered).is_err(), "{place} {value}");
    }
    // A proof of another cryptosuite may stand beside.
    let mut both = good.clone();
    let other = json!({"type": "DataIntegrityProof", "cryptosuite": "eddsa-rdfc-2022"});
    both["proof"].as_array_mut().unwrap().insert(0, other);
    assert!(credential::from_w3c(&both).is_ok());
}

#[test]
fn a_credential_with_an_encoding_of_its_own_has_no_other_form() {
    let mut own = tree("qualified/credential.json");
    own["values"]["city"]["encoded"] = json!("1");
    let issued = IssuedBy {
        issuer: "did:example:issuer",
        at: UnixTime(0),
    };
    let refused = credential::to_w3c(own.to_string().as_bytes(), issued);
    assert!(matches!(refused, Err(Error::Mismatch { .. })));
}

#[test]
fn every_sample_presentation_verifies() {
    for name in PRESENTATIONS {
        let own = read(name, &tree(&format!("w3c/{name}.json"))).unwrap();
        let judged = Ours::new().call("verify", &judged(name, &own.json));
        assert_eq!(judged, Ok(json!(true)), "{name}");
    }
}

#[test]
fn a_presentation_is_the_same_after_both_conversions() {
    for name in PRESENTATIONS {
        let own = read(name, &tree(&format!("w3c/{name}.json"))).unwrap();
        let form = presentation::to_w3c(&ToWrite {
            request: text(&format!("w3c/{name}.request.json")).as_bytes(),
            presentation: &own.json,
            issuers: &issuers(),
            at: UnixTime(1_700_000_000),
        });
        let form = form.unwrap();
        let sample = tree(&format!("w3c/{name}.json"));
        for (one, other) in [(&form, &sample), (&sample, &form)] {
            let credentials = one["verifiableCredential"].as_array().unwrap();
            let others = other["verifiableCredential"].as_array().unwrap();
            for (one, other) in credentials.iter().zip(others) {
                assert_eq!(one["credentialSubject"], other["credentialSubject"]);
                assert_eq!(one["issuer"], other["issuer"]);
            }
            assert_eq!(one["proof"]["challenge"], other["proof"]["challenge"]);
        }
        assert_eq!(read(name, &form).unwrap().json, own.json, "{name}");
    }
}

#[test]
fn what_is_altered_in_a_presentation_is_refused_or_does_not_verify() {
    let name = "predicate";
    let good = tree("w3c/predicate.json");
    let subject = "/verifiableCredential/0/credentialSubject";
    let other = tree("w3c/two_credentials.json");
    for (place, value) in [
        (format!("{subject}/name"), json!("Bob")),
        (format!("{subject}/name"), json!(true)),
        (format!("{subject}/age"), json!(false)),
        (format!("{subject}/age"), json!(28)),
        (format!("{subject}/height"), json!(true)),
        (format!("{subject}/NAME"), json!("Alice Śmith")),
        ("/verifiableCredential".to_owned(), json!([])),
        ("/verifiableCredential/0/id".to_owned(), json!(7)),
        ("/holder".to_owned(), json!("did:example:2")),
        ("/type".to_owned(), json!(["VerifiableCredential"])),
        ("/proof/challenge".to_owned(), json!("1")),
        ("/proof/proofPurpose".to_owned(), json!("assertionMethod")),
        (
            "/proof/proofValue".to_owned(),
            other["proof"]["proofValue"].clone(),
        ),
        (
            "/verifiableCredential/0/proof/proofValue".to_owned(),
            other["verifiableCredential"][1]["proof"]["proofValue"].clone(),
        ),
    ] {
        let mut altered = good.clone();
        match altered.pointer_mut(&place) {
            Some(found) => *found = value.clone(),
            None => {
                let (parent, member) = place.rsplit_once('/').unwrap();
                altered.pointer_mut(parent).unwrap()[member] = value.clone();
            }
        }
        if let Ok(own) = read(name, &altered) {
            let judged = Ours::new().call("verify", &judged(name, &own.json));
            assert_ne!(judged, Ok(json!(true)), "{place} {value}");
        }
    }
}

#[test]
fn an_answer_of_no_credential_and_one_to_nothing_are_refused() {
    let value = tree("w3c/predicate.json");
    let request = text("w3c/predicate.request.json");
    for places in [
        BTreeMap::new(),
        BTreeMap::from([("card_attribute".to_owned(), 0)]),
        BTreeMap::from([
            ("card_attribute".to_owned(), 0),
            ("card_predicate_0".to_owned(), 1),
        ]),
    ] {
        let read = presentation::from_w3c(&ToRead {
            request: request.as_bytes(),
            presentation: &value,
            places: &places,
        });
        assert!(matches!(read, Err(Error::Mismatch { .. })), "{places:?}");
    }
}

#[test]
fn what_the_form_has_no_place_for_is_not_written() {
    let issuers = issuers();
    for name in ["unrevealed_group_self_attested", "revealed"] {
        let (request, own) = (
            text(&format!("presentations/{name}.request.json")),
            text(&format!("presentations/{name}.json")),
        );
        let written = presentation::to_w3c(&ToWrite {
            request: request.as_bytes(),
            presentation: own.as_bytes(),
            issuers: &issuers,
            at: UnixTime(0),
        });
        assert_eq!(written.is_ok(), name == "revealed", "{name}");
    }
}
