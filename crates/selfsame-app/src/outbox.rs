//! What may not be repeated lightly: effects that are stored with the state that asks for them, and carried out until
//! their answer is stored too.

use std::sync::Arc;
use std::time::Duration;

use selfsame_crypto::time::UnixTime;
use selfsame_openid4vc::{holder, wallet};
use selfsame_store::{Batch, Leased, NewOutbox};
use serde::{Deserialize, Serialize};

use crate::accounts::{decode, encode};
use crate::app::App;
use crate::error::Result;
use crate::wallet::Done;

/// How often the worker looks for what was left behind, by a crash or for a later time.
const EVERY: Duration = Duration::from_millis(500);
const AT_ONCE: usize = 32;
/// Whoever writes an effect to carry it out himself has so long to begin; then it is anybody's.
const OWN_SECONDS: u64 = 10;
/// What did not work by then is given up, and shown to the operator.
const ATTEMPTS_MAX: u32 = 12;

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

/// Carries out what nobody else does, until the instance stops.
pub(crate) async fn work(app: Arc<App>, mut stopping: tokio::sync::watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            _ = stopping.changed() => return,
        }
        let now = app.shared.clock.now();
        match app.shared.store.due(now, AT_ONCE).await {
            Ok(entries) => {
                for leased in entries {
                    let app = app.clone();
                    tokio::spawn(async move { perform(&app, leased).await });
                }
            }
            Err(error) => tracing::error!(%error, "the outbox can't be read"),
        }
        if let Err(error) = app.shared.store.purge_expired(now, 500).await {
            tracing::error!(%error, "expired records can't be removed");
        }
    }
}

/// Carries out one entry; what fails for a while is tried again, later each time.
pub(crate) async fn perform(app: &App, leased: Leased) {
    let (id, tenant, attempts) = (leased.id, leased.tenant.clone(), leased.attempts);
    let Err(error) = dispatched(app, leased).await else {
        return;
    };
    let now = app.shared.clock.now();
    let batch = Batch::new(tenant);
    let batch = if attempts < ATTEMPTS_MAX && !crate::registry::is_refusal(&error) {
        tracing::warn!(entry = id.0, attempts, %error, "an effect failed and will be tried again");
        batch.retry(id, now.plus(1 << attempts.min(10)))
    } else {
        tracing::error!(entry = id.0, %error, "an effect is given up");
        batch.bury(id, error.reason)
    };
    if let Err(error) = app.shared.store.commit(batch).await {
        tracing::error!(%error, "the outbox can't be written");
    }
}

async fn dispatched(app: &App, leased: Leased) -> Result<()> {
    match Job::read(&leased)? {
        Job::Receive { .. } => {
            let wallet = app.wallet()?;
            let mut done = wallet.perform_received(leased).await?;
            while let Done::Next(Some(next)) = done {
                let Some(leased) = app.shared.store.lease_early(next).await? else {
                    break;
                };
                done = wallet.perform_received(leased).await?;
            }
        }
        Job::Present { .. } => {
            app.wallet()?.perform_presented(leased).await?;
        }
        Job::Submit { .. } => {
            app.shared.carry_out(&leased).await?;
        }
    }
    Ok(())
}
