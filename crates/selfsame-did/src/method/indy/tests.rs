use selfsame_crypto::PrivateKey;
use selfsame_crypto::time::UnixTime;

use super::*;
use crate::document::Representation;
use crate::method::METHODS;

const NETWORK: &str = "mfrggzdfmztwq2lk";

fn did(text: &str) -> Did {
    Did::parse(text).unwrap()
}

fn key(kind: KeyType) -> PublicKey {
    PrivateKey::generate(kind).unwrap().public().clone()
}

fn plan(text: &str) -> Result<ResolutionPlan, ResolutionError> {
    METHODS.plan(&did(text), &Options::default())
}

/// What a registry has of a DID with this identifier and these keys, the first of which authenticates.
fn resolved(id: &str, keys: &[&PublicKey]) -> Resolution {
    let subject = did(&format!("did:selfsame:{NETWORK}:{id}"));
    let mut document = Document::new(subject.clone());
    for (number, key) in keys.iter().enumerate() {
        let id = DidUrl::join(&subject, &format!("#key-{number}")).unwrap();
        let uses = [Relationship::Authentication, Relationship::AssertionMethod];
        document.add(VerificationMethod::multikey(id, key), &uses);
    }
    let mut found = Resolution::found(document, Representation::Did);
    found.document_metadata.version_id = Some("3".to_owned());
    found
}

#[test]
fn the_specification_s_examples_are_names_of_other_ledgers() {
    for text in [
        "did:indy:sovrin:7Tqg6BwSSWapxgUDm9KKgg",
        "did:indy:sovrin:staging:6cgbu8ZPoWTnR5Rv5JcSMB",
        "did:indy:idunion:test:2MZYuPv2Km7Q1eD4GCsSb6",
        "did:indy:besu:testnet:0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266",
    ] {
        assert_eq!(
            plan(text),
            Ok(ResolutionPlan::Resolver(did(text))),
            "{text}"
        );
    }
    let text = "did:indy:sovrin:staging:6cgbu8ZPoWTnR5Rv5JcSMB";
    let name = did(text);
    let name = IndyName::of(&name).unwrap();
    assert_eq!(name.namespace, "sovrin:staging");
    assert_eq!(name.id, "6cgbu8ZPoWTnR5Rv5JcSMB");
}

#[test]
fn a_malformed_name_is_refused_before_anybody_is_asked() {
    for text in [
        "did:indy:7Tqg6BwSSWapxgUDm9KKgg",
        "did:indy:Sovrin:7Tqg6BwSSWapxgUDm9KKgg",
        "did:indy:sovrin:staging:more:7Tqg6BwSSWapxgUDm9KKgg",
        "did:indy:sovrin::7Tqg6BwSSWapxgUDm9KKgg",
        "did:indy:sovrin:7Tqg6BwSSWapxgUDm9KK",
        "did:indy:sovrin:0OIl6BwSSWapxgUDm9KKgg",
        "did:indy:besu:0xF39fd6e51aad88f6f4ce6ab8827279cfffb92266",
        "did:indy:selfsame:7Tqg6BwSSWapxgUDm9KKgg",
        "did:indy:selfsame:local:7Tqg6BwSSWapxgUDm9KKgg",
        "did:indy:selfsame:mfrggzdfmztwq2lk:0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266",
    ] {
        assert_eq!(plan(text), Err(ResolutionError::InvalidDid), "{text}");
    }
}

#[test]
fn a_name_in_our_namespace_is_asked_of_the_registry_without_a_version_s_number() {
    let text = format!("did:indy:selfsame:{NETWORK}:7Tqg6BwSSWapxgUDm9KKgg");
    let registered = did(&format!("did:selfsame:{NETWORK}:7Tqg6BwSSWapxgUDm9KKgg"));
    let options = Options::default();
    let expected = ResolutionPlan::Registry {
        did: registered.clone(),
        options,
    };
    assert_eq!(plan(&text), Ok(expected));
    assert_eq!(of_registered(&registered), Some(did(&text)));
    let numbered = Options {
        version_id: Some("1".to_owned()),
        ..Options::default()
    };
    let refused = METHODS.plan(&did(&text), &numbered);
    assert_eq!(refused, Err(ResolutionError::FeatureNotSupported));
    let dated = Options {
        version_time: Some(UnixTime(1)),
        ..Options::default()
    };
    assert!(METHODS.plan(&did(&text), &dated).is_ok());
}

#[test]
fn an_identifier_is_of_its_first_key_by_either_rule_of_indy() {
    let key = key(KeyType::Ed25519);
    for id in [id_of(&key).unwrap(), selfsame::indy_id_of(&key).unwrap()] {
        let name = did(&format!("did:indy:selfsame:{NETWORK}:{id}"));
        let first = resolved(&id, &[&key]);
        let found = METHODS.anchored(&name, &first, first.clone());
        let document = found.document.unwrap();
        assert_eq!(document.id, name);
        let verkey = DidUrl::join(&name, VERKEY).unwrap();
        assert_eq!(
            document.key(&verkey, Relationship::Authentication),
            Ok(key.clone())
        );
        assert_eq!(document.authentication[0], KeyReference::Id(verkey));
        let own = DidUrl::join(&name, "#key-0").unwrap();
        assert_eq!(
            document.key(&own, Relationship::AssertionMethod),
            Ok(key.clone())
        );
        let registered = format!("did:selfsame:{NETWORK}:{id}");
        assert_eq!(document.also_known_as, [registered]);
        assert_eq!(found.document_metadata.version_id, None);
        let written = document.to_value(Representation::Did);
        assert_eq!(written["verificationMethod"][0]["type"], VERKEY_TYPE);
        assert_eq!(
            written["verificationMethod"][0]["publicKeyBase58"],
            base58_encode(key.bytes())
        );
    }
}

#[test]
fn an_identifier_of_another_key_or_rule_is_not_found() {
    let (ed25519, p256) = (key(KeyType::Ed25519), key(KeyType::P256));
    for (id, first) in [
        (id_of(&key(KeyType::Ed25519)).unwrap(), &ed25519),
        (selfsame::id_of(&ed25519), &ed25519),
        (selfsame::id_of(&p256), &p256),
    ] {
        let name = did(&format!("did:indy:selfsame:{NETWORK}:{id}"));
        let first = resolved(&id, &[first]);
        let found = METHODS.anchored(&name, &first, first.clone());
        assert_eq!(found.metadata.error, Some(ResolutionError::NotFound));
        assert!(found.document.is_none());
    }
}

#[test]
fn the_key_in_force_is_the_present_one_and_the_rule_is_about_the_first() {
    let (first, next) = (key(KeyType::Ed25519), key(KeyType::Ed25519));
    let id = id_of(&first).unwrap();
    let name = did(&format!("did:indy:selfsame:{NETWORK}:{id}"));
    let (before, after) = (resolved(&id, &[&first]), resolved(&id, &[&next, &first]));
    let found = METHODS.anchored(&name, &before, after.clone());
    let verkey = DidUrl::join(&name, VERKEY).unwrap();
    let document = found.document.unwrap();
    assert_eq!(
        document.key(&verkey, Relationship::Authentication),
        Ok(next)
    );
    // A registry that gives no first version proves no name.
    let unknown = Resolution::failed(ResolutionError::InternalError);
    let found = METHODS.anchored(&name, &unknown, after);
    assert_eq!(found.metadata.error, Some(ResolutionError::InternalError));
    let p256 = key(KeyType::P256);
    let found = METHODS.anchored(&name, &before, resolved(&id, &[&p256]));
    assert_eq!(found.metadata.error, Some(ResolutionError::NotFound));
}

#[test]
fn a_did_with_a_key_named_as_the_ledger_s_has_no_name_here() {
    let (key, other) = (key(KeyType::Ed25519), key(KeyType::Ed25519));
    let id = id_of(&key).unwrap();
    let name = did(&format!("did:indy:selfsame:{NETWORK}:{id}"));
    let first = resolved(&id, &[&key]);
    let mut found = first.clone();
    let document = found.document.as_mut().unwrap();
    let own = DidUrl::join(&document.id, VERKEY).unwrap();
    let uses = [Relationship::Authentication];
    document.add(VerificationMethod::multikey(own, &other), &uses);
    let found = METHODS.anchored(&name, &first, found);
    assert_eq!(found.metadata.error, Some(ResolutionError::NotFound));
    assert!(found.metadata.reason.unwrap().contains("verkey"));
}

#[test]
fn a_deactivated_did_is_deactivated_under_this_name_too() {
    let key = key(KeyType::Ed25519);
    let id = id_of(&key).unwrap();
    let name = did(&format!("did:indy:selfsame:{NETWORK}:{id}"));
    let ended = Resolution::deactivated(Default::default());
    let found = METHODS.anchored(&name, &resolved(&id, &[&key]), ended);
    assert!(found.document_metadata.deactivated && found.document.is_none());
}
