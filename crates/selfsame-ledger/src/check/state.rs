//! Checks the state and the tree over it: each node against the one above, each object against its leaf.

use std::collections::HashSet;

use selfsame_crypto::hash::sha256;
use selfsame_proof::log::Hash;
use selfsame_proof::tree::{Met, walk};
use selfsame_registry::{Head, StateMachine};
use selfsame_store::Result;
use selfsame_store::ledger::{KEPT_HEIGHTS, LedgerView as _};
use selfsame_store::offline::Looked;

use super::{CheckedNodes, Subject};
use crate::ledger::is_own;

impl Subject<'_> {
    /// Checks the newest tree with its objects, and the earlier trees that reads may still be proven by.
    pub(super) fn state(&self, head: Option<&Head>) -> [Looked; 2] {
        let Some(head) = head else {
            return ["tree", "objects"].map(|what| Looked::not(what, "there is no last block"));
        };
        (self.tell)("tree", 0);
        let (mut tree, mut objects) = (Looked::at("tree"), Looked::at("objects"));
        let mut met: HashSet<Vec<u8>> = HashSet::new();
        let nodes = CheckedNodes(self.file);
        walk(&nodes, head.tree, &mut |step| match step {
            Met::Node(key) => {
                tree.one(self.tell);
                met.insert(key.to_owned())
            }
            Met::Broken(key, error) => {
                tree.wrong(format!("{}: {error}", node(key)));
                false
            }
            Met::Leaf(place, digest) => {
                objects.one(self.tell);
                if let Some(wrong) = self.object(place, digest) {
                    objects.wrong(wrong);
                }
                false
            }
        });
        let last = Looked::through("tree", |looked| self.trees_before(head, &mut met, looked));
        tree.seen = tree.seen.saturating_add(last.seen);
        last.damage.into_iter().for_each(|wrong| tree.wrong(wrong));
        // The walk meets no leaf of an object below a broken node.
        if tree.is_sound() {
            let strange = self.strange(objects.seen);
            strange.into_iter().for_each(|wrong| objects.wrong(wrong));
        }
        [tree, objects]
    }

    /// Checks the trees of the blocks before, as far as they differ from the newest one.
    fn trees_before(
        &self,
        head: &Head,
        met: &mut HashSet<Vec<u8>>,
        looked: &mut Looked,
    ) -> Result<()> {
        let after = head.height.saturating_sub(KEPT_HEIGHTS);
        for row in self.file.blocks(after, KEPT_HEIGHTS)? {
            // The check of the log reports a block that can't be read.
            let Ok(block) = Head::from_bytes(&row.bytes) else {
                continue;
            };
            let nodes = CheckedNodes(self.file);
            walk(&nodes, block.tree, &mut |step| match step {
                Met::Node(key) => {
                    let new = met.insert(key.to_owned());
                    if new {
                        looked.one(self.tell);
                    }
                    new
                }
                Met::Broken(key, error) => {
                    looked.wrong(format!("{} of block {}: {error}", node(key), row.height));
                    false
                }
                Met::Leaf(..) => false,
            });
        }
        Ok(())
    }

    fn object(&self, place: &Hash, digest: &Hash) -> Option<String> {
        let key = match self.file.key(place) {
            Ok(Some(key)) => key,
            Ok(None) => return Some("an object of the tree is missing".to_owned()),
            Err(error) => return Some(format!("an object of the tree can't be read: {error}")),
        };
        let shown = key.escape_ascii();
        match self.file.get(&key) {
            Ok(Some(value)) if sha256(&value) == *digest => None,
            Ok(Some(_)) => Some(format!("{shown} does not match its leaf in the tree")),
            Ok(None) => Some(format!("{shown} is missing")),
            Err(error) => Some(format!("{shown} can't be read: {error}")),
        }
    }

    /// Reports a difference between the number of objects in the state and of leaves in the tree.
    fn strange(&self, leaves: u64) -> Option<String> {
        let mut objects = 0_u64;
        let counted = self.file.for_each_value(|value| {
            let is_object =
                value.is_ok_and(|(key, _)| !StateMachine::is_mark(&key) && !is_own(&key));
            objects = objects.saturating_add(u64::from(is_object));
            Ok(())
        });
        match counted {
            Ok(()) if objects == leaves => None,
            Ok(()) => Some(format!(
                "there are {objects} objects, and {leaves} leaves in the tree"
            )),
            Err(error) => Some(format!("the objects can't be counted: {error}")),
        }
    }
}

/// A node's name for people, from its key.
fn node(key: &[u8]) -> String {
    let digits: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("node {digits}")
}
