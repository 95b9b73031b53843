//! JWS in compact form: published vectors, round trips, and forgeries that must be refused.

use proptest::prelude::*;
use selfsame_crypto::encoding::{base64_encode, base64url_encode};
use selfsame_crypto::jws::{Compact, JwsError, Unsigned};
use selfsame_crypto::{Algorithm, Jwk, KeyType, PrivateKey, PublicKey, SignatureError};
use serde_json::{Value, json};

fn vectors() -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("../../../vectors/jose/jws.json")).unwrap();
    file["cases"].as_array().unwrap().clone()
}

fn signed(header: &Value, payload: &Value, key: &PrivateKey) -> String {
    let unsigned = Unsigned::new(header, payload);
    let signature = key.sign(unsigned.signing_input()).unwrap();
    unsigned.finish(&signature)
}

fn with_header(header: &str) -> Result<Compact, JwsError> {
    Compact::parse(&format!("{}.e30.AA", base64url_encode(header.as_bytes())))
}

#[test]
fn the_examples_of_rfc_7515_and_rfc_8037_verify_and_changed_ones_do_not() {
    assert_eq!(vectors().len(), 3);
    for case in vectors() {
        let key = PublicKey::from_jwk(&Jwk::from_value(&case["jwk"]).unwrap()).unwrap();
        let text = case["jws"].as_str().unwrap();
        let jws = Compact::parse(text).unwrap();
        assert_eq!(jws.payload, case["payload"].as_str().unwrap().as_bytes());
        assert_eq!(jws.verify(&key), Ok(()), "{}", case["source"]);
        let (_, rest) = text.split_once('.').unwrap();
        let (payload, signature) = rest.split_once('.').unwrap();
        let header =
            base64url_encode(format!(r#"{{"alg":"{}","typ":"x"}}"#, jws.header.alg).as_bytes());
        let forged = Compact::parse(&format!("{header}.{payload}.{signature}")).unwrap();
        assert_eq!(forged.verify(&key), Err(SignatureError::Invalid));
    }
}

#[test]
fn what_is_signed_here_is_read_and_verified_here() {
    for key_type in [KeyType::Ed25519, KeyType::P256] {
        let key = PrivateKey::generate(key_type).unwrap();
        let header = json!({"alg": key.algorithm(), "typ": "test+jwt", "kid": "k", "extra": [1]});
        let jws = Compact::parse(&signed(&header, &json!({"a": 1}), &key)).unwrap();
        assert_eq!(jws.verify(key.public()), Ok(()));
        assert_eq!(jws.claims(), Ok(json!({"a": 1})));
        assert_eq!(
            (jws.header.typ.as_deref(), jws.header.kid.as_deref()),
            (Some("test+jwt"), Some("k"))
        );
        assert_eq!(
            Value::Object(jws.header.other.clone()),
            json!({"extra": [1]})
        );
        let other = PrivateKey::generate(key_type).unwrap();
        assert_eq!(jws.verify(other.public()), Err(SignatureError::Invalid));
    }
}

#[test]
fn unsigned_and_shared_secret_algorithms_are_refused_when_read() {
    for alg in [
        "none", "NONE", "HS256", "HS384", "HS512", "RSA-OAEP", "", "EdDSA ",
    ] {
        assert_eq!(
            with_header(&json!({ "alg": alg }).to_string()).err(),
            Some(JwsError::Algorithm),
            "{alg}"
        );
    }
    assert_eq!(with_header("{}").err(), Some(JwsError::Algorithm));
    assert_eq!(with_header(r#"{"alg":1}"#).err(), Some(JwsError::Header));
}

#[test]
fn a_key_of_another_kind_than_the_header_says_is_refused() {
    let key = PrivateKey::generate(KeyType::P256).unwrap();
    for alg in Algorithm::ALL
        .into_iter()
        .filter(|alg| *alg != Algorithm::Es256)
    {
        let jws = Compact::parse(&signed(&json!({ "alg": alg }), &json!({}), &key)).unwrap();
        assert_eq!(
            jws.verify(key.public()),
            Err(SignatureError::WrongAlgorithm)
        );
    }
}

#[test]
fn extensions_that_must_be_understood_are_refused() {
    for header in [
        r#"{"alg":"ES256","crit":["exp"],"exp":1}"#,
        r#"{"alg":"ES256","crit":[]}"#,
        r#"{"alg":"ES256","b64":false,"crit":["b64"]}"#,
        r#"{"alg":"ES256","b64":false}"#,
        r#"{"alg":"ES256","b64":"true"}"#,
    ] {
        assert_eq!(
            with_header(header).err(),
            Some(JwsError::Critical),
            "{header}"
        );
    }
    assert!(with_header(r#"{"alg":"ES256","b64":true}"#).is_ok());
}

#[test]
fn keys_in_the_header_must_be_public_and_well_formed() {
    let jwk = PrivateKey::generate(KeyType::P256)
        .unwrap()
        .public()
        .to_jwk();
    let header = |jwk: Value| with_header(&json!({"alg": "ES256", "jwk": jwk}).to_string());
    assert_eq!(
        header(jwk.to_value()).unwrap().header.jwk,
        Some(jwk.clone())
    );
    let mut private = jwk.to_value();
    private["d"] = json!("AQ");
    assert_eq!(header(private).err(), Some(JwsError::Key));
    assert_eq!(
        header(json!({"kty": "oct", "k": "AQ"})).err(),
        Some(JwsError::Key)
    );
    assert_eq!(header(json!("text")).err(), Some(JwsError::Key));
}

#[test]
fn certificates_in_the_header_are_base64_with_padding_and_few() {
    let header = |x5c: Value| with_header(&json!({"alg": "ES256", "x5c": x5c}).to_string());
    let certificate = [0xff, 0xfe, 0xfd, 0xfc];
    assert_eq!(
        header(json!([base64_encode(&certificate)]))
            .unwrap()
            .header
            .x5c,
        Some(vec![certificate.to_vec()])
    );
    for wrong in [
        json!([base64url_encode(&certificate)]),
        json!([]),
        json!([1]),
        json!(vec!["AA=="; 9]),
    ] {
        assert_eq!(header(wrong).err(), Some(JwsError::Key));
    }
    assert_eq!(header(json!("AA==")).err(), Some(JwsError::Header));
}

#[test]
fn a_type_is_the_same_with_and_without_its_first_part_and_in_any_case() {
    let is_of_type = |header: &str| with_header(header).unwrap().header.is_of_type("vc+jwt");
    for typ in [
        "vc+jwt",
        "application/vc+jwt",
        "VC+JWT",
        "Application/vc+JWT",
    ] {
        let header = format!(r#"{{"alg":"ES256","typ":"{typ}"}}"#);
        assert!(is_of_type(&header), "{typ}");
    }
    for typ in [
        "",
        "jwt",
        "vc",
        "/vc+jwt",
        "text/vc+jwt",
        "application/",
        "application/application/vc+jwt",
        "vc+jwt;a=b",
        " vc+jwt",
    ] {
        let header = format!(r#"{{"alg":"ES256","typ":"{typ}"}}"#);
        assert!(!is_of_type(&header), "{typ}");
    }
    assert!(!is_of_type(r#"{"alg":"ES256"}"#));
}

#[test]
fn headers_that_name_a_member_twice_or_are_no_object_are_refused() {
    for header in [
        r#"{"alg":"ES256","alg":"EdDSA"}"#,
        "[]",
        "\"ES256\"",
        "{\"alg\":\"ES256\"} ",
        "{",
        r#"{"alg":"ES256","kid":1}"#,
    ] {
        let expected = if header.ends_with("} ") {
            None
        } else {
            Some(JwsError::Header)
        };
        assert_eq!(with_header(header).err(), expected, "{header}");
    }
}

#[test]
fn texts_that_are_not_three_base64url_parts_are_refused() {
    let header = base64url_encode(br#"{"alg":"ES256"}"#);
    for text in [
        String::new(),
        header.clone(),
        format!("{header}.e30"),
        format!("{header}.e30.AA.AA"),
        format!("{header}.e30=.AA"),
        format!("{header}.e30.A"),
        format!(" {header}.e30.AA"),
        format!("{header}.e31.AA"),
    ] {
        assert_eq!(Compact::parse(&text).err(), Some(JwsError::Form), "{text}");
    }
    let long = format!("{header}.{}.AA", "A".repeat(1024 * 1024));
    assert_eq!(Compact::parse(&long).err(), Some(JwsError::TooLong));
    assert_eq!(
        Compact::parse_within(&format!("{header}.e30.AA"), 10).err(),
        Some(JwsError::TooLong)
    );
}

proptest! {
    #[test]
    fn reading_never_panics_and_keeps_what_was_signed(text in "[A-Za-z0-9_.-]{0,80}", header in "\\PC{0,40}", payload in "\\PC{0,40}") {
        let _ = Compact::parse(&text);
        let near = format!("{}.{}.AA", base64url_encode(header.as_bytes()), base64url_encode(payload.as_bytes()));
        let _ = Compact::parse(&near);
        let sound = Unsigned::with_payload_bytes(&json!({"alg": "EdDSA"}), payload.as_bytes()).finish(&[0; 64]);
        let jws = Compact::parse(&sound).unwrap();
        prop_assert_eq!(jws.payload.clone(), payload.as_bytes());
        prop_assert!(sound.as_bytes().starts_with(jws.signing_input()));
        let _ = jws.claims();
    }
}
