//! `cargo xtask tidy`: the rules of ARCHITECTURE.md that a program can check.

use std::fmt;

use crate::workspace::Workspace;

mod circles;
mod conformance;
mod dependencies;
mod documents;
mod formats;
mod layers;
mod methods;
mod metrics;
mod modules;
mod names;
mod purity;
mod readers;
mod reasons;
mod size;
mod traces;
mod tuples;

/// A violation: its place, what is wrong, and how to fix it.
#[derive(Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Finding {
    pub path: String,
    pub line: Option<usize>,
    pub message: String,
}

impl Finding {
    /// A finding about a whole file or folder.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            line: None,
            message: message.into(),
        }
    }

    /// A finding at a line.
    pub fn at(path: impl Into<String>, line: usize, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            line: Some(line),
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.message),
            None => write!(f, "{}: {}", self.path, self.message),
        }
    }
}

/// A check. Each has a name; findings are printed in the order of this list.
type Check = fn(&Workspace) -> Vec<Finding>;
const CHECKS: [(&str, Check); 16] = [
    ("layers", layers::check),
    ("dependencies", dependencies::check),
    ("purity", purity::check),
    ("size", size::check),
    ("modules", modules::check),
    ("circles", circles::check),
    ("tuples", tuples::check),
    ("methods", methods::check),
    ("formats", formats::check),
    ("names", names::check),
    ("reasons", reasons::check),
    ("documents", documents::check),
    ("metrics", metrics::check),
    ("conformance", conformance::check),
    ("readers", readers::check),
    ("traces", traces::check),
];

/// Runs every check, prints the findings below `folder`, and returns whether there were none.
pub fn run(folder: &str) -> Result<bool, String> {
    let workspace = Workspace::load()?;
    let mut count = 0_usize;
    for (name, check) in CHECKS {
        let mut findings = check(&workspace);
        findings.retain(|finding| finding.path.starts_with(folder));
        findings.sort();
        findings.dedup();
        count += findings.len();
        for finding in findings {
            println!("{name}: {finding}");
        }
    }
    match count {
        0 => println!(
            "tidy: {} files, {} checks, nothing to mend",
            workspace.texts.len(),
            CHECKS.len()
        ),
        1 => println!("tidy: 1 thing to mend"),
        _ => println!("tidy: {count} things to mend"),
    }
    Ok(count == 0)
}
