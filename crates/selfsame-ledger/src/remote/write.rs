//! Writes to nodes that are not trusted: neither to have accepted a transaction, nor to refuse it rightly.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_registry::refusal::Fate;
use selfsame_registry::{Receipt, Transaction};

use super::fetch::Fetcher;
use super::node::{Callee, unanswered};
use super::nodes::{For, Nodes, better, named};
use crate::refusal::refused;

/// Seconds until another try of a transaction whose refusal is not proven.
const AGAIN_AFTER: u64 = 5;

/// Codes of refusals that state what the state contains. Only the state proves them, not the word of nodes.
const PROVABLE: [&str; 6] = [
    "already_used",
    "did_exists",
    "did_deactivated",
    "object_exists",
    "status_not_newer",
    "wrong_version",
];
/// Reads of the state for such a code, [`PAUSE`] apart: the signatures for the block may be on their way.
const TRIES: usize = 16;
const PAUSE: Duration = Duration::from_millis(50);

/// The refusals of one transaction by different nodes.
struct Refusals {
    needed: usize,
    /// The first refusal of each origin. Several nodes with one origin count once.
    heard: BTreeMap<String, Error>,
}

impl Refusals {
    /// For this number of nodes, of which less than a third lie: one refusal more than nodes may lie is needed, and at
    /// least two if there are two nodes.
    fn of(places: usize) -> Self {
        let lying = places.saturating_sub(1) / 3;
        Self {
            needed: lying.saturating_add(1).max(places.min(2)),
            heard: BTreeMap::new(),
        }
    }

    /// Adds a node's refusal. It is final once enough different origins refuse with the same code.
    fn add(&mut self, origin: String, error: Error) -> Option<Error> {
        let provable = error.code.is_some_and(|code| PROVABLE.contains(&code));
        let first = self.heard.entry(origin).or_insert_with(|| error.clone());
        let code = first.code;
        let alike = self.heard.values().filter(|other| other.code == code);
        (alike.count() >= self.needed && !provable && code == error.code).then_some(error)
    }

    /// The error while no refusal is final: the sender keeps the transaction and sends it again.
    fn undecided(&self) -> Option<Error> {
        let first = self.heard.values().next()?;
        let kind = ErrorKind::Unavailable {
            retry_after: AGAIN_AFTER,
        };
        let reason = Reason::new("refusal-unproven")
            .with("nodes", &self.heard.len())
            .because(first.reason.clone());
        Some(Error::of(kind, reason))
    }
}

impl Fetcher<'_> {
    /// Writes a transaction to the first node that accepts it and proves that.
    ///
    /// A refusal is final if the state proves it, which is read from any node that proves its answers, or if enough
    /// nodes give the same refusal. No caller may act on less: believing one node could lose the key that the registry
    /// has had since, or deny a use that took place.
    ///
    /// # Errors
    /// The registry's refusal if it is final. Any other error says nothing about the transaction.
    pub(super) async fn write(&self, transaction: &Transaction) -> Result<Receipt> {
        let nodes = &self.remote.nodes;
        let until = Nodes::patience();
        let (mut failed, mut refusals) = (None, Refusals::of(nodes.places()));
        // At each node it is the same transaction, with one receipt.
        for node in nodes.turn(For::Writes)? {
            let asked = tokio::time::timeout_at(until, node.submit(transaction)).await;
            let error = match asked.unwrap_or_else(|_| Err(unanswered())) {
                Ok(receipt) => return self.taken(&node, transaction, receipt).await,
                Err(error) => error,
            };
            if !error.is_refusal() {
                let error = nodes.failed(&node, For::Writes, error);
                failed = Some(better(failed, error));
                continue;
            }
            if let Some(receipt) = self.disproven(&node, transaction, &error).await? {
                return Ok(receipt);
            }
            if let Some(error) = refusals.add(node.name(), named(&node, error)) {
                return Err(error);
            }
        }
        let undecided = refusals.undecided().or(failed);
        Err(undecided.unwrap_or_else(|| Error::internal("a registry without nodes")))
    }

    async fn taken(
        &self,
        node: &Arc<Callee>,
        transaction: &Transaction,
        receipt: Receipt,
    ) -> Result<Receipt> {
        self.acknowledged(node, transaction, &receipt).await?;
        // Nothing proves the receipt's height, but it is not beyond the checkpoint that proves the transaction.
        let known = &self.network.known;
        known.written_at(receipt.height.min(known.height()));
        Ok(receipt)
    }

    /// The receipt of a transaction that a node refuses, if the state has what the transaction wrote.
    ///
    /// # Errors
    /// The refusal if the state excludes the transaction; `Unavailable` if no node proves the state.
    async fn disproven(
        &self,
        node: &Arc<Callee>,
        transaction: &Transaction,
        said: &Error,
    ) -> Result<Option<Receipt>> {
        let known = &self.network.known;
        let provable = said.code.is_some_and(|code| PROVABLE.contains(&code));
        let tries = if provable { TRIES } else { 1 };
        let mut fate = Fate::Open;
        for again in 0..tries {
            if again > 0 {
                tokio::time::sleep(PAUSE).await;
            }
            let read = known.read_now(self, |machine, state| machine.fate(state, transaction));
            let (found, _) = read.await.map_err(|error| unread(node, said, &error))?;
            fate = found.map_err(Error::internal)?;
            if fate != Fate::Open {
                break;
            }
        }
        match fate {
            Fate::Written(receipt) => {
                let behind = Error::upstream("node-behind-log")
                    .with("number", &receipt.seq_no)
                    .because(said.reason.clone());
                self.remote.nodes.refused(node, false, behind);
                known.written_at(receipt.height.min(known.height()));
                Ok(Some(receipt))
            }
            Fate::Excluded(refusal) => Err(refused(&refusal)),
            Fate::Open => Ok(None),
        }
    }
}

/// The error for a node's refusal while no node proves the state.
fn unread(node: &Callee, said: &Error, error: &Error) -> Error {
    let kind = ErrorKind::Unavailable {
        retry_after: AGAIN_AFTER,
    };
    Error::new(kind, "refusal-unread")
        .with("node", &node.name())
        .with_reason("said", said.reason.clone())
        .because(error.reason.clone())
}

#[cfg(test)]
mod tests {
    use selfsame_registry::refusal::CODES;

    use super::*;

    fn refusal(code: &'static str) -> Error {
        Error::new(ErrorKind::Conflict, "refused-so").with_code(code)
    }

    fn add(refusals: &mut Refusals, (origin, code): (usize, &'static str)) -> Option<Error> {
        refusals.add(format!("https://{origin}.example"), refusal(code))
    }

    #[test]
    fn a_refusal_that_nothing_proves_needs_one_more_node_than_may_lie() {
        for (places, needed) in [(1, 1), (2, 2), (3, 2), (4, 2), (6, 2), (7, 3), (10, 4)] {
            let mut refusals = Refusals::of(places);
            for origin in 1..needed {
                let heard = add(&mut refusals, (origin, "nonce_used"));
                assert!(heard.is_none(), "{places}");
                // Repeating it does not count.
                let heard = add(&mut refusals, (origin, "nonce_used"));
                assert!(heard.is_none(), "{places}");
            }
            let last = add(&mut refusals, (needed, "nonce_used"));
            assert_eq!(last.unwrap().code, Some("nonce_used"), "{places}");
        }
    }

    #[test]
    fn what_the_state_would_prove_is_believed_of_no_number_of_nodes() {
        for code in PROVABLE {
            let mut refusals = Refusals::of(1);
            assert!(
                (0..9).all(|origin| add(&mut refusals, (origin, code)).is_none()),
                "{code}"
            );
            assert!(CODES.contains(&code), "{code}");
        }
    }

    #[test]
    fn nodes_that_refuse_for_different_reasons_do_not_agree() {
        let mut refusals = Refusals::of(4);
        assert!(add(&mut refusals, (1, "nonce_used")).is_none());
        assert!(add(&mut refusals, (2, "bad_signature")).is_none());
        let undecided = refusals.undecided().unwrap();
        assert!(!undecided.is_refusal() && undecided.code.is_none());
        assert!(add(&mut refusals, (3, "bad_signature")).is_some());
    }
}
