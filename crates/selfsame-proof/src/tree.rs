//! The state as a Jellyfish Merkle tree with SHA-256: updates, and proofs of presence and absence.
//!
//! A key's place is its SHA-256. One stored node covers four levels of the binary tree, and a subtree with one leaf is
//! replaced by that leaf (Jellyfish Merkle Tree, Diem 2021, §3). Roots and proofs are those of the crate `jmt`. Proofs
//! follow its ICS23 specification, with the object's digest as the value.

use std::collections::BTreeMap;

use selfsame_crypto::hash::sha256;

use crate::log::Hash;

use node::{Child, InnerNode, Leaf, TreeNode, nibble, node_key};

mod memo;
mod node;
mod proof;
mod prove;
#[cfg(test)]
mod tests;
mod walk;

pub use crate::error::{ReadError, TreeError};
pub use memo::Memo;
pub use proof::{Neighbour, Proof, SiblingPath, verify};
pub use prove::{digest, prove};
pub use walk::{Met, walk};

/// The root of the empty tree.
pub const EMPTY: Hash = *b"SPARSE_MERKLE_PLACEHOLDER_HASH__";
/// Maximum length of a key, in bytes.
pub const MAX_KEY_BYTES: usize = 1024;

/// The number of nibbles in a path.
const DEPTH: usize = 64;

/// Reads the nodes of a tree.
pub trait NodeRead {
    /// The node with a key of [`Changes::nodes`].
    fn node(&self, key: &[u8]) -> Result<Option<Vec<u8>>, ReadError>;
    /// The key of an object, by its place, which is SHA-256 of the key. A store of the objects has their keys already.
    fn key_at(&self, place: &Hash) -> Result<Option<Vec<u8>>, ReadError>;
    /// The memo of nodes already compared with their hashes, if there is one.
    fn memo(&self) -> Option<&Memo> {
        None
    }
}

/// A map of nodes that also contains the objects' keys, by their places.
impl NodeRead for BTreeMap<Vec<u8>, Vec<u8>> {
    fn node(&self, key: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
        Ok(self.get(key).cloned())
    }

    fn key_at(&self, place: &Hash) -> Result<Option<Vec<u8>>, ReadError> {
        Ok(self.get(&place[..]).cloned())
    }
}

/// A version of the tree: its root hash and its last change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Root {
    /// The version (block height) of the last change. The root node is stored under it.
    pub version: u64,
    /// The root hash.
    pub hash: Hash,
}

impl Root {
    /// The empty tree, before the first write.
    pub const EMPTY: Self = Self {
        version: 0,
        hash: EMPTY,
    };
}

/// The result of an update: everything to store.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Changes {
    /// The new root; the previous one if nothing changed.
    pub root: Root,
    /// New nodes with their keys. A key is never written twice with different content.
    pub nodes: Vec<(Vec<u8>, Vec<u8>)>,
    /// Keys of nodes that this version no longer uses. Older versions need them.
    pub stale: Vec<Vec<u8>>,
}

/// The write of one key, by its place.
struct Write {
    path: Hash,
    value: Option<Hash>,
}

/// Puts (`Some`) and removes (`None`) objects by key. The first `version` may be 0; each must be greater than all
/// before. If a key occurs twice, the last write counts. Old objects are not read.
pub fn update<'w>(
    nodes: &dyn NodeRead,
    before: Root,
    version: u64,
    writes: impl IntoIterator<Item = (&'w [u8], Option<&'w [u8]>)>,
) -> Result<Changes, TreeError> {
    let writes = sorted(writes)?;
    let mut update = Update {
        before: nodes,
        version,
        nodes: Vec::new(),
        stale: Vec::new(),
    };
    if !writes.is_empty() && before != Root::EMPTY && version <= before.version {
        return Err(TreeError::Version);
    }
    let top = (before.hash != EMPTY).then_some(Child::Inner(InnerNode::of(before)));
    let root = match update.place(top, 0, &writes)? {
        None if before.hash == EMPTY => before,
        None => Root {
            version,
            hash: EMPTY,
        },
        Some(Child::Inner(InnerNode { hash, version })) => Root { version, hash },
        // The root is always stored as a node, even with a single leaf.
        Some(Child::Leaf(leaf)) => {
            let path = leaf.path;
            let mut node = TreeNode::default();
            node.set(nibble(&path, 0), Some(Child::Leaf(leaf)));
            let hash = update.store(&node, &path, 0);
            Root { version, hash }
        }
    };
    Ok(Changes {
        root,
        nodes: update.nodes,
        stale: update.stale,
    })
}

fn sorted<'w>(
    writes: impl IntoIterator<Item = (&'w [u8], Option<&'w [u8]>)>,
) -> Result<Vec<Write>, TreeError> {
    let mut sorted = BTreeMap::new();
    for (key, object) in writes {
        if key.is_empty() || key.len() > MAX_KEY_BYTES {
            return Err(TreeError::Key);
        }
        let write = Write {
            path: sha256(key),
            value: object.map(sha256),
        };
        sorted.insert(write.path, write);
    }
    Ok(sorted.into_values().collect())
}

struct Update<'n> {
    before: &'n dyn NodeRead,
    version: u64,
    nodes: Vec<(Vec<u8>, Vec<u8>)>,
    stale: Vec<Vec<u8>>,
}

impl Update<'_> {
    /// The child at a place `depth` nibbles below the root, after the writes below it.
    fn place(
        &mut self,
        child: Option<Child>,
        depth: usize,
        writes: &[Write],
    ) -> Result<Option<Child>, TreeError> {
        let (leaf, writes) = match (child, writes) {
            (child, []) => return Ok(child),
            (Some(Child::Inner(inner)), writes) => return self.descend(inner, depth, writes),
            (Some(Child::Leaf(leaf)), writes) => (Some(leaf), writes),
            (None, writes) => (None, writes),
        };
        let mut leaves: Vec<Leaf> = writes.iter().filter_map(Write::leaf).collect();
        if let Some(leaf) = leaf.filter(|leaf| writes.iter().all(|write| write.path != leaf.path)) {
            let at = leaves.partition_point(|other| other.path < leaf.path);
            leaves.insert(at, leaf);
        }
        self.build(&leaves, depth)
    }

    /// Applies writes to a stored node.
    fn descend(
        &mut self,
        inner: InnerNode,
        depth: usize,
        writes: &[Write],
    ) -> Result<Option<Child>, TreeError> {
        let path = writes.first().map_or(EMPTY, |write| write.path);
        let key = node_key(inner.version, &path, depth);
        let mut node = TreeNode::load(self.before, &key, depth, &inner.hash)?;
        let mut changed = false;
        let same = |a: &Write, b: &Write| nibble(&a.path, depth) == nibble(&b.path, depth);
        for group in writes.chunk_by(same) {
            let slot = group.first().map_or(0, |write| nibble(&write.path, depth));
            let before = node.get(slot).cloned();
            let after = self.place(before.clone(), depth.saturating_add(1), group)?;
            changed |= before != after;
            node.set(slot, after);
        }
        if !changed {
            return Ok(Some(Child::Inner(inner)));
        }
        self.stale.push(key);
        // A subtree with one leaf is replaced by that leaf.
        if let Some(alone) = node.collapsed() {
            return Ok(alone);
        }
        Ok(Some(self.stored(&node, &path, depth)))
    }

    /// Builds a new subtree.
    fn build(&mut self, leaves: &[Leaf], depth: usize) -> Result<Option<Child>, TreeError> {
        let path = match leaves {
            [] => return Ok(None),
            [leaf] => return Ok(Some(Child::Leaf(*leaf))),
            // Two different keys have the same SHA-256.
            _ if depth >= DEPTH => return Err(TreeError::Damaged),
            [leaf, ..] => leaf.path,
        };
        let mut node = TreeNode::default();
        for group in leaves.chunk_by(|a, b| nibble(&a.path, depth) == nibble(&b.path, depth)) {
            let slot = group.first().map_or(0, |leaf| nibble(&leaf.path, depth));
            node.set(slot, self.build(group, depth.saturating_add(1))?);
        }
        Ok(Some(self.stored(&node, &path, depth)))
    }

    fn stored(&mut self, node: &TreeNode, path: &Hash, depth: usize) -> Child {
        Child::Inner(InnerNode {
            hash: self.store(node, path, depth),
            version: self.version,
        })
    }

    fn store(&mut self, node: &TreeNode, path: &Hash, depth: usize) -> Hash {
        let key = node_key(self.version, path, depth);
        self.nodes.push((key, node.to_bytes()));
        node.hash()
    }
}

impl Write {
    fn leaf(&self) -> Option<Leaf> {
        self.value.map(|value| Leaf {
            path: self.path,
            value,
        })
    }
}
