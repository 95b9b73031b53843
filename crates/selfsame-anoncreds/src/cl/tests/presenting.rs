//! Presentations of both implementations, as JSON.

use anoncreds_clsignatures as published;
use published::{Issuer as TheirIssuer, Prover, Verifier};
use serde_json::Value;

use super::parties::{
    CredentialDefinition, Issuance, Refused, Side, random, read, their_values, values, write,
};
use super::*;

/// One processed credential and the statements to prove about it.
pub(super) struct Shown<'a> {
    pub(super) definition: &'a CredentialDefinition,
    pub(super) issuance: &'a Issuance,
    pub(super) request: SubProofRequest,
}

pub(super) fn predicate(name: &str, p_type: PredicateType, value: i32) -> Predicate {
    Predicate {
        attr_name: name.to_owned(),
        p_type,
        value,
    }
}

pub(super) fn request(revealed: &[&str], predicates: &[Predicate]) -> SubProofRequest {
    SubProofRequest {
        revealed: revealed.iter().map(|name| (*name).to_owned()).collect(),
        predicates: predicates.iter().cloned().collect(),
    }
}

pub(super) fn nonce(label: &str) -> Nonce {
    Nonce(random(label).integer(80))
}

pub(super) fn present(side: Side, shown: &[Shown<'_>], nonce: &Nonce) -> Result<Value, Refused> {
    match side {
        Side::Ours => ours(shown, nonce),
        Side::Theirs => theirs(shown, nonce),
    }
}

pub(super) fn verifies(side: Side, shown: &[Shown<'_>], proof: &Value, nonce: &Nonce) -> bool {
    match side {
        Side::Ours => accepted_by_ours(shown, proof, nonce).is_ok(),
        Side::Theirs => accepted_by_theirs(shown, proof, nonce) == Ok(true),
    }
}

fn ours(shown: &[Shown<'_>], nonce: &Nonce) -> Result<Value, Refused> {
    let link_secret = LinkSecret::from_decimal(&shown[0].issuance.link_secret).unwrap();
    let parts: Vec<(CredentialKey, CredentialSignature, Values)> = shown
        .iter()
        .map(|shown| {
            (
                shown.definition.key(),
                read(&shown.issuance.signature).unwrap(),
                values(&shown.issuance.values),
            )
        })
        .collect();
    let mut builder = ProofBuilder::new(&link_secret, random(&format!("proof {}", nonce.0)));
    for ((key, signature, values), shown) in parts.iter().zip(shown) {
        let held = Held {
            key,
            signature: &signature.p_credential,
            values,
        };
        builder
            .add(held, &shown.request, None)
            .map_err(|_| Refused)?;
    }
    Ok(write(&builder.finish(nonce)))
}

fn accepted_by_ours(shown: &[Shown<'_>], proof: &Value, nonce: &Nonce) -> Result<(), Refused> {
    let keys: Vec<CredentialKey> = shown.iter().map(|shown| shown.definition.key()).collect();
    let expected: Vec<Expected<'_>> = keys
        .iter()
        .zip(shown)
        .map(|(key, shown)| Expected {
            key,
            request: &shown.request,
            registry: None,
        })
        .collect();
    verify(&expected, &read(proof)?, nonce).map_err(|_| Refused)
}

/// The schema, the link secret's schema and the request of the published implementation.
fn parts(
    shown: &Shown<'_>,
) -> (
    published::CredentialSchema,
    published::NonCredentialSchema,
    published::SubProofRequest,
) {
    let mut schema = TheirIssuer::new_credential_schema_builder().unwrap();
    for name in shown.definition.attributes() {
        schema.add_attr(&name).unwrap();
    }
    let mut other = TheirIssuer::new_non_credential_schema_builder().unwrap();
    other.add_attr(LINK_SECRET).unwrap();
    let mut request = Verifier::new_sub_proof_request_builder().unwrap();
    for name in &shown.request.revealed {
        request.add_revealed_attr(name).unwrap();
    }
    for predicate in &shown.request.predicates {
        let kind = write(&predicate.p_type);
        request
            .add_predicate(
                &predicate.attr_name,
                kind.as_str().unwrap(),
                predicate.value,
            )
            .unwrap();
    }
    (
        schema.finalize().unwrap(),
        other.finalize().unwrap(),
        request.finalize().unwrap(),
    )
}

fn theirs(shown: &[Shown<'_>], nonce: &Nonce) -> Result<Value, Refused> {
    let mut builder = Prover::new_proof_builder().unwrap();
    builder.add_common_attribute(LINK_SECRET).unwrap();
    for shown in shown {
        let (schema, other, request) = parts(shown);
        builder
            .add_sub_proof_request(
                &request,
                &schema,
                &other,
                &read(&shown.issuance.signature)?,
                &their_values(&shown.issuance.values, &shown.issuance.link_secret),
                &shown.definition.their_key()?,
                None,
                None,
            )
            .map_err(|_| Refused)?;
    }
    let proof = builder
        .finalize(&read(&write(nonce))?)
        .map_err(|_| Refused)?;
    Ok(write(&proof))
}

fn accepted_by_theirs(shown: &[Shown<'_>], proof: &Value, nonce: &Nonce) -> Result<bool, Refused> {
    let mut verifier = Verifier::new_proof_verifier().unwrap();
    verifier.add_common_attribute(LINK_SECRET).unwrap();
    for shown in shown {
        let (schema, other, request) = parts(shown);
        verifier
            .add_sub_proof_request(
                &request,
                &schema,
                &other,
                &shown.definition.their_key()?,
                None,
                None,
            )
            .map_err(|_| Refused)?;
    }
    verifier
        .verify(&read(proof)?, &read(&write(nonce))?)
        .map_err(|_| Refused)
}
