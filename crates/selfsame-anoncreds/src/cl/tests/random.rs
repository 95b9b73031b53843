//! Random schemas, values and predicates, each step by a randomly chosen side: a few cases, or thousands by `cargo
//! xtask cross anoncreds --count N`.

use std::collections::BTreeMap;

#[path = "../../../tests/cross/dice.rs"]
mod dice;

use dashu_int::UBig;
use dice::Dice;

use super::parties::{CredentialDefinition, Issuance, Side};
use super::presenting::{Shown, nonce, predicate, present, request, verifies};
use super::*;
use crate::testing::told;

const SIDES: [Side; 2] = [Side::Ours, Side::Theirs];
/// The number of random cases that share their definitions.
const EACH: u64 = 20;

#[test]
fn both_implementations_accept_a_random_case_and_neither_accepts_another() {
    let mut definitions = [
        definition(&mut Dice::new(0), 0),
        definition(&mut Dice::new(1), 1),
    ];
    let cases = told::count(4);
    for seed in 0..cases {
        told::say("cases of the mathematics", seed, cases);
        let mut dice = Dice::new(seed);
        if seed > 0 && seed % EACH == 0 {
            definitions = [0, 1].map(|which| definition(&mut dice, 2 * seed + which));
        }
        let link_secret = UBig::from(dice.next()).pow(4).to_string();
        let count = 1 + dice.below(2);
        let issued: Vec<(Issuance, BTreeMap<String, i32>)> = definitions
            .iter()
            .take(count)
            .map(|definition| issue(&mut dice, definition, (&link_secret, seed)))
            .collect();
        let shown: Vec<Shown<'_>> = definitions
            .iter()
            .zip(&issued)
            .map(|(definition, (issuance, integers))| Shown {
                definition,
                issuance,
                request: ask(&mut dice, issuance, integers),
            })
            .collect();
        judge(&mut dice, &shown, seed);
    }
}

/// A definition of one to six attributes.
fn definition(dice: &mut Dice, number: u64) -> CredentialDefinition {
    let names = ["age", "name", "height", "score", "x", "group"];
    let first = dice.below(names.len());
    let count = 1 + dice.below(names.len());
    let chosen: Vec<&str> = names.into_iter().cycle().skip(first).take(count).collect();
    CredentialDefinition::made(&chosen, &format!("random definition {number}"))
}

/// A credential of random values, processed equally by both sides, and the values that predicates can be about.
fn issue(
    dice: &mut Dice,
    definition: &CredentialDefinition,
    (link_secret, seed): (&str, u64),
) -> (Issuance, BTreeMap<String, i32>) {
    let mut integers = BTreeMap::new();
    let mut values = BTreeMap::new();
    for name in definition.attributes() {
        let value = if dice.once_in(3) {
            (UBig::from(dice.next()).pow(4) >> dice.below(8)).to_string()
        } else {
            let integer = dice.integer();
            integers.insert(name.clone(), integer);
            integer.to_string()
        };
        values.insert(name, value);
    }
    let label = format!("random issuance {seed} of {:?}", definition.attributes());
    let mut issuance = Issuance::new(link_secret, &values, &label);
    issuance
        .request(*dice.pick(&SIDES), definition)
        .expect(&label);
    issuance
        .issue(*dice.pick(&SIDES), definition)
        .expect(&label);
    let mut other = issuance.clone();
    issuance.process(Side::Ours, definition).expect(&label);
    other.process(Side::Theirs, definition).expect(&label);
    assert_eq!(issuance.signature, other.signature, "{label}");
    (issuance, integers)
}

/// True statements about the credential: each attribute is revealed, compared, or left out.
fn ask(dice: &mut Dice, issuance: &Issuance, integers: &BTreeMap<String, i32>) -> SubProofRequest {
    let (mut revealed, mut predicates) = (Vec::new(), Vec::new());
    for name in issuance.values.keys() {
        match (dice.below(4), integers.get(name)) {
            (0, _) => revealed.push(name.as_str()),
            (1 | 2, Some(value)) => predicates.push(truth(dice, name, *value)),
            _ => {}
        }
    }
    request(&revealed, &predicates)
}

/// A predicate that holds, with a difference of at most 2^31 - 1.
fn truth(dice: &mut Dice, name: &str, value: i32) -> Predicate {
    let distance = dice.integer().saturating_abs() >> dice.below(31);
    let (kind, bound) = match dice.below(4) {
        0 => (PredicateType::AtLeast, value.checked_sub(distance)),
        1 => (PredicateType::AtMost, value.checked_add(distance)),
        2 => (PredicateType::Above, below(value, distance)),
        _ => (PredicateType::Below, above(value, distance)),
    };
    match bound {
        Some(bound) => predicate(name, kind, bound),
        None => predicate(name, PredicateType::AtMost, value),
    }
}

fn below(value: i32, distance: i32) -> Option<i32> {
    value.checked_sub(distance)?.checked_sub(1)
}

fn above(value: i32, distance: i32) -> Option<i32> {
    value.checked_add(distance)?.checked_add(1)
}

/// One side presents, both accept; both refuse another nonce, and the proof with a changed number.
fn judge(dice: &mut Dice, shown: &[Shown<'_>], seed: u64) {
    let prover = *dice.pick(&SIDES);
    let (right, wrong) = (nonce(&format!("{seed}")), nonce(&format!("{seed} not")));
    let proof = present(prover, shown, &right).expect("a proof of what is true");
    let altered = altered(dice, &proof);
    for verifier in SIDES {
        let story = format!("{prover:?} {verifier:?} seed {seed}");
        assert!(verifies(verifier, shown, &proof, &right), "{story}");
    }
    let story = format!("{prover:?} seed {seed}");
    for (proof, nonce) in [(&proof, &wrong), (&altered, &right)] {
        assert!(!verifies(Side::Ours, shown, proof, nonce), "{story}");
    }
}

/// The proof with one number of its equality proof changed.
fn altered(dice: &mut Dice, proof: &Value) -> Value {
    let mut altered = proof.clone();
    let part = &mut altered["proofs"][0]["primary_proof"]["eq_proof"];
    let number = &mut part[*dice.pick(&["a_prime", "e", "v", "m2"])];
    let text = number.as_str().expect("a number in decimals");
    let more = text.parse::<UBig>().expect("a number") + UBig::ONE;
    *number = Value::String(more.to_string());
    altered
}
