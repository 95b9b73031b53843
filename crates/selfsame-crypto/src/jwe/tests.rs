//! Tests of encryption to one recipient.

use super::*;
use crate::encoding::base64url_decode;
use crate::time::UnixTime;

fn ctx() -> Ctx {
    Ctx::new(UnixTime(1), [7; 32])
}

/// A recipient and its private key.
fn recipient(kid: Option<&str>) -> (PrivateKey, Recipient) {
    let own = PrivateKey::from_private_key(&ECDH_P256, &[9; 32]).unwrap();
    let point = own.compute_public_key().unwrap();
    let public = PublicKey::from_raw(KeyType::P256, point.as_ref()).unwrap();
    let mut jwk = public.to_jwk();
    jwk.kid = kid.map(str::to_owned);
    jwk.alg = Some("ECDH-ES".to_owned());
    jwk.use_ = Some("enc".to_owned());
    (own, Recipient::of(&jwk).unwrap())
}

/// The header and the plaintext that the recipient decrypts.
fn decrypted(own: &PrivateKey, token: &str) -> Option<(Value, Vec<u8>)> {
    let parts: Vec<&str> = token.split('.').collect();
    let [protected, "", nonce, sealed, tag] = parts[..] else {
        return None;
    };
    let header: Value = serde_json::from_slice(&base64url_decode(protected).ok()?).ok()?;
    let encryption = ContentEncryption::ALL
        .into_iter()
        .find(|one| header["enc"] == one.as_str())?;
    let epk = PublicKey::from_jwk(&Jwk::from_value(&header["epk"]).ok()?).ok()?;
    let key = encryption.key(&*shared(own, epk.bytes(), encryption).ok()?)?;
    let nonce = Nonce::try_assume_unique_for_key(&base64url_decode(nonce).ok()?).ok()?;
    let mut sealed = [base64url_decode(sealed).ok()?, base64url_decode(tag).ok()?].concat();
    let plain = key.open_in_place(nonce, Aad::from(protected.as_bytes()), &mut sealed);
    Some((header, plain.ok()?.to_vec()))
}

#[test]
fn the_example_of_rfc_7518_appendix_c_holds() {
    let alice = base64url_decode("0_NxaRPUMQoAJt50Gz8YiTr8gRTwyEaCumd-MToTmIo").unwrap();
    let alice = PrivateKey::from_private_key(&ECDH_P256, &alice).unwrap();
    let bob = Jwk::from_value(&json!({
        "kty": "EC", "crv": "P-256",
        "x": "weNJy2HscCSM6AEDTDg04biOvhFhyyWvOHQfeF_PxMQ",
        "y": "e8lnCO-AlStT-NJVX-crhB7QRYhiix03illJOVAOyck",
    }));
    let bob = PublicKey::from_jwk(&bob.unwrap()).unwrap();
    let peer = UnparsedPublicKey::new(&ECDH_P256, bob.bytes());
    let key = agree(&alice, peer, JweError, |secret| {
        Ok(derived(
            secret,
            ContentEncryption::A128Gcm,
            b"Alice",
            b"Bob",
        ))
    });
    assert_eq!(
        base64url_encode(&key.unwrap()[..16]),
        "VqqN6vgjbSBcIijNcacQGg"
    );
}

#[test]
fn only_the_recipient_reads_what_was_encrypted() {
    for encryption in ContentEncryption::ALL {
        let (own, recipient) = recipient(Some("k1"));
        let token = recipient.encrypt(b"{\"vp_token\":{}}", encryption, &ctx());
        let token = token.unwrap();
        let (header, content) = decrypted(&own, &token).unwrap();
        assert_eq!(content, b"{\"vp_token\":{}}");
        assert_eq!(header["alg"], "ECDH-ES");
        assert_eq!(header["enc"], encryption.as_str());
        assert_eq!(header["kid"], "k1");
        assert_eq!(header["epk"]["crv"], "P-256");
        assert_eq!(header["epk"].get("d"), None);
        let other = PrivateKey::from_private_key(&ECDH_P256, &[8; 32]).unwrap();
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
    let (_, known) = recipient(None);
    let jwk = known.key.to_jwk();
    for (alg, used) in [
        (Some("ECDH-ES+A256KW"), None),
        (None, Some("sig")),
        (Some("ES256"), None),
    ] {
        let jwk = Jwk {
            alg: alg.map(str::to_owned),
            use_: used.map(str::to_owned),
            ..jwk.clone()
        };
        assert_eq!(Recipient::of(&jwk).unwrap_err(), KeyError::Unsupported);
    }
    let ed25519 = PublicKey::from_raw(KeyType::Ed25519, &[3; 32]).unwrap();
    assert!(Recipient::of(&ed25519.to_jwk()).is_err());
    assert!(Recipient::of(&jwk).is_ok());
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
