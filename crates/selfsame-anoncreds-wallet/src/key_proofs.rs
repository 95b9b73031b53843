//! Our own proofs about issuers' keys: too long for offers, so that they are published under their hash, and a holder
//! fetches and verifies them once for each key.

use std::sync::Arc;
use std::time::Duration;

use selfsame_anoncreds::cl::{KeyCorrectnessProof, PublishedKeyProof};
use selfsame_anoncreds::format::CredentialOffer;
use selfsame_core::{Shared, below};
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_net::CallLimits;
use selfsame_store::{Batch, Put, TenantId};

use crate::bounded::Bounded;
use crate::error::refused;
use crate::issuer_files::fetched;

/// The kind of the records of proofs, by hash. They are public, and outlive an issuer here: its holders need them.
const KEY_PROOF: &str = "anoncreds_key_proof";
/// Bytes of a proof that are fetched at most. Ours have 134 kB, and 0.7 kB for each of at most 125 attributes.
const PROOF_MAX: usize = 300_000;
/// The limits of a fetch.
const FETCH: CallLimits = CallLimits {
    max_body: PROOF_MAX,
    total_timeout: Duration::from_secs(10),
};
/// Seconds before a proof that can't be had is fetched again, so that not each offer waits for a server that is away.
const ABSENT: u64 = 60;
/// Proofs that are remembered as verified or absent.
const SETTLED_MAX: usize = 4_096;

/// A whole proof to which an offer refers.
pub(crate) struct UnverifiedKeyProof {
    named: String,
    pub(crate) proof: KeyCorrectnessProof,
}

/// The published proofs that one process knows.
pub(crate) struct KeyProofRecords {
    shared: Arc<Shared>,
    /// Until when a proof is not fetched, by its hash and definition.
    settled: Bounded<String, UnixTime>,
}

impl KeyProofRecords {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let settled = Bounded::new(SETTLED_MAX);
        Self { shared, settled }
    }

    /// The bytes of a proof that is published here.
    pub(crate) async fn stored(&self, sha256: &str) -> Result<Option<Vec<u8>>> {
        let instance = TenantId::instance();
        let stored = self.shared.store.read(&instance, KEY_PROOF, sha256).await?;
        Ok(stored.map(|record| record.value))
    }

    /// The proof to which an offer refers, if it is yet to be verified for this definition. If it can't be had, the
    /// offer is like one without it: an issuer need not prove more than the specification asks for.
    ///
    /// # Errors
    /// `BadRequest` if another one than the named one is published; the store's.
    pub(crate) async fn unverified(
        &self,
        offer: &CredentialOffer,
    ) -> Result<Option<UnverifiedKeyProof>> {
        let Some(published) = &offer.key_correctness_proof.published else {
            return Ok(None);
        };
        let named = format!("{} {}", published.sha256, offer.cred_def_id.as_str());
        let now = self.shared.clock.now();
        if self.settled.get(&named).is_some_and(|until| now < until) {
            return Ok(None);
        }
        let bytes = match self.stored(&published.sha256).await? {
            Some(stored) => stored,
            None => match fetched(&self.shared.net, &published.location, FETCH, 0).await {
                Ok(fetched) => fetched,
                Err(reason) => {
                    let cred_def_id = offer.cred_def_id.as_str();
                    tracing::warn!(cred_def_id, reason, "a proof of an issuer's key is absent");
                    self.settled.keep(named, now.plus(ABSENT));
                    return Ok(None);
                }
            },
        };
        let proof = published.read(&bytes).map_err(refused)?;
        Ok(Some(UnverifiedKeyProof { named, proof }))
    }

    /// Remembers a proof that holds.
    pub(crate) fn remember(&self, verified: UnverifiedKeyProof) {
        self.settled.keep(verified.named, UnixTime(u64::MAX));
    }
}

/// Publishes a key's proof at its hash, and gives the part for offers.
pub(crate) async fn publish(
    shared: &Shared,
    whole: &KeyCorrectnessProof,
    json: &str,
) -> Result<KeyCorrectnessProof> {
    if !whole.has_own_members() {
        return Ok(whole.clone());
    }
    let (store, instance) = (&shared.store, TenantId::instance());
    let sha256 = hex_encode(&sha256(json.as_bytes()));
    if store
        .version(&instance, KEY_PROOF, &sha256)
        .await?
        .is_none()
    {
        let put = Put::new(KEY_PROOF, &sha256, json.as_bytes().to_vec());
        store.commit(Batch::new(instance).put(put)).await?;
    }
    let location = below(&shared.config.origin, &format!("key-proofs/{sha256}"))?;
    let location = location.to_string();
    Ok(whole.abridged(Some(PublishedKeyProof { location, sha256 })))
}
