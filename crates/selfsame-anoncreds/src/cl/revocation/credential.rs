//! The non-revocation part of a credential: requested, issued, and checked by its holder.

use std::fmt;

use dashu_int::UBig;
use selfsame_bignum::Random;
use selfsame_bignum::pairing::{G1, G2, Scalar, TailSum, pair_product};
use serde::{Deserialize, Serialize};

use super::key::{RevocationKey, RevocationKeyPublic};
use super::list::check_index;
use super::registry::{Accumulator, RegistryIssuer};
use super::scalar;
use super::tails::Tails;
use super::witness::{Witness, WitnessContext};
use crate::error::Error;

/// The `r_credential` of a credential's signature. (AnonCreds v1.0, "Supporting Revocation in a Credential".)
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NonRevocationCredentialSignature {
    pub(crate) sigma: G1,
    pub(crate) c: Scalar,
    /// v″ from the issuer; v′ + v″ once the holder has processed it.
    pub(crate) vr_prime_prime: Scalar,
    pub(crate) witness_signature: WitnessSignature,
    pub(crate) g_i: G1,
    pub(crate) i: u32,
    pub(crate) m2: Scalar,
}

/// The issuer's signature over the index.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WitnessSignature {
    pub(crate) sigma_i: G2,
    pub(crate) u_i: G2,
    pub(crate) g_i: G1,
}

/// The blinding that a holder keeps between request and credential: v′. Secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RevocationBlinding(pub(crate) Scalar);

/// The inputs for issuing a non-revocation part.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IssueRequest<'a> {
    /// The revocation index of the credential.
    pub(crate) index: u32,
    /// The credential context m₂, as in the primary part.
    pub(crate) context: &'a UBig,
    /// The holder's blinded v′: `ur` of the credential request.
    pub(crate) blinded: &'a G1,
    /// The registry's state.
    pub(crate) accumulator: &'a Accumulator,
    /// Whether the accumulator already contains the index, which is so if its bit in the status list is 0.
    pub(crate) is_active: bool,
}

/// A non-revocation part, with its witness and accumulator.
#[derive(Debug, Clone)]
pub(crate) struct Issued {
    /// The signature, for the credential.
    pub(crate) signature: NonRevocationCredentialSignature,
    /// The witness for the state `accumulator`, for the credential.
    pub(crate) witness: Witness,
    /// The registry's state with this credential in it; it differs from the previous state unless the index was in it.
    pub(crate) accumulator: Accumulator,
}

/// Blinds a fresh v′ for a credential request: h₂^v′ is `ur`.
pub(crate) fn blind(key: &RevocationKey, random: &mut Random) -> (G1, RevocationBlinding) {
    let secret = scalar(random);
    (key.multiples().h2.mul(&secret), RevocationBlinding(secret))
}

impl RegistryIssuer<'_> {
    /// Issues the non-revocation part of a credential. Secret exponents: γ^i, γ^(L+1-i), 1/(x + c), 1/(sk + γ^i), v″.
    ///
    /// # Errors
    /// [`Error::Registry`] for an index out of range, [`Error::Malformed`] for a neutral blinded secret.
    pub(crate) fn issue(
        &self,
        request: &IssueRequest<'_>,
        random: &mut Random,
    ) -> Result<Issued, Error> {
        check_index(request.index, self.capacity)?;
        if request.blinded.is_identity() {
            return Err(Error::Malformed {
                what: "the credential request",
                why: "its blinded revocation secret is the neutral element",
            });
        }
        let gamma_i = self.registry.power(request.index);
        let signature = self.sign(request, &gamma_i, random)?;
        let tail = self.g_dash(&self.tail_exponent(request.index)?);
        let (others, accumulator) = if request.is_active {
            (request.accumulator.point().sub(&tail), *request.accumulator)
        } else {
            let others = *request.accumulator.point();
            let all = Accumulator::new(others.add(&tail));
            (others, all)
        };
        Ok(Issued {
            signature,
            witness: Witness::new(others.mul(&gamma_i)),
            accumulator,
        })
    }

    fn sign(
        &self,
        request: &IssueRequest<'_>,
        gamma_i: &Scalar,
        random: &mut Random,
    ) -> Result<NonRevocationCredentialSignature, Error> {
        let (key, multiples) = (self.key.public(), self.key.multiples());
        let m2 = Scalar::from_public(request.context);
        let vr_prime_prime = scalar(random);
        let c = scalar(random);
        let g_i = multiples.g.mul(gamma_i);
        let signed = key
            .h0
            .add(&multiples.h1.mul(&m2))
            .add(request.blinded)
            .add(&g_i)
            .add(&multiples.h2.mul(&vr_prime_prime));
        let sigma = signed.mul(&inverse(&self.private.x.add(&c))?);
        let sigma_i = self.g_dash(&inverse(&self.private.sk.add(gamma_i))?);
        Ok(NonRevocationCredentialSignature {
            sigma,
            c,
            vr_prime_prime,
            witness_signature: WitnessSignature {
                sigma_i,
                u_i: key.u.mul(gamma_i),
                g_i,
            },
            g_i,
            i: request.index,
            m2,
        })
    }
}

/// The values against which a holder checks a non-revocation part.
#[derive(Debug, Clone, Copy)]
pub struct IssuedContext<'a> {
    /// The credential definition's key.
    pub key: &'a RevocationKey,
    /// The registry's key.
    pub registry: &'a RevocationKeyPublic,
    /// The registry's state that came with the credential.
    pub accumulator: &'a Accumulator,
    /// The number of credentials that the registry has room for (`maxCredNum`).
    pub capacity: u32,
    /// The credential context m₂ of the primary part.
    pub context: &'a UBig,
}

impl NonRevocationCredentialSignature {
    /// The revocation index.
    pub(crate) fn index(&self) -> u32 {
        self.i
    }

    /// The context of the credential's witness, at a state of its registry.
    pub fn witness_context<'a>(
        &'a self,
        key: &'a RevocationKey,
        registry: &'a RevocationKeyPublic,
        accumulator: &'a Accumulator,
    ) -> WitnessContext<'a> {
        WitnessContext {
            key,
            registry,
            accumulator,
            index: self.i,
            g_i: &self.g_i,
        }
    }

    /// Makes all checks and returns the part in the form in which its holder keeps it, with v′ added.
    ///
    /// Checked: the index; that m₂ is that of the primary part; that both copies of g_i are equal; the witness against
    /// the accumulator; both signatures; and that u_i has the exponent of g_i. (AnonCreds v1.0, "Receiving a
    /// Credential".)
    ///
    /// # Errors
    /// [`Error::Issuer`], or [`Error::Mismatch`] for the witness and the index.
    pub fn process(
        &self,
        context: &IssuedContext<'_>,
        blinding: &RevocationBlinding,
        witness: &Witness,
    ) -> Result<Self, Error> {
        check_index(self.i, context.capacity)?;
        if self.m2 != Scalar::from_public(context.context) {
            return Err(Error::Issuer(
                "the non-revocation part is of another credential",
            ));
        }
        if self.g_i != self.witness_signature.g_i {
            return Err(Error::Issuer("the non-revocation part names two indices"));
        }
        witness.check(&self.witness_context(context.key, context.registry, context.accumulator))?;
        let mut processed = self.clone();
        processed.vr_prime_prime = blinding.0.add(&self.vr_prime_prime);
        processed.check_signatures(context.key)?;
        Ok(processed)
    }

    /// Refuses an index that is not the exponent in g_i. This needs the registry's tails: e(g_i, g') = e(g, the tail of
    /// the index).
    ///
    /// # Errors
    /// [`Error::Issuer`] if the index differs, [`Error::Mismatch`] for tails that are not points of the group, and
    /// errors that `tails` returns.
    pub fn check_index(&self, key: &RevocationKey, tails: &impl Tails) -> Result<(), Error> {
        let mut own = TailSum::empty();
        own.add(&tails.tail(self.i)?)?;
        let public = key.public();
        let product = pair_product(&[(self.g_i, public.g_dash), (public.g.neg(), own.finish()?)]);
        if product.is_one() {
            return Ok(());
        }
        Err(Error::Issuer(
            "the non-revocation part is of another place than it names",
        ))
    }

    /// e(σ, y·ĥ^c) = e(h₀·h₁^m₂·h₂^v·g_i, ĥ); e(pk·g_i, σ_i) = e(g, g'); e(g_i, u) = e(g, u_i).
    fn check_signatures(&self, key: &RevocationKey) -> Result<(), Error> {
        let (public, multiples) = (key.public(), key.multiples());
        let signed = public
            .h0
            .add(&multiples.h1.mul(&self.m2))
            .add(&multiples.h2.mul(&self.vr_prime_prime))
            .add(&self.g_i);
        let base = public.y.add(&multiples.h_cap.mul(&self.c));
        let of_secret = pair_product(&[(self.sigma, base), (signed.neg(), public.h_cap)]);
        let of_index = pair_product(&[
            (public.pk.add(&self.g_i), self.witness_signature.sigma_i),
            (public.g.neg(), public.g_dash),
        ]);
        let of_exponent = pair_product(&[
            (self.g_i, public.u),
            (public.g.neg(), self.witness_signature.u_i),
        ]);
        for (product, why) in [
            (
                of_secret,
                "the signature over the blinded secret does not hold",
            ),
            (
                of_index,
                "the signature over the revocation index does not hold",
            ),
            (of_exponent, "the non-revocation part names two indices"),
        ] {
            if !product.is_one() {
                return Err(Error::Issuer(why));
            }
        }
        Ok(())
    }
}

/// 1/x. It fails only if a key and a random number cancel each other.
fn inverse(sum: &Scalar) -> Result<Scalar, Error> {
    sum.inverse()
        .ok_or(Error::Issuer("its secret cannot sign for this index"))
}

impl fmt::Debug for NonRevocationCredentialSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NonRevocationCredentialSignature(…)")
    }
}

impl fmt::Debug for WitnessSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WitnessSignature(…)")
    }
}

impl fmt::Debug for RevocationBlinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RevocationBlinding(…)")
    }
}
