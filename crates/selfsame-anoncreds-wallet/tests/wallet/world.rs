//! A registry in memory, and parties that share it, each with a store of its own.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use selfsame_anoncreds::format::{
    CredentialDefinition, Message as _, RevocationRegistryDefinition, Schema,
};
use selfsame_anoncreds_wallet::issue::{CompletedIssuance, NewIssuance};
use selfsame_anoncreds_wallet::revocation::TailsName;
use selfsame_anoncreds_wallet::{
    AnonCreds, ChosenCredentials, DefinitionFilter, NewCredentialDefinition, NewSchema,
};
use selfsame_core::config::{OrganisationsConfig, ResolverConfig, SharedConfig, TrustConfig};
use selfsame_core::dids::Author;
use selfsame_core::registry::{RecordedDelegation, RegistryClient, UseKey};
use selfsame_core::{Resources, Shared};
use selfsame_credential::single_use::Use;
use selfsame_crypto::KeyType;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_did::selfsame::{Network, create};
use selfsame_did::{AsOf, Did, Options, Resolution};
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::Keys;
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_net::{Net, Settings};
use selfsame_registry::anoncreds::{
    ObjectName, PublishedDefinition, PublishedRegistry, PublishedSchema, RevocationEntry,
    RevocationState, Succession,
};
use selfsame_registry::{Operation, Receipt, Transaction};
use selfsame_store::{Batch, Memory, Store, TenantId, Vault};
use serde_json::{Value, json};

/// The registry: what it has accepted, and how it fails.
pub struct FakeRegistry {
    pub clock: Clock,
    /// It does not answer.
    pub is_away: AtomicBool,
    /// It accepts, and its answers are lost.
    pub loses_answers: AtomicBool,
    /// Revocation registries that it still refuses.
    pub refuses_registries: AtomicUsize,
    state: Mutex<FakeState>,
}

#[derive(Default)]
struct FakeState {
    receipts: HashMap<[u8; 32], Receipt>,
    schemas: BTreeMap<String, PublishedSchema>,
    definitions: BTreeMap<String, PublishedDefinition>,
    registries: BTreeMap<String, PublishedRegistry>,
    entries: BTreeMap<String, Vec<(RevocationEntry, Receipt)>>,
}

impl FakeRegistry {
    pub fn new(clock: Clock) -> Arc<Self> {
        Arc::new(Self {
            clock,
            is_away: AtomicBool::new(false),
            loses_answers: AtomicBool::new(false),
            refuses_registries: AtomicUsize::new(0),
            state: Mutex::default(),
        })
    }

    pub fn named() -> Network {
        Network::of_genesis(b"of the wallet's tests")
    }

    /// The number of accepted transactions.
    pub fn size(&self) -> usize {
        self.state.lock().unwrap().receipts.len()
    }

    /// The entries of a revocation registry: which places each revoked.
    pub fn revocations(&self, id: &str) -> Vec<Vec<u32>> {
        let state = self.state.lock().unwrap();
        let entries = state.entries.get(id).into_iter().flatten();
        entries.map(|(entry, _)| entry.revoked.clone()).collect()
    }
}

fn refused(id: &'static str) -> Error {
    Error::of(ErrorKind::Conflict, Reason::new(id))
}

fn did(text: &str) -> Did {
    Did::parse(text).unwrap()
}

impl FakeState {
    fn apply(&mut self, operation: &Operation, receipt: Receipt) -> Result<()> {
        match operation {
            Operation::Schema { json } => {
                let schema = Schema::from_json(json.as_bytes()).unwrap();
                let issuer = did(schema.issuer_id.as_str());
                let id = ObjectName::schema(&issuer, &schema.name, &schema.version).unwrap();
                let json = json.clone();
                if self.schemas.contains_key(&id.to_string()) {
                    return Err(refused("object-exists"));
                }
                let published = PublishedSchema { json, receipt };
                self.schemas.insert(id.to_string(), published);
            }
            Operation::CredentialDefinition(definition) => {
                let read = CredentialDefinition::from_json(definition.json.as_bytes()).unwrap();
                let issuer = did(read.issuer_id.as_str());
                let id = ObjectName::definition(&issuer, read.schema_id.as_str(), &read.tag);
                let id = id.unwrap().to_string();
                if self.definitions.contains_key(&id) {
                    return Err(refused("object-exists"));
                }
                if let Some(before) = &definition.successor_of {
                    let old = self.definitions.get_mut(&before.definition);
                    old.unwrap().succeeded_by = Some(Succession {
                        definition: id.clone(),
                        until: before.until,
                    });
                }
                let published = PublishedDefinition {
                    definition: definition.clone(),
                    receipt,
                    succeeded_by: None,
                };
                self.definitions.insert(id, published);
            }
            Operation::RevocationRegistry { json } => {
                let read = RevocationRegistryDefinition::from_json(json.as_bytes()).unwrap();
                let issuer = did(read.issuer_id.as_str());
                let id = ObjectName::registry(&issuer, read.cred_def_id.as_str(), &read.tag);
                let published = PublishedRegistry {
                    json: json.clone(),
                    places: read.value.max_cred_num.into(),
                    receipt,
                };
                if self
                    .registries
                    .contains_key(&id.clone().unwrap().to_string())
                {
                    return Err(refused("object-exists"));
                }
                self.registries.insert(id.unwrap().to_string(), published);
            }
            Operation::RevocationEntry(entry) => {
                let entries = self.entries.entry(entry.registry.clone()).or_default();
                let present = entries.last().map(|(last, _)| &last.after);
                if present != entry.before.as_ref() {
                    return Err(refused("entry-before"));
                }
                entries.push((entry.clone(), receipt));
            }
            other => panic!("{other:?}"),
        }
        Ok(())
    }
}

#[async_trait]
impl RegistryClient for FakeRegistry {
    async fn network(&self) -> Result<Network> {
        Ok(Self::named())
    }

    async fn submit(&self, transaction: &Transaction) -> Result<Receipt> {
        // As long as a block takes.
        tokio::time::sleep(Duration::from_millis(20)).await;
        let away = || Error::new(ErrorKind::Unavailable { retry_after: 1 }, "registry-away");
        if self.is_away.load(Ordering::SeqCst) {
            return Err(away());
        }
        let mut operations = transaction.body().operations.iter();
        let is_registry = operations.any(|one| matches!(one, Operation::RevocationRegistry { .. }));
        let left = self.refuses_registries.load(Ordering::SeqCst);
        if is_registry && left > 0 {
            self.refuses_registries.store(left - 1, Ordering::SeqCst);
            return Err(refused("quota"));
        }
        let mut state = self.state.lock().unwrap();
        let hash = transaction.hash();
        let number = u64::try_from(state.receipts.len()).unwrap() + 1;
        let receipt = match state.receipts.get(&hash) {
            Some(receipt) => *receipt,
            None => {
                let receipt = Receipt {
                    seq_no: number,
                    height: number,
                    time: self.clock.now(),
                    tx_hash: hash,
                };
                for operation in &transaction.body().operations {
                    state.apply(operation, receipt)?;
                }
                state.receipts.insert(hash, receipt);
                receipt
            }
        };
        match self.loses_answers.load(Ordering::SeqCst) {
            true => Err(away()),
            false => Ok(receipt),
        }
    }

    async fn resolve(&self, _: &Did, _: &Options) -> Resolution {
        Resolution::unavailable("none".to_owned(), None)
    }

    async fn as_of(&self) -> Option<AsOf> {
        None
    }

    async fn used(&self, _: &UseKey) -> Result<(Option<Use>, UnixTime)> {
        Ok((None, self.clock.now()))
    }

    async fn delegation(&self, _: &Did, _: &str) -> Result<Option<RecordedDelegation>> {
        Ok(None)
    }

    async fn schema(&self, id: &str) -> Result<Option<PublishedSchema>> {
        Ok(self.state.lock().unwrap().schemas.get(id).cloned())
    }

    async fn credential_definition(&self, id: &str) -> Result<Option<PublishedDefinition>> {
        Ok(self.state.lock().unwrap().definitions.get(id).cloned())
    }

    async fn revocation_registry(&self, id: &str) -> Result<Option<PublishedRegistry>> {
        Ok(self.state.lock().unwrap().registries.get(id).cloned())
    }

    async fn revocation_state(
        &self,
        id: &str,
        at: Option<UnixTime>,
    ) -> Result<Option<RevocationState>> {
        let state = self.state.lock().unwrap();
        let Some(registry) = state.registries.get(id) else {
            return Ok(None);
        };
        let entries = state.entries.get(id).into_iter().flatten();
        let mut found: Option<RevocationState> = None;
        for (entry, receipt) in
            entries.filter(|(_, receipt)| at.is_none_or(|at| receipt.time <= at))
        {
            let bytes = usize::try_from(registry.places.div_ceil(8)).unwrap();
            let (version, mut revoked) = match found.take() {
                Some(found) => (found.version, found.revoked),
                None => (0, vec![0; bytes]),
            };
            for place in entry.revoked.iter().chain(&entry.issued) {
                revoked[usize::try_from(place / 8).unwrap()] ^= 0x80 >> (place % 8);
            }
            found = Some(RevocationState {
                version: version + 1,
                accumulator: entry.after.clone(),
                revoked,
                receipt: *receipt,
            });
        }
        Ok(found)
    }
}

/// An empty store.
pub async fn store() -> Store {
    let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
    Store::open(Arc::new(Memory::default()), vault)
        .await
        .unwrap()
}

/// A process with one tenant.
pub struct Party {
    pub anoncreds: AnonCreds,
    pub shared: Arc<Shared>,
    pub tenant: TenantId,
    pub author: Author,
}

impl Party {
    pub async fn new(registry: &Arc<FakeRegistry>, name: &str) -> Self {
        Self::on(registry, name, store().await).await
    }

    /// A process with this store.
    pub async fn on(registry: &Arc<FakeRegistry>, name: &str, store: Store) -> Self {
        Self::at(registry, name, store, "http://localhost:9/").await
    }

    /// A process with this store that is reached at this origin, and reaches it.
    pub async fn at(registry: &Arc<FakeRegistry>, name: &str, store: Store, origin: &str) -> Self {
        let origin: url::Url = origin.parse().unwrap();
        let config = SharedConfig {
            origin: origin.clone(),
            trust: TrustConfig::default(),
            resolver: ResolverConfig::default(),
            organisations: OrganisationsConfig::default(),
        };
        let settings = Settings {
            native_roots: false,
            own_origins: vec![origin.origin()],
            ..Settings::default()
        };
        let resources = Resources {
            keys: Keys::new(store.clone()),
            store,
            net: Net::new(settings).unwrap(),
            clock: registry.clock.clone(),
            registry: Some(registry.clone()),
        };
        let shared = Arc::new(Shared::new(config, resources).unwrap());
        let tenant = TenantId::parse(name).unwrap();
        let batch = Batch::new(tenant.clone());
        let (key, handle, batch) = shared.keys.create(&tenant, KeyType::P256, batch).unwrap();
        shared.store.commit(batch).await.unwrap();
        let author = Author {
            tenant: tenant.clone(),
            did: create(&FakeRegistry::named(), key.public()),
            key: handle,
            fragment: "key-1".to_owned(),
        };
        let anoncreds = AnonCreds::new(shared.clone());
        shared.set_correspondents(anoncreds.correspondents().iter());
        tokio::spawn(carry_out(shared.clone()));
        Self {
            anoncreds,
            shared,
            tenant,
            author,
        }
    }

    /// Publishes a schema with these attributes and a definition for it; returns the definition's identifier.
    pub async fn defines(&self, attributes: &[&str], size: Option<u32>) -> String {
        let attributes: Vec<String> = attributes.iter().map(|name| (*name).to_owned()).collect();
        let schema = NewSchema {
            name: "donor",
            version: "1.0",
            attributes: &attributes,
        };
        let schema = self.anoncreds.create_schema(&self.author, &schema);
        let schema = schema.await.unwrap();
        let definition = NewCredentialDefinition {
            schema_id: &schema.id,
            tag: "default",
            registry_size: size,
        };
        let made = self.anoncreds.create_definition(&self.author, &definition);
        made.await.unwrap().id
    }

    /// Issues a credential to a holder, who has the tails file and keeps it; returns its identifier in the holder's
    /// wallet.
    pub async fn issues(&self, to: &Party, cred_def_id: &str, values: &[(&str, &str)]) -> String {
        let (issued, metadata) = self.issued(to, cred_def_id, values).await;
        if let Some(id) = &issued.rev_reg_id {
            let tails = self.anoncreds.tails(TailsName::Registry(id)).await.unwrap();
            to.anoncreds
                .keep_tails(id, &tails.unwrap().1)
                .await
                .unwrap();
        }
        to.keeps(&issued.json, &metadata).await.unwrap()
    }

    /// The JSON of an offer.
    pub async fn offers(&self, of: &DefinitionFilter) -> Vec<u8> {
        let offer = self.anoncreds.offer(&self.tenant, of).await;
        offer.unwrap().json
    }

    /// Issues a credential to a holder, who requests it; returns it with what the holder needs to keep it.
    pub async fn issued(
        &self,
        to: &Party,
        cred_def_id: &str,
        values: &[(&str, &str)],
    ) -> (CompletedIssuance, String) {
        let of = DefinitionFilter {
            cred_def_id: Some(cred_def_id.to_owned()),
            ..DefinitionFilter::default()
        };
        let offer = self.offers(&of).await;
        let requested = to
            .anoncreds
            .request(&to.tenant, &offer, None)
            .await
            .unwrap();
        let values = values.iter();
        let issuance = NewIssuance {
            offer: &offer,
            request: &requested.request,
            values: values
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            exchange: None,
        };
        let issued = self.anoncreds.issue(&self.tenant, &issuance).await.unwrap();
        self.shared
            .store
            .commit(issued.writes.clone())
            .await
            .unwrap();
        (issued, requested.metadata)
    }

    pub async fn keeps(&self, credential: &[u8], metadata: &str) -> Result<String> {
        let accepted = self
            .anoncreds
            .accept(&self.tenant, credential, metadata, None);
        let accepted = accepted.await?;
        self.shared.store.commit(accepted.writes).await?;
        Ok(accepted.id)
    }

    /// Answers a request as it is chosen without a person.
    pub async fn answers(&self, request: &Value) -> Result<Value> {
        let request = bytes(request);
        let chosen = self.anoncreds.first_choice(&self.tenant, &request).await?;
        self.shows(&request, &chosen).await
    }

    pub async fn shows(&self, request: &[u8], chosen: &ChosenCredentials) -> Result<Value> {
        let made = self.anoncreds.present(&self.tenant, request, chosen);
        Ok(serde_json::from_slice(&made.await?).unwrap())
    }

    pub async fn finds(&self, request: &Value, presentation: &Value) -> (bool, Vec<String>) {
        let (request, presentation) = (bytes(request), bytes(presentation));
        let verdict = self
            .anoncreds
            .verify(&request, &presentation)
            .await
            .unwrap();
        (verdict.is_valid, verdict.messages)
    }
}

/// Carries out what the outbox has due, as an instance does.
async fn carry_out(shared: Arc<Shared>) {
    loop {
        tokio::time::sleep(Duration::from_millis(20)).await;
        for leased in shared.store.due(shared.clock.now(), 100).await.unwrap() {
            let shared = shared.clone();
            tokio::spawn(async move { shared.perform(&leased).await });
        }
    }
}

pub fn bytes(json: &Value) -> Vec<u8> {
    serde_json::to_vec(json).unwrap()
}

/// A request for the name, and a proof that the holder was born in 2008 or before.
pub fn adult(cred_def_id: &str) -> Value {
    let restrictions = json!([{"cred_def_id": cred_def_id}]);
    json!({
        "name": "adult", "version": "1.0", "nonce": "1234567890",
        "requested_attributes": {"who": {"name": "Name", "restrictions": restrictions}},
        "requested_predicates": {"age": {
            "name": "born", "p_type": "<=", "p_value": 2008, "restrictions": restrictions,
        }},
    })
}
