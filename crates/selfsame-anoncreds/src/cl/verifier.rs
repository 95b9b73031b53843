//! Verification of a presentation's proof, after all its numbers have been checked.

use std::collections::BTreeSet;

use dashu_int::{UBig, ops::Gcd as _};
use selfsame_bignum::pairing::Scalar;
use selfsame_bignum::{Element, Modulus, Term};

use super::equality::Product;
use super::key::CredentialKey;
use super::key_data::LINK_SECRET;
use super::messages::Nonce;
use super::proof_data::{EqualityProof, Predicate, PredicateProof, Proof, SubProof};
use super::prover::{SubProofRequest, joint};
use super::revocation::RegistryData;
use super::{bounds, challenge, equality, predicate};
use crate::Error;

/// What a verifier expects of one sub-proof.
#[derive(Clone, Copy)]
pub(crate) struct Expected<'a> {
    /// The credential definition's key.
    pub(crate) key: &'a CredentialKey,
    /// The requested attributes and predicates.
    pub(crate) request: &'a SubProofRequest,
    /// The registry's state, if non-revocation must be proven.
    pub(crate) registry: Option<RegistryData<'a>>,
}

/// Verifies a proof: `expected` has one entry for each sub-proof, in order; `nonce` is the presentation request's.
/// (AnonCreds v1.0, "Verify Validity Proofs" and "Verify Non-Revocation Proof".)
///
/// # Errors
/// [`Error::Proof`] with the reason.
pub(crate) fn verify(expected: &[Expected<'_>], proof: &Proof, nonce: &Nonce) -> Result<(), Error> {
    check_shape(expected, proof)?;
    let c = &proof.aggregated_proof.c_hash;
    let parts = || expected.iter().zip(&proof.proofs);
    // All cheap checks come before any expensive computation.
    let elements: Vec<Vec<Element>> = parts()
        .map(|(expected, part)| elements(expected.key.modulus(), part))
        .collect::<Result<_, _>>()?;
    let scalar = Scalar::from_public(c);
    let mut t_values = Vec::new();
    for ((expected, part), elements) in parts().zip(&elements) {
        if let (Some(registry), Some(proof)) = (&expected.registry, &part.non_revoc_proof) {
            let m2 = Scalar::from_public(&part.primary_proof.eq_proof.m2);
            t_values.extend(proof.t_values(registry, &scalar, &m2)?);
        }
        let primary = primary_t_values(expected.key, part, elements, c)?;
        t_values.extend(primary.iter().map(challenge::bytes));
    }
    if joint(&t_values, &proof.aggregated_proof.c_list, nonce) != *c {
        return Err(Error::Proof("its challenge is another"));
    }
    Ok(())
}

/// T of the equality proof, and six T values for each predicate.
fn primary_t_values(
    key: &CredentialKey,
    part: &SubProof,
    elements: &[Element],
    c: &UBig,
) -> Result<Vec<UBig>, Error> {
    let used = key.in_use();
    let primary = &part.primary_proof;
    if !primary.predicate_proofs.is_empty() {
        used.expect_predicates();
    }
    let [a_prime, of_predicates @ ..] = elements else {
        return Err(Error::Proof("it has no A'"));
    };
    let mut products = vec![equality::t_value(used, &primary.eq_proof, a_prime, c)?];
    for (proof, t) in primary.predicate_proofs.iter().zip(of_predicates.chunks(5)) {
        products.extend(predicate::t_values(used, proof, t, c)?);
    }
    powers(used.modulus(), &products)
}

/// Computes all products together.
fn powers(modulus: &Modulus, products: &[Product<'_>]) -> Result<Vec<UBig>, Error> {
    let terms: Vec<Vec<Term<'_>>> = products
        .iter()
        .map(|factors| {
            let terms = factors.iter().map(|(base, exponent)| Term {
                base: *base,
                exponent,
            });
            terms.collect()
        })
        .collect();
    let groups: Vec<&[Term<'_>]> = terms.iter().map(Vec::as_slice).collect();
    let powers = modulus.powers(&groups)?;
    Ok(powers.iter().map(|power| modulus.integer(power)).collect())
}

/// The blinded values of a sub-proof, each checked to be in range and coprime to the modulus.
fn elements(modulus: &Modulus, part: &SubProof) -> Result<Vec<Element>, Error> {
    let elements = blinded(part)
        .map(|number| modulus.element(number))
        .collect::<Result<Vec<Element>, _>>()
        .map_err(|_| Error::Proof("a blinded value is out of range"))?;
    check_coprime(modulus, &elements)?;
    Ok(elements)
}

/// Checks that no blinded value shares a factor with the modulus, by way of their product.
fn check_coprime(modulus: &Modulus, elements: &[Element]) -> Result<(), Error> {
    let product = elements.iter().fold(modulus.one(), |product, element| {
        modulus.product(&product, element)
    });
    if !modulus.integer(&product).gcd(modulus.value()).is_one() {
        return Err(Error::Proof(
            "a blinded value is not coprime to the modulus",
        ));
    }
    Ok(())
}

/// A', and for each predicate T₀, T₁, T₂, T₃, T_Δ.
fn blinded(part: &SubProof) -> impl Iterator<Item = &UBig> {
    let primary = &part.primary_proof;
    let of_predicates = primary
        .predicate_proofs
        .iter()
        .flat_map(|proof| proof.t.squares.iter().chain([&proof.t.delta]));
    std::iter::once(&primary.eq_proof.a_prime).chain(of_predicates)
}

/// Checks everything that needs no arithmetic.
fn check_shape(expected: &[Expected<'_>], proof: &Proof) -> Result<(), Error> {
    if expected.len() != proof.proofs.len() {
        return Err(Error::Proof("it has another number of sub-proofs"));
    }
    let aggregated = &proof.aggregated_proof;
    bounds::at_most(&aggregated.c_hash, bounds::CHALLENGE, LONG)?;
    let mut link_secrets = BTreeSet::new();
    for (expected, part) in expected.iter().zip(&proof.proofs) {
        if expected.registry.is_some() && part.non_revoc_proof.is_none() {
            return Err(Error::Proof("a proof of non-revocation is missing"));
        }
        if expected.registry.is_none() && part.non_revoc_proof.is_some() {
            return Err(Error::Proof("a proof of non-revocation was not expected"));
        }
        let equality = &part.primary_proof.eq_proof;
        check_equality(expected, equality)?;
        check_predicates(expected.request, part)?;
        link_secrets.extend(equality.m.get(LINK_SECRET));
    }
    if link_secrets.len() > 1 {
        return Err(Error::Proof("the credentials have different link secrets"));
    }
    let c_values: Vec<Vec<u8>> = proof.proofs.iter().flat_map(c_values).collect();
    if c_values != aggregated.c_list {
        return Err(Error::Proof(
            "the list of blinded values is not that of the sub-proofs",
        ));
    }
    Ok(())
}

fn c_values(part: &SubProof) -> Vec<Vec<u8>> {
    let non_revocation = part
        .non_revoc_proof
        .iter()
        .flat_map(|proof| proof.c_values());
    non_revocation
        .chain(blinded(part).map(challenge::bytes))
        .collect()
}

const LONG: Error = Error::Proof("a number is too long");

/// Checks which attributes are revealed and which have responses, and the length of every response.
fn check_equality(expected: &Expected<'_>, proof: &EqualityProof) -> Result<(), Error> {
    let revealed = &expected.request.revealed;
    if !proof.revealed_attrs.keys().eq(revealed) {
        return Err(Error::Proof("it reveals other attributes than asked for"));
    }
    let hidden = expected.key.attributes();
    let hidden = hidden.filter(|name| !revealed.contains(*name));
    if !hidden.eq(proof.m.keys().map(String::as_str)) || revealed.contains(LINK_SECRET) {
        return Err(Error::Proof(
            "its responses are not those of the attributes that stay hidden",
        ));
    }
    for value in proof.revealed_attrs.values() {
        bounds::check_value(value)?;
    }
    bounds::at_most(&proof.e, bounds::E_RESPONSE, LONG)?;
    bounds::at_most(&proof.v, bounds::V_RESPONSE, LONG)?;
    bounds::at_most(&proof.m2, bounds::CONTEXT_RESPONSE, LONG)?;
    let mut responses = proof.m.values();
    responses.try_for_each(|m| bounds::at_most(m, bounds::VALUE_RESPONSE, LONG))
}

/// Checks that each requested predicate is there once, and tied to its attribute in the equality proof: without the tie
/// it could be about any number.
fn check_predicates(request: &SubProofRequest, part: &SubProof) -> Result<(), Error> {
    let proofs = &part.primary_proof.predicate_proofs;
    let proven: BTreeSet<&Predicate> = proofs.iter().map(|proof| &proof.predicate).collect();
    if proven.len() != proofs.len() || !proven.into_iter().eq(&request.predicates) {
        return Err(Error::Proof("it proves other predicates than asked for"));
    }
    for proof in proofs {
        check_responses(proof)?;
        let response = part
            .primary_proof
            .eq_proof
            .m
            .get(&proof.predicate.attr_name);
        if response != Some(&proof.mj) {
            return Err(Error::Proof("a predicate is not about its attribute"));
        }
    }
    Ok(())
}

fn check_responses(proof: &PredicateProof) -> Result<(), Error> {
    bounds::at_most(&proof.alpha, bounds::ALPHA_RESPONSE, LONG)?;
    for u in &proof.u.0 {
        bounds::at_most(u, bounds::ROOT_RESPONSE, LONG)?;
    }
    for r in proof.r.squares.iter().chain([&proof.r.delta]) {
        bounds::at_most(r, bounds::BLINDING_RESPONSE, LONG)?;
    }
    Ok(())
}
