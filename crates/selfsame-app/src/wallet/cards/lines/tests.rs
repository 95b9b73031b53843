//! What is sent is what is shown: the texts of credentials against the lines for the person.

use proptest::prelude::*;
use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::time::UnixTime;
use serde_json::json;

use super::super::Look;
use super::*;

const HOLDER: &str = "did:jwk:holder";

fn card(format: Format, raw: String) -> (CardRecord, Held) {
    let held = Held::parse(&raw, format).unwrap();
    let card = CardRecord {
        id: "card".to_owned(),
        format,
        raw,
        key: None,
        kid: None,
        issuer: String::new(),
        types: Vec::new(),
        look: Look::default(),
        added: UnixTime(0),
        expires: None,
    };
    (card, held)
}

fn jwt(header: &Value, payload: &Value) -> String {
    Unsigned::new(header, payload).finish(&[0; 64])
}

/// Every name and every value that this card sends and the person does not see, by where it stands.
fn unseen(card: &CardRecord, held: &Held) -> Vec<String> {
    let lines = card.all_lines(held);
    let seen: Vec<String> = lines
        .iter()
        .flat_map(|line| [line.label.clone(), line.value.clone()])
        .collect();
    let mut sent = Vec::new();
    let (jwt, disclosures) = match card.raw.split_once('~') {
        Some((jwt, disclosures)) => (jwt, disclosures),
        None => (card.raw.as_str(), ""),
    };
    for part in jwt.split('.').take(2) {
        leaves(&read(part), "", &mut sent);
    }
    for disclosure in disclosures.split('~').filter(|text| !text.is_empty()) {
        leaves(&read(disclosure), "disclosed", &mut sent);
    }
    let is_seen = |text: &String| seen.iter().any(|line| line.contains(text.as_str()));
    sent.into_iter()
        .filter(|(_, text)| text.starts_with("told") && !is_seen(text))
        .map(|(at, text)| format!("{at}: {text}"))
        .collect()
}

fn read(part: &str) -> Value {
    serde_json::from_slice(&base64url_decode(part).unwrap()).unwrap()
}

fn leaves(value: &Value, at: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                found.push((at.to_owned(), name.clone()));
                leaves(value, &format!("{at}/{name}"), found);
            }
        }
        Value::Array(elements) => {
            for value in elements {
                leaves(value, &format!("{at}/0"), found);
            }
        }
        Value::String(text) => found.push((at.to_owned(), text.clone())),
        _ => {}
    }
}

/// Anything an issuer could put anywhere: every name and text in it is one of a kind.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = any::<u64>().prop_map(|number| json!(format!("told{number}")));
    leaf.prop_recursive(5, 24, 4, |inner| {
        let name = any::<u64>().prop_map(|number| format!("told{number}"));
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(name, inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// An object that has this in it.
fn with(anything: &Value, mut members: Value) -> Value {
    members["told_member"] = anything.clone();
    members
}

proptest! {
    #[test]
    fn all_that_an_sd_jwt_vc_sends_is_shown(anything in anything()) {
        let disclosed = json!(["salt", "told_name", anything]);
        let disclosure = base64url_encode(disclosed.to_string().as_bytes());
        let digest = base64url_encode(&selfsame_crypto::hash::sha256(disclosure.as_bytes()));
        let payload = json!({
            "iss": "https://issuer.example", "vct": "urn:example", "iat": 1, "nbf": 1, "exp": 2,
            "sub": anything, "name": anything, "_sd": [digest],
            "cnf": with(&anything, json!({ "jwk": with(&anything, json!({})) })),
            "status": with(&anything, json!({
                "status_list": with(&anything, json!({ "idx": 1, "uri": "https://issuer.example/1" })),
            })),
        });
        let header = with(&anything, json!({ "alg": "ES256", "typ": "dc+sd-jwt" }));
        let raw = format!("{}~{disclosure}~", jwt(&header, &payload));
        let (card, held) = card(Format::SdJwtVc, raw);
        prop_assert_eq!(unseen(&card, &held), Vec::<String>::new());
    }

    #[test]
    fn all_that_a_w3c_credential_sends_is_shown(anything in anything()) {
        let credential = json!({
            "@context": ["https://www.w3.org/ns/credentials/v2", anything],
            "id": "told_id", "type": ["VerifiableCredential"], "name": anything,
            "description": "told_description", "evidence": [anything], "holderAddress": anything,
            "issuer": with(&anything, json!({ "id": "did:example:issuer" })),
            "validFrom": "2020-01-01T00:00:00Z",
            "credentialSubject": with(&anything, json!({ "id": HOLDER })),
            "credentialSchema": with(&anything, json!({ "id": "https://e.example", "type": "S" })),
            "termsOfUse": anything,
        });
        let header = with(&anything, json!({ "alg": "ES256", "typ": "vc+jwt" }));
        let (two, held) = card(Format::VcJwt, jwt(&header, &credential));
        prop_assert_eq!(unseen(&two, &held), Vec::<String>::new());

        let mut one = credential;
        one["@context"] = json!(["https://www.w3.org/2018/credentials/v1", anything]);
        let payload = with(&anything, json!({
            "vc": one, "iss": "did:example:issuer", "sub": HOLDER, "jti": "told_id",
        }));
        let (one, held) = card(Format::JwtVcJson, jwt(&header, &payload));
        prop_assert_eq!(unseen(&one, &held), Vec::<String>::new());
    }
}

#[test]
fn what_every_credential_has_makes_no_line() {
    let payload = json!({
        "iss": "https://issuer.example", "vct": "urn:example", "iat": 1, "nbf": 1, "exp": 2,
        "cnf": { "jwk": { "kty": "EC", "crv": "P-256", "x": "x", "y": "y" } },
        "status": { "status_list": { "idx": 1, "uri": "https://issuer.example/1" } },
        "given_name": "Ada",
    });
    let header = json!({ "alg": "ES256", "typ": "dc+sd-jwt" });
    let (sd_jwt, held) = card(Format::SdJwtVc, jwt(&header, &payload) + "~");
    let labels = |card: &CardRecord, held: &Held| -> Vec<String> {
        let lines = card.all_lines(held);
        lines.into_iter().map(|line| line.label).collect()
    };
    assert_eq!(labels(&sd_jwt, &held), ["given_name"]);
    let credential = json!({
        "@context": ["https://www.w3.org/ns/credentials/v2"],
        "type": ["VerifiableCredential", "Card"], "issuer": { "id": "did:example:issuer" },
        "validFrom": "2020-01-01T00:00:00Z", "validUntil": "2030-01-01T00:00:00Z",
        "credentialStatus": { "id": "https://e.example/1#2", "type": "BitstringStatusListEntry",
            "statusPurpose": "revocation", "statusListIndex": "2",
            "statusListCredential": "https://e.example/1" },
        "credentialSubject": { "id": HOLDER, "given_name": "Ada" },
    });
    let (vc, held) = card(Format::VcJwt, jwt(&json!({ "alg": "ES256" }), &credential));
    assert_eq!(labels(&vc, &held), ["credentialSubject.given_name"]);
}
