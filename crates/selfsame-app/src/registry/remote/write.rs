//! Writing to nodes that are not believed: neither that they took a transaction, nor that they refuse it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use selfsame_registry::refusal::Fate;
use selfsame_registry::{Receipt, Transaction};

use super::fetch::Fetcher;
use super::node::{Node, unanswered};
use super::nodes::{For, Nodes, better, named};
use crate::error::{Error, ErrorKind, Result};
use crate::registry::{is_refusal, refused};

/// Seconds after which a transaction that nobody was proven to refuse is worth another try.
const AGAIN_AFTER: u64 = 5;

/// What a node that says one of these says of the state: so it is for the state to prove, and for nobody's word.
const PROVABLE: [&str; 6] = [
    "already_used",
    "did_exists",
    "did_deactivated",
    "object_exists",
    "status_not_newer",
    "wrong_version",
];
/// So often the state is read for one of these, and after this time: the signatures under its block may be on their way.
const TRIES: usize = 16;
const PAUSE: Duration = Duration::from_millis(50);

/// What different nodes say against one transaction.
struct Refusals {
    needed: usize,
    /// What each origin said first: who says it twice under two names is one.
    heard: BTreeMap<String, Error>,
}

impl Refusals {
    /// Where so many nodes are known, of which less than a third lies: one more than those agree with each other, and never
    /// one alone where there is another to ask.
    fn of(places: usize) -> Self {
        let lying = places.saturating_sub(1) / 3;
        Self {
            needed: lying.saturating_add(1).max(places.min(2)),
            heard: BTreeMap::new(),
        }
    }

    /// A node's; what enough of different origins say is final.
    fn add(&mut self, origin: String, error: Error) -> Option<Error> {
        let provable = error.code.is_some_and(|code| PROVABLE.contains(&code));
        let first = self.heard.entry(origin).or_insert_with(|| error.clone());
        let code = first.code;
        let alike = self.heard.values().filter(|other| other.code == code);
        (alike.count() >= self.needed && !provable && code == error.code).then_some(error)
    }

    /// No refusal: whoever keeps the transaction sends it again.
    fn undecided(&self) -> Option<Error> {
        let first = self.heard.values().next()?;
        let kind = ErrorKind::Unavailable {
            retry_after: AGAIN_AFTER,
        };
        let reason = format!(
            "{} of the registry's nodes refuse the transaction, and nothing proves that they are right: {}",
            self.heard.len(),
            first.reason
        );
        let error = Error::new(kind, reason);
        Some(error.with_hint("it is stored; if the node is wrong, another one will accept it"))
    }
}

impl Fetcher<'_> {
    /// Writes a transaction at the first node that takes it and proves that.
    ///
    /// A refusal is final if the state proves it, which is read from any node that proves what it says, or if enough nodes
    /// say the same. Before that nobody may act on it: whoever believes one node loses the key that the registry has had
    /// since, or denies a use that took place.
    ///
    /// # Errors
    /// The registry's refusal; any other error says nothing about the transaction.
    pub(super) async fn write(&self, transaction: &Transaction) -> Result<Receipt> {
        let nodes = &self.remote.nodes;
        let until = Nodes::patience();
        let (mut failed, mut refusals) = (None, Refusals::of(nodes.places()));
        // The same transaction at another node is the same transaction: it has one receipt.
        for node in nodes.turn(For::Writes)? {
            let asked = tokio::time::timeout_at(until, node.submit(transaction)).await;
            let error = match asked.unwrap_or_else(|_| Err(unanswered())) {
                Ok(receipt) => return self.taken(&node, (transaction, receipt)).await,
                Err(error) => error,
            };
            if !is_refusal(&error) {
                let error = nodes.failed(&node, (For::Writes, error));
                failed = Some(better(failed, error));
                continue;
            }
            if let Some(receipt) = self.disproven(&node, (transaction, &error)).await? {
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
        node: &Arc<Node>,
        (transaction, receipt): (&Transaction, Receipt),
    ) -> Result<Receipt> {
        self.acknowledged(node, (transaction, &receipt)).await?;
        // Nothing proves the receipt's height, but it is not beyond that of the checkpoint which proves the transaction.
        let known = &self.network.known;
        known.written_at(receipt.height.min(known.height()));
        Ok(receipt)
    }

    /// The receipt of a transaction that a node says it refuses, if the state has what it wrote.
    ///
    /// # Errors
    /// The refusal, if the state excludes the transaction; `Unavailable` if no node proves the state.
    async fn disproven(
        &self,
        node: &Arc<Node>,
        (transaction, said): (&Transaction, &Error),
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
            let (found, _) = read.await.map_err(|error| unread(node, (said, &error)))?;
            fate = found.map_err(Error::internal)?;
            if fate != Fate::Open {
                break;
            }
        }
        match fate {
            Fate::Written(receipt) => {
                let behind = Error::upstream(format!(
                    "it refuses a transaction that the log has as number {}: {}",
                    receipt.seq_no, said.reason
                ));
                self.remote.nodes.refused(node, (false, behind));
                known.written_at(receipt.height.min(known.height()));
                Ok(Some(receipt))
            }
            Fate::Excluded(refusal) => Err(refused(&refusal)),
            Fate::Open => Ok(None),
        }
    }
}

/// What a node says against a transaction while nobody proves the state.
fn unread(node: &Node, (said, error): (&Error, &Error)) -> Error {
    let kind = ErrorKind::Unavailable {
        retry_after: AGAIN_AFTER,
    };
    let reason = format!(
        "a node refuses the transaction ({}: {}), and the state that would prove it can't be read: {}",
        node.name(),
        said.reason,
        error.reason
    );
    Error::new(kind, reason)
}

#[cfg(test)]
mod tests {
    use selfsame_registry::refusal::CODES;

    use super::*;

    fn refusal(code: &'static str) -> Error {
        Error::new(ErrorKind::Conflict, "no").with_code(code)
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
                // Saying it again makes it no truer.
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
        assert!(!is_refusal(&undecided) && undecided.code.is_none());
        assert!(add(&mut refusals, (3, "bad_signature")).is_some());
    }
}
