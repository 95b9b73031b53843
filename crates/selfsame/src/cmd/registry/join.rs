//! `selfsame registry join`: creates the folder of a further node, and sets where it gets the ledger from.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use selfsame_abci::{Home, Member, StateSync};
use selfsame_crypto::encoding::{hex_decode, hex_encode};
use selfsame_proof::read::TrustRoot;
use selfsame_registry::Genesis;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use super::files::Serve;
use super::init::place;
use super::node_client::{Believed, Face};
use super::status::proven;
use crate::exit::{Answer, End, Failure};
use crate::settings::trust_root;
use crate::tls::Roots;
use crate::{address, output};

/// How often a node is asked for a block that another node has, and the pause after each try.
const TRIES: u32 = 20;
const AGAIN: Duration = Duration::from_millis(200);

/// Create the folder of a further node, which follows the network; add it to the validators once it has caught up.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame registry join node-5 --of network/node-1 --host 10.0.0.5 --from https://one.example:7390/ --from https://two.example:7390/
         selfsame registry node node-5

Before the node is started, the folder must be on its machine, and nowhere else."
)]
pub struct Join {
    #[command(flatten)]
    joining: Joining,
    /// The trust root of the expected network.
    #[arg(long, value_name = "FILE")]
    trust_root: Option<PathBuf>,
    #[command(flatten)]
    roots: Roots,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// Which node joins, and how.
#[derive(Args)]
pub struct Joining {
    /// The folder of the new node; its name becomes the validator's name.
    home: PathBuf,
    /// The folder of a node of the network, from which the new folder is created.
    #[arg(long, value_name = "HOME")]
    of: Option<PathBuf>,
    /// The IP address of the new node's machine; default: this one.
    #[arg(long, value_name = "IP")]
    host: Option<IpAddr>,
    /// The node's HTTP port.
    #[arg(long, default_value_t = 7390)]
    port: u16,
    /// The base URL of a node; name at least two. The node begins with a snapshot of the ledger that these nodes
    /// confirm. Without --from, it begins with the first block, if the other nodes still have it.
    #[arg(long, value_name = "URL", value_parser = address::parse)]
    from: Vec<Url>,
}

/// The prepared node.
#[derive(Serialize)]
struct Ready {
    name: String,
    network: String,
    /// Its address for the other nodes' engines.
    #[serde(skip_serializing_if = "Option::is_none")]
    peer: Option<String>,
    /// The block that the snapshot's headers begin with; `None` without a snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    trusted: Option<Trusted>,
}

#[derive(Serialize)]
struct Trusted {
    height: u64,
    hash: String,
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

impl Join {
    /// Prepares the node.
    pub async fn run(self) -> End {
        let (home, from) = self
            .joining
            .home(self.trust_root.as_deref(), &self.roots)
            .await?;
        let ready = Ready {
            name: home.name().to_owned(),
            network: home.genesis().network().to_string(),
            peer: home.peer().map(str::to_owned),
            trusted: from.map(|from| Trusted {
                height: from.height,
                hash: hex_encode(&from.hash),
            }),
        };
        let path = home.path().display().to_string();
        output::either(self.json, &ready, |ready| lines(ready, &path));
        Ok(Answer::Yes)
    }
}

impl Joining {
    /// Refuses a node whose folder does not exist yet.
    pub fn is_made(&self) -> Result<(), Failure> {
        if self.home.exists() {
            return Ok(());
        }
        let missing = Failure::environment(format!("{} does not exist", self.home.display()));
        Err(missing.hint("`selfsame registry join` creates it; or use --force with --of"))
    }

    /// The node's folder, created if it is missing, and the source of its ledger.
    ///
    /// # Errors
    /// If it can't be created, or the nodes disagree on the block to trust.
    pub async fn home(
        &self,
        root: Option<&Path>,
        roots: &Roots,
    ) -> Result<(Home, Option<StateSync>), Failure> {
        self.servers()?;
        let home = match self.home.exists() {
            true => Home::open(&self.home)?,
            false => self.made()?,
        };
        if self.from.is_empty() {
            return Ok((home, None));
        }
        if home.has_blocks() {
            return Err(Failure::environment(format!(
                "{}: this node already has blocks, and continues from them",
                self.home.display()
            ))
            .hint("start it without --from; or create a folder with another name for a new node"));
        }
        let root = match root {
            Some(file) => trust_root(file)?,
            None => selfsame_ledger::trust_root(home.genesis()),
        };
        let from = agreed(&self.from, &roots.read()?.into(), home.genesis(), root).await?;
        home.sync_from(&from)?;
        Ok((home, Some(from)))
    }

    /// Checks that the named nodes are enough to confirm each other.
    fn servers(&self) -> Result<(), Failure> {
        let origins = self.from.iter().map(Url::origin);
        let different = origins.map(|origin| origin.ascii_serialization());
        match different.collect::<BTreeSet<_>>().len() {
            1 => Err(
                Failure::environment("a snapshot needs headers from at least two nodes").hint(
                    "name another node with a second --from, preferably of another organisation",
                ),
            ),
            _ => Ok(()),
        }
    }

    fn made(&self) -> Result<Home, Failure> {
        let of = self.of.as_ref().ok_or_else(|| {
            Failure::environment(format!("{} does not exist", self.home.display()))
                .hint("name a node of the network with --of to create the folder")
        })?;
        let name = self.home.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| Failure::environment("the folder has no name"))?;
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
) -> Result<StateSync, Failure> {
    let chain = format!("selfsame-{}", genesis.network());
    let mut root = Some(root);
    let mut trusted: Option<(u64, [u8; 32])> = None;
    let mut servers = Vec::with_capacity(from.len());
    for url in from {
        let of_this = |failure: Failure| failure.at(url.as_str());
        proven(url, &mut root, believed).await.map_err(of_this)?;
        let height = trusted.map(|(height, _)| height);
        let found = block(&Face::new(url, believed)?, &chain, height)
            .await
            .map_err(of_this)?;
        match trusted {
            Some(trusted) if trusted != found => {
                return Err(Failure::no(format!(
                    "{url} shows another block of height {} than {}: one of them is wrong",
                    found.0,
                    from.first().map_or("", Url::as_str)
                )));
            }
            _ => trusted = Some(found),
        }
        let engine = url.join("registry/engine");
        servers.push(engine.map_err(|error| Failure::ours(error.to_string()))?);
    }
    let (height, hash) = trusted.ok_or_else(|| Failure::environment("--from names no node"))?;
    Ok(StateSync {
        servers,
        height,
        hash,
    })
}

/// The height and the hash of a block of a node: the newest, or the one of this height.
async fn block(face: &Face, chain: &str, height: Option<u64>) -> Result<(u64, [u8; 32]), Failure> {
    let params = height.map_or_else(
        || serde_json::json!({}),
        |height| serde_json::json!({ "height": height.to_string() }),
    );
    let unread = || Failure::no("its answer contains no header of the engine");
    let mut tries = 0..TRIES;
    // A node may be a moment behind the first one.
    let signed = loop {
        let answer: Value = face.light("commit", params.clone()).await?;
        let commit: Commit = serde_json::from_value(answer).map_err(|_| unread())?;
        match (commit.result, tries.next()) {
            (Some(result), _) => break result.signed_header,
            (None, Some(_)) => tokio::time::sleep(AGAIN).await,
            (None, None) => return Err(unread()),
        }
    };
    if signed.header.chain_id != chain {
        return Err(Failure::no(format!(
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

/// What the operators of the other nodes must do to admit a new node.
pub fn admission(peer: &str) -> String {
    format!(
        "Next, on the machine of each other node NODE, which connects only to admitted nodes:\n  selfsame registry admit NODE {peer}"
    )
}

fn lines(ready: &Ready, path: &str) -> Vec<String> {
    let mut lines = vec![format!("{} of network {}", ready.name, ready.network)];
    lines.extend(ready.trusted.as_ref().map(|block| {
        format!(
            "begins with a snapshot; trusted block: {}, {}",
            block.height, block.hash
        )
    }));
    lines.extend(ready.peer.as_deref().map(admission));
    lines.extend([
        "Then, on its own machine:".to_owned(),
        format!("  selfsame registry node {path}"),
        "and, once `selfsame registry status` shows no lag, with the trustee's key:".to_owned(),
        format!(
            "  selfsame registry add-validator {path} --key trustee.key --node … --token-file …"
        ),
    ]);
    lines
}
