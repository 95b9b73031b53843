//! The blinded link secret of a credential request: made by the holder, checked by the issuer.

use std::collections::{BTreeMap, BTreeSet};

use dashu_int::UBig;
use selfsame_bignum::pairing::G1;
use selfsame_bignum::{Base, Random, Secret, SecretTerm, Term};

use super::key::{CredentialKey, KeyInUse};
use super::key_data::LINK_SECRET;
use super::link_secret::LinkSecret;
use super::messages::{
    BlindedCredentialSecrets, BlindedSecretsCorrectnessProof, BlindingFactors, Nonce,
};
use super::number::{positive, revealed};
use super::revocation::RevocationBlinding;
use super::{bounds, challenge};
use crate::Error;

/// The blinded link secret: what a holder sends, and what it keeps.
#[derive(Debug)]
pub struct Blinded {
    /// The blinded secrets, for the issuer.
    pub secrets: BlindedCredentialSecrets,
    /// The proof, for the issuer.
    pub proof: BlindedSecretsCorrectnessProof,
    /// The blinding factors, which the holder keeps until the credential arrives. Secret.
    pub factors: BlindingFactors,
}

/// Blinds the link secret for a credential, U = S^v' · R^ms, and proves knowledge of the exponents.
///
/// `nonce` is that of the offer; `revocation` the blinded secret of the non-revocation part, if there is one. The key
/// correctness proof must have been checked. (AnonCreds v1.0, "Blinding the Link Secret".) Secret exponents: v', the
/// link secret, their masks.
///
/// # Errors
/// [`Error::Issuer`] if no correctness proof of the key has been verified.
pub(crate) fn blind(
    key: &CredentialKey,
    link_secret: &LinkSecret,
    nonce: &Nonce,
    revocation: Option<(G1, RevocationBlinding)>,
    random: &mut Random,
) -> Result<Blinded, Error> {
    if key.proven().get().is_none() {
        return Err(Error::Issuer("the key has not been proven correct"));
    }
    let used = key.in_use();
    let (s, r) = (used.s(), used.r(LINK_SECRET)?);
    let blinded = |v: &Secret, m: &Secret| {
        let terms = [
            SecretTerm {
                base: s,
                exponent: v,
            },
            SecretTerm {
                base: r,
                exponent: m,
            },
        ];
        used.modulus().integer(&used.modulus().secret_power(&terms))
    };
    let v_prime = random.secret(bounds::V_PRIME);
    let v_mask = random.secret(bounds::V_PRIME_MASK);
    let m_mask = random.secret(bounds::REQUEST_MASK);
    let u = blinded(&v_prime, link_secret.secret());
    let c = challenge::over([&u, &blinded(&v_mask, &m_mask), &nonce.0]);
    let respond = |secret: &Secret, mask: &Secret| revealed(secret.mul_public(&c).add(mask));
    let m_cap = respond(link_secret.secret(), &m_mask);
    let (ur, vr_prime) = revocation.unzip();
    Ok(Blinded {
        proof: BlindedSecretsCorrectnessProof {
            v_dash_cap: respond(&v_prime, &v_mask),
            m_caps: BTreeMap::from([(LINK_SECRET.to_owned(), m_cap)]),
            r_caps: BTreeMap::new(),
            c,
        },
        secrets: BlindedCredentialSecrets {
            u,
            ur,
            hidden_attributes: BTreeSet::from([LINK_SECRET.to_owned()]),
            committed_attributes: BTreeMap::new(),
        },
        factors: BlindingFactors {
            v_prime: revealed(v_prime),
            vr_prime,
        },
    })
}

/// Checks a request's blinded link secret. (AnonCreds v1.0, "Verifying the Credential Request".)
///
/// # Errors
/// [`Error::Malformed`] for numbers out of range and for missing or unexpected parts; [`Error::Proof`].
pub(crate) fn check(
    used: KeyInUse<'_>,
    secrets: &BlindedCredentialSecrets,
    proof: &BlindedSecretsCorrectnessProof,
    nonce: &Nonce,
) -> Result<(), Error> {
    let response = check_shape(secrets, proof)?;
    let modulus = used.modulus();
    let u = modulus
        .element(&secrets.u)
        .map_err(|_| malformed("U is out of range"))?;
    let inverse = modulus
        .inverse(&u)
        .map_err(|_| malformed("U is not coprime to the modulus"))?;
    let [c, v, m] = [&proof.c, &proof.v_dash_cap, response].map(positive);
    let commitment = modulus.power(&[
        Term {
            base: Base::Variable(&inverse),
            exponent: &c,
        },
        Term {
            base: used.s(),
            exponent: &v,
        },
        Term {
            base: used.r(LINK_SECRET)?,
            exponent: &m,
        },
    ])?;
    let hashed = [&secrets.u, &modulus.integer(&commitment), &nonce.0];
    if challenge::over(hashed) != proof.c {
        return Err(Error::Proof(
            "the holder does not know the blinded link secret",
        ));
    }
    Ok(())
}

/// Checks lengths and names; returns the link secret's response.
fn check_shape<'a>(
    secrets: &BlindedCredentialSecrets,
    proof: &'a BlindedSecretsCorrectnessProof,
) -> Result<&'a UBig, Error> {
    let long = malformed("a number of its correctness proof is too long");
    bounds::at_most(&proof.c, bounds::CHALLENGE, long.clone())?;
    bounds::at_most(&proof.v_dash_cap, bounds::V_PRIME_RESPONSE, long.clone())?;
    if !secrets.hidden_attributes.iter().eq([LINK_SECRET]) {
        return Err(malformed("the link secret alone must be hidden"));
    }
    if !secrets.committed_attributes.is_empty() || !proof.r_caps.is_empty() {
        return Err(malformed("AnonCreds has no committed attributes"));
    }
    let mut responses = proof.m_caps.iter();
    let (Some((name, response)), None) = (responses.next(), responses.next()) else {
        return Err(malformed("it does not have exactly one response"));
    };
    if name != LINK_SECRET {
        return Err(malformed("the response for the link secret is missing"));
    }
    bounds::at_most(response, bounds::REQUEST_RESPONSE, long)?;
    Ok(response)
}

fn malformed(why: &'static str) -> Error {
    Error::Malformed {
        what: "the credential request",
        why,
    }
}
