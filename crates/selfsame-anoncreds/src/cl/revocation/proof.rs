//! The proof of non-revocation: its data, and how a holder makes it.
//!
//! (AnonCreds v1.0, "Generate Non-Revocation Proofs" and "Non-Revocation Proof Generation Steps".)

use std::fmt;

use selfsame_bignum::Random;
use selfsame_bignum::pairing::{FixedGt, G1, G2, Gt, Prepared, Scalar, pair_prepared};
use serde::{Deserialize, Serialize};

use super::credential::NonRevocationCredentialSignature;
use super::key::RevocationKey;
use super::registry::Accumulator;
use super::scalar;
use super::witness::Witness;

/// The `non_revoc_proof` of a sub-proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NonRevocProof {
    pub(crate) x_list: Exponents,
    pub(crate) c_list: Commitments,
}

/// One number for each secret: the secrets, their masks, or the responses, which are public.
///
/// The Indy era had one more, `m2`. A proof with its own `m2` is not bound to the credential's primary part, so it is
/// refused.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exponents {
    pub(crate) rho: Scalar,
    pub(crate) r: Scalar,
    pub(crate) r_prime: Scalar,
    pub(crate) r_prime_prime: Scalar,
    pub(crate) r_prime_prime_prime: Scalar,
    pub(crate) o: Scalar,
    pub(crate) o_prime: Scalar,
    pub(crate) m: Scalar,
    pub(crate) m_prime: Scalar,
    pub(crate) t: Scalar,
    pub(crate) t_prime: Scalar,
    pub(crate) s: Scalar,
    pub(crate) c: Scalar,
}

/// The blinded parts of the credential: E, D, A, 𝒢, W, S, U.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Commitments {
    pub(crate) e: G1,
    pub(crate) d: G1,
    pub(crate) a: G1,
    pub(crate) g: G1,
    pub(crate) w: G2,
    pub(crate) s: G2,
    pub(crate) u: G2,
}

/// The eight values T₁ … T₈ of a proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TValues {
    pub(crate) in_g1: [G1; 4],
    pub(crate) in_gt: [Gt; 4],
}

/// The inputs from which a holder proves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Holding<'a> {
    pub(crate) key: &'a RevocationKey,
    pub(crate) accumulator: &'a Accumulator,
    /// The processed signature, with v′ added.
    pub(crate) signature: &'a NonRevocationCredentialSignature,
    /// The witness for the state `accumulator`.
    pub(crate) witness: &'a Witness,
}

/// A proof that is waiting for its challenge.
pub(crate) struct Commitment {
    secrets: Exponents,
    masks: Exponents,
    c_list: Commitments,
    t_values: TValues,
}

impl Commitment {
    /// Blinds the credential and commits to fresh masks. `m2_mask` is the mask of m₂ in the primary proof, modulo the
    /// group order: it ties the two parts together.
    pub(crate) fn new(holding: &Holding<'_>, m2_mask: &Scalar, random: &mut Random) -> Self {
        let secrets = Exponents::secrets(holding.signature, random);
        let masks = Exponents::random(random);
        let c_list = Commitments::new(holding, &secrets);
        let t_values = TValues::committed(holding, &secrets, &c_list, &masks, m2_mask);
        Self {
            secrets,
            masks,
            c_list,
            t_values,
        }
    }

    /// The bytes of the blinded parts, for the challenge and the aggregated proof.
    pub(crate) fn c_values(&self) -> Vec<Vec<u8>> {
        self.c_list.to_bytes()
    }

    /// The bytes of T₁ … T₈, for the challenge.
    pub(crate) fn t_values(&self) -> Vec<Vec<u8>> {
        self.t_values.to_bytes()
    }

    /// The proof for this challenge. It consumes the masks, because a second response would reveal the secrets.
    pub(crate) fn respond(self, challenge: &Scalar) -> NonRevocProof {
        NonRevocProof {
            x_list: self.masks.respond(&self.secrets, challenge),
            c_list: self.c_list,
        }
    }
}

impl NonRevocProof {
    /// The bytes of the blinded parts, for the challenge and the aggregated proof.
    pub(crate) fn c_values(&self) -> Vec<Vec<u8>> {
        self.c_list.to_bytes()
    }
}

impl Exponents {
    fn random(random: &mut Random) -> Self {
        let mut next = || scalar(random);
        Self {
            rho: next(),
            r: next(),
            r_prime: next(),
            r_prime_prime: next(),
            r_prime_prime_prime: next(),
            o: next(),
            o_prime: next(),
            m: next(),
            m_prime: next(),
            t: next(),
            t_prime: next(),
            s: next(),
            c: next(),
        }
    }

    /// Fresh blinding exponents, the products of them that the proof needs, and the credential's own secrets.
    fn secrets(signature: &NonRevocationCredentialSignature, random: &mut Random) -> Self {
        let drawn = Self::random(random);
        Self {
            m: drawn.rho.mul(&signature.c),
            m_prime: drawn.r.mul(&drawn.r_prime_prime),
            t: drawn.o.mul(&signature.c),
            t_prime: drawn.o_prime.mul(&drawn.r_prime_prime),
            s: signature.vr_prime_prime.clone(),
            c: signature.c.clone(),
            ..drawn
        }
    }

    fn respond(&self, secrets: &Self, challenge: &Scalar) -> Self {
        let response = |mask: &Scalar, secret: &Scalar| mask.add(&challenge.mul(secret));
        Self {
            rho: response(&self.rho, &secrets.rho),
            r: response(&self.r, &secrets.r),
            r_prime: response(&self.r_prime, &secrets.r_prime),
            r_prime_prime: response(&self.r_prime_prime, &secrets.r_prime_prime),
            r_prime_prime_prime: response(&self.r_prime_prime_prime, &secrets.r_prime_prime_prime),
            o: response(&self.o, &secrets.o),
            o_prime: response(&self.o_prime, &secrets.o_prime),
            m: response(&self.m, &secrets.m),
            m_prime: response(&self.m_prime, &secrets.m_prime),
            t: response(&self.t, &secrets.t),
            t_prime: response(&self.t_prime, &secrets.t_prime),
            s: response(&self.s, &secrets.s),
            c: response(&self.c, &secrets.c),
        }
    }
}

impl Commitments {
    fn new(holding: &Holding<'_>, x: &Exponents) -> Self {
        let key = holding.key.multiples();
        let signature = holding.signature;
        let signed_index = &signature.witness_signature;
        let blind = |point: &G2, exponent: &Scalar| point.add(&key.h_cap.mul(exponent));
        let [e, d, a, g] = G1::normalized([
            key.h.mul(&x.rho).add(&key.htilde.mul(&x.o)),
            key.g.mul(&x.r).add(&key.htilde.mul(&x.o_prime)),
            signature.sigma.add(&key.htilde.mul(&x.rho)),
            signature.g_i.add(&key.htilde.mul(&x.r)),
        ]);
        Self {
            e,
            d,
            a,
            g,
            w: blind(holding.witness.omega(), &x.r_prime),
            s: blind(&signed_index.sigma_i, &x.r_prime_prime),
            u: blind(&signed_index.u_i, &x.r_prime_prime_prime),
        }
    }

    fn to_bytes(&self) -> Vec<Vec<u8>> {
        let in_g1 = [&self.e, &self.d, &self.a, &self.g];
        let in_g2 = [&self.w, &self.s, &self.u];
        let mut values: Vec<_> = in_g1.map(|point| point.to_bytes().to_vec()).into();
        values.extend(in_g2.map(|point| point.to_bytes().to_vec()));
        values
    }
}

impl TValues {
    /// The T values of the masks `x`. Each blinded part is replaced by the value it was blinded from, so that all
    /// multiples but two are of fixed points.
    fn committed(
        holding: &Holding<'_>,
        secrets: &Exponents,
        c_list: &Commitments,
        x: &Exponents,
        m2_mask: &Scalar,
    ) -> Self {
        let (lines, key) = (holding.key.lines(), holding.key.multiples());
        let sum = |first: G1, exponent: &Scalar| first.add(&key.htilde.mul(exponent));
        let c_times = |secret: &Scalar, mask: &Scalar| secret.mul(&x.c).sub(mask);
        let r_times = |secret: &Scalar, mask: &Scalar| secret.mul(&x.r_prime_prime).sub(mask);
        let t3 = holding.signature.sigma.mul(&x.c);
        let t3 = sum(t3, &c_times(&secrets.rho, &x.m).add(&x.r))
            .sub(&key.h1.mul(m2_mask))
            .sub(&key.h2.mul(&x.s));
        let t3_y = key.htilde.mul(&x.rho.neg());
        let t7 = key.pk.mul(&x.r_prime_prime);
        let t7 = t7.add(&holding.signature.g_i.mul(&x.r_prime_prime));
        let t7 = sum(t7, &r_times(&secrets.r, &x.m_prime));
        let index = key.htilde.mul(&x.r);
        let t1 = sum(key.h.mul(&x.rho), &x.o);
        let t2 = sum(
            key.h.mul(&c_times(&secrets.rho, &x.m)),
            &c_times(&secrets.o, &x.t),
        );
        let t5 = sum(key.g.mul(&x.r), &x.o_prime);
        let t6 = sum(
            key.g.mul(&r_times(&secrets.r, &x.m_prime)),
            &r_times(&secrets.o_prime, &x.t_prime),
        );
        let t4_h_cap = key.g.mul(&x.r_prime.neg());
        let points = [t1, t2, t5, t6, t3, t3_y, index, t4_h_cap, t7];
        let [t1, t2, t5, t6, t3, t3_y, index, t4_h_cap, t7] = G1::normalized(points);
        let accumulator = Prepared::new(holding.accumulator.point());
        let s = Prepared::new(&c_list.s);
        let powers = holding.key.powers();
        Self {
            in_g1: [t1, t2, t5, t6],
            in_gt: [
                pair_prepared(&[(t3, &lines.h_cap), (t3_y, &lines.y)]),
                pair_prepared(&[(index, &accumulator), (t4_h_cap, &lines.h_cap)]),
                pair_prepared(&[(t7, &lines.h_cap), (index, &s)]),
                FixedGt::product(&[
                    (&powers.htilde_u, &x.r),
                    (&powers.g_h_cap, &x.r_prime_prime_prime.neg()),
                ]),
            ],
        }
    }

    /// In the order of the challenge: T₁, T₂ in G₁, T₃, T₄ in G_T, T₅, T₆ in G₁, T₇, T₈ in G_T.
    pub(crate) fn to_bytes(&self) -> Vec<Vec<u8>> {
        let [t1, t2, t5, t6] = self.in_g1.each_ref().map(|point| point.to_bytes().to_vec());
        let [t3, t4, t7, t8] = self.in_gt.each_ref().map(|value| value.to_bytes().to_vec());
        vec![t1, t2, t3, t4, t5, t6, t7, t8]
    }
}

impl fmt::Debug for Exponents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Exponents(…)")
    }
}

impl fmt::Debug for Commitment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Commitment(…)")
    }
}
