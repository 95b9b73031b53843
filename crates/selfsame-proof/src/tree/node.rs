//! A stored node: sixteen slots, each empty, a leaf or an inner node. Its hash and its encoding.

use selfsame_crypto::hash::{sha256, sha256_parts};

use super::{EMPTY, MAX_KEY_BYTES, NodeRead, Root, TreeError};
use crate::log::Hash;

const LEAF_DOMAIN: &[u8] = b"JMT::LeafNode";
const INNER_DOMAIN: &[u8] = b"JMT::IntrnalNode";
const WIDTH: usize = 16;

/// The place of an object, which is SHA-256 of its key, and SHA-256 of the object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Leaf {
    pub(super) path: Hash,
    pub(super) value: Hash,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Child {
    Leaf(Leaf),
    Inner(InnerNode),
}

/// An inner node, by its hash. It is stored under its version.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct InnerNode {
    pub(super) hash: Hash,
    pub(super) version: u64,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct TreeNode([Option<Child>; WIDTH]);

/// A slot's contribution to the hash of the subtrees above it.
#[derive(Clone, Copy)]
enum Slot {
    Empty,
    Leaf(Hash),
    Inner(Hash),
}

/// The continuation of a path below a node.
pub(super) enum NextNode<'n> {
    /// Nothing, or the only leaf of another subtree, or the leaf at this place.
    End(Option<&'n Leaf>),
    Inner(InnerNode),
}

pub(super) fn leaf_hash(path: &Hash, value: &Hash) -> Hash {
    sha256_parts(&[LEAF_DOMAIN, path, &sha256(value)])
}

pub(super) fn inner_hash(left: &Hash, right: &Hash) -> Hash {
    let mut whole = [0_u8; INNER_DOMAIN.len() + 64];
    let (domain, hashes) = whole.split_at_mut(INNER_DOMAIN.len());
    let (to_left, to_right) = hashes.split_at_mut(left.len());
    domain.copy_from_slice(INNER_DOMAIN);
    to_left.copy_from_slice(left);
    to_right.copy_from_slice(right);
    sha256(&whole)
}

/// The nibble of a path at a depth, counted in nibbles.
pub(super) fn nibble(path: &Hash, depth: usize) -> usize {
    let byte = path.get(depth / 2).copied().unwrap_or(0);
    usize::from(if depth.is_multiple_of(2) {
        byte >> 4
    } else {
        byte & 15
    })
}

/// The path with another nibble at a depth, and zeros below.
pub(super) fn with_nibble(path: &Hash, depth: usize, nibble: usize) -> Hash {
    let mut changed = [0; 32];
    let whole = depth / 2;
    for (to, from) in changed.iter_mut().zip(path).take(whole) {
        *to = *from;
    }
    let low = u8::try_from(nibble & 15).unwrap_or(0);
    let byte = path.get(whole).copied().unwrap_or(0);
    if let Some(to) = changed.get_mut(whole) {
        *to = if depth.is_multiple_of(2) {
            low << 4
        } else {
            byte & 0xf0 | low
        };
    }
    changed
}

/// Encodes the version (8 bytes, big endian), the depth in nibbles (1 byte), and the path so far in whole bytes.
pub(super) fn node_key(version: u64, path: &Hash, depth: usize) -> Vec<u8> {
    let mut key = version.to_be_bytes().to_vec();
    key.push(u8::try_from(depth).unwrap_or(u8::MAX));
    key.extend(path.iter().take(depth / 2));
    if !depth.is_multiple_of(2) {
        key.push(path.get(depth / 2).copied().unwrap_or(0) & 0xf0);
    }
    key
}

impl InnerNode {
    /// The topmost node of a tree.
    pub(super) fn of(root: Root) -> Self {
        Self {
            hash: root.hash,
            version: root.version,
        }
    }
}

impl Leaf {
    pub(super) fn hash(&self) -> Hash {
        leaf_hash(&self.path, &self.value)
    }
}

impl TreeNode {
    /// The node with this key at a depth, if its hash is the one named by its parent or the root.
    pub(super) fn load(
        from: &dyn NodeRead,
        key: &[u8],
        depth: usize,
        hash: &Hash,
    ) -> Result<Self, TreeError> {
        let memo = from.memo();
        if let Some(node) = memo.and_then(|memo| memo.node(key, hash)) {
            return Ok(node);
        }
        let bytes = from.node(key)?.ok_or(TreeError::Missing)?;
        let node = Self::from_bytes(&bytes).ok_or(TreeError::Damaged)?;
        if !node.leaves_are_in_place(depth) || node.hash() != *hash {
            return Err(TreeError::Damaged);
        }
        if let Some(memo) = memo {
            memo.keep(key, hash, &node);
        }
        Ok(node)
    }

    /// The hash of a lone leaf does not depend on its slot, so the slot is compared with the leaf's path.
    fn leaves_are_in_place(&self, depth: usize) -> bool {
        self.0.iter().enumerate().all(|(slot, child)| match child {
            Some(Child::Leaf(leaf)) => nibble(&leaf.path, depth) == slot,
            _ => true,
        })
    }

    pub(super) fn get(&self, slot: usize) -> Option<&Child> {
        self.0.get(slot).and_then(Option::as_ref)
    }

    pub(super) fn set(&mut self, slot: usize, child: Option<Child>) {
        if let Some(place) = self.0.get_mut(slot) {
            *place = child;
        }
    }

    /// The occupied slots, from left to right.
    pub(super) fn taken(&self) -> impl DoubleEndedIterator<Item = (usize, &Child)> {
        let taken = |(slot, child): (usize, &'_ Option<Child>)| child.is_some().then_some(slot);
        let slots: Vec<usize> = self.0.iter().enumerate().filter_map(taken).collect();
        slots
            .into_iter()
            .filter_map(|slot| self.get(slot).map(|child| (slot, child)))
    }

    /// The replacement of a node that is empty or has a single leaf.
    pub(super) fn collapsed(&self) -> Option<Option<Child>> {
        let mut taken = self.0.iter().flatten();
        match (taken.next(), taken.next()) {
            (None, _) => Some(None),
            (Some(Child::Leaf(leaf)), None) => Some(Some(Child::Leaf(*leaf))),
            _ => None,
        }
    }

    pub(super) fn hash(&self) -> Hash {
        hash_of(&self.slots())
    }

    /// The continuation of a path through this node. Appends the sibling hashes, top down.
    pub(super) fn follow(&self, slot: usize, beside: &mut Vec<Hash>) -> NextNode<'_> {
        let slots = self.slots();
        let (mut range, mut first) = (slots.as_slice(), 0);
        while range.len() > 1 {
            if let Some(at) = only_leaf(range) {
                return NextNode::End(self.leaf(at.saturating_add(first)));
            }
            let half = range.len() / 2;
            let (left, right) = range.split_at(half);
            if slot < first.saturating_add(half) {
                beside.push(hash_of(right));
                range = left;
            } else {
                beside.push(hash_of(left));
                range = right;
                first = first.saturating_add(half);
            }
        }
        match self.get(slot) {
            Some(Child::Inner(inner)) => NextNode::Inner(*inner),
            Some(Child::Leaf(leaf)) => NextNode::End(Some(leaf)),
            None => NextNode::End(None),
        }
    }

    fn leaf(&self, slot: usize) -> Option<&Leaf> {
        match self.get(slot) {
            Some(Child::Leaf(leaf)) => Some(leaf),
            _ => None,
        }
    }

    fn slots(&self) -> [Slot; WIDTH] {
        self.0.each_ref().map(|child| match child {
            None => Slot::Empty,
            Some(Child::Leaf(leaf)) => Slot::Leaf(leaf.hash()),
            Some(Child::Inner(inner)) => Slot::Inner(inner.hash),
        })
    }

    /// Encodes which slots are occupied and which of these are leaves (2 bytes each, big endian, the first slot is the
    /// highest bit). Then follows, from left to right, for a leaf its place and the object's digest (32 bytes each),
    /// for an inner node its hash and version (8 bytes).
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let bits = |of: fn(&Child) -> bool| -> u16 {
            let set = |bits: u16, child: &Option<Child>| {
                bits << 1 | u16::from(child.as_ref().is_some_and(of))
            };
            self.0.iter().fold(0, set)
        };
        let mut bytes = bits(|_| true).to_be_bytes().to_vec();
        bytes.extend(bits(|child| matches!(child, Child::Leaf(_))).to_be_bytes());
        for child in self.0.iter().flatten() {
            match child {
                Child::Leaf(leaf) => {
                    bytes.extend(leaf.path);
                    bytes.extend(leaf.value);
                }
                Child::Inner(inner) => {
                    bytes.extend(inner.hash);
                    bytes.extend(inner.version.to_be_bytes());
                }
            }
        }
        bytes
    }

    pub(super) fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let rest = &mut bytes;
        let taken = u16::from_be_bytes(take(rest)?);
        let leaves = u16::from_be_bytes(take(rest)?);
        if leaves & !taken != 0 {
            return None;
        }
        let mut node = Self::default();
        let mut bit = 1_u16 << 15;
        for place in &mut node.0 {
            if leaves & bit != 0 {
                *place = Some(Child::Leaf(Leaf {
                    path: take(rest)?,
                    value: take(rest)?,
                }));
            } else if taken & bit != 0 {
                *place = Some(Child::Inner(InnerNode {
                    hash: take(rest)?,
                    version: u64::from_be_bytes(take(rest)?),
                }));
            }
            bit >>= 1;
        }
        rest.is_empty().then_some(node)
    }
}

/// The hash of adjacent slots: the empty hash if all are empty, the leaf's hash if there is only one leaf.
fn hash_of(slots: &[Slot]) -> Hash {
    match slots {
        [] | [Slot::Empty] => EMPTY,
        [Slot::Leaf(hash) | Slot::Inner(hash)] => *hash,
        _ => {
            if slots.iter().all(|slot| matches!(slot, Slot::Empty)) {
                return EMPTY;
            }
            if let Some(Slot::Leaf(hash)) = only_leaf(slots).and_then(|at| slots.get(at)) {
                return *hash;
            }
            let (left, right) = slots.split_at(slots.len() / 2);
            inner_hash(&hash_of(left), &hash_of(right))
        }
    }
}

/// The slot of the only leaf, if all other slots are empty.
fn only_leaf(slots: &[Slot]) -> Option<usize> {
    let mut taken = slots
        .iter()
        .enumerate()
        .filter(|(_, slot)| !matches!(slot, Slot::Empty));
    match (taken.next(), taken.next()) {
        (Some((at, Slot::Leaf(_))), None) => Some(at),
        _ => None,
    }
}

pub(super) fn write_key(to: &mut Vec<u8>, key: &[u8]) {
    // Keys are at most MAX_KEY_BYTES long.
    to.extend(u16::try_from(key.len()).unwrap_or(u16::MAX).to_be_bytes());
    to.extend(key);
}

pub(super) fn read_key(from: &mut &[u8]) -> Option<Vec<u8>> {
    let length = usize::from(u16::from_be_bytes(take(from)?));
    if length == 0 || length > MAX_KEY_BYTES {
        return None;
    }
    let (key, rest) = from.split_at_checked(length)?;
    *from = rest;
    Some(key.to_vec())
}

pub(super) fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = from.split_first_chunk::<N>()?;
    *from = rest;
    Some(*first)
}
