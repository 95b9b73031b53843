//! Transactions of authors who need an endorser: signed by the author and kept, until they come back with the endorser's
//! signature.

use std::sync::{Arc, OnceLock};

use selfsame_core::Shared;
use selfsame_core::dids::{Author, Dids};
use selfsame_core::machine::{Call, Round};
use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_did::{Did, selfsame};
use selfsame_driver::{Error, Result};
use selfsame_registry::transaction::{AuthoredTransaction, Body, Signature};
use selfsame_registry::{Identifier, Operation, Transaction, UnsignedTransaction};
use selfsame_store::Batch;
use serde::{Deserialize, Serialize};

/// Who endorses what an author publishes, and how the author reaches it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Endorser {
    /// Its DID, which the transaction names.
    pub did: Did,
    /// The connection to it.
    pub connection_id: String,
}

/// What is published by a transaction that needs an endorser.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum EndorsedObject {
    /// A schema or a credential definition.
    Publication,
    /// A revocation registry.
    Registry,
}

/// A transaction that is about to wait for its endorser.
pub struct AuthoredWrite<'a> {
    /// What it publishes.
    pub object: EndorsedObject,
    /// The identifier of the record that goes on once it is endorsed.
    pub record: &'a str,
    /// The transaction, signed by its author.
    pub transaction: &'a AuthoredTransaction,
    /// Who is to endorse it.
    pub endorser: &'a Endorser,
}

/// Gives the writes by which a transaction waits for its endorser. They are committed with the record that waits.
pub type Endorsing = Arc<dyn Fn(&AuthoredWrite<'_>, &Round<'_>) -> Result<Batch> + Send + Sync>;

/// Who has transactions endorsed; unset if there is no such service.
#[derive(Clone, Default)]
pub(crate) struct EndorsingCell(Arc<OnceLock<Endorsing>>);

/// A transaction as its author has signed it.
pub(crate) enum SignedWrite {
    /// It can be written.
    Whole(Transaction),
    /// It needs this endorser.
    Authored(AuthoredTransaction, Endorser),
}

/// What follows when a signed transaction is stored.
pub(crate) enum FollowingWrite {
    /// The registry is called.
    Called(Call),
    /// It waits for its endorser, with these writes.
    Waiting {
        writes: Batch,
        /// The transaction, as the record that waits keeps it.
        authored: String,
    },
}

impl EndorsingCell {
    pub(crate) fn set(&self, endorsing: Endorsing) {
        let _ = self.0.set(endorsing);
    }

    /// What follows when the transaction that publishes an object is stored.
    pub(crate) fn following(
        &self,
        object: EndorsedObject,
        write: &SignedWrite,
        round: &Round<'_>,
    ) -> Result<FollowingWrite> {
        let (transaction, endorser) = match write {
            SignedWrite::Whole(transaction) => {
                return Ok(FollowingWrite::Called(Call::registry(transaction)));
            }
            SignedWrite::Authored(transaction, endorser) => (transaction, endorser),
        };
        let endorsing = self.0.get();
        let endorsing = endorsing.ok_or_else(|| Error::bad_request("anoncreds-endorser-none"))?;
        let waiting = AuthoredWrite {
            object,
            record: round.at.id,
            transaction,
            endorser,
        };
        Ok(FollowingWrite::Waiting {
            writes: endorsing(&waiting, round)?,
            authored: base64url_encode(&transaction.to_bytes()),
        })
    }
}

/// Signs operations as this author, for an endorser if there is one.
pub(crate) async fn signed(
    shared: &Arc<Shared>,
    author: &Author,
    endorser: Option<&Endorser>,
    operations: Vec<Operation>,
) -> Result<SignedWrite> {
    let Some(endorser) = endorser else {
        let dids = Dids::new(shared.clone());
        let whole = dids.signed_together(author, operations).await;
        return whole.map(SignedWrite::Whole);
    };
    let not_ours = |did: &Did| Error::bad_request("did-not-selfsame").with("did", did);
    let parts = selfsame::parts(&author.did);
    let (network, _) = parts.ok_or_else(|| not_ours(&author.did))?;
    let id = Identifier::of_did(&author.did, &network);
    let id = id.ok_or_else(|| not_ours(&author.did))?;
    let by = Identifier::of_did(&endorser.did, &network);
    let nonce = u64::from_be_bytes(shared.clock.ctx().random::<8>("nonce"));
    let body = Body {
        endorser: Some(by.ok_or_else(|| not_ours(&endorser.did))?),
        agreement: shared.acceptance(&author.tenant).await?,
        ..Body::new(&network, id, nonce, operations)
    };
    let unsigned = UnsignedTransaction::of(body);
    let signature = signature(shared, author, unsigned.signing_bytes()).await?;
    let authored = unsigned.authored(vec![signature]);
    let authored = authored.map_err(Error::internal)?;
    Ok(SignedWrite::Authored(authored, endorser.clone()))
}

/// Endorses a transaction that names this DID as its endorser.
///
/// # Errors
/// `BadRequest` if it names another; the store's.
pub async fn endorsed(
    shared: &Arc<Shared>,
    endorser: &Author,
    authored: AuthoredTransaction,
) -> Result<Transaction> {
    let own = selfsame::parts(&endorser.did).and_then(|(network, _)| {
        let is_here = network.as_str() == authored.body().network;
        let own = Identifier::of_did(&endorser.did, &network);
        own.filter(|_| is_here)
    });
    if own.is_none() || authored.body().endorser != own {
        return Err(Error::bad_request("anoncreds-endorser-other").with("did", &endorser.did));
    }
    let signature = signature(shared, endorser, authored.signing_bytes()).await?;
    let endorsed = authored.endorsed(vec![signature]);
    endorsed.map_err(Error::internal)
}

async fn signature(shared: &Arc<Shared>, author: &Author, bytes: &[u8]) -> Result<Signature> {
    let signed = shared.keys.sign(&author.tenant, &author.key, bytes);
    Signature::new(&author.fragment, &signed.await?).map_err(Error::internal)
}

/// A transaction that a record has kept.
pub(crate) fn read(kept: &str) -> Result<AuthoredTransaction> {
    let bytes = base64url_decode(kept).map_err(Error::damaged)?;
    AuthoredTransaction::from_bytes(&bytes).map_err(Error::damaged)
}

/// Checks that a transaction is the one that waits here, now endorsed. The registry verifies the signatures.
pub(crate) fn is_the_awaited(waiting: Option<&String>, endorsed: &Transaction) -> Result<()> {
    let other = || Error::bad_request("anoncreds-endorsed-other");
    let waiting = read(waiting.ok_or_else(other)?)?;
    match waiting.hash() == endorsed.hash() {
        true => Ok(()),
        false => Err(other()),
    }
}
