//! Properties of signed tokens: a parsed token equals the sent one, and no unsigned or hidden claim is returned.

use std::str;

use selfsame_credential::sd_jwt::SdJwt;
use selfsame_crypto::{
    KeyType, PrivateKey,
    encoding::base64url_encode,
    json::{self, Limits},
    jws::Compact,
};
use serde_json::Value;

use super::parts;

/// A JWS in compact form: it reads back as the same text, and no key that did not sign it verifies it.
pub fn jwt(data: &[u8]) -> bool {
    let as_text = str::from_utf8(data).is_ok_and(compact);
    let mut parts = parts(data);
    let mut part = || base64url_encode(parts.next().unwrap_or_default());
    let assembled = format!("{}.{}.{}", part(), part(), part());
    compact(&assembled) || as_text
}

fn compact(text: &str) -> bool {
    let Ok(token) = Compact::parse(text) else {
        return false;
    };
    let input = str::from_utf8(token.signing_input()).expect("it is base64url");
    let signature = base64url_encode(token.signature());
    assert_eq!(format!("{input}.{signature}"), text, "the text is kept");
    let payload = base64url_encode(&token.payload);
    assert!(
        input.ends_with(&format!(".{payload}")),
        "the payload is what was signed"
    );
    let alg = token.header.alg.as_str();
    assert!(
        alg != "none" && !alg.starts_with("HS"),
        "{alg} is no signature"
    );
    if let Ok(claims) = token.claims() {
        assert_reads_back(&claims);
    }
    // The signer has never seen any of the inputs.
    for kind in [KeyType::Ed25519, KeyType::P256] {
        let stranger = stranger(kind);
        assert!(token.verify(stranger).is_err(), "no stranger signed it");
    }
    true
}

/// A key that signs nothing.
fn stranger(kind: KeyType) -> &'static selfsame_crypto::PublicKey {
    use std::sync::OnceLock;
    static ED25519: OnceLock<PrivateKey> = OnceLock::new();
    static P256: OnceLock<PrivateKey> = OnceLock::new();
    let cell = if kind == KeyType::Ed25519 {
        &ED25519
    } else {
        &P256
    };
    cell.get_or_init(|| PrivateKey::generate(kind).expect("the system gives randomness"))
        .public()
}

fn assert_reads_back(value: &Value) {
    let text = serde_json::to_vec(value).expect("JSON can be written");
    let limits = Limits {
        // Escapes may be longer in the output than in the input.
        max_bytes: text.len(),
        ..Limits::default()
    };
    let again = json::parse(&text, &limits);
    assert_eq!(again.as_ref(), Ok(value), "JSON reads back as itself");
}

/// An SD-JWT: it reads back as the same text, has no digests left once processed, and reveals only the always-visible
/// claims if it is presented without disclosures.
pub fn sd_jwt(data: &[u8]) -> bool {
    let as_text = str::from_utf8(data).is_ok_and(selective);
    let mut parts = parts(data);
    let mut part = || base64url_encode(parts.next().unwrap_or_default());
    let mut assembled = format!("{}.{}.AA~", part(), part());
    for disclosure in parts {
        assembled.push_str(&base64url_encode(disclosure));
        assembled.push('~');
    }
    selective(&assembled) || as_text
}

fn selective(text: &str) -> bool {
    let Ok(sd_jwt) = SdJwt::parse(text) else {
        return false;
    };
    let bare = sd_jwt.without_key_binding();
    assert!(text.starts_with(bare) && bare.ends_with('~'));
    assert_eq!(text.len() > bare.len(), sd_jwt.key_binding().is_some());
    let again = SdJwt::parse(bare).expect("it was read with a key-binding JWT behind it");
    assert_eq!(again.payload(), sd_jwt.payload());
    assert_eq!(again.sd_hash(), sd_jwt.sd_hash());
    let Ok(whole) = sd_jwt.process() else {
        return false;
    };
    assert!(!has_digests(&whole.claims), "processing leaves no digests");
    let nothing = sd_jwt.present(&[]).expect("it can be processed").unbound();
    let nothing = SdJwt::parse(&nothing).expect("what we present can be read");
    assert!(nothing.disclosures().is_empty(), "nothing was asked for");
    let least = nothing.process().expect("what we present can be processed");
    assert!(
        is_part_of(&least.claims, &whole.claims),
        "nothing is made up"
    );
    true
}

fn has_digests(value: &Value) -> bool {
    match value {
        Value::Object(members) => members
            .iter()
            .any(|(name, value)| name == "_sd" || name == "..." || has_digests(value)),
        Value::Array(elements) => elements.iter().any(has_digests),
        _ => false,
    }
}

/// Whether `less` equals `more` with some members and elements left out.
fn is_part_of(less: &Value, more: &Value) -> bool {
    match (less, more) {
        (Value::Object(less), Value::Object(more)) => less
            .iter()
            .all(|(name, value)| more.get(name).is_some_and(|more| is_part_of(value, more))),
        (Value::Array(less), Value::Array(more)) => {
            let mut rest = more.iter();
            less.iter()
                .all(|value| rest.any(|more| is_part_of(value, more)))
        }
        _ => less == more,
    }
}
