//! The outbox worker: carries out the entries that no request carries out.

use std::sync::Arc;
use std::time::Duration;

use selfsame_crypto::time::UnixTime;
use selfsame_store::{Leased, TenantId};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

use super::App;
use selfsame_core::machine::HTTP;
use selfsame_core::organisation::Urgency;

/// How often the worker looks for entries left behind by a crash or due at a later time.
const EVERY: Duration = Duration::from_millis(500);
/// Looks between two looks at the list of master keys.
const KEYS_EVERY: u64 = 2;
/// Looks between two notes of the ledger's height. Each note is a commit; none is made while nothing is new.
const NOTED_EVERY: u64 = 20;
/// Looks between two notes that the registry is active (ten minutes). Each note is a commit, even while nothing is new.
const ALIVE_EVERY: u64 = 1_200;
/// Looks without a commit between them that count as a rest.
const REST: u64 = 60;
/// Entries carried out at once; of these, HTTP requests in total (the rest is for the registry), and those of one
/// tenant, because the hosts they call may not answer.
const AT_ONCE: usize = 32;
const CALLS_AT_ONCE: usize = 24;
const CALLS_OF_ONE: usize = 4;
/// Entries looked through for those that have a place.
const LOOKED_THROUGH: usize = 1_024;
/// Expired records removed in one write, and writes in a row.
const PURGED_AT_ONCE: usize = 500;
const PURGES_MAX: usize = 8;
/// Seconds for which records are kept that expired only by a clock that leapt ahead. The clock may be set back in that
/// time, and a nonce that is valid again must still be known as used.
const DOUBTED_SECONDS: u64 = 86_400;
/// Seconds for which records are kept if other processes use them too. Their clocks may be behind this one, and a nonce
/// that is valid by one of them must still be known as used.
const APART_SECONDS: u64 = 60;

/// Carries out due entries until the instance stops. `started` is when the machine started, by the clock as it was when
/// the instance started.
pub(super) async fn work(
    app: Arc<App>,
    mut stopping: tokio::sync::watch::Receiver<bool>,
    started: UnixTime,
) {
    let (mut running, mut quiet) = (JoinSet::new(), Quiet::default());
    let mut under_way = UnderWay::default();
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
                note_lag(&entries, app.shared.clock.now());
                for leased in entries {
                    let tenant = leased.tenant.clone();
                    let is_call = leased.destination == HTTP;
                    if under_way.has_room(&tenant, is_call) {
                        let shared = app.shared.clone();
                        let task = running.spawn(async move { shared.perform(&leased).await });
                        under_way.0.push(UnderWayCall {
                            tenant,
                            is_call,
                            began: Instant::now(),
                            task,
                        });
                    }
                }
                under_way.note();
            }
            Err(error) => tracing::error!(%error, "the outbox can't be read"),
        }
        app.operator.keep_token().await;
        if look.is_multiple_of(KEYS_EVERY) {
            app.keep_master_key();
        }
        app.keep_chained().await;
        app.keep_erasing(Urgency::Now).await;
        purge(&app, started).await;
        if quiet.is_rest(app.commits().0) {
            app.fold().await;
        }
        if look.is_multiple_of(NOTED_EVERY) {
            app.warn_of_certificate_ends();
            app.keep_ledger_noted().await;
            app.keep_erasing(Urgency::Later).await;
        }
        if look.is_multiple_of(ALIVE_EVERY) {
            app.keep_alive_noted().await;
            app.keep_anchored().await;
        }
    }
    // Calls in progress are finished: their answers can't be asked for again.
    running.detach_all();
}

/// Notes in the metrics how late the calls are that could be carried out now.
fn note_lag(due: &[Leased], now: UnixTime) {
    let oldest = due.iter().map(|call| call.not_before).min();
    let lag = oldest.map_or(0, |oldest| now.0.saturating_sub(oldest.0));
    metrics::gauge!("selfsame_outbox_lag_seconds").set(lag as f64);
}

/// Counts the looks since the last commit.
#[derive(Default)]
struct Quiet {
    commits: u64,
    looks: u64,
}

impl Quiet {
    /// Whether the rest has just become long enough. True once per rest.
    fn is_rest(&mut self, commits: u64) -> bool {
        if commits != self.commits {
            *self = Self { commits, looks: 0 };
        }
        self.looks += 1;
        self.looks == REST
    }
}

/// The entries in progress.
#[derive(Default)]
struct UnderWay(Vec<UnderWayCall>);

struct UnderWayCall {
    tenant: TenantId,
    is_call: bool,
    began: Instant,
    task: AbortHandle,
}

impl UnderWay {
    /// Notes in the metrics how many calls this process has taken, and since when.
    fn note(&self) {
        metrics::gauge!("selfsame_outbox_taken").set(self.0.len() as f64);
        let oldest = self.0.iter().map(|call| call.began.elapsed()).max();
        let oldest = oldest.unwrap_or_default().as_secs_f64();
        metrics::gauge!("selfsame_outbox_taken_seconds").set(oldest);
    }

    /// Whether there is a place for one more entry of this tenant.
    fn has_room(&self, tenant: &TenantId, is_call: bool) -> bool {
        let calls = self.0.iter().filter(|place| place.is_call);
        let of_one = calls.clone().filter(|place| place.tenant == *tenant);
        let fits = calls.count() < CALLS_AT_ONCE && of_one.count() < CALLS_OF_ONE;
        self.0.len() < AT_ONCE && (fits || !is_call)
    }
}

/// Removes expired records. Expiry goes by the clock and by the time that has passed since the worker began, when the
/// machine had `started`. Continues with further portions while a full one was removed.
async fn purge(app: &App, started: UnixTime) {
    let clock = &app.shared.clock;
    let believed = started.plus(clock.passed());
    let apart = match app.shared.store.is_shared() {
        true => APART_SECONDS,
        false => 0,
    };
    let now = clock
        .now()
        .min(believed.max(clock.now().minus(DOUBTED_SECONDS)))
        .minus(apart);
    for _ in 0..PURGES_MAX {
        match app.shared.store.purge_expired(now, PURGED_AT_ONCE).await {
            Ok(purged) if purged >= PURGED_AT_ONCE as u64 => {}
            Ok(_) => return,
            Err(error) => return tracing::error!(%error, "expired records can't be removed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of `many` entries of this tenant are started.
    fn begun(under_way: &mut UnderWay, (tenant, is_call): (&str, bool), many: usize) -> usize {
        let tenant = TenantId::parse(tenant).unwrap();
        let before = under_way.0.len();
        for _ in 0..many {
            if under_way.has_room(&tenant, is_call) {
                let task = tokio::spawn(std::future::pending::<()>()).abort_handle();
                let tenant = tenant.clone();
                under_way.0.push(UnderWayCall {
                    tenant,
                    is_call,
                    began: Instant::now(),
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
