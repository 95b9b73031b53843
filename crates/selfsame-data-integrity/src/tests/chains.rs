//! Sets and chains of proofs (Data Integrity §2.1.1, §2.1.2).

use serde_json::{Value, json};

use super::{ed25519, keys_of, method_of, plain, signed};
use crate::{ChainError, Contexts, IntegrityError, PROOFS_MAX, ProofOptions, Secured};

/// A document with a proof for each entry: its identifier, and those that it builds on.
fn chain(proofs: &[(&str, &[&str])]) -> Value {
    let mut document = plain();
    for (at, (id, previous)) in proofs.iter().enumerate() {
        let key = ed25519(&[u8::try_from(at).unwrap() + 1; 32]);
        let method = method_of(&key);
        let options = ProofOptions {
            id: Some(id),
            previous,
            ..super::options(&method)
        };
        document = signed(document, &options, &key);
    }
    document.into()
}

fn verified(document: &Value) -> Vec<Result<(), IntegrityError>> {
    super::verified(document.clone())
}

const A: &str = "urn:example:a";
const B: &str = "urn:example:b";
const C: &str = "urn:example:c";

#[test]
fn the_proofs_of_a_set_hold_each_for_itself() {
    let mut set = chain(&[(A, &[]), (B, &[])]);
    assert_eq!(verified(&set), [Ok(()), Ok(())]);
    let removed = set["proof"].as_array_mut().unwrap().remove(0);
    assert_eq!(verified(&set), [Ok(())]);
    set["proof"] = removed;
    assert_eq!(verified(&set), [Ok(())]);
}

#[test]
fn a_proof_of_a_chain_signs_those_that_it_builds_on() {
    let document = chain(&[(A, &[]), (B, &[]), (C, &[A, B])]);
    assert_eq!(verified(&document), [Ok(()), Ok(()), Ok(())]);
    let mut reordered = document.clone();
    reordered["proof"].as_array_mut().unwrap().rotate_right(1);
    assert_eq!(verified(&reordered), [Ok(()), Ok(()), Ok(())]);
    let mut changed = document;
    changed["proof"][0]["nonce"] = "changed".into();
    let signature = Err(IntegrityError::Signature);
    let unverified = Err(IntegrityError::Chain(ChainError::Unverified));
    assert_eq!(verified(&changed), [signature, Ok(()), unverified]);
}

#[test]
fn a_proof_that_another_builds_on_cannot_be_exchanged() {
    let mut document = chain(&[(A, &[]), (B, &[A])]);
    let other = ed25519(&[9; 32]);
    let method = method_of(&other);
    let options = ProofOptions {
        id: Some(A),
        ..super::options(&method)
    };
    document["proof"][0] = signed(plain(), &options, &other)["proof"].clone();
    assert_eq!(
        verified(&document),
        [Ok(()), Err(IntegrityError::Signature)]
    );
}

#[test]
fn a_chain_that_is_not_whole_is_refused() {
    let refused = |change: fn(&mut Value)| {
        let mut document = chain(&[(A, &[]), (B, &[A]), (C, &[B])]);
        change(&mut document["proof"]);
        match Secured::of(document) {
            Err(IntegrityError::Chain(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    let dangling = refused(|proof| proof[1]["previousProof"] = "urn:example:none".into());
    assert_eq!(dangling, ChainError::Dangling);
    let itself = refused(|proof| proof[0]["previousProof"] = A.into());
    assert_eq!(itself, ChainError::Cycle);
    let circle = refused(|proof| proof[0]["previousProof"] = json!([C]));
    assert_eq!(circle, ChainError::Cycle);
    let ambiguous = refused(|proof| proof[2]["id"] = A.into());
    assert_eq!(ambiguous, ChainError::Ambiguous);
}

#[test]
fn a_new_proof_builds_on_proofs_that_are_there() {
    let key = ed25519(&[1; 32]);
    let method = method_of(&key);
    let options = ProofOptions {
        previous: &[A],
        ..super::options(&method)
    };
    let refused = super::prepared(plain(), &options, &key).unwrap_err();
    assert_eq!(refused, IntegrityError::Chain(ChainError::Dangling));
}

#[test]
fn the_number_of_proofs_is_bounded() {
    let ids: Vec<String> = (0..PROOFS_MAX)
        .map(|at| format!("urn:example:{at}"))
        .collect();
    let proofs: Vec<(&str, &[&str])> = ids.iter().map(|id| (id.as_str(), &[][..])).collect();
    let mut full = chain(&proofs);
    assert!(verified(&full).iter().all(Result::is_ok));
    let key = ed25519(&[1; 32]);
    let method = method_of(&key);
    let more = super::prepared(super::object(full.clone()), &super::options(&method), &key);
    assert_eq!(more.unwrap_err(), IntegrityError::TooMany("proof"));
    let again = full["proof"][0].clone();
    full["proof"].as_array_mut().unwrap().push(again);
    assert_eq!(
        Secured::of(full).unwrap_err(),
        IntegrityError::TooMany("proof")
    );
}

#[test]
fn a_proof_without_a_key_does_not_hold() {
    let secured = Secured::of(chain(&[(A, &[]), (B, &[A])])).unwrap();
    let mut keys = keys_of(&secured);
    keys[0] = None;
    let codes: Vec<_> = secured
        .verify(&keys, &Contexts::bundled())
        .into_iter()
        .map(|one| one.unwrap_err().code())
        .collect();
    assert_eq!(codes, ["integrity-unsupported", "integrity-chain"]);
    assert!(
        secured
            .verify(&[], &Contexts::bundled())
            .iter()
            .all(Result::is_err)
    );
}
