use super::*;
use crate::encoding::hex_encode;

fn key() -> SealingKey {
    SealingKey::from_bytes([5; 32])
}

#[test]
fn what_is_sealed_opens_with_the_same_key_and_purpose_only() {
    let sealed = key().seal([1; 12], b"purpose", b"plain").unwrap();
    assert_eq!(sealed.len(), 12 + 5 + 16);
    assert_eq!(key().open(b"purpose", &sealed).unwrap(), b"plain");
    assert_eq!(key().open(b"another", &sealed), Err(SealError));
    assert_eq!(key().derive(b"x").open(b"purpose", &sealed), Err(SealError));
}

#[test]
fn one_changed_bit_anywhere_is_noticed() {
    let sealed = key().seal([1; 12], b"", b"plain").unwrap();
    for at in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        assert_eq!(key().open(b"", &changed), Err(SealError));
    }
    for len in 0..sealed.len() {
        assert_eq!(key().open(b"", &sealed[..len]), Err(SealError));
    }
}

#[test]
fn stored_data_depends_on_these_very_keys() {
    // Computed with HMAC-SHA256 of another library.
    let mac = "ecdbbde43fbb19781045f0849e608bcfb0122e3d5da36ed245fe1957998301f4";
    assert_eq!(hex_encode(&key().derive(b"x").mac(b"m")), mac);
}

#[test]
fn derived_keys_differ_by_their_info_and_are_the_same_each_time() {
    assert_eq!(key().derive(b"a").mac(b"m"), key().derive(b"a").mac(b"m"));
    assert_ne!(key().derive(b"a").mac(b"m"), key().derive(b"b").mac(b"m"));
    assert_ne!(key().derive(b"a").mac(b"m"), key().mac(b"m"));
    assert_ne!(random_seed(), random_seed());
}
