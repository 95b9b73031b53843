//! An issuer's private key, checked against its public key, and the computations that need it.

use std::fmt;

use dashu_int::UBig;
use selfsame_bignum::{Element, Modulus, PrivateModulus, Random, Secret};
use zeroize::{Zeroize as _, Zeroizing};

use super::key::CredentialKey;
use super::key_data::PrimaryPrivateKey;
use crate::Error;

/// The key pair of a credential definition, ready for issuing.
pub struct IssuerKey {
    key: CredentialKey,
    private: PrivateModulus,
    order: Modulus,
}

const NOT_A_PAIR: Error = Error::Mismatch {
    what: "the private key",
    why: "it is not that of the credential definition",
};

impl IssuerKey {
    /// Joins the public and private parts of a key.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if n is not the product of the two factors.
    pub fn new(key: &CredentialKey, private: &PrimaryPrivateKey) -> Result<Self, Error> {
        let (mut p, mut q) = (safe(&private.p), safe(&private.q));
        let made = PrivateModulus::new(&p, &q);
        p.zeroize();
        q.zeroize();
        let made = made.map_err(|_| NOT_A_PAIR)?;
        if made.modulus().value() != key.modulus().value() || private.p == private.q {
            return Err(NOT_A_PAIR);
        }
        Ok(Self {
            key: key.clone(),
            private: made,
            order: Modulus::new(&Zeroizing::new(product(&private.p, &private.q)))
                .map_err(|_| NOT_A_PAIR)?,
        })
    }

    /// The public key.
    pub fn key(&self) -> &CredentialKey {
        &self.key
    }

    /// p'·q', the number of quadratic residues.
    pub(crate) fn order(&self) -> &UBig {
        self.order.value()
    }

    /// The quadratic residue whose e-th power is `base`; an error if `base` is not a quadratic residue.
    pub(crate) fn root(&self, base: &Element, e: &UBig) -> Result<Element, Error> {
        Ok(self.private.power_inverse_exponent(base, e)?)
    }

    /// base^exponent.
    pub(crate) fn power(&self, base: &Element, exponent: &Secret) -> Element {
        self.private.power(base, exponent)
    }

    /// (mask - c/e) mod p'·q': the response of a signature correctness proof.
    ///
    /// 1/e is computed from the inverse of e times a random factor, so that the time reveals nothing about it.
    pub(crate) fn response(
        &self,
        mask: &UBig,
        c: &UBig,
        e: &UBig,
        random: &mut Random,
    ) -> Result<UBig, Error> {
        let order = &self.order;
        let blind = order.element(&random.below(self.order()))?;
        let blinded = order.product(&order.element(e)?, &blind);
        let inverse = order.product(&order.inverse(&blinded)?, &blind);
        let product = order.product(&order.element(c)?, &inverse);
        Ok(subtract(mask, &order.integer(&product), self.order()))
    }
}

impl fmt::Debug for IssuerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IssuerKey")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// 2p' + 1.
fn safe(half: &UBig) -> UBig {
    let mut safe = product(half, &UBig::from(2_u8));
    safe.set_bit(0);
    safe
}

#[expect(
    clippy::arithmetic_side_effects,
    reason = "integers of any size do not overflow"
)]
fn product(a: &UBig, b: &UBig) -> UBig {
    a * b
}

/// (a - b) mod `modulus` for numbers below it.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "the modulus is added first: b is below it"
)]
fn subtract(a: &UBig, b: &UBig, modulus: &UBig) -> UBig {
    (a + modulus - b) % modulus
}
