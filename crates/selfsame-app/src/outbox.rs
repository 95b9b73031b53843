//! Calls that must not be repeated carelessly: effects that are stored with the state that asks for them, and carried
//! out until their answer is stored too.

use std::time::Duration;

use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_openid4vc::{holder, wallet};
use selfsame_store::{Batch, Committed, Leased, NewOutbox, StoreError};
use serde::{Deserialize, Serialize};

use crate::shared::Shared;

/// Grace period in seconds for the writer of an entry; after it any worker may take the entry.
const OWN_SECONDS: u64 = 10;
/// Attempts after which an effect is given up and shown to the operator.
const ATTEMPTS_MAX: u32 = 12;
/// Pauses before storing an answer again while the store is busy, in milliseconds.
const PATIENCE_MS: [u64; 4] = [20, 100, 400, 1_000];

/// An effect in the outbox.
#[derive(Deserialize, Serialize)]
pub(crate) enum Job {
    /// A call of a wallet that receives credentials.
    Receive {
        /// The flow's record.
        flow: String,
        /// The call.
        effect: wallet::Effect,
    },
    /// The delivery of a wallet's answer to a verifier.
    Present {
        /// The flow's record.
        flow: String,
        /// The call.
        effect: holder::Effect,
    },
    /// A transaction for the registry. Submitting it again returns its first receipt.
    Submit {
        /// The transaction, base64url.
        transaction: String,
    },
    /// A transaction that uses up or revokes a credential that a verifier was shown.
    Spend {
        /// The verifier's request.
        request: String,
        /// The transaction, base64url.
        transaction: String,
    },
    /// A change in the cheqd network, through a registrar. The network accepts each version once.
    Cheqd {
        /// The version's name.
        change: String,
    },
}

impl Job {
    /// The effect in an entry.
    ///
    /// # Errors
    /// `Internal` if another version wrote it.
    pub fn read(leased: &Leased) -> Result<Self> {
        decode(&leased.payload)
    }

    /// An entry for this effect. Entries with the same destination and subject are carried out in order.
    ///
    /// # Errors
    /// `Internal` if it can't be encoded.
    pub fn entry(
        &self,
        destination: &str,
        subject: &str,
        not_before: UnixTime,
    ) -> Result<NewOutbox> {
        Ok(NewOutbox {
            destination: destination.to_owned(),
            subject: subject.to_owned(),
            key: subject.to_owned(),
            payload: encode(self)?,
            not_before,
        })
    }

    /// As [`Self::entry`], for a writer that carries the effect out itself.
    pub fn own_entry(&self, destination: &str, subject: &str, now: UnixTime) -> Result<NewOutbox> {
        self.entry(destination, subject, now.plus(OWN_SECONDS))
    }
}

impl Shared {
    /// Puts an entry off after an error, or gives it up and tells the party that waits for it why. The lease must be
    /// held until this is done, so that the entry is not carried out a second time meanwhile.
    pub(crate) async fn put_off(&self, leased: &Leased, error: &Error) {
        let (id, attempts) = (leased.id.0, leased.attempts);
        let batch = if attempts < ATTEMPTS_MAX && !is_final(leased, error) {
            tracing::warn!(entry = id, attempts, %error, "an effect failed and will be tried again");
            Ok(self.later(leased, 1 << attempts.min(10)))
        } else {
            tracing::error!(entry = id, %error, "an effect was given up");
            match self.abandon.get() {
                Some(roles) => roles.given_up(self, leased, error).await,
                None => Ok(buried(leased, error)),
            }
        };
        let put_off = match batch {
            Ok(batch) => self.commit_in_hand(batch).await.map(drop),
            Err(error) => Err(error),
        };
        if let Err(error) = put_off {
            tracing::error!(entry = id, %error, "the outbox can't be written");
        }
    }

    /// A batch that puts an entry off.
    pub(crate) fn later(&self, leased: &Leased, seconds: u64) -> Batch {
        Batch::new(leased.tenant.clone()).retry(leased.id, self.clock.now().plus(seconds))
    }

    /// Commits the results of an answer that can't be asked for again. Waits while the store is busy.
    pub(crate) async fn commit_in_hand(&self, batch: Batch) -> Result<Committed> {
        for patience in PATIENCE_MS {
            match self.store.commit(batch.clone()).await {
                Err(StoreError::Busy) => {
                    tokio::time::sleep(Duration::from_millis(patience)).await;
                }
                other => return Ok(other?),
            }
        }
        Ok(self.store.commit(batch).await?)
    }
}

/// A batch that gives an entry up.
pub(crate) fn buried(leased: &Leased, error: &Error) -> Batch {
    Batch::new(leased.tenant.clone()).bury(leased.id, error.reason.clone())
}

/// Whether a retry can't succeed.
fn is_final(leased: &Leased, error: &Error) -> bool {
    match Job::read(leased) {
        Ok(Job::Submit { .. } | Job::Cheqd { .. }) => selfsame_ledger::is_refusal(error),
        Ok(Job::Receive { .. } | Job::Present { .. }) => error.kind == ErrorKind::BadRequest,
        // A refusal is an answer; a failure is worth another try. An entry that can't be read is from another version.
        Ok(Job::Spend { .. }) | Err(_) => false,
    }
}
