//! What is stored in a wallet of Askar, once it is opened, and the texts that lead to it.

use selfsame_askar::{
    Expiry, KeyEntry, ProfileKey, Protection, RecordCursor, RecordTag, WalletAddress,
};
use selfsame_crypto::SecretString;
use selfsame_crypto::encoding::hex_encode;

/// The value of a key, or the key of a profile, in CBOR. A key reads back as itself, with the tags of its user alone.
pub fn askar_key(data: &[u8]) -> bool {
    let tag = |name: &str, value: &str| RecordTag {
        name: name.to_owned(),
        value: SecretString::from(value),
        plaintext: false,
    };
    let tags = [tag("alg", "ed25519"), tag("user:a", "b"), tag("other", "c")];
    let is_profile = ProfileKey::parse(data).is_ok();
    let Ok(key) = KeyEntry::parse(data, &tags) else {
        return is_profile;
    };
    assert!(!is_profile, "it is one of both");
    assert_eq!(key.tags, [tag("a", "b")]);
    assert_eq!(KeyEntry::parse(&written(&key), &tags), Ok(key));
    true
}

/// A key in CBOR.
fn written(key: &KeyEntry) -> Vec<u8> {
    let mut members = Vec::new();
    if let Some(metadata) = &key.metadata {
        members.push([text("meta"), text(metadata)].concat());
    }
    if let Some(reference) = &key.reference {
        let any = [head(5, 1), text("Any"), text(reference)].concat();
        members.push([text("ref"), any].concat());
    }
    if let Some(secret) = &key.secret {
        let bytes = [head(2, secret.expose().len()), secret.expose().to_vec()].concat();
        members.push([text("data"), bytes].concat());
    }
    [head(5, members.len()), members.concat()].concat()
}

fn text(text: &str) -> Vec<u8> {
    [head(3, text.len()), text.as_bytes().to_vec()].concat()
}

/// The head of a CBOR item, its number in four bytes.
fn head(major: u8, number: usize) -> Vec<u8> {
    let number = u32::try_from(number).expect("it is short");
    [&[major << 5 | 26][..], &number.to_be_bytes()].concat()
}

/// An address, a place in a profile, an expiry, or what protects a wallet. Whatever has one form reads back as itself.
pub fn askar_text(data: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(data) else {
        return false;
    };
    let address = text.parse::<WalletAddress>().is_ok();
    let cursor = text.parse::<RecordCursor>().ok();
    if let Some(cursor) = &cursor {
        assert_eq!(cursor.to_string(), text, "a cursor has one form");
    }
    let expiry = Expiry::parse(text);
    if let Some(expiry) = expiry {
        assert!(expiry.nanoseconds < 1_000_000_000);
        let again = Expiry::parse(&expiry.rfc3339()).expect("it is a time");
        assert_eq!(again.seconds, expiry.seconds);
    }
    let protection = Protection::parse(text).ok();
    if let Some(Protection::Passphrase { salt, cost }) = protection {
        assert!(cost.memory_kib <= 128 * 1024 && cost.passes <= 6);
        let level = if cost.passes == 4 { "int" } else { "mod" };
        let again = format!("kdf:argon2i:13:{level}?salt={}", hex_encode(&salt));
        assert_eq!(Protection::parse(&again).ok(), protection);
    }
    // Almost every text is the path of a file.
    let is_file = address && !text.contains(':');
    (address && !is_file) || cursor.is_some() || expiry.is_some() || protection.is_some()
}

pub(super) fn key_seeds() -> Vec<Vec<u8>> {
    let jwk = br#"{"crv":"Ed25519","kty":"OKP","x":"AA","d":"AA"}"#;
    let data = [text("data"), head(2, jwk.len()), jwk.to_vec()].concat();
    let meta = [text("meta"), text("{}")].concat();
    let reference = [text("ref"), head(5, 1), text("Any"), text("hsm")].concat();
    let older = [text("ref"), text("MobileSecureElement")].concat();
    let names = ["ick", "ink", "ihk", "tnk", "tvk", "thk"];
    let keys = names.map(|name| [text(name), head(2, 32), vec![7; 32]].concat());
    let profile = [head(5, 7), text("ver"), text("1"), keys.concat()];
    vec![
        [head(5, 1), data.clone()].concat(),
        [head(5, 2), meta, data.clone()].concat(),
        [head(5, 2), data, reference].concat(),
        [head(5, 1), older].concat(),
        profile.concat(),
    ]
}

pub(super) fn text_seeds() -> Vec<Vec<u8>> {
    [
        "sqlite:///var/lib/agent/my%20wallet.db?cache=shared",
        "postgres://user:p%40ss@127.0.0.1:5432/wallets?schema=one&max_connections=5",
        "postgres://user@localhost/wallets?host=/run/postgresql&port=5433",
        "AAIAAAACAQID",
        "2027-03-23T11:14:48.111168304+00:00",
        "kdf:argon2i:13:mod?salt=a553cfb9c558b5c11c78efcfa06f3e29",
        "kdf:argon2i:13:int?salt=a553cfb9c558b5c11c78efcfa06f3e29",
        "raw",
        "none",
    ]
    .map(|seed| seed.as_bytes().to_vec())
    .to_vec()
}
