//! Lanes of digits, and the factors of a product.

use zeroize::DefaultIsZeroes;

/// The most lanes a residue can have.
pub(super) const MOST_LANES: usize = 11;

/// The number of digits looked up in one pass over a table.
pub(super) const PICKS: usize = 4;

/// Eight digits, in the layout of one vector register.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
pub(super) struct Lane(pub(super) [u64; 8]);

/// The factors of a product that replaces `acc`; a square without an `x`.
pub(super) struct Factors<'a> {
    pub(super) acc: &'a mut [Lane],
    pub(super) x: Option<&'a [Lane]>,
}

impl<'a> Factors<'a> {
    pub(super) fn new(acc: &'a mut [Lane], x: Option<&'a [Lane]>) -> Self {
        Self { acc, x }
    }
}

impl DefaultIsZeroes for Lane {}
