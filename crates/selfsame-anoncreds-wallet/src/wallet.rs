//! The entrance.

use std::sync::Arc;

use selfsame_core::{Correspondent, Shared};
use selfsame_driver::Result;
use selfsame_store::TenantId;

use crate::bounded::Bounded;
use crate::endorsing::{Endorsing, EndorsingCell};
use crate::key_proofs::KeyProofRecords;
use crate::keys::IssuerKeys;
use crate::link_secret::LinkSecrets;
use crate::naming::Naming;
use crate::objects::{KnownRegistry, Objects};
use crate::places::PlaceLeases;
use crate::publication::Publishing;
use crate::registry::{Registries, RegistryWorkshop};
use crate::showcase::ShowcaseCell;
use crate::states::ProvenStates;
use crate::tails::{Tails, TailsName};
use crate::uses::Uses;

/// Tenants that are remembered to have no untagged publications.
const TAGGED_MAX: usize = 10_000;

/// The AnonCreds of the tenants of one process. Clones are the same.
#[derive(Clone)]
pub struct AnonCreds {
    pub(crate) shared: Arc<Shared>,
    pub(crate) objects: Arc<Objects>,
    pub(crate) publishing: Arc<Publishing>,
    pub(crate) registries: Arc<Registries>,
    pub(crate) uses: Arc<Uses>,
    pub(crate) keys: Arc<IssuerKeys>,
    pub(crate) secrets: Arc<LinkSecrets>,
    pub(crate) tails: Arc<Tails>,
    pub(crate) key_proofs: Arc<KeyProofRecords>,
    pub(crate) states: Arc<ProvenStates>,
    pub(crate) places: Arc<PlaceLeases>,
    pub(crate) tagged: Arc<Bounded<TenantId, ()>>,
    pub(crate) showcase: ShowcaseCell,
    endorsing: EndorsingCell,
}

impl AnonCreds {
    /// The AnonCreds on these parts of an instance.
    #[must_use]
    pub fn new(shared: Arc<Shared>) -> Self {
        let objects = Arc::new(Objects::new(shared.clone()));
        let keys = Arc::new(IssuerKeys::new(shared.clone(), objects.clone()));
        let workshop = RegistryWorkshop::new(shared.clone(), keys.clone());
        let endorsing = EndorsingCell::default();
        let registries = Registries::new(workshop, endorsing.clone());
        Self {
            publishing: Arc::new(Publishing::new(shared.clone(), endorsing.clone())),
            registries: Arc::new(registries),
            uses: Arc::new(Uses::new(shared.clone())),
            secrets: Arc::new(LinkSecrets::new(shared.clone())),
            tails: Arc::new(Tails::new(shared.clone())),
            key_proofs: Arc::new(KeyProofRecords::new(shared.clone())),
            states: Arc::new(ProvenStates::new()),
            places: Arc::new(PlaceLeases::new(shared.clone())),
            tagged: Arc::new(Bounded::new(TAGGED_MAX)),
            showcase: ShowcaseCell::default(),
            shared,
            objects,
            keys,
            endorsing,
        }
    }

    /// Has the transactions of authors who need an endorser wait for it.
    pub fn set_endorsing(&self, endorsing: Endorsing) {
        self.endorsing.set(endorsing);
    }

    /// The parts of the instance that these stand on.
    #[must_use]
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Has controllers told of the revocation registries of the tenants that somebody hears of.
    pub fn set_hearing(&self, hearing: impl Fn(&TenantId) -> bool + Send + Sync + 'static) {
        self.registries.set_hearing(Arc::new(hearing));
    }

    /// The machines that get the registry's answers.
    #[must_use]
    pub fn correspondents(&self) -> Vec<Arc<dyn Correspondent>> {
        vec![
            self.publishing.clone(),
            self.registries.clone(),
            self.uses.clone(),
        ]
    }

    /// The qualified form of an identifier in the unqualified form of Indy's ledgers; any other as it is.
    ///
    /// # Errors
    /// The registry's.
    pub async fn qualified(&self, id: &str) -> Result<String> {
        self.naming().qualified(id).await
    }

    pub(crate) fn naming(&self) -> Naming<'_> {
        Naming(&self.shared)
    }

    /// A tails file that is kept here, with its hash.
    ///
    /// # Errors
    /// The store's.
    pub async fn tails(&self, name: TailsName<'_>) -> Result<Option<(String, Arc<Vec<u8>>)>> {
        self.tails.stored(name).await
    }

    /// The JSON of the whole proof of an issuer's key that is published here, by the hexadecimal SHA-256 of it.
    ///
    /// # Errors
    /// The store's.
    pub async fn key_proof(&self, sha256: &str) -> Result<Option<Vec<u8>>> {
        self.key_proofs.stored(sha256).await
    }

    /// Keeps a tails file for a registry that the instance's own registry has. The file must be the one whose hash the
    /// definition has. Returns the hash.
    ///
    /// # Errors
    /// `BadRequest` if there is no such registry, or the file is not its; the store's.
    pub async fn keep_tails(&self, rev_reg_id: &str, bytes: &[u8]) -> Result<String> {
        let registry = self.known_registry(rev_reg_id).await?;
        self.tails.upload(&registry, bytes).await
    }

    /// Keeps a tails file under its hash.
    ///
    /// # Errors
    /// `BadRequest` if it has another hash, or is no tails file; the store's.
    pub async fn keep_hashed_tails(&self, hash: &str, bytes: &[u8]) -> Result<()> {
        self.tails.upload_hashed(hash, bytes).await
    }

    pub(crate) async fn known_registry(&self, id: &str) -> Result<KnownRegistry> {
        let known = self.objects.registry(id).await?;
        known.ok_or_else(|| crate::error::unknown("the revocation registry", id))
    }
}
