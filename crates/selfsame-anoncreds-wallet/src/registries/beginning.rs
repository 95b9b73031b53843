//! Registries that a controller begins beside those that are kept.

use selfsame_core::dids::Author;
use selfsame_driver::Result;
use selfsame_registry::transaction::AuthoredTransaction;

use crate::endorsing::{Endorser, read};
use crate::publishing::{RequestedPublication, is_size};
use crate::registry::{RegistryRecord, RegistryStage, RegistryView};
use crate::wallet::AnonCreds;

/// A revocation registry that is to begin.
#[derive(Clone, Debug)]
pub struct NewRevocationRegistry<'a> {
    /// The definition of its credentials, which the tenant has published.
    pub cred_def_id: &'a str,
    /// How many places it has.
    pub size: u32,
    /// Who endorses it, if its author does not write alone.
    pub endorser: Option<Endorser>,
}

/// A revocation registry that was begun.
#[derive(Clone, Debug)]
pub struct BegunRegistry {
    /// The registry.
    pub registry: RegistryView,
    /// The JSON of its definition, as AnonCreds writes it.
    pub definition: String,
    /// The transaction that waits for the endorser; `None` if the ledger has the registry.
    pub waiting: Option<AuthoredTransaction>,
}

impl From<BegunRegistry> for RequestedPublication {
    fn from(begun: BegunRegistry) -> Self {
        Self {
            object: begun.registry.rev_reg_id,
            waiting: begun.waiting,
        }
    }
}

impl AnonCreds {
    /// Begins a registry of a definition, and waits until the ledger has it or its transaction waits for the endorser. Its
    /// places are given out after those of the registries before it.
    ///
    /// # Errors
    /// `NotFound` if the author has no such revocable definition; `BadRequest` for a size that no registry has, and if the
    /// ledger refuses it; `Unavailable` if the ledger has not answered yet; the store's.
    pub async fn begin_registry(
        &self,
        author: &Author,
        new: NewRevocationRegistry<'_>,
    ) -> Result<BegunRegistry> {
        is_size(new.size)?;
        let tenant = &author.tenant;
        let cred_def_id = &*self.qualified(new.cred_def_id).await?;
        let publication = self.own_definition(tenant, cred_def_id).await?;
        let begun = loop {
            let last = self.last_number(tenant, cred_def_id).await?;
            let (number, now) = (last.saturating_add(1), self.shared.clock.now());
            let record = RegistryRecord {
                size: new.size,
                endorser: new.endorser.clone(),
                ..RegistryRecord::new(&publication, number, now)?
            };
            if self.begin(tenant, &record).await? {
                break record.record_id();
            }
        };
        let has_left = |one: &RegistryRecord| {
            one.is_published() || matches!(one.stage, RegistryStage::Endorsing)
        };
        let reached = self.registry_reached(tenant, &begun, has_left).await?;
        let waiting = match reached.stage {
            RegistryStage::Endorsing => reached.authored.as_deref().map(read).transpose()?,
            _ => None,
        };
        Ok(BegunRegistry {
            registry: RegistryView::of(&reached),
            definition: self.registries.workshop.definition(tenant, &begun).await?,
            waiting,
        })
    }
}
