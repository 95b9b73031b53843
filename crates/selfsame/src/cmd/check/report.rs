//! The report of `selfsame check`: a line for each part, and what to do.

use std::path::Path;

use selfsame_app::backup::{LEDGER_FILE, STORE_FILE};
use selfsame_ledger::check::Found;
use selfsame_store::offline::Looked;
use serde::Serialize;

const COPY: &str = "restore a copy into a new directory: selfsame restore COPY --data NEW-DIRECTORY (docs/backup.md)";
const JOIN: &str = "create a new node, which gets the ledger from the other nodes, and remove this one: selfsame registry join (docs/network.md)";

/// The owner of the data.
#[derive(Clone, Copy, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An instance.
    Instance,
    /// A node of a network.
    Node,
}

/// All results.
#[derive(Serialize)]
pub struct Report {
    data: String,
    kind: Kind,
    /// Whether nothing is damaged, or everything was repaired.
    pub sound: bool,
    parts: Vec<Part>,
    /// Whether the log is complete, if a ledger was checked.
    log_is_whole: Option<bool>,
    /// The file that keeps a damaged ledger after it was replaced.
    damaged_ledger: Option<String>,
    /// What to do.
    next: Vec<String>,
}

/// The result for one part of a file.
#[derive(Serialize)]
struct Part {
    file: &'static str,
    what: &'static str,
    seen: u64,
    damage: Vec<String>,
    untold: u64,
    note: Option<&'static str>,
}

impl Report {
    /// A report without results.
    pub fn new(data: &Path, kind: Kind) -> Self {
        Self {
            data: data.display().to_string(),
            kind,
            sound: false,
            parts: Vec::new(),
            log_is_whole: None,
            damaged_ledger: None,
            next: Vec::new(),
        }
    }

    /// Adds the results for a file.
    pub fn add(&mut self, file: &'static str, looked: Vec<Looked>) {
        self.parts.extend(looked.into_iter().map(|looked| Part {
            file,
            what: looked.what,
            seen: looked.seen,
            damage: looked.damage,
            untold: looked.untold,
            note: looked.note,
        }));
    }

    /// Records whether the ledger could be rebuilt from its log.
    pub fn ledger(&mut self, found: &Found) {
        self.log_is_whole = Some(found.log_is_whole);
    }

    /// Records that the ledger was rebuilt.
    pub fn rebuilt(&mut self, kept: &Path) {
        self.damaged_ledger = Some(kept.display().to_string());
    }

    /// Decides the overall result and what to do.
    pub fn conclude(&mut self) {
        let wrong = |file: &str| {
            let parts = self.parts.iter();
            let wrong = parts.filter(|part| part.file == file && !part.damage.is_empty());
            wrong.map(|part| part.what).collect::<Vec<_>>()
        };
        let (store, ledger, both) = (wrong(STORE_FILE), wrong(LEDGER_FILE), wrong("both"));
        let is_rebuilt = self.damaged_ledger.is_some();
        self.sound = store.is_empty() && both.is_empty() && (ledger.is_empty() || is_rebuilt);
        let mut next = Vec::new();
        match store.as_slice() {
            [] => {}
            ["tags"] => {
                next.push("the next start rebuilds the index of tags from the records".to_owned());
            }
            _ => next.push(format!("the records are damaged: {}", self.way_out())),
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
            Kind::Instance => COPY,
            Kind::Node => JOIN,
        }
    }

    /// The report for people.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut file = "";
        for part in &self.parts {
            if part.file != file {
                file = part.file;
                lines.push(match file {
                    "both" => "both together".to_owned(),
                    file => Path::new(&self.data).join(file).display().to_string(),
                });
            }
            lines.extend(part.lines());
        }
        if let Some(kept) = &self.damaged_ledger {
            lines.push(format!(
                "The ledger was rebuilt from its log; the damaged file is kept as {kept}."
            ));
        }
        lines.push(match self.sound {
            true => "Nothing is damaged.".to_owned(),
            false => "Something is damaged:".to_owned(),
        });
        lines.extend(self.next.iter().map(|next| format!("  {next}")));
        lines
    }
}

impl Part {
    fn lines(&self) -> Vec<String> {
        let name = self.what;
        if self.damage.is_empty() {
            let (mark, said) = match self.note {
                Some(note) if self.seen == 0 => ("–", note.to_owned()),
                _ => ("✓", self.sound()),
            };
            return vec![format!("  {mark} {name:<11} {said}")];
        }
        let mut lines: Vec<String> = self
            .damage
            .iter()
            .map(|wrong| format!("  ✗ {name:<11} {wrong}"))
            .collect();
        if self.untold > 0 {
            lines.push(format!("  ✗ {name:<11} and {} more", self.untold));
        }
        lines
    }

    fn sound(&self) -> String {
        let seen = self.seen;
        match self.what {
            "pages" => "SQLite finds no damage".to_owned(),
            "sum" => format!("the sum over {seen} rows is that of the last commit"),
            "records" => format!("{seen} records open with the master key"),
            "outbox" => format!("{seen} entries open with the master key"),
            "tags" => format!("{seen} tags of records are in the index"),
            "indices" => "values and transactions can be found by key and by hash".to_owned(),
            "network" => "the ledger belongs to this registry".to_owned(),
            "log" => format!("{seen} transactions lead to each block's root"),
            "tree" => format!("{seen} nodes have the hashes that their parents name"),
            "objects" => format!("{seen} objects match the leaves of the tree"),
            "signatures" => format!("{seen} signed notes are valid"),
            "replay" => format!("{seen} blocks, replayed, lead to this state"),
            "age" => "store and ledger are from the same time".to_owned(),
            _ => format!("{seen} checked"),
        }
    }
}
