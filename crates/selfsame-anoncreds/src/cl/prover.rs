//! Creating a presentation's proof: one sub-proof for each credential, one challenge for all.

use std::collections::BTreeSet;

use dashu_int::UBig;
use selfsame_bignum::pairing::Scalar;
use selfsame_bignum::{Random, Secret};

use super::equality::{self, ContextMask, Held, SharedMasks};
use super::link_secret::LinkSecret;
use super::messages::Nonce;
use super::predicate;
use super::proof_data::{AggregatedProof, Predicate, PrimaryProof, Proof, SubProof};
use super::revocation;
use super::{bounds, challenge};
use crate::Error;

/// The statements to prove about one credential.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubProofRequest {
    /// Attributes to reveal.
    pub revealed: BTreeSet<String>,
    /// Predicates to prove.
    pub predicates: BTreeSet<Predicate>,
}

/// Creates a proof from credentials that have the same link secret.
pub(crate) struct ProofBuilder<'a> {
    link_secret: &'a LinkSecret,
    link_mask: Secret,
    random: Random,
    pending: Vec<Pending<'a>>,
    t_values: Vec<Vec<u8>>,
    c_values: Vec<Vec<u8>>,
}

/// A sub-proof that is waiting for the challenge.
struct Pending<'a> {
    held: Held<'a>,
    equality: equality::EqualityCommitment,
    predicates: Vec<(String, predicate::PredicateCommitment)>,
    non_revocation: Option<revocation::Commitment>,
}

impl<'a> ProofBuilder<'a> {
    pub(crate) fn new(link_secret: &'a LinkSecret, mut random: Random) -> Self {
        Self {
            link_secret,
            link_mask: random.secret(bounds::VALUE_MASK),
            random,
            pending: Vec::new(),
            t_values: Vec::new(),
            c_values: Vec::new(),
        }
    }

    /// Adds a credential, with its proof of non-revocation if `holding` is given.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if an attribute is unknown or both revealed and compared; [`Error::Unsatisfied`] if a
    /// predicate does not hold; [`Error::Malformed`] for a credential that was damaged.
    pub(crate) fn add(
        &mut self,
        held: Held<'a>,
        request: &SubProofRequest,
        holding: Option<&revocation::Holding<'_>>,
    ) -> Result<(), Error> {
        check_request(&held, request)?;
        let random = &mut self.random;
        let context_mask = ContextMask::new(random);
        let non_revocation = holding
            .map(|holding| revocation::Commitment::new(holding, &context_mask.scalar, random));
        let shared = SharedMasks {
            link: &self.link_mask,
            context: &context_mask,
        };
        let key = held.key.in_use();
        if !request.predicates.is_empty() {
            key.expect_predicates();
        }
        let equality =
            equality::EqualityCommitment::new(&held, key, &request.revealed, &shared, random)?;
        let mut predicates = Vec::with_capacity(request.predicates.len());
        for predicate in &request.predicates {
            let name = &predicate.attr_name;
            let (Some(value), Some(mask)) = (held.values.get(name), equality.mask(name)) else {
                return Err(UNKNOWN);
            };
            let commitment =
                predicate::PredicateCommitment::new(key, predicate, value, mask, random)?;
            predicates.push((name.clone(), commitment));
        }
        if let Some(non_revocation) = &non_revocation {
            self.t_values.extend(non_revocation.t_values());
            self.c_values.extend(non_revocation.c_values());
        }
        self.t_values.push(challenge::bytes(equality.t()));
        self.c_values.push(challenge::bytes(equality.a_prime()));
        for (_, predicate) in &predicates {
            self.t_values
                .extend(predicate.t_values().iter().map(challenge::bytes));
            self.c_values
                .extend(predicate.c_values().iter().map(challenge::bytes));
        }
        self.pending.push(Pending {
            held,
            equality,
            predicates,
            non_revocation,
        });
        Ok(())
    }

    /// The proof, for the nonce of the presentation request.
    pub(crate) fn finish(self, nonce: &Nonce) -> Proof {
        let c_hash = joint(&self.t_values, &self.c_values, nonce);
        let scalar = Scalar::from_public(&c_hash);
        let link_secret = self.link_secret;
        let proofs = self
            .pending
            .into_iter()
            .map(|pending| pending.respond(link_secret, &c_hash, &scalar));
        Proof {
            proofs: proofs.collect(),
            aggregated_proof: AggregatedProof {
                c_hash,
                c_list: self.c_values,
            },
        }
    }
}

const UNKNOWN: Error = Error::Mismatch {
    what: "an attribute",
    why: "the credential does not have it, or it is both revealed and compared",
};

fn check_request(held: &Held<'_>, request: &SubProofRequest) -> Result<(), Error> {
    let is_known = |name: &String| held.values.contains_key(name);
    let compared = || {
        request
            .predicates
            .iter()
            .map(|predicate| &predicate.attr_name)
    };
    let right = request.revealed.iter().chain(compared()).all(is_known)
        && !compared().any(|name| request.revealed.contains(name));
    if right { Ok(()) } else { Err(UNKNOWN) }
}

impl Pending<'_> {
    fn respond(self, link_secret: &LinkSecret, c: &UBig, scalar: &Scalar) -> SubProof {
        let eq_proof = self.equality.respond(&self.held, link_secret, c);
        let predicate_proofs = self.predicates.into_iter().map(|(name, predicate)| {
            let mj = eq_proof.m.get(&name).cloned().unwrap_or_default();
            predicate.respond(mj, c)
        });
        SubProof {
            primary_proof: PrimaryProof {
                predicate_proofs: predicate_proofs.collect(),
                eq_proof,
            },
            non_revoc_proof: self
                .non_revocation
                .map(|commitment| commitment.respond(scalar)),
        }
    }
}

/// The challenge of a proof: all T values, all blinded values, the nonce.
pub(crate) fn joint(t_values: &[Vec<u8>], c_values: &[Vec<u8>], nonce: &Nonce) -> UBig {
    let nonce = challenge::bytes(&nonce.0);
    let parts = t_values.iter().chain(c_values).chain([&nonce]);
    challenge::over_bytes(parts.map(Vec::as_slice))
}
