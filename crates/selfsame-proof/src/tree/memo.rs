//! Remembers nodes already compared with their hashes: reading many keys of one version passes the upper nodes each
//! time.

use std::cell::RefCell;
use std::collections::HashMap;

use super::node::TreeNode;
use crate::log::Hash;

/// Maximum number of nodes, each a kilobyte and a half. When it is reached, the memo is cleared.
const KEPT_MAX: usize = 4_096;

/// Remembers nodes during one operation on a tree. A node is identified by its key and hash, so changes of the tree in
/// between do no harm.
#[derive(Default)]
pub struct Memo {
    nodes: RefCell<HashMap<Vec<u8>, (Hash, TreeNode)>>,
}

impl Memo {
    pub(super) fn node(&self, key: &[u8], hash: &Hash) -> Option<TreeNode> {
        let nodes = self.nodes.borrow();
        let (of, node) = nodes.get(key)?;
        (of == hash).then(|| node.clone())
    }

    pub(super) fn keep(&self, key: &[u8], hash: &Hash, node: &TreeNode) {
        let mut nodes = self.nodes.borrow_mut();
        if nodes.len() >= KEPT_MAX {
            nodes.clear();
        }
        nodes.insert(key.to_owned(), (*hash, node.clone()));
    }
}
