//! `selfsame registry export` and `import`: a whole registry as one file, verified when it is imported.

use std::path::{Path, PathBuf};

use clap::Args;
use selfsame_app::backup::LEDGER_FILE;
use selfsame_crypto::encoding::hex_encode;
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::Keys;
use selfsame_ledger::archive::Archived;
use selfsame_ledger::embedded::{Embedded, Setup};
use selfsame_network::files::trust_root;
use selfsame_network::{archive, directory};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::master_key::{Custody, MasterKey};
use selfsame_terminal::{output, records};
use serde::Serialize;

/// Export a whole registry into one file; the node or instance must not be running.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame registry export network/node-1 backup.selfsame
         selfsame registry export data backup.selfsame"
)]
pub struct Export {
    /// A node's folder, or the data directory of an instance with a registry of its own.
    data: PathBuf,
    /// The file to create.
    file: PathBuf,
    #[command(flatten)]
    master_key: MasterKey,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// Import an exported registry into an empty directory, and verify every transaction.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame registry import backup.selfsame restored --trust-root network/trust-root"
)]
pub struct Import {
    /// The file.
    file: PathBuf,
    /// The directory: empty, new, or the folder of a node that was never started.
    data: PathBuf,
    /// The trust root of the expected network.
    #[arg(long, value_name = "FILE")]
    trust_root: Option<PathBuf>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// The result of an export or an import.
#[derive(Serialize)]
struct ArchiveSummary {
    network: String,
    height: u64,
    transactions: u64,
    app_hash: String,
}

impl Export {
    /// Exports, and prints the result.
    pub async fn run(self) -> End {
        let archived = if archive::is_node(&self.data) {
            archive::of_node(&self.data, &self.file)?
        } else {
            let embedded = embedded(&self.data, &self.master_key.custody(&self.data)?).await?;
            archive::to_file(&embedded, &self.file).await?
        };
        tell(&archived, self.json);
        Ok(Answer::Yes)
    }
}

impl Import {
    /// Imports with verification, and prints the result.
    pub async fn run(self) -> End {
        let pinned = self.trust_root.as_deref().map(trust_root).transpose()?;
        let origin = pinned.map(|root| root.origin);
        let archived = archive::into(&self.file, &self.data, origin.as_deref()).await?;
        tell(&archived, self.json);
        Ok(Answer::Yes)
    }
}

fn tell(archived: &Archived, as_json: bool) {
    let told = ArchiveSummary {
        network: archived.network.to_string(),
        height: archived.height,
        transactions: archived.transactions,
        app_hash: hex_encode(&archived.app_hash),
    };
    output::either(as_json, &told, |told| {
        vec![
            format!("network       {}", told.network),
            format!("height        {}", told.height),
            format!("transactions  {}", told.transactions),
            format!("app hash      {}", told.app_hash),
        ]
    });
}

/// The registry in the data directory of an instance that is not running.
///
/// # Errors
/// If there is no registry, or the instance is running.
pub async fn embedded(data: &Path, custody: &Custody) -> Result<Embedded, Failure> {
    if !data.join(LEDGER_FILE).exists() {
        return Err(Failure::environment(format!(
            "{}: the directory contains no registry",
            data.display()
        ))
        .hint("name a node's folder, or the data directory of an instance with its own registry"));
    }
    let store = records::open(data, custody).await?;
    let (keys, ledger) = (Keys::new(store.clone()), directory::ledger(data)?);
    // The name is used only to found a network; this one exists.
    let setup = Setup::new("registry", ledger, store, keys, Clock::default());
    Ok(Embedded::open(setup).await?)
}
