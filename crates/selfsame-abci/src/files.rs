//! The folders of a network's nodes: the registry's genesis and the engine's, the engine's configuration, the keys.

mod config;
mod keys;
mod peers;
mod write;

use std::fmt::Display;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use selfsame_crypto::encoding::{base64_encode, hex_encode};
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey, PublicKey};
use selfsame_driver::{Error, Result};
use selfsame_proof::validators::{Validator, ValidatorSet};
use selfsame_registry::network::Member as Authority;
use selfsame_registry::{Genesis, Rules};
use serde::{Deserialize, Serialize};
use serde_json::json;
use url::Url;

use crate::notes::address_of;
pub(crate) use config::extended_from;
use keys::{private_key, public_key};
pub(crate) use peers::Peers;
use write::{folder, public, secret};

const NODE: &str = "node.json";
const GENESIS: &str = "genesis.cbor";
const CHECKPOINT_KEY: &str = "checkpoint.key";
const ENGINE: &str = "engine";
const VALIDATOR_KEY: &str = "priv_validator_key.json";
const NOTE: &str = "checkpoint";
const MISBEHAVIOUR: &str = "misbehaviour.json";
const SOCKET: &str = "abci.sock";
/// The maximum length of a Unix socket's path is 108 bytes, including its end (unix(7)).
const SOCKET_PATH_MAX: usize = 107;
/// The power of each validator of a new network; all are equal.
const POWER: u64 = 10;

/// The addresses on which a node's engine listens.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Addresses {
    /// For the engines of the other nodes.
    pub p2p: SocketAddr,
    /// For this node's own half; nothing else needs to reach it.
    pub rpc: SocketAddr,
}

/// A node of a new network.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Member {
    /// The member's name. Its folder and its signatures have this name too.
    pub name: String,
    /// The member's addresses.
    pub addresses: Addresses,
}

/// The parameters of a new network, except its validators.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// The network's name, for people.
    pub name: String,
    /// The time of its beginning.
    pub time: UnixTime,
    /// The network's rules.
    pub rules: Rules,
    /// The holders of roles from the start: trustees, who change the validators and the rules, and others.
    pub authorities: Vec<Authority>,
}

/// A new network, with every file that its nodes need.
pub struct Network {
    genesis: Genesis,
    homes: Vec<PathBuf>,
}

/// The distance between the nodes of a network.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Distance {
    /// In one local network: a block takes some tens of milliseconds.
    #[default]
    Near,
    /// On several continents, or connected by busy lines.
    Far,
}

/// The servers from which a new node takes the ledger, and the block that it trusts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StateSync {
    /// The URLs for fetching and comparing headers: `registry/engine` below the address of at least two nodes, or the
    /// RPC of their engines.
    pub servers: Vec<Url>,
    /// The height of a block that the operator trusts.
    pub height: u64,
    /// The hash of that block's header.
    pub hash: [u8; 32],
}

/// The folder of one node.
#[derive(Clone, Debug)]
pub struct Home {
    path: PathBuf,
    node: NodeEntry,
    genesis: Genesis,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct NodeEntry {
    name: String,
    rpc: SocketAddr,
    /// The engines of the network's nodes, with this one: `<name>@<address>`. The engine connects to no others.
    #[serde(default)]
    peers: Vec<String>,
    /// The name and address of this node's engine, for the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    peer: Option<String>,
    /// The ledger's height before the network's first block: 0, unless the ledger was carried over.
    #[serde(default)]
    begins_after: u64,
}

/// A member with its keys.
struct MadeMember {
    member: Member,
    checkpoint: PrivateKey,
    consensus: PrivateKey,
    /// The key that identifies the member among the engines.
    transport: PrivateKey,
}

/// A network that is being created: its nodes have keys, but no genesis yet.
pub struct Founding {
    at: PathBuf,
    made: Vec<MadeMember>,
}

impl Founding {
    /// Creates the members' keys. Nothing is written yet.
    ///
    /// # Errors
    /// `BadRequest` for invalid names.
    pub fn new(at: &Path, members: &[Member]) -> Result<Self> {
        let founding = Self {
            at: at.to_owned(),
            made: members.iter().map(MadeMember::new).collect::<Result<_>>()?,
        };
        founding.validators().map(|_| founding)
    }

    /// Writes the keys into one folder for each member, below the network's folder.
    ///
    /// # Errors
    /// `Conflict` if a folder exists already, `BadRequest` if it can't be written.
    pub fn keep(&self) -> Result<()> {
        let peers = self.peers();
        let mut made = self.made.iter();
        made.try_for_each(|one| one.write(&self.home(one), &peers))
    }

    /// The members as validators of equal power.
    ///
    /// # Errors
    /// `BadRequest` for invalid names.
    pub fn validators(&self) -> Result<ValidatorSet> {
        let validators = self.made.iter().map(MadeMember::validator).collect();
        ValidatorSet::new(validators).map_err(malformed)
    }

    /// Gives every node, once it has its keys, the genesis, and the height of the log after which the network begins; 0
    /// for a new log.
    ///
    /// # Errors
    /// `Conflict` if the nodes have a genesis already, `BadRequest` if it can't be written.
    pub fn begin(self, genesis: Genesis, begins_after: u64) -> Result<Network> {
        let engine_genesis = engine_genesis(&genesis, &self.validators()?, begins_after)?;
        let peers = self.peers();
        let mut homes = Vec::with_capacity(self.made.len());
        for one in &self.made {
            let home = self.home(one);
            public(&home.join(GENESIS), &genesis.to_bytes())?;
            public(&engine_file(&home), engine_genesis.as_bytes())?;
            one.node(&peers, begins_after).write(&home)?;
            homes.push(home);
        }
        Ok(Network { genesis, homes })
    }

    fn peers(&self) -> Vec<String> {
        self.made.iter().map(MadeMember::peer).collect()
    }

    fn home(&self, made: &MadeMember) -> PathBuf {
        self.at.join(&made.member.name)
    }
}

impl Network {
    /// Creates a network in a folder, with one folder for each member below it.
    ///
    /// # Errors
    /// `BadRequest` for invalid names or rules and a folder that can't be written, `Conflict` if a folder exists
    /// already.
    pub fn create(at: &Path, beginning: Beginning, members: &[Member]) -> Result<Self> {
        let Beginning {
            name,
            time,
            rules,
            authorities,
        } = beginning;
        let founding = Founding::new(at, members)?;
        let genesis =
            Genesis::new(&name, time, founding.validators()?, rules).map_err(malformed)?;
        let genesis = match authorities.as_slice() {
            [] => genesis,
            _ => genesis.with_members(authorities).map_err(malformed)?,
        };
        founding.keep()?;
        founding.begin(genesis, 0)
    }

    /// The network's genesis.
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
    /// `BadRequest` if it is not a node's folder.
    pub fn open(path: &Path) -> Result<Self> {
        let (node, genesis) = (path.join(NODE), path.join(GENESIS));
        let node = read_node(&node)?;
        let genesis =
            Genesis::from_bytes(&read(&genesis)?).map_err(|why| damaged(&genesis, &why))?;
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

    /// The network's genesis.
    #[must_use]
    pub fn genesis(&self) -> &Genesis {
        &self.genesis
    }

    /// Whether the engine has blocks already. Then it continues from them and ignores the configuration of snapshots.
    #[must_use]
    pub fn has_blocks(&self) -> bool {
        self.engine().join("data").join("blockstore.db").exists()
    }

    /// Refuses a folder whose engine would accept any peer, because a peer may submit transactions.
    pub(crate) fn asks_who_speaks(&self) -> Result<()> {
        match config::filters_peers(&self.settings()?) {
            true => Ok(()),
            false => {
                Err(Error::bad_request("peers-unfiltered").with("file", &self.config().display()))
            }
        }
    }

    /// Sets the engine's timeouts for the distance between the nodes.
    ///
    /// # Errors
    /// `BadRequest` if the engine's settings can't be read, `Internal` if the disk fails.
    pub fn set_distance(&self, distance: Distance) -> Result<()> {
        self.keep_settings(&config::with_timeouts(&self.settings()?, distance))
    }

    /// The engine's settings.
    fn settings(&self) -> Result<String> {
        let file = self.config();
        String::from_utf8(read(&file)?).map_err(|why| damaged(&file, &why))
    }

    fn keep_settings(&self, text: &str) -> Result<()> {
        std::fs::write(self.config(), text).map_err(Error::internal)
    }

    fn config(&self) -> PathBuf {
        self.engine().join("config").join("config.toml")
    }

    /// Whether the engine has yet to start from a snapshot of another node's ledger.
    #[must_use]
    pub fn awaits_snapshot(&self) -> bool {
        !self.has_blocks()
            && std::fs::read_to_string(self.config())
                .is_ok_and(|text| config::has_state_sync(&text))
    }

    /// Makes the engine start from a snapshot of another node's ledger, if it has no block yet. After the first start
    /// that finds a snapshot, the engine continues with blocks as usual.
    ///
    /// # Errors
    /// `BadRequest` for fewer than two servers, `Internal` if the disk fails.
    pub fn sync_from(&self, from: &StateSync) -> Result<()> {
        if from.servers.len() < 2 {
            return Err(Error::bad_request("headers-too-few"));
        }
        // The engine takes the servers as one text, separated by commas.
        if from
            .servers
            .iter()
            .any(|url| url.as_str().contains([',', '"', '\\']))
        {
            return Err(Error::bad_request("node-address-characters"));
        }
        self.keep_settings(&config::with_state_sync(&self.settings()?, from))
    }

    /// The key with which this node signs checkpoints, as it was created. A node moves it to its key store.
    ///
    /// # Errors
    /// `BadRequest` if the file is missing or is not a key.
    pub fn checkpoint_key(&self) -> Result<PrivateKey> {
        let bytes = read(&self.path.join(CHECKPOINT_KEY))?;
        PrivateKey::from_pkcs8(&bytes).map_err(|_| {
            Error::bad_request("checkpoint-key-malformed").with("file", &CHECKPOINT_KEY)
        })
    }

    /// Creates the folder of a further node of this node's network, with keys of its own, and admits it here. The new
    /// node validates once a transaction makes it a validator.
    ///
    /// # Errors
    /// `Conflict` if the folder exists already, `BadRequest` if it can't be written.
    pub fn join(&self, at: &Path, member: &Member) -> Result<Self> {
        let made = MadeMember::new(member)?;
        let mut peers = self.node.peers.clone();
        peers.push(made.peer());
        made.write(at, &peers)?;
        public(&at.join(GENESIS), &self.genesis.to_bytes())?;
        public(&engine_file(at), &read(&engine_file(&self.path))?)?;
        made.node(&peers, self.node.begins_after).write(at)?;
        self.admit(&made.peer())?;
        let joining = Self::open(at)?;
        // The new node gets this node's timeouts, if this folder has any.
        if let Ok(settings) = self.settings() {
            joining.keep_settings(&config::with_timeouts_of(&joining.settings()?, &settings))?;
        }
        Ok(joining)
    }

    /// This node as a validator with that power.
    ///
    /// # Errors
    /// `BadRequest` if a key's file is missing or is not a key.
    pub fn validator(&self) -> Result<Validator> {
        let file = self.engine().join("config").join(VALIDATOR_KEY);
        Ok(Validator {
            name: self.node.name.clone(),
            key: self.checkpoint_key()?.public().clone(),
            power: POWER,
            consensus: Some(keys::validator_of(&read(&file)?)?),
        })
    }

    /// The ledger's height before the network's first block: 0, unless the network was carried over.
    #[must_use]
    pub fn begins_after(&self) -> u64 {
        self.node.begins_after
    }

    /// The newest checkpoint that enough validators have signed and that the node has stored.
    ///
    /// # Errors
    /// `BadRequest` if it has stored none yet.
    pub fn checkpoint(&self) -> Result<String> {
        let note = String::from_utf8(read(&self.note())?);
        note.map_err(|_| Error::bad_request("checkpoint-invalid"))
    }

    /// Stores a checkpoint that was signed before the network began. With it, the ledger's state of that time can be
    /// proven, and readers are handed over.
    ///
    /// # Errors
    /// `Conflict` if the node has a checkpoint already, `BadRequest` if it can't be written.
    pub fn keep_checkpoint(&self, note: &str) -> Result<()> {
        public(&self.note(), note.as_bytes())
    }

    /// The folder's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The address of the engine's RPC.
    pub(crate) fn rpc(&self) -> SocketAddr {
        self.node.rpc
    }

    /// The engine's own folder.
    pub(crate) fn engine(&self) -> PathBuf {
        self.path.join(ENGINE)
    }

    /// The file of the newest checkpoint.
    pub(crate) fn note(&self) -> PathBuf {
        self.path.join(NOTE)
    }

    /// The file of the validators' misbehaviour.
    pub(crate) fn misbehaviour(&self) -> PathBuf {
        self.path.join(MISBEHAVIOUR)
    }

    /// The path of the socket between both halves.
    pub(crate) fn socket(&self) -> Result<PathBuf> {
        let path = self
            .path
            .canonicalize()
            .map_err(Error::internal)?
            .join(SOCKET);
        if path.as_os_str().len() > SOCKET_PATH_MAX {
            return Err(Error::bad_request("socket-path-long").with("path", &path.display()));
        }
        Ok(path)
    }
}

impl NodeEntry {
    fn write(&self, home: &Path) -> Result<()> {
        let bytes = serde_json::to_vec_pretty(self).map_err(Error::internal)?;
        public(&home.join(NODE), &bytes)
    }
}

impl MadeMember {
    fn new(member: &Member) -> Result<Self> {
        let key = || PrivateKey::generate(KeyType::Ed25519).map_err(Error::internal);
        Ok(Self {
            member: member.clone(),
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

    fn node(&self, peers: &[String], begins_after: u64) -> NodeEntry {
        NodeEntry {
            name: self.member.name.clone(),
            rpc: self.member.addresses.rpc,
            peers: peers.to_vec(),
            peer: Some(self.peer()),
            begins_after,
        }
    }

    /// The engine's name and address, for the other engines.
    fn peer(&self) -> String {
        let id = hex_encode(&address_of(self.transport.public()));
        format!("{id}@{}", self.member.addresses.p2p)
    }

    fn write(&self, home: &Path, peers: &[String]) -> Result<()> {
        let (config, data) = (
            home.join(ENGINE).join("config"),
            home.join(ENGINE).join("data"),
        );
        for path in [home, &home.join(ENGINE), &config, &data] {
            folder(path)?;
        }
        let key = self.checkpoint.to_pkcs8().map_err(Error::internal)?;
        secret(&home.join(CHECKPOINT_KEY), key.expose())?;

        let own = self.peer();
        let others: Vec<String> = peers.iter().filter(|peer| **peer != own).cloned().collect();
        let text = config::text(&self.member, &others);
        public(&config.join("config.toml"), text.as_bytes())?;
        let validator = keys::validator_file(&self.consensus)?;
        secret(&config.join(VALIDATOR_KEY), validator.expose().as_bytes())?;
        let transport = private_key(&self.transport)?;
        let transport = format!("{{\"priv_key\":{}}}", transport.expose());
        secret(&config.join("node_key.json"), transport.as_bytes())?;
        let state = json!({ "height": "0", "round": 0, "step": 0 }).to_string();
        secret(&data.join("priv_validator_state.json"), state.as_bytes())
    }
}

/// Our genesis as a JSON string, for the application's part of the engine's genesis.
pub(crate) fn app_state(genesis: &Genesis) -> String {
    json!(base64_encode(&genesis.to_bytes())).to_string()
}

/// CometBFT's genesis.json: the network's name, its limits, its first validators.
fn engine_genesis(
    genesis: &Genesis,
    validators: &ValidatorSet,
    begins_after: u64,
) -> Result<String> {
    let validators = validators.validators().iter();
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
        "initial_height": begins_after.saturating_add(1).to_string(),
        "consensus_params": config::consensus_params(begins_after),
        "validators": validators,
        "app_hash": "",
        "app_state": base64_encode(&genesis.to_bytes()),
    });
    serde_json::to_string_pretty(&genesis).map_err(Error::internal)
}

/// The path of the engine's own genesis.
fn engine_file(home: &Path) -> PathBuf {
    home.join(ENGINE).join("config").join("genesis.json")
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| {
        Error::bad_request("node-folder-unreadable")
            .with("file", &path.display())
            .with("detail", &error)
    })
}

fn read_node(path: &Path) -> Result<NodeEntry> {
    serde_json::from_slice(&read(path)?).map_err(|why| damaged(path, &why))
}

fn damaged(path: &Path, why: &dyn Display) -> Error {
    Error::bad_request("node-file-damaged")
        .with("file", &path.display())
        .with("detail", &why)
}

fn malformed(malformed: selfsame_proof::cbor::Malformed) -> Error {
    Error::bad_request("rule-broken").with("detail", &malformed)
}

#[cfg(test)]
mod tests;
