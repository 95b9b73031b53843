//! Tests of the encryption of messages, and of responses that are encrypted.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::client_metadata::ClientMetadata;
use crate::response::{AuthorizationResponse, PostedResponse, VpResponse, encryption_to};

/// The encrypted response of OpenID4VP 1.0 §8.3, and the key that the text gives for it.
const EXAMPLE: &str = "eyJhbGciOiJFQ0RILUVTIiwiZW5jIjoiQTEyOEdDTSIsImtpZCI6ImFjIiwiZXBrIjp7Imt0eSI6IkVDIiwieCI6Im5ubVZwbTNWM2piaGNhZlFhUkJrU1ZOSGx3Wkh3dC05ck9wSnVmeVlJdWsiLCJ5IjoicjRmakRxd0p5czlxVU9QLV9iM21SNVNaRy0tQ3dPMm1pYzVWU05UWU45ZyIsImNydiI6IlAtMjU2In19..uAYcHRUSSn2X0WPX.yVzlGSYG4qbg0bq18JcUiDRw56yVnbKR8E7S7YlEtzT00RqE3Pw5oTpUG3hdLN4taHZ9gC1kwak8JOnJgQ.1wR024_3-qtAlx1oFIUpQQ";
const NUMBER: &str = "Et-3ce0omz8_TuZ96Df9lp0GAaaDoUnDe6X-CRO7Aww";
const MAX: usize = 1 << 20;

fn ctx(seed: u8) -> Ctx {
    Ctx::new(UnixTime(1), [seed; 32])
}

fn key(seed: u8) -> EncryptionKey {
    EncryptionKey::new(&ctx(seed), "test").unwrap()
}

fn example_key() -> EncryptionKey {
    EncryptionKey {
        kid: "ac".to_owned(),
        private: NUMBER.into(),
    }
}

fn metadata(key: &EncryptionKey, values: &[&str]) -> ClientMetadata {
    let values = values.iter().map(|name| (*name).to_owned()).collect();
    ClientMetadata {
        jwks: Some(Box::new(json!({"keys": [key.jwk().unwrap()]}))),
        encrypted_response_enc_values_supported: Some(values),
        ..ClientMetadata::default()
    }
}

fn answer() -> AuthorizationResponse {
    let vp_token = [("a".to_owned(), vec!["x~y~z".to_owned()])];
    AuthorizationResponse {
        state: Some("s".to_owned()),
        answer: VpResponse::Presented(vp_token.into()),
    }
}

/// The response as it is posted, encrypted.
fn posted(response: &AuthorizationResponse, to: &EncryptionKey) -> PostedResponse {
    let to = encryption_to(&metadata(to, &["A256GCM"])).unwrap();
    let form = response.encrypted(&to, &ctx(9)).unwrap();
    let body = selfsame_oauth::form::encode(&form);
    PostedResponse::parse(body.as_bytes()).unwrap()
}

#[test]
fn the_encrypted_response_of_the_specification_is_read() {
    let response = PostedResponse::Encrypted(EXAMPLE.to_owned())
        .opened(Some(&example_key()))
        .unwrap();
    let VpResponse::Presented(vp_token) = response.answer else {
        panic!("{response:?}")
    };
    assert_eq!(vp_token["example_credential_id"], ["eyJhb...YMetA"]);
}

#[test]
fn a_key_says_how_it_is_used_and_shows_no_secret() {
    let jwk = example_key().jwk().unwrap();
    assert_eq!(jwk["x"], "YO4epjifD-KWeq1sL2tNmm36BhXnkJ0He-WqMYrp9Fk");
    assert_eq!(
        (&jwk["kid"], &jwk["alg"], &jwk["use"]),
        (&json!("ac"), &json!("ECDH-ES"), &json!("enc"))
    );
    assert_eq!(jwk.get("d"), None);
    assert!(!format!("{:?}", example_key()).contains(NUMBER));
    let kept = serde_json::to_string(&key(1)).unwrap();
    let again: EncryptionKey = serde_json::from_str(&kept).unwrap();
    assert_eq!(again.jwk().unwrap(), key(1).jwk().unwrap());
}

#[test]
fn keys_of_two_steps_differ_and_the_one_beside_a_sealing_key_stays() {
    assert_ne!(key(1).kid, key(2).kid);
    let sealing = SealingKey::from_bytes([7; 32]);
    let beside = || EncryptionKey::beside(&sealing).unwrap().kid;
    assert_eq!(beside(), beside());
    let other = EncryptionKey::beside(&SealingKey::from_bytes([8; 32]));
    assert_ne!(beside(), other.unwrap().kid);
}

#[test]
fn an_encrypted_response_is_read_by_the_key_of_its_request_alone() {
    let posted = posted(&answer(), &key(1));
    assert_eq!(posted.opened(Some(&key(1))).unwrap(), answer());
    let other = posted.opened(Some(&key(2))).unwrap_err();
    assert!(other.detail().contains("does not name the key"), "{other}");
    // A key that only claims to be the same.
    let posing = EncryptionKey {
        kid: key(1).kid,
        ..key(2)
    };
    let other = posted.opened(Some(&posing)).unwrap_err();
    assert!(other.detail().contains("cannot be decrypted"), "{other}");
}

#[test]
fn a_response_comes_as_the_request_asks_and_an_error_may_be_plain() {
    let body = selfsame_oauth::form::encode(&answer().parameters());
    let plain = PostedResponse::parse(body.as_bytes()).unwrap();
    assert_eq!(plain.opened(None).unwrap(), answer());
    assert_eq!(
        plain.opened(Some(&key(1))).unwrap_err().code(),
        Some("invalid_request")
    );
    let encrypted = posted(&answer(), &key(1));
    assert_eq!(
        encrypted.opened(None).unwrap_err().code(),
        Some("invalid_request")
    );
    let refusal = PostedResponse::parse(b"error=access_denied&state=s").unwrap();
    for key in [None, Some(&key(1))] {
        let read = refusal.opened(key).unwrap();
        assert!(matches!(read.answer, VpResponse::Refused { .. }));
    }
}

#[test]
fn what_stands_beside_an_encrypted_response_is_refused() {
    for beside in ["state=s", "vp_token=%7B%7D", "error=x"] {
        let body = format!("response={EXAMPLE}&{beside}");
        assert!(PostedResponse::parse(body.as_bytes()).is_err(), "{beside}");
    }
    let ignored = format!("response={EXAMPLE}&unknown=1");
    assert!(PostedResponse::parse(ignored.as_bytes()).is_ok());
}

#[test]
fn an_encrypted_payload_that_is_no_response_is_refused() {
    let key = key(1);
    let to = EncryptTo::named(&key.jwk().unwrap(), "A128GCM").unwrap();
    let opened = |payload: &str| {
        let token = to.seal(payload.as_bytes(), &ctx(3)).unwrap();
        PostedResponse::Encrypted(token).opened(Some(&key))
    };
    assert!(opened(r#"{"vp_token":{"a":["x"]},"unknown":1}"#).is_ok());
    for bad in [
        "",
        "[]",
        "{}",
        r#"{"vp_token":"{\"a\":[\"x\"]}"}"#,
        r#"{"vp_token":{"a":"x"}}"#,
        r#"{"vp_token":{"a":["x"]},"vp_token":{}}"#,
        r#"{"vp_token":{"a":["x"]},"error":"access_denied"}"#,
    ] {
        let refused = opened(bad).unwrap_err();
        assert_eq!(refused.code(), Some("invalid_request"), "{bad}");
    }
}

/// The example with another protected header.
fn with_header(change: impl Fn(&mut Value)) -> Result<Secret, NotOpened> {
    let (header, rest) = EXAMPLE.split_once('.').unwrap();
    let mut header = serde_json::from_slice(&base64url_decode(header).unwrap()).unwrap();
    change(&mut header);
    let header = base64url_encode(header.to_string().as_bytes());
    example_key().open(&format!("{header}.{rest}"), MAX)
}

#[test]
fn other_algorithms_compression_and_points_off_the_curve_are_refused() {
    let header =
        |name: &'static str, value: Value| with_header(move |header| header[name] = value.clone());
    assert_eq!(
        header("alg", json!("ECDH-ES+A256KW")),
        Err(NotOpened::Algorithm)
    );
    for alg in ["dir", "RSA-OAEP-256", "none"] {
        assert_eq!(header("alg", json!(alg)), Err(NotOpened::Algorithm));
    }
    for enc in ["A256CBC-HS512", "XC20P", "A128CBC-HS256"] {
        assert_eq!(header("enc", json!(enc)), Err(NotOpened::Algorithm));
    }
    assert_eq!(header("zip", json!("DEF")), Err(NotOpened::Form));
    assert_eq!(header("crit", json!(["x"])), Err(NotOpened::Form));
    let off = with_header(|header| header["epk"]["y"] = header["epk"]["x"].clone());
    assert_eq!(off, Err(NotOpened::Form));
    assert_eq!(header("kid", json!("other")), Err(NotOpened::Key));
    let nameless = with_header(|header| {
        header.as_object_mut().unwrap().remove("kid");
    });
    assert_eq!(nameless, Err(NotOpened::Key));
    // The header is bound to the content, so that any other change is refused as well.
    assert_eq!(header("cty", json!("json")), Err(NotOpened::Decryption));
}

#[test]
fn a_message_that_is_no_compact_jwe_or_too_long_is_refused() {
    for text in ["", "a.b.c", "{}", " {\"protected\":\"\"}", "a.b.c.d.e.f"] {
        assert_eq!(
            example_key().open(text, MAX),
            Err(NotOpened::Form),
            "{text}"
        );
    }
    assert_eq!(
        example_key().open(EXAMPLE, EXAMPLE.len() - 1),
        Err(NotOpened::Form)
    );
}

#[test]
fn the_strongest_content_encryption_of_both_is_chosen() {
    let key = key(1);
    let enc = |values: &[&str]| {
        let to = encryption_to(&metadata(&key, values)).ok()?;
        Some(to.encryption)
    };
    assert_eq!(
        enc(&["A128GCM", "A256GCM"]),
        Some(ContentEncryption::A256Gcm)
    );
    assert_eq!(enc(&["A128GCM"]), Some(ContentEncryption::A128Gcm));
    assert_eq!(enc(&["A128CBC-HS256"]), None);
    let default = ClientMetadata {
        encrypted_response_enc_values_supported: None,
        ..metadata(&key, &[])
    };
    let default = encryption_to(&default).unwrap();
    assert_eq!(default.encryption, ContentEncryption::A128Gcm);
}

#[test]
fn a_key_to_encrypt_to_names_its_algorithm() {
    let named = |change: fn(&mut Value)| {
        let mut jwk = key(1).jwk().unwrap();
        change(&mut jwk);
        EncryptTo::named(&jwk, "A256GCM").map(|_| ())
    };
    assert_eq!(named(|_| ()), Ok(()));
    assert_eq!(
        named(|jwk| jwk["alg"] = json!("ECDH-ES+A128KW")),
        Err(NoEncryption::Key)
    );
    assert_eq!(
        named(|jwk| drop(jwk.as_object_mut().unwrap().remove("alg"))),
        Err(NoEncryption::Key)
    );
    assert_eq!(
        named(|jwk| jwk["use"] = json!("sig")),
        Err(NoEncryption::Key)
    );
    assert_eq!(
        named(|jwk| jwk["y"] = jwk["x"].clone()),
        Err(NoEncryption::Key)
    );
    let jwk = key(1).jwk().unwrap();
    assert!(EncryptTo::named(&jwk, "A256CBC-HS512").is_err());
}

proptest! {
    #[test]
    fn any_message_comes_back_and_any_change_is_noticed(message in proptest::collection::vec(any::<u8>(), 0..400), at in any::<usize>()) {
        let key = key(1);
        let to = EncryptTo::named(&key.jwk().unwrap(), "A256GCM").unwrap();
        let token = to.seal(&message, &ctx(4)).unwrap();
        let opened = key.open(&token, MAX).unwrap();
        prop_assert_eq!(opened.expose(), &message[..]);
        let mut changed = token.clone().into_bytes();
        let at = at % changed.len();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        // The last character of a part can have bits that stand for nothing, and those must be zero.
        prop_assert!(key.open(&changed, MAX).is_err());
    }
}
