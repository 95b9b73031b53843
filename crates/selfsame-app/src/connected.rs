//! Connects the roles to the instance's registry.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use selfsame_core::registry::{RecordedDelegation, RegistryClient, UseKey};
use selfsame_credential::single_use::{Action, Use};
use selfsame_crypto::time::UnixTime;
use selfsame_did::selfsame::Network;
use selfsame_did::{AsOf, Did, Options, Resolution};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_ledger::view::{RegistryDelegation, RegistryEntry, RegistryUse};
use selfsame_ledger::{Registry, standing};
use selfsame_registry::anoncreds::{
    ObjectName, PublishedDefinition, PublishedRegistry, PublishedSchema, RevocationState,
};
use selfsame_registry::network::AgreementInForce;
use selfsame_registry::{Receipt, StateError, StateMachine, StateRead, Transaction};

/// Attempts to read a revocation list while entries are added.
const READS_MAX: usize = 4;

/// The instance's registry, as its roles use it.
pub(crate) struct Connected(pub Arc<dyn Registry>);

impl Connected {
    /// What the core asks this registry by.
    pub fn client(registry: Arc<dyn Registry>) -> Arc<dyn RegistryClient> {
        Arc::new(Self(registry))
    }
}

#[async_trait]
impl RegistryClient for Connected {
    async fn network(&self) -> Result<Network> {
        self.0.network().await
    }

    async fn submit(&self, transaction: &Transaction) -> Result<Receipt> {
        self.0.submit(transaction).await
    }

    async fn resolve(&self, did: &Did, options: &Options) -> Resolution {
        self.0.resolve(did, options).await
    }

    async fn as_of(&self) -> Option<AsOf> {
        // Another registry's answers state themselves as of when they hold.
        self.0.ledger()?;
        let status = self.0.status().await.ok()?;
        let standing = standing(&status.checkpoint)?;
        Some(AsOf {
            time: standing.time,
            height: standing.height,
        })
    }

    async fn agreement(&self) -> Result<Option<AgreementInForce>> {
        self.read(|machine, state| machine.agreement(state)).await
    }

    async fn used(&self, key: &UseKey) -> Result<(Option<Use>, UnixTime)> {
        let (used, at) = self.0.used(&key.issuer, &key.digest).await?;
        Ok((used.as_ref().map(recorded_use).transpose()?, at))
    }

    async fn delegation(&self, issuer: &Did, name: &str) -> Result<Option<RecordedDelegation>> {
        let given = self.0.delegation(issuer, name).await?;
        given.map(recorded_delegation).transpose()
    }

    async fn schema(&self, id: &str) -> Result<Option<PublishedSchema>> {
        self.read(|machine, state| machine.schema(state, id)).await
    }

    async fn schema_numbered(&self, seq_no: u64) -> Result<Option<String>> {
        let entry = match self.0.entry(seq_no).await {
            Err(error) if error.kind == ErrorKind::NotFound => return Ok(None),
            found => found?,
        };
        let Some(id) = schema_of(&entry) else {
            return Ok(None);
        };
        // The number in the schema's own receipt is proven.
        let found = self.schema(&id).await?;
        let is_its_own = found.is_some_and(|found| found.receipt.seq_no == seq_no);
        Ok(is_its_own.then_some(id))
    }

    async fn credential_definition(&self, id: &str) -> Result<Option<PublishedDefinition>> {
        let read = self.read(|machine, state| machine.credential_definition(state, id));
        read.await
    }

    async fn revocation_registry(&self, id: &str) -> Result<Option<PublishedRegistry>> {
        let read = self.read(|machine, state| machine.revocation_registry(state, id));
        read.await
    }

    async fn revocation_state(
        &self,
        id: &str,
        at: Option<UnixTime>,
    ) -> Result<Option<RevocationState>> {
        let mut before = None;
        // The list and the number of its entries may be as of two heights, unless two reads agree.
        for _ in 0..READS_MAX {
            let read = self.read(|machine, state| machine.revoked(state, id, at));
            let found = read.await.map(Some).or_else(contradictory)?;
            if self.0.ledger().is_some() || found.is_some() && found == before {
                return Ok(found.flatten());
            }
            before = found;
        }
        Err(Error::new(
            ErrorKind::Unavailable { retry_after: 1 },
            "registry-too-fast",
        ))
    }
}

/// The identifier of the first schema that a transaction published.
fn schema_of(entry: &RegistryEntry) -> Option<String> {
    let several = entry.content["operations"].as_array();
    let published = match several {
        Some(all) => all.iter().find(|one| one["kind"] == "schema")?,
        None if entry.kind == "schema" => &entry.content,
        None => return None,
    };
    let schema = &published["value"];
    let author = Did::parse(&entry.author).ok()?;
    let (name, version) = (schema["name"].as_str()?, schema["version"].as_str()?);
    Some(ObjectName::schema(&author, name, version)?.to_string())
}

/// Objects as of two heights may contradict each other, which the machine takes for damage.
fn contradictory<T>(error: Error) -> Result<Option<T>> {
    match error.kind {
        ErrorKind::Internal => Ok(None),
        _ => Err(error),
    }
}

impl Connected {
    /// What a machine reads in the present state.
    async fn read<T: Send>(
        &self,
        read: impl Fn(&StateMachine, &dyn StateRead) -> std::result::Result<T, StateError> + Send + Sync,
    ) -> Result<T> {
        let found = Mutex::new(None);
        let reading = |machine: &StateMachine, state: &dyn StateRead| {
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            *found = Some(read(machine, state)?);
            Ok(())
        };
        self.0.read_state(&reading).await?;
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.ok_or_else(|| Error::internal("a read of the registry gave nothing"))
    }
}

/// The use of a credential, from what the registry answered.
///
/// # Errors
/// `Upstream` if another process wrote what can't be read.
fn recorded_use(used: &RegistryUse) -> Result<Use> {
    let unread = || Error::upstream("use-answer-malformed");
    Ok(Use {
        action: match used.action.as_str() {
            "consume" => Action::Spent,
            "revoke" => Action::Revoked,
            _ => return Err(unread()),
        },
        by: Did::parse(&used.by).map_err(|_| unread())?,
        at: UnixTime::parse_rfc3339(&used.at).ok_or_else(unread)?,
        seq_no: used.seq_no,
    })
}

/// A delegation, from what the registry answered.
///
/// # Errors
/// `Upstream` if another process wrote what can't be read.
fn recorded_delegation(given: RegistryDelegation) -> Result<RecordedDelegation> {
    let unread = || Error::upstream("delegation-answer-malformed");
    Ok(RecordedDelegation {
        seq_no: given.seq_no,
        until: UnixTime::parse_rfc3339(&given.until).ok_or_else(unread)?,
        scope: given.scope,
        is_withdrawn: given.withdrawn.is_some(),
    })
}

#[cfg(test)]
mod tests {
    use selfsame_credential::single_use::digest;
    use selfsame_registry::single_use::use_digest;

    #[test]
    fn credentials_and_machine_compute_the_same_digest() {
        for kind in ["v", "urn:selfsame:credential:prescription"] {
            assert_eq!(digest(kind, &[3; 32]), use_digest(kind, &[3; 32]));
        }
    }
}
