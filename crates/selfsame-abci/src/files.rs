//! The folders of a network's nodes: both geneses, the engine's configuration, the keys.

mod config;
mod keys;
mod write;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use selfsame_app::{Error, Result};
use selfsame_crypto::encoding::{base64_encode, hex_encode};
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey, PublicKey};
use selfsame_proof::validators::{Validator, ValidatorSet};
use selfsame_registry::network::Member as Authority;
use selfsame_registry::{Genesis, Rules};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::notes::address_of;
use keys::{private_key, public_key};
use write::{folder, public, secret};

const NODE: &str = "node.json";
const GENESIS: &str = "genesis.cbor";
const CHECKPOINT_KEY: &str = "checkpoint.key";
const ENGINE: &str = "engine";
const NOTE: &str = "checkpoint";
const SOCKET: &str = "abci.sock";
/// A Unix socket's path has 108 bytes with its end (unix(7)).
const SOCKET_PATH_MAX: usize = 107;
/// The power of each validator of a new network: all weigh the same.
const POWER: u64 = 10;

/// Where a node's engine listens.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Addresses {
    /// For the engines of the others.
    pub p2p: SocketAddr,
    /// For this node's own half; nobody else needs to reach it.
    pub rpc: SocketAddr,
}

/// A node of a new network.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Member {
    /// Its name, which its folder and its signatures have.
    pub name: String,
    /// Where it listens.
    pub addresses: Addresses,
}

/// What a new network begins with, but for its validators.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// Its name, for people.
    pub name: String,
    /// When it begins.
    pub time: UnixTime,
    /// Its rules.
    pub rules: Rules,
    /// Who has a role from the start: trustees, who change the validators and the rules, and others.
    pub authorities: Vec<Authority>,
}

/// A new network: every file its nodes need.
pub struct Network {
    genesis: Genesis,
    homes: Vec<PathBuf>,
}

/// The folder of one node.
#[derive(Clone, Debug)]
pub struct Home {
    path: PathBuf,
    node: Node,
    genesis: Genesis,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Node {
    name: String,
    rpc: SocketAddr,
}

/// A member with its keys.
struct Made<'a> {
    member: &'a Member,
    checkpoint: PrivateKey,
    consensus: PrivateKey,
    /// Who it is among the engines.
    transport: PrivateKey,
}

impl Network {
    /// Makes a network in a folder, one folder for each member below it.
    ///
    /// # Errors
    /// `BadRequest` for names and rules that can't be, `Conflict` if a folder is there already, `Internal` if the
    /// disk fails.
    pub fn create(at: &Path, beginning: Beginning, members: &[Member]) -> Result<Self> {
        let made: Vec<Made<'_>> = members.iter().map(Made::new).collect::<Result<_>>()?;
        let validators = made.iter().map(Made::validator).collect();
        let set = ValidatorSet::new(validators).map_err(malformed)?;
        let Beginning {
            name,
            time,
            rules,
            authorities,
        } = beginning;
        let genesis = Genesis::new(&name, time, set, rules).map_err(malformed)?;
        let genesis = match authorities.as_slice() {
            [] => genesis,
            _ => genesis.with_members(authorities).map_err(malformed)?,
        };
        let engine_genesis = engine_genesis(&genesis)?;
        let mut homes = Vec::with_capacity(made.len());
        for one in &made {
            let home = at.join(&one.member.name);
            one.write(&home, &made)?;
            public(&home.join(GENESIS), &genesis.to_bytes())?;
            let file = home.join(ENGINE).join("config").join("genesis.json");
            public(&file, engine_genesis.as_bytes())?;
            homes.push(home);
        }
        Ok(Self { genesis, homes })
    }

    /// What the network begins with.
    #[must_use]
    pub fn genesis(&self) -> &Genesis {
        &self.genesis
    }

    /// The nodes' folders, in the members' order.
    #[must_use]
    pub fn homes(&self) -> &[PathBuf] {
        &self.homes
    }
}

impl Home {
    /// Reads a node's folder.
    ///
    /// # Errors
    /// `BadRequest` if it is none.
    pub fn open(path: &Path) -> Result<Self> {
        let node = serde_json::from_slice(&read(&path.join(NODE))?).map_err(Error::internal)?;
        let genesis = Genesis::from_bytes(&read(&path.join(GENESIS))?).map_err(malformed)?;
        Ok(Self {
            path: path.to_owned(),
            node,
            genesis,
        })
    }

    /// The node's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.node.name
    }

    /// What the network begins with.
    #[must_use]
    pub fn genesis(&self) -> &Genesis {
        &self.genesis
    }

    /// The key this node signs checkpoints with, as it was made; a node moves it to where it keeps its keys.
    ///
    /// # Errors
    /// `BadRequest` if the file is not there or no key.
    pub fn checkpoint_key(&self) -> Result<PrivateKey> {
        let bytes = read(&self.path.join(CHECKPOINT_KEY))?;
        PrivateKey::from_pkcs8(&bytes)
            .map_err(|_| Error::bad_request(format!("{CHECKPOINT_KEY} holds no key")))
    }

    /// Where the engine's RPC listens.
    pub(crate) fn rpc(&self) -> SocketAddr {
        self.node.rpc
    }

    /// The engine's own folder.
    pub(crate) fn engine(&self) -> PathBuf {
        self.path.join(ENGINE)
    }

    /// Where the newest checkpoint is kept.
    pub(crate) fn note(&self) -> PathBuf {
        self.path.join(NOTE)
    }

    /// Where both halves meet.
    pub(crate) fn socket(&self) -> Result<PathBuf> {
        let path = self
            .path
            .canonicalize()
            .map_err(Error::internal)?
            .join(SOCKET);
        if path.as_os_str().len() > SOCKET_PATH_MAX {
            return Err(Error::bad_request(format!(
                "the path of the node's folder is too long for a socket: {}",
                path.display()
            ))
            .with_hint("move it nearer to the root"));
        }
        Ok(path)
    }
}

impl<'a> Made<'a> {
    fn new(member: &'a Member) -> Result<Self> {
        let key = || PrivateKey::generate(KeyType::Ed25519).map_err(Error::internal);
        Ok(Self {
            member,
            checkpoint: key()?,
            consensus: key()?,
            transport: key()?,
        })
    }

    fn validator(&self) -> Validator {
        Validator {
            name: self.member.name.clone(),
            key: self.checkpoint.public().clone(),
            power: POWER,
            consensus: Some(self.consensus.public().clone()),
        }
    }

    /// How the others' engines find this one.
    fn peer(&self) -> String {
        let id = hex_encode(&address_of(self.transport.public()));
        format!("{id}@{}", self.member.addresses.p2p)
    }

    fn write(&self, home: &Path, all: &[Self]) -> Result<()> {
        let (config, data) = (
            home.join(ENGINE).join("config"),
            home.join(ENGINE).join("data"),
        );
        for path in [home, &home.join(ENGINE), &config, &data] {
            folder(path)?;
        }
        let node = Node {
            name: self.member.name.clone(),
            rpc: self.member.addresses.rpc,
        };
        let node = serde_json::to_vec_pretty(&node).map_err(Error::internal)?;
        public(&home.join(NODE), &node)?;
        let key = self.checkpoint.to_pkcs8().map_err(Error::internal)?;
        secret(&home.join(CHECKPOINT_KEY), key.expose())?;

        let others = all.iter().filter(|other| other.member != self.member);
        let peers: Vec<String> = others.map(Self::peer).collect();
        let text = config::text(self.member, &peers);
        public(&config.join("config.toml"), text.as_bytes())?;
        let validator = keys::validator_file(&self.consensus)?;
        secret(
            &config.join("priv_validator_key.json"),
            validator.expose().as_bytes(),
        )?;
        let transport = private_key(&self.transport)?;
        let transport = format!("{{\"priv_key\":{}}}", transport.expose());
        secret(&config.join("node_key.json"), transport.as_bytes())?;
        let state = json!({ "height": "0", "round": 0, "step": 0 }).to_string();
        secret(&data.join("priv_validator_state.json"), state.as_bytes())
    }
}

/// What the engine's genesis carries for the application: ours, as a JSON string.
pub(crate) fn app_state(genesis: &Genesis) -> String {
    json!(base64_encode(&genesis.to_bytes())).to_string()
}

/// CometBFT's genesis.json: the network's name, its limits, its first validators.
fn engine_genesis(genesis: &Genesis) -> Result<String> {
    let validators = genesis.validators().validators().iter();
    let validators: Vec<_> = validators
        .filter_map(|validator| {
            let key: &PublicKey = validator.consensus.as_ref()?;
            Some(json!({
                "address": hex_encode(&address_of(key)).to_uppercase(),
                "pub_key": public_key(key),
                "power": validator.power.to_string(),
                "name": validator.name,
            }))
        })
        .collect();
    let genesis = json!({
        "genesis_time": genesis.time().rfc3339(),
        "chain_id": format!("selfsame-{}", genesis.network()),
        "initial_height": "1",
        "consensus_params": config::consensus_params(),
        "validators": validators,
        "app_hash": "",
        "app_state": base64_encode(&genesis.to_bytes()),
    });
    serde_json::to_string_pretty(&genesis).map_err(Error::internal)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| {
        Error::bad_request(format!("{}: {error}", path.display()))
            .with_hint("a node's folder is made with its network")
    })
}

fn malformed(malformed: selfsame_registry::Malformed) -> Error {
    Error::bad_request(malformed.to_string())
}

#[cfg(test)]
mod tests;
