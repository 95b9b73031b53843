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
/// The words of ARCHITECTURE.md that have exactly one definition.
const WORDS: [&str; 6] = [
    "Checklist",
    "Evidence",
    "Machine",
    "Need",
    "Rule",
    "Verdict",
];

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let product = workspace.sources.iter();
    let product = product.filter(|source| !source.test_only && !layers::is_aside(&source.package));
    let product: Vec<&Source> = product.collect();
    let repeated = judge(&repeated(product.iter().copied()), LEFT);
    repeated.into_iter().chain(words(&product)).collect()
}

/// The words that are defined twice, where they are, and those that are not defined.
fn words(product: &[&Source]) -> Vec<Finding> {
    let of = |word: &str| {
        let defined = product.iter().flat_map(|source| {
            let named = source.types.iter().filter(|(name, _)| name == word);
            named.map(|(_, line)| (source.path.as_str(), *line))
        });
        defined.collect::<Vec<_>>()
    };
    let findings = WORDS.iter().flat_map(|word| match of(word)[..] {
        [_] => Vec::new(),
        [] => {
            let message = format!("`{word}` is a word of ARCHITECTURE.md, and no type has that name");
            vec![Finding::new("crates", message)]
        }
        ref all => {
            let message = || {
                let count = all.len();
                format!("`{word}` has {count} definitions; it stands for one thing: give the others names of their own")
            };
            let each = all.iter();
            each.map(|(path, line)| Finding::at(*path, *line, message()))
                .collect()
        }
    });
    findings.collect()
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
    fn a_word_has_one_definition_and_tests_do_not_count() {
        let text =
            "pub struct Checklist; struct Evidence; trait Machine {} enum Need {} struct Rule;";
        let words_of = |more: &str| {
            let given = [
                source("crates/x/src/a.rs", text),
                source("crates/x/src/b.rs", more),
            ];
            let found = words(&given.iter().collect::<Vec<_>>());
            found.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            words_of("struct Verdict; #[cfg(test)] mod tests { struct Need; }"),
            [""; 0]
        );
        let missing = words_of("");
        assert_eq!(missing.len(), 1);
        assert!(missing[0].contains("`Verdict`"), "{missing:?}");
        let twice = words_of("struct Verdict;\ntype Need = u8;");
        assert_eq!(twice.len(), 2);
        assert!(twice[1].starts_with("crates/x/src/b.rs:2"), "{twice:?}");
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
