//! Tests of key agreement and of boxes.

use super::*;
use crate::encoding::hex_decode;
use crate::seal::SealError;
use crate::time::UnixTime;

/// RFC 7748 §6.1.
const ALICE: &str = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a";
const BOB: &str = "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb";

fn x25519(private: &str) -> AgreementPrivate {
    AgreementPrivate::from_raw(AgreementCurve::X25519, &hex_decode(private).unwrap()).unwrap()
}

#[test]
fn the_example_of_rfc_7748_holds() {
    let (alice, bob) = (x25519(ALICE), x25519(BOB));
    assert_eq!(
        hex_encode(alice.public().bytes()),
        "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
    );
    let secret = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742";
    assert_eq!(hex_encode(&alice.agree(bob.public()).unwrap()), secret);
    assert_eq!(hex_encode(&bob.agree(alice.public()).unwrap()), secret);
    assert_eq!(hex_encode(alice.to_raw().unwrap().expose()), ALICE);
}

#[test]
fn keys_of_small_order_agree_with_nobody() {
    // The points of RFC 7748 §7's note: u = 0, 1, -1, the two of order eight, and their forms above the prime.
    for u in [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ] {
        let weak = AgreementKey::from_raw(AgreementCurve::X25519, &hex_decode(u).unwrap()).unwrap();
        let refused = x25519(ALICE).agree(&weak).map(|secret| secret.to_vec());
        assert_eq!(refused, Err(KeyError::Weak("key for agreement")), "{u}");
        let nonce = [0; 24];
        assert!(nacl::seal(b"x", &nonce, &x25519(ALICE), &weak).is_err());
        assert_eq!(
            nacl::open(&[0; 40], &nonce, &x25519(ALICE), &weak),
            Err(SealError)
        );
    }
}

#[test]
fn an_ed25519_key_has_the_x25519_key_that_libsodium_gives_it() {
    // Computed with libsodium's crypto_sign_ed25519_{pk,sk}_to_curve25519 for the seed of 32 sevens.
    let pkcs8 = [
        hex_decode("302e020100300506032b657004220420").unwrap(),
        vec![7; 32],
    ]
    .concat();
    let key = PrivateKey::from_pkcs8(&pkcs8).unwrap();
    let public = "761d88ec830413919dfe9d4d1d56f17e653c8c994082df5b137b90a0ae6edf74";
    let private = AgreementPrivate::of_ed25519(&key).unwrap();
    assert_eq!(hex_encode(private.public().bytes()), public);
    assert_eq!(
        AgreementKey::of_ed25519(key.public()).unwrap(),
        *private.public()
    );
    for _ in 0..50 {
        let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let private = AgreementPrivate::of_ed25519(&key).unwrap();
        assert_eq!(
            AgreementKey::of_ed25519(key.public()).unwrap(),
            *private.public()
        );
    }
    // y = 2 is on no point (RFC 8032 §5.1.3).
    let mut none = [0; 32];
    none[0] = 2;
    let none = PublicKey::from_raw(KeyType::Ed25519, &none).unwrap();
    assert!(AgreementKey::of_ed25519(&none).is_err());
    let p256 = PrivateKey::generate(KeyType::P256).unwrap();
    assert_eq!(
        AgreementKey::of_ed25519(p256.public()),
        Err(KeyError::Unsupported)
    );
    assert!(AgreementPrivate::of_ed25519(&p256).is_err());
}

#[test]
fn a_box_is_the_one_that_libsodium_makes() {
    // Computed with libsodium's crypto_box for the nonce of NaCl's own test.
    let (alice, bob) = (x25519(ALICE), x25519(BOB));
    let nonce = hex_decode("69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37").unwrap();
    let nonce = nonce.first_chunk().unwrap();
    let content: Vec<u8> = (0..100).collect();
    let sealed = nacl::seal(&content, nonce, &alice, bob.public()).unwrap();
    assert_eq!(
        hex_encode(&sealed),
        "a61768f540b0ef8df7146cf1bb05b6f5309f665970ece6a1058b49a7d51a74ba0a0af99e4e3a4b6714102645\
         49984989051259f08f44bb467f49f2ee9e0986742d3fcc3d8c92d8210282394d6ea2f236faf444855ca47aa0\
         3f916671a59ce8b622854451d39ea837e7786aa75632a85bfd6b3ee9"
    );
    let empty = nacl::seal(b"", nonce, &alice, bob.public()).unwrap();
    assert_eq!(hex_encode(&empty), "2539121d8e234e652d651fa4c8cff880");
    let opened = nacl::open(&sealed, nonce, &bob, alice.public()).unwrap();
    assert_eq!(opened.expose(), content);
    for at in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        assert_eq!(
            nacl::open(&changed, nonce, &bob, alice.public()),
            Err(SealError)
        );
    }
    for length in 0..16 {
        assert!(nacl::open(&sealed[..length], nonce, &bob, alice.public()).is_err());
    }
    assert!(nacl::open(&sealed, &[0; 24], &bob, alice.public()).is_err());
    assert!(nacl::open(&sealed, nonce, &bob, bob.public()).is_err());
}

#[test]
fn a_sealed_box_of_libsodium_is_opened_by_its_recipient_alone() {
    let sealed = hex_decode(
        "ab23dd75f2dda06fe276babebd705798f5d90e95553b456f561266420293a0403e864f358a5c3ee2d9687f06\
         4de57eb5645b7c81a07be99b73166ed034e352dedb",
    );
    let sealed = sealed.unwrap();
    let opened = nacl::open_anonymous(&sealed, &x25519(BOB)).unwrap();
    assert_eq!(opened.expose(), b"to nobody but you");
    assert!(nacl::open_anonymous(&sealed, &x25519(ALICE)).is_err());
    assert!(nacl::open_anonymous(&sealed[..47], &x25519(BOB)).is_err());
    let own = nacl::seal_anonymous(b"x", &x25519(ALICE), x25519(BOB).public()).unwrap();
    assert_eq!(
        nacl::open_anonymous(&own, &x25519(BOB)).unwrap().expose(),
        b"x"
    );
}

#[test]
fn a_key_of_any_curve_reads_back_from_each_of_its_forms() {
    for curve in AgreementCurve::ALL {
        let (one, other) = (
            AgreementPrivate::generate(curve).unwrap(),
            AgreementPrivate::generate(curve).unwrap(),
        );
        assert_eq!(
            *one.agree(other.public()).unwrap(),
            *other.agree(one.public()).unwrap()
        );
        assert_eq!(
            AgreementKey::from_jwk(&one.public().to_jwk()).unwrap(),
            *one.public()
        );
        assert_eq!(
            AgreementKey::from_raw(curve, one.public().bytes()).unwrap(),
            *one.public()
        );
        let again = AgreementPrivate::from_raw(curve, one.to_raw().unwrap().expose()).unwrap();
        assert_eq!(again.public(), one.public());
        let ctx = Ctx::new(UnixTime(1), [7; 32]);
        let derived = |label| AgreementPrivate::derived(curve, &ctx, label).unwrap();
        assert_eq!(derived("a").public(), derived("a").public());
        assert_ne!(derived("a").public(), derived("b").public());
        for foreign in AgreementCurve::ALL
            .into_iter()
            .filter(|foreign| *foreign != curve)
        {
            let foreign = AgreementPrivate::generate(foreign).unwrap();
            assert_eq!(one.agree(foreign.public()), Err(KeyError::Unsupported));
        }
    }
}

#[test]
fn what_is_no_key_is_refused() {
    for curve in AgreementCurve::ALL {
        let key = AgreementPrivate::generate(curve).unwrap();
        let bytes = key.public().bytes();
        for wrong in [&[], &bytes[1..], &[bytes, &[0]].concat()] {
            assert!(AgreementKey::from_raw(curve, wrong).is_err());
        }
        assert!(AgreementPrivate::from_raw(curve, &[1; 31]).is_err());
        if curve != AgreementCurve::X25519 {
            let mut off = bytes.to_vec();
            *off.last_mut().unwrap() ^= 1;
            assert!(
                AgreementKey::from_raw(curve, &off).is_err(),
                "not on the curve"
            );
            off[0] = 6;
            assert!(AgreementKey::from_raw(curve, &off).is_err(), "hybrid");
        }
    }
    let ed25519 = PrivateKey::generate(KeyType::Ed25519).unwrap();
    assert_eq!(
        AgreementKey::from_jwk(&ed25519.public().to_jwk()),
        Err(KeyError::Unsupported)
    );
    let mut jwk = x25519(BOB).public().to_jwk();
    jwk.use_ = Some("sig".to_owned());
    assert_eq!(AgreementKey::from_jwk(&jwk), Err(KeyError::Unsupported));
}

#[test]
fn a_coordinate_without_its_leading_zeros_is_read_and_a_longer_one_is_not() {
    let mut keys = (0..).map(|_| AgreementPrivate::generate(AgreementCurve::P521).unwrap());
    let key = keys.find(|key| key.public().bytes()[1] == 0).unwrap();
    let mut jwk = key.public().to_jwk();
    let JwkParams::Ec { x, .. } = &mut jwk.params else {
        panic!("not of a curve")
    };
    x.remove(0);
    assert_eq!(AgreementKey::from_jwk(&jwk).unwrap(), *key.public());
    let JwkParams::Ec { x, .. } = &mut jwk.params else {
        panic!("not of a curve")
    };
    x.splice(0..0, [0, 0]);
    assert!(AgreementKey::from_jwk(&jwk).is_err());
}

#[test]
fn multicodec_keys_are_read() {
    let key = [&[0xec, 0x01], x25519(BOB).public().bytes()].concat();
    assert_eq!(
        AgreementKey::from_multicodec(&key).unwrap(),
        *x25519(BOB).public()
    );
    let p256 = PrivateKey::generate(KeyType::P256).unwrap();
    let read = AgreementKey::from_multicodec(&p256.public().to_multicodec()).unwrap();
    assert_eq!(read.bytes(), p256.public().bytes());
    assert_eq!(read.to_multikey(), p256.public().to_multikey());
    for curve in [
        AgreementCurve::X25519,
        AgreementCurve::P256,
        AgreementCurve::P384,
    ] {
        let key = AgreementPrivate::generate(curve).unwrap();
        let read = AgreementKey::from_multicodec(&key.public().to_multicodec());
        assert_eq!(read.unwrap(), *key.public());
    }
    let whole = [&[0x80, 0x24], p256.public().bytes()].concat();
    assert!(AgreementKey::from_multicodec(&whole).is_err());
    let ed25519 = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let other = AgreementKey::from_multicodec(&ed25519.public().to_multicodec());
    assert_eq!(other, Err(KeyError::Unsupported));
}
