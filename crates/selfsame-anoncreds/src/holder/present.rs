//! Creating a presentation.

use std::collections::{BTreeMap, BTreeSet};

use dashu_int::IBig;
use selfsame_bignum::Random;
use selfsame_crypto::ctx::Ctx;
use zeroize::Zeroizing;

use super::choice::{Chosen, check_complete};
use crate::Error;
use crate::cl::revocation::Holding;
use crate::cl::{Held, LinkSecret, Predicate, ProofBuilder, SubProofRequest, Values};
use crate::format::{
    AttributeValue, Credential, CredentialIdentifiers, Message, Presentation, PresentationRequest,
    RequestedAttribute, RequestedProof, RevealedAttribute, RevealedGroup, RevocationState,
    SelfAttested, SubProofReferent, normalise_attribute,
};
use crate::seed;

/// Answers a request with these credentials and self-attested values. Credentials that answer nothing are left out.
///
/// # Errors
/// [`Error::Unsatisfied`] with the referent that is not answered or is answered incorrectly; [`Error::Mismatch`] if the
/// parts do not belong together.
pub fn create_presentation(
    request: &PresentationRequest,
    chosen: &[Chosen<'_>],
    attested: &BTreeMap<String, SelfAttested>,
    link_secret: &LinkSecret,
    ctx: &Ctx,
) -> Result<Presentation, Error> {
    request.validate()?;
    check_complete(request, chosen, attested)?;
    let used: Vec<_> = chosen.iter().filter(|chosen| !chosen.is_idle()).collect();
    let random = random(request, &used, link_secret, ctx)?;
    let values: Vec<Values> = used
        .iter()
        .map(|chosen| chosen.credential.values.encoded())
        .collect::<Result<_, _>>()?;
    let mut builder = ProofBuilder::new(link_secret, random);
    let mut requested_proof = RequestedProof {
        self_attested_attrs: attested.clone(),
        ..RequestedProof::default()
    };
    let mut identifiers = Vec::new();
    for (index, (chosen, values)) in (0_u32..).zip(used.into_iter().zip(&values)) {
        let state = state(chosen, request)?;
        let sub_request = answer(chosen, request, index, &mut requested_proof)?;
        let credential = chosen.credential;
        chosen.definition.check_schema_id(&credential.schema_id)?;
        let held = Held {
            key: chosen.definition.key(),
            signature: &credential.signature.p_credential,
            values,
        };
        let holding = state.map(|state| holding(chosen, state)).transpose()?;
        builder.add(held, &sub_request, holding.as_ref())?;
        identifiers.push(CredentialIdentifiers {
            schema_id: credential.schema_id.clone(),
            cred_def_id: credential.cred_def_id.clone(),
            rev_reg_id: credential.rev_reg_id.clone(),
            timestamp: state.map(|state| state.timestamp),
        });
    }
    let presentation = Presentation {
        proof: builder.finish(&request.nonce.number()),
        requested_proof,
        identifiers,
    };
    presentation.validate()?;
    Ok(presentation)
}

/// The randomness of a presentation, bound to all of its inputs.
fn random(
    request: &PresentationRequest,
    used: &[&Chosen<'_>],
    link_secret: &LinkSecret,
    ctx: &Ctx,
) -> Result<Random, Error> {
    let mut about = Zeroizing::new(request.to_json()?.into_bytes());
    about.extend_from_slice(link_secret.to_decimal().as_bytes());
    for chosen in used {
        about.extend_from_slice(chosen.definition.key().digest());
        about.extend_from_slice(chosen.credential.to_json()?.expose().as_bytes());
        for (referent, shown) in &chosen.attributes {
            about.extend(format!("{referent:?} {shown} ").into_bytes());
        }
        about.extend(format!("{:?}", chosen.predicates).into_bytes());
        if let Some(state) = chosen.state {
            about.extend_from_slice(state.to_json()?.expose().as_bytes());
        }
    }
    Ok(seed::random(ctx, "presentation", &[about.as_slice()]))
}

/// The revocation state to prove from; `None` if no such proof is requested, or the credential is not revocable.
fn state<'a>(
    chosen: &Chosen<'a>,
    request: &PresentationRequest,
) -> Result<Option<&'a RevocationState>, Error> {
    if chosen.interval(request).is_none() {
        return Ok(None);
    }
    match chosen.state {
        Some(state) => Ok(Some(state)),
        None => {
            let first = chosen.attributes.keys().chain(&chosen.predicates).next();
            Err(Error::Unsatisfied {
                referent: first.cloned().unwrap_or_default(),
                why: "a state of the revocation registry is needed, and not given",
            })
        }
    }
}

fn holding<'a>(chosen: &Chosen<'a>, state: &'a RevocationState) -> Result<Holding<'a>, Error> {
    let signature = chosen.credential.signature.r_credential.as_ref();
    let parts = signature.zip(chosen.definition.revocation());
    let (signature, key) = parts.ok_or(Error::Mismatch {
        what: Credential::WHAT,
        why: "it names a registry and has no part for revocation",
    })?;
    Ok(Holding {
        key,
        accumulator: &state.rev_reg.accum,
        signature,
        witness: &state.witness,
    })
}

/// Adds a credential's answers to the proof, and returns what the credential has to prove.
fn answer(
    chosen: &Chosen<'_>,
    request: &PresentationRequest,
    index: u32,
    proof: &mut RequestedProof,
) -> Result<SubProofRequest, Error> {
    let mut revealed = BTreeSet::new();
    let here = SubProofReferent {
        sub_proof_index: index,
    };
    for (referent, asked, shown) in chosen.asked(request)? {
        let values = values(chosen.credential, referent, asked)?;
        if !shown {
            proof.unrevealed_attrs.insert(referent.to_owned(), here);
            continue;
        }
        revealed.extend(values.keys().map(|name| normalise_attribute(name)));
        if asked.name.is_none() {
            let group = RevealedGroup {
                sub_proof_index: index,
                values,
            };
            proof
                .revealed_attr_groups
                .insert(referent.to_owned(), group);
        } else if let Some(value) = values.into_values().next() {
            let shown = RevealedAttribute {
                sub_proof_index: index,
                raw: value.raw,
                encoded: value.encoded,
            };
            proof.revealed_attrs.insert(referent.to_owned(), shown);
        }
    }
    let mut predicates: BTreeSet<Predicate> = BTreeSet::new();
    for (referent, asked) in chosen.compared(request)? {
        if revealed.contains(&normalise_attribute(&asked.name)) {
            return Err(Error::Unsatisfied {
                referent: referent.to_owned(),
                why: "its attribute is shown under another referent, and cannot be compared as well",
            });
        }
        predicates.insert(asked.predicate());
        proof.predicates.insert(referent.to_owned(), here);
    }
    Ok(SubProofRequest {
        revealed,
        predicates,
    })
}

/// A number in its canonical decimal form, however the issuer wrote it.
fn canonical(encoded: &str) -> String {
    let number = encoded.parse::<IBig>();
    number.map_or_else(|_| encoded.to_owned(), |number| number.to_string())
}

/// The requested values, by the names that the request uses.
fn values(
    credential: &Credential,
    referent: &str,
    asked: &RequestedAttribute,
) -> Result<BTreeMap<String, AttributeValue>, Error> {
    let value = |name: &str| {
        let value = credential.values.get(name).ok_or(Error::Unsatisfied {
            referent: referent.to_owned(),
            why: "the credential does not have the attribute",
        })?;
        let mut value = value.clone();
        value.encoded = canonical(&value.encoded);
        Ok((name.to_owned(), value))
    };
    asked.names().map(value).collect()
}
