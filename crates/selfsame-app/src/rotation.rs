//! The rotation of the master key, carried on by every process that has both keys. Each step is a commit that expects the
//! list of master keys unchanged, so a process that is killed leaves a step done or not done, and another one goes on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::rotation::{KeyCheck, RotationStage};
use selfsame_store::{Store, StoreError};
use tokio::time::Instant;

use crate::view::instance::MasterKeyStatus;

/// The pause after another process was faster.
const PAUSE: Duration = Duration::from_millis(500);
/// How often a portion is tried while others change the same keys.
const TRIES: u32 = 20;

/// How often the log repeats what a rotation waits for.
const REPEATED: Duration = Duration::from_secs(60);

/// What this process does for a rotation.
#[derive(Default)]
pub(crate) struct Rotation {
    is_at_work: AtomicBool,
    said: Mutex<Option<SaidLine>>,
}

/// The line that the log got last.
struct SaidLine {
    line: String,
    at: Instant,
}

/// Begins a rotation to the only master key at hand that the records are not under.
///
/// # Errors
/// `BadRequest` if the next key is missing, or there is more than one; `Conflict` if a rotation is under way.
pub(crate) async fn begin(store: &Store) -> Result<KeyCheck> {
    let advice = store.find_keys().await;
    store.look_at_keys().await?;
    if store.rotation().stage != RotationStage::Settled {
        return Err(Error::new(ErrorKind::Conflict, "master-key-rotating"));
    }
    let next = match store.unlisted_keys().as_slice() {
        [next] => *next,
        _ => return Err(Error::bad_request("master-key-next-missing").with("where", &advice)),
    };
    match store.begin_rotation(next).await {
        Ok(()) => {
            tracing::warn!(next = %next, "the rotation of the master key has begun");
            Ok(next)
        }
        Err(StoreError::Conflict { .. }) => {
            Err(Error::new(ErrorKind::Conflict, "master-key-rotating"))
        }
        Err(error) => Err(error.into()),
    }
}

/// How far a rotation is.
///
/// # Errors
/// The store's.
pub(crate) async fn progress(store: &Store) -> Result<MasterKeyStatus> {
    store.look_at_keys().await?;
    let state = store.rotation();
    let waits_for = match state.next {
        Some(next) => store.unready(next).await?,
        None => 0,
    };
    let stage = match state.stage {
        RotationStage::Settled => "settled",
        RotationStage::Begun => "begun",
        RotationStage::Ending => "ending",
    };
    Ok(MasterKeyStatus {
        stage: stage.to_owned(),
        present: state.present.map(|check| check.to_string()),
        next: state.next.map(|check| check.to_string()),
        waits_for,
    })
}

impl Rotation {
    /// Looks whether the records are to be under another master key, and does what this process can do for that. A
    /// failure is logged, and tried again at the next look.
    pub(crate) async fn look(&self, store: &Store) {
        if self.is_at_work.swap(true, Ordering::AcqRel) {
            return;
        }
        let done = self.step(store).await;
        self.is_at_work.store(false, Ordering::Release);
        if let Err(error) = done {
            self.say(format!(
                "the rotation of the master key can't go on yet: {error}"
            ));
        }
        let stage = match store.rotation().stage {
            RotationStage::Settled => 0.0,
            RotationStage::Begun => 1.0,
            RotationStage::Ending => 2.0,
        };
        metrics::gauge!("selfsame_master_key_rotation").set(stage);
    }

    async fn step(&self, store: &Store) -> selfsame_store::Result<()> {
        if let Err(StoreError::WrongKey(_)) = store.look_at_keys().await {
            let advice = store.find_keys().await;
            store.look_at_keys().await.inspect_err(|error| {
                if let StoreError::WrongKey(_) = error {
                    self.say(format!(
                        "the records are under another master key now. {advice}"
                    ));
                }
            })?;
        }
        let mut state = store.rotation();
        if state.stage == RotationStage::Settled {
            return Ok(());
        }
        if !state.is_ready {
            let advice = store.find_keys().await;
            state = store.rotation();
            if !state.is_ready {
                self.say(format!("the records are to be under a new master key, which this process does not have. {advice}"));
                return Ok(());
            }
        }
        store.tell_ready().await?;
        if let Some(next) = state.next {
            let waits_for = store.unready(next).await?;
            if waits_for > 0 {
                self.say(format!(
                    "the rotation of the master key waits for {waits_for} processes that do not have the new key yet; each says in its log what it needs"
                ));
                return Ok(());
            }
        }
        wrap_all(store).await
    }

    /// Writes a line to the log, but the same one not again and again.
    fn say(&self, line: String) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = said
            .as_ref()
            .is_some_and(|said| said.line == line && said.at.elapsed() < REPEATED);
        if !is_known {
            tracing::warn!("{line}");
            let at = Instant::now();
            *said = Some(SaidLine { line, at });
        }
    }
}

/// Wraps the keys of all tenants as the present stage wants it, and ends the stage.
async fn wrap_all(store: &Store) -> selfsame_store::Result<()> {
    let since = store.list_version();
    let (mut after, mut wrapped, mut tries) = (Some(String::new()), 0_u64, 0);
    while let Some(from) = after {
        match store.rewrap(&from).await {
            Ok(done) => {
                wrapped = wrapped.saturating_add(done.wrapped);
                metrics::counter!("selfsame_master_key_wrapped_total").increment(done.wrapped);
                for tenant in &done.damaged {
                    tracing::error!(
                        tenant,
                        "the key of a tenant is damaged: it opens with no master key"
                    );
                }
                (after, tries) = (done.after, 0);
            }
            Err(StoreError::Conflict { .. }) if tries < TRIES => {
                tries += 1;
                tokio::time::sleep(PAUSE).await;
                store.look_at_keys().await?;
                if store.list_version() != since {
                    // Another process was faster, or a tenant came that lacks the new key: the next look begins anew.
                    return Ok(());
                }
                after = Some(from);
            }
            Err(error) => return Err(error),
        }
    }
    match store.advance_rotation(since).await {
        Err(StoreError::Conflict { .. }) => return Ok(()),
        advanced => advanced?,
    }
    match store.rotation().stage {
        RotationStage::Settled => {
            // The log of the file has the former wraps until it is written over.
            store.fold().await?;
            tracing::warn!(
                wrapped,
                "the rotation of the master key has ended: the former key opens these records no more"
            );
        }
        _ => tracing::info!(
            wrapped,
            "all tenants' keys are wrapped under the new master key"
        ),
    }
    Ok(())
}
