//! The issuers' private keys: unsealed and prepared once, and kept while they are used.

use std::sync::Arc;

use selfsame_anoncreds::cl::KeyCorrectnessProof;
use selfsame_anoncreds::format::{CredentialDefinitionPrivate, Message as _};
use selfsame_anoncreds::issuer::Issuer;
use selfsame_core::Shared;
use selfsame_crypto::Secret;
use selfsame_driver::record::decode;
use selfsame_driver::{Error, Result};
use selfsame_store::{Record, TenantId};

use crate::bounded::Bounded;
use crate::error::unknown;
use crate::key_proofs::publish;
use crate::objects::Objects;
use crate::publication::{DEFINITION, DefinitionRecord, PRIVATE_KEY};

/// Keys held; each is wiped when it leaves. Their tables are those of the prepared definitions.
const HELD_MAX: usize = 64;

/// A definition of a tenant with its private key, ready for use.
pub(crate) struct IssuingKey {
    /// The part of the key's proof that offers have.
    pub(crate) correctness: KeyCorrectnessProof,
    pub(crate) issuer: Issuer,
}

/// The keys of the tenants of one process.
pub(crate) struct IssuerKeys {
    shared: Arc<Shared>,
    objects: Arc<Objects>,
    /// By the version of the record of the private key, which the store gives once.
    held: Bounded<u64, Arc<IssuingKey>>,
}

impl IssuerKeys {
    pub(crate) fn new(shared: Arc<Shared>, objects: Arc<Objects>) -> Self {
        Self {
            shared,
            objects,
            held: Bounded::new(HELD_MAX),
        }
    }

    /// The key of a definition, by the id of the records of its publication.
    pub(crate) async fn of(
        &self,
        tenant: &TenantId,
        id: &str,
        cred_def_id: &str,
    ) -> Result<Arc<IssuingKey>> {
        let store = &self.shared.store;
        if let Some(version) = store.version(tenant, PRIVATE_KEY, id).await?
            && let Some(held) = self.held.get(&version)
        {
            return Ok(held);
        }
        let private = store.read(tenant, PRIVATE_KEY, id).await?;
        let made = store.read(tenant, DEFINITION, id).await?;
        let gone = || Error::damaged("a published definition has no key");
        let (private, made) = private.zip(made).ok_or_else(gone)?;
        let version = private.version;
        let key = Arc::new(self.unsealed(private, &made, cred_def_id).await?);
        self.held.keep(version, key.clone());
        Ok(key)
    }

    async fn unsealed(
        &self,
        private: Record,
        made: &Record,
        cred_def_id: &str,
    ) -> Result<IssuingKey> {
        let made: DefinitionRecord = decode(&made.value)?;
        let known = self.objects.definition(cred_def_id).await?;
        let known = known.ok_or_else(|| unknown("the credential definition", cred_def_id))?;
        let whole = KeyCorrectnessProof::from_json(made.correctness.as_bytes());
        let whole = whole.map_err(Error::damaged)?;
        let correctness = publish(&self.shared, &whole, &made.correctness).await?;
        let prepared = self.objects.prepared.clone();
        let private = Secret::new(private.value);
        let joining = move || {
            let prepared = prepared.of(&known)?;
            prepared.prepare();
            let private = CredentialDefinitionPrivate::from_json(private.expose());
            let private = private.map_err(Error::damaged)?;
            Ok(IssuingKey {
                issuer: Issuer::of(prepared, &private).map_err(Error::damaged)?,
                correctness,
            })
        };
        self.shared.work.run_in_turn(joining).await?
    }
}
