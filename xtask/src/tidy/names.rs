//! Names of types: one name stands for one thing, so that a reader who searches for it finds that thing.

use std::collections::{BTreeMap, BTreeSet};

use crate::{source::Source, workspace::Workspace};

use super::{Finding, layers};

/// A name that is defined in this number of files or more stands for too many things.
const HOMES: usize = 3;
/// How many names still do. The number only falls.
const LEFT: usize = 5;
/// Names that are listed in a finding.
const LISTED: usize = 8;

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let product = workspace.sources.iter();
    let product = product.filter(|source| !source.test_only && !layers::is_aside(&source.package));
    judge(&repeated(product), LEFT).into_iter().collect()
}

/// The names with as many homes as are too many, and the number of files of each.
fn repeated<'s>(sources: impl Iterator<Item = &'s Source>) -> BTreeMap<&'s str, usize> {
    let mut homes = BTreeMap::<&str, BTreeSet<&str>>::new();
    for source in sources {
        for (name, _) in &source.types {
            homes.entry(name).or_default().insert(&source.path);
        }
    }
    let counted = homes.into_iter().map(|(name, files)| (name, files.len()));
    counted.filter(|(_, files)| *files >= HOMES).collect()
}

fn judge(repeated: &BTreeMap<&str, usize>, left: usize) -> Option<Finding> {
    let count = repeated.len();
    if count == left {
        return None;
    }
    let mut most: Vec<(&&str, &usize)> = repeated.iter().collect();
    most.sort_by_key(|(_, files)| std::cmp::Reverse(**files));
    let most = most.iter().take(LISTED);
    let most: Vec<String> = most
        .map(|(name, files)| format!("{name} {files}"))
        .collect();
    let message = match count < left {
        true => format!(
            "{count} type names are defined in {HOMES} files or more: write that number into names.rs"
        ),
        false => format!(
            "{count} type names are defined in {HOMES} files or more, {left} were: give a new type a name of its own ({})",
            most.join(", ")
        ),
    };
    Some(Finding::new("crates", message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source::parse("x", "crates/x", path, text).unwrap()
    }

    #[test]
    fn a_name_with_three_homes_is_counted_and_one_of_tests_is_not() {
        let text = "pub struct Answer; enum Only {}";
        let paths = [
            "crates/x/src/a.rs",
            "crates/x/src/b.rs",
            "crates/x/src/c.rs",
        ];
        let sources = paths.map(|path| source(path, text));
        let found = repeated(sources.iter());
        assert_eq!(found.len(), 2);
        assert_eq!(repeated(sources.iter().take(2)).len(), 0);
        let tests = paths.map(|path| source(path, "#[cfg(test)] mod tests { struct Answer; }"));
        assert_eq!(repeated(tests.iter()).len(), 0);
    }

    #[test]
    fn the_number_of_repeated_names_only_falls() {
        let found = BTreeMap::from([("Answer", 3), ("Page", 4)]);
        assert_eq!(judge(&found, 2), None);
        assert!(
            judge(&found, 1)
                .unwrap()
                .message
                .contains("Page 4, Answer 3")
        );
        assert!(judge(&found, 3).unwrap().message.contains("names.rs"));
    }
}
