//! The check of a data directory for damage, while nothing runs on it; rebuilds a damaged ledger from its log.

use std::path::{Path, PathBuf};

use selfsame_abci::Home;
use selfsame_catalogue::english;
use selfsame_driver::clock::Clock;
use selfsame_driver::data_directory::unusable;
use selfsame_driver::{Error, Reason};
use selfsame_ledger::check::{self, Found, StoreNotes, Subject};
use selfsame_registry::Genesis;
use selfsame_store::backend::STORE_FILE;
use selfsame_store::ledger::LEDGER_FILE;
use selfsame_store::offline::{LedgerFile, Looked, StoreFile, Tell};
use selfsame_store::{StoreError, Vault};
use serde::Serialize;

use crate::{NetworkError, archive, directory};

/// The folder in the data directory where a ledger is rebuilt.
const ANEW: &str = "ledger.anew";
/// The name of what store and ledger have in common, in place of a file's.
pub const BOTH: &str = "both";
const COPY: &str = "restore a copy into a new directory: selfsame restore COPY --data NEW-DIRECTORY (docs/backup.md)";
const ANEW_THERE: &str = "restore a copy into an empty schema: selfsame restore COPY --data NEW-DIRECTORY --database URL (docs/backup.md), or the database itself with its own means (docs/postgres.md)";
const INDEX: &str = "the index of tags is damaged, and the records it is made of are not: back the instance up (selfsame backup), and restore the copy into an empty schema (docs/backup.md)";
const JOIN: &str = "create a new node, which gets the ledger from the other nodes, and remove this one: selfsame registry join (docs/network.md)";

/// The owner of the data.
#[derive(Clone, Copy, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DataOwner {
    /// An instance.
    Instance,
    /// A node of a network.
    Node,
}

/// All results.
#[derive(Serialize)]
pub struct Checkup {
    /// The data directory.
    pub data: String,
    /// The owner.
    pub kind: DataOwner,
    /// Whether nothing is damaged, or everything was repaired.
    pub sound: bool,
    /// The results for the parts of each file.
    pub parts: Vec<CheckedPart>,
    /// Whether the log is complete, if a ledger was checked.
    pub log_is_whole: Option<bool>,
    /// The file that keeps a damaged ledger after it was replaced.
    pub damaged_ledger: Option<String>,
    /// What to do.
    pub next: Vec<String>,
    /// Why the folder of a rebuild could not be removed.
    #[serde(skip)]
    pub left_behind: Option<String>,
}

/// The result for one part of a file.
#[derive(Serialize)]
pub struct CheckedPart {
    /// The file, or [`BOTH`].
    pub file: &'static str,
    /// The part.
    pub what: &'static str,
    /// How many things were seen.
    pub seen: u64,
    /// The damage, in words.
    pub damage: Vec<String>,
    /// How much more damage there is.
    pub untold: u64,
    /// Why nothing was seen.
    pub note: Option<&'static str>,
}

/// The name of a database, in place of a file's.
pub const DATABASE: &str = "database";

/// The records to check.
pub enum Records<V> {
    /// A file in the data directory, if there is one. The function gives what opens it.
    File(V),
    /// A database, which was looked through already.
    Database(Vec<Looked>, Box<Result<StoreNotes, Error>>),
}

/// Whether a directory has data that can be checked.
#[must_use]
pub fn has_data(data: &Path) -> bool {
    data.join(STORE_FILE).exists() || data.join(LEDGER_FILE).exists()
}

/// Checks the records, the ledger, and whether both are from the same time; rebuilds a damaged ledger if that is asked
/// for and its log is complete.
///
/// # Errors
/// If a file can't be opened for another reason than damage, or the ledger can't be rebuilt; those of the function that
/// gives what opens the records.
pub async fn check<E: From<NetworkError>>(
    data: &Path,
    rebuilds: bool,
    records: Records<impl FnOnce() -> Result<Vault, E>>,
    tell: Tell<'_>,
) -> Result<Checkup, E> {
    let home = match archive::is_node(data) {
        true => Some(Home::open(data).map_err(NetworkError::from)?),
        false => None,
    };
    let mut checkup = Checkup::new(data, home.is_some());
    let store = match records {
        Records::File(vault) if data.join(STORE_FILE).exists() => {
            checkup.store(data, vault()?, tell).await?
        }
        Records::File(_) => None,
        Records::Database(looked, notes) => {
            checkup.add(DATABASE, looked);
            Some(CheckedStore {
                notes: *notes,
                _file: None,
            })
        }
    };
    if data.join(LEDGER_FILE).exists() {
        let found = Checking {
            data,
            rebuilds,
            store: store.as_ref(),
            home: home.as_ref(),
        };
        found.ledger(&mut checkup, tell).await?;
    }
    checkup.conclude();
    Ok(checkup)
}

/// A store that was checked. Its file stays locked.
struct CheckedStore {
    notes: Result<StoreNotes, Error>,
    _file: Option<StoreFile>,
}

/// The check of a ledger, and what it is compared with.
struct Checking<'a> {
    data: &'a Path,
    rebuilds: bool,
    store: Option<&'a CheckedStore>,
    home: Option<&'a Home>,
}

impl Checking<'_> {
    /// Checks the ledger, and rebuilds it if requested.
    async fn ledger(&self, checkup: &mut Checkup, tell: Tell<'_>) -> Result<(), NetworkError> {
        let opened = LedgerFile::open(&self.data.join(LEDGER_FILE));
        let Some(ledger) = checkup.opened(self.data, LEDGER_FILE, opened)? else {
            return Ok(());
        };
        let Some(genesis) = self.genesis(&ledger) else {
            checkup.add(LEDGER_FILE, ledger.look(tell));
            let mut looked = Looked::at("network");
            looked.wrong("no readable part names its network");
            checkup.add(LEDGER_FILE, vec![looked]);
            return Ok(());
        };
        let checkpoint = self.home.and_then(|home| home.checkpoint().ok());
        let subject = match self.home {
            Some(_) => Subject::of_node(&ledger, genesis, checkpoint.as_deref(), tell),
            None => Subject::embedded(&ledger, genesis, tell),
        };
        let anew = Anew::begin(self.data)?;
        let found = subject.examine(&anew.ledger()).await;
        let age = self.store.map(|store| match &store.notes {
            Ok(notes) => check::together(notes, &ledger),
            Err(error) => {
                let mut looked = Looked::at("age");
                looked.wrong(format!("the store's notes can't be read: {error}"));
                looked
            }
        });
        checkup.log_is_whole = Some(found.log_is_whole);
        if self.rebuilds {
            self.rebuild(ledger, &anew, &found, checkup)?;
        }
        checkup.add(LEDGER_FILE, found.parts);
        checkup.add(BOTH, age.into_iter().collect());
        checkup.left_behind = anew.end();
        Ok(())
    }

    /// Replaces a damaged ledger with the rebuilt one.
    fn rebuild(
        &self,
        ledger: LedgerFile,
        anew: &Anew,
        found: &Found,
        checkup: &mut Checkup,
    ) -> Result<(), NetworkError> {
        if found.is_sound() || !found.log_is_whole {
            return Ok(());
        }
        let now = Clock::default().now().rfc3339().replace(':', "");
        let kept = self.data.join(format!("ledger.damaged-{now}.sqlite"));
        if kept.exists() {
            let there = format!("{} exists", kept.display());
            return Err(NetworkError::environment(there).hint("try again in a second"));
        }
        let given = ledger.give_way(&anew.ledger(), &kept);
        given.map_err(|error| unusable(self.data, &error))?;
        checkup.damaged_ledger = Some(kept.display().to_string());
        Ok(())
    }

    /// The network's genesis: from the node's folder, the store, or else the ledger itself.
    fn genesis(&self, ledger: &LedgerFile) -> Option<Genesis> {
        if let Some(home) = self.home {
            return Some(home.genesis().clone());
        }
        let notes = self.store.and_then(|store| store.notes.as_ref().ok());
        let kept = notes.and_then(|notes| notes.genesis.clone());
        kept.or_else(|| check::genesis_of(ledger).ok().flatten())
    }
}

impl Checkup {
    fn new(data: &Path, is_node: bool) -> Self {
        Self {
            data: data.display().to_string(),
            kind: match is_node {
                true => DataOwner::Node,
                false => DataOwner::Instance,
            },
            sound: false,
            parts: Vec::new(),
            log_is_whole: None,
            damaged_ledger: None,
            next: Vec::new(),
            left_behind: None,
        }
    }

    /// Checks the records.
    async fn store(
        &mut self,
        data: &Path,
        vault: Vault,
        tell: Tell<'_>,
    ) -> Result<Option<CheckedStore>, NetworkError> {
        let opened = StoreFile::open(&data.join(STORE_FILE), vault);
        let Some(store) = self.opened(data, STORE_FILE, opened)? else {
            return Ok(None);
        };
        self.add(STORE_FILE, store.look(tell));
        Ok(Some(CheckedStore {
            notes: StoreNotes::of(&store).await,
            _file: Some(store),
        }))
    }

    /// A file that could be opened. If it is too damaged to open, records that and returns `None`.
    fn opened<T>(
        &mut self,
        data: &Path,
        file: &'static str,
        opened: Result<T, StoreError>,
    ) -> Result<Option<T>, NetworkError> {
        match opened {
            Ok(opened) => Ok(Some(opened)),
            Err(StoreError::Tampered(_)) => {
                let mut looked = Looked::at("pages");
                looked.wrong("the file is so damaged that SQLite can't read it");
                self.add(file, vec![looked]);
                Ok(None)
            }
            Err(error) => Err(unusable(data, &error).into()),
        }
    }

    /// Adds the results for a file. A damage is a sentence, or a stored reason.
    fn add(&mut self, file: &'static str, looked: Vec<Looked>) {
        let told = |damage: String| english(&Reason::read(&damage));
        self.parts
            .extend(looked.into_iter().map(|looked| CheckedPart {
                file,
                what: looked.what,
                seen: looked.seen,
                damage: looked.damage.into_iter().map(told).collect(),
                untold: looked.untold,
                note: looked.note,
            }));
    }

    /// Decides the overall result and what to do.
    fn conclude(&mut self) {
        let wrong = |file: &str| {
            let parts = self.parts.iter();
            let wrong = parts.filter(|part| part.file == file && !part.damage.is_empty());
            wrong.map(|part| part.what).collect::<Vec<_>>()
        };
        let (store, database) = (wrong(STORE_FILE), wrong(DATABASE));
        let (ledger, both) = (wrong(LEDGER_FILE), wrong(BOTH));
        let is_rebuilt = self.damaged_ledger.is_some();
        let records_are_sound = store.is_empty() && database.is_empty();
        self.sound = records_are_sound && both.is_empty() && (ledger.is_empty() || is_rebuilt);
        let mut next = Vec::new();
        match store.as_slice() {
            [] => {}
            ["tags"] => {
                next.push("the next start rebuilds the index of tags from the records".to_owned());
            }
            _ => next.push(format!("the records are damaged: {}", self.way_out())),
        }
        match database.as_slice() {
            [] => {}
            ["tags"] => next.push(INDEX.to_owned()),
            _ => next.push(format!("the records are damaged: {ANEW_THERE}")),
        }
        match (ledger.is_empty(), is_rebuilt, self.log_is_whole) {
            (true, ..) | (_, true, _) => {}
            (false, false, Some(true)) => next.push(format!(
                "the ledger's log is complete, so the ledger can be rebuilt from it: selfsame check --data {} --rebuild-ledger",
                self.data
            )),
            (false, false, _) => next.push(format!(
                "the ledger's log is damaged, so the ledger can't be rebuilt from it: {}",
                self.way_out()
            )),
        }
        if !both.is_empty() {
            next.push(format!(
                "put back the newest version of both files, or {}",
                self.way_out()
            ));
        }
        self.next = next;
    }

    fn way_out(&self) -> &'static str {
        match self.kind {
            DataOwner::Instance => COPY,
            DataOwner::Node => JOIN,
        }
    }
}

/// The folder where a ledger is rebuilt; removed on drop.
struct Anew(PathBuf);

impl Anew {
    fn begin(data: &Path) -> Result<Self, NetworkError> {
        let folder = data.join(ANEW);
        if folder.exists() {
            // Left behind by a process that was stopped during a rebuild.
            std::fs::remove_dir_all(&folder)?;
        }
        directory::take(&folder)?;
        Ok(Self(folder))
    }

    fn ledger(&self) -> PathBuf {
        self.0.join(LEDGER_FILE)
    }

    /// Removes it; returns why that failed.
    fn end(self) -> Option<String> {
        let removed = std::fs::remove_dir_all(&self.0);
        let why = removed.err();
        why.map(|error| format!("{}: {error}", self.0.display()))
    }
}

impl Drop for Anew {
    fn drop(&mut self) {
        // After `end` there is nothing to remove.
        let _best_effort = std::fs::remove_dir_all(&self.0);
    }
}
