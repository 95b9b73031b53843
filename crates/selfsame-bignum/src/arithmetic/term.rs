//! The bases and exponents of powers.

use dashu_int::IBig;

use super::{Secret, comb::FixedBase, modulus::Element};

/// A base of a power.
#[derive(Clone, Copy)]
pub enum Base<'a> {
    /// A base with a table.
    Fixed(&'a FixedBase),
    /// Any other base.
    Variable(&'a Element),
}

/// A base and its public exponent, which may be negative.
#[derive(Clone, Copy)]
pub struct Term<'a> {
    /// The base.
    pub base: Base<'a>,
    /// The exponent.
    pub exponent: &'a IBig,
}

/// A base and its secret exponent, which must not be negative.
#[derive(Clone, Copy)]
pub struct SecretTerm<'a> {
    /// The base.
    pub base: Base<'a>,
    /// The exponent.
    pub exponent: &'a Secret,
}
