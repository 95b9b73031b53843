//! The rules for a toy, in the order in which they are checked.

use std::sync::Arc;

use selfsame_crypto::{PublicKey, jws};
use selfsame_did::Relationship;
use selfsame_verdict::{BrokenRule, Checklist, Law};
use serde_json::Value;

use super::{describe, hold::Toy};
use crate::{
    budget::Budget,
    evidence::Need,
    format::view::{CredentialView as _, Subject},
    issuer_key::{Claimed, IssuerIdentity},
    rules::{Binding, Court, Malformed, holder, issuer, status},
    sd_jwt::SdJwtError,
    validity::Validity,
    verdict::Verdict,
};

const WELL_FORMED: Law = Law::new("well_formed", "Toy §1", BrokenRule::Invalid);
const HOLDER_SIGNATURE: Law = Law::new("holder_signature", "Toy §2", BrokenRule::Invalid);
const LAWS: &[&Law] = &[
    &WELL_FORMED,
    &issuer::ALGORITHM,
    &issuer::ISSUER_KEY,
    &issuer::KEYS_AS_OF,
    &issuer::CERTIFICATE_CHAIN,
    &issuer::ISSUER_SIGNATURE,
    &issuer::ISSUER_TRUSTED,
    &HOLDER_SIGNATURE,
    &holder::TIME,
    &holder::AUDIENCE,
    &holder::NONCE,
    &issuer::TIMES,
    &issuer::NOT_BEFORE,
    &issuer::EXPIRY,
];

/// A toy as it was received, with the holder's proof if it is a presentation.
#[derive(Debug)]
pub(super) struct Received {
    pub toy: Toy,
    pub proof: Option<(jws::Compact, Value)>,
}

pub(super) fn read_credential(
    raw: &str,
    budget: &mut Budget,
) -> Result<Arc<dyn Subject>, Malformed> {
    let toy = Toy::read(raw, budget).ok_or_else(too_much)?;
    Ok(Arc::new(Received { toy, proof: None }))
}

pub(super) fn read_presentation(
    raw: &str,
    budget: &mut Budget,
) -> Result<Arc<dyn Subject>, Malformed> {
    let proof = Toy::read(raw, budget).ok_or_else(too_much)?;
    let inner = proof.claims()["toy"].as_str().unwrap_or_default();
    let toy = Toy::read(inner, budget).ok_or_else(too_much)?;
    let proof = Arc::try_unwrap(proof.0).ok();
    Ok(Arc::new(Received { toy, proof }))
}

pub(super) fn too_much() -> Malformed {
    Malformed::new(&WELL_FORMED, &SdJwtError::Form)
}

impl Received {
    fn claimed<'a>(&'a self, court: &Court<'a>) -> Claimed<'a> {
        Claimed {
            header: self.toy.header(),
            id: self.toy.issuer(),
            relationship: Relationship::AssertionMethod,
            dids_allowed: true,
            certificates_alone: false,
            roots: court.roots(),
        }
    }
}

impl Subject for Received {
    fn needs(&self, court: &Court<'_>) -> Vec<Need> {
        let stated = status::Stated {
            token: self.toy.jwt(),
            claimed: self.claimed(court),
            references: Vec::new(),
            further: None,
        };
        status::needs(stated, court)
    }

    fn judge(&self, expected: Option<&Binding>, court: &Court<'_>) -> (Verdict, Option<&Value>) {
        let mut list = Checklist::new(&[LAWS]);
        let typed = self.toy.header().is_of_type(describe::TYP);
        list.check(&WELL_FORMED, typed, "the header's typ is not that of a toy");
        issuer::algorithm(self.toy.jwt(), court, &mut list);
        let claimed = self.claimed(court);
        if let Some(signed) = issuer::signature(self.toy.jwt(), &claimed, court, &mut list) {
            let identity = IssuerIdentity {
                id: claimed.id,
                leaf: signed.leaf(),
            };
            issuer::trust(&identity, &self.toy.types(), court, &mut list);
        }
        if let (Some((proof, claims)), Some(expected)) = (&self.proof, expected) {
            let key = self.toy.confirmed_key();
            let key = key.and_then(|key| PublicKey::from_jwk(&key).ok());
            let genuine = key.is_some_and(|key| proof.verify(&key).is_ok())
                && proof.header.is_of_type(describe::PROOF_TYP);
            list.check(
                &HOLDER_SIGNATURE,
                genuine,
                "another key signed the presentation",
            );
            let claims = claims.as_object().unwrap();
            holder::time(claims, true, court, &mut list);
            holder::audience(claims, expected, &mut list);
            holder::nonce(claims, expected, &mut list);
        }
        issuer::validity(Validity::of_jwt(self.toy.members()), court, &mut list);
        list.conclude(Some(self.toy.claims()))
    }
}
