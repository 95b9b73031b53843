//! Keys and their encodings: published vectors, every kind of signature, and refusals.

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize};
use aws_lc_rs::signature::{
    ECDSA_P256K1_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
    EcdsaSigningAlgorithm, KeyPair as _, ML_DSA_44_SIGNING, ML_DSA_65_SIGNING, PqdsaKeyPair,
    RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384,
    RSA_PSS_SHA512, RsaEncoding,
};
use proptest::prelude::*;
use selfsame_crypto::encoding::{
    base58_decode, base58_encode, base64url_decode, base64url_encode, hex_decode, multibase_decode,
};
use selfsame_crypto::{
    Algorithm, Jwk, KeyError, KeyHandle, KeyType, PrivateKey, PublicKey, SignatureError,
};
use serde_json::{Value, json};

const MESSAGE: &[u8] = b"a message";

fn vectors(text: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(text).unwrap();
    file["cases"].as_array().unwrap().clone()
}

fn jwk(value: &Value) -> Jwk {
    Jwk::from_value(value).unwrap()
}

/// One key of each kind.
fn all_kinds() -> Vec<PublicKey> {
    let ecdsa = |algorithm, key_type| {
        let pair = EcdsaKeyPair::generate(algorithm).unwrap();
        PublicKey::from_raw(key_type, pair.public_key().as_ref()).unwrap()
    };
    let rsa = &vectors(include_str!("../../../vectors/jose/thumbprint.json"))[0]["jwk"];
    vec![
        PrivateKey::generate(KeyType::Ed25519)
            .unwrap()
            .public()
            .clone(),
        PrivateKey::generate(KeyType::P256)
            .unwrap()
            .public()
            .clone(),
        ecdsa(&ECDSA_P256K1_SHA256_FIXED_SIGNING, KeyType::Secp256k1),
        ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING, KeyType::P384),
        PublicKey::from_jwk(&jwk(rsa)).unwrap(),
    ]
}

#[test]
fn thumbprints_are_those_of_rfc_7638_and_rfc_8037() {
    let cases = vectors(include_str!("../../../vectors/jose/thumbprint.json"))
        .into_iter()
        .chain(
            vectors(include_str!("../../../vectors/jose/jws.json"))
                .into_iter()
                .filter(|c| c["thumbprint"].is_string()),
        );
    let mut seen = 0;
    for case in cases {
        let key = PublicKey::from_jwk(&jwk(&case["jwk"])).unwrap();
        assert_eq!(
            base64url_encode(&key.thumbprint()),
            case["thumbprint"].as_str().unwrap()
        );
        assert_eq!(
            KeyHandle::of(&key).as_str(),
            case["thumbprint"].as_str().unwrap()
        );
        seen += 1;
    }
    assert_eq!(seen, 2);
}

#[test]
fn the_multikeys_of_the_did_key_specification_are_read_and_written() {
    let mut kinds = std::collections::BTreeSet::new();
    for case in vectors(include_str!("../../../vectors/did/did-key.json")) {
        let multikey = case["did"]
            .as_str()
            .unwrap()
            .strip_prefix("did:key:")
            .unwrap();
        if case["key_type"] == "P-521" {
            assert_eq!(
                PublicKey::from_multikey(multikey),
                Err(KeyError::Unsupported)
            );
            continue;
        }
        let key = PublicKey::from_multikey(multikey).unwrap();
        assert_eq!(key.key_type().as_str(), case["key_type"].as_str().unwrap());
        assert_eq!(key.to_multikey(), multikey);
        if case["publicKeyJwk"].is_object() {
            assert_eq!(key.to_jwk(), jwk(&case["publicKeyJwk"]));
            assert_eq!(
                PublicKey::from_jwk(&jwk(&case["publicKeyJwk"])).unwrap(),
                key
            );
        }
        if let Some(text) = case["publicKeyBase58"].as_str() {
            assert_eq!(
                PublicKey::from_raw(key.key_type(), &base58_decode(text).unwrap()).unwrap(),
                key
            );
        }
        kinds.insert(key.key_type());
    }
    assert_eq!(kinds.len(), 5);
}

#[test]
fn every_encoding_of_every_kind_of_key_is_read_back() {
    for key in all_kinds() {
        assert_eq!(PublicKey::from_jwk(&key.to_jwk()).unwrap(), key);
        assert_eq!(PublicKey::from_multikey(&key.to_multikey()).unwrap(), key);
        assert_eq!(
            PublicKey::from_multicodec(&key.to_multicodec()).unwrap(),
            key
        );
        assert_eq!(PublicKey::from_spki(&key.to_spki().unwrap()).unwrap(), key);
        assert_eq!(
            PublicKey::from_raw(key.key_type(), key.bytes()).unwrap(),
            key
        );
        let written = serde_json::to_value(key.to_jwk()).unwrap();
        assert_eq!(
            serde_json::from_value::<Jwk>(written).unwrap(),
            key.to_jwk()
        );
    }
}

#[test]
fn encodings_cut_short_or_lengthened_are_refused() {
    for key in all_kinds() {
        let check = |encoded: &[u8], read: &dyn Fn(&[u8]) -> Result<PublicKey, KeyError>| {
            assert!(read(&[encoded, &[0]].concat()).is_err());
            assert!(
                (0..encoded.len()).all(|len| read(&encoded[..len]).is_err()),
                "{}",
                key.key_type()
            );
        };
        check(&key.to_multicodec(), &PublicKey::from_multicodec);
        check(&key.to_spki().unwrap(), &PublicKey::from_spki);
        check(key.bytes(), &|bytes| {
            PublicKey::from_raw(key.key_type(), bytes)
        });
    }
}

#[test]
fn ed25519_signatures_are_deterministic_and_verify() {
    // RFC 8037 A.1: the private key of the example, as PKCS#8.
    let seed = base64url_decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").unwrap();
    let header = [
        0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04,
        0x20,
    ];
    let key = PrivateKey::from_pkcs8(&[header.as_slice(), &seed].concat()).unwrap();
    let case = &vectors(include_str!("../../../vectors/jose/jws.json"))[0];
    let (input, signature) = case["jws"].as_str().unwrap().rsplit_once('.').unwrap();
    assert_eq!(
        base64url_encode(&key.sign(input.as_bytes()).unwrap()),
        signature
    );
    assert_eq!(key.public().to_jwk(), jwk(&case["jwk"]));
    assert_eq!(key.algorithm(), Algorithm::EdDsa);
}

#[test]
fn an_ed25519_signature_with_the_group_order_added_is_refused() {
    // RFC 8032 §5.1.7: S must be below L; otherwise anyone could turn a signature into a second valid one.
    let order =
        hex_decode("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010").unwrap();
    let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let mut signature = key.sign(MESSAGE).unwrap();
    assert_eq!(
        key.public().verify(Algorithm::EdDsa, MESSAGE, &signature),
        Ok(())
    );
    let mut carry = 0_u16;
    for (byte, add) in signature[32..].iter_mut().zip(order) {
        carry += u16::from(*byte) + u16::from(add);
        *byte = carry as u8;
        carry >>= 8;
    }
    assert_eq!(
        key.public().verify(Algorithm::EdDsa, MESSAGE, &signature),
        Err(SignatureError::Invalid)
    );
}

#[test]
fn keys_can_be_shared_among_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<PublicKey>();
    shared::<PrivateKey>();
    shared::<selfsame_crypto::ctx::Ctx>();
    shared::<selfsame_crypto::seal::SealingKey>();
}

#[test]
fn a_private_key_read_back_from_pkcs8_is_the_same_key() {
    for key_type in [KeyType::Ed25519, KeyType::P256] {
        let key = PrivateKey::generate(key_type).unwrap();
        let again = PrivateKey::from_pkcs8(key.to_pkcs8().unwrap().expose()).unwrap();
        assert_eq!(again.public(), key.public());
        let signature = again.sign(MESSAGE).unwrap();
        assert_eq!(signature.len(), 64);
        assert_eq!(
            key.public().verify(key.algorithm(), MESSAGE, &signature),
            Ok(())
        );
        assert_eq!(
            key.public()
                .verify(key.algorithm(), b"b message", &signature),
            Err(SignatureError::Invalid)
        );
        assert!(!format!("{key:?} {:?}", key.to_pkcs8().unwrap()).contains("Secret(["));
    }
    for key_type in [KeyType::Secp256k1, KeyType::P384, KeyType::Rsa] {
        assert_eq!(
            PrivateKey::generate(key_type).err(),
            Some(KeyError::Unsupported)
        );
    }
    assert!(PrivateKey::from_pkcs8(b"no key").is_err());
}

#[test]
fn an_rsa_key_signs_with_each_algorithm_of_its_type_and_is_read_back_where_it_is_asked_for() {
    let key = PrivateKey::generate_rsa().unwrap();
    let pkcs8 = key.to_pkcs8().unwrap();
    assert!(PrivateKey::from_pkcs8(pkcs8.expose()).is_err());
    let again = PrivateKey::from_rsa_pkcs8(pkcs8.expose()).unwrap();
    assert_eq!(again.public(), key.public());
    assert_eq!(key.algorithm(), Algorithm::Rs256);
    for algorithm in Algorithm::ALL {
        let signed = again.sign_with(algorithm, MESSAGE);
        match algorithm.key_type() {
            KeyType::Rsa => {
                let signature = signed.unwrap();
                let verified = key.public().verify(algorithm, MESSAGE, &signature);
                assert_eq!(verified, Ok(()), "{algorithm}");
            }
            _ => assert_eq!(signed.err(), Some(KeyError::Unsupported)),
        }
    }
    assert!(PrivateKey::from_rsa_pkcs8(b"no key").is_err());
}

#[test]
fn ecdsa_signatures_of_curves_that_are_only_verified_hold() {
    let check = |algorithm: &'static EcdsaSigningAlgorithm, key_type: KeyType| {
        let pair = EcdsaKeyPair::generate(algorithm).unwrap();
        let key = PublicKey::from_raw(key_type, pair.public_key().as_ref()).unwrap();
        let mut signature = pair
            .sign(&SystemRandom::new(), MESSAGE)
            .unwrap()
            .as_ref()
            .to_vec();
        assert_eq!(
            key.verify(key_type.default_algorithm(), MESSAGE, &signature),
            Ok(())
        );
        signature[5] ^= 1;
        assert_eq!(
            key.verify(key_type.default_algorithm(), MESSAGE, &signature),
            Err(SignatureError::Invalid)
        );
        assert!(
            key.verify(key_type.default_algorithm(), MESSAGE, &signature[..40])
                .is_err()
        );
        assert!(
            key.verify(key_type.default_algorithm(), MESSAGE, &[0; 64])
                .is_err()
        );
    };
    check(&ECDSA_P256K1_SHA256_FIXED_SIGNING, KeyType::Secp256k1);
    check(&ECDSA_P384_SHA384_FIXED_SIGNING, KeyType::P384);
}

#[test]
fn rsa_signatures_hold_with_the_algorithm_they_were_made_with_only() {
    let pair = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
    let key = PublicKey::from_raw(KeyType::Rsa, pair.public_key().as_ref()).unwrap();
    let encodings: [(Algorithm, &'static dyn RsaEncoding); 6] = [
        (Algorithm::Rs256, &RSA_PKCS1_SHA256),
        (Algorithm::Rs384, &RSA_PKCS1_SHA384),
        (Algorithm::Rs512, &RSA_PKCS1_SHA512),
        (Algorithm::Ps256, &RSA_PSS_SHA256),
        (Algorithm::Ps384, &RSA_PSS_SHA384),
        (Algorithm::Ps512, &RSA_PSS_SHA512),
    ];
    for (made_with, encoding) in encodings {
        let mut signature = vec![0; pair.public_modulus_len()];
        pair.sign(encoding, &SystemRandom::new(), MESSAGE, &mut signature)
            .unwrap();
        for (algorithm, _) in encodings {
            let verified = key.verify(algorithm, MESSAGE, &signature).is_ok();
            assert_eq!(verified, algorithm == made_with, "{made_with} {algorithm}");
        }
    }
}

#[test]
fn an_algorithm_of_another_kind_of_key_is_refused_before_anything_is_verified() {
    for key in all_kinds() {
        for algorithm in Algorithm::ALL
            .into_iter()
            .filter(|algorithm| algorithm.key_type() != key.key_type())
        {
            assert_eq!(
                key.verify(algorithm, MESSAGE, &[0; 64]),
                Err(SignatureError::WrongAlgorithm)
            );
        }
    }
}

#[test]
fn ml_dsa_keys_are_read_in_each_encoding_and_verify_what_they_signed() {
    for (made_with, key_type, codec) in [
        (&ML_DSA_44_SIGNING, KeyType::MlDsa44, [0x90, 0x24]),
        (&ML_DSA_65_SIGNING, KeyType::MlDsa65, [0x91, 0x24]),
    ] {
        let pair = PqdsaKeyPair::generate(made_with).unwrap();
        let public = pair.public_key();
        let key = PublicKey::from_raw(key_type, public.as_ref()).unwrap();
        let mut signature = vec![0; made_with.signature_len()];
        pair.sign(MESSAGE, &mut signature).unwrap();
        let algorithm = key_type.default_algorithm();
        assert_eq!(key.verify(algorithm, MESSAGE, &signature), Ok(()));
        signature[7] ^= 1;
        let forged = key.verify(algorithm, MESSAGE, &signature);
        assert_eq!(forged, Err(SignatureError::Invalid));

        // The library writes SubjectPublicKeyInfo as RFC 9881 specifies.
        let spki = AsDer::<PublicKeyX509Der<'_>>::as_der(public).unwrap();
        assert_eq!(key.to_spki().unwrap(), spki.as_ref());
        assert_eq!(PublicKey::from_spki(spki.as_ref()), Ok(key.clone()));
        assert_eq!(key.to_multicodec()[..2], codec);
        assert_eq!(
            PublicKey::from_multicodec(&key.to_multicodec()),
            Ok(key.clone())
        );
        let jwk = key.to_jwk().to_value();
        assert_eq!(
            (&jwk["kty"], &jwk["alg"]),
            (&json!("AKP"), &json!(algorithm))
        );
        assert_eq!(
            PublicKey::from_jwk(&Jwk::from_value(&jwk).unwrap()),
            Ok(key)
        );

        let short = &public.as_ref()[1..];
        assert!(PublicKey::from_raw(key_type, short).is_err());
        let mut unnamed = jwk.clone();
        unnamed.as_object_mut().unwrap().remove("alg");
        assert!(Jwk::from_value(&unnamed).is_err());
        let mut private = jwk;
        private["priv"] = json!("AQ");
        assert_eq!(Jwk::from_value(&private), Err(KeyError::Private));
    }
}

#[test]
fn algorithms_are_read_by_their_names_and_none_is_not_one() {
    for algorithm in Algorithm::ALL {
        assert!(algorithm.names().any(|name| name == algorithm.as_str()));
        for name in algorithm.names() {
            assert_eq!(name.parse(), Ok(algorithm));
        }
    }
    // RFC 9864 §2.2: the name `EdDSA` does not determine the curve.
    assert!(Algorithm::EdDsa.names().eq(["Ed25519", "EdDSA"]));
    assert!(Algorithm::Es256.names().eq(["ES256"]));
    for name in [
        "none", "None", "HS256", "HS384", "HS512", "es256", "ES512", "Ed448", "RS1", "",
    ] {
        assert!(name.parse::<Algorithm>().is_err(), "{name}");
    }
}

#[test]
fn private_and_shared_keys_are_not_read_as_public_ones() {
    let ec = json!({"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"});
    for name in ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] {
        for value in [json!("AQ"), Value::Null, json!([])] {
            let mut private = ec.clone();
            private[name] = value;
            assert_eq!(Jwk::from_value(&private), Err(KeyError::Private));
            assert!(serde_json::from_value::<Jwk>(private).is_err());
        }
    }
    assert_eq!(
        Jwk::from_value(&json!({"kty":"oct","kid":"a"})),
        Err(KeyError::Private)
    );
    assert!(
        serde_json::from_str::<Jwk>(r#"{"kty":"OKP","kty":"OKP","crv":"X25519","x":"AQ"}"#)
            .is_err()
    );
}

#[test]
fn jwks_that_are_no_point_of_their_curve_are_refused() {
    let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU";
    let key = |crv: &str, x: &str, y: &str| {
        PublicKey::from_jwk(&jwk(&json!({"kty":"EC","crv":crv,"x":x,"y":y})))
    };
    assert!(matches!(key("P-256", x, x), Err(KeyError::Malformed(_))));
    assert!(matches!(
        key("secp256k1", x, x),
        Err(KeyError::Malformed(_))
    ));
    assert!(matches!(key("P-384", x, x), Err(KeyError::Malformed(_))));
    assert!(matches!(
        key("P-256", "AQ", "AQ"),
        Err(KeyError::Malformed(_))
    ));
    assert_eq!(key("P-521", x, x), Err(KeyError::Unsupported));
    let x25519 = jwk(&json!({"kty":"OKP","crv":"X25519","x":x}));
    assert_eq!(PublicKey::from_jwk(&x25519), Err(KeyError::Unsupported));
}

#[test]
fn points_at_infinity_hybrid_points_and_uncompressed_multikeys_are_refused() {
    let key = PrivateKey::generate(KeyType::P256).unwrap();
    let point = key.public().bytes();
    let mut hybrid = point.to_vec();
    hybrid[0] = 6 | (point[64] & 1);
    assert!(PublicKey::from_raw(KeyType::P256, &hybrid).is_err());
    assert!(PublicKey::from_raw(KeyType::P256, &[0]).is_err());
    assert!(PublicKey::from_raw(KeyType::P256, &key.public().to_spki().unwrap()).is_err());
    assert!(PublicKey::from_multicodec(&[&[0x80, 0x24], point].concat()).is_err());
}

#[test]
fn rsa_keys_that_are_short_even_or_padded_are_refused() {
    let n = base64url_decode(
        vectors(include_str!("../../../vectors/jose/thumbprint.json"))[0]["jwk"]["n"]
            .as_str()
            .unwrap(),
    )
    .unwrap();
    let key = |n: &[u8], e: &[u8]| {
        PublicKey::from_jwk(&jwk(
            &json!({"kty":"RSA","n":base64url_encode(n),"e":base64url_encode(e)}),
        ))
    };
    assert!(key(&n, &[1, 0, 1]).is_ok());
    assert!(matches!(key(&n[..255], &[1, 0, 1]), Err(KeyError::Weak(_))));
    let mut short = n.clone();
    short[0] = 0x7f;
    assert!(matches!(key(&short, &[1, 0, 1]), Err(KeyError::Weak(_))));
    let mut even = n.clone();
    even[255] &= 0xfe;
    assert!(matches!(key(&even, &[1, 0, 1]), Err(KeyError::Weak(_))));
    for exponent in [vec![1], vec![1, 0, 0], vec![1, 0, 0, 0, 1]] {
        assert!(matches!(key(&n, &exponent), Err(KeyError::Weak(_))));
    }
    assert!(matches!(
        key(&[&[0], n.as_slice()].concat(), &[1, 0, 1]),
        Err(KeyError::Malformed(_))
    ));
    assert!(matches!(
        key(&n, &[0, 1, 0, 1]),
        Err(KeyError::Malformed(_))
    ));
    assert!(matches!(
        key(&vec![0xff; 1025], &[1, 0, 1]),
        Err(KeyError::Weak(_))
    ));
}

#[test]
fn key_handles_are_thumbprints_and_nothing_else() {
    let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let handle = KeyHandle::of(key.public());
    assert_eq!(handle.as_str().parse(), Ok(handle.clone()));
    assert_eq!(
        serde_json::from_value::<KeyHandle>(json!(handle)).unwrap(),
        handle
    );
    assert!("../../etc/passwd".parse::<KeyHandle>().is_err());
    assert!(serde_json::from_value::<KeyHandle>(json!("short")).is_err());
}

#[test]
fn optional_members_of_a_jwk_are_kept_and_do_not_change_its_thumbprint() {
    let bare = PrivateKey::generate(KeyType::P256)
        .unwrap()
        .public()
        .to_jwk();
    let mut value = bare.clone().with_kid("k").to_value();
    value["alg"] = json!("ES256");
    value["use"] = json!("sig");
    value["key_ops"] = json!(["verify"]);
    value["x5t#S256"] = json!("ignored");
    let full = jwk(&value);
    assert_eq!(
        (
            full.kid.as_deref(),
            full.alg.as_deref(),
            full.use_.as_deref()
        ),
        (Some("k"), Some("ES256"), Some("sig"))
    );
    assert_eq!(jwk(&full.to_value()), full);
    assert_eq!(full.thumbprint(), bare.thumbprint());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn reading_keys_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..120), prefix in 0_usize..7) {
        let prefixes: [&[u8]; 7] = [&[], &[0xed, 1], &[0xe7, 1], &[0x80, 0x24], &[0x81, 0x24], &[0x85, 0x24], &[0x30, 0x59]];
        let bytes = [prefixes[prefix], &bytes].concat();
        if let Ok(key) = PublicKey::from_multicodec(&bytes) {
            prop_assert_eq!(key.to_multicodec(), bytes.clone());
        }
        if let Ok(key) = PublicKey::from_spki(&bytes) {
            prop_assert_eq!(key.to_spki().unwrap(), bytes.clone());
        }
        let _ = PrivateKey::from_pkcs8(&bytes);
        let _ = PublicKey::from_multikey(&format!("z{}", base58_encode(&bytes)));
    }

    #[test]
    fn every_32_bytes_are_read_as_ed25519_only_if_canonical_and_verify_nothing_unsigned(bytes in any::<[u8; 32]>()) {
        if let Ok(key) = PublicKey::from_raw(KeyType::Ed25519, &bytes) {
            prop_assert!(key.verify(Algorithm::EdDsa, MESSAGE, &[1; 64]).is_err());
            prop_assert_eq!(multibase_decode(&key.to_multikey()).unwrap()[2..].to_vec(), bytes.to_vec());
        }
    }

    #[test]
    fn a_signature_holds_for_its_own_message_only(message in prop::collection::vec(any::<u8>(), 0..64), flip in 0_usize..64) {
        let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let mut signature = key.sign(&message).unwrap();
        prop_assert_eq!(key.public().verify(Algorithm::EdDsa, &message, &signature), Ok(()));
        signature[flip] ^= 0x10;
        prop_assert!(key.public().verify(Algorithm::EdDsa, &message, &signature).is_err());
    }
}

#[test]
fn a_jwk_verifies_what_its_use_and_algorithm_allow() {
    let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let with = |use_: Option<&str>, alg: Option<&str>| Jwk {
        use_: use_.map(str::to_owned),
        alg: alg.map(str::to_owned),
        ..key.public().to_jwk()
    };
    for alg in [None, Some("EdDSA"), Some("Ed25519")] {
        assert!(with(None, alg).may_verify(Algorithm::EdDsa));
        assert!(with(Some("sig"), alg).may_verify(Algorithm::EdDsa));
        assert!(!with(Some("enc"), alg).may_verify(Algorithm::EdDsa));
    }
    for alg in ["ES256", "none", "ECDH-ES", ""] {
        assert!(!with(None, Some(alg)).may_verify(Algorithm::EdDsa));
    }
}

#[test]
fn a_jwk_verifies_only_where_its_operations_say_so() {
    let bare = PrivateKey::generate(KeyType::P256)
        .unwrap()
        .public()
        .to_jwk();
    let with = |operations: Value| {
        let mut value = bare.to_value();
        value["key_ops"] = operations;
        let read = Jwk::from_value(&value);
        let text: Result<Jwk, _> = serde_json::from_str(&value.to_string());
        assert_eq!(read.clone().ok(), text.ok(), "{value}");
        read
    };
    for good in [
        json!(["verify"]),
        json!(["sign", "verify"]),
        json!(["verify", "x"]),
    ] {
        let key = with(good.clone()).unwrap();
        assert!(key.may_verify(Algorithm::Es256), "{good}");
    }
    for other in [json!([]), json!(["encrypt"]), json!(["VERIFY", "sign"])] {
        let key = with(other.clone()).unwrap();
        assert!(!key.may_verify(Algorithm::Es256), "{other}");
    }
    let and_use = Jwk {
        use_: Some("sig".to_owned()),
        ..with(json!(["deriveKey"])).unwrap()
    };
    assert!(!and_use.may_verify(Algorithm::Es256));
    for bad in [
        json!("verify"),
        json!({"verify": true}),
        json!([1]),
        json!(["verify", null]),
        json!(["verify", "verify"]),
    ] {
        assert!(
            matches!(with(bad.clone()), Err(KeyError::Malformed(_))),
            "{bad}"
        );
    }
}
