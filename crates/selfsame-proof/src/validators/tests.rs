//! The validator set: what it accepts, and when it reaches a quorum.

use super::*;
use proptest::prelude::*;
use selfsame_crypto::PrivateKey;

fn validator(name: &str, power: u64) -> Validator {
    let private = PrivateKey::generate(KeyType::Ed25519).unwrap();
    Validator {
        name: name.to_owned(),
        key: private.public().clone(),
        power,
        consensus: None,
    }
}

fn set(powers: &[u64]) -> ValidatorSet {
    let named = |(n, power): (usize, &u64)| validator(&format!("v{n}"), *power);
    ValidatorSet::new(powers.iter().enumerate().map(named).collect()).unwrap()
}

#[test]
fn a_quorum_is_more_than_two_thirds_of_the_power() {
    for (powers, least) in [
        (&[1][..], 1),
        (&[1, 1], 2),
        (&[1, 1, 1], 3),
        (&[1, 1, 1, 1], 3),
        (&[1; 7], 5),
        (&[10, 1, 1], 9),
        (&[MAX_POWER; MAX_VALIDATORS], MAX_POWER * 200 / 3 + 1),
    ] {
        let set = set(powers);
        assert!(set.is_quorum(least), "{powers:?}");
        assert!(!set.is_quorum(least - 1), "{powers:?}");
    }
}

#[test]
fn a_set_reads_back_whatever_the_order_it_was_made_in() {
    let mut validators = vec![validator("b", 2), validator("a", 1), validator("c", 3)];
    validators[0].consensus = Some(validator("x", 1).key);
    let set = ValidatorSet::new(validators).unwrap();
    let names: Vec<_> = set.validators().iter().map(|v| v.name.as_str()).collect();
    assert_eq!((names, set.power()), (vec!["a", "b", "c"], 6));
    assert_eq!(ValidatorSet::from_bytes(&set.to_bytes()), Ok(set));
}

#[test]
fn validators_sign_under_the_name_of_their_network() {
    let keys = set(&[1]).verifier_keys("registry.example/main").unwrap();
    assert_eq!(keys[0].name(), "registry.example/main/v0");
    assert!(set(&[1]).verifier_keys("with space").is_err());
}

#[test]
fn sets_that_could_be_counted_in_two_ways_are_refused() {
    let (a, b) = (validator("a", 1), validator("b", 1));
    let named = |name: &str| Validator {
        name: name.to_owned(),
        ..b.clone()
    };
    let keyed = |consensus: &Validator| Validator {
        consensus: Some(consensus.key.clone()),
        ..b.clone()
    };
    let p256 = PrivateKey::generate(KeyType::P256).unwrap();
    for bad in [
        vec![],
        vec![named("a"), a.clone()],
        vec![
            Validator {
                key: a.key.clone(),
                ..b.clone()
            },
            a.clone(),
        ],
        vec![
            keyed(&b),
            Validator {
                consensus: Some(b.key.clone()),
                ..a.clone()
            },
        ],
        vec![Validator {
            power: 0,
            ..a.clone()
        }],
        vec![Validator {
            power: MAX_POWER + 1,
            ..a.clone()
        }],
        vec![Validator {
            key: p256.public().clone(),
            ..a.clone()
        }],
        vec![Validator {
            consensus: Some(p256.public().clone()),
            ..a.clone()
        }],
        vec![named("")],
        vec![named("a/b")],
        vec![named("a b")],
        vec![named("ä")],
        vec![named(&"a".repeat(MAX_NAME_BYTES + 1))],
        (0..=MAX_VALIDATORS)
            .map(|n| validator(&format!("v{n}"), 1))
            .collect(),
    ] {
        assert!(ValidatorSet::new(bad.clone()).is_err(), "{bad:?}");
        let mut sorted = bad;
        sorted.sort_by(|a, b| a.name.cmp(&b.name));
        assert!(ValidatorSet::from_bytes(&ValidatorSet(sorted.into()).to_bytes()).is_err());
    }
    let unsorted = ValidatorSet([b, a].into());
    assert!(ValidatorSet::from_bytes(&unsorted.to_bytes()).is_err());
}

proptest! {
    #[test]
    fn any_bytes_are_a_set_in_one_form_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(set) = ValidatorSet::from_bytes(&bytes) {
            prop_assert_eq!(set.to_bytes(), bytes);
        }
    }
}
