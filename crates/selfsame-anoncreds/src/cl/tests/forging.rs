//! Forged proofs: the parts of an honest prover with one deviation each, and the reason for each refusal.

use std::collections::{BTreeMap, BTreeSet};

use dashu_int::{IBig, UBig};
use selfsame_bignum::{Base, Element, Secret, Term};

use super::parties::{CredentialDefinition, Issuance, Side, random, read, values, write};
use super::presenting::{nonce, predicate, request};
use super::proof_data::PrimaryProof;
use super::*;
use crate::Error;

/// A definition, and a processed credential of it for a holder aged 17.
struct Credential {
    key: CredentialKey,
    values: Values,
    signature: PrimaryCredentialSignature,
    link_secret: LinkSecret,
}

fn credential(link_secret: &str) -> Credential {
    let definition = CredentialDefinition::sample("qualified");
    let json = BTreeMap::from([
        ("city".to_owned(), "17".to_owned()),
        ("points".to_owned(), "1".to_owned()),
    ]);
    let mut issuance = Issuance::new(link_secret, &json, &format!("forging {link_secret}"));
    issuance.request(Side::Ours, &definition).unwrap();
    issuance.issue(Side::Ours, &definition).unwrap();
    issuance.process(Side::Ours, &definition).unwrap();
    let signature: CredentialSignature = read(&issuance.signature).unwrap();
    Credential {
        key: definition.key(),
        values: values(&json),
        signature: signature.p_credential,
        link_secret: LinkSecret::from_decimal(link_secret).unwrap(),
    }
}

/// One credential in a proof: the statements about it, and the numbers that its predicates are about, if not the signed
/// ones.
struct Part<'a> {
    of: &'a Credential,
    proves: SubProofRequest,
    claims: Option<u32>,
}

impl<'a> Part<'a> {
    fn new(of: &'a Credential, revealed: &[&str], predicates: &[Predicate]) -> Self {
        Self {
            of,
            proves: request(revealed, predicates),
            claims: None,
        }
    }
}

/// Proves any parts. `list` may change the values that the verifier will see before they are hashed.
fn prove(parts: &[Part<'_>], list: impl FnOnce(&mut Vec<Vec<u8>>)) -> Proof {
    let mut random = random("forger");
    let link_mask = random.secret(592);
    let (mut t_values, mut c_list, mut pending) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let held = Held {
            key: &part.of.key,
            signature: &part.of.signature,
            values: &part.of.values,
        };
        let context = equality::ContextMask::new(&mut random);
        let shared = equality::SharedMasks {
            link: &link_mask,
            context: &context,
        };
        let (key, revealed) = (part.of.key.in_use(), &part.proves.revealed);
        let equality =
            equality::EqualityCommitment::new(&held, key, revealed, &shared, &mut random);
        let equality = equality.unwrap();
        t_values.push(challenge::bytes(equality.t()));
        c_list.push(challenge::bytes(equality.a_prime()));
        let mut predicates = Vec::new();
        for asked in &part.proves.predicates {
            let claimed = part.claims.map(IBig::from);
            let value = claimed.as_ref().unwrap_or(&held.values[&asked.attr_name]);
            let mask = match part.claims {
                Some(_) => random.secret(592),
                None => equality.mask(&asked.attr_name).unwrap().clone(),
            };
            let made = predicate::PredicateCommitment::new(key, asked, value, &mask, &mut random);
            let made = made.unwrap();
            t_values.extend(made.t_values().iter().map(challenge::bytes));
            c_list.extend(made.c_values().iter().map(challenge::bytes));
            predicates.push((asked.attr_name.clone(), made, mask));
        }
        pending.push((part, held, equality, predicates));
    }
    list(&mut c_list);
    let c_hash = prover::joint(&t_values, &c_list, &nonce("forging"));
    let proofs = pending.into_iter().map(|(part, held, equality, made)| {
        let eq_proof = equality.respond(&held, &part.of.link_secret, &c_hash);
        let predicate_proofs = made.into_iter().map(|(name, made, mask)| {
            let mj = match part.claims {
                Some(claimed) => {
                    let claimed = Secret::from_public(&claimed.into(), 256);
                    number::revealed(claimed.mul_public(&c_hash).add(&mask))
                }
                None => eq_proof.m[&name].clone(),
            };
            made.respond(mj, &c_hash)
        });
        SubProof {
            primary_proof: PrimaryProof {
                predicate_proofs: predicate_proofs.collect(),
                eq_proof,
            },
            non_revoc_proof: None,
        }
    });
    Proof {
        proofs: proofs.collect(),
        aggregated_proof: AggregatedProof { c_hash, c_list },
    }
}

/// The result of a verifier that asked for this of each part.
fn verdict(parts: &[Part<'_>], asked: &[SubProofRequest], proof: &Proof) -> Result<(), Error> {
    let both = parts.iter().zip(asked);
    let expected: Vec<Expected<'_>> = both
        .map(|(part, request)| Expected {
            key: &part.of.key,
            request,
            registry: None,
        })
        .collect();
    let read: Proof = read(&write(proof)).unwrap();
    verify(&expected, &read, &nonce("forging"))
}

fn at_least(bound: i32) -> Predicate {
    predicate("city", PredicateType::AtLeast, bound)
}

const ANOTHER_CHALLENGE: Error = Error::Proof("its challenge is another");
const OTHER_PREDICATES: Error = Error::Proof("it proves other predicates than asked for");

#[test]
fn the_same_prover_without_deviation_is_believed() {
    let [alice, other] = [credential("4711"), credential("4711")];
    let parts = [
        Part::new(&alice, &["points"], &[at_least(17), at_least(-5)]),
        Part::new(&other, &[], &[]),
    ];
    let asked = parts.each_ref().map(|part| part.proves.clone());
    assert_eq!(verdict(&parts, &asked, &prove(&parts, |_| ())), Ok(()));
}

/// The proof about 99 is beside the equality proof of a credential that says 17: only the response `mj` shows that the
/// two are not about one number.
#[test]
fn a_predicate_about_another_number_than_the_signed_one_is_refused() {
    let alice = credential("4711");
    let mut part = Part::new(&alice, &[], &[at_least(18)]);
    part.claims = Some(99);
    let (parts, asked) = ([part], [request(&[], &[at_least(18)])]);
    let mut forged = prove(&parts, |_| ());
    let untied = Error::Proof("a predicate is not about its attribute");
    assert_eq!(verdict(&parts, &asked, &forged), Err(untied));
    // The response that would fit is refused too.
    let primary = &mut forged.proofs[0].primary_proof;
    primary.predicate_proofs[0].mj = primary.eq_proof.m["city"].clone();
    assert_eq!(verdict(&parts, &asked, &forged), Err(ANOTHER_CHALLENGE));
}

#[test]
fn another_predicate_than_asked_for_or_none_is_refused() {
    let alice = credential("4711");
    let asked = [request(&[], &[at_least(18)])];
    let at_most = predicate("city", PredicateType::AtMost, 18);
    let of_another = predicate("points", PredicateType::AtLeast, 1);
    for (what, proven) in [
        ("another bound", vec![at_least(1)]),
        ("another comparison", vec![at_most]),
        ("another attribute", vec![of_another]),
        ("none", vec![]),
        ("one too many", vec![at_least(1), at_least(2)]),
    ] {
        let parts = [Part::new(&alice, &[], &proven)];
        let mut forged = prove(&parts, |_| ());
        let refused = verdict(&parts, &asked, &forged);
        assert_eq!(refused, Err(OTHER_PREDICATES), "{what}");
        // Renamed to the requested attribute.
        let predicates = &mut forged.proofs[0].primary_proof.predicate_proofs;
        if let [only] = predicates.as_mut_slice()
            && only.predicate.attr_name == "city"
        {
            only.predicate = at_least(18);
            let refused = verdict(&parts, &asked, &forged);
            assert_eq!(refused, Err(ANOTHER_CHALLENGE), "{what}");
        }
    }
}

#[test]
fn blinded_values_that_are_not_those_hashed_are_refused() {
    let alice = credential("4711");
    let parts = [Part::new(&alice, &[], &[at_least(1)])];
    let asked = [request(&[], &[at_least(1)])];
    let another_list = Error::Proof("the list of blinded values is not that of the sub-proofs");
    let noise = |list: &mut Vec<Vec<u8>>| {
        let mut random = random("noise");
        for bytes in list {
            random.fill(bytes);
        }
    };
    let forged = prove(&parts, noise);
    assert_eq!(verdict(&parts, &asked, &forged), Err(another_list.clone()));
    let forged = prove(&parts, |list| drop(list.pop()));
    assert_eq!(verdict(&parts, &asked, &forged), Err(another_list.clone()));
    let forged = prove(&parts, |list| list.push(vec![7]));
    assert_eq!(verdict(&parts, &asked, &forged), Err(another_list));
}

#[test]
fn another_exponent_for_the_same_a_is_refused() {
    let mut alice = credential("4711");
    alice.signature.e = &alice.signature.e + UBig::from(14_u8);
    let parts = [Part::new(&alice, &["points"], &[])];
    let asked = [request(&["points"], &[])];
    let forged = prove(&parts, |_| ());
    assert_eq!(verdict(&parts, &asked, &forged), Err(ANOTHER_CHALLENGE));
}

#[test]
fn the_credentials_of_two_holders_make_no_presentation_together() {
    let [alice, bob] = [credential("4711"), credential("4712")];
    let parts = [
        Part::new(&alice, &["points"], &[]),
        Part::new(&bob, &["city"], &[]),
    ];
    let asked = parts.each_ref().map(|part| part.proves.clone());
    let mut forged = prove(&parts, |_| ());
    let two = Error::Proof("the credentials have different link secrets");
    assert_eq!(verdict(&parts, &asked, &forged), Err(two));
    // Refused too if one answers with the other's secret.
    let [first, second] = forged.proofs.as_mut_slice() else {
        panic!("two parts")
    };
    let of = |part: &mut SubProof| part.primary_proof.eq_proof.m[LINK_SECRET].clone();
    let (of_alice, of_bob) = (of(first), of(second));
    assert_ne!(of_alice, of_bob);
    let place = second.primary_proof.eq_proof.m.get_mut(LINK_SECRET);
    *place.unwrap() = of_alice;
    assert_eq!(verdict(&parts, &asked, &forged), Err(ANOTHER_CHALLENGE));
}

/// The product of powers modulo n, for public exponents.
fn power(key: &CredentialKey, factors: &[(Element, IBig)]) -> Element {
    let terms: Vec<Term<'_>> = factors
        .iter()
        .map(|(base, exponent)| Term {
            base: Base::Variable(base),
            exponent,
        })
        .collect();
    key.modulus().power(&terms).unwrap()
}

/// A proof without any credential. With 1 for e it needs no root: A' = Z / (S^v · Rctxt^m₂ · ∏ R^m). The response for
/// e - 2^596 is then mask - c·(2^596 - 1), and is not negative if the mask has 857 bits.
fn without_credential(key: &CredentialKey, mask_bits: usize) -> (UBig, IBig, Proof) {
    let public = key.public();
    let element = |number: &UBig| key.modulus().element(number).unwrap();
    let mut random = random("without a credential");
    let claimed = [("city", 99_u32), ("points", 1_000_000), (LINK_SECRET, 4711)];
    let mut bases = vec![(
        element(&public.s),
        random.integer(2_724),
        random.integer(3_060),
    )];
    bases.push((
        element(&public.rctxt),
        random.integer(256),
        random.integer(2_432),
    ));
    for (name, value) in claimed {
        let mask = random.integer(592);
        bases.push((element(&public.r[name]), value.into(), mask));
    }
    let secrets = bases
        .iter()
        .map(|(base, secret, _)| (base.clone(), -IBig::from(secret.clone())));
    let of_z = [(element(&public.z), IBig::ONE)].into_iter();
    let a_prime = power(key, &of_z.chain(secrets).collect::<Vec<_>>());
    let e_mask = random.integer(mask_bits);
    let masks = bases
        .iter()
        .map(|(base, _, mask)| (base.clone(), IBig::from(mask.clone())));
    let of_a = [(a_prime.clone(), IBig::from(e_mask.clone()))].into_iter();
    let t = power(key, &of_a.chain(masks).collect::<Vec<_>>());
    let [a_prime, t] = [a_prime, t].map(|element| key.modulus().integer(&element));
    let c_list = vec![challenge::bytes(&a_prime)];
    let c = prover::joint(&[challenge::bytes(&t)], &c_list, &nonce("forging"));
    let e = IBig::from(e_mask) - IBig::from(&c * ((UBig::ONE << 596_usize) - UBig::ONE));
    let responses: Vec<UBig> = bases
        .iter()
        .map(|(_, secret, mask)| &c * secret + mask)
        .collect();
    let m = claimed.iter().zip(&responses[2..]);
    let eq_proof = EqualityProof {
        revealed_attrs: BTreeMap::new(),
        a_prime,
        e: e.clone().into_parts().1,
        v: responses[0].clone(),
        m: m.map(|((name, _), response)| ((*name).to_owned(), response.clone()))
            .collect(),
        m2: responses[1].clone(),
    };
    let proof = Proof {
        proofs: vec![SubProof {
            primary_proof: PrimaryProof {
                eq_proof,
                predicate_proofs: Vec::new(),
            },
            non_revoc_proof: None,
        }],
        aggregated_proof: AggregatedProof { c_hash: c, c_list },
    };
    (t, e, proof)
}

#[test]
fn a_proof_without_any_credential_is_refused_by_the_length_of_one_response() {
    let key = CredentialDefinition::sample("qualified").key();
    let asked = request(&[], &[]);
    let expected = [Expected {
        key: &key,
        request: &asked,
        registry: None,
    }];
    let (t, e, forged) = without_credential(&key, 857);
    assert!(e > IBig::ZERO);
    let too_long = Err(Error::Proof("a number is too long"));
    assert_eq!(verify(&expected, &forged, &nonce("forging")), too_long);
    // The rest of the proof is correct: T is recomputed as it was hashed.
    let proof = &forged.proofs[0].primary_proof.eq_proof;
    let a_prime = key.modulus().element(&proof.a_prime).unwrap();
    let c = &forged.aggregated_proof.c_hash;
    let factors = equality::t_value(key.in_use(), proof, &a_prime, c).unwrap();
    let terms: Vec<Term<'_>> = factors
        .iter()
        .map(|(base, exponent)| Term {
            base: *base,
            exponent,
        })
        .collect();
    let found = key.modulus().power(&terms).unwrap();
    assert_eq!(key.modulus().integer(&found), t);
}

#[test]
fn a_proof_without_any_credential_is_refused_with_a_negative_response() {
    let key = CredentialDefinition::sample("qualified").key();
    let asked = request(&[], &[]);
    let expected = [Expected {
        key: &key,
        request: &asked,
        registry: None,
    }];
    // With a mask as short as an honest one the response is negative, which no message can hold.
    let (_, e, forged) = without_credential(&key, 456);
    assert!(e < IBig::ZERO);
    let mut json = write(&forged);
    let place = json
        .pointer_mut("/proofs/0/primary_proof/eq_proof/e")
        .unwrap();
    *place = e.to_string().into();
    assert!(read::<Proof>(&json).is_err());
    // Its magnitude is too long, and so are numbers equal to it modulo a power of two.
    let too_long = Err(Error::Proof("a number is too long"));
    assert_eq!(verify(&expected, &forged, &nonce("forging")), too_long);
}

#[test]
fn revealing_another_value_or_fewer_attributes_is_refused() {
    let alice = credential("4711");
    let parts = [Part::new(&alice, &["points"], &[])];
    let mut forged = prove(&parts, |_| ());
    let both: BTreeSet<String> = ["city", "points"].map(str::to_owned).into();
    let asked = [SubProofRequest {
        revealed: both,
        predicates: BTreeSet::new(),
    }];
    let others = Error::Proof("it reveals other attributes than asked for");
    assert_eq!(verdict(&parts, &asked, &forged), Err(others));
    let revealed = &mut forged.proofs[0].primary_proof.eq_proof.revealed_attrs;
    revealed.insert("points".to_owned(), IBig::from(2));
    let asked = [request(&["points"], &[])];
    assert_eq!(verdict(&parts, &asked, &forged), Err(ANOTHER_CHALLENGE));
}
