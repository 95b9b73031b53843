//! Published objects of all issuers, as the registry has them, with a bounded cache.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use selfsame_anoncreds::cl::revocation::{Accumulator, Changes, IssuedAtStart, RevocationList};
use selfsame_anoncreds::definition::{KeyCache, PreparedDefinition};
use selfsame_anoncreds::format::{
    CredentialDefinition, CredentialDefinitionId, Message, RevocationRegistryDefinition,
    RevocationRegistryId, RevocationStatusList, Schema,
};
use selfsame_core::Shared;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, Result};
use selfsame_registry::anoncreds::{PublishedDefinition, RevocationState, Succession};
use serde::Deserialize as _;
use serde::de::IntoDeserializer as _;
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde_json::Value;

use crate::bounded::Bounded;
use crate::error::refused;
use crate::naming::Naming;

/// Schemas, definitions and registries held, of each kind.
const HELD_MAX: usize = 512;
/// Status lists held. One of a registry with 32,768 places takes 33 kB.
const LISTS_MAX: usize = 128;
/// Memory of prepared definitions, in bytes.
const PREPARED_BYTES: usize = 48_000_000;
/// Seconds after which the registry is asked again whether a definition has an end.
const END_KNOWN_FOR: u64 = 5;
/// Seconds by which the clocks of a registry and of this machine may differ.
const SKEW: u64 = 60;

/// A schema of the registry.
#[derive(Clone)]
pub(crate) struct KnownSchema {
    pub(crate) schema: Arc<Schema>,
    pub(crate) seq_no: u64,
}

/// A credential definition of the registry.
#[derive(Clone)]
pub(crate) struct KnownDefinition {
    pub(crate) id: CredentialDefinitionId,
    pub(crate) definition: Arc<CredentialDefinition>,
    pub(crate) seq_no: u64,
    pub(crate) valid_until: Option<UnixTime>,
    pub(crate) succeeded_by: Option<Succession>,
    asked_at: UnixTime,
}

/// A revocation registry of the registry.
#[derive(Clone)]
pub(crate) struct KnownRegistry {
    pub(crate) id: RevocationRegistryId,
    pub(crate) definition: Arc<RevocationRegistryDefinition>,
}

/// The revoked places of a revocation registry as of a time.
#[derive(Clone)]
pub(crate) struct KnownList {
    pub(crate) list: Arc<RevocationStatusList>,
    /// The number of entries up to then.
    pub(crate) version: u64,
}

/// The prepared definitions that computations share.
#[derive(Clone)]
pub(crate) struct Prepared(Arc<Mutex<KeyCache>>);

/// The published objects that one process knows.
pub(crate) struct Objects {
    shared: Arc<Shared>,
    schemas: Bounded<String, KnownSchema>,
    definitions: Bounded<String, KnownDefinition>,
    registries: Bounded<String, KnownRegistry>,
    lists: Bounded<(String, u64), KnownList>,
    pub(crate) prepared: Prepared,
}

impl Prepared {
    /// The prepared definition. The first use checks the key, so this belongs on the pool for computations.
    pub(crate) fn of(&self, known: &KnownDefinition) -> Result<PreparedDefinition> {
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let prepared = keys.definition(&known.id, &known.definition);
        prepared.map_err(refused)
    }
}

impl Objects {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            schemas: Bounded::new(HELD_MAX),
            definitions: Bounded::new(HELD_MAX),
            registries: Bounded::new(HELD_MAX),
            lists: Bounded::new(LISTS_MAX),
            prepared: Prepared(Arc::new(Mutex::new(KeyCache::new(PREPARED_BYTES)))),
        }
    }

    /// A schema, if the registry has it.
    pub(crate) async fn schema(&self, id: &str) -> Result<Option<KnownSchema>> {
        let id = &*Naming(&self.shared).qualified(id).await?;
        if let Some(known) = self.schemas.get(id) {
            return Ok(Some(known));
        }
        let Some(found) = self.shared.own_registry()?.schema(id).await? else {
            return Ok(None);
        };
        let known = KnownSchema {
            schema: Arc::new(read(&found.json)?),
            seq_no: found.receipt.seq_no,
        };
        self.schemas.keep(id.to_owned(), known.clone());
        Ok(Some(known))
    }

    /// A credential definition, if the registry has it. Its end is known to be as of the last few seconds.
    pub(crate) async fn definition(&self, id: &str) -> Result<Option<KnownDefinition>> {
        let id = &*Naming(&self.shared).qualified(id).await?;
        let now = self.shared.clock.now();
        let held = self.definitions.get(id);
        if let Some(held) = &held
            && now.seconds_since(held.asked_at) < END_KNOWN_FOR
        {
            return Ok(Some(held.clone()));
        }
        let registry = self.shared.own_registry()?;
        let Some(found) = registry.credential_definition(id).await? else {
            return Ok(None);
        };
        let definition = match held {
            // The JSON under an identifier never changes.
            Some(held) => held.definition,
            None => Arc::new(read(&found.definition.json)?),
        };
        let known = known_definition(id, definition, found, now)?;
        self.definitions.keep(id.to_owned(), known.clone());
        Ok(Some(known))
    }

    /// Asks the registry again, the next time, whether a definition has an end.
    pub(crate) fn forget_end(&self, id: &str) {
        if let Some(known) = self.definitions.get(id) {
            let asked_at = UnixTime(0);
            self.definitions
                .keep(id.to_owned(), KnownDefinition { asked_at, ..known });
        }
    }

    /// A revocation registry, if the registry has it.
    pub(crate) async fn registry(&self, id: &str) -> Result<Option<KnownRegistry>> {
        let id = &*Naming(&self.shared).qualified(id).await?;
        if let Some(known) = self.registries.get(id) {
            return Ok(Some(known));
        }
        let Some(found) = self.shared.own_registry()?.revocation_registry(id).await? else {
            return Ok(None);
        };
        let known = KnownRegistry {
            id: RevocationRegistryId::new(id).map_err(refused)?,
            definition: Arc::new(read(&found.json)?),
        };
        self.registries.keep(id.to_owned(), known.clone());
        Ok(Some(known))
    }

    /// The status list of a registry that was in force at a time; the newest one without it. A time to come has none.
    pub(crate) async fn list(
        &self,
        registry: &KnownRegistry,
        at: Option<UnixTime>,
    ) -> Result<Option<KnownList>> {
        let now = self.shared.clock.now();
        if at.is_some_and(|at| at > now.plus(SKEW)) {
            return Ok(None);
        }
        let id = registry.id.as_str();
        let key = at.map(|at| (id.to_owned(), at.0));
        if let Some(known) = key.as_ref().and_then(|key| self.lists.get(key)) {
            return Ok(Some(known));
        }
        let found = self.shared.own_registry()?.revocation_state(id, at).await?;
        let Some(found) = found else { return Ok(None) };
        let known = KnownList {
            version: found.version,
            list: Arc::new(list_of(registry, &found)?),
        };
        // What is in force as of the last moments may still change.
        let is_over = |at: &UnixTime| now.seconds_since(*at) > SKEW;
        if let Some(key) = key.filter(|_| at.as_ref().is_some_and(is_over)) {
            self.lists.keep(key, known.clone());
        }
        Ok(Some(known))
    }
}

fn known_definition(
    id: &str,
    definition: Arc<CredentialDefinition>,
    found: PublishedDefinition,
    asked_at: UnixTime,
) -> Result<KnownDefinition> {
    Ok(KnownDefinition {
        id: CredentialDefinitionId::new(id).map_err(refused)?,
        definition,
        seq_no: found.receipt.seq_no,
        valid_until: found.valid_until(),
        succeeded_by: found.succeeded_by,
        asked_at,
    })
}

/// Reads what the registry has. It checked the same when it accepted it.
fn read<T: Message>(json: &str) -> Result<T> {
    let unread = |error| Error::upstream("anoncreds-object-malformed").with("detail", &error);
    T::from_json(json.as_bytes()).map_err(unread)
}

/// The status list of a registry's state. Its time is that of its newest entry.
fn list_of(registry: &KnownRegistry, state: &RevocationState) -> Result<RevocationStatusList> {
    let malformed = |detail: &dyn std::fmt::Display| {
        Error::upstream("anoncreds-object-malformed").with("detail", &detail.to_string())
    };
    let is_set = |place: u32| {
        let byte = usize::try_from(place >> 3).ok();
        let byte = byte.and_then(|byte| state.revoked.get(byte));
        byte.is_some_and(|byte| byte & (0x80 >> (place & 7)) != 0)
    };
    let places = registry.definition.value.max_cred_num;
    // The place 0 stands for no credential.
    let revoked: BTreeSet<u32> = (1..places).filter(|place| is_set(*place)).collect();
    let changes = Changes::new(BTreeSet::new(), revoked).map_err(|error| malformed(&error))?;
    let revocation_list = RevocationList::new(places, IssuedAtStart::ByDefault)
        .and_then(|all| all.changed(&changes))
        .map_err(|error| malformed(&error))?;
    Ok(RevocationStatusList {
        rev_reg_def_id: Some(registry.id.clone()),
        issuer_id: registry.definition.issuer_id.clone(),
        revocation_list,
        current_accumulator: Some(accumulator(&state.accumulator)?),
        timestamp: Some(state.receipt.time.0),
    })
}

/// Reads an accumulator as the registry has it.
pub(crate) fn accumulator(text: &str) -> Result<Accumulator> {
    let text: StrDeserializer<'_, ValueError> = text.into_deserializer();
    let unread = |error| Error::upstream("anoncreds-object-malformed").with("detail", &error);
    Accumulator::deserialize(text).map_err(unread)
}

/// An accumulator as the registry takes it.
pub(crate) fn accumulator_text(accumulator: Option<&Accumulator>) -> Result<String> {
    match serde_json::to_value(accumulator).map_err(Error::internal)? {
        Value::String(text) => Ok(text),
        _ => Err(Error::internal("a status list has no accumulator")),
    }
}
