//! The encoding of each operation (vectors/operations.txt): fixed values must give these bytes on every machine,
//! permanently.

use proptest::prelude::*;
use selfsame_crypto::encoding::{hex_decode, hex_encode};
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PublicKey};
use selfsame_did::selfsame::Network;
use selfsame_proof::cbor::CborItem;
use selfsame_proof::validators::Validator;
use selfsame_registry::anoncreds::{Definition, RevocationEntry, Succession};
use selfsame_registry::network::{Acceptance, Agreement, Mode, Role};
use selfsame_registry::resource::{Resource, ResourceData, ResourceId};
use selfsame_registry::single_use::{Action, Consume, Delegation, use_digest};
use selfsame_registry::transaction::Body;
use selfsame_registry::{Content, Identifier, Operation, Rules, UnsignedTransaction};

use crate::world::{is_kept, keep};

const FILE: &str = "vectors/operations.txt";
const VECTORS: &str = include_str!("../../vectors/operations.txt");

/// RFC 8032 §7.1, tests 1 and 2: the public keys.
const KEYS: [&str; 2] = [
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
];

fn key(n: usize) -> PublicKey {
    PublicKey::from_raw(KeyType::Ed25519, &hex_decode(KEYS[n]).unwrap()).unwrap()
}

fn id(n: usize) -> Identifier {
    Identifier::of_key(&key(n)).unwrap()
}

/// One of each operation, and also the second form of those that have two.
fn operations() -> Vec<(&'static str, Operation)> {
    let mut all = identities();
    all.extend(anoncreds());
    all.extend(objects());
    all.extend(governance());
    all
}

fn identities() -> Vec<(&'static str, Operation)> {
    let content = Content::of_key("key-1", key(0));
    let subject = id(1);
    vec![
        ("create DID", Operation::CreateDid(content.clone())),
        (
            "update DID",
            Operation::UpdateDid {
                version: 2,
                content,
            },
        ),
        ("deactivate DID", Operation::DeactivateDid { version: 3 }),
        (
            "anchor status list",
            Operation::AnchorStatus {
                list: "https://issuer.example/status/1".to_owned(),
                digest: [1; 32],
                issued: UnixTime(1_750_000_000),
            },
        ),
        (
            "register DID",
            Operation::RegisterDid {
                subject,
                key: key(1),
                consent: None,
            },
        ),
        (
            "register DID with its owner's signature",
            Operation::RegisterDid {
                subject,
                key: key(1),
                consent: Some([6; 64]),
            },
        ),
        (
            "give role",
            Operation::SetRole {
                subject,
                role: Some(Role::Endorser),
            },
        ),
        (
            "take role",
            Operation::SetRole {
                subject,
                role: None,
            },
        ),
    ]
}

fn anoncreds() -> Vec<(&'static str, Operation)> {
    let json = "{\"json\":\"as published\"}".to_owned();
    let definition = Definition {
        json: json.clone(),
        successor_of: None,
        valid_until: None,
    };
    let successor = Definition {
        successor_of: Some(Succession {
            definition: "did:example:1/anoncreds/v0/CLAIM_DEF/a/b".to_owned(),
            until: UnixTime(1_750_000_600),
        }),
        valid_until: Some(UnixTime(1_760_000_000)),
        ..definition.clone()
    };
    let entry = RevocationEntry {
        registry: "did:example:1/anoncreds/v0/REV_REG_DEF/a/b".to_owned(),
        before: Some("1 0A".to_owned()),
        after: "1 0B".to_owned(),
        issued: vec![1, 23],
        revoked: vec![0, 24, 65_536],
    };
    vec![
        ("schema", Operation::Schema { json: json.clone() }),
        (
            "credential definition",
            Operation::CredentialDefinition(definition),
        ),
        (
            "credential definition that succeeds another",
            Operation::CredentialDefinition(successor),
        ),
        (
            "revocation registry",
            Operation::RevocationRegistry { json },
        ),
        ("revocation entry", Operation::RevocationEntry(entry)),
    ]
}

fn objects() -> Vec<(&'static str, Operation)> {
    let resource = Resource {
        id: ResourceId([2; 16]),
        name: "clubs".to_owned(),
        kind: "TrustList".to_owned(),
        version: None,
        media_type: "text/plain".to_owned(),
        also_known_as: Vec::new(),
        data: ResourceData::Bytes(b"all of them".to_vec()),
    };
    let elsewhere = Resource {
        version: Some("1.1".to_owned()),
        also_known_as: vec!["https://a.example/clubs".to_owned()],
        data: ResourceData::Digest([3; 32]),
        ..resource.clone()
    };
    let delegation = Delegation {
        name: "pharmacy".to_owned(),
        to: id(1),
        scope: vec!["prescription".to_owned()],
        action: Action::Consume,
        until: UnixTime(1_760_000_000),
    };
    let consume = Consume {
        issuer: id(0),
        kind: "prescription".to_owned(),
        handle: [4; 32],
        action: Action::Consume,
        delegation: Some("pharmacy".to_owned()),
    };
    let revoke = Consume {
        action: Action::Revoke,
        delegation: None,
        ..consume.clone()
    };
    let name = "pharmacy".to_owned();
    vec![
        ("resource", Operation::Resource(resource)),
        ("resource kept elsewhere", Operation::Resource(elsewhere)),
        ("delegate", Operation::Delegate(delegation)),
        (
            "withdraw delegation",
            Operation::WithdrawDelegation { name },
        ),
        ("consume as a delegate", Operation::Consume(consume)),
        ("revoke as the issuer", Operation::Consume(revoke)),
    ]
}

fn governance() -> Vec<(&'static str, Operation)> {
    let agreement = Agreement {
        version: "1".to_owned(),
        digest: [5; 32],
        mechanisms: vec!["on_file".to_owned()],
    };
    let validator = Validator {
        name: "two".to_owned(),
        key: key(0),
        power: 1,
        consensus: Some(key(1)),
    };
    let rules = Rules {
        mode: Mode::Endorsed,
        ..Rules::default()
    };
    vec![
        ("set agreement", Operation::SetAgreement(Some(agreement))),
        ("end agreement", Operation::SetAgreement(None)),
        (
            "change validators",
            Operation::ChangeValidators {
                add: vec![validator],
                remove: vec!["one".to_owned()],
            },
        ),
        (
            "change rules",
            Operation::ChangeRules {
                from_height: 1_000,
                rules,
            },
        ),
    ]
}

/// A body that contains every possible member.
fn body() -> Body {
    let network = Network::of_genesis(b"example");
    let operations = operations().into_iter().map(|(_, operation)| operation);
    Body {
        endorser: Some(id(1)),
        agreement: Some(Acceptance {
            version: "1".to_owned(),
            digest: [5; 32],
            mechanism: "on_file".to_owned(),
            day: 20_254,
        }),
        ..Body::new(&network, id(0), 7, operations.collect())
    }
}

fn vectors() -> Vec<(String, Vec<u8>)> {
    let named = |(name, operation): (&str, Operation)| (name.to_owned(), operation.to_cbor());
    let mut all: Vec<_> = operations().into_iter().map(named).collect();
    let signing = UnsignedTransaction::of(body()).signing_bytes().to_vec();
    all.push(("body with all of these".to_owned(), signing));
    let digest = use_digest("prescription", &[4; 32]);
    all.push(("use of the handle".to_owned(), digest.to_vec()));
    all
}

fn written() -> String {
    let written: Vec<String> = vectors()
        .into_iter()
        .map(|(name, bytes)| format!("{name}: {}\n", hex_encode(&bytes)))
        .collect();
    let (head, _) = VECTORS.split_once("----\n").unwrap();
    [head, "----\n", &written.concat()].concat()
}

#[test]
fn each_operation_has_the_bytes_of_its_vector() {
    is_kept(FILE, &written());
}

#[test]
#[ignore = "writes the vector"]
fn write_the_vector_of_operations() {
    keep(FILE, &written());
}

#[test]
fn each_vector_reads_as_the_operation_it_is_of() {
    for (name, operation) in operations() {
        assert_eq!(
            Operation::from_cbor(&operation.to_cbor()).as_ref(),
            Ok(&operation),
            "{name}"
        );
    }
    assert_eq!(Body::from_cbor(&body().to_cbor()), Ok(body()));
}

#[test]
fn no_operation_reads_truncated_or_extended() {
    for (name, operation) in operations() {
        let bytes = operation.to_cbor();
        for length in 0..bytes.len() {
            assert!(Operation::from_cbor(&bytes[..length]).is_err(), "{name}");
        }
        assert!(Operation::from_cbor(&[&bytes[..], &[0]].concat()).is_err());
    }
}

proptest! {
    #[test]
    fn whatever_reads_as_an_operation_has_one_form(
        which in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let all = operations();
        let mut bytes = all[which.index(all.len())].1.to_cbor();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(operation) = Operation::from_cbor(&bytes) {
            prop_assert_eq!(operation.to_cbor(), bytes);
        }
    }
}
