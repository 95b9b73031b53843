use selfsame_crypto::PrivateKey;

use super::*;

#[test]
fn a_network_is_named_by_its_genesis() {
    let network = Network::of_genesis(b"genesis");
    assert_eq!(network.as_str().len(), 16);
    assert_eq!(Network::parse(network.as_str()), Ok(network.clone()));
    assert_ne!(Network::of_genesis(b"another"), network);
    for text in [
        "",
        "MFRGGZDFMZTWQ2LK",
        "mfrggzdfmztwq2l",
        "mfrggzdfmztwq2lkk",
        "mfrggzdfmztwq2l1",
    ] {
        assert!(Network::parse(text).is_err(), "{text}");
    }
}

#[test]
fn a_subject_is_named_by_its_first_key() {
    let network = Network::of_genesis(b"genesis");
    for key_type in [KeyType::Ed25519, KeyType::P256] {
        let key = PrivateKey::generate(key_type).unwrap().public().clone();
        let did = create(&network, &key);
        assert_eq!(parts(&did), Some((network.clone(), id_of(&key))));
        assert_eq!(indy_id_of(&key).is_some(), key_type == KeyType::Ed25519);
    }
}

#[test]
fn identifiers_of_another_form_are_not_the_registrys() {
    for text in [
        "did:selfsame:mfrggzdfmztwq2lk",
        "did:selfsame:mfrggzdfmztwq2lk:0",
        "did:selfsame:mfrggzdfmztwq2lk:111",
        "did:selfsame:local:4WJwSKNzJ3wiVcpBQKVkbe",
        "did:selfsame:mfrggzdfmztwq2lk:4WJwSKNzJ3wiVcpBQKVkbe:a",
        "did:example:mfrggzdfmztwq2lk:4WJwSKNzJ3wiVcpBQKVkbe",
    ] {
        assert_eq!(parts(&Did::parse(text).unwrap()), None, "{text}");
    }
}
