//! What may not be repeated lightly: effects that are stored with the state that asks for them, and carried out until
//! their answer is stored too.

use std::time::Duration;

use selfsame_crypto::time::UnixTime;
use selfsame_openid4vc::{holder, wallet};
use selfsame_store::{Batch, Committed, Leased, NewOutbox, StoreError};
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::record::{decode, encode};
use crate::shared::Shared;

/// Whoever writes an effect to carry it out himself has so long to begin; then it is anybody's.
const OWN_SECONDS: u64 = 10;
/// What did not work by then is given up, and shown to the operator.
const ATTEMPTS_MAX: u32 = 12;
/// How long a busy store is waited for with an answer in hand, in milliseconds.
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
    /// A transaction for the registry; the same one again gets its first receipt.
    Submit {
        /// The transaction, base64url.
        transaction: String,
    },
    /// A transaction that uses up, or revokes, what a verifier was shown.
    Spend {
        /// The verifier's request.
        request: String,
        /// The transaction, base64url.
        transaction: String,
    },
    /// A change in the cheqd network, by way of a registrar; the network takes each version once.
    Cheqd {
        /// The version's name.
        change: String,
    },
}

impl Job {
    /// The effect of an entry.
    ///
    /// # Errors
    /// `Internal` if another version wrote it.
    pub fn read(leased: &Leased) -> Result<Self> {
        decode(&leased.payload)
    }

    /// An entry for this effect; entries of one destination and subject are carried out in order.
    ///
    /// # Errors
    /// `Internal`.
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

    /// The same, to be carried out by whoever writes it.
    pub fn own_entry(&self, destination: &str, subject: &str, now: UnixTime) -> Result<NewOutbox> {
        self.entry(destination, subject, now.plus(OWN_SECONDS))
    }
}

impl Shared {
    /// Puts an entry off after an error, or gives it up; then whoever waits for it finds out why. The lease must be
    /// held until this is done, lest the entry be carried out a second time meanwhile.
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

    /// Commits what follows from an answer that can't be asked for again: a store that is busy is waited for.
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

/// Whether trying again can't help.
fn is_final(leased: &Leased, error: &Error) -> bool {
    match Job::read(leased) {
        Ok(Job::Submit { .. } | Job::Cheqd { .. }) => crate::registry::is_refusal(error),
        Ok(Job::Receive { .. } | Job::Present { .. }) => error.kind == ErrorKind::BadRequest,
        // A refusal is an answer; what fails is worth another try. Or another version wrote it.
        Ok(Job::Spend { .. }) | Err(_) => false,
    }
}
