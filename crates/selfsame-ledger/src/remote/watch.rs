//! Compares two nodes: whether the validators show both the same history.

use std::sync::{Arc, Mutex, PoisonError};

use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, Result};
use selfsame_proof::cbor::CborItem as _;
use selfsame_proof::checkpoint::Standing;
use selfsame_proof::entries::ProvenEntry;
use selfsame_proof::kept::Fork;
use selfsame_proof::read::{Relation, compare, compare_by_entry};
use selfsame_proof::validators::STATE_KEY;

use super::node::Callee;
use super::nodes::For;
use super::{Remote, RemoteNetwork};

/// Seconds between two comparisons. The first one follows the first read.
const COMPARED_EVERY: u64 = 300;
/// Seconds until the next node's turn after a comparison without result: a node that does not answer or proves nothing
/// must not keep the others from being compared.
const AGAIN_AFTER: u64 = 30;

/// When the next comparison is due, and with which node.
#[derive(Default)]
pub(super) struct ComparisonWatch(Mutex<NextComparison>);

#[derive(Default)]
struct NextComparison {
    at: UnixTime,
    turn: usize,
}

impl ComparisonWatch {
    /// The turn of the next node, if a comparison is due. Others then wait until the interval is over.
    fn due(&self, now: UnixTime) -> Option<usize> {
        let mut next = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if now < next.at {
            return None;
        }
        next.at = now.plus(COMPARED_EVERY);
        next.turn = next.turn.wrapping_add(1);
        Some(next.turn)
    }

    /// Lets the next comparison come sooner after one without result.
    fn again(&self, now: UnixTime) {
        let mut next = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        next.at = next.at.min(now.plus(AGAIN_AFTER));
    }
}

/// The result of a comparison.
enum Compared {
    OneHistory,
    Forked(Box<Fork>),
    /// A node did not answer, or does not prove what it shows.
    Nothing,
}

/// A checkpoint that validators signed, and the node that shows it.
struct ShownCheckpoint<'n> {
    standing: Standing,
    note: String,
    node: &'n Arc<Callee>,
}

impl Remote {
    /// Compares the newest checkpoint seen, which came from `node`, with that of another node, if a comparison is due.
    ///
    /// # Errors
    /// `Unavailable` if validators signed two histories. A node that does not answer causes no error.
    pub(super) async fn compare(&self, network: &RemoteNetwork, node: &Arc<Callee>) -> Result<()> {
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
        match self.compared(network, node, other).await {
            Compared::Forked(fork) => Err(self.stop(network, *fork).await),
            Compared::OneHistory => Ok(()),
            Compared::Nothing => {
                network.watch.again(self.clock.now());
                Ok(())
            }
        }
    }

    async fn compared(
        &self,
        network: &RemoteNetwork,
        node: &Arc<Callee>,
        other: &Arc<Callee>,
    ) -> Compared {
        let known = &network.known;
        let Some((standing, note)) = known.newest() else {
            return Compared::Nothing;
        };
        let ours = ShownCheckpoint {
            standing,
            note,
            node,
        };
        let bundle = match other.read(STATE_KEY, known.trust().from_height).await {
            Ok(bundle) => bundle,
            Err(error) => {
                tracing::warn!(node = other.name(), %error, "a node of the registry could not be compared");
                return Compared::Nothing;
            }
        };
        let Some(standing) = known.signed(STATE_KEY, &bundle) else {
            tracing::warn!(
                node = other.name(),
                "a node of the registry shows a checkpoint that no trusted validators signed"
            );
            return Compared::Nothing;
        };
        let theirs = ShownCheckpoint {
            standing,
            note: bundle.note,
            node: other,
        };
        let (shorter, longer) = match ours.standing.size >= theirs.standing.size {
            true => (theirs, ours),
            false => (ours, theirs),
        };
        let sizes = (shorter.standing.size, longer.standing.size);
        let proof = match sizes.0 == sizes.1 || sizes.0 == 0 {
            true => Vec::new(),
            false => longer
                .node
                .consistency(sizes.0, sizes.1)
                .await
                .unwrap_or_default(),
        };
        match compare(&shorter.standing, &longer.standing, &proof) {
            Relation::Same | Relation::Extends => Compared::OneHistory,
            Relation::Fork => self.forked(&shorter, &longer, None),
            Relation::Unproven => self.compared_by_entry(network, &shorter, longer).await,
        }
    }

    /// Compares by the next transaction. A log without a proof that it extends the shorter one either is another log,
    /// as its next transaction shows, or its node withholds the proof. Then other nodes are asked before that node.
    async fn compared_by_entry(
        &self,
        network: &RemoteNetwork,
        shorter: &ShownCheckpoint<'_>,
        longer: ShownCheckpoint<'_>,
    ) -> Compared {
        let (known, node) = (&network.known, longer.node);
        let next = shorter.standing.size.saturating_add(1);
        let answer = match node.proven(&[next], known.trust().from_height).await {
            Ok(answer) => answer,
            Err(error) => {
                self.nodes.refused(node, false, error);
                return Compared::Nothing;
            }
        };
        let note = answer.bundle.note.clone();
        let signed = known.signed(STATE_KEY, &answer.bundle);
        let entry = signed.and_then(|standing| {
            let entries = answer.judged(&[next], &standing).ok()?;
            Some((standing, entries.into_iter().next()?))
        });
        let Some((standing, entry)) = entry else {
            let error = Error::upstream("log-extension-unproven");
            self.nodes.refused(node, true, error);
            return Compared::Nothing;
        };
        match compare_by_entry(&shorter.standing, &standing, &entry) {
            Relation::Same | Relation::Extends => Compared::OneHistory,
            Relation::Unproven => Compared::Nothing,
            Relation::Fork => {
                let longer = ShownCheckpoint {
                    standing,
                    note,
                    node,
                };
                self.forked(shorter, &longer, Some(&entry))
            }
        }
    }

    fn forked(
        &self,
        first: &ShownCheckpoint<'_>,
        second: &ShownCheckpoint<'_>,
        entry: Option<&ProvenEntry>,
    ) -> Compared {
        Compared::Forked(Box::new(Fork {
            found: self.clock.now(),
            height: first.standing.height.max(second.standing.height),
            notes: [first.note.clone(), second.note.clone()],
            entry: entry.map(ProvenEntry::to_cbor).unwrap_or_default(),
            nodes: [first.node.name(), second.node.name()],
        }))
    }
}
