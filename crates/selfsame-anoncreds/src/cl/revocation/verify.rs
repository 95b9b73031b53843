//! Verification of a proof of non-revocation: T₁ … T₈ recomputed from the responses.
//!
//! (AnonCreds v1.0, "Verify Non-Revocation Proof".) Everything is public here, so times may depend on values.

use selfsame_bignum::pairing::{G1, Gt, Prepared, Scalar, pair_prepared};

use super::key::{RevocationKey, RevocationKeyPublic};
use super::proof::{NonRevocProof, TValues};
use super::registry::Accumulator;
use crate::error::Error;

/// The registry data that a verifier has before it sees the proof.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RegistryData<'a> {
    pub(crate) key: &'a RevocationKey,
    pub(crate) registry: &'a RevocationKeyPublic,
    pub(crate) accumulator: &'a Accumulator,
}

impl NonRevocProof {
    /// The bytes of T₁ … T₈ for the challenge, if the proof holds for `challenge`.
    ///
    /// `m2` is the response for m₂ in the primary proof of the same credential, modulo the group order.
    ///
    /// # Errors
    /// [`Error::Proof`] if a T value in G₁ is the neutral element, which an honest proof never has.
    pub(crate) fn t_values(
        &self,
        registry: &RegistryData<'_>,
        challenge: &Scalar,
        m2: &Scalar,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let minus = challenge.neg();
        let t_values = TValues {
            in_g1: self.in_g1(registry, &minus),
            in_gt: self.in_gt(registry, &minus, m2),
        };
        if t_values.in_g1.iter().any(G1::is_identity) {
            return Err(Error::Proof(
                "a value of the non-revocation proof is degenerate",
            ));
        }
        Ok(t_values.to_bytes())
    }

    fn in_g1(&self, registry: &RegistryData<'_>, minus: &Scalar) -> [G1; 4] {
        let (key, c, x) = (registry.key.multiples(), &self.c_list, &self.x_list);
        let sum = |point: &G1, factor: &Scalar, fixed: G1, htilde: &Scalar| {
            let variable = point.mul_public(factor);
            variable.add(&fixed).add(&key.htilde.mul_public(htilde))
        };
        G1::normalized([
            sum(&c.e, minus, key.h.mul_public(&x.rho), &x.o),
            sum(&c.e, &x.c, key.h.mul_public(&x.m.neg()), &x.t.neg()),
            sum(&c.d, minus, key.g.mul_public(&x.r), &x.o_prime),
            sum(
                &c.d,
                &x.r_prime_prime,
                key.g.mul_public(&x.m_prime.neg()),
                &x.t_prime.neg(),
            ),
        ])
    }

    /// Each value is one product of pairings: the expected part to the power `minus`, times the part of the responses.
    fn in_gt(&self, registry: &RegistryData<'_>, minus: &Scalar, m2: &Scalar) -> [Gt; 4] {
        let (lines, key) = (registry.key.lines(), registry.key.multiples());
        let (c, x) = (&self.c_list, &self.x_list);
        let challenge = minus.neg();
        let index = c.g.mul_public(minus).add(&key.htilde.mul_public(&x.r));
        let t3 = c.a.mul_public(&x.c);
        let t3 = [
            key.h0.mul_public(minus),
            key.htilde.mul_public(&x.m.neg()),
            key.h1.mul_public(&m2.neg()),
            key.h2.mul_public(&x.s.neg()),
        ]
        .iter()
        .fold(t3.add(&index), |sum, point| sum.add(point));
        let t3_y = c.a.mul_public(&challenge);
        let t3_y = t3_y.add(&key.htilde.mul_public(&x.rho.neg()));
        let t7 = c.g.mul_public(&x.r_prime_prime);
        let t7 = t7.add(&key.pk.mul_public(&x.r_prime_prime));
        let t7 = t7.add(&key.htilde.mul_public(&x.m_prime.neg()));
        let t7_s = index.add(&key.pk.mul_public(minus));
        let g = |exponent: &Scalar| key.g.mul_public(exponent);
        let points = [
            t3,
            t3_y,
            index,
            g(&challenge),
            g(&x.r_prime.neg()),
            t7_s,
            t7,
            g(&x.r_prime_prime_prime.neg()),
        ];
        let [t3, t3_y, index, g_challenge, t4_h_cap, t7_s, t7, t8_h_cap] = G1::normalized(points);
        let [w, s, u] = [&c.w, &c.s, &c.u].map(Prepared::new);
        let accumulator = Prepared::new(registry.accumulator.point());
        [
            pair_prepared(&[(t3, &lines.h_cap), (t3_y, &lines.y)]),
            pair_prepared(&[
                (index, &accumulator),
                (g_challenge, &w),
                (t4_h_cap, &lines.h_cap),
            ])
            .mul(&registry.registry.z.pow_public(&challenge)),
            pair_prepared(&[(t7_s, &s), (g_challenge, &lines.g_dash), (t7, &lines.h_cap)]),
            pair_prepared(&[
                (index, &lines.u),
                (g_challenge, &u),
                (t8_h_cap, &lines.h_cap),
            ]),
        ]
    }
}
