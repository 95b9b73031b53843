//! `selfsame registry join`: creates the folder of a further node, and sets where it gets the ledger from.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use selfsame_abci::{Home, StateSync};
use selfsame_crypto::encoding::hex_encode;
use selfsame_network::files::trust_root;
use selfsame_network::joining;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::{address, output};
use serde::Serialize;
use url::Url;

use selfsame_api_commands::Roots;

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
    /// Which node joins.
    pub fn joining(&self) -> joining::Joining {
        joining::Joining {
            home: self.home.clone(),
            of: self.of.clone(),
            host: self.host,
            port: self.port,
            from: self.from.clone(),
        }
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
        let joining = self.joining();
        let home = joining.home()?;
        if self.from.is_empty() {
            return Ok((home, None));
        }
        let root = root.map(trust_root).transpose()?;
        let believed = roots.read()?.into();
        let from = joining.snapshot(&home, root, &believed).await?;
        Ok((home, Some(from)))
    }
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
