//! Tails files, from whose points a holder builds a witness: generating and reading them, and checking their hash.
//!
//! A file has two bytes of version (`00 02`) and then 2L + 1 points of 128 bytes for a registry with capacity L: the
//! powers g'^(γ^k) for k from 0 to 2L, where the secret one at L + 1 is replaced by g' itself. (AnonCreds v1.0, "Tails
//! File and Tails File Generation"; the published implementations start with power 0, which the text leaves out.)

use selfsame_bignum::pairing::Scalar;
use selfsame_crypto::encoding::base58_encode;
use selfsame_crypto::hash::Sha256;

use super::key::{RevocationKey, RevocationKeyPrivate};
use super::list::{check_capacity, check_index};
use crate::error::Error;

/// The first bytes of a tails file.
pub const TAILS_VERSION: [u8; 2] = [0, 2];

/// The length of a point in a tails file, in bytes.
pub const TAIL_LENGTH: usize = 128;

/// The length of the tails file of a registry with this capacity, in bytes.
pub fn tails_length(capacity: u32) -> Result<u64, Error> {
    check_capacity(capacity)?;
    let points = u64::from(capacity).saturating_mul(2).saturating_add(1);
    Ok(points.saturating_mul(128).saturating_add(2))
}

/// Gives a holder the points of a tails file, from memory or from a file.
///
/// The file's hash must have been checked before ([`TailsFile::checked`], [`TailsHash`]). The only other check is that
/// the sum of the points is in the group and fits the accumulator, as only the right witness does.
pub trait Tails {
    /// The 128 bytes at point `index`, counted from 0: bytes `2 + 128·index ..` of the file.
    ///
    /// # Errors
    /// Any error of reading.
    fn tail(&self, index: u32) -> Result<[u8; TAIL_LENGTH], Error>;
}

/// A whole tails file in memory, with correct length, version and hash.
#[derive(Debug, Clone, Copy)]
pub struct TailsFile<'a> {
    points: &'a [[u8; TAIL_LENGTH]],
}

impl<'a> TailsFile<'a> {
    /// Checks the bytes against the registry's definition: its capacity (`maxCredNum`) and `tailsHash`.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for a different length or hash, [`Error::Malformed`] for a different version.
    pub fn checked(bytes: &'a [u8], capacity: u32, hash: &str) -> Result<Self, Error> {
        let expected = tails_length(capacity)?;
        if u64::try_from(bytes.len()).ok() != Some(expected) {
            return Err(mismatch("its length is not that of the registry's size"));
        }
        let points = match bytes.split_first_chunk() {
            Some((version, points)) if *version == TAILS_VERSION => points,
            _ => {
                return Err(Error::Malformed {
                    what: "the tails file",
                    why: "its version is unknown",
                });
            }
        };
        let mut hasher = TailsHash::new();
        hasher.update(bytes);
        if hasher.finish() != hash {
            return Err(mismatch(
                "its hash is not the one in the registry's definition",
            ));
        }
        let (points, _) = points.as_chunks();
        Ok(Self { points })
    }
}

impl Tails for TailsFile<'_> {
    fn tail(&self, index: u32) -> Result<[u8; TAIL_LENGTH], Error> {
        usize::try_from(index)
            .ok()
            .and_then(|index| self.points.get(index))
            .copied()
            .ok_or_else(|| mismatch("it has no point with this index"))
    }
}

/// The hash of a tails file, computed while it is written or read.
#[derive(Debug, Clone, Default)]
pub struct TailsHash(Sha256);

impl TailsHash {
    /// The hash at the start of a file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next bytes of the file, beginning with the version.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The `tailsHash` of the file: SHA-256 in base58.
    pub fn finish(self) -> String {
        base58_encode(&self.0.finish())
    }
}

/// The points of a registry's tails file in order, for writing the file.
///
/// Powers of γ are secret, the points are public. The multiplications by the powers are in constant time.
pub struct TailsGenerator<'a> {
    key: &'a RevocationKey,
    gamma: &'a RevocationKeyPrivate,
    power: Scalar,
    next: u32,
    capacity: u32,
}

impl<'a> TailsGenerator<'a> {
    pub(crate) fn new(
        key: &'a RevocationKey,
        gamma: &'a RevocationKeyPrivate,
        capacity: u32,
    ) -> Result<Self, Error> {
        check_capacity(capacity)?;
        Ok(Self {
            key,
            gamma,
            power: Scalar::one(),
            next: 0,
            capacity,
        })
    }
}

impl Iterator for TailsGenerator<'_> {
    type Item = [u8; TAIL_LENGTH];

    fn next(&mut self) -> Option<Self::Item> {
        let index = self.next;
        if index > self.capacity.saturating_mul(2) {
            return None;
        }
        let secret = self.capacity.saturating_add(1);
        let point = if index == secret || index == 0 {
            self.key.public().g_dash
        } else {
            self.key.multiples_of_g_dash().mul(&self.power)
        };
        self.power = self.power.mul(&self.gamma.gamma);
        self.next = index.saturating_add(1);
        Some(point.to_bytes())
    }
}

/// The index of the tail of the credential `other` in the witness of the credential `own`: L + 1 - other + own.
///
/// # Errors
/// [`Error::Registry`] if either index is out of range, or if they are equal: that tail is secret.
pub(crate) fn tail_index(own: u32, other: u32, capacity: u32) -> Result<u32, Error> {
    check_index(own, capacity)?;
    check_index(other, capacity)?;
    if own == other {
        return Err(Error::Registry(
            "a credential has no tail in its own witness",
        ));
    }
    Ok(capacity
        .saturating_add(1)
        .saturating_sub(other)
        .saturating_add(own))
}

fn mismatch(why: &'static str) -> Error {
    Error::Mismatch {
        what: "the tails file",
        why,
    }
}
