//! What reads one file: packages, and test executables of packages.

use std::{collections::BTreeSet, fmt};

use crate::workspace::{Package, Workspace};

use super::readers::{ROWS, Readers, Row};

/// The suite of the tests in a package's `src`.
pub const UNIT: &str = "unit";
/// The suite of the examples in a package's documentation.
pub const DOC: &str = "doc";
/// All suites of a package; alone, those of every package.
const ALL: &str = "*";

/// What reads a file.
#[derive(Debug, PartialEq)]
pub enum Reach {
    /// Everything has to run, for this reason.
    Everything(&'static str),
    These(Reached),
}

#[derive(Debug, Default, PartialEq)]
pub struct Reached {
    /// Packages whose own code it is, on which others build.
    pub code: BTreeSet<String>,
    pub suites: Suites,
    /// Packages whose tests, benches or examples it is.
    pub linted: BTreeSet<String>,
    pub reason: &'static str,
}

/// Test executables, each as `PACKAGE/SUITE`; `PACKAGE/*` is all of a package, and `*` those of every package.
/// `-PACKAGE/SUITE` leaves one of these out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Suites(BTreeSet<String>);

/// What reads the file at this path, which starts at the root. The file may be gone.
pub fn reach(path: &str, workspace: &Workspace) -> Reach {
    let row = (ROWS.iter())
        .filter(|row| is_below(path, row.path))
        .max_by_key(|row| row.path.len());
    if let Some(row) = row {
        return by_row(row, path, workspace);
    }
    match owner(path, &workspace.packages) {
        Some(package) => Reach::These(inside(path, package, workspace)),
        None => Reach::Everything("no rule says who reads it"),
    }
}

/// The package whose folder has this file.
pub fn owner<'p>(path: &str, packages: &'p [Package]) -> Option<&'p Package> {
    let mut packages = packages.iter();
    packages.find(|package| is_below(path, &format!("{}/", package.folder)))
}

pub fn is_below(path: &str, place: &str) -> bool {
    path == place || (place.ends_with('/') && path.starts_with(place))
}

fn by_row(row: &Row, path: &str, workspace: &Workspace) -> Reach {
    let Readers::These(readers) = row.readers else {
        return Reach::Everything(row.reason);
    };
    let mut reached = Reached {
        reason: row.reason,
        ..Reached::default()
    };
    for reader in readers {
        match reader.split_once('/') {
            Some((package, suite)) => reached.suites.add(package, suite),
            None => _ = reached.code.insert((*reader).to_owned()),
        }
    }
    if path.ends_with(".rs") {
        let owner = owner(path, &workspace.packages).map(|package| package.name.clone());
        reached.linted.extend(owner);
        reached.linted.extend(reached.suites.packages());
    }
    Reach::These(reached)
}

/// What reads a file of this package that no row names.
fn inside(path: &str, package: &Package, workspace: &Workspace) -> Reached {
    let rest = path.strip_prefix(&package.folder).unwrap_or(path);
    let mut parts = rest.trim_start_matches('/').split('/');
    let mut reached = Reached::default();
    if path.ends_with(".md") {
        reached.reason = "a document that no test reads";
        return reached;
    }
    match parts.next() {
        Some("tests") => {
            let suite = parts.next().unwrap_or_default().trim_end_matches(".rs");
            let suite = match is_suite(&package.folder, suite, workspace) {
                true => suite,
                false => ALL,
            };
            reached.suites.add(&package.name, suite);
            reached.linted.insert(package.name.clone());
        }
        Some("benches" | "examples") => {
            reached.linted.insert(package.name.clone());
            reached.reason = "no test runs it";
        }
        Some("src") if is_test_only(path, workspace) => {
            reached.suites.add(&package.name, UNIT);
            reached.linted.insert(package.name.clone());
        }
        _ => _ = reached.code.insert(package.name.clone()),
    }
    reached
}

/// Whether the package has an integration test of this name.
pub fn is_suite(folder: &str, name: &str, workspace: &Workspace) -> bool {
    let roots = [
        format!("{folder}/tests/{name}.rs"),
        format!("{folder}/tests/{name}/main.rs"),
    ];
    (workspace.sources.iter()).any(|source| roots.contains(&source.path))
}

fn is_test_only(path: &str, workspace: &Workspace) -> bool {
    let mut sources = workspace.sources.iter();
    sources.any(|source| source.path == path && source.test_only)
}

impl Suites {
    /// The suites of every package.
    pub fn every() -> Self {
        Self::parse(ALL)
    }

    /// Those of these suites that are among them.
    pub fn only(&self, suites: &[&str]) -> Self {
        let among = suites.iter().filter(|suite| self.has(suite));
        Self(among.map(|suite| (*suite).to_owned()).collect())
    }

    /// All but these suites.
    pub fn without(mut self, suites: &[&str]) -> Self {
        for suite in suites {
            self.0.remove(*suite);
            if self.has(suite) {
                self.0.insert(format!("-{suite}"));
            }
        }
        self
    }

    pub fn add(&mut self, package: &str, suite: &str) {
        self.0.insert(format!("{package}/{suite}"));
    }

    pub fn add_all(&mut self, package: &str) {
        self.add(package, ALL);
    }

    pub fn join(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this suite is among them; with a package's name alone, whether any of its suites is.
    pub fn has(&self, wanted: &str) -> bool {
        match wanted.split_once('/') {
            Some((package, _)) => {
                let among = [wanted, &format!("{package}/{ALL}"), ALL];
                among.iter().any(|suite| self.0.contains(*suite))
                    && !self.0.contains(&format!("-{wanted}"))
            }
            None => self.0.contains(ALL) || self.packages().contains(wanted),
        }
    }

    /// The names of the suites, unless all of a package or its documentation are among them.
    pub fn named(&self) -> Option<Vec<&str>> {
        let suites = self.0.iter().map(|suite| suite.split_once('/'));
        suites
            .map(|suite| Some(suite?.1).filter(|name| *name != ALL && *name != DOC))
            .collect()
    }

    pub fn packages(&self) -> BTreeSet<String> {
        let suites = self.0.iter().filter_map(|suite| suite.split_once('/'));
        suites.map(|(package, _)| package.to_owned()).collect()
    }

    /// Reads what `Display` writes.
    pub fn parse(text: &str) -> Self {
        let suites = text.split(' ').filter(|suite| !suite.is_empty());
        Self(suites.map(str::to_owned).collect())
    }
}

impl fmt::Display for Suites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suites: Vec<&str> = self.0.iter().map(String::as_str).collect();
        f.write_str(&suites.join(" "))
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reached = match self {
            Self::Everything(reason) => return write!(f, "everything ({reason})"),
            Self::These(reached) => reached,
        };
        let code = reached
            .code
            .iter()
            .map(|package| format!("{package} and what builds on it"));
        let suites = (!reached.suites.is_empty()).then(|| reached.suites.to_string());
        let readers: Vec<String> = code.chain(suites).collect();
        match readers.is_empty() {
            true => f.write_str("no test")?,
            false => f.write_str(&readers.join(", "))?,
        }
        match reached.reason {
            "" => Ok(()),
            reason => write!(f, " ({reason})"),
        }
    }
}
