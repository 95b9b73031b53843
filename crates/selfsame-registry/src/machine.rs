//! The machine: the same blocks in the same order give the same state, log and digests on every
//! machine.

use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;
use selfsame_did::selfsame::Network;
use selfsame_proof::log::leaf_hash;

use crate::content::Content;
use crate::genesis::Genesis;
use crate::head::Head;
use crate::identifier::Identifier;
use crate::refusal::{ApplyError, CheckError, Refusal};
use crate::rules::{Admission, Change, Situation};
use crate::state::{
    Anchor, DidVersion, Key, Overlay, Present, Receipt, StateError, StateRead, Used, Writes, read,
};
use crate::transaction::{Operation, Transaction};

/// A network's rules, applied. Holds no state of its own.
#[derive(Clone, Debug)]
pub struct Machine {
    genesis: Genesis,
    network: Network,
}

/// Transactions in the order the sequencer gives them, at its time.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The block's time, not before the head's.
    pub time: UnixTime,
    /// Its transactions, in order.
    pub transactions: &'a [Transaction],
}

/// What applying a block gives. Nothing of it holds before it is stored.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Applied {
    /// The new head.
    pub head: Head,
    /// One answer for each transaction, in their order.
    pub results: Vec<Result<Receipt, Refusal>>,
    /// Which of the transactions enter the log, by index; the others were refused or known.
    pub logged: Vec<usize>,
    /// What changes in the state.
    pub writes: Writes,
}

impl Machine {
    /// The machine of a network.
    pub fn new(genesis: Genesis) -> Self {
        let network = genesis.network();
        Self { genesis, network }
    }

    /// The network's identifier.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// What the network began with.
    pub fn genesis(&self) -> &Genesis {
        &self.genesis
    }

    /// The DID of a registered subject.
    pub fn did(&self, id: Identifier) -> Option<Did> {
        Did::parse(&format!("did:selfsame:{}:{id}", self.network)).ok()
    }

    /// Whether a transaction would be accepted in the next block, alone and at this time: None if
    /// so, its first receipt if it was accepted before.
    pub fn check(
        &self,
        tx: &Transaction,
        (head, time): (&Head, UnixTime),
        state: &dyn StateRead,
    ) -> Result<Option<Receipt>, CheckError> {
        let height = head.height.saturating_add(1);
        let situation = self.situation(height, time.max(head.time), state);
        match situation.judge(tx)? {
            Admission::Known(receipt) => Ok(Some(receipt)),
            Admission::New(_) => Ok(None),
        }
    }

    /// Applies the block after `head` to `state`, which stays as it is.
    pub fn apply(
        &self,
        head: &Head,
        block: &Block<'_>,
        state: &dyn StateRead,
    ) -> Result<Applied, ApplyError> {
        if block.time < head.time {
            return Err(ApplyError::Time);
        }
        let height = head.height.saturating_add(1);
        let mut head = Head {
            height,
            time: block.time,
            ..head.clone()
        };
        let mut overlay = Overlay::new(state);
        let mut room = Room::of(&self.genesis.rules(height));
        let (mut results, mut logged) = (Vec::with_capacity(block.transactions.len()), Vec::new());
        for (index, tx) in block.transactions.iter().enumerate() {
            let bytes = tx.to_bytes();
            let situation = self.situation(height, block.time, &overlay);
            let result = match situation.judge(tx) {
                Err(CheckError::State(error)) => return Err(error.into()),
                Err(CheckError::Refused(refusal)) => Err(refusal),
                Ok(Admission::Known(receipt)) => Ok(receipt),
                Ok(Admission::New(_)) if !room.takes(bytes.len()) => Err(Refusal::BlockFull),
                Ok(Admission::New(change)) => {
                    let seq_no = head.log.append(leaf_hash(&bytes)).saturating_add(1);
                    let receipt = Receipt {
                        seq_no,
                        height,
                        time: block.time,
                        tx_hash: tx.hash(),
                    };
                    let writes = accept(&situation, (tx, change), receipt)?;
                    overlay.writes.extend(writes);
                    logged.push(index);
                    Ok(receipt)
                }
            };
            results.push(result);
        }
        head.state_digest = head.digest_after(&overlay.writes);
        Ok(Applied {
            head,
            results,
            logged,
            writes: overlay.writes,
        })
    }

    /// The present version of a DID and its content, none once deactivated: what an update is
    /// made from.
    pub fn present(
        &self,
        state: &dyn StateRead,
        did: &Did,
    ) -> Result<Option<(u64, Option<Content>)>, StateError> {
        let Some(id) = Identifier::of_did(did, &self.network) else {
            return Ok(None);
        };
        let Some(present) = read::<Present>(state, Key::Did(id))? else {
            return Ok(None);
        };
        match read::<DidVersion>(state, Key::DidVersion(id, present.version))? {
            Some(version) => Ok(Some((present.version, version.content))),
            None => Err(StateError("a version of a DID is missing".to_owned())),
        }
    }

    /// The status list a DID has anchored last under a URI.
    pub fn status_anchor(
        &self,
        state: &dyn StateRead,
        author: &Did,
        list: &str,
    ) -> Result<Option<Anchor>, StateError> {
        let Some(author) = Identifier::of_did(author, &self.network) else {
            return Ok(None);
        };
        match read::<Present>(state, Key::List(author, list))? {
            Some(present) => read(state, Key::ListVersion(author, list, present.version)),
            None => Ok(None),
        }
    }

    fn situation<'a>(
        &'a self,
        height: u64,
        time: UnixTime,
        state: &'a dyn StateRead,
    ) -> Situation<'a> {
        Situation {
            rules: self.genesis.rules(height),
            network: self.network.as_str(),
            time,
            state,
        }
    }
}

/// What is left of a block.
struct Room {
    transactions: u64,
    bytes: u64,
}

impl Room {
    fn of(rules: &crate::genesis::Rules) -> Self {
        Self {
            transactions: rules.max_block_transactions,
            bytes: rules.max_block_bytes,
        }
    }

    /// Takes the room a transaction needs; nothing where there is too little.
    fn takes(&mut self, length: usize) -> bool {
        let bytes = u64::try_from(length)
            .ok()
            .and_then(|length| self.bytes.checked_sub(length));
        match (self.transactions.checked_sub(1), bytes) {
            (Some(transactions), Some(bytes)) => {
                *self = Self {
                    transactions,
                    bytes,
                };
                true
            }
            _ => false,
        }
    }
}

/// What an accepted transaction writes: its change, its nonce, the quotas it uses.
fn accept(
    situation: &Situation<'_>,
    (tx, change): (&Transaction, Change),
    receipt: Receipt,
) -> Result<Writes, StateError> {
    let author = tx.body().author;
    let mut to = Overlay::new(situation.state);
    to.put(Key::Nonce(author, tx.body().nonce), &receipt);
    let mut count = |quota: Key<'_>| -> Result<(), StateError> {
        let used = situation.used(quota)?;
        to.put(
            quota,
            &Used {
                count: used.count.saturating_add(1),
                ..used
            },
        );
        Ok(())
    };
    count(Key::AuthorQuota(author))?;
    if matches!(tx.body().operation, Operation::CreateDid(_)) {
        count(Key::CreationQuota)?;
    }
    match change {
        Change::Did { version, content } => {
            let deactivated = content.is_none();
            to.put(
                Key::Did(author),
                &Present {
                    version,
                    deactivated,
                },
            );
            to.put(
                Key::DidVersion(author, version),
                &DidVersion { content, receipt },
            );
        }
        Change::List { version } => {
            if let Operation::AnchorStatus {
                list,
                digest,
                issued,
            } = &tx.body().operation
            {
                let anchor = Anchor {
                    list: list.clone(),
                    digest: *digest,
                    issued: *issued,
                    receipt,
                };
                to.put(
                    Key::List(author, list),
                    &Present {
                        version,
                        deactivated: false,
                    },
                );
                to.put(Key::ListVersion(author, list, version), &anchor);
            }
        }
    }
    Ok(to.writes)
}
