//! Making inclusion and consistency proofs from stored hashes.

use super::{Hash, node_hash};
use crate::error::{ReadError, TreeError};

/// Reads the stored hashes of a log (see [`super::Frontier::append_and`]).
pub trait LogRead {
    /// The roots of `count` (1 to 256) consecutive perfect subtrees of 256^`level` leaves each, beginning with number
    /// `first`. All of them are in one tile: `first / 256` is the tile of the last one too.
    fn hashes(&self, level: u8, first: u64, count: u64) -> Result<Vec<Hash>, ReadError>;
}

/// RFC 6962 §2.1.1, RFC 9162 §2.1.3.1: the sibling hashes on the path from leaf `index` to the root of the first `size`
/// leaves, bottom up.
pub fn inclusion(index: u64, size: u64, log: &dyn LogRead) -> Result<Vec<Hash>, TreeError> {
    if index >= size {
        return Err(TreeError::Missing);
    }
    let mut path = Vec::new();
    let mut range = Range {
        start: 0,
        length: size,
    };
    while range.length > 1 {
        let (left, right) = range.halves();
        let (towards, beside) = match index < right.start {
            true => (left, right),
            false => (right, left),
        };
        path.push(beside.root(log)?);
        range = towards;
    }
    path.reverse();
    Ok(path)
}

/// RFC 6962 §2.1.2, RFC 9162 §2.1.4.1: proves that the log of `new` leaves begins with that of `old` leaves. The proof
/// is empty if `old` is 0 or `new`, as there is nothing to prove.
pub fn consistency(old: u64, new: u64, log: &dyn LogRead) -> Result<Vec<Hash>, TreeError> {
    if old > new {
        return Err(TreeError::Missing);
    }
    if old == 0 || old == new {
        return Ok(Vec::new());
    }
    let mut proof = Vec::new();
    let mut range = Range {
        start: 0,
        length: new,
    };
    // Descends to the subtree that ends at the end of the old log.
    while range.start.saturating_add(range.length) != old {
        let (left, right) = range.halves();
        let (towards, beside) = match old <= right.start {
            true => (left, right),
            false => (right, left),
        };
        proof.push(beside.root(log)?);
        range = towards;
    }
    // The verifier knows the old root itself.
    if range.start != 0 {
        proof.push(range.root(log)?);
    }
    proof.reverse();
    Ok(proof)
}

/// Consecutive leaves that have a common root in the log.
#[derive(Clone, Copy)]
struct Range {
    start: u64,
    length: u64,
}

impl Range {
    /// RFC 6962 §2.1: the left half has the largest power of two that is less than the number of leaves.
    fn halves(self) -> (Self, Self) {
        let left = match self.length {
            0 | 1 => self.length,
            length => 1 << length.saturating_sub(1).ilog2(),
        };
        (
            Self {
                start: self.start,
                length: left,
            },
            Self {
                start: self.start.saturating_add(left),
                length: self.length.saturating_sub(left),
            },
        )
    }

    fn root(self, log: &dyn LogRead) -> Result<Hash, TreeError> {
        let mut perfect = Vec::new();
        let mut rest = self;
        while !rest.length.is_power_of_two() {
            let (left, right) = rest.halves();
            perfect.push(left.perfect_root(log)?);
            rest = right;
        }
        let last = rest.perfect_root(log)?;
        let from_right = perfect.iter().rev();
        Ok(from_right.fold(last, |right, left| node_hash(left, &right)))
    }

    /// The root of a power of two of leaves, from the 1 to 128 hashes on the nearest stored level.
    fn perfect_root(self, log: &dyn LogRead) -> Result<Hash, TreeError> {
        let height = self.length.trailing_zeros();
        let level = height / 8;
        let first = self.start.checked_shr(level.saturating_mul(8)).unwrap_or(0);
        let count = 1_u64 << (height % 8);
        let level = u8::try_from(level).map_err(|_| TreeError::Damaged)?;
        let mut hashes = log.hashes(level, first, count)?;
        if u64::try_from(hashes.len()) != Ok(count) {
            return Err(TreeError::Missing);
        }
        while let (pairs @ [_, ..], []) = hashes.as_chunks::<2>() {
            hashes = pairs.iter().map(|[a, b]| node_hash(a, b)).collect();
        }
        hashes.first().copied().ok_or(TreeError::Damaged)
    }
}
