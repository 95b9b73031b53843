//! Tests of the recipient of one compact message.

use super::*;
use crate::{KeyError, KeyType, PublicKey};

/// A recipient and its private key.
fn recipient(kid: Option<&str>) -> (AgreementPrivate, Recipient) {
    let own = AgreementPrivate::from_raw(AgreementCurve::P256, &[9; 32]).unwrap();
    (own, Recipient::of(&jwk(kid)).unwrap())
}

fn jwk(kid: Option<&str>) -> Jwk {
    let own = AgreementPrivate::from_raw(AgreementCurve::P256, &[9; 32]).unwrap();
    let mut jwk = own.public().to_jwk();
    jwk.kid = kid.map(str::to_owned);
    jwk.alg = Some("ECDH-ES".to_owned());
    jwk.use_ = Some("enc".to_owned());
    jwk
}

/// The plaintext that the recipient decrypts.
fn decrypted(own: &AgreementPrivate, token: &str) -> Option<Vec<u8>> {
    let jwe = Jwe::parse(token, MAX).ok()?;
    let opened = jwe.decrypt(&Opening {
        kid: None,
        ..with("", own)
    });
    Some(opened.ok()?.expose().to_vec())
}

#[test]
fn only_the_recipient_reads_what_was_encrypted() {
    for encryption in ContentEncryption::ALL {
        let (own, recipient) = recipient(Some("k1"));
        let token = recipient.encrypt(b"{\"vp_token\":{}}", encryption, &ctx());
        let token = token.unwrap();
        assert_eq!(decrypted(&own, &token).unwrap(), b"{\"vp_token\":{}}");
        let header = base64url_decode(token.split('.').next().unwrap()).unwrap();
        let header: Value = serde_json::from_slice(&header).unwrap();
        assert_eq!(header["alg"], "ECDH-ES");
        assert_eq!(header["enc"], encryption.as_str());
        assert_eq!(header["kid"], "k1");
        assert_eq!(header["epk"]["crv"], "P-256");
        assert_eq!(header["epk"].get("d"), None);
        let other = AgreementPrivate::from_raw(AgreementCurve::P256, &[8; 32]).unwrap();
        assert_eq!(decrypted(&other, &token), None);
        for at in [0, token.len() / 2, token.len() - 2] {
            let mut altered = token.clone().into_bytes();
            altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(altered).unwrap();
            assert_eq!(decrypted(&own, &altered), None, "{at}");
        }
    }
}

#[test]
fn a_key_for_something_else_is_no_recipients() {
    let known = jwk(None);
    for (alg, used) in [
        (Some("ECDH-ES+A256KW"), None),
        (None, Some("sig")),
        (Some("ES256"), None),
    ] {
        let jwk = Jwk {
            alg: alg.map(str::to_owned),
            use_: used.map(str::to_owned),
            ..known.clone()
        };
        assert_eq!(Recipient::of(&jwk).unwrap_err(), KeyError::Unsupported);
    }
    let ed25519 = PublicKey::from_raw(KeyType::Ed25519, &[3; 32]).unwrap();
    assert!(Recipient::of(&ed25519.to_jwk()).is_err());
    let x25519 = AgreementPrivate::generate(AgreementCurve::X25519).unwrap();
    assert!(Recipient::of(&x25519.public().to_jwk()).is_err());
    assert!(Recipient::of(&known).is_ok());
}

#[test]
fn two_moments_share_neither_key_nor_nonce() {
    let (_, recipient) = recipient(None);
    let encrypted = |seed| {
        let ctx = Ctx::new(UnixTime(1), [seed; 32]);
        recipient.encrypt(b"x", ContentEncryption::A256Gcm, &ctx)
    };
    let (one, other) = (encrypted(1).unwrap(), encrypted(2).unwrap());
    let parts = |token: &str| token.split('.').map(str::to_owned).collect::<Vec<_>>();
    assert_ne!(parts(&one)[0], parts(&other)[0]);
    assert_ne!(parts(&one)[2], parts(&other)[2]);
}
