//! What may not be repeated lightly: effects that are stored with the state that asks for them, and carried out until
//! their answer is stored too.

use std::sync::Arc;
use std::time::Duration;

use selfsame_crypto::time::UnixTime;
use selfsame_openid4vc::{holder, wallet};
use selfsame_store::{Batch, Committed, Leased, NewOutbox, StoreError, TenantId};
use serde::{Deserialize, Serialize};
use tokio::task::{AbortHandle, JoinSet};

use crate::accounts::{decode, encode};
use crate::app::App;
use crate::error::{Error, ErrorKind, Result};
use crate::shared::Shared;
use crate::verifier;
use crate::wallet::receive::flow::Done;
use crate::wallet::{answer, receive};

/// How often the worker looks for what was left behind, by a crash or for a later time.
const EVERY: Duration = Duration::from_millis(500);
/// So many looks lie between two notes of how far the ledger has come: each is a commit, and none while nothing is new.
const NOTED_EVERY: u64 = 20;
/// So many lie between two notes that the registry is at work, ten minutes: each is a commit, also while nothing is new.
const ALIVE_EVERY: u64 = 1_200;
/// So many looks without a commit between them are a rest.
const REST: u64 = 60;
/// So much is carried out at once; of calls of wallets so many in all, the rest being for the registry, and so many of
/// one person's, whose verifiers and issuers may be silent.
const AT_ONCE: usize = 32;
const CALLS_AT_ONCE: usize = 24;
const CALLS_OF_ONE: usize = 4;
/// So many entries are looked through for those that have a place.
const LOOKED_THROUGH: usize = 1_024;
/// Whoever writes an effect to carry it out himself has so long to begin; then it is anybody's.
const OWN_SECONDS: u64 = 10;
/// What did not work by then is given up, and shown to the operator.
const ATTEMPTS_MAX: u32 = 12;
/// So many expired records go in one write, and so many writes follow each other.
const PURGED_AT_ONCE: usize = 500;
const PURGES_MAX: usize = 8;
/// What has expired by a clock that leapt ahead is kept for a day, in which the clock may be set back: a nonce that is
/// good again then must not be forgotten to be spent.
const DOUBTED_SECONDS: u64 = 86_400;
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

/// Carries out what nobody else does, until the instance stops.
pub(crate) async fn work(app: Arc<App>, mut stopping: tokio::sync::watch::Receiver<bool>) {
    let (mut running, mut quiet) = (JoinSet::new(), Quiet::default());
    let mut under_way = UnderWay::default();
    let started = app.shared.clock.started();
    for look in 1_u64.. {
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            _ = stopping.changed() => break,
        }
        while running.try_join_next().is_some() {}
        under_way.0.retain(|place| !place.task.is_finished());
        let store = &app.shared.store;
        match store.due(app.shared.clock.now(), LOOKED_THROUGH).await {
            Ok(entries) => {
                for leased in entries {
                    let (tenant, is_call) = (leased.tenant.clone(), is_call(&leased));
                    if under_way.has_room(&tenant, is_call) {
                        let app = app.clone();
                        let task = running.spawn(async move { perform(&app, &leased).await });
                        under_way.0.push(Place {
                            tenant,
                            is_call,
                            task,
                        });
                    }
                }
            }
            Err(error) => tracing::error!(%error, "the outbox can't be read"),
        }
        purge(&app, started).await;
        if quiet.is_rest(app.commits().0) {
            app.fold().await;
        }
        if look.is_multiple_of(NOTED_EVERY) {
            app.keep_ledger_noted().await;
        }
        if look.is_multiple_of(ALIVE_EVERY) {
            app.keep_alive_noted().await;
        }
    }
    // What is under way is finished: its answer can't be asked for again.
    running.detach_all();
}

/// For how many looks nothing was written.
#[derive(Default)]
struct Quiet {
    commits: u64,
    looks: u64,
}

impl Quiet {
    /// Whether a rest has just become long; there was something to rest from.
    fn is_rest(&mut self, commits: u64) -> bool {
        if commits != self.commits {
            *self = Self { commits, looks: 0 };
        }
        self.looks += 1;
        self.looks == REST
    }
}

/// What is carried out at this moment.
#[derive(Default)]
struct UnderWay(Vec<Place>);

struct Place {
    tenant: TenantId,
    is_call: bool,
    task: AbortHandle,
}

impl UnderWay {
    /// Whether there is a place for one more entry of this tenant's.
    fn has_room(&self, tenant: &TenantId, is_call: bool) -> bool {
        let calls = self.0.iter().filter(|place| place.is_call);
        let of_one = calls.clone().filter(|place| place.tenant == *tenant);
        let fits = calls.count() < CALLS_AT_ONCE && of_one.count() < CALLS_OF_ONE;
        self.0.len() < AT_ONCE && (fits || !is_call)
    }
}

/// Whether a wallet calls somebody.
fn is_call(leased: &Leased) -> bool {
    matches!(
        Job::read(leased),
        Ok(Job::Receive { .. } | Job::Present { .. })
    )
}

/// Removes what has expired, by the clock and by the time that passed since the worker began, when the machine had
/// `started`; as long as there is much of it, more than one portion.
async fn purge(app: &App, started: UnixTime) {
    let clock = &app.shared.clock;
    let believed = started.plus(clock.passed());
    let now = clock
        .now()
        .min(believed.max(clock.now().minus(DOUBTED_SECONDS)));
    for _ in 0..PURGES_MAX {
        match app.shared.store.purge_expired(now, PURGED_AT_ONCE).await {
            Ok(purged) if purged >= PURGED_AT_ONCE as u64 => {}
            Ok(_) => return,
            Err(error) => return tracing::error!(%error, "expired records can't be removed"),
        }
    }
}

/// Carries out one entry, whose lease the caller holds; what fails for a while is tried again, later each time.
pub(crate) async fn perform(app: &App, leased: &Leased) {
    if let Err(error) = dispatched(app, leased).await {
        app.shared.put_off(leased, &error).await;
    }
}

async fn dispatched(app: &App, leased: &Leased) -> Result<()> {
    match Job::read(leased)? {
        Job::Receive { .. } => {
            let wallet = app.wallet()?;
            if let Done::Next(next) = wallet.perform_received(leased).await? {
                // This entry is settled; should what it led to fail, that has been put off already.
                drop(wallet.finish(next).await);
            }
        }
        Job::Present { .. } => {
            app.wallet()?.perform_presented(leased).await?;
        }
        Job::Submit { .. } => {
            app.shared.carry_out(leased).await?;
        }
        Job::Spend { .. } => app.verifier()?.carry_out(leased).await?,
        Job::Cheqd { .. } => {
            app.shared.carry_out_cheqd(leased).await?;
        }
    }
    Ok(())
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
            tracing::error!(entry = id, %error, "an effect is given up");
            self.given_up(leased, error).await
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

    async fn given_up(&self, leased: &Leased, error: &Error) -> Result<Batch> {
        let batch = Batch::new(leased.tenant.clone()).bury(leased.id, error.reason.clone());
        match Job::read(leased) {
            Ok(Job::Receive { flow, effect }) => {
                receive::abandoned(self, batch, (&leased.tenant, &flow, &effect), error).await
            }
            Ok(Job::Present { flow, effect }) => {
                answer::abandoned(self, batch, (&leased.tenant, &flow, &effect), error).await
            }
            Ok(Job::Spend {
                request,
                transaction,
            }) => verifier::abandoned(self, batch, (&request, &transaction), error).await,
            Ok(Job::Submit { .. } | Job::Cheqd { .. }) | Err(_) => Ok(batch),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of so many entries of this tenant's are begun.
    fn begun(under_way: &mut UnderWay, (tenant, is_call): (&str, bool), many: usize) -> usize {
        let tenant = TenantId::parse(tenant).unwrap();
        let before = under_way.0.len();
        for _ in 0..many {
            if under_way.has_room(&tenant, is_call) {
                let task = tokio::spawn(std::future::pending::<()>()).abort_handle();
                let tenant = tenant.clone();
                under_way.0.push(Place {
                    tenant,
                    is_call,
                    task,
                });
            }
        }
        under_way.0.len() - before
    }

    #[tokio::test]
    async fn who_calls_many_silent_hosts_takes_no_place_of_others_nor_of_the_registry() {
        let mut all = UnderWay::default();
        assert_eq!(begun(&mut all, ("person-a", true), 100), 4);
        assert_eq!(begun(&mut all, ("person-b", true), 1), 1);
        for number in 0..10 {
            begun(&mut all, (&format!("person-{number}"), true), 100);
        }
        assert_eq!(all.0.len(), CALLS_AT_ONCE);
        assert_eq!(
            begun(&mut all, ("issuer", false), 100),
            AT_ONCE - CALLS_AT_ONCE
        );
    }
}
