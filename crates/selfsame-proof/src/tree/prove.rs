//! Making proofs from stored nodes.

use selfsame_crypto::hash::sha256;

use super::node::{Child, InnerNode, Leaf, NextNode, TreeNode, nibble, node_key, with_nibble};
use super::{DEPTH, EMPTY, Neighbour, NodeRead, Proof, Root, SiblingPath, TreeError};
use crate::log::Hash;

/// Proves the presence or absence of an object under a key in a version of the tree. Objects are not read. For absence,
/// the keys of the two neighbours are read.
pub fn prove(nodes: &dyn NodeRead, root: Root, key: &[u8]) -> Result<Proof, TreeError> {
    if root.hash == EMPTY {
        return Ok(Proof::Absent {
            left: None,
            right: None,
        });
    }
    let place = sha256(key);
    let tree = Tree { nodes, root };
    let way = tree.walk(&place)?;
    if way.end.as_ref().is_some_and(|leaf| leaf.path == place) {
        return Ok(Proof::Present(SiblingPath::new(way.beside)));
    }
    let neighbour = |before| -> Result<_, TreeError> {
        match tree.next_to(&way, &place, before)? {
            Some(leaf) => tree.neighbour(leaf).map(Some),
            None => Ok(None),
        }
    };
    Ok(Proof::Absent {
        left: neighbour(true)?,
        right: neighbour(false)?,
    })
}

/// The digest of the object under a key in a version of the tree; `None` if there is no object. All nodes on the path
/// are compared with their hashes, so the digest can be trusted without a proof.
///
/// # Errors
/// `Damaged` if a node has been changed, `Missing` if a node is missing, `Read` if the store fails.
pub fn digest(nodes: &dyn NodeRead, root: Root, key: &[u8]) -> Result<Option<Hash>, TreeError> {
    if root.hash == EMPTY {
        return Ok(None);
    }
    let place = sha256(key);
    let mut inner = InnerNode::of(root);
    for depth in 0..DEPTH {
        let key = node_key(inner.version, &place, depth);
        let node = TreeNode::load(nodes, &key, depth, &inner.hash)?;
        match node.get(nibble(&place, depth)) {
            Some(Child::Inner(next)) => inner = *next,
            Some(Child::Leaf(leaf)) if leaf.path == place => return Ok(Some(leaf.value)),
            Some(Child::Leaf(_)) | None => return Ok(None),
        }
    }
    Err(TreeError::Damaged)
}

struct Tree<'n> {
    nodes: &'n dyn NodeRead,
    root: Root,
}

/// The path from the root towards a place.
struct TreeWay {
    /// The nodes passed, top down.
    nodes: Vec<TreeNode>,
    /// The sibling hashes, top down.
    beside: Vec<Hash>,
    /// The leaf at its end, which may have another place.
    end: Option<Leaf>,
}

impl Tree<'_> {
    fn walk(&self, place: &Hash) -> Result<TreeWay, TreeError> {
        let mut way = TreeWay {
            nodes: Vec::new(),
            beside: Vec::new(),
            end: None,
        };
        let mut inner = InnerNode::of(self.root);
        for depth in 0..DEPTH {
            let key = node_key(inner.version, place, depth);
            let node = TreeNode::load(self.nodes, &key, depth, &inner.hash)?;
            let next = match node.follow(nibble(place, depth), &mut way.beside) {
                NextNode::Inner(next) => Some(next),
                NextNode::End(leaf) => {
                    way.end = leaf.copied();
                    None
                }
            };
            way.nodes.push(node);
            match next {
                Some(next) => inner = next,
                None => return Ok(way),
            }
        }
        Err(TreeError::Damaged)
    }

    fn neighbour(&self, leaf: Leaf) -> Result<Neighbour, TreeError> {
        let way = self.walk(&leaf.path)?;
        let key = self.nodes.key_at(&leaf.path)?.ok_or(TreeError::Missing)?;
        if sha256(&key) != leaf.path {
            return Err(TreeError::Damaged);
        }
        Ok(Neighbour {
            key,
            value: leaf.value,
            path: SiblingPath::new(way.beside),
        })
    }

    /// The last leaf before a place, or the first after it.
    fn next_to(
        &self,
        way: &TreeWay,
        place: &Hash,
        before: bool,
    ) -> Result<Option<Leaf>, TreeError> {
        if let Some(leaf) = way
            .end
            .as_ref()
            .filter(|leaf| (leaf.path < *place) == before)
        {
            return Ok(Some(*leaf));
        }
        for (depth, node) in way.nodes.iter().enumerate().rev() {
            let own = nibble(place, depth);
            let beside = match before {
                true => node.taken().rfind(|(slot, _)| *slot < own),
                false => node.taken().find(|(slot, _)| *slot > own),
            };
            if let Some((slot, child)) = beside {
                let at = with_nibble(place, depth, slot);
                return self
                    .outermost(child, at, depth.saturating_add(1), before)
                    .map(Some);
            }
        }
        Ok(None)
    }

    /// The last (or first) leaf of the subtree at a place, `depth` nibbles below the root.
    fn outermost(
        &self,
        child: &Child,
        mut at: Hash,
        depth: usize,
        last: bool,
    ) -> Result<Leaf, TreeError> {
        let mut child = child.clone();
        for depth in depth..=DEPTH {
            let inner = match child {
                Child::Leaf(leaf) => return Ok(leaf),
                Child::Inner(inner) => inner,
            };
            let key = node_key(inner.version, &at, depth);
            let node = TreeNode::load(self.nodes, &key, depth, &inner.hash)?;
            let outermost = match last {
                true => node.taken().next_back(),
                false => node.taken().next(),
            };
            let (slot, below) = outermost.ok_or(TreeError::Damaged)?;
            at = with_nibble(&at, depth, slot);
            child = below.clone();
        }
        Err(TreeError::Damaged)
    }
}
