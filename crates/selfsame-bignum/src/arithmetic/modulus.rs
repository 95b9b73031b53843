//! A modulus and its residues.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        reason = "integers of any size do not overflow, and no residue exceeds the modulus"
    )
)]

use std::{fmt, sync::Arc};

use dashu_int::{
    Sign, UBig,
    ops::{BitTest, ExtendedGcd},
};
use zeroize::{Zeroize, Zeroizing};

use super::{
    Secret,
    engine::{Engine, Path},
    lane::Lane,
    limbs,
};
use crate::Error;

/// An odd modulus of 512 to 4,160 bits. Cloning it is cheap.
#[derive(Clone)]
pub struct Modulus(Arc<Inner>);

struct Inner {
    value: UBig,
    engine: Engine,
}

/// One residue of one modulus, coprime to it or not; it must be used with that modulus only. With another modulus, an
/// operation gives a number without meaning, or panics.
#[derive(Clone)]
pub struct Element(Box<[Lane]>);

const SHORTEST: usize = 512;
const LONGEST: usize = 4_160;

impl Modulus {
    /// Takes an odd number of 512 to 4,160 bits.
    ///
    /// # Errors
    /// [`Error::Malformed`] for an even number and a shorter one, [`Error::TooLarge`] for a longer one.
    pub fn new(n: &UBig) -> Result<Self, Error> {
        Self::on(Path::best(), n)
    }

    /// Like `new`, on a given path, which this processor must have.
    pub(super) fn on(path: Path, n: &UBig) -> Result<Self, Error> {
        if !n.bit(0) {
            return Err(malformed("it is even"));
        }
        if n.bit_len() < SHORTEST {
            return Err(malformed("it is shorter than 512 bits"));
        }
        if n.bit_len() > LONGEST {
            return Err(Error::TooLarge {
                what: "modulus",
                limit: LONGEST,
            });
        }
        Ok(Self(Arc::new(Inner {
            value: n.clone(),
            engine: Engine::new(path, n),
        })))
    }

    /// The modulus as a number.
    #[inline]
    pub fn value(&self) -> &UBig {
        &self.0.value
    }

    /// The modulus's length in bits.
    #[inline]
    pub fn bits(&self) -> usize {
        self.0.value.bit_len()
    }

    /// The residue of a number between 0 and n.
    ///
    /// # Errors
    /// [`Error::Malformed`] unless 0 < number < n.
    pub fn element(&self, number: &UBig) -> Result<Element, Error> {
        if number.is_zero() || number >= self.value() {
            return Err(Error::Malformed {
                what: "residue",
                why: "it is not between zero and the modulus",
            });
        }
        Ok(self.enter(number))
    }

    /// The residue as a number below n.
    pub fn integer(&self, element: &Element) -> UBig {
        limbs::to_integer(&self.0.engine.leave(&element.0))
    }

    /// The residue 1.
    pub fn one(&self) -> Element {
        Element::from_lanes(self.0.engine.one())
    }

    /// a·b mod n.
    pub fn product(&self, a: &Element, b: &Element) -> Element {
        let mut product = a.clone();
        self.0.engine.product(&mut product.0, Some(&b.0));
        product
    }

    /// a² mod n.
    pub fn square(&self, a: &Element) -> Element {
        let mut square = a.clone();
        self.0.engine.product(&mut square.0, None);
        square
    }

    /// The residue of a secret number of any length, in constant time in the number.
    pub fn residue(&self, number: &Secret) -> Element {
        Element::from_lanes(&Zeroizing::new(self.0.engine.reduce(number.limbs())))
    }

    /// The residue of a secret number, as a number below n that becomes public.
    pub fn rest(&self, number: &Secret) -> UBig {
        self.integer(&self.residue(number))
    }

    /// 1/a mod n, in variable time.
    ///
    /// # Errors
    /// [`Error::Malformed`] if a is not coprime to n.
    pub fn inverse(&self, a: &Element) -> Result<Element, Error> {
        let (divisor, inverse, _) = self.integer(a).gcd_ext(self.value());
        if !divisor.is_one() {
            return Err(Error::Malformed {
                what: "residue",
                why: "it is not coprime to the modulus",
            });
        }
        let inverse = match inverse.into_parts() {
            (Sign::Positive, magnitude) => magnitude % self.value(),
            (Sign::Negative, magnitude) => self.value() - magnitude % self.value(),
        };
        Ok(self.enter(&inverse))
    }

    /// The inverse of each, by one inversion for all (Montgomery).
    ///
    /// # Errors
    /// [`Error::Malformed`] if one of them is not coprime to n.
    pub fn inverse_all(&self, elements: &[Element]) -> Result<Vec<Element>, Error> {
        let mut product = self.one();
        let before: Vec<Element> = elements
            .iter()
            .map(|element| {
                let next = self.product(&product, element);
                std::mem::replace(&mut product, next)
            })
            .collect();
        let mut inverse = self.inverse(&product)?;
        let mut inverses: Vec<Element> = elements
            .iter()
            .zip(before)
            .rev()
            .map(|(element, before)| {
                let own = self.product(&inverse, &before);
                inverse = self.product(&inverse, element);
                own
            })
            .collect();
        inverses.reverse();
        Ok(inverses)
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.0.engine
    }

    /// The residue of a number below R.
    fn enter(&self, number: &UBig) -> Element {
        let limbs = limbs::from_integer(number, self.0.engine.limb_count());
        Element(self.0.engine.enter(&limbs).into_boxed_slice())
    }
}

/// The number of squares modulo n is itself a modulus, and secret.
impl Drop for Inner {
    fn drop(&mut self) {
        self.value.zeroize();
        self.engine.zeroize();
    }
}

impl Element {
    pub(super) fn from_lanes(lanes: &[Lane]) -> Self {
        Self(lanes.into())
    }

    pub(super) fn lanes(&self) -> &[Lane] {
        &self.0
    }

    #[cfg(test)]
    pub(super) fn lanes_mut(&mut self) -> &mut [Lane] {
        &mut self.0
    }
}

impl Zeroize for Element {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Modulus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Modulus({} bits, {:?})",
            self.bits(),
            self.0.engine.path()
        )
    }
}

impl fmt::Debug for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Element")
    }
}

fn malformed(why: &'static str) -> Error {
    Error::Malformed {
        what: "modulus",
        why,
    }
}
