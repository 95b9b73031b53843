//! `selfsame registry export` and `import`: a whole registry as one file, verified when it is imported.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use selfsame_abci::Home;
use selfsame_app::backup::LEDGER_FILE;
use selfsame_crypto::encoding::hex_encode;
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::Keys;
use selfsame_ledger::archive::Archived;
use selfsame_ledger::embedded::Embedded;
use selfsame_ledger::{Ledger, archive, embedded};
use selfsame_registry::Machine;
use selfsame_store::ledger::SqliteLedger;
use serde::Serialize;

use crate::exit::{Answer, End, Failure};
use crate::master_key::{Custody, MasterKey};
use crate::settings::trust_root;
use crate::{data, output, private_directory};

/// The folder where a ledger is built until all of it is verified.
const UNFINISHED: &str = "ledger.unfinished";

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
struct Told {
    network: String,
    height: u64,
    transactions: u64,
    app_hash: String,
}

impl Export {
    /// Exports, and prints the result.
    pub async fn run(self) -> End {
        let archived = if self.data.join("node.json").exists() {
            of_node(&self.data, &self.file)?
        } else {
            let embedded = embedded(&self.data, &self.master_key.custody(&self.data)?).await?;
            to_file(&embedded, &self.file).await?
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
        let archived = into(&self.file, &self.data, origin.as_deref()).await?;
        tell(&archived, self.json);
        Ok(Answer::Yes)
    }
}

fn tell(archived: &Archived, as_json: bool) {
    let told = Told {
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

fn of_node(home: &Path, file: &Path) -> Result<Archived, Failure> {
    let home = Home::open(home)?;
    let checkpoint = home.checkpoint().map_err(|error| {
        Failure::from(error)
            .hint("a node has a registry to export once it has run: `selfsame registry node`")
    })?;
    let machine = Arc::new(Machine::new(home.genesis().clone()));
    let ledger = Ledger::open(data::ledger(home.path())?, machine)?;
    let mut to = BufWriter::new(new(file)?);
    Ok(archive::export(&ledger, &checkpoint, &mut to)?)
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
    let store = data::store(data, custody).await?;
    let (keys, ledger) = (Keys::new(store.clone()), data::ledger(data)?);
    // The name is used only to found a network; this one exists.
    let setup = embedded::Setup::new("registry", ledger, store, keys, Clock::default());
    Ok(Embedded::open(setup).await?)
}

/// Writes an embedded registry into a new file.
///
/// # Errors
/// If the file exists already or can't be written.
pub async fn to_file(embedded: &Embedded, file: &Path) -> Result<Archived, Failure> {
    let mut to = BufWriter::new(new(file)?);
    Ok(embedded.export(&mut to).await?)
}

/// Imports an export into a directory without a ledger. The ledger appears there only when all of it is verified.
///
/// # Errors
/// If the export is refused, or there is a ledger already.
pub async fn into(file: &Path, data: &Path, origin: Option<&str>) -> Result<Archived, Failure> {
    let wrong =
        |path: &Path, why: String| Failure::environment(format!("{}: {why}", path.display()));
    let (finished, unfinished) = (data.join(LEDGER_FILE), data.join(UNFINISHED));
    if finished.exists() {
        return Err(wrong(&finished, "a ledger already exists".to_owned())
            .hint("an import needs an empty directory"));
    }
    let opened = File::open(file).map_err(|error| {
        wrong(file, error.to_string()).hint("name the file that `selfsame registry export` wrote")
    })?;
    private_directory::take(data)?;
    private_directory::take(&unfinished)?;
    let at = unfinished.join(LEDGER_FILE);
    if at.exists() {
        std::fs::remove_file(&at)?;
    }
    let archived = {
        let ledger = SqliteLedger::open(&at).map_err(|error| wrong(&at, error.to_string()))?;
        archive::import(&mut BufReader::new(opened), Arc::new(ledger)).await?
    };
    let of = format!("selfsame/{}", archived.network);
    if origin.is_some_and(|origin| origin != of) {
        return Err(wrong(
            file,
            format!("it is of {of}, not of {}", origin.unwrap_or_default()),
        ));
    }
    if data.join("node.json").exists() {
        belongs_to(&Home::open(data)?, &archived)?;
    }
    // The write-ahead log holds what SQLite has not yet moved into the file, so it is moved too.
    let log = |path: &Path| path.with_extension("sqlite-wal");
    if log(&at).exists() {
        std::fs::rename(log(&at), log(&finished))?;
    }
    std::fs::rename(&at, &finished)?;
    std::fs::remove_dir_all(&unfinished)?;
    Ok(archived)
}

/// A node's network must continue where the imported ledger ends; the checkpoint there hands over to the validators.
fn belongs_to(home: &Home, archived: &Archived) -> Result<(), Failure> {
    if home.genesis().network() != archived.network || home.begins_after() != archived.height {
        return Err(Failure::environment(format!(
            "this node's network is {} and begins after height {}, but the export is of {} up to height {}",
            home.genesis().network(),
            home.begins_after(),
            archived.network,
            archived.height
        ))
        .hint("a node of a running network gets its ledger from the other nodes"));
    }
    Ok(home.keep_checkpoint(&archived.checkpoint)?)
}

fn new(file: &Path) -> Result<File, Failure> {
    let made = File::create_new(file);
    made.map_err(|error| {
        Failure::environment(format!("{}: {error}", file.display()))
            .hint("name a new file in an existing folder")
    })
}
