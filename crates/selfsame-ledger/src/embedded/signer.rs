//! The signer: the newest checkpoint of an embedded registry, with the cosignatures of its witnesses.

use std::sync::{Mutex, MutexGuard, PoisonError};

use selfsame_crypto::KeyHandle;
use selfsame_driver::keys::Keys;
use selfsame_driver::{Error, Result};
use selfsame_proof::checkpoint::{Checkpoint, Standing};
use selfsame_proof::note::{SignedNote, VerifierKey};
use selfsame_registry::Head;
use selfsame_store::TenantId;

use crate::times::Times;
use crate::witnesses::Witnesses;

/// Seconds after which the newest checkpoint is signed again.
const SIGNED_EVERY: u64 = 2;

/// Signs checkpoints on request, and only of what is durable. A head that stays the newest is signed again every other
/// second, so that a reader sees how fresh it is. If there are witnesses, the caller waits until they have seen it.
pub(super) struct CheckpointSigner {
    pub(super) keys: Keys,
    pub(super) tenant: TenantId,
    pub(super) key: KeyHandle,
    pub(super) verifier: VerifierKey,
    pub(super) origin: String,
    pub(super) times: Times,
    pub(super) witnesses: Option<Witnesses>,
    pub(super) last: Mutex<Option<(Standing, String)>>,
    /// Held while a checkpoint is shown to the witnesses: a witness sees one after the other.
    pub(super) turn: tokio::sync::Mutex<()>,
}

impl CheckpointSigner {
    /// The note of a head; `None` if a later head was signed before.
    pub(super) async fn checkpoint(&self, head: &Head) -> Result<Option<String>> {
        let Some(standing) = self.standing(head) else {
            return Ok(None);
        };
        if let Some(note) = self.kept(&standing) {
            return Ok(Some(note));
        }
        let Some(witnesses) = &self.witnesses else {
            let note = self.sign(&standing).await?;
            return Ok(Some(self.keep(standing, &note)));
        };
        let _turn = self.turn.lock().await;
        // The task that had the turn before may have shown the same head or a later one.
        let Some(standing) = self.standing(head) else {
            return Ok(None);
        };
        if let Some(note) = self.kept(&standing) {
            return Ok(Some(note));
        }
        let mut note = self.sign(&standing).await?;
        if let Some(time) = witnesses.show(&mut note, standing.size).await {
            self.times.hear(time);
        }
        Ok(Some(self.keep(standing, &note)))
    }

    /// The standing of a head at this moment; `None` if a later head was signed before.
    fn standing(&self, head: &Head) -> Option<Standing> {
        let time = self.times.of_checkpoint(head.height, head.time)?;
        Some(Standing {
            time,
            ..head.standing()
        })
    }

    /// The last note, if it is fresh enough for this standing.
    fn kept(&self, standing: &Standing) -> Option<String> {
        let last = self.last();
        let (of, note) = last.as_ref()?;
        let fresh =
            of.height == standing.height && standing.time.seconds_since(of.time) < SIGNED_EVERY;
        fresh.then(|| note.clone())
    }

    async fn sign(&self, standing: &Standing) -> Result<SignedNote> {
        let checkpoint = Checkpoint::of_block(&self.origin, standing);
        let mut note = checkpoint.to_note().map_err(Error::internal)?;
        let signature = self
            .keys
            .sign(&self.tenant, &self.key, note.signing_bytes())
            .await?;
        note.sign(&self.verifier, signature)
            .map_err(Error::internal)?;
        Ok(note)
    }

    fn keep(&self, standing: Standing, note: &SignedNote) -> String {
        let note = note.to_string();
        let mut last = self.last();
        // A slower task must not replace a newer checkpoint with an older one.
        let newer = |of: &Standing| (of.height, of.time) > (standing.height, standing.time);
        if !last.as_ref().is_some_and(|(of, _)| newer(of)) {
            *last = Some((standing, note.clone()));
        }
        note
    }

    fn last(&self) -> MutexGuard<'_, Option<(Standing, String)>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
