//! Tests DCQL from query to check: a wallet selects claims of an SD-JWT and presents them, and a verifier checks them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use selfsame_credential::{
    ClaimPath, Format, Held, Signer,
    format::sd_jwt_vc::Issue,
    sd_jwt::{DigestAlgorithm, Processed, SdJwt},
};
use selfsame_crypto::{Algorithm, KeyHandle, KeyType, PrivateKey, ctx::Ctx, time::UnixTime};
use selfsame_openid4vc::dcql::{Candidate, DcqlQuery, check, select};
use serde_json::{Value, json};

const VCT: &str = "https://credentials.example.com/identity_credential";

/// A credential in which every claim, element and member listed in `paths` below can be withheld.
fn credential() -> Held {
    credential_with(2)
}

fn credential_with(decoys: usize) -> Held {
    let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let claims = json!({
        "vct": VCT,
        "iss": "https://issuer.example",
        "given_name": "Arthur",
        "address": {"street_address": "42 Market Street", "locality": "Milliways"},
        "nationalities": ["British", "Betelgeusian", "Terran"],
        "degrees": [
            {"type": "Bachelor of Science", "grade": 1},
            {"type": "Master of Science", "grade": 2},
        ],
    });
    let paths = [
        json!(["given_name"]),
        json!(["address"]),
        json!(["address", "street_address"]),
        json!(["address", "locality"]),
        json!(["nationalities", null]),
        json!(["degrees", null]),
        json!(["degrees", null, "type"]),
        json!(["degrees", null, "grade"]),
    ];
    let issue = Issue {
        claims: claims.as_object().unwrap().clone(),
        disclosable: paths
            .iter()
            .map(|path| ClaimPath::parse(path).unwrap())
            .collect(),
        decoys,
        cnf: Some(key.public().to_jwk()),
        digest: DigestAlgorithm::Sha256,
        signer: Signer::with_kid(KeyHandle::of(key.public()), Algorithm::EdDsa, "1"),
        label: "credential".to_owned(),
    };
    let draft = issue
        .draft(&Ctx::new(UnixTime(1_800_000_000), [7; 32]))
        .unwrap();
    let signature = key.sign(draft.signing_input()).unwrap();
    Held::parse(&draft.finish(&signature), Format::SdJwtVc).unwrap()
}

fn candidate(claims: &Value) -> Candidate<'_> {
    Candidate {
        format: Format::SdJwtVc,
        types: vec![VCT.to_owned()],
        claims,
        withheld: None,
        holder_bound: true,
        authority_keys: Vec::new(),
    }
}

fn query(claims: &Value) -> DcqlQuery {
    let mut credential = json!({"id": "pid", "format": "dc+sd-jwt", "meta": {"vct_values": [VCT]}});
    if !claims.is_null() {
        credential["claims"] = claims.clone();
    }
    DcqlQuery::parse(&json!({"credentials": [credential]})).unwrap()
}

/// The content that the verifier sees; `None` if the wallet has nothing to present.
fn present(held: &Held, query: &DcqlQuery) -> Option<Processed> {
    let selection = select(query, &[((), candidate(held.claims()))]);
    let chosen = selection.first_choice(true)?;
    let presented = held.sd_jwt().unwrap().present(&chosen[0].1.reveal).unwrap();
    Some(
        SdJwt::parse(&presented.unbound())
            .unwrap()
            .process()
            .unwrap(),
    )
}

/// Whether the content that the verifier sees satisfies a query.
fn satisfies(seen: &Processed, query: &DcqlQuery) -> bool {
    let candidate = Candidate {
        withheld: Some(&seen.withheld),
        ..candidate(&seen.claims)
    };
    check(
        query,
        &BTreeMap::from([("pid".to_owned(), vec![Some(candidate)])]),
    )
    .is_ok()
}

#[test]
fn the_verifier_sees_what_it_asked_for_and_no_more() {
    let held = credential();
    for (claims, seen) in [
        (json!(null), json!({"nationalities": [], "degrees": []})),
        (
            json!([{"path": ["given_name"]}]),
            json!({"given_name": "Arthur", "nationalities": [], "degrees": []}),
        ),
        (
            json!([{"path": ["address", "locality"]}]),
            json!({"address": {"locality": "Milliways"}, "nationalities": [], "degrees": []}),
        ),
        (
            json!([{"path": ["nationalities", 1]}]),
            json!({"nationalities": ["Betelgeusian"], "degrees": []}),
        ),
        (
            json!([{"path": ["nationalities", null], "values": ["Terran", "British"]}]),
            json!({"nationalities": ["British", "Terran"], "degrees": []}),
        ),
        (
            json!([{"path": ["degrees", null, "type"]}]),
            json!({
                "nationalities": [],
                "degrees": [{"type": "Bachelor of Science"}, {"type": "Master of Science"}],
            }),
        ),
        (
            json!([{"path": ["degrees", 1, "grade"], "values": [2]}]),
            json!({"nationalities": [], "degrees": [{"grade": 2}]}),
        ),
    ] {
        let asked = query(&claims);
        let mut found = present(&held, &asked).unwrap();
        assert!(satisfies(&found, &asked), "{claims}");
        let members = found.claims.as_object_mut().unwrap();
        for always in ["vct", "iss", "cnf"] {
            assert!(members.remove(always).is_some());
        }
        assert_eq!(found.claims, seen, "{claims}");
    }
}

#[test]
fn the_verifier_refuses_less_than_it_asked_for() {
    let held = credential();
    let less = query(&json!([{"path": ["nationalities", 2]}]));
    let seen = present(&held, &less).unwrap();
    let more = json!([{"path": ["nationalities", 2]}, {"path": ["given_name"]}]);
    assert!(satisfies(&seen, &less));
    assert!(!satisfies(&seen, &query(&more)));
}

#[test]
fn an_element_stands_for_no_other_than_it_can_have_been() {
    // There are no decoys here, since any decoy could stand for an element.
    let held = credential_with(0);
    let shown = |claims: Value| present(&held, &query(&claims)).unwrap();
    let asks = |claim: Value| query(&json!([claim]));
    let all =
        shown(json!([{"path": ["nationalities", null]}, {"path": ["degrees", null, "grade"]}]));
    let first = shown(json!([{"path": ["nationalities", 0]}]));
    let last = shown(json!([{"path": ["nationalities", 2]}]));
    for (seen, claim) in [
        (
            &all,
            json!({"path": ["nationalities", 1], "values": ["Betelgeusian"]}),
        ),
        (
            &first,
            json!({"path": ["nationalities", 0], "values": ["British"]}),
        ),
        // The element has moved to the front: two elements could be missing before it.
        (
            &last,
            json!({"path": ["nationalities", 2], "values": ["Terran"]}),
        ),
    ] {
        assert!(satisfies(seen, &asks(claim.clone())), "{claim}");
    }
    for (seen, claim) in [
        (&all, json!({"path": ["nationalities", 7]})),
        (
            &all,
            json!({"path": ["nationalities", 1], "values": ["British"]}),
        ),
        (
            &all,
            json!({"path": ["degrees", 1, "grade"], "values": [1]}),
        ),
        (&first, json!({"path": ["nationalities", 9]})),
        // OpenID4VP 1.0 §7.1.1: an element of the wrong type aborts processing.
        (&all, json!({"path": ["nationalities", null, "b"]})),
    ] {
        assert!(!satisfies(seen, &asks(claim.clone())), "{claim}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn whatever_can_be_presented_satisfies(paths in prop::collection::btree_set(prop::sample::select(vec![
        r#"["given_name"]"#,
        r#"["address"]"#,
        r#"["address","street_address"]"#,
        r#"["nationalities",0]"#,
        r#"["nationalities",2]"#,
        r#"["nationalities",null]"#,
        r#"["degrees",1]"#,
        r#"["degrees",0,"grade"]"#,
        r#"["degrees",null,"grade"]"#,
        r#"["vct"]"#,
    ]), 1..5)) {
        let claims: Vec<Value> = paths
            .iter()
            .map(|path| json!({"path": serde_json::from_str::<Value>(path).unwrap()}))
            .collect();
        let asked = query(&json!(claims));
        let seen = present(&credential(), &asked).unwrap();
        prop_assert!(satisfies(&seen, &asked));
    }
}
