//! Walks through a version of the tree, skipping damaged parts.

use super::node::{Child, InnerNode, TreeNode, node_key, with_nibble};
use super::{DEPTH, EMPTY, NodeRead, Root, TreeError};
use crate::log::Hash;

/// An item met on the walk.
#[derive(Debug)]
pub enum Met<'a> {
    /// A node, with its key.
    Node(&'a [u8]),
    /// A node that does not match the hash in its parent or the root. The nodes below it are skipped.
    Broken(&'a [u8], TreeError),
    /// A leaf: an object's place and digest.
    Leaf(&'a Hash, &'a Hash),
}

/// Walks through a version of the tree from left to right. `met` returns whether to descend below a node.
pub fn walk(nodes: &dyn NodeRead, root: Root, met: &mut dyn FnMut(Met<'_>) -> bool) {
    if root.hash != EMPTY {
        TreeWalk { nodes, met }.below(InnerNode::of(root), &[0; 32], 0);
    }
}

struct TreeWalk<'a> {
    nodes: &'a dyn NodeRead,
    met: &'a mut dyn FnMut(Met<'_>) -> bool,
}

impl TreeWalk<'_> {
    fn below(&mut self, inner: InnerNode, at: &Hash, depth: usize) {
        let key = node_key(inner.version, at, depth);
        if !(self.met)(Met::Node(&key)) {
            return;
        }
        let node = match depth < DEPTH {
            true => TreeNode::load(self.nodes, &key, depth, &inner.hash),
            false => Err(TreeError::Damaged),
        };
        let node = match node {
            Ok(node) => node,
            Err(error) => {
                (self.met)(Met::Broken(&key, error));
                return;
            }
        };
        for (slot, child) in node.taken() {
            match child {
                Child::Leaf(leaf) => {
                    (self.met)(Met::Leaf(&leaf.path, &leaf.value));
                }
                Child::Inner(inner) => {
                    let at = with_nibble(at, depth, slot);
                    self.below(*inner, &at, depth.saturating_add(1));
                }
            }
        }
    }
}
