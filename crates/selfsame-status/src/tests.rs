//! Lists as they should be, and every way in which they should not.

use std::collections::BTreeSet;

use proptest::prelude::*;
use selfsame_crypto::{
    KeyType, PrivateKey,
    encoding::{base64url_decode, base64url_encode},
    jws,
    time::UnixTime,
};
use serde_json::{Map, Value as Json, json};

use super::*;

const URI: &str = "https://issuer.example/status/1";
const NOW: UnixTime = UnixTime(1_800_000_000);

fn header() -> Map<String, Json> {
    let header = json!({"alg": "EdDSA", "kid": "did:web:issuer.example#1"});
    header.as_object().unwrap().clone()
}

fn terms(header: &Map<String, Json>) -> Terms<'_> {
    Terms {
        uri: URI,
        issuer: "did:web:issuer.example",
        header,
        issued_at: NOW,
        expires_at: Some(NOW.plus(3_600)),
        ttl: Some(60),
    }
}

fn token_list(bits: &Bits) -> String {
    let unsigned = token_list::encode(bits, &terms(&header())).unwrap();
    unsigned.finish(b"signature")
}

fn bitstring_list(bits: &Bits, purpose: Purpose) -> String {
    let unsigned = bitstring::encode(bits, purpose, &terms(&header())).unwrap();
    unsigned.finish(b"signature")
}

fn parse(body: &str) -> Result<List, StatusError> {
    List::parse(URI, None, body.as_bytes(), NOW)
}

fn payload(token: &str) -> Json {
    jws::Compact::parse(token).unwrap().claims().unwrap()
}

/// Reads a token whose payload was changed; whether its signature is good is for others to say.
fn altered(typ: &str, payload: &Json) -> Result<List, StatusError> {
    let mut header = header();
    header.insert("typ".into(), typ.into());
    let unsigned = jws::Unsigned::new(&Json::Object(header), payload);
    parse(&unsigned.finish(b"signature"))
}

fn token_payload() -> Json {
    payload(&token_list(&Bits::new(Width::Two, 16).unwrap()))
}

fn bitstring_payload() -> Json {
    let bits = Bits::new(Width::One, bitstring::MIN_ENTRIES).unwrap();
    payload(&bitstring_list(&bits, Purpose::Revocation))
}

/// The reason for refusing a payload after this change; a member set to null is taken away.
fn refusal(typ: &str, mut payload: Json, pointer: &str, value: Json) -> StatusError {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = payload
        .pointer_mut(parent)
        .unwrap()
        .as_object_mut()
        .unwrap();
    if value.is_null() {
        parent.remove(name).unwrap();
    } else {
        parent.insert(name.into(), value);
    }
    altered(typ, &payload).unwrap_err()
}

#[test]
fn a_token_list_reads_back_as_it_was_written() {
    let mut bits = Bits::new(Width::Two, 1_000).unwrap();
    bits.set(7, 1).unwrap();
    bits.set(999, 2).unwrap();
    bits.set(8, 3).unwrap();
    let body = token_list(&bits);
    let list = List::parse(URI, Some(token_list::MEDIA_TYPE), body.as_bytes(), NOW).unwrap();
    for (index, value) in [
        (0, Value::Valid),
        (7, Value::Invalid),
        (8, Value::Other(3)),
        (9, Value::Valid),
        (999, Value::Suspended),
    ] {
        assert_eq!(list.get(index), Ok(value));
        assert_eq!(list.status(&Reference::token(URI, index)), Ok(value));
    }
    assert_eq!(list.get(1_000), Err(StatusError::OutOfRange));
    assert_eq!(list.get(u64::MAX), Err(StatusError::OutOfRange));
    assert_eq!(list.issuer(), Some("did:web:issuer.example"));
    assert_eq!(list.issued_at(), Some(NOW));
    assert_eq!(list.len(), 1_000);
}

#[test]
fn a_bitstring_list_reads_back_as_it_was_written() {
    let mut bits = Bits::new(Width::One, bitstring::MIN_ENTRIES).unwrap();
    bits.set(0, 1).unwrap();
    bits.set(94_567, 1).unwrap();
    for (purpose, set) in [
        (Purpose::Revocation, Value::Invalid),
        (Purpose::Suspension, Value::Suspended),
    ] {
        let body = bitstring_list(&bits, purpose);
        let list = List::parse(URI, Some(bitstring::MEDIA_TYPE), body.as_bytes(), NOW).unwrap();
        for (index, value) in [
            (0, set),
            (1, Value::Valid),
            (94_567, set),
            (94_566, Value::Valid),
        ] {
            let reference = Reference::bitstring(URI, index, purpose);
            assert_eq!(list.status(&reference), Ok(value), "{purpose} {index}");
        }
        let outside = Reference::bitstring(URI, bitstring::MIN_ENTRIES, purpose);
        assert_eq!(list.status(&outside), Err(StatusError::OutOfRange));
    }
}

#[test]
fn the_first_bit_stands_at_the_right_in_one_kind_and_at_the_left_in_the_other() {
    let mut bits = Bits::new(Width::One, bitstring::MIN_ENTRIES).unwrap();
    bits.set(0, 1).unwrap();
    let token = payload(&token_list(&bits));
    let token = base64url_decode(token["status_list"]["lst"].as_str().unwrap()).unwrap();
    assert_eq!(inflate::from_zlib(&token).unwrap()[0], 0b0000_0001);
    let bitstring = payload(&bitstring_list(&bits, Purpose::Revocation));
    let bitstring = bitstring["credentialSubject"]["encodedList"]
        .as_str()
        .unwrap();
    let bitstring = base64url_decode(&bitstring[1..]).unwrap();
    assert_eq!(inflate::from_gzip(&bitstring).unwrap()[0], 0b1000_0000);
}

#[test]
fn the_signature_can_be_judged_by_the_token_that_is_kept() {
    let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let bits = Bits::new(Width::One, 8).unwrap();
    let unsigned = token_list::encode(&bits, &terms(&header())).unwrap();
    let signature = key.sign(unsigned.signing_input()).unwrap();
    let list = parse(&unsigned.finish(&signature)).unwrap();
    assert!(list.verify(key.public()).is_ok());
    let other = PrivateKey::generate(KeyType::Ed25519).unwrap();
    assert!(list.verify(other.public()).is_err());
}

#[test]
fn a_token_list_with_a_wrong_member_is_refused() {
    let bomb = base64url_encode(&inflate::to_zlib(&vec![0; MAX_LIST_BYTES + 1]).unwrap());
    let gzip = base64url_encode(&inflate::to_gzip(&[0; 4]).unwrap());
    let malformed = StatusError::Malformed;
    for (pointer, value, reason) in [
        ("/sub", Json::Null, malformed("sub")),
        ("/sub", json!(1), malformed("sub")),
        (
            "/sub",
            json!("https://issuer.example/status/2"),
            StatusError::WrongSubject,
        ),
        ("/iat", Json::Null, malformed("iat")),
        ("/iat", json!("1800000000"), malformed("iat")),
        ("/iat", json!(-1), malformed("iat")),
        ("/iat", json!(NOW.0 + 61), StatusError::NotYetValid),
        ("/nbf", json!(NOW.0 + 61), StatusError::NotYetValid),
        ("/exp", json!(NOW.0 - 60), StatusError::Expired),
        ("/exp", json!(true), malformed("exp")),
        ("/ttl", json!(0), malformed("ttl")),
        ("/ttl", json!("60"), malformed("ttl")),
        ("/iss", json!({}), malformed("iss")),
        ("/status_list", Json::Null, malformed("status_list")),
        ("/status_list", json!([]), malformed("status_list")),
        ("/status_list/bits", Json::Null, malformed("bits")),
        ("/status_list/bits", json!(3), malformed("bits")),
        ("/status_list/bits", json!("1"), malformed("bits")),
        ("/status_list/lst", Json::Null, malformed("lst")),
        (
            "/status_list/lst",
            json!("eNrbuRgAAhcBXQ=="),
            malformed("lst"),
        ),
        ("/status_list/lst", json!(bomb), StatusError::TooLarge),
        ("/status_list/lst", json!(gzip), StatusError::Compression),
        ("/status_list/lst", json!(""), StatusError::Compression),
    ] {
        let found = refusal("statuslist+jwt", token_payload(), pointer, value.clone());
        assert_eq!(found, reason, "{pointer} {value}");
    }
}

fn assert_bitstring_refusals<const N: usize>(cases: [(&str, Json, StatusError); N]) {
    for (pointer, value, reason) in cases {
        let found = refusal("vc+jwt", bitstring_payload(), pointer, value.clone());
        assert_eq!(found, reason, "{pointer} {value}");
    }
}

#[test]
fn a_bitstring_list_with_a_wrong_member_is_refused() {
    let malformed = StatusError::Malformed;
    let subject = |name: &'static str, value, reason| (name, value, malformed(reason));
    assert_bitstring_refusals([
        subject("/@context", Json::Null, "@context"),
        subject(
            "/@context",
            json!(["https://www.w3.org/2018/credentials/v1"]),
            "@context",
        ),
        subject("/id", json!(1), "id"),
        subject("/type", json!(["VerifiableCredential"]), "type"),
        subject("/type", json!("BitstringStatusListCredential"), "type"),
        subject("/issuer", Json::Null, "issuer"),
        subject("/issuer", json!({"name": "x"}), "issuer"),
        subject("/iss", json!("did:web:other.example"), "iss"),
        subject("/validFrom", json!("tomorrow"), "validFrom"),
        subject("/credentialSubject", json!([]), "credentialSubject"),
        subject(
            "/credentialSubject/type",
            json!("List"),
            "credentialSubject.type",
        ),
        subject(
            "/credentialSubject/statusPurpose",
            Json::Null,
            "statusPurpose",
        ),
        subject(
            "/credentialSubject/statusPurpose",
            json!([]),
            "statusPurpose",
        ),
        subject(
            "/credentialSubject/statusPurpose",
            json!([1]),
            "statusPurpose",
        ),
        subject("/credentialSubject/ttl", json!("60"), "ttl"),
        subject("/credentialSubject/encodedList", Json::Null, "encodedList"),
        subject(
            "/credentialSubject/encodedList",
            json!("H4sIAAAA"),
            "encodedList",
        ),
        subject(
            "/credentialSubject/encodedList",
            json!("z6MkhaXg"),
            "encodedList",
        ),
    ]);
}

#[test]
fn a_bitstring_list_of_another_uri_or_time_is_refused() {
    let (early, late) = (NOW.plus(61).rfc3339(), NOW.minus(60).rfc3339());
    assert_bitstring_refusals([
        (
            "/id",
            json!("https://issuer.example/status/2"),
            StatusError::WrongSubject,
        ),
        ("/validFrom", json!(early), StatusError::NotYetValid),
        ("/nbf", json!(NOW.0 + 61), StatusError::NotYetValid),
        ("/validUntil", json!(late), StatusError::Expired),
        ("/exp", json!(NOW.0 - 60), StatusError::Expired),
    ]);
}

#[test]
fn a_bitstring_list_too_short_too_long_or_compressed_otherwise_is_refused() {
    let gzip = |len| {
        let compressed = inflate::to_gzip(&vec![0; len]).unwrap();
        json!(format!("u{}", base64url_encode(&compressed)))
    };
    let zlib = inflate::to_zlib(&[0; 16_384]).unwrap();
    let zlib = json!(format!("u{}", base64url_encode(&zlib)));
    let list = "/credentialSubject/encodedList";
    assert_bitstring_refusals([
        (list, gzip(16_383), StatusError::TooShort),
        (list, gzip(MAX_LIST_BYTES + 1), StatusError::TooLarge),
        (list, zlib, StatusError::Compression),
    ]);
}

#[test]
fn a_token_of_another_type_is_no_list() {
    for typ in ["JWT", "vc+sd-jwt", "statuslist+cwt", "STATUSLIST", ""] {
        assert_eq!(
            altered(typ, &token_payload()).unwrap_err(),
            StatusError::WrongType,
            "{typ}"
        );
    }
    assert!(altered("application/statuslist+jwt", &token_payload()).is_ok());
    assert!(altered("StatusList+JWT", &token_payload()).is_ok());
    // The type decides how the claims are read.
    assert!(altered("vc+jwt", &token_payload()).is_err());
    assert!(altered("statuslist+jwt", &bitstring_payload()).is_err());
    let without = jws::Unsigned::new(&Json::Object(header()), &token_payload()).finish(b"x");
    assert_eq!(parse(&without).unwrap_err(), StatusError::WrongType);
}

#[test]
fn a_response_of_another_media_type_is_refused() {
    let body = token_list(&Bits::new(Width::One, 8).unwrap());
    for (content_type, good) in [
        ("application/statuslist+jwt", true),
        ("Application/StatusList+JWT; charset=utf-8", true),
        ("application/jwt", false),
        ("application/vc+jwt", false),
        ("text/html", false),
        ("", false),
    ] {
        let read = List::parse(URI, Some(content_type), body.as_bytes(), NOW);
        assert_eq!(read.is_ok(), good, "{content_type}");
    }
}

#[test]
fn what_is_no_signed_token_is_refused() {
    let good = token_list(&Bits::new(Width::One, 8).unwrap());
    let none = good.replacen(good.split('.').next().unwrap(), "eyJhbGciOiJub25lIn0", 1);
    for body in [
        "",
        "a.b",
        "a.b.c",
        "{}",
        &none,
        &format!("{good}\n"),
        &good[..good.len() / 2],
    ] {
        assert!(
            matches!(parse(body), Err(StatusError::NotAToken(_))),
            "{body}"
        );
    }
    assert!(matches!(
        List::parse(URI, None, &[0xff, 0xfe], NOW),
        Err(StatusError::NotAToken(_))
    ));
    let long = vec![b'a'; MAX_TOKEN_BYTES + 1];
    assert_eq!(
        List::parse(URI, None, &long, NOW).unwrap_err(),
        StatusError::TooLarge
    );
}

#[test]
fn a_list_serves_only_references_of_its_kind_uri_and_purpose() {
    let bits = Bits::new(Width::One, bitstring::MIN_ENTRIES).unwrap();
    let token = parse(&token_list(&bits)).unwrap();
    let bitstring = parse(&bitstring_list(&bits, Purpose::Revocation)).unwrap();
    let elsewhere = Reference::token("https://issuer.example/status/2", 0);
    assert_eq!(token.status(&elsewhere), Err(StatusError::WrongSubject));
    let revocation = Reference::bitstring(URI, 0, Purpose::Revocation);
    assert_eq!(token.status(&revocation), Err(StatusError::WrongPurpose));
    assert_eq!(
        bitstring.status(&Reference::token(URI, 0)),
        Err(StatusError::WrongPurpose)
    );
    let suspension = Reference::bitstring(URI, 0, Purpose::Suspension);
    assert_eq!(
        bitstring.status(&suspension),
        Err(StatusError::WrongPurpose)
    );
    assert_eq!(bitstring.status(&revocation), Ok(Value::Valid));
}

#[test]
fn a_list_may_serve_several_purposes_and_others_we_do_not_know() {
    let mut payload = bitstring_payload();
    payload["credentialSubject"]["statusPurpose"] = json!(["refresh", "revocation", "suspension"]);
    let list = altered("vc+jwt", &payload).unwrap();
    for purpose in [Purpose::Revocation, Purpose::Suspension] {
        assert_eq!(
            list.status(&Reference::bitstring(URI, 5, purpose)),
            Ok(Value::Valid)
        );
    }
}

#[test]
fn wide_entries_of_a_bitstring_list_are_read_from_the_left() {
    let mut bytes = vec![0; 4 * 16_384];
    bytes[0] = 0b0000_0010;
    let mut payload = bitstring_payload();
    let compressed = base64url_encode(&inflate::to_gzip(&bytes).unwrap());
    payload["credentialSubject"]["encodedList"] = json!(format!("u{compressed}"));
    let list = altered("vc+jwt", &payload).unwrap();
    let reference = |index, size| Reference {
        mechanism: Mechanism::Bitstring {
            purpose: Purpose::Revocation,
            size,
        },
        uri: URI.into(),
        index,
    };
    assert_eq!(list.status(&reference(3, Width::Two)), Ok(Value::Invalid));
    assert_eq!(list.status(&reference(2, Width::Two)), Ok(Value::Valid));
    assert_eq!(list.status(&reference(1, Width::Four)), Ok(Value::Invalid));
    assert_eq!(
        list.status(&reference(131_071, Width::Four)),
        Ok(Value::Valid)
    );
    assert_eq!(
        list.status(&reference(131_072, Width::Four)),
        Err(StatusError::OutOfRange)
    );
    // One entry a byte: too few of them for group privacy.
    assert_eq!(
        list.status(&reference(0, Width::Eight)),
        Err(StatusError::TooShort)
    );
}

#[test]
fn broken_compression_is_noticed_wherever_it_breaks() {
    let bytes: Vec<u8> = (0..5_000_u32)
        .map(|number| (number * number % 251) as u8)
        .collect();
    type Inflate = fn(&[u8]) -> Result<Vec<u8>, StatusError>;
    let kinds: [(Vec<u8>, Inflate); 2] = [
        (inflate::to_zlib(&bytes).unwrap(), inflate::from_zlib),
        (inflate::to_gzip(&bytes).unwrap(), inflate::from_gzip),
    ];
    for (good, inflate) in kinds {
        assert_eq!(inflate(&good).unwrap(), bytes);
        for end in 0..good.len() {
            assert!(inflate(&good[..end]).is_err(), "cut at {end}");
        }
        let mut trailing = good.clone();
        trailing.push(0);
        assert_eq!(inflate(&trailing), Err(StatusError::Compression));
        let twice = [good.clone(), good.clone()].concat();
        assert_eq!(inflate(&twice), Err(StatusError::Compression));
        let mut checksum = good.clone();
        let second_last = checksum.len() - 6;
        checksum[second_last] ^= 1;
        assert!(inflate(&checksum).is_err());
    }
}

#[test]
fn a_list_as_long_as_the_limit_is_read() {
    let zeros = vec![0; MAX_LIST_BYTES];
    assert_eq!(
        inflate::from_zlib(&inflate::to_zlib(&zeros).unwrap())
            .unwrap()
            .len(),
        MAX_LIST_BYTES
    );
    assert_eq!(
        inflate::from_gzip(&inflate::to_gzip(&zeros).unwrap())
            .unwrap()
            .len(),
        MAX_LIST_BYTES
    );
    assert!(Bits::new(Width::Eight, 1 << 21).is_ok());
    assert_eq!(
        Bits::new(Width::Eight, (1 << 21) + 1).unwrap_err(),
        StatusError::TooLarge
    );
    assert_eq!(
        Bits::new(Width::Eight, u64::MAX).unwrap_err(),
        StatusError::TooLarge
    );
}

#[test]
fn a_list_goes_stale_by_its_ttl_or_its_end_whichever_comes_first() {
    let list = parse(&token_list(&Bits::new(Width::One, 8).unwrap())).unwrap();
    assert_eq!(list.fresh_until(NOW), Some(NOW.plus(60)));
    assert_eq!(list.fresh_until(NOW.plus(3_590)), Some(NOW.plus(3_600)));
    assert_eq!(list.is_current(NOW.plus(3_599), 0), Ok(()));
    assert_eq!(
        list.is_current(NOW.plus(3_600), 0),
        Err(StatusError::Expired)
    );
    assert_eq!(list.is_current(NOW.plus(3_600), 30), Ok(()));
    assert_eq!(
        list.is_current(NOW.minus(1), 0),
        Err(StatusError::NotYetValid)
    );
    let mut milliseconds = bitstring_payload();
    milliseconds["credentialSubject"]["ttl"] = json!(1_500);
    assert_eq!(altered("vc+jwt", &milliseconds).unwrap().ttl(), Some(2));
}

#[test]
fn a_bitstring_list_must_be_long_and_one_bit_wide_to_be_issued() {
    let header = header();
    let short = Bits::new(Width::One, bitstring::MIN_ENTRIES - 8).unwrap();
    let wide = Bits::new(Width::Two, bitstring::MIN_ENTRIES).unwrap();
    for (bits, reason) in [
        (short, StatusError::TooShort),
        (wide, StatusError::Unsupported),
    ] {
        let issued = bitstring::encode(&bits, Purpose::Revocation, &terms(&header));
        assert_eq!(issued.unwrap_err(), reason);
    }
}

#[test]
fn references_read_back_as_they_were_written() {
    let token = Reference::token(URI, 7);
    let claims = json!({"status": token.to_value()});
    assert_eq!(Reference::in_jwt_claims(&claims), Ok(Some(token)));
    let revocation = Reference::bitstring(URI, 8, Purpose::Revocation);
    let suspension = Reference::bitstring(URI, 9, Purpose::Suspension);
    let one = json!({"credentialStatus": revocation.to_value()});
    assert_eq!(Reference::in_credential(&one), Ok(vec![revocation.clone()]));
    let both = json!({"credentialStatus": [revocation.to_value(), suspension.to_value()]});
    assert_eq!(
        Reference::in_credential(&both),
        Ok(vec![revocation, suspension])
    );
    assert_eq!(Reference::in_jwt_claims(&json!({})), Ok(None));
    assert_eq!(Reference::in_credential(&json!({})), Ok(vec![]));
}

#[test]
fn malformed_token_references_are_errors_and_never_absent() {
    let list = |list: Json| json!({"status": {"status_list": list}});
    let malformed = StatusError::Malformed;
    for (claims, reason) in [
        (json!({"status": null}), malformed("status")),
        (json!({"status": {}}), malformed("status")),
        (json!({"status": "valid"}), malformed("status")),
        (json!({"status": {"other": {}}}), StatusError::Unsupported),
        (list(json!([])), malformed("status_list")),
        (list(json!({"uri": URI})), malformed("idx")),
        (list(json!({"uri": URI, "idx": "0"})), malformed("idx")),
        (list(json!({"uri": URI, "idx": -1})), malformed("idx")),
        (list(json!({"uri": URI, "idx": 1.0})), malformed("idx")),
        (list(json!({"idx": 0})), malformed("uri")),
        (list(json!({"idx": 0, "uri": "status/1"})), malformed("uri")),
        (list(json!({"idx": 0, "uri": ["x"]})), malformed("uri")),
    ] {
        assert_eq!(Reference::in_jwt_claims(&claims), Err(reason), "{claims}");
    }
}

#[test]
fn malformed_bitstring_references_are_errors_and_never_absent() {
    let malformed = StatusError::Malformed;
    for (member, value, reason) in [
        (
            "type",
            json!("StatusList2021Entry"),
            StatusError::Unsupported,
        ),
        ("type", Json::Null, StatusError::Unsupported),
        ("id", json!(URI), malformed("credentialStatus.id")),
        ("id", json!(3), malformed("credentialStatus.id")),
        ("id", json!(""), malformed("credentialStatus.id")),
        ("id", json!("entry 7"), malformed("credentialStatus.id")),
        ("statusPurpose", json!(1), malformed("statusPurpose")),
        ("statusListIndex", json!(7), malformed("statusListIndex")),
        ("statusListIndex", json!("-7"), malformed("statusListIndex")),
        ("statusListIndex", json!("+7"), malformed("statusListIndex")),
        (
            "statusListIndex",
            json!("7.0"),
            malformed("statusListIndex"),
        ),
        ("statusListIndex", json!(""), malformed("statusListIndex")),
        (
            "statusListCredential",
            json!("status"),
            malformed("statusListCredential"),
        ),
        ("statusSize", json!(0), malformed("statusSize")),
        ("statusSize", json!("1"), malformed("statusSize")),
        ("statusSize", json!(2), malformed("statusMessage")),
        ("statusSize", json!(64), malformed("statusMessage")),
        ("statusMessage", json!([{}]), malformed("statusMessage")),
    ] {
        let mut entry = Reference::bitstring(URI, 7, Purpose::Revocation).to_value();
        entry[member] = value.clone();
        for status in [entry.clone(), json!([entry])] {
            let found = Reference::in_credential(&json!({"credentialStatus": status}));
            assert_eq!(found, Err(reason.clone()), "{member} {value}");
        }
    }
    for status in [
        json!([]),
        json!(null),
        json!("x"),
        json!(["x"]),
        json!(vec![json!({}); 5]),
    ] {
        let found = Reference::in_credential(&json!({"credentialStatus": status}));
        assert_eq!(found, Err(malformed("credentialStatus")), "{status}");
    }
}

#[test]
fn a_credential_has_four_status_entries_at_most() {
    let found = |entries: u64| {
        let entry = |index| Reference::bitstring(URI, index, Purpose::Revocation).to_value();
        let entries: Vec<Json> = (0..entries).map(entry).collect();
        Reference::in_credential(&json!({ "credentialStatus": entries })).map(|all| all.len())
    };
    assert_eq!(found(4), Ok(4));
    assert_eq!(found(5), Err(StatusError::Malformed("credentialStatus")));
}

#[test]
fn what_a_list_holds_on_to_is_kept_as_long_as_anybody_has_the_list() {
    let room = std::sync::Arc::new(());
    let list = parse(&token_list(&Bits::new(Width::One, 16).unwrap())).unwrap();
    let list = std::sync::Arc::new(list.holding(room.clone()));
    let elsewhere = list.clone();
    drop(list);
    assert_eq!(std::sync::Arc::strong_count(&room), 2);
    drop(elsewhere);
    assert_eq!(std::sync::Arc::strong_count(&room), 1);
}

#[test]
fn a_list_takes_no_more_memory_than_it_is_long() {
    let full = Bits::from_bytes(Width::One, vec![1; 1_000_000]).unwrap();
    for body in [
        token_list(&full),
        bitstring_list(&full, Purpose::Revocation),
    ] {
        let weight = parse(&body).unwrap().weight();
        assert!((1_000_000..1_100_000).contains(&weight), "{weight}");
    }
}

#[test]
fn an_index_beyond_64_bits_is_one_outside_of_every_list() {
    let token = |idx: &str| {
        let text = format!(r#"{{"status": {{"status_list": {{"idx": {idx}, "uri": "{URI}"}}}}}}"#);
        let found = Reference::in_jwt_claims(&serde_json::from_str(&text).unwrap());
        found.unwrap().unwrap()
    };
    let bitstring = |index: &str| {
        let mut entry = Reference::bitstring(URI, 7, Purpose::Revocation).to_value();
        entry["statusListIndex"] = json!(index);
        let found = Reference::in_credential(&json!({ "credentialStatus": entry }));
        found.unwrap().remove(0)
    };
    let (token_list, bitstring_list) = (
        altered("statuslist+jwt", &token_payload()).unwrap(),
        altered("vc+jwt", &bitstring_payload()).unwrap(),
    );
    for beyond in [
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "99999999999999999999",
    ] {
        for (list, reference) in [
            (&token_list, token(beyond)),
            (&bitstring_list, bitstring(beyond)),
        ] {
            assert_eq!(list.status(&reference), Err(StatusError::OutOfRange));
        }
    }
}

#[test]
fn an_entry_of_three_bits_is_not_supported() {
    let mut entry = Reference::bitstring(URI, 7, Purpose::Revocation).to_value();
    entry["statusSize"] = json!(3);
    entry["statusMessage"] = json!(vec![json!({}); 8]);
    let found = Reference::in_credential(&json!({"credentialStatus": entry}));
    assert_eq!(found, Err(StatusError::Unsupported));
}

#[test]
fn a_value_that_does_not_fit_is_refused() {
    let mut bits = Bits::new(Width::Two, 8).unwrap();
    assert_eq!(bits.set(0, 4), Err(StatusError::OutOfRange));
    assert_eq!(bits.set(8, 1), Err(StatusError::OutOfRange));
    assert_eq!(bits.set(u64::MAX, 1), Err(StatusError::OutOfRange));
    assert_eq!(bits.as_bytes(), [0, 0]);
}

#[test]
fn a_permutation_of_a_whole_list_takes_every_place_once() {
    for size in [1, 2, 3, 5, 64, 65, 1_000, 4_096] {
        let permutation = Permutation::new([7; 32], size);
        let places: BTreeSet<_> = (0..size)
            .map(|counter| permutation.at(counter).unwrap())
            .collect();
        assert_eq!(places.len() as u64, size);
        assert_eq!(places.last(), Some(&(size - 1)));
        assert_eq!(permutation.at(size), None);
    }
    assert_eq!(Permutation::new([7; 32], 0).at(0), None);
    assert!(
        Permutation::new([7; 32], u64::MAX)
            .at(u64::MAX - 1)
            .is_some()
    );
}

#[test]
fn places_do_not_ascend_and_depend_on_the_key() {
    let places = |key| -> Vec<_> {
        let permutation = Permutation::new([key; 32], bitstring::MIN_ENTRIES);
        (0..64)
            .map(|counter| permutation.at(counter).unwrap())
            .collect()
    };
    let one = places(1);
    let ascents = one.windows(2).filter(|pair| pair[0] < pair[1]).count();
    assert!((16..48).contains(&ascents), "{ascents} of 63 ascend");
    let same = one.iter().zip(places(2)).filter(|(a, b)| *a == b).count();
    assert!(same < 4);
    assert_eq!(one, places(1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_permutation_is_one_to_one(key in any::<[u8; 32]>(), size in 1_u64..600) {
        let permutation = Permutation::new(key, size);
        let places: BTreeSet<_> = (0..size).filter_map(|counter| permutation.at(counter)).collect();
        prop_assert_eq!(places, (0..size).collect::<BTreeSet<_>>());
    }

    #[test]
    fn what_is_set_is_what_is_read(
        width in prop::sample::select(vec![Width::One, Width::Two, Width::Four, Width::Eight]),
        sets in prop::collection::vec((0_u64..512, any::<u8>()), 0..64),
    ) {
        let mut bits = Bits::new(width, 512).unwrap();
        let mut model = vec![0_u8; 512];
        for (index, value) in sets {
            let fits = u32::from(value) < (1 << width.bits());
            prop_assert_eq!(bits.set(index, value).is_ok(), fits);
            if fits {
                model[usize::try_from(index).unwrap()] = value;
            }
        }
        let list = parse(&token_list(&bits)).unwrap();
        for (index, value) in (0..).zip(&model) {
            prop_assert_eq!(bits.get(index), Some(*value));
            prop_assert_eq!(list.get(index), Ok(Value::from(*value)));
        }
        prop_assert_eq!(Bits::from_bytes(width, bits.as_bytes().to_vec()).unwrap(), bits);
    }

    #[test]
    fn any_bytes_are_refused_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        let _ = inflate::from_zlib(&bytes);
        let _ = inflate::from_gzip(&bytes);
        prop_assert!(List::parse(URI, None, &bytes, NOW).is_err());
    }
}

#[test]
fn a_signature_that_was_judged_good_is_remembered_with_its_key_and_no_other() {
    let [own, other] = [(); 2].map(|()| PrivateKey::generate(KeyType::Ed25519).unwrap());
    let bits = Bits::new(Width::One, 8).unwrap();
    let unsigned = token_list::encode(&bits, &terms(&header())).unwrap();
    let signature = own.sign(unsigned.signing_input()).unwrap();
    let list = parse(&unsigned.finish(&signature)).unwrap();
    assert!(list.verify(other.public()).is_err());
    assert_eq!(list.judged.get(), None);
    assert!(list.verify(own.public()).is_ok());
    assert_eq!(list.judged.get(), Some(&own.public().digest()));
    assert!(list.verify(own.public()).is_ok());
    assert!(list.verify(other.public()).is_err());
    assert_eq!(list.judged.get(), Some(&own.public().digest()));
}

#[test]
fn a_list_is_known_again_by_its_bytes_as_long_as_it_is_current() {
    let token = token_list(&Bits::new(Width::One, 8).unwrap());
    let list = parse(&token).unwrap();
    let media = Some("application/statuslist+jwt");
    assert!(list.is_read_from(media, token.as_bytes(), NOW));
    assert!(!list.is_read_from(Some("text/html"), token.as_bytes(), NOW));
    assert!(!list.is_read_from(media, &token.as_bytes()[..token.len() - 2], NOW));
    assert!(!list.is_read_from(media, &token.as_bytes()[1..], NOW));
    let later = NOW.plus(2 * 3_600);
    assert!(!list.is_read_from(media, token.as_bytes(), later));
}
