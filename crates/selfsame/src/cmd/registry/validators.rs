//! `selfsame registry add-validator` and `remove-validator`: changes of the validators, signed by a trustee.

use std::path::PathBuf;

use clap::Args;
use selfsame_abci::Home;
use selfsame_crypto::SecretString;
use selfsame_driver::data_directory::token_from;
use selfsame_network::files::trust_root;
use selfsame_network::readiness::Candidacy;
use selfsame_network::validators::{self, Turnover};
use selfsame_network::{NodeClient, files};
use selfsame_registry::{Genesis, Receipt};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::{address, output};
use url::Url;

use super::join::{Joining, admission};
use selfsame_api_commands::Roots;

/// Who changes the validators, and where.
#[derive(Args)]
struct Change {
    /// The trustee's key, as `selfsame registry init` wrote it.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The base URL of the node that receives the transaction.
    #[arg(long, value_name = "URL", value_parser = address::parse)]
    node: Url,
    /// The file that holds that node's operator token.
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,
    /// The trust root of the expected network.
    #[arg(long, value_name = "FILE")]
    trust_root: Option<PathBuf>,
    #[command(flatten)]
    roots: Roots,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// Add a node to the validators, once it has caught up with the others.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame registry add-validator node-5 --key network/trustee.key --node http://localhost:7390/ --token-file network/node-1/operator-token"
)]
pub struct Add {
    #[command(flatten)]
    joining: Joining,
    /// The node's base URL; default: the one in its folder.
    #[arg(long, value_name = "URL", value_parser = address::parse)]
    newcomer: Option<Url>,
    /// Add it at once, even if it lags or other validators are silent; its folder is created if it does not exist.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    change: Change,
}

/// Remove a node from the validators; it may continue to follow the network, or be stopped.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame registry remove-validator node-4 --key network/trustee.key --node http://localhost:7390/ --token-file network/node-1/operator-token"
)]
pub struct Remove {
    /// The validator's name.
    name: String,
    #[command(flatten)]
    change: Change,
}

impl Add {
    /// Checks that the node is ready to validate, and adds it.
    pub async fn run(self) -> End {
        let change = &self.change;
        if !self.force {
            self.joining.joining().is_made()?;
        }
        let (home, _) = self
            .joining
            .home(change.trust_root.as_deref(), &change.roots)
            .await?;
        let genesis = self.change.genesis().await?;
        if genesis.network() != home.genesis().network() {
            return Err(Failure::environment(format!(
                "{} is of network {}, but the node serves {}",
                home.path().display(),
                home.genesis().network(),
                genesis.network()
            )));
        }
        if !self.force {
            self.looks(&home, &genesis).await?;
        }
        let change = Turnover {
            add: vec![home.validator()?],
            remove: Vec::new(),
        };
        let receipt = self.change.write(&genesis, change).await?;
        self.change.tell(&receipt);
        if !self.change.json {
            if let Some(peer) = home.peer() {
                output::say(&admission(peer));
            }
            let path = home.path().display();
            output::say(&format!(
                "Then, on its own machine:\n  selfsame registry node {path}"
            ));
        }
        Ok(Answer::Yes)
    }

    async fn looks(&self, home: &Home, genesis: &Genesis) -> Result<(), Failure> {
        let newcomer = match &self.newcomer {
            Some(url) => url.clone(),
            None => files::url_of(home.path())?,
        };
        let root = match self.change.trust_root.as_deref() {
            Some(file) => trust_root(file)?,
            None => selfsame_ledger::trust_root(genesis),
        };
        let candidacy = Candidacy {
            node: self.change.node.clone(),
            newcomer,
            root,
            believed: self.change.roots.read()?.into(),
        };
        let waits = |why: &str| output::complain(&format!("{why}; waiting"));
        Ok(candidacy.ready(waits).await?)
    }
}

impl Remove {
    /// Removes the validator.
    pub async fn run(self) -> End {
        let genesis = self.change.genesis().await?;
        let change = Turnover {
            add: Vec::new(),
            remove: vec![self.name.clone()],
        };
        let receipt = self.change.write(&genesis, change).await?;
        self.change.tell(&receipt);
        if !self.change.json {
            output::say(&dismissal(&self.name));
        }
        Ok(Answer::Yes)
    }
}

/// What the operators of the other nodes must still do: a former validator may still submit transactions.
fn dismissal(name: &str) -> String {
    format!(
        "{name} may continue to follow the network. To end that, each operator of another node runs, with the name in\n{name}/node.json:\n  selfsame registry admit HOME NAME@IP:PORT --remove"
    )
}

impl Change {
    fn client(&self) -> Result<NodeClient, Failure> {
        Ok(NodeClient::new(&self.node, &self.roots.read()?.into())?)
    }

    /// The genesis of the network of the node.
    async fn genesis(&self) -> Result<Genesis, Failure> {
        let pinned = self.trust_root.as_deref().map(trust_root).transpose()?;
        let client = self.client()?;
        Ok(validators::genesis(&client, &self.node, pinned.as_ref()).await?)
    }

    async fn write(&self, genesis: &Genesis, change: Turnover) -> Result<Receipt, Failure> {
        let key = files::trustee(&self.key)?;
        let transaction = change.signed(genesis, &key)?;
        let token: SecretString = token_from(&self.token_file)?;
        Ok(self.client()?.write(&transaction.to_bytes(), token).await?)
    }

    fn tell(&self, receipt: &Receipt) {
        output::either(self.json, receipt, |receipt| {
            vec![format!(
                "Transaction {} of height {} changes the validators from height {} on.",
                receipt.seq_no,
                receipt.height,
                receipt.height.saturating_add(2)
            )]
        });
    }
}
