//! Two operations with one context must not share randomness: all of their inputs enter the seed.

use dashu_int::ops::SquareRoot as _;
use dashu_int::{IBig, UBig};
use selfsame_bignum::Modulus;
use serde_json::{Value, json};

use super::*;
use crate::testing::{chosen, present, request};

fn number(part: &impl serde::Serialize, pointer: &str) -> UBig {
    let whole = serde_json::to_value(part).unwrap();
    let found = whole.pointer(pointer).and_then(Value::as_str);
    let found = found.unwrap_or_else(|| panic!("{pointer}"));
    found.parse().unwrap()
}

fn define(primes: &SafePrimes, issuer: &str, revocable: bool) -> CredentialDefinition {
    let world = World::legacy();
    let new = NewDefinition {
        schema_id: &world.schema_id,
        schema: &world.schema,
        issuer_id: &IssuerId::new(issuer).unwrap(),
        tag: "t",
        revocable,
    };
    let made = create_credential_definition(&new, primes, &ctx(3)).unwrap();
    made.definition
}

/// The number that leaves both remainders, if it is the square of a number below both moduli.
fn common_root(definitions: [&CredentialDefinition; 2]) -> Option<UBig> {
    let [n, m] = definitions.map(|one| &one.value.primary.n);
    let [s, t] = definitions.map(|one| IBig::from(one.value.primary.s.clone()));
    let modulus = Modulus::new(m).unwrap();
    let inverse = modulus
        .inverse(&modulus.element(&(n % m)).unwrap())
        .unwrap();
    let (wide, m) = (IBig::from(n.clone()), IBig::from(m.clone()));
    let times = ((t - &s) * IBig::from(modulus.integer(&inverse)) % &m + &m) % &m;
    let square: UBig = (s + wide * times).try_into().unwrap();
    let root = square.sqrt();
    (&root * &root == square).then_some(root)
}

#[test]
fn two_definitions_of_one_context_share_no_randomness() {
    let primes = ["legacy", "qualified"].map(|age| {
        let private: CredentialDefinitionPrivate = sample(&format!("{age}/cred_def_private.json"));
        SafePrimes::of(&private.value.p_key)
    });
    let first = define(&primes[0], "did:example:one", false);
    assert_eq!(first, define(&primes[0], "did:example:one", false));
    // S is the square of the first number that is drawn.
    for other in [
        define(&primes[0], "did:example:two", false),
        define(&primes[0], "did:example:one", true),
    ] {
        assert_ne!(other.value.primary.s, first.value.primary.s);
    }
    let other = define(&primes[1], "did:example:one", false);
    assert_eq!(common_root([&first, &other]), None);
}

/// The definition of the samples with another base for the context, which the proofs of the samples do not cover.
fn other_definition(world: &World) -> PreparedDefinition {
    let mut definition = world.definition().definition().clone();
    let primary = &mut definition.value.primary;
    primary.rctxt = &primary.n - &primary.rctxt;
    PreparedDefinition::new(definition).unwrap()
}

#[test]
fn requests_and_presentations_under_two_definitions_share_no_randomness() {
    let world = World::legacy();
    let (asked, other) = (ask(&world), other_definition(&world));
    let named = NamedSecret {
        secret: &asked.secret,
        name: "default",
    };
    let blinding = |definition: &PreparedDefinition| {
        let holder = Holder::Entropy("entropy");
        let made = create_credential_request(holder, named, definition, &asked.offer, &ctx(2));
        number(&made.unwrap().1, "/link_secret_blinding_data/v_prime")
    };
    assert_eq!(blinding(world.definition()), blinding(world.definition()));
    assert_ne!(blinding(world.definition()), blinding(&other));

    let credential: Credential = sample("legacy/credential_processed.json");
    let question = request(json!({ "requested_attributes": { "a": { "name": "name" } } }));
    let blinded = |definition| {
        let mut chosen = chosen(&world, &credential, &["+a"]);
        chosen.definition = definition;
        let made = present(&question, &[chosen]).unwrap();
        number(&made.proof, "/proofs/0/primary_proof/eq_proof/a_prime")
    };
    assert_eq!(blinded(world.definition()), blinded(world.definition()));
    assert_ne!(blinded(world.definition()), blinded(&other));
}

#[test]
fn credentials_of_two_registries_share_no_randomness() {
    let mut world = World::legacy();
    let asked = ask(&world);
    let e = |world: &World| {
        let issuance = Issuance {
            offer: &asked.offer,
            request: &asked.request,
            values: &values(),
            place: Some(place(world, 4)),
        };
        let issued = world.issuer.create_credential(&issuance, &ctx(3)).unwrap();
        number(&issued.signature, "/p_credential/e")
    };
    let first = e(&world);
    assert_eq!(e(&world), first);
    let registry = world.registry.as_mut().unwrap();
    registry.value.tails_location.push('x');
    assert_ne!(e(&world), first);
}
