//! Tests the SD-JWT vectors: the tokens, payloads and disclosures printed in RFC 9901.

use std::{collections::BTreeSet, fs, path::PathBuf};

use selfsame_credential::{
    ClaimPath, Evidence, Fetched, Format, Need, Policy,
    sd_jwt::{DigestAlgorithm, SdJwt},
    verdict::{Outcome, Trust},
    verify::{Binding, Presented, needs, verify},
};
use selfsame_crypto::{Jwk, PublicKey, jws, time::UnixTime};
use serde_json::{Value, json};

fn vector(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors/sd-jwt");
    let text = fs::read_to_string(path.join(format!("{name}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn cases(vector: &Value) -> &[Value] {
    vector["cases"].as_array().unwrap()
}

fn key(jwk: &Value) -> PublicKey {
    PublicKey::from_jwk(&Jwk::from_value(jwk).unwrap()).unwrap()
}

fn read(case: &Value) -> SdJwt {
    SdJwt::parse(case["text"].as_str().unwrap()).unwrap()
}

fn paths(case: &Value) -> Vec<ClaimPath> {
    let paths = case["paths"].as_array().unwrap().iter();
    paths.map(|path| ClaimPath::parse(path).unwrap()).collect()
}

/// A token for a payload that the RFC prints without one; its signature is not verified.
fn token(case: &Value) -> SdJwt {
    let jwt = jws::Unsigned::new(&json!({"alg": "ES256"}), &case["payload"]).finish(&[0; 64]);
    let disclosures = case["disclosures"].as_array().unwrap().iter();
    let disclosures: String = disclosures
        .map(|disclosure| format!("~{}", disclosure.as_str().unwrap()))
        .collect();
    SdJwt::parse(&format!("{jwt}{disclosures}~")).unwrap()
}

const SIGNED: [&str; 5] = [
    "main",
    "simple_structured",
    "complex_structured",
    "sd_jwt_vc",
    "w3c",
];

#[test]
fn every_signed_example_verifies_and_processes_to_what_the_rfc_prints() {
    for name in SIGNED {
        let vector = vector(name);
        let issuer = key(&vector["issuer_key"]);
        for case in cases(&vector) {
            let sd_jwt = read(case);
            assert!(
                sd_jwt.jwt().verify(&issuer).is_ok(),
                "{name}: {}",
                case["name"]
            );
            let claims = sd_jwt.process().unwrap().claims;
            assert_eq!(claims, case["processed"], "{name}: {}", case["name"]);
        }
    }
}

#[test]
fn every_key_binding_is_by_the_confirmed_key_over_exactly_what_is_presented() {
    let mut bound = 0;
    for name in SIGNED {
        let vector = vector(name);
        for case in cases(&vector) {
            let sd_jwt = read(case);
            assert_eq!(sd_jwt.key_binding().is_some(), case.get("nonce").is_some());
            let Some(binding) = sd_jwt.key_binding() else {
                continue;
            };
            let holder = key(&sd_jwt.payload()["cnf"]["jwk"]);
            assert!(binding.jwt().verify(&holder).is_ok(), "{name}");
            assert_eq!(binding.jwt().header.typ.as_deref(), Some("kb+jwt"));
            for claim in ["nonce", "aud", "iat"] {
                assert_eq!(binding.claims()[claim], case[claim], "{name}");
            }
            assert_eq!(binding.claims()["sd_hash"], sd_jwt.sd_hash(), "{name}");
            bound += 1;
        }
    }
    assert_eq!(bound, 3);
}

#[test]
fn one_flipped_character_anywhere_in_an_example_is_noticed() {
    let vector = vector("main");
    let issuer = key(&vector["issuer_key"]);
    let text = cases(&vector)[0]["text"].as_str().unwrap();
    for at in (0..text.len())
        .step_by(7)
        .filter(|at| !"~.".contains(&text[*at..=*at]))
    {
        let other = if &text[at..=at] == "A" { "B" } else { "A" };
        let forged = format!("{}{other}{}", &text[..at], &text[at + 1..]);
        let noticed = SdJwt::parse(&forged).map_or(true, |sd_jwt| {
            sd_jwt.jwt().verify(&issuer).is_err() || sd_jwt.process().is_err()
        });
        assert!(noticed, "at {at}");
    }
}

#[test]
fn the_presentations_of_the_rfc_can_be_made_from_what_was_issued() {
    let wanted = [
        (
            "main",
            json!([
                ["family_name"],
                ["address"],
                ["given_name"],
                ["nationalities", 0]
            ]),
        ),
        (
            "w3c",
            json!([
                ["credentialSubject", "order"],
                ["credentialSubject", "dateOfVaccination"],
                ["credentialSubject", "vaccine", "atcCode"],
                ["credentialSubject", "vaccine", "medicinalProductName"]
            ]),
        ),
    ];
    for (name, paths) in wanted {
        let vector = vector(name);
        let [issued, presented] = cases(&vector) else {
            panic!("{name} has an issued and a presented token");
        };
        let paths: Vec<_> = paths
            .as_array()
            .unwrap()
            .iter()
            .map(|path| ClaimPath::parse(path).unwrap())
            .collect();
        let made = SdJwt::parse(&read(issued).present(&paths).unwrap().unbound()).unwrap();
        let set = |sd_jwt: &SdJwt| -> BTreeSet<String> {
            sd_jwt
                .disclosures()
                .iter()
                .map(|it| it.encoded().to_owned())
                .collect()
        };
        assert_eq!(set(&made), set(&read(presented)), "{name}");
        assert_eq!(
            made.process().unwrap().claims,
            presented["processed"],
            "{name}"
        );
    }
}

#[test]
fn single_disclosures_read_and_hash_as_the_rfc_says() {
    let vector = vector("disclosures");
    for printed in vector["disclosures"].as_array().unwrap() {
        let encoded = printed["encoded"].as_str().unwrap();
        let digest = DigestAlgorithm::Sha256.digest(encoded.as_bytes());
        if let Some(wanted) = printed.get("digest") {
            assert_eq!(digest, wanted.as_str().unwrap());
        }
        let payload = match printed.get("name") {
            Some(_) => json!({"_sd": [digest]}),
            None => json!({"list": [{"...": digest}]}),
        };
        let sd_jwt = token(&json!({"payload": payload, "disclosures": [encoded]}));
        let [disclosure] = sd_jwt.disclosures() else {
            panic!("one disclosure was given");
        };
        assert_eq!(
            disclosure.name(),
            printed.get("name").and_then(Value::as_str)
        );
        assert_eq!(*disclosure.value(), printed["value"]);
        let claims = sd_jwt.process().unwrap().claims;
        let expected = match printed.get("name").and_then(Value::as_str) {
            Some(name) => json!({name: printed["value"]}),
            None => json!({"list": [printed["value"]]}),
        };
        assert_eq!(claims, expected);
    }
}

#[test]
fn nested_examples_process_whole_hidden_and_by_single_paths() {
    for case in cases(&vector("nested")) {
        let sd_jwt = token(case);
        assert_eq!(
            sd_jwt.process().unwrap().claims,
            case["processed"],
            "{}",
            case["name"]
        );
        let shown = |paths: &[ClaimPath]| {
            let text = sd_jwt.present(paths).unwrap().unbound();
            SdJwt::parse(&text).unwrap().process().unwrap().claims
        };
        assert_eq!(shown(&[]), case["hidden"], "{}", case["name"]);
        for path in paths(case) {
            let claims = shown(std::slice::from_ref(&path));
            assert_eq!(
                path.select(&claims),
                path.select(&case["processed"]),
                "{path}"
            );
            assert_ne!(claims, case["hidden"]);
        }
        assert_eq!(shown(&paths(case)), case["processed"], "{}", case["name"]);
    }
}

#[test]
fn the_decoys_of_the_example_stand_for_nothing() {
    let vector = vector("simple_structured");
    let case = &cases(&vector)[0];
    let sd_jwt = read(case);
    let payload = sd_jwt.payload().to_string();
    for decoy in case["decoys"].as_array().unwrap() {
        let decoy = decoy.as_str().unwrap();
        assert!(payload.contains(decoy));
        assert!(
            sd_jwt
                .disclosures()
                .iter()
                .all(|disclosure| disclosure.digest() != decoy)
        );
    }
}

#[test]
fn the_sd_jwt_vc_of_the_rfc_gets_a_valid_verdict_and_no_other_verifier_accepts_it() {
    let vector = vector("sd_jwt_vc");
    let case = &cases(&vector)[0];
    let text = case["text"].as_str().unwrap();
    let now = UnixTime(case["iat"].as_u64().unwrap() + 5);
    let iss = case["processed"]["iss"].as_str().unwrap().to_owned();
    let policy = Policy {
        trusted_issuers: Trust::Listed(vec![iss.clone()]),
        ..Policy::default()
    };
    let mut evidence = Evidence::default();
    let judge = |evidence: &Evidence, audience: &Value| {
        let binding = Binding {
            audience: audience.as_str().unwrap().to_owned(),
            nonce: case["nonce"].as_str().unwrap().to_owned(),
            session: None,
        };
        let presented = Presented {
            format: Format::SdJwtVc,
            raw: text,
            expected: Some(&binding),
        };
        let needs = needs(&presented, &policy, evidence, now).unwrap();
        (needs, verify(&presented, &policy, evidence, now))
    };
    let (wanted, (verdict, _)) = judge(&evidence, &case["aud"]);
    assert_eq!(wanted, [Need::IssuerMetadata(iss.clone())]);
    assert_eq!(verdict.outcome, Outcome::Unverifiable);
    let metadata = json!({"issuer": iss, "jwks": {"keys": [vector["issuer_key"]]}});
    let metadata = Fetched {
        value: Ok(metadata.to_string().into_bytes()),
        at: now,
    };
    evidence.insert_issuer_metadata(iss, metadata);
    let (wanted, (verdict, claims)) = judge(&evidence, &case["aud"]);
    assert_eq!(wanted, []);
    assert_eq!(verdict.outcome, Outcome::Valid, "{verdict:#?}");
    assert_eq!(claims, Some(case["processed"].clone()));
    let (_, (verdict, claims)) = judge(&evidence, &json!("https://other.example.org"));
    assert_eq!((verdict.outcome, claims), (Outcome::Invalid, None));
}
