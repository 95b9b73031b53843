//! What a registry's steps need and is not pure: keys, tails, accumulators, signatures.

use std::collections::BTreeSet;
use std::sync::Arc;

use selfsame_anoncreds::cl::revocation::IssuedAtStart;
use selfsame_anoncreds::format::{
    Message as _, RevocationRegistryDefinition, RevocationRegistryId, RevocationRegistryPrivate,
    Text as _,
};
use selfsame_anoncreds::issuer::{ListUpdate, NewRegistry, Registry};
use selfsame_anoncreds_roles::issuer::open_registry;
use selfsame_core::dids::Dids;
use selfsame_core::machine::{At, Call};
use selfsame_core::{Shared, below};
use selfsame_crypto::{Secret, SecretString};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_registry::Operation;
use selfsame_registry::anoncreds::RevocationEntry;
use selfsame_store::{Batch, Put, TenantId};
use serde::{Deserialize, Serialize};

use super::record::{REGISTRY_KEY, RegistryRecord, SentEntry};
use crate::bounded::Bounded;
use crate::endorsing::{SignedWrite, signed};
use crate::error::refused;
use crate::keys::IssuerKeys;
use crate::objects::accumulator_text;
use crate::secret_text;
use crate::tails;

/// Secrets of registries held; each is wiped when it leaves.
const HELD_MAX: usize = 128;

/// A registry with its secret, ready to issue in.
pub(crate) struct OpenRegistry {
    pub(crate) definition: RevocationRegistryDefinition,
    pub(crate) private: RevocationRegistryPrivate,
}

/// What an issuer keeps of a registry.
#[derive(Deserialize, Serialize)]
struct RegistryKeyRecord {
    /// The JSON of the definition, as it is published.
    definition: String,
    /// The JSON of the private key.
    #[serde(serialize_with = "secret_text::exposed")]
    private: SecretString,
}

/// What is stored with the call that publishes a registry.
pub(crate) struct MadeRegistry {
    pub(crate) writes: Batch,
    pub(crate) transaction: SignedWrite,
    pub(crate) tails_hash: String,
    pub(crate) accumulator: String,
}

/// What makes registries and entries: the keys of issuers and the secrets of registries.
pub(crate) struct RegistryWorkshop {
    pub(super) shared: Arc<Shared>,
    dids: Dids,
    keys: Arc<IssuerKeys>,
    /// By the version of the record of the secret, which the store gives once.
    held: Bounded<u64, Arc<OpenRegistry>>,
}

impl RegistryWorkshop {
    pub(crate) fn new(shared: Arc<Shared>, keys: Arc<IssuerKeys>) -> Self {
        Self {
            dids: Dids::new(shared.clone()),
            shared,
            keys,
            held: Bounded::new(HELD_MAX),
        }
    }

    /// Makes the keys and the tails of a registry, and signs the transaction with its definition and its first entry.
    pub(super) async fn make(&self, at: At<'_>, record: &RegistryRecord) -> Result<MadeRegistry> {
        let key = self
            .keys
            .of(at.tenant, &record.publication, &record.cred_def_id);
        let (key, ctx) = (key.await?, self.shared.clock.ctx());
        let (cred_def_id, wanted) = (record.typed_definition()?, record.clone());
        let origin = self.shared.config.origin.clone();
        let making = move || {
            let new = NewRegistry {
                cred_def_id: &cred_def_id,
                tag: &wanted.number.to_string(),
                size: wanted.size,
                // Set below, when the hash is known.
                tails_location: origin.as_str(),
            };
            let mut opened = open_registry(&key.issuer, &new, &ctx).map_err(refused)?;
            let value = &mut opened.definition.value;
            let path = format!("tails/hash/{}", value.tails_hash);
            value.tails_location = below(&origin, &path)?.to_string();
            let registry = Registry {
                definition: &opened.definition,
                private: &opened.private,
            };
            let id = RevocationRegistryId::new(wanted.id.as_str()).map_err(refused)?;
            let (start, time) = (IssuedAtStart::ByDefault, None);
            let list = key.issuer.create_status_list(&id, &registry, start, time);
            Ok::<_, Error>((opened, list.map_err(refused)?))
        };
        let (opened, list) = self.shared.work.run_in_turn(making).await??;
        let definition = opened.definition.to_json().map_err(refused)?;
        let private = opened.private.to_json().map_err(refused)?;
        let kept = RegistryKeyRecord {
            definition: definition.clone(),
            private: SecretString::from(private.as_json()),
        };
        let accumulator = accumulator_text(list.current_accumulator.as_ref())?;
        let tails_hash = opened.definition.value.tails_hash;
        // The key of a registry that the ledger had refused is replaced.
        let writes = Batch::new(at.tenant.clone());
        let writes = writes.put(Put::new(REGISTRY_KEY, at.id, encode(&kept)?));
        let first = RevocationEntry {
            registry: record.id.clone(),
            before: None,
            after: accumulator.clone(),
            issued: Vec::new(),
            revoked: Vec::new(),
        };
        let operations = vec![
            Operation::RevocationRegistry { json: definition },
            Operation::RevocationEntry(first),
        ];
        let (author, endorser) = (&record.author, record.endorser.as_ref());
        let transaction = signed(&self.shared, author, endorser, operations).await?;
        Ok(MadeRegistry {
            writes: writes.and(tails::kept(Some(&record.id), &tails_hash, &opened.tails)?),
            transaction,
            tails_hash,
            accumulator,
        })
    }

    /// The JSON of the definition of a registry that is made.
    pub(crate) async fn definition(&self, tenant: &TenantId, id: &str) -> Result<String> {
        let stored = self.shared.store.read(tenant, REGISTRY_KEY, id).await?;
        let gone = || Error::damaged("a revocation registry has no key");
        let value = Secret::new(stored.ok_or_else(gone)?.value);
        Ok(decode::<RegistryKeyRecord>(value.expose())?.definition)
    }

    /// The entry that revokes these places after the confirmed ones, in a signed transaction.
    pub(super) async fn entry(
        &self,
        at: At<'_>,
        record: &RegistryRecord,
        revoked: BTreeSet<u32>,
    ) -> Result<SentEntry> {
        let key = self
            .keys
            .of(at.tenant, &record.publication, &record.cred_def_id);
        let (key, open) = (key.await?, self.opened(at.tenant, record).await?);
        let (list, update) = (
            record.list()?,
            ListUpdate {
                revoked: revoked.clone(),
                ..ListUpdate::default()
            },
        );
        let adding = move || {
            let registry = Registry {
                definition: &open.definition,
                private: &open.private,
            };
            let next = key.issuer.update_status_list(&registry, &list, &update);
            next.map_err(refused)
        };
        let next = self.shared.work.run_in_turn(adding).await??;
        let after = accumulator_text(next.current_accumulator.as_ref())?;
        let entry = RevocationEntry {
            registry: record.id.clone(),
            before: Some(record.accumulator.clone()),
            after: after.clone(),
            issued: Vec::new(),
            revoked: revoked.iter().copied().collect(),
        };
        let operations = vec![Operation::RevocationEntry(entry)];
        let signed = self
            .dids
            .signed_together(&record.author, operations)
            .await?;
        let Call::Registry(transaction) = Call::registry(&signed) else {
            return Err(Error::internal("a transaction is a call to the registry"));
        };
        Ok(SentEntry {
            after,
            revoked,
            transaction,
            since: self.shared.clock.now(),
        })
    }

    /// A registry of the tenant with its secret.
    pub(crate) async fn opened(
        &self,
        tenant: &TenantId,
        record: &RegistryRecord,
    ) -> Result<Arc<OpenRegistry>> {
        let (store, id) = (&self.shared.store, record.record_id());
        if let Some(version) = store.version(tenant, REGISTRY_KEY, &id).await?
            && let Some(held) = self.held.get(&version)
        {
            return Ok(held);
        }
        let stored = store.read(tenant, REGISTRY_KEY, &id).await?;
        let gone = || Error::damaged("a published revocation registry has no key");
        let stored = stored.ok_or_else(gone)?;
        let value = Secret::new(stored.value);
        let kept: RegistryKeyRecord = decode(value.expose())?;
        let definition = RevocationRegistryDefinition::from_json(kept.definition.as_bytes());
        let private = RevocationRegistryPrivate::from_json(kept.private.expose().as_bytes());
        let open = Arc::new(OpenRegistry {
            definition: definition.map_err(Error::damaged)?,
            private: private.map_err(Error::damaged)?,
        });
        self.held.keep(stored.version, open.clone());
        Ok(open)
    }
}
