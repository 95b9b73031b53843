//! Tests of reading the forms of a JWE.

use super::*;

fn encrypted() -> (AgreementPrivate, Value) {
    let bob = generated(AgreementCurve::X25519);
    let draft = JweDraft {
        to: vec![to("bob", &bob)],
        ..draft(KeyManagement::EcdhEsA256Kw, ContentEncryption::A256Gcm)
    };
    let value = draft.encrypt(b"x", &ctx()).unwrap().to_value();
    (bob, value)
}

fn parsed(value: &Value) -> Result<Jwe, JweError> {
    Jwe::parse(&value.to_string(), MAX)
}

/// The value with another protected header.
fn headed(value: &Value, change: impl Fn(&mut Map<String, Value>)) -> Value {
    let header = base64url_decode(value["protected"].as_str().unwrap()).unwrap();
    let mut header: Map<String, Value> = serde_json::from_slice(&header).unwrap();
    change(&mut header);
    let mut value = value.clone();
    value["protected"] = json!(base64url_encode(
        Value::Object(header).to_string().as_bytes()
    ));
    value
}

#[test]
fn the_general_the_flattened_and_the_compact_form_are_read() {
    let (bob, value) = encrypted();
    let general = parsed(&value).unwrap();
    let mut flattened = value.clone();
    let only = flattened
        .as_object_mut()
        .unwrap()
        .remove("recipients")
        .unwrap();
    flattened["encrypted_key"] = only[0]["encrypted_key"].clone();
    flattened["header"] = only[0]["header"].clone();
    assert_eq!(parsed(&flattened).unwrap(), general);
    assert_eq!(general.to_value(), value);
    assert_eq!(general.to_compact(), None, "its kid would be lost");
    let draft = JweDraft {
        to: vec![to("bob", &bob)],
        members: Map::from_iter([("kid".to_owned(), json!("bob"))]),
        ..draft(KeyManagement::EcdhEsA256Kw, ContentEncryption::A256Gcm)
    };
    let jwe = draft.encrypt(b"x", &ctx()).unwrap();
    let compact = jwe.to_compact().unwrap();
    assert_eq!(Jwe::parse(&compact, MAX).unwrap(), jwe);
    assert_eq!(
        Jwe::parse(&compact, compact.len() - 1),
        Err(JweError::TooLong)
    );
}

#[test]
fn what_is_not_a_jwe_is_refused() {
    let (_, value) = encrypted();
    for (name, replaced) in [
        ("protected", json!(1)),
        ("protected", json!("e30")),
        ("protected", json!("e30=")),
        ("iv", json!("a")),
        ("ciphertext", json!(null)),
        ("tag", json!("a b")),
        ("recipients", json!([])),
        ("recipients", json!({})),
        ("recipients", json!([1])),
        ("recipients", json!([{ "header": 1 }])),
        ("recipients", json!([{ "header": { "kid": 1 } }])),
        ("recipients", json!([{ "header": { "alg": "ECDH-ES" } }])),
        ("recipients", json!([{ "encrypted_key": "=" }])),
        ("recipients", json!(vec![json!({}); 65])),
        ("encrypted_key", json!("AA")),
        ("header", json!({})),
        ("unprotected", json!({})),
        ("aad", json!("AA")),
    ] {
        let mut changed = value.clone();
        changed[name] = replaced.clone();
        assert!(parsed(&changed).is_err(), "{name}: {replaced}");
    }
    for text in ["", "{", "[]", "a.b.c", "....", "a.b.c.d.e.f", "{}"] {
        assert!(Jwe::parse(text, MAX).is_err(), "{text}");
    }
}

#[test]
fn a_header_that_demands_more_is_refused() {
    let (_, value) = encrypted();
    assert!(parsed(&headed(&value, |_| ())).is_ok());
    for (name, member) in [
        ("alg", json!("dir")),
        ("alg", json!("RSA-OAEP")),
        ("alg", json!("ECDH-ES")),
        ("alg", json!("ECDH-1PU+A256KW")),
        ("alg", json!(1)),
        ("enc", json!("A128CBC-HS256")),
        ("enc", json!("none")),
        ("zip", json!("DEF")),
        ("crit", json!(["exp"])),
        ("epk", json!({})),
        (
            "epk",
            json!({ "kty": "OKP", "crv": "Ed25519", "x": base64url_encode(&[3; 32]) }),
        ),
        ("epk", json!({ "kty": "OKP", "crv": "X25519", "x": "AA" })),
        ("apu", json!("=")),
        ("apv", json!(1)),
        ("kid", json!("bob")),
        ("kid", json!(1)),
        ("skid", json!({})),
    ] {
        let changed = headed(&value, |header| {
            header.insert(name.to_owned(), member.clone());
        });
        // `ECDH-ES` itself is supported, but has no wrapped key; that is found when it is decrypted.
        let is_refused = parsed(&changed).is_err() || member == "ECDH-ES";
        assert!(is_refused, "{name}: {member}");
    }
    for name in ["alg", "enc", "epk"] {
        let without = headed(&value, |header| {
            header.remove(name);
        });
        assert_eq!(parsed(&without), Err(JweError::Form(name)));
    }
}

#[test]
fn a_point_that_is_not_on_the_curve_is_refused() {
    let bob = generated(AgreementCurve::P256);
    let draft = JweDraft {
        to: vec![to("bob", &bob)],
        ..draft(KeyManagement::EcdhEsA256Kw, ContentEncryption::A256Gcm)
    };
    let value = draft.encrypt(b"x", &ctx()).unwrap().to_value();
    let off = headed(&value, |header| {
        header["epk"]["y"] = json!(base64url_encode(&[1; 32]));
    });
    assert!(matches!(parsed(&off), Err(JweError::Key(_))));
}

#[test]
fn a_direct_agreement_with_a_wrapped_key_is_not_decrypted() {
    let (bob, value) = encrypted();
    let direct = headed(&value, |header| {
        header.insert("alg".to_owned(), json!("ECDH-ES"));
    });
    let opened = parsed(&direct).unwrap().decrypt(&with("bob", &bob));
    assert_eq!(opened, Err(JweError::Decryption));
}
