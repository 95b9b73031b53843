//! Vectors of the specifications.

use super::*;
use crate::encoding::hex_encode;

fn public(value: Value) -> AgreementKey {
    AgreementKey::from_jwk(&Jwk::from_value(&value).unwrap()).unwrap()
}

#[test]
fn the_example_of_rfc_7518_appendix_c_holds() {
    let alice = private(&json!({
        "crv": "P-256", "d": "0_NxaRPUMQoAJt50Gz8YiTr8gRTwyEaCumd-MToTmIo",
    }));
    let bob = public(json!({
        "kty": "EC", "crv": "P-256",
        "x": "weNJy2HscCSM6AEDTDg04biOvhFhyyWvOHQfeF_PxMQ",
        "y": "e8lnCO-AlStT-NJVX-crhB7QRYhiix03illJOVAOyck",
    }));
    let header = JweHeader::parse(
        json!({
            "alg": "ECDH-ES", "enc": "A128GCM", "apu": "QWxpY2U", "apv": "Qm9i",
            "epk": alice.public().to_jwk().to_value(),
        })
        .to_string()
        .as_bytes(),
    );
    let secret = kdf::shared(&alice.agree(&bob).unwrap(), None);
    let key = kdf::derived(&header.unwrap(), &secret, &[]);
    assert_eq!(base64url_encode(&key), "VqqN6vgjbSBcIijNcacQGg");
}

#[test]
fn the_example_of_rfc_8037_appendix_a_6_holds() {
    let ephemeral = private(&json!({
        "crv": "X25519", "d": "dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo",
    }));
    let bob = public(json!({
        "kty": "OKP", "crv": "X25519", "kid": "Bob",
        "x": "3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08",
    }));
    let epk = ephemeral.public().to_jwk().to_value();
    assert_eq!(epk["x"], "hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo");
    let secret = ephemeral.agree(&bob).unwrap();
    let expected = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742";
    assert_eq!(hex_encode(&secret), expected);
}

#[test]
fn the_example_of_ecdh_1pu_appendix_b_holds() {
    let file = include_str!("../../../../../vectors/jose/ecdh_1pu.json");
    let file: Value = serde_json::from_str(file).unwrap();
    let mut jwe = file["jwe"].clone();
    let protected = file["protected"].as_str().unwrap();
    jwe["protected"] = json!(base64url_encode(protected.as_bytes()));
    let jwe = Jwe::parse(&jwe.to_string(), MAX).unwrap();
    let alice = public(file["sender"].clone());
    for recipient in file["recipients"].as_array().unwrap() {
        let own = private(recipient);
        let sender = Some(&alice);
        let opening = Opening {
            sender,
            ..with(recipient["kid"].as_str().unwrap(), &own)
        };
        let opened = jwe.decrypt(&opening).unwrap();
        assert_eq!(
            opened.expose(),
            file["content"].as_str().unwrap().as_bytes()
        );
    }
}

#[test]
fn aes_with_hmac_is_that_of_rfc_7518_appendix_b_3() {
    let key: Vec<u8> = (0..64).collect();
    let iv = "1af38c2dc2b96ffdd86694092341bc04";
    let iv = crate::encoding::hex_decode(iv).unwrap();
    let mut content =
        b"A cipher system must not be required to be secret, and it must be able to fall \
        into the hands of the enemy without inconvenience"
            .to_vec();
    let of = content::Encrypted {
        iv: &iv,
        aad: b"The second principle of Auguste Kerckhoffs",
        ciphertext: &[],
        tag: &[],
    };
    let tag = ContentEncryption::A256CbcHs512
        .encrypt(&key, &of, &mut content)
        .unwrap();
    assert!(hex_encode(&content).starts_with("4affaaadb78c31c5da4b1b590d10ffbd"));
    let expected = "4dd3b4c088a7f45c216839645b2012bf2e6269a8c56a816dbc1b267761955bc5";
    assert_eq!(hex_encode(&tag), expected);
}
