//! The fate of a transaction, read from the state, for an author who does not trust a node that reports a refusal.

use selfsame_anoncreds::format::{
    CredentialDefinition, Message, RevocationRegistryDefinition, Schema,
};
use selfsame_did::Did;

use crate::agreement::AgreementInForce;
use crate::anoncreds::{
    ObjectName, PublishedDefinition, PublishedRegistry, PublishedSchema, RevocationVersion,
};
use crate::consumption::{Consumption, use_digest};
use crate::delegation::GivenDelegation;
use crate::did::DidVersion;
use crate::governance::ValidatorChange;
use crate::history::History;
use crate::identifier::Identifier;
use crate::member::Membership;
use crate::operation::Operation;
use crate::receipt::{Receipt, Version};
use crate::refusal::{AuthorFault, DelegationFault, Fate, ObjectFault, Refusal};
use crate::resource::PublishedResource;
use crate::state::{StateError, StateKey, StateRead, read};
use crate::status::Anchor;
use crate::transaction::Transaction;

use super::StateMachine;

/// The number of operations of a transaction that are looked at. Each takes reads, and a few are enough, since all
/// operations of a transaction happen or none.
const LOOKED_AT: usize = 4;
/// The number of latest changes that are searched for the one that a transaction made.
const LATEST: usize = 8;

/// The state, and the transaction that is searched for.
struct FateSearch<'a> {
    state: &'a dyn StateRead,
    hash: [u8; 32],
    author: Identifier,
    network: &'a str,
}

impl StateMachine {
    /// The fate of a transaction, as far as the objects of the state show it. Nonces and quotas are not objects, and
    /// are not read.
    pub fn fate(&self, state: &dyn StateRead, tx: &Transaction) -> Result<Fate, StateError> {
        let state = self.begun(state);
        let search = FateSearch {
            state: &state,
            hash: tx.hash(),
            author: tx.body().author,
            network: self.network().as_str(),
        };
        for operation in tx.body().operations.iter().take(LOOKED_AT) {
            let fate = search.of(operation)?;
            if fate != Fate::Open {
                return Ok(fate);
            }
        }
        search.of_author()
    }
}

impl FateSearch<'_> {
    fn of(&self, operation: &Operation) -> Result<Fate, StateError> {
        match operation {
            Operation::CreateDid(_) => self.first_of(self.author),
            Operation::RegisterDid { subject, .. } => self.first_of(*subject),
            Operation::UpdateDid { version, .. } | Operation::DeactivateDid { version } => {
                self.version(*version)
            }
            Operation::AnchorStatus { list, issued, .. } => {
                let key = StateKey::List(self.author, list);
                let newer = |last: &Anchor| (*issued <= last.issued).then_some(Refusal::NotNewer);
                self.latest(key, newer)
            }
            Operation::SetRole { subject, .. } => {
                self.change::<Membership>(StateKey::Role(*subject))
            }
            Operation::Schema { .. }
            | Operation::CredentialDefinition(_)
            | Operation::RevocationRegistry { .. } => self.published(operation),
            Operation::RevocationEntry(entry) => {
                match ObjectName::parse(&entry.registry, self.network) {
                    Some(name) => self.change::<RevocationVersion>(StateKey::Entries(&name)),
                    None => Ok(Fate::Open),
                }
            }
            Operation::Resource(resource) => {
                let key = StateKey::Resource(self.author, resource.id);
                let found: Option<PublishedResource> = read(self.state, &key)?;
                Ok(self.once(found.map(|found| found.receipt), exists))
            }
            Operation::Delegate(delegation) => {
                let given = self.given(&delegation.name)?;
                let used = |_| Refusal::Delegation(DelegationFault::NameUsed);
                Ok(self.once(given.map(|given| given.receipt), used))
            }
            Operation::WithdrawDelegation { name } => {
                let withdrawn = self.given(name)?.and_then(|given| given.withdrawn);
                Ok(self.written(withdrawn))
            }
            Operation::Consume(consume) => {
                let digest = use_digest(&consume.kind, &consume.handle);
                let key = StateKey::Use(consume.issuer, &digest);
                let found: Option<Consumption> = read(self.state, &key)?;
                let used = |receipt| Refusal::Used { receipt };
                Ok(self.once(found.map(|found| found.receipt), used))
            }
            Operation::SetAgreement(_) => self.change::<AgreementInForce>(StateKey::Agreement),
            Operation::ChangeValidators { .. } => {
                self.change::<ValidatorChange>(StateKey::ValidatorChanges)
            }
            // The schedule does not say which transaction made it.
            Operation::ChangeRules { .. } => Ok(Fate::Open),
        }
    }

    /// A deactivated author can't write any more.
    fn of_author(&self) -> Result<Fate, StateError> {
        let present =
            History::<DidVersion>::new(self.state, StateKey::Did(self.author)).present()?;
        match present.is_some_and(|present| present.deactivated) {
            true => Ok(Fate::Excluded(Refusal::Author(AuthorFault::Deactivated))),
            false => Ok(Fate::Open),
        }
    }

    fn first_of(&self, id: Identifier) -> Result<Fate, StateError> {
        let history = History::<DidVersion>::new(self.state, StateKey::Did(id));
        let first = match history.present()? {
            Some(_) => Some(history.version(1)?.receipt),
            None => None,
        };
        Ok(self.once(first, |_| Refusal::Author(AuthorFault::Exists)))
    }

    fn version(&self, version: u64) -> Result<Fate, StateError> {
        let history = History::<DidVersion>::new(self.state, StateKey::Did(self.author));
        let present = history.count()?;
        if present < version {
            return Ok(Fate::Open);
        }
        // Versions are numbered from 1.
        let made = history.version(version.max(1))?.receipt;
        Ok(self.once(Some(made), |_| Refusal::Version { present }))
    }

    fn published(&self, operation: &Operation) -> Result<Fate, StateError> {
        let Some(name) = name_of(operation) else {
            return Ok(Fate::Open);
        };
        let key = StateKey::Object(&name);
        let receipt = match operation {
            Operation::Schema { .. } => {
                read::<PublishedSchema>(self.state, &key)?.map(|found| found.receipt)
            }
            Operation::RevocationRegistry { .. } => {
                read::<PublishedRegistry>(self.state, &key)?.map(|found| found.receipt)
            }
            _ => read::<PublishedDefinition>(self.state, &key)?.map(|found| found.receipt),
        };
        Ok(self.once(receipt, exists))
    }

    fn given(&self, name: &str) -> Result<Option<GivenDelegation>, StateError> {
        read(self.state, &StateKey::Delegation(self.author, name))
    }

    /// Whether the transaction made one of the latest changes. Changes by others do not exclude it.
    fn change<T: Version>(&self, key: StateKey<'_>) -> Result<Fate, StateError> {
        self.latest(key, |_: &T| None)
    }

    fn latest<T: Version>(
        &self,
        key: StateKey<'_>,
        excludes: impl Fn(&T) -> Option<Refusal>,
    ) -> Result<Fate, StateError> {
        let latest = History::<T>::new(self.state, key).latest(LATEST)?;
        let mut receipts = latest.iter().map(Version::receipt);
        if let Some(own) = receipts.find(|receipt| receipt.tx_hash == self.hash) {
            return Ok(Fate::Written(*own));
        }
        let refusal = latest.last().and_then(excludes);
        Ok(refusal.map_or(Fate::Open, Fate::Excluded))
    }

    /// The fate by a record that is written once: by this transaction, or by another, which excludes this one.
    fn once(&self, receipt: Option<Receipt>, excludes: impl Fn(Receipt) -> Refusal) -> Fate {
        match (self.written(receipt), receipt) {
            (Fate::Open, Some(other)) => Fate::Excluded(excludes(other)),
            (fate, _) => fate,
        }
    }

    fn written(&self, receipt: Option<Receipt>) -> Fate {
        match receipt {
            Some(receipt) if receipt.tx_hash == self.hash => Fate::Written(receipt),
            _ => Fate::Open,
        }
    }
}

fn exists(_: Receipt) -> Refusal {
    Refusal::Object(ObjectFault::Exists)
}

/// The name that an AnonCreds object is published under; `None` where its JSON gives no valid one.
fn name_of(operation: &Operation) -> Option<ObjectName> {
    let did = |issuer: &str| Did::parse(issuer).ok();
    match operation {
        Operation::Schema { json } => {
            let schema = Schema::from_json(json.as_bytes()).ok()?;
            ObjectName::schema(
                &did(schema.issuer_id.as_str())?,
                &schema.name,
                &schema.version,
            )
        }
        Operation::CredentialDefinition(new) => {
            let definition = CredentialDefinition::from_json(new.json.as_bytes()).ok()?;
            let (issuer, schema) = (&definition.issuer_id, &definition.schema_id);
            ObjectName::definition(&did(issuer.as_str())?, schema.as_str(), &definition.tag)
        }
        Operation::RevocationRegistry { json } => {
            let registry = RevocationRegistryDefinition::from_json(json.as_bytes()).ok()?;
            let (issuer, definition) = (&registry.issuer_id, &registry.cred_def_id);
            ObjectName::registry(&did(issuer.as_str())?, definition.as_str(), &registry.tag)
        }
        _ => None,
    }
}
