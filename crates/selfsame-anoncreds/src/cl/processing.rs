//! Processing a new credential: the holder checks it and removes the blinding.

use dashu_int::{IBig, Sign, UBig, ops::BitTest as _};
use selfsame_bignum::{Base, Element, Secret, SecretTerm, Term};

use super::key::{CredentialKey, KeyInUse};
use super::key_data::LINK_SECRET;
use super::link_secret::LinkSecret;
use super::messages::{
    BlindingFactors, Nonce, PrimaryCredentialSignature, SignatureCorrectnessProof,
};
use super::number::{positive, revealed};
use super::signing::{Values, check_values};
use super::{bounds, challenge};
use crate::Error;
use crate::seed::PRIMES;

/// A credential's primary part as received, and the holder's own data for it.
#[derive(Clone, Copy)]
pub struct Received<'a> {
    /// The signature, with the issuer's v″.
    pub signature: &'a PrimaryCredentialSignature,
    /// The signature's proof.
    pub proof: &'a SignatureCorrectnessProof,
    /// The nonce of the holder's request.
    pub nonce: &'a Nonce,
    /// The encoded values.
    pub values: &'a Values,
    /// The blinding factors that the holder kept from its request.
    pub factors: &'a BlindingFactors,
}

/// Checks the signature and its proof and returns the signature with v = v' + v″, for the holder to keep. (AnonCreds
/// v1.0, "Receiving a Credential".) Secret exponents: v, the link secret, e, the values.
///
/// # Errors
/// [`Error::Issuer`] with the reason; [`Error::Mismatch`] if values and attributes differ; [`Error::TooLarge`].
pub(crate) fn process(
    key: &CredentialKey,
    link_secret: &LinkSecret,
    received: &Received<'_>,
) -> Result<PrimaryCredentialSignature, Error> {
    let Received {
        signature, proof, ..
    } = received;
    check_values(key.attributes(), received.values)?;
    check_ranges(key, signature, proof)?;
    let used = key.in_use();
    let modulus = used.modulus();
    let a = modulus
        .element(&signature.a)
        .map_err(|_| Error::Issuer("A of the signature is out of range"))?;
    modulus
        .inverse(&a)
        .map_err(|_| Error::Issuer("A of the signature is not coprime to the modulus"))?;
    // The primality of e is tested only here.
    if !PRIMES.is_prime(&signature.e) {
        return Err(Error::Issuer("e of the signature is not a prime"));
    }
    let v = exponent(&signature.v, bounds::V_PRIME_PRIME)
        .add(&exponent(&received.factors.v_prime, bounds::V_PRIME));
    let e = exponent(&signature.e, bounds::E_START.saturating_add(1));
    let q = modulus.secret_power(&[SecretTerm {
        base: Base::Variable(&a),
        exponent: &e,
    }]);
    let [above, below] = signed(used, link_secret, received, &v)?;
    // Q·∏ = Z is equivalent to Q = Z/∏, but needs no division.
    let left = modulus.product(&q, &above);
    let right = modulus.product(used.z_element(), &below);
    if modulus.integer(&left) != modulus.integer(&right) {
        return Err(Error::Issuer("the signature is not over these values"));
    }
    check_proof(used, received, &a, &q)?;
    let mut kept = PrimaryCredentialSignature::clone(signature);
    kept.v = revealed(v);
    Ok(kept)
}

/// Checks the ranges of all numbers.
fn check_ranges(
    key: &CredentialKey,
    signature: &PrimaryCredentialSignature,
    proof: &SignatureCorrectnessProof,
) -> Result<(), Error> {
    let context = Error::Issuer("the credential context is too long");
    bounds::at_most(&signature.m_2, bounds::VALUE, context)?;
    if signature.v.bit_len() != bounds::V_PRIME_PRIME {
        return Err(Error::Issuer("v of the signature has the wrong length"));
    }
    let long = Error::Issuer("a number of the signature's proof is too long");
    bounds::at_most(&proof.c, bounds::CHALLENGE, long.clone())?;
    bounds::at_most(&proof.se, key.modulus().bits(), long)?;
    let mut end = bounds::power_of_two(bounds::E_START);
    let is_above = signature.e > end;
    end.set_bit(bounds::E_RANGE);
    if !is_above || signature.e >= end {
        return Err(Error::Issuer("e of the signature is out of range"));
    }
    Ok(())
}

/// S^v · Rctxt^m₂ · ∏ R^m for the link secret and all positive values, and ∏ R^-m for the negative ones.
fn signed(
    used: KeyInUse<'_>,
    link_secret: &LinkSecret,
    received: &Received<'_>,
    v: &Secret,
) -> Result<[Element; 2], Error> {
    let mut exponents = [
        vec![
            (used.s(), v.clone()),
            (
                used.rctxt(),
                exponent(&received.signature.m_2, bounds::VALUE),
            ),
            (used.r(LINK_SECRET)?, link_secret.secret().clone()),
        ],
        Vec::new(),
    ];
    let [above, below] = &mut exponents;
    for (name, value) in received.values {
        let (sign, magnitude) = value.clone().into_parts();
        let side = match sign {
            Sign::Positive => &mut *above,
            Sign::Negative => &mut *below,
        };
        side.push((used.r(name)?, exponent(&magnitude, bounds::VALUE)));
    }
    Ok(exponents.map(|side| {
        let terms: Vec<SecretTerm<'_>> = side
            .iter()
            .map(|(base, exponent)| SecretTerm {
                base: *base,
                exponent,
            })
            .collect();
        used.modulus().secret_power(&terms)
    }))
}

/// Checks the signature correctness proof: c = H(Q, A, A^c · Q^se, nonce), where A^(c + se·e) = A^c · Q^se.
fn check_proof(
    used: KeyInUse<'_>,
    received: &Received<'_>,
    a: &Element,
    q: &Element,
) -> Result<(), Error> {
    let modulus = used.modulus();
    let [c, se]: [IBig; 2] = [&received.proof.c, &received.proof.se].map(positive);
    let commitment = modulus.power(&[
        Term {
            base: Base::Variable(a),
            exponent: &c,
        },
        Term {
            base: Base::Variable(q),
            exponent: &se,
        },
    ])?;
    let (q, commitment) = (modulus.integer(q), modulus.integer(&commitment));
    let hashed = [&q, &received.signature.a, &commitment, &received.nonce.0];
    if challenge::over(hashed) != received.proof.c {
        return Err(Error::Issuer(
            "the signature correctness proof does not hold",
        ));
    }
    Ok(())
}

/// One of the holder's numbers as a secret exponent.
pub(crate) fn exponent(number: &UBig, bits: usize) -> Secret {
    Secret::from_public(number, bits)
}
