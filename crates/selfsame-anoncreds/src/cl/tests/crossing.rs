//! Every message is exchanged between ours and the published implementation.

use std::collections::BTreeMap;

use super::parties::{CredentialDefinition, Issuance, Side};
use super::presenting::{Shown, nonce, predicate, present, request, verifies};
use super::*;

const SIDES: [Side; 2] = [Side::Ours, Side::Theirs];
const SECRET: &str =
    "98765432109876543210987654321098765432109876543210987654321098765432109876543";

fn some_values(definition: &CredentialDefinition) -> BTreeMap<String, String> {
    let values = ["28", "-175", "0", SECRET, "2147483647"];
    let names = definition.attributes().into_iter();
    names
        .zip(values.into_iter().cycle().map(str::to_owned))
        .collect()
}

#[test]
fn each_side_issues_what_the_other_requests_and_processes() {
    for definition in [
        CredentialDefinition::sample("legacy"),
        CredentialDefinition::made(&["one", "two", "three"], "crossing"),
    ] {
        let values = some_values(&definition);
        for holder in SIDES {
            for issuer in SIDES {
                let mut issuance =
                    Issuance::new(SECRET, &values, &format!("{holder:?} {issuer:?}"));
                issuance.request(holder, &definition).unwrap();
                issuance.issue(issuer, &definition).unwrap();
                let mut other = issuance.clone();
                issuance.process(Side::Ours, &definition).unwrap();
                other.process(Side::Theirs, &definition).unwrap();
                assert_eq!(issuance.signature, other.signature);
            }
        }
    }
}

/// A processed credential.
fn credential(
    definition: &CredentialDefinition,
    values: &BTreeMap<String, String>,
    label: &str,
) -> Issuance {
    let mut issuance = Issuance::new(SECRET, values, label);
    issuance.request(Side::Ours, definition).unwrap();
    issuance.issue(Side::Ours, definition).unwrap();
    issuance.process(Side::Ours, definition).unwrap();
    issuance
}

/// Presents from each side: both accept it, and ours refuses it for another nonce.
fn crosses(shown: &[Shown<'_>], label: &str) {
    let (right, wrong) = (nonce(label), nonce(&format!("{label} not")));
    for prover in SIDES {
        let proof = present(prover, shown, &right).unwrap();
        for verifier in SIDES {
            assert!(
                verifies(verifier, shown, &proof, &right),
                "{prover:?} {verifier:?} {label}"
            );
        }
        assert!(!verifies(Side::Ours, shown, &proof, &wrong));
    }
}

#[test]
fn each_side_verifies_what_the_other_reveals() {
    let definition = CredentialDefinition::sample("legacy");
    let issuance = credential(&definition, &some_values(&definition), "revealed");
    let names = definition.attributes();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for revealed in [&names[..0], &names[1..3], &names[..]] {
        let shown = [Shown {
            definition: &definition,
            issuance: &issuance,
            request: request(revealed, &[]),
        }];
        crosses(&shown, &format!("{revealed:?}"));
    }
}

#[test]
fn each_side_verifies_the_predicates_of_the_other() {
    use PredicateType::{Above, AtLeast, AtMost, Below};
    let definition = CredentialDefinition::sample("qualified");
    let values = BTreeMap::from([
        ("city".to_owned(), "28".to_owned()),
        ("points".to_owned(), "-2147483648".to_owned()),
    ]);
    let issuance = credential(&definition, &values, "predicates");
    for predicates in [
        vec![predicate("city", AtLeast, 28)],
        vec![
            predicate("city", Above, 27),
            predicate("city", AtMost, 2_000_000_000),
        ],
        vec![
            predicate("city", Below, 29),
            predicate("points", AtMost, -7),
        ],
        vec![
            predicate("points", AtLeast, i32::MIN),
            predicate("city", AtLeast, -5),
        ],
    ] {
        let shown = [Shown {
            definition: &definition,
            issuance: &issuance,
            request: request(&[], &predicates),
        }];
        crosses(&shown, &format!("{predicates:?}"));
    }
}

#[test]
fn each_side_verifies_two_credentials_of_one_holder() {
    let first = CredentialDefinition::sample("legacy");
    let second = CredentialDefinition::made(&["age", "city"], "second");
    let issued = [
        credential(&first, &some_values(&first), "first of two"),
        credential(&second, &some_values(&second), "second of two"),
    ];
    let shown = [
        Shown {
            definition: &first,
            issuance: &issued[0],
            request: request(&["name"], &[]),
        },
        Shown {
            definition: &second,
            issuance: &issued[1],
            request: request(&[], &[predicate("age", PredicateType::AtLeast, 18)]),
        },
    ];
    crosses(&shown, "two");
}

#[test]
fn what_does_not_hold_is_not_proven() {
    let definition = CredentialDefinition::sample("qualified");
    let values = some_values(&definition);
    let issuance = credential(&definition, &values, "unsatisfied");
    for request in [
        request(&[], &[predicate("city", PredicateType::AtLeast, 29)]),
        request(&["unknown"], &[]),
        request(&["city"], &[predicate("city", PredicateType::AtLeast, 18)]),
    ] {
        let shown = [Shown {
            definition: &definition,
            issuance: &issuance,
            request,
        }];
        assert!(present(Side::Ours, &shown, &nonce("unsatisfied")).is_err());
    }
}
