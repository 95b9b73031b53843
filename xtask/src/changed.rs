//! `cargo xtask test --changed`: which files a change consists of, and what it can have broken.

use std::process::Command;

use crate::workspace::{self, Workspace, root};

pub mod alone;
pub mod plan;
pub mod reach;
pub mod readers;

use plan::Scope;

/// Branches that a change is compared with; the first one that exists counts.
const TRUNKS: &[&str] = &["main", "origin/main"];
/// More files than this are counted, not listed.
const LISTED: usize = 20;

/// The commit that a change is compared with.
#[derive(Debug, PartialEq)]
struct Base {
    revision: String,
    /// Which commit that is, for people.
    meaning: String,
}

/// Finds the change and what it can have broken, and prints both.
pub fn scope(since: Option<&str>) -> Result<Scope, String> {
    let base = base(since)?;
    let files = files(&base.revision)?;
    let workspace = Workspace::load()?;
    let scope = plan::plan(&files, &workspace);
    let short: String = base.revision.chars().take(12).collect();
    let count = match files.len() {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    println!("changed: {count} since {short}, {}", base.meaning);
    for file in files.iter().take(LISTED) {
        println!("    {file}: {}", reach::reach(file, &workspace));
    }
    if files.len() > LISTED {
        println!("    and {} more", files.len() - LISTED);
    }
    print!("{scope}");
    Ok(scope)
}

fn base(since: Option<&str>) -> Result<Base, String> {
    let head = revision("HEAD").ok_or("there is no commit yet\nhint: cargo xtask test")?;
    let trunk = match since {
        Some(since) => since,
        None => (TRUNKS.iter().copied())
            .find(|trunk| revision(trunk).is_some())
            .ok_or("there is no branch main\nhint: cargo xtask test --changed --since REVISION")?,
    };
    let fork = git(&["merge-base", trunk, "HEAD"])?.trim().to_owned();
    if since.is_some() || fork != head {
        return Ok(Base {
            meaning: format!("the merge base with {trunk}"),
            revision: fork,
        });
    }
    let is_clean = git(&["status", "--porcelain"])?.is_empty();
    Ok(at_the_trunk(trunk, head, revision("HEAD~1"), is_clean))
}

/// The base where the trunk has every commit of this branch.
fn at_the_trunk(trunk: &str, head: String, before: Option<String>, is_clean: bool) -> Base {
    match before.filter(|_| is_clean) {
        Some(before) => Base {
            revision: before,
            meaning: format!(
                "the commit before the last one: {trunk} has every commit, and every file is committed"
            ),
        },
        None => Base {
            revision: head,
            meaning: format!("the last commit: {trunk} has every commit"),
        },
    }
}

/// Files that differ from the revision, whether committed or not, and untracked files; paths start at the root.
fn files(revision: &str) -> Result<Vec<String>, String> {
    // A renamed file counts with both names.
    let differ = [
        "diff",
        "--name-only",
        "--no-renames",
        "--relative",
        "-z",
        revision,
    ];
    let untracked = ["ls-files", "--others", "--exclude-standard", "-z"];
    let listed = git(&differ)? + &git(&untracked)?;
    let files = listed.split('\0').filter(|path| !path.is_empty());
    let mut files: Vec<String> = files.map(str::to_owned).collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// The commit that a name stands for.
fn revision(name: &str) -> Option<String> {
    let output = Command::new("git")
        .args(["rev-parse", "--verify", "--quiet"])
        .arg(format!("{name}^{{commit}}"))
        .current_dir(root())
        .output()
        .ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    (output.status.success()).then(|| said.trim().to_owned())
}

fn git(arguments: &[&str]) -> Result<String, String> {
    workspace::output(&root(), "git", arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trunk_itself_is_compared_with_the_commit_before() {
        let base = at_the_trunk("main", "b".to_owned(), Some("a".to_owned()), true);
        assert_eq!(base.revision, "a");
    }

    #[test]
    fn what_is_not_yet_committed_on_the_trunk_is_compared_with_its_last_commit() {
        let base = at_the_trunk("main", "b".to_owned(), Some("a".to_owned()), false);
        assert_eq!(base.revision, "b");
    }

    #[test]
    fn the_first_commit_is_compared_with_itself() {
        let base = at_the_trunk("main", "a".to_owned(), None, true);
        assert_eq!(base.revision, "a");
    }

    #[test]
    fn an_unknown_revision_is_refused() {
        assert!(base(Some("there-is-no-such-branch")).is_err());
    }
}
