//! Issuing: the signature over the attributes and the proof that it was made with the private key.

use std::collections::BTreeMap;

use dashu_int::{IBig, UBig, ops::BitTest as _};
use selfsame_bignum::{Element, Random, Secret, Term};

use super::issuer_key::IssuerKey;
use super::key::KeyInUse;
use super::key_data::LINK_SECRET;
use super::messages::{
    BlindedCredentialSecrets, BlindedSecretsCorrectnessProof, Nonce, PrimaryCredentialSignature,
    SignatureCorrectnessProof,
};
use super::number::{positive, revealed};
use super::{blinding, bounds, challenge};
use crate::Error;
use crate::seed::PRIMES;

/// Encoded attributes by their normalised names, without the link secret.
pub type Values = BTreeMap<String, IBig>;

/// The inputs of a signature.
#[derive(Clone, Copy)]
pub struct SigningRequest<'a> {
    /// The blinded link secret of the request.
    pub secrets: &'a BlindedCredentialSecrets,
    /// The proof of the blinded secrets.
    pub proof: &'a BlindedSecretsCorrectnessProof,
    /// The nonce of the offer, which the request's proof covers.
    pub offer_nonce: &'a Nonce,
    /// The nonce of the request, which the signature's proof covers.
    pub request_nonce: &'a Nonce,
    /// The credential context m₂, which no party can predict.
    pub context: &'a UBig,
    /// One value for each attribute of the credential definition.
    pub values: &'a Values,
}

/// Checks a request and signs. (AnonCreds v1.0, "Verifying the Credential Request", "The Credential Signature", "The
/// Credential Signature Correctness Proof".) Secret exponents: 1/e mod p'q', and the mask of the proof.
///
/// # Errors
/// Errors of the request's check; [`Error::Mismatch`] if values and attributes differ; [`Error::TooLarge`].
pub(crate) fn sign(
    key: &IssuerKey,
    request: &SigningRequest<'_>,
    random: &mut Random,
) -> Result<(PrimaryCredentialSignature, SignatureCorrectnessProof), Error> {
    check_values(key.key().attributes(), request.values)?;
    bounds::at_most(request.context, bounds::VALUE, CONTEXT)?;
    // One use of the key, not two: a second would build all tables even for an issuer that issues once.
    let used = key.key().in_use();
    blinding::check(used, request.secrets, request.proof, request.offer_nonce)?;
    let mut v = random.integer(bounds::V_PRIME_PRIME);
    v.set_bit(bounds::V_PRIME_PRIME.saturating_sub(1));
    let start = bounds::power_of_two(bounds::E_START);
    let mut end = start.clone();
    end.set_bit(bounds::E_RANGE);
    let e = PRIMES.prime_in_range(&start, &end, random);
    let q = quotient(used, request, &v)?;
    let modulus = used.modulus();
    // A request proves U only up to its sign, so this may not be a square; everything else in it is one.
    let a = key.root(&q, &e)?;
    let signature = PrimaryCredentialSignature {
        m_2: request.context.clone(),
        a: modulus.integer(&a),
        e,
        v,
    };
    let proof = prove(key, &signature, &q, request.request_nonce, random)?;
    Ok((signature, proof))
}

const CONTEXT: Error = Error::TooLarge {
    what: "the credential context in bits",
    limit: bounds::VALUE,
};

/// Checks that each attribute except the link secret has one value, not too long, and that there are no others.
pub(crate) fn check_values<'a>(
    attributes: impl Iterator<Item = &'a str>,
    values: &Values,
) -> Result<(), Error> {
    let signed = attributes.filter(|name| *name != LINK_SECRET);
    if !signed.eq(values.keys().map(String::as_str)) {
        return Err(Error::Mismatch {
            what: "the set of values",
            why: "the attributes are not those of the credential definition",
        });
    }
    values.values().try_for_each(bounds::check_value)
}

/// Q = Z / (U · S^v · Rctxt^m₂ · ∏ R^m).
fn quotient(used: KeyInUse<'_>, request: &SigningRequest<'_>, v: &UBig) -> Result<Element, Error> {
    let modulus = used.modulus();
    let (v, context) = (positive(v), positive(request.context));
    let mut terms = vec![
        Term {
            base: used.s(),
            exponent: &v,
        },
        Term {
            base: used.rctxt(),
            exponent: &context,
        },
    ];
    for (name, value) in request.values {
        terms.push(Term {
            base: used.r(name)?,
            exponent: value,
        });
    }
    let product = modulus.product(
        &modulus.power(&terms)?,
        &modulus.element(&request.secrets.u)?,
    );
    Ok(modulus.product(used.z_element(), &modulus.inverse(&product)?))
}

fn prove(
    key: &IssuerKey,
    signature: &PrimaryCredentialSignature,
    q: &Element,
    nonce: &Nonce,
    random: &mut Random,
) -> Result<SignatureCorrectnessProof, Error> {
    let modulus = key.key().modulus();
    let number = random.below(key.order());
    let mask = Secret::from_public(&number, key.order().bit_len());
    let commitment = modulus.integer(&key.power(q, &mask));
    let c = challenge::over([&modulus.integer(q), &signature.a, &commitment, &nonce.0]);
    let se = key.response(&revealed(mask), &c, &signature.e, random)?;
    Ok(SignatureCorrectnessProof { se, c })
}
