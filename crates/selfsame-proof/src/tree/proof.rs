//! Proofs of presence and absence: encoding and verification.

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

/// A proof that an object is, or is not, under a key (ICS23 existence and non-existence proofs).
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Proof {
    /// The path from the root to the object.
    Present(SiblingPath),
    /// The objects next to the key's place, one on each side if there is one.
    Absent {
        /// The last object before the place.
        left: Option<Neighbour>,
        /// The first object after the place.
        right: Option<Neighbour>,
    },
}

/// The sibling hashes on the path from the root to a leaf, top down. The leaf's key determines which side each is on.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SiblingPath(Vec<Hash>);

/// An object next to an absent key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Neighbour {
    /// The object's key.
    pub key: Vec<u8>,
    /// SHA-256 of the object.
    pub value: Hash,
    /// The path to the object.
    pub path: SiblingPath,
}

/// Verifies that under `root` the object `value` is stored under `key`, or no object for `None`.
pub fn verify(
    root: &Hash,
    key: &[u8],
    value: Option<&[u8]>,
    proof: &Proof,
) -> Result<(), ProofError> {
    let place = sha256(key);
    match (value, proof) {
        (Some(value), Proof::Present(path)) => path.leads(root, &place, &sha256(value)),
        (None, Proof::Absent { left, right }) => {
            absent(root, &place, left.as_ref(), right.as_ref())
        }
        (Some(_), Proof::Absent { .. }) => Err(ProofError::Tree("it proves absence of a value")),
        (None, Proof::Present(_)) => Err(ProofError::Tree("it proves presence of no value")),
    }
}

/// ICS23: the neighbours are in the tree, the key lies between them, and no other object does.
fn absent(
    root: &Hash,
    place: &Hash,
    left: Option<&Neighbour>,
    right: Option<&Neighbour>,
) -> Result<(), ProofError> {
    let left = left.map(|left| (sha256(&left.key), left));
    let right = right.map(|right| (sha256(&right.key), right));
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
            // Above the fork the paths are equal, since both lead to the root.
            let below = common_bits(a, b).saturating_add(1);
            left.path.is_outermost(a, below, true) && right.path.is_outermost(b, below, false)
        }
    };
    match next_to_each_other {
        true => Ok(()),
        false => Err(ProofError::Tree("something may lie between the neighbours")),
    }
}

impl SiblingPath {
    pub(super) fn new(beside: Vec<Hash>) -> Self {
        Self(beside)
    }

    /// The hashes, top down.
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

    /// Whether, from a level down, all siblings on the right (or left) of the path are empty.
    fn is_outermost(&self, at: &Hash, level: usize, rightmost: bool) -> bool {
        self.0.len() >= level
            && (self.0.iter().enumerate().skip(level))
                .all(|(level, beside)| bit(at, level) == rightmost || *beside == EMPTY)
    }

    fn write(&self, to: &mut Vec<u8>) {
        // Paths have at most 255 hashes: no two keys are known that share more bits.
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
        // Unused bits are zero.
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
            path: SiblingPath::read(from)?,
        })
    }
}

impl Proof {
    /// Encodes the kind (1 byte: 1 present, 2 absent from the empty tree, 3 after the last, 4 before the first, 5
    /// between), then the path, or the left and right neighbours. A neighbour: the length of its key (2 bytes), the
    /// key, the object's digest, the path. A path: its length (1 byte), a bit for each hash that is not that of an
    /// empty subtree, and those hashes, top down.
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

    /// The length of the encoding if no sibling is an empty subtree.
    fn usual_bytes(&self) -> usize {
        let (present, left, right) = match self {
            Self::Present(path) => (Some(path), None, None),
            Self::Absent { left, right } => (None, left.as_ref(), right.as_ref()),
        };
        let neighbours = [left, right].into_iter().flatten();
        let keys: usize = neighbours.clone().map(|one| one.key.len()).sum();
        let paths = present.into_iter().chain(neighbours.map(|one| &one.path));
        let hashes: usize = paths.map(|path| path.0.len()).sum();
        // Each path with its length and bits; each neighbour's digest and key length.
        hashes
            .saturating_mul(33)
            .saturating_add(keys)
            .saturating_add(80)
    }

    /// Decodes the output of [`Proof::to_bytes`]; refuses any other bytes.
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
            PRESENT => return SiblingPath::read(from).map(Self::Present),
            EMPTY_TREE => (None, None),
            LEFT_ONLY => (Some(Neighbour::read(from)?), None),
            RIGHT_ONLY => (None, Some(Neighbour::read(from)?)),
            BETWEEN => (Some(Neighbour::read(from)?), Some(Neighbour::read(from)?)),
            _ => return None,
        };
        Some(Self::Absent { left, right })
    }
}

/// The bit of a place that selects the side at a level.
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
