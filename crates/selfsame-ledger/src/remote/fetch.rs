//! Fetches proven answers: asks one node after the other, until one proves what it says.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_proof::checkpoint::Standing;
use selfsame_proof::entries::{ProvenEntries, ProvenEntry};
use selfsame_proof::kept::Fork;
use selfsame_proof::read::Bundle;
use selfsame_proof::reads::ProvenReads;
use selfsame_proof::validators::STATE_KEY;
use selfsame_registry::{Receipt, StateMachine, Transaction};

use super::known::{Fetch, Fetching, NetView, Obtained, Polled, Rejected, Why, all_behind};
use super::node::Callee;
use super::nodes::{For, better, named};
use super::{Remote, RemoteNetwork, STANDSTILL_ALONE};

/// How often transactions are asked for, [`PAUSE`] apart, while every node is a moment behind.
const TRIES: usize = 16;
/// Maximum answers full of changes of validators that are followed. A node with more than were ever made plays for
/// time.
const LEGS_MAX: usize = 256;
/// Time limit for a node to prove a transaction that it has acknowledged.
const PROVEN_WITHIN: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(50);

/// Fetches proven answers for the readers of a network.
pub(super) struct Fetcher<'r> {
    pub(super) remote: &'r Remote,
    pub(super) network: &'r RemoteNetwork,
}

/// A question to a node, and how its answer is proven: it contains a read, whose checkpoint also proves the rest.
trait Question: Sync {
    type Answer: Send;
    type Proven: Send;

    /// The key to read.
    fn key(&self) -> &[u8];
    fn ask(
        &self,
        node: &Callee,
        trusted_height: u64,
    ) -> impl Future<Output = Result<Self::Answer>> + Send;
    fn read_of(answer: &Self::Answer) -> &Bundle;
    /// The content of the answer, once its read is verified.
    fn proven(
        &self,
        known: &NetView,
        answer: Self::Answer,
        as_of: Standing,
    ) -> Result<Self::Proven>;
}

/// An object of the state.
struct Object<'k>(&'k [u8]);

/// An object with the others that it refers to.
struct Leading<'k>(&'k [u8]);

/// Transactions of the log by their numbers.
struct Logged<'n>(&'n [u64]);

impl Question for Object<'_> {
    type Answer = Bundle;
    type Proven = Obtained;

    fn key(&self) -> &[u8] {
        self.0
    }

    async fn ask(&self, node: &Callee, trusted_height: u64) -> Result<Bundle> {
        node.read(self.0, trusted_height).await
    }

    fn read_of(answer: &Bundle) -> &Bundle {
        answer
    }

    fn proven(&self, _: &NetView, answer: Bundle, as_of: Standing) -> Result<Obtained> {
        Ok(Obtained {
            value: answer.value,
            as_of,
            further: Vec::new(),
        })
    }
}

impl Question for Leading<'_> {
    type Answer = ProvenReads;
    type Proven = Obtained;

    fn key(&self) -> &[u8] {
        self.0
    }

    async fn ask(&self, node: &Callee, trusted_height: u64) -> Result<ProvenReads> {
        node.reads(self.0, trusted_height).await
    }

    fn read_of(answer: &ProvenReads) -> &Bundle {
        &answer.bundle
    }

    fn proven(&self, known: &NetView, answer: ProvenReads, as_of: Standing) -> Result<Obtained> {
        known.accept_further(&answer.further, as_of)?;
        Ok(Obtained {
            value: answer.bundle.value,
            as_of,
            further: answer.further,
        })
    }
}

impl Question for Logged<'_> {
    type Answer = ProvenEntries;
    type Proven = Vec<ProvenEntry>;

    fn key(&self) -> &[u8] {
        STATE_KEY
    }

    async fn ask(&self, node: &Callee, trusted_height: u64) -> Result<ProvenEntries> {
        node.proven(self.0, trusted_height).await
    }

    fn read_of(answer: &ProvenEntries) -> &Bundle {
        &answer.bundle
    }

    fn proven(
        &self,
        _: &NetView,
        answer: ProvenEntries,
        as_of: Standing,
    ) -> Result<Vec<ProvenEntry>> {
        answer
            .judged(self.0, &as_of)
            .map_err(|error| Error::upstream("transactions-refused").with("detail", &error))
    }
}

/// The results of asking the nodes, as long as none has proven a fresh answer.
struct Poll<P> {
    failed: Option<Error>,
    /// Why to ask again: a node is only behind, or its answer has too few cosignatures.
    behind: Option<Error>,
    /// The newest answer that is too old for a running network.
    newest: Option<Old<P>>,
    /// The origins that proved such an answer. Several nodes with one origin count once.
    still: BTreeSet<String>,
}

/// A node's answer to a question.
struct NodeAnswered<'q, Q: Question> {
    node: Arc<Callee>,
    question: &'q Q,
    answer: Q::Answer,
}

/// A proven answer as of long ago.
struct Old<P> {
    as_of: Standing,
    read: Bundle,
    proven: P,
    node: Arc<Callee>,
}

impl Fetch for Fetcher<'_> {
    fn fetch<'a>(&'a self, known: &'a NetView, key: &'a [u8]) -> Fetching<'a> {
        match StateMachine::leads_further(key) {
            true => Box::pin(self.first_proven(known, Leading(key))),
            false => Box::pin(self.first_proven(known, Object(key))),
        }
    }
}

impl Fetcher<'_> {
    /// Transactions by their numbers. Numbers beyond the log are left out.
    pub(super) async fn transactions(&self, numbers: &[u64]) -> Result<Vec<ProvenEntry>> {
        let mut behind = all_behind();
        for _ in 0..TRIES {
            let proven = self.first_proven(&self.network.known, Logged(numbers));
            match proven.await? {
                Polled::Proven(entries) => return Ok(entries),
                Polled::Later(error) => behind = error,
            }
            tokio::time::sleep(PAUSE).await;
        }
        Err(behind)
    }

    /// The answer of the first node that proves it.
    async fn first_proven<Q: Question>(
        &self,
        known: &NetView,
        question: Q,
    ) -> Result<Polled<Q::Proven>> {
        let nodes = &self.remote.nodes;
        let mut asked = Poll {
            failed: None,
            behind: None,
            newest: None,
            still: BTreeSet::new(),
        };
        for node in nodes.turn(For::Reads)? {
            let (answer, accepted) = match ask(known, &question, &node).await {
                Ok(answered) => answered,
                Err(error) => {
                    let error = nodes.failed(&node, For::Reads, error);
                    asked.failed = Some(better(asked.failed, error));
                    continue;
                }
            };
            match accepted {
                Ok(as_of) => match question.proven(&self.network.known, answer, as_of) {
                    Ok(proven) => return self.found(proven, &node).await,
                    Err(error) => {
                        let error = nodes.refused(&node, true, error);
                        asked.failed = Some(better(asked.failed, error));
                    }
                },
                Err(refused) => {
                    let answered = NodeAnswered {
                        node,
                        question: &question,
                        answer,
                    };
                    self.refused(&mut asked, answered, refused).await?;
                }
            }
        }
        self.standing_still(asked, known, question.key()).await
    }

    /// Waits until the node that acknowledged a transaction proves that the log has it under that number.
    ///
    /// # Errors
    /// `Unavailable` if it does not. Sending the same transaction again returns its receipt.
    pub(super) async fn acknowledged(
        &self,
        node: &Arc<Callee>,
        transaction: &Transaction,
        receipt: &Receipt,
    ) -> Result<()> {
        let proving = self.proves_to_have(node, transaction, receipt);
        tokio::time::timeout(PROVEN_WITHIN, proving)
            .await
            .unwrap_or_else(|_| Err(self.too_late(node)))
    }

    fn too_late(&self, node: &Arc<Callee>) -> Error {
        let late = Error::upstream("acknowledgement-false");
        unproven(self.remote.nodes.refused(node, false, late))
    }

    async fn proves_to_have(
        &self,
        node: &Arc<Callee>,
        transaction: &Transaction,
        receipt: &Receipt,
    ) -> Result<()> {
        let (known, nodes) = (&self.network.known, &self.remote.nodes);
        let numbers = [receipt.seq_no];
        let question = Logged(&numbers);
        let mut uncosigned = None;
        for _ in 0..TRIES {
            let (answer, accepted) = match ask(known, &question, node).await {
                Ok(answered) => answered,
                Err(error) => {
                    return Err(unproven(nodes.failed(node, For::Reads, error)));
                }
            };
            let refused = match accepted
                .map(|as_of| question.proven(&self.network.known, answer, as_of))
            {
                Ok(Ok(entries)) => match entries.first().map(|entry| hash_of(&entry.transaction)) {
                    Some(hash) if hash == Some(transaction.hash()) => return Ok(()),
                    Some(_) => Some(Error::upstream("receipt-of-other-number")),
                    // The signatures for the block may be on their way.
                    None => None,
                },
                Ok(Err(error)) => Some(error),
                Err(Rejected { error, why }) => match why {
                    Why::Behind => None,
                    Why::Uncosigned => {
                        uncosigned = Some(*error);
                        None
                    }
                    Why::Fork(height, notes) => {
                        let fork = self.forked(node, height, *notes);
                        return Err(self.remote.stop(self.network, fork).await);
                    }
                    Why::Ahead => return Err(unproven(ahead(node, *error))),
                    Why::Lie | Why::Old(_) | Why::Further => Some(*error),
                },
            };
            if let Some(refused) = refused {
                return Err(unproven(nodes.refused(node, true, refused)));
            }
            tokio::time::sleep(PAUSE).await;
        }
        Err(match uncosigned {
            Some(error) => unproven(nodes.refused(node, false, error)),
            None => self.too_late(node),
        })
    }

    fn forked(&self, node: &Arc<Callee>, height: u64, notes: [String; 2]) -> Fork {
        Fork {
            found: self.remote.clock.now(),
            height: height.max(self.network.known.height()),
            notes,
            entry: Vec::new(),
            nodes: ["seen before".to_owned(), node.name()],
        }
    }

    async fn found<T>(&self, proven: T, node: &Arc<Callee>) -> Result<Polled<T>> {
        self.remote.keep(self.network).await;
        self.remote.compare(self.network, node).await?;
        Ok(Polled::Proven(proven))
    }

    async fn refused<Q: Question>(
        &self,
        asked: &mut Poll<Q::Proven>,
        answered: NodeAnswered<'_, Q>,
        refused: Rejected,
    ) -> Result<()> {
        let NodeAnswered {
            node,
            question,
            answer,
        } = answered;
        let mut error = *refused.error;
        let lied = match refused.why {
            Why::Fork(height, notes) => {
                let fork = self.forked(&node, height, *notes);
                return Err(self.remote.stop(self.network, fork).await);
            }
            Why::Behind => {
                asked.behind.get_or_insert_with(all_behind);
                false
            }
            Why::Uncosigned => {
                asked.behind = Some(named(&node, error.clone()));
                false
            }
            Why::Old(as_of) => {
                let read = Q::read_of(&answer).clone();
                let age = |as_of: &Standing| (as_of.height, as_of.time);
                let newer = |newest: &Old<_>| age(&newest.as_of) < age(&as_of);
                let proven = question.proven(&self.network.known, answer, as_of);
                if proven.is_ok() {
                    asked.still.insert(node.name());
                }
                match proven {
                    Ok(proven) if asked.newest.as_ref().is_none_or(newer) => {
                        let node = node.clone();
                        asked.newest = Some(Old {
                            as_of,
                            read,
                            proven,
                            node,
                        });
                        false
                    }
                    Ok(_) => false,
                    Err(lie) => {
                        error = lie;
                        true
                    }
                }
            }
            Why::Ahead => {
                asked.failed = Some(better(asked.failed.take(), ahead(&node, error)));
                return Ok(());
            }
            Why::Lie | Why::Further => true,
        };
        let error = self.remote.nodes.refused(&node, lied, error);
        asked.failed = Some(better(asked.failed.take(), error));
        Ok(())
    }

    /// Decides if no node has a fresh checkpoint, so too few validators are left to sign one. Their last checkpoint
    /// holds, since nothing can change without them. All nodes could hide a newer one; this is ruled out only for the
    /// time that the operator sets, and for less if a single node answers.
    async fn standing_still<P>(
        &self,
        asked: Poll<P>,
        known: &NetView,
        key: &[u8],
    ) -> Result<Polled<P>> {
        if let Some(Old {
            read, proven, node, ..
        }) = asked.newest
        {
            let standstill = match asked.still.len() {
                0 | 1 => self.remote.standstill.min(STANDSTILL_ALONE),
                _ => self.remote.standstill,
            };
            let as_of = known
                .accept_old(key, &read, standstill)
                .map_err(|refused| named(&node, *refused.error))?;
            tracing::warn!(
                height = as_of.height,
                time = %as_of.time.rfc3339(),
                "the registry stands still; reads are as of its last checkpoint"
            );
            return self.found(proven, &node).await;
        }
        match (asked.behind, asked.failed) {
            (Some(error), _) => Ok(Polled::Later(error)),
            (None, Some(error)) => Err(error),
            (None, None) => Err(Error::internal("a registry without nodes")),
        }
    }
}

/// Asks a node and verifies its answer. If one answer can't hold all changes of validators, asks again from where it
/// leads to.
async fn ask<Q: Question>(
    known: &NetView,
    question: &Q,
    node: &Callee,
) -> Result<(Q::Answer, std::result::Result<Standing, Rejected>)> {
    for _ in 0..LEGS_MAX {
        let answer = question.ask(node, known.trust().from_height).await?;
        match known.accept(question.key(), Q::read_of(&answer)) {
            Err(Rejected {
                why: Why::Further, ..
            }) => {}
            accepted => return Ok((answer, accepted)),
        }
    }
    Err(Error::upstream("validators-changes-endless"))
}

/// The node keeps its turn: the fault may as well be in this machine's clock.
fn ahead(node: &Callee, error: Error) -> Error {
    tracing::error!(node = node.name(), %error, "the clock of this machine may be wrong");
    named(node, error)
}

fn hash_of(transaction: &[u8]) -> Option<[u8; 32]> {
    let read = Transaction::from_bytes(transaction).ok()?;
    Some(read.hash())
}

/// The error of a write that is acknowledged but not proven. No caller may act on a single node's word.
fn unproven(error: Error) -> Error {
    let kind = ErrorKind::Unavailable { retry_after: 2 };
    Error::new(kind, "acknowledgement-unproven").because(error.reason)
}
