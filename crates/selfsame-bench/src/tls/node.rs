//! A node of the registry in a process of its own: registers the identities of a world, proves them, and serves over
//! TLS.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::{PrivateKey, PublicKey};
use selfsame_did::Did;
use selfsame_ledger::MachineRules;
use selfsame_proof::read::Bundle;
use selfsame_registry::content::{Key, Uses};
use selfsame_registry::transaction::Body;
use selfsame_registry::{
    Content, Genesis, Identifier, Operation, StateMachine, UnsignedTransaction,
};
use selfsame_tls::SigningKey;
use selfsame_tls::identity::Stapling;
use tokio::task::JoinSet;

use super::cell::Draw;
use super::ours::failed;
use super::world::{Party, World};
use crate::client::BenchClient;
use crate::process::{Program, ServerProcess};
use crate::registry::author::TRANSACTIONS;
use crate::{Error, Progress};

const ROLE: [&str; 2] = ["--role", "registry"];
/// The number of transactions under way at once.
const WRITERS: usize = 32;
/// The number of attempts to read all objects of a DID under one checkpoint.
const ROUNDS: usize = 4;
/// The names of a DID's first key, and of the key that authenticates if that is another.
const KEYS: [&str; 2] = ["key-1", "key-2"];

/// A node for writes.
pub struct WritingNode {
    server: ServerProcess,
    client: BenchClient,
    machine: Arc<StateMachine>,
}

/// The node again, for reads over TLS by the bench's ends.
pub struct Served {
    server: ServerProcess,
    /// The file of its certificate.
    pub certificate: PathBuf,
}

impl Served {
    /// Starts the node again, over TLS.
    ///
    /// # Errors
    /// If it can't be started.
    pub async fn start(program: &Program, data: &Path) -> Result<Self, Error> {
        Ok(Self {
            server: program
                .start_over_tls(data, &ROLE.map(str::to_owned))
                .await?,
            certificate: data.join("tls-certificate.pem"),
        })
    }

    /// Its origin.
    pub fn origin(&self) -> &str {
        &self.server.base
    }
}

impl WritingNode {
    /// Starts a node over plain HTTP, since only this process connects to it.
    ///
    /// # Errors
    /// If it can't be started.
    pub async fn start(program: &Program, data: &Path) -> Result<Self, Error> {
        let server = program
            .start_with(data, "", &ROLE.map(str::to_owned))
            .await?;
        let client = BenchClient::new(&server.base);
        let genesis = client.get_bytes("/registry/genesis").await?;
        let genesis = Genesis::from_bytes(&genesis).map_err(failed)?;
        Ok(Self {
            server,
            client,
            machine: Arc::new(StateMachine::new(genesis)),
        })
    }

    /// The network's genesis.
    pub fn genesis(&self) -> Vec<u8> {
        self.machine.genesis().to_bytes()
    }

    /// Registers all identities of a world. Each writes for itself, because registering others requires a role.
    ///
    /// # Errors
    /// If the registry refuses one.
    pub async fn register(&self, world: &World, progress: &dyn Progress) -> Result<(), Error> {
        let parties = [&world.servers, &world.clients];
        let all: usize = parties.iter().map(|party| party.members.len()).sum();
        let part = format!("{} identities registered", world.kind.name());
        progress.begin(&part, all as u64);
        let mut writing = JoinSet::new();
        for party in parties {
            for member in &party.members {
                let key = party.keys.get(member.key);
                let key = key.ok_or_else(|| failed("no such key"))?;
                let transaction = self.creation(key, member.registered.owner.as_deref())?;
                if writing.len() >= WRITERS {
                    joined(&mut writing).await?;
                    progress.advance(1);
                }
                let (client, token) = (self.client.clone(), self.server.operator.clone());
                writing.spawn(async move { client.write(TRANSACTIONS, &token, transaction).await });
            }
        }
        while !writing.is_empty() {
            joined(&mut writing).await?;
            progress.advance(1);
        }
        Ok(())
    }

    /// Fetches the registry's proofs of the drawn identities and stores them with the identities.
    ///
    /// # Errors
    /// If the registry returns no proof.
    pub async fn staple(&self, world: &mut World, draws: &[Draw]) -> Result<(), Error> {
        let servers = draws.iter().map(|draw| draw.server).collect();
        let clients = draws.iter().map(|draw| draw.client).collect();
        self.staple_side(&mut world.servers, servers).await?;
        self.staple_side(&mut world.clients, clients).await
    }

    async fn staple_side(&self, party: &mut Party, drawn: BTreeSet<usize>) -> Result<(), Error> {
        for at in drawn {
            let member = party.members.get_mut(at);
            let member = member.ok_or_else(|| failed("no such identity"))?;
            member.registered.staples = self.proved(&member.registered.did).await?;
        }
        Ok(())
    }

    async fn proved(&self, did: &str) -> Result<Vec<Vec<u8>>, Error> {
        let did = Did::parse(did).map_err(failed)?;
        let rules = MachineRules(Arc::clone(&self.machine));
        let mut stapling = Stapling::new(&rules, vec![did], Vec::new());
        while let Some(key) = stapling.missing() {
            stapling.add(self.read(&key).await?);
        }
        for _ in 0..ROUNDS {
            if stapling.is_of_one_checkpoint() {
                break;
            }
            for key in stapling.keys() {
                stapling.add(self.read(&key).await?);
            }
        }
        let staples = stapling.staples().into_iter();
        Ok(staples.map(|staple| staple.body).collect())
    }

    async fn read(&self, key: &[u8]) -> Result<Bundle, Error> {
        let path = format!("/registry/read?key={}", base64url_encode(key));
        let bytes = self.client.get_bytes(&path).await?;
        Bundle::from_bytes(&bytes).map_err(failed)
    }

    /// The first transaction of a DID. If `owner` is given, the DID begins with the owner's key and adds the
    /// identity's. Otherwise it begins with the identity's own key, which then signs transactions.
    fn creation(&self, pkcs8: &[u8], owner: Option<&PrivateKey>) -> Result<Vec<u8>, Error> {
        let [first, second] = KEYS;
        match owner {
            None => {
                let key = PrivateKey::from_pkcs8(pkcs8).map_err(failed)?;
                let content = Content::of_key(first, key.public().clone());
                self.created(&key, content)
            }
            Some(owner) => {
                let key = SigningKey::from_pkcs8(pkcs8).map_err(failed)?;
                let spki = key.spki().ok_or_else(|| failed("no public key"))?;
                let mut content = Content::of_key(first, owner.public().clone());
                content.keys.push(Key {
                    id: second.to_owned(),
                    public: PublicKey::from_spki(&spki).map_err(failed)?,
                    uses: Uses::AUTHENTICATION,
                });
                self.created(owner, content)
            }
        }
    }

    fn created(&self, signs: &PrivateKey, content: Content) -> Result<Vec<u8>, Error> {
        let [first, _] = KEYS;
        let author = Identifier::of_key(signs.public());
        let author = author.ok_or_else(|| failed("a key without an identifier"))?;
        let operations = vec![Operation::CreateDid(content)];
        let unsigned =
            UnsignedTransaction::of(Body::new(self.machine.network(), author, 1, operations));
        let signature = signs.sign(unsigned.signing_bytes()).map_err(failed)?;
        let signed = unsigned.signed(first, &signature).map_err(failed)?;
        Ok(signed.to_bytes())
    }
}

async fn joined(writing: &mut JoinSet<Result<serde_json::Value, Error>>) -> Result<(), Error> {
    match writing.join_next().await {
        Some(written) => written.map_err(failed)?.map(|_| ()),
        None => Ok(()),
    }
}
