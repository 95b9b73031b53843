//! A whole registry as one file: exported from a node's folder or an instance, verified when it is imported.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;
use std::sync::Arc;

use selfsame_abci::Home;
use selfsame_ledger::Ledger;
use selfsame_ledger::archive::{self, Archived};
use selfsame_ledger::embedded::Embedded;
use selfsame_registry::StateMachine;
use selfsame_store::ledger::{LEDGER_FILE, SqliteLedger};

use crate::NetworkError;
use crate::directory::{self, UNFINISHED_LEDGER};

/// Whether a folder is a node's, and not the data directory of an instance.
#[must_use]
pub fn is_node(folder: &Path) -> bool {
    folder.join("node.json").exists()
}

/// Writes the registry of a node that is not running into a new file.
///
/// # Errors
/// If the node has never run, or the file exists already or can't be written.
pub fn of_node(home: &Path, file: &Path) -> Result<Archived, NetworkError> {
    let home = Home::open(home)?;
    let checkpoint = home.checkpoint().map_err(|error| {
        NetworkError::from(error)
            .hint("a node has a registry to export once it has run: `selfsame registry node`")
    })?;
    let machine = Arc::new(StateMachine::new(home.genesis().clone()));
    let ledger = Ledger::open(directory::ledger(home.path())?, machine)?;
    let mut to = BufWriter::new(new(file)?);
    Ok(archive::export(&ledger, &checkpoint, &mut to)?)
}

/// Writes an embedded registry into a new file.
///
/// # Errors
/// If the file exists already or can't be written.
pub async fn to_file(embedded: &Embedded, file: &Path) -> Result<Archived, NetworkError> {
    let mut to = BufWriter::new(new(file)?);
    Ok(embedded.export(&mut to).await?)
}

/// Imports an export into a directory without a ledger. The ledger appears there only when all of it is verified.
///
/// # Errors
/// If the export is refused, or there is a ledger already.
pub async fn into(
    file: &Path,
    data: &Path,
    origin: Option<&str>,
) -> Result<Archived, NetworkError> {
    let wrong =
        |path: &Path, why: String| NetworkError::environment(format!("{}: {why}", path.display()));
    let (finished, unfinished) = (data.join(LEDGER_FILE), data.join(UNFINISHED_LEDGER));
    if finished.exists() {
        return Err(wrong(&finished, "a ledger already exists".to_owned())
            .hint("an import needs an empty directory"));
    }
    let opened = File::open(file).map_err(|error| {
        wrong(file, error.to_string()).hint("name the file that `selfsame registry export` wrote")
    })?;
    directory::take(data)?;
    directory::take(&unfinished)?;
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
    if is_node(data) {
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
fn belongs_to(home: &Home, archived: &Archived) -> Result<(), NetworkError> {
    if home.genesis().network() != archived.network || home.begins_after() != archived.height {
        return Err(NetworkError::environment(format!(
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

fn new(file: &Path) -> Result<File, NetworkError> {
    let made = File::create_new(file);
    made.map_err(|error| {
        NetworkError::environment(format!("{}: {error}", file.display()))
            .hint("name a new file in an existing folder")
    })
}
