use minicbor::Encoder;
use selfsame_crypto::SecretString;

use super::*;

const JWK: &[u8] = br#"{"crv":"Ed25519","kty":"OKP","x":"AA","d":"AA"}"#;

fn entry(write: impl FnOnce(&mut Encoder<Vec<u8>>)) -> Vec<u8> {
    let mut to = Encoder::new(Vec::new());
    write(&mut to);
    to.into_writer()
}

fn tag(name: &str, value: &str) -> RecordTag {
    RecordTag {
        name: name.to_owned(),
        value: SecretString::from(value),
        plaintext: false,
    }
}

#[test]
fn an_entry_has_its_metadata_its_reference_its_key_and_the_tags_of_the_agent() {
    let value = entry(|to| {
        to.map(3).unwrap().str("meta").unwrap().str("{}").unwrap();
        to.str("ref").unwrap().map(1).unwrap();
        to.str("Any").unwrap().str("hsm").unwrap();
        to.str("data").unwrap().bytes(b"slot 7").unwrap();
    });
    let tags = [
        tag("alg", "ed25519"),
        tag("thumb", "t1"),
        tag("user:colour", "blue"),
        tag("other", "x"),
    ];
    let parsed = KeyEntry::parse(&value, &tags).unwrap();
    assert_eq!(parsed.algorithm.as_deref(), Some("ed25519"));
    assert_eq!(parsed.thumbprints, ["t1"]);
    assert_eq!(parsed.metadata.as_deref(), Some("{}"));
    assert_eq!(parsed.reference.as_deref(), Some("hsm"));
    assert_eq!(parsed.secret.unwrap().expose(), b"slot 7");
    assert_eq!(parsed.tags, [tag("colour", "blue")]);
}

#[test]
fn a_reference_of_an_earlier_version_is_the_name_of_its_variant() {
    let value = entry(|to| {
        to.map(1).unwrap().str("ref").unwrap();
        to.str("MobileSecureElement").unwrap();
    });
    let parsed = KeyEntry::parse(&value, &[]).unwrap();
    assert_eq!(parsed.reference.as_deref(), Some("MobileSecureElement"));
}

#[test]
fn a_key_is_of_the_algorithm_that_its_tag_names() {
    let value = entry(|to| {
        to.map(1).unwrap().str("data").unwrap().bytes(JWK).unwrap();
    });
    let parse = |algorithm: &str| KeyEntry::parse(&value, &[tag("alg", algorithm)]);
    assert_eq!(parse("ed25519").unwrap().secret.unwrap().expose(), JWK);
    assert_eq!(parse("x25519"), Err(KeyEntryError::Algorithm));
    assert!(parse("of-a-later-version").is_ok());
    assert!(KeyEntry::parse(&value, &[]).is_ok());
}

#[test]
fn what_is_no_map_of_these_members_is_no_entry() {
    let twice = entry(|to| {
        to.map(2).unwrap().str("meta").unwrap().str("a").unwrap();
        to.str("meta").unwrap().str("b").unwrap();
    });
    let unknown = entry(|to| {
        to.map(1).unwrap().str("new").unwrap().str("a").unwrap();
    });
    let no_jwk = entry(|to| {
        to.map(1).unwrap().str("data").unwrap().bytes(b"x").unwrap();
    });
    let whole = entry(|to| {
        to.map(1).unwrap().str("meta").unwrap().str("a").unwrap();
    });
    let longer = [&whole[..], &[0]].concat();
    let mut wrong = vec![twice, unknown, no_jwk, longer, vec![0xbf, 0xff], vec![0x80]];
    wrong.extend((0..whole.len()).map(|end| whole[..end].to_vec()));
    wrong.push(vec![0xbb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    wrong.push(vec![0; BYTES_MAX + 1]);
    for bytes in wrong {
        let parsed = KeyEntry::parse(&bytes, &[]);
        assert_eq!(parsed, Err(KeyEntryError::Malformed));
    }
}

#[test]
fn only_records_of_the_kind_of_keys_are_keys() {
    let mut record = WalletRecord {
        kind: RecordKind::Item,
        category: CATEGORY.to_owned(),
        name: "k".to_owned(),
        value: Secret::new(vec![0xa0]),
        tags: Vec::new(),
        expiry: None,
    };
    assert!(KeyEntry::of(&record).is_none());
    record.kind = RecordKind::Key;
    assert!(KeyEntry::of(&record).unwrap().is_ok());
    record.category.push('s');
    assert_eq!(KeyEntry::of(&record).unwrap(), Err(KeyEntryError::Category));
}
