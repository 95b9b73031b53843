//! The author of the bench's transactions: a DID of its own, and the key that signs them.

use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_did::selfsame::Network;
use selfsame_proof::read::TrustRoot;
use selfsame_proof::validators::ValidatorSet;
use selfsame_registry::transaction::Body;
use selfsame_registry::{Content, Genesis, Identifier, Operation, UnsignedTransaction};

use crate::Error;
use crate::client::BenchClient;

/// The path to which transactions are posted.
pub const TRANSACTIONS: &str = "/registry/transactions";

const KEY: &str = "key-1";

/// The number of operations after which another author takes over: a network lets one author write 100,000 in an hour.
const TIRED_AFTER: u64 = 90_000;

/// A registered DID with its key.
pub struct Author {
    network: Network,
    validators: ValidatorSet,
    id: Identifier,
    key: PrivateKey,
    nonce: u64,
    lists: u64,
    issued: UnixTime,
}

impl Author {
    /// Registers a new DID.
    ///
    /// # Errors
    /// If the registry refuses it.
    pub async fn register(client: &BenchClient, token: &str) -> Result<Self, Error> {
        let genesis = client.get_bytes("/registry/genesis").await?;
        let genesis = Genesis::from_bytes(&genesis).map_err(unreadable)?;
        let key = PrivateKey::generate(KeyType::Ed25519).map_err(unreadable)?;
        let id = Identifier::of_key(key.public())
            .ok_or_else(|| unreadable("a key has no identifier"))?;
        let mut author = Self {
            network: genesis.network(),
            validators: genesis.validators().clone(),
            id,
            key,
            nonce: 0,
            lists: 0,
            issued: genesis.time(),
        };
        let content = Content::of_key(KEY, author.key.public().clone());
        let created = author.transaction(vec![Operation::CreateDid(content)])?;
        client.write(TRANSACTIONS, token, created).await?;
        Ok(author)
    }

    /// Whether the network's quota for an author is nearly used up.
    pub fn is_tired(&self) -> bool {
        self.lists >= TIRED_AFTER
    }

    /// The trust root of a reader that has the genesis.
    pub fn trust(&self) -> TrustRoot {
        let origin = format!("selfsame/{}", self.network);
        TrustRoot::of_genesis(&origin, self.validators.clone())
    }

    /// The state key of the first version of an anchored list (docs/did-method.md, 4).
    pub fn anchor_key(&self, number: u64) -> Vec<u8> {
        let digest = hex_encode(&sha256(list(number).as_bytes()));
        format!("status/{}/{digest}/v/1", self.id).into_bytes()
    }

    /// A transaction that anchors `count` status lists which were not anchored before.
    ///
    /// # Errors
    /// None with a key that signs.
    pub fn anchors(&mut self, count: u64) -> Result<Vec<u8>, Error> {
        let operations = (self.lists..self.lists + count).map(|number| {
            let list = list(number);
            Operation::AnchorStatus {
                digest: sha256(list.as_bytes()),
                issued: self.issued,
                list,
            }
        });
        let operations = operations.collect();
        self.lists += count;
        self.transaction(operations)
    }

    fn transaction(&mut self, operations: Vec<Operation>) -> Result<Vec<u8>, Error> {
        self.nonce += 1;
        let body = Body::new(&self.network, self.id, self.nonce, operations);
        let unsigned = UnsignedTransaction::of(body);
        let signature = self
            .key
            .sign(unsigned.signing_bytes())
            .map_err(unreadable)?;
        let signed = unsigned.signed(KEY, &signature).map_err(unreadable)?;
        Ok(signed.to_bytes())
    }
}

fn list(number: u64) -> String {
    format!("https://issuer.example/status/{number}")
}

fn unreadable(error: impl std::fmt::Display) -> Error {
    Error::Server(error.to_string())
}
