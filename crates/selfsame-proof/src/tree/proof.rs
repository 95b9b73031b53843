//! Proofs of presence and absence: bytes and verification.

use selfsame_crypto::hash::sha256;

use super::EMPTY;
use super::node::{inner_hash, leaf_hash, read_key, take, write_key};
use crate::ProofError;
use crate::log::Hash;

const PRESENT: u8 = 1;
const EMPTY_TREE: u8 = 2;
const LEFT_ONLY: u8 = 3;
const RIGHT_ONLY: u8 = 4;
const BETWEEN: u8 = 5;

const BAD: ProofError = ProofError::Tree("its bytes are malformed");

/// Why an object is, or no object is, under a key (ICS23 existence and non-existence proofs).
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Proof {
    /// The way from the root to the object.
    Present(Path),
    /// The two objects whose places are next to the key's, as far as there are any on each side.
    Absent {
        /// The last one before it.
        left: Option<Neighbour>,
        /// The first one after it.
        right: Option<Neighbour>,
    },
}

/// The hashes beside the way from the root to a leaf, from above. Which side each stands on follows
/// from the leaf's key.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Path(Vec<Hash>);

/// An object next to an absent key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Neighbour {
    /// Its key.
    pub key: Vec<u8>,
    /// SHA-256 of the object.
    pub value: Hash,
    /// The way to it.
    pub path: Path,
}

/// Verifies that under `root` the object `value`, or for `None` no object, is kept under `key`.
pub fn verify(
    root: &Hash,
    key: &[u8],
    value: Option<&[u8]>,
    proof: &Proof,
) -> Result<(), ProofError> {
    let place = sha256(key);
    match (value, proof) {
        (Some(value), Proof::Present(path)) => path.leads(root, &place, &sha256(value)),
        (None, Proof::Absent { left, right }) => absent(root, &place, (left, right)),
        (Some(_), Proof::Absent { .. }) => Err(ProofError::Tree("it proves absence of a value")),
        (None, Proof::Present(_)) => Err(ProofError::Tree("it proves presence of no value")),
    }
}

/// ICS23: the neighbours are under the root, the key lies between them, and nothing else does.
fn absent(
    root: &Hash,
    place: &Hash,
    (left, right): (&Option<Neighbour>, &Option<Neighbour>),
) -> Result<(), ProofError> {
    let left = left.as_ref().map(|left| (sha256(&left.key), left));
    let right = right.as_ref().map(|right| (sha256(&right.key), right));
    if left.as_ref().is_some_and(|(at, _)| at >= place)
        || right.as_ref().is_some_and(|(at, _)| at <= place)
    {
        return Err(ProofError::Tree(
            "the key does not lie between its neighbours",
        ));
    }
    for (at, neighbour) in [&left, &right].into_iter().flatten() {
        neighbour.path.leads(root, at, &neighbour.value)?;
    }
    let next_to_each_other = match (&left, &right) {
        (None, None) => *root == EMPTY,
        (Some((at, left)), None) => left.path.is_outermost(at, 0, true),
        (None, Some((at, right))) => right.path.is_outermost(at, 0, false),
        (Some((a, left)), Some((b, right))) => {
            // Above the place where the ways part they are the same, since both lead to the root.
            let below = common_bits(a, b).saturating_add(1);
            left.path.is_outermost(a, below, true) && right.path.is_outermost(b, below, false)
        }
    };
    match next_to_each_other {
        true => Ok(()),
        false => Err(ProofError::Tree("something may lie between the neighbours")),
    }
}

impl Path {
    pub(super) fn new(beside: Vec<Hash>) -> Self {
        Self(beside)
    }

    /// The hashes, from above.
    pub fn hashes(&self) -> &[Hash] {
        &self.0
    }

    fn leads(&self, root: &Hash, at: &Hash, value: &Hash) -> Result<(), ProofError> {
        let from_below = self.0.iter().enumerate().rev();
        let reached = from_below.fold(leaf_hash(at, value), |hash, (level, beside)| {
            match bit(at, level) {
                true => inner_hash(beside, &hash),
                false => inner_hash(&hash, beside),
            }
        });
        match reached == *root {
            true => Ok(()),
            false => Err(ProofError::Tree("it leads to another root")),
        }
    }

    /// Whether from a level on nothing is beside the way on its right (or left) side.
    fn is_outermost(&self, at: &Hash, level: usize, rightmost: bool) -> bool {
        self.0.len() >= level
            && (self.0.iter().enumerate().skip(level))
                .all(|(level, beside)| bit(at, level) == rightmost || *beside == EMPTY)
    }

    fn write(&self, to: &mut Vec<u8>) {
        // Ways are at most 255 long: two keys that share more bits are not known.
        to.push(u8::try_from(self.0.len()).unwrap_or(u8::MAX));
        for eight in self.0.chunks(8) {
            let set = |bits: u8, (n, hash): (usize, &Hash)| match *hash == EMPTY {
                true => bits,
                false => bits | 128_u8.wrapping_shr(u32::try_from(n).unwrap_or(0)),
            };
            to.push(eight.iter().enumerate().fold(0, set));
        }
        for hash in self.0.iter().filter(|hash| **hash != EMPTY) {
            to.extend_from_slice(hash);
        }
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        let [length] = take(from)?;
        let length = usize::from(length);
        let (bits, rest) = from.split_at_checked(length.div_ceil(8))?;
        *from = rest;
        let is_given = |n: usize| {
            bits.get(n / 8)
                .is_some_and(|byte| byte.wrapping_shl(u32::try_from(n % 8).unwrap_or(0)) & 128 != 0)
        };
        let mut path = Vec::with_capacity(length);
        for n in 0..length {
            path.push(match is_given(n) {
                true => take(from).filter(|hash| *hash != EMPTY)?,
                false => EMPTY,
            });
        }
        // Bits after the last are zero.
        let spare = (length..bits.len().saturating_mul(8)).any(is_given);
        (!spare).then_some(Self(path))
    }
}

impl Neighbour {
    fn write(&self, to: &mut Vec<u8>) {
        write_key(to, &self.key);
        to.extend(self.value);
        self.path.write(to);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        Some(Self {
            key: read_key(from)?,
            value: take(from)?,
            path: Path::read(from)?,
        })
    }
}

impl Proof {
    /// Kind (1 byte: 1 present, 2 absent from the empty tree, 3 after the last, 4 before the first,
    /// 5 between), then the way, or left and right neighbour. A neighbour: length of its key (2
    /// bytes), the key, the object's digest, the way. A way: its length (1 byte), a bit for each
    /// hash that is not that of an empty subtree, those hashes from above.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.usual_bytes());
        match self {
            Self::Present(path) => {
                bytes.push(PRESENT);
                path.write(&mut bytes);
            }
            Self::Absent { left, right } => {
                bytes.push(match (left, right) {
                    (None, None) => EMPTY_TREE,
                    (Some(_), None) => LEFT_ONLY,
                    (None, Some(_)) => RIGHT_ONLY,
                    (Some(_), Some(_)) => BETWEEN,
                });
                for neighbour in [left, right].into_iter().flatten() {
                    neighbour.write(&mut bytes);
                }
            }
        }
        bytes
    }

    /// As many bytes as there are where no way is that of an empty subtree.
    fn usual_bytes(&self) -> usize {
        let (present, left, right) = match self {
            Self::Present(path) => (Some(path), None, None),
            Self::Absent { left, right } => (None, left.as_ref(), right.as_ref()),
        };
        let neighbours = [left, right].into_iter().flatten();
        let keys: usize = neighbours.clone().map(|one| one.key.len()).sum();
        let paths = present.into_iter().chain(neighbours.map(|one| &one.path));
        let hashes: usize = paths.map(|path| path.0.len()).sum();
        // Each way with its length and its bits; each neighbour's digest and the length of its key.
        hashes
            .saturating_mul(33)
            .saturating_add(keys)
            .saturating_add(80)
    }

    /// Reads what [`Proof::to_bytes`] wrote, and nothing else.
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Self, ProofError> {
        let rest = &mut bytes;
        let proof = Self::read(rest).ok_or(BAD)?;
        match rest.is_empty() {
            true => Ok(proof),
            false => Err(BAD),
        }
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        let [kind] = take(from)?;
        let (left, right) = match kind {
            PRESENT => return Path::read(from).map(Self::Present),
            EMPTY_TREE => (None, None),
            LEFT_ONLY => (Some(Neighbour::read(from)?), None),
            RIGHT_ONLY => (None, Some(Neighbour::read(from)?)),
            BETWEEN => (Some(Neighbour::read(from)?), Some(Neighbour::read(from)?)),
            _ => return None,
        };
        Some(Self::Absent { left, right })
    }
}

/// The bit of a place that says which way to go at a level.
fn bit(place: &Hash, level: usize) -> bool {
    let byte = place.get(level / 8).copied().unwrap_or(0);
    byte.wrapping_shl(u32::try_from(level % 8).unwrap_or(0)) & 128 != 0
}

fn common_bits(a: &Hash, b: &Hash) -> usize {
    let levels = a.len().saturating_mul(8);
    (0..levels)
        .find(|level| bit(a, *level) != bit(b, *level))
        .unwrap_or(levels)
}
