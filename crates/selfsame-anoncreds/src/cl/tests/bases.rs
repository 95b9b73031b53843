//! The proof that all bases of a key are powers of S, and bases that are not.

use std::collections::BTreeSet;

use dashu_int::UBig;
use selfsame_bignum::{Base, FixedBase, Secret, SecretTerm};
use serde_json::{Value, json};

use super::parties::{CredentialDefinition, Issuance, Side, random, read, write};
use super::powers_data::PowersProof;
use super::*;
use crate::Error;

fn made() -> Definition {
    let primes = SafePrimes::of(&read(&CredentialDefinition::sample("qualified").private).unwrap());
    let attributes: BTreeSet<String> = ["age", "name"].map(str::to_owned).into();
    generate(&attributes, &primes, &mut random("bases")).unwrap()
}

fn refusal(public: &PrimaryPublicKey, proof: &KeyCorrectnessProof) -> Option<Error> {
    let key = CredentialKey::new(public).unwrap();
    key.check_correctness(proof).err()
}

const DOES_NOT_HOLD: Error =
    Error::Issuer("the proof that all bases are powers of S does not hold");

/// S, powers of it for Z, Rctxt, the link secret and an attribute, and the exponents in the order of the proof. The
/// bases in `stray` have the opposite sign: powers of S times an element of order two that is not a power of S.
fn key_of(stray: &[&str], label: &str) -> (PrimaryPublicKey, Vec<Secret>) {
    let sample: PrimaryPublicKey =
        read(&CredentialDefinition::sample("qualified").primary).unwrap();
    let mut random = random(label);
    let key = CredentialKey::new(&sample).unwrap();
    let names = ["z", "rctxt", "city", LINK_SECRET];
    let exponents = names.map(|_| random.secret(2_000));
    let power = |name: &str, exponent: &Secret| {
        let power = key.modulus().secret_power(&[SecretTerm {
            base: key.in_use().s(),
            exponent,
        }]);
        let power = key.modulus().integer(&power);
        match stray.contains(&name) {
            true => &sample.n - power,
            false => power,
        }
    };
    let of = |place: usize| power(names[place], &exponents[place]);
    let public = PrimaryPublicKey {
        z: of(0),
        rctxt: of(1),
        r: [2, 3]
            .map(|place| (names[place].to_owned(), of(place)))
            .into(),
        ..sample.clone()
    };
    (public, exponents.into())
}

/// The proof about all bases that the maker of such a key can attempt, with S to any exponent.
fn tried(public: &PrimaryPublicKey, exponents: &[Secret], label: &str) -> PowersProof {
    let key = CredentialKey::new(public).unwrap();
    let s = key.modulus().element(&public.s).unwrap();
    let table = FixedBase::new_all(key.modulus(), &[(&s, 2_200)]).remove(0);
    let power = |exponent: &Secret| {
        let base = Base::Fixed(&table);
        let power = key.modulus().secret_power(&[SecretTerm { base, exponent }]);
        key.modulus().integer(&power)
    };
    let exponents: Vec<&Secret> = exponents.iter().collect();
    PowersProof::prove(public, &exponents, &power, &mut random(label))
}

fn check(public: &PrimaryPublicKey, proof: &PowersProof) -> Result<(), Error> {
    let key = CredentialKey::new(public).unwrap();
    proof.check(key.untouched(), public)
}

#[test]
fn our_keys_come_with_a_proof_about_all_bases_which_holders_check() {
    let made = made();
    let key = CredentialKey::new(&made.public).unwrap();
    assert!(!key.all_bases_are_proven());
    key.check_correctness(&made.proof).unwrap();
    assert!(key.all_bases_are_proven());
    let again: KeyCorrectnessProof = read(&write(&made.proof)).unwrap();
    assert_eq!(again, made.proof);
    // A little more than a bit of the modulus for each of 128 rounds, in base64url.
    assert!(
        (45_000..46_000).contains(&write(&again)["powers_of_s"]["responses"].to_string().len())
    );

    let without = KeyCorrectnessProof {
        powers_of_s: None,
        ..made.proof.clone()
    };
    let key = CredentialKey::new(&made.public).unwrap();
    key.check_correctness(&without).unwrap();
    assert!(!key.all_bases_are_proven());
    // A part that comes later is checked, although the specification's part was verified before.
    key.check_correctness(&made.proof).unwrap();
    assert!(key.all_bases_are_proven());
}

#[test]
fn a_proof_about_all_bases_that_does_not_hold_is_refused() {
    let made = made();
    let mut proof = made.proof.clone();
    let others = generate(
        &["age", "name"].map(str::to_owned).into(),
        &SafePrimes::of(&made.private),
        &mut random("other bases"),
    );
    proof.powers_of_s = others.unwrap().proof.powers_of_s;
    assert_eq!(refusal(&made.public, &proof), Some(DOES_NOT_HOLD));
    // Also refused after a good proof was verified.
    let key = CredentialKey::new(&made.public).unwrap();
    key.check_correctness(&made.proof).unwrap();
    assert_eq!(key.check_correctness(&proof), Err(DOES_NOT_HOLD));
    // The specification's part does not cover Rctxt; this one does.
    let mut marked = made.public.clone();
    marked.rctxt = &marked.n - &marked.rctxt;
    assert_eq!(refusal(&marked, &made.proof), Some(DOES_NOT_HOLD));
    let usual = KeyCorrectnessProof {
        powers_of_s: None,
        ..made.proof
    };
    assert_eq!(refusal(&marked, &usual), None);
}

#[test]
fn who_knows_all_exponents_cannot_prove_a_base_that_is_no_power_of_s() {
    let (public, exponents) = key_of(&[], "honest");
    let proof = tried(&public, &exponents, "honest");
    assert_eq!(check(&public, &proof), Ok(()));
    for stray in [
        &["z"][..],
        &["rctxt"],
        &["city"],
        &[LINK_SECRET],
        &["city", "rctxt"],
    ] {
        let (public, exponents) = key_of(stray, "stray");
        let proof = tried(&public, &exponents, "stray");
        assert_eq!(check(&public, &proof), Err(DOES_NOT_HOLD), "{stray:?}");
    }
}

/// The specification's part accepts this in every other attempt: -R answers an even challenge as R does.
#[test]
fn a_base_times_an_element_of_order_two_is_found_by_the_proof_about_all_bases_alone() {
    let (public, exponents) = key_of(&["city"], "order two");
    let key = CredentialKey::new(&public).unwrap();
    let modulus = key.modulus();
    let usual = |label: &str| {
        let mut random = random(label);
        let s = modulus.element(&public.s).unwrap();
        let masks = [(); 3].map(|()| random.secret(2_300));
        let commitments = masks.each_ref().map(|exponent| {
            let base = Base::Variable(&s);
            modulus.integer(&modulus.secret_power(&[SecretTerm { base, exponent }]))
        });
        let bases = [&public.z, &public.r["city"], &public.r[LINK_SECRET]];
        let c = challenge::over(bases.into_iter().chain(&commitments));
        let [z, city, link] = [0, 2, 3].map(|place| exponents[place].mul_public(&c));
        let respond = |secret: Secret, mask| number::revealed(secret.add(mask));
        KeyCorrectnessProof {
            xz_cap: respond(z, &masks[0]),
            xr_cap: vec![
                ("city".to_owned(), respond(city, &masks[1])),
                (LINK_SECRET.to_owned(), respond(link, &masks[2])),
            ],
            c,
            powers_of_s: None,
            safe_primes: None,
            published: None,
        }
    };
    let attempts: Vec<KeyCorrectnessProof> = (0..12).map(|i| usual(&format!("{i}"))).collect();
    let passing = attempts
        .iter()
        .find(|proof| key.check_correctness(proof).is_ok());
    let mut passing = passing.expect("one of twelve").clone();
    passing.powers_of_s = Some(tried(&public, &exponents, "order two"));
    assert_eq!(refusal(&public, &passing), Some(DOES_NOT_HOLD));
}

#[test]
fn a_proof_about_all_bases_of_another_form_is_refused() {
    let made = made();
    let whole = write(&made.proof);
    let with = |member: &str, value: Value| {
        let mut altered = whole.clone();
        altered["powers_of_s"][member] = value;
        read::<KeyCorrectnessProof>(&altered)
    };
    assert!(with("more", json!("1")).is_err());
    assert!(with("c", json!("01")).is_err());
    let text = whole["powers_of_s"]["responses"].as_str().unwrap();
    for responses in [
        json!(null),
        json!("="),
        json!("A".repeat(45_744)),
        json!([1, 2]),
    ] {
        assert!(with("responses", responses).is_err());
    }
    let length = Error::Issuer("the proof about all bases has another length");
    for responses in ["", &text[..40_000]] {
        let proof = with("responses", json!(responses)).unwrap();
        assert_eq!(refusal(&made.public, &proof), Some(length.clone()));
    }
    let long = (UBig::ONE << 256_usize).to_string();
    let proof = with("c", json!(long)).unwrap();
    assert_eq!(refusal(&made.public, &proof), Some(length));
    let changed = text.replacen(
        &text[100..101],
        if &text[100..101] == "A" { "B" } else { "A" },
        1,
    );
    let proof = with("responses", json!(changed)).unwrap();
    assert_eq!(refusal(&made.public, &proof), Some(DOES_NOT_HOLD));
    // Later versions may prove more: unknown members are ignored.
    let mut altered = whole.clone();
    altered["more"] = json!({ "proven": "yes" });
    assert_eq!(read::<KeyCorrectnessProof>(&altered), Ok(made.proof));
}

#[test]
fn the_published_library_uses_a_key_with_the_proof_as_any() {
    let definition = CredentialDefinition::made(&["age", "name"], "with a proof");
    assert!(definition.correctness["powers_of_s"].is_object());
    let values = [("age", "28"), ("name", "5")];
    let values = values
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    let mut issuance = Issuance::new("4711", &values, "with a proof");
    issuance.request(Side::Theirs, &definition).unwrap();
    issuance.issue(Side::Ours, &definition).unwrap();
    issuance.process(Side::Theirs, &definition).unwrap();
}
