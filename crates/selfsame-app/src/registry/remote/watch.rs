//! Comparing two nodes: whether the validators show both the same history.

use std::sync::{Arc, Mutex, PoisonError};

use selfsame_crypto::time::UnixTime;
use selfsame_proof::read::{Relation, compare};
use selfsame_proof::validators::STATE_KEY;

use super::kept::Fork;
use super::node::Node;
use super::nodes::For;
use super::{Network, Remote};
use crate::error::Result;

/// Seconds between two comparisons; the first comes with the first read.
const COMPARED_EVERY: u64 = 300;

/// When two nodes are compared next, and which one.
#[derive(Default)]
pub(super) struct Watch(Mutex<Next>);

#[derive(Default)]
struct Next {
    at: UnixTime,
    turn: usize,
}

impl Watch {
    /// Whose turn it is now; no one else's until the interval is over.
    fn due(&self, now: UnixTime) -> Option<usize> {
        let mut next = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if now < next.at {
            return None;
        }
        next.at = now.plus(COMPARED_EVERY);
        next.turn = next.turn.wrapping_add(1);
        Some(next.turn)
    }
}

impl Remote {
    /// Compares the newest checkpoint seen, which came from `node`, with that of another node, if it is time.
    ///
    /// # Errors
    /// `Unavailable` if validators signed two histories. A node that does not answer proves nothing.
    pub(super) async fn compare(&self, network: &Network, node: &Arc<Node>) -> Result<()> {
        let Some(turn) = network.watch.due(self.clock.now()) else {
            return Ok(());
        };
        let others = self.nodes.turn(For::Reads).unwrap_or_default();
        let others: Vec<_> = others
            .into_iter()
            .filter(|other| !Arc::ptr_eq(other, node))
            .collect();
        let Some(other) = turn
            .checked_rem(others.len())
            .and_then(|turn| others.get(turn))
        else {
            return Ok(());
        };
        match self.contradiction(network, (node, other)).await {
            Some(fork) => Err(self.stop(network, fork).await),
            None => Ok(()),
        }
    }

    async fn contradiction(
        &self,
        network: &Network,
        (node, other): (&Arc<Node>, &Arc<Node>),
    ) -> Option<Fork> {
        let known = &network.known;
        let (ours, note) = known.newest()?;
        let bundle = match other.read(STATE_KEY, known.trust().from_height).await {
            Ok(bundle) => bundle,
            Err(error) => {
                tracing::warn!(node = other.name(), %error, "a node of the registry could not be compared");
                return None;
            }
        };
        let Some(theirs) = known.signed(STATE_KEY, &bundle) else {
            tracing::warn!(
                node = other.name(),
                "a node of the registry shows a checkpoint that nobody trusted signed"
            );
            return None;
        };
        let (longer, sizes) = match ours.size >= theirs.size {
            true => (node, (theirs.size, ours.size)),
            false => (other, (ours.size, theirs.size)),
        };
        let proof = match sizes.0 == sizes.1 || sizes.0 == 0 {
            true => Vec::new(),
            false => longer
                .consistency(sizes.0, sizes.1)
                .await
                .unwrap_or_default(),
        };
        match compare(&ours, &theirs, &proof) {
            Relation::Same | Relation::Extends => None,
            Relation::Unproven => {
                tracing::warn!(
                    node = longer.name(),
                    "a node of the registry does not prove that its log goes on from the other's"
                );
                None
            }
            Relation::Fork => Some(Fork {
                found: self.clock.now(),
                height: ours.height.max(theirs.height),
                notes: [note, bundle.note],
                nodes: [node.name(), other.name()],
            }),
        }
    }
}
