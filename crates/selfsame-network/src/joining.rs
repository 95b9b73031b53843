//! Joining a network: the folder of a further node, and the block that its ledger begins with.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use selfsame_abci::{Home, Member, StateSync};
use selfsame_crypto::encoding::hex_decode;
use selfsame_proof::read::TrustRoot;
use selfsame_registry::Genesis;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use crate::files::Serve;
use crate::founding::place;
use crate::standing::proven;
use crate::{Believed, NetworkError, NodeClient};

/// How often a node is asked for a block that another node has, and the pause after each try.
const TRIES: u32 = 20;
const AGAIN: Duration = Duration::from_millis(200);

/// Which node joins, and how.
pub struct Joining {
    /// The folder of the new node; its name becomes the validator's name.
    pub home: PathBuf,
    /// The folder of a node of the network, from which the new folder is created.
    pub of: Option<PathBuf>,
    /// The IP address of the new node's machine, if it is not this one.
    pub host: Option<IpAddr>,
    /// The node's HTTP port.
    pub port: u16,
    /// The base URLs of nodes that confirm the snapshot to begin with. Without them, the node begins with the first
    /// block.
    pub from: Vec<Url>,
}

/// The newest block's header, in the engine's format for light clients.
#[derive(Deserialize)]
struct Commit {
    result: Option<CommitResult>,
}

#[derive(Deserialize)]
struct CommitResult {
    signed_header: SignedHeader,
}

#[derive(Deserialize)]
struct SignedHeader {
    header: Header,
    commit: CommitOf,
}

#[derive(Deserialize)]
struct Header {
    chain_id: String,
    height: String,
}

#[derive(Deserialize)]
struct CommitOf {
    block_id: BlockId,
}

#[derive(Deserialize)]
struct BlockId {
    hash: String,
}

impl Joining {
    /// Refuses a node whose folder does not exist yet.
    ///
    /// # Errors
    /// If it does not.
    pub fn is_made(&self) -> Result<(), NetworkError> {
        if self.home.exists() {
            return Ok(());
        }
        let missing = NetworkError::environment(format!("{} does not exist", self.home.display()));
        Err(missing.hint("`selfsame registry join` creates it; or use --force with --of"))
    }

    /// The node's folder, created if it is missing.
    ///
    /// # Errors
    /// If it can't be created, or a node that has blocks already is to begin with a snapshot.
    pub fn home(&self) -> Result<Home, NetworkError> {
        self.servers()?;
        let home = match self.home.exists() {
            true => Home::open(&self.home)?,
            false => self.made()?,
        };
        if !self.from.is_empty() && home.has_blocks() {
            return Err(NetworkError::environment(format!(
                "{}: this node already has blocks, and continues from them",
                self.home.display()
            ))
            .hint("start it without --from; or create a folder with another name for a new node"));
        }
        Ok(home)
    }

    /// Sets what the node in this folder begins with: a snapshot from a block that all named nodes have.
    ///
    /// # Errors
    /// If a node is not of the network of this trust root, or the nodes disagree on the block.
    pub async fn snapshot(
        &self,
        home: &Home,
        root: Option<TrustRoot>,
        believed: &Believed,
    ) -> Result<StateSync, NetworkError> {
        let root = root.unwrap_or_else(|| selfsame_ledger::trust_root(home.genesis()));
        let from = agreed(&self.from, believed, home.genesis(), root).await?;
        home.sync_from(&from)?;
        Ok(from)
    }

    /// Checks that the named nodes are enough to confirm each other.
    fn servers(&self) -> Result<(), NetworkError> {
        let origins = self.from.iter().map(Url::origin);
        let different = origins.map(|origin| origin.ascii_serialization());
        match different.collect::<BTreeSet<_>>().len() {
            1 => Err(
                NetworkError::environment("a snapshot needs headers from at least two nodes").hint(
                    "name another node with a second --from, preferably of another organisation",
                ),
            ),
            _ => Ok(()),
        }
    }

    fn made(&self) -> Result<Home, NetworkError> {
        let of = self.of.as_ref().ok_or_else(|| {
            NetworkError::environment(format!("{} does not exist", self.home.display()))
                .hint("name a node of the network with --of to create the folder")
        })?;
        let name = self.home.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| NetworkError::environment("the folder has no name"))?;
        let place = place(self.host, self.port)?;
        let member = Member {
            name: name.to_owned(),
            addresses: place.engine,
        };
        let home = Home::open(of)?.join(&self.home, &member)?;
        Serve { listen: place.http }.write(&self.home)?;
        Ok(home)
    }
}

/// A block that all the nodes have, after each has proven that it is of this network.
async fn agreed(
    from: &[Url],
    believed: &Believed,
    genesis: &Genesis,
    root: TrustRoot,
) -> Result<StateSync, NetworkError> {
    let chain = format!("selfsame-{}", genesis.network());
    let mut root = Some(root);
    let mut trusted: Option<(u64, [u8; 32])> = None;
    let mut servers = Vec::with_capacity(from.len());
    for url in from {
        let of_this = |error: NetworkError| error.at(url.as_str());
        proven(url, &mut root, believed).await.map_err(of_this)?;
        let height = trusted.map(|(height, _)| height);
        let found = block(&NodeClient::new(url, believed)?, &chain, height)
            .await
            .map_err(of_this)?;
        match trusted {
            Some(trusted) if trusted != found => {
                return Err(NetworkError::no(format!(
                    "{url} shows another block of height {} than {}: one of them is wrong",
                    found.0,
                    from.first().map_or("", Url::as_str)
                )));
            }
            _ => trusted = Some(found),
        }
        let engine = url.join("registry/engine");
        servers.push(engine.map_err(|error| NetworkError::ours(error.to_string()))?);
    }
    let (height, hash) =
        trusted.ok_or_else(|| NetworkError::environment("--from names no node"))?;
    Ok(StateSync {
        servers,
        height,
        hash,
    })
}

/// The height and the hash of a block of a node: the newest, or the one of this height.
async fn block(
    client: &NodeClient,
    chain: &str,
    height: Option<u64>,
) -> Result<(u64, [u8; 32]), NetworkError> {
    let params = height.map_or_else(
        || serde_json::json!({}),
        |height| serde_json::json!({ "height": height.to_string() }),
    );
    let unread = || NetworkError::no("its answer contains no header of the engine");
    let mut tries = 0..TRIES;
    // A node may be a moment behind the first one.
    let signed = loop {
        let answer: Value = client.light("commit", params.clone()).await?;
        let commit: Commit = serde_json::from_value(answer).map_err(|_| unread())?;
        match (commit.result, tries.next()) {
            (Some(result), _) => break result.signed_header,
            (None, Some(_)) => tokio::time::sleep(AGAIN).await,
            (None, None) => return Err(unread()),
        }
    };
    if signed.header.chain_id != chain {
        return Err(NetworkError::no(format!(
            "its engine is of {}, not of {chain}",
            signed.header.chain_id
        )));
    }
    let hash = hex_decode(&signed.commit.block_id.hash.to_lowercase()).map_err(|_| unread())?;
    Ok((
        signed.header.height.parse().map_err(|_| unread())?,
        hash.try_into().map_err(|_| unread())?,
    ))
}
