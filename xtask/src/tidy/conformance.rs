//! Conformance: every test that docs/conformance.md and SECURITY.md name exists, and every row of their tables names
//! one.

use std::collections::{BTreeMap, BTreeSet};

use crate::{source::Source, workspace::Workspace};

use super::Finding;

/// In these documents, each row of a table that has a column of tests must name a test.
const DOCUMENTS: [&str; 2] = ["docs/conformance.md", SECURITY];
/// In this document, the text names tests too.
const SECURITY: &str = "SECURITY.md";
/// A name with at least this many words is taken for a test's name, wherever it occurs.
const SENTENCE: usize = 4;

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let tests = tests_by_package(&workspace.sources);
    let mut findings = Vec::new();
    for path in DOCUMENTS {
        let document = workspace.text(path).unwrap_or_default();
        findings.extend(
            check_document(document, &tests)
                .into_iter()
                .map(|(line, message)| Finding::at(path, line, message)),
        );
    }
    let document = workspace.text(SECURITY).unwrap_or_default();
    findings.extend(
        check_text(document, &tests)
            .into_iter()
            .map(|(line, message)| Finding::at(SECURITY, line, message)),
    );
    findings
}

/// Checks every text in backticks, anywhere in the document, that reads like the name of a test.
fn check_text(document: &str, tests: &Tests<'_>) -> Vec<(usize, String)> {
    let mut complaints = Vec::new();
    for (index, line) in document.lines().enumerate() {
        let quoted = line.split('`').skip(1).step_by(2);
        let named = quoted.filter(|text| is_sentence(text));
        let unknown = named.filter(|name| !exists(name, tests));
        complaints.extend(unknown.map(|name| (index + 1, no_test(name))));
    }
    complaints
}

/// Whether a text reads like the name of a test: names of tests are sentences.
fn is_sentence(text: &str) -> bool {
    let is_name = text
        .chars()
        .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
    is_name && text.split('_').count() >= SENTENCE
}

fn no_test(path: &str) -> String {
    format!("no test is called `{path}`; write it or correct the name")
}

/// The names of tests, by package.
type Tests<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// The names of all tests, by package. Tests inside macros (`proptest!`) count.
fn tests_by_package(sources: &[Source]) -> Tests<'_> {
    let mut tests = Tests::new();
    for source in sources {
        tests
            .entry(&source.package)
            .or_default()
            .extend(tests_in(&source.text));
    }
    tests
}

fn tests_in(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut marked = false;
    for line in text.lines().map(str::trim_start) {
        if let Some(attribute) = line.strip_prefix("#[") {
            let path = attribute.split([']', '(']).next().unwrap_or_default();
            marked |= path == "test" || path.ends_with("::test");
            continue;
        }
        let name = line.split_once("fn ").map(|(_, rest)| rest);
        let name = name.and_then(|rest| {
            rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
                .next()
        });
        if let Some(name) = name.filter(|_| marked) {
            names.push(name);
        }
        marked &= line.starts_with("//") || line.is_empty();
    }
    names
}

/// Checks each table that has columns with `test` in their heading.
fn check_document(document: &str, tests: &Tests<'_>) -> Vec<(usize, String)> {
    let mut columns: Vec<usize> = Vec::new();
    let mut findings = Vec::new();
    let lines: Vec<&str> = document.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        let Some(cells) = cells(line) else {
            columns.clear();
            continue;
        };
        let is_heading = lines.get(index + 1).is_some_and(|next| is_rule(next));
        if is_heading {
            let is_test = |cell: &str| cell.to_lowercase().contains("test");
            columns = (0..)
                .zip(&cells)
                .filter(|(_, cell)| is_test(cell))
                .map(|(at, _)| at)
                .collect();
        } else if !is_rule(line) {
            let complaints = columns
                .iter()
                .flat_map(|at| check_cell(cells.get(*at).copied().unwrap_or_default(), tests));
            findings.extend(complaints.map(|message| (index + 1, message)));
        }
    }
    findings
}

fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(str::trim).collect())
}

fn is_rule(line: &str) -> bool {
    line.starts_with('|')
        && line.contains("--")
        && line.chars().all(|letter| "|-: ".contains(letter))
}

/// Checks a cell. It names its tests in backticks: `crate::…::test`, or `test` if the crate does not matter.
fn check_cell(cell: &str, tests: &Tests<'_>) -> Vec<String> {
    let named: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
    if named.is_empty() {
        return vec!["name the test of this rule in backticks, or say in the text why the rule does not apply".to_owned()];
    }
    let unknown = named.iter().filter(|path| !exists(path, tests));
    unknown.map(|path| no_test(path)).collect()
}

fn exists(path: &str, tests: &Tests<'_>) -> bool {
    let name = path.rsplit("::").next().unwrap_or(path);
    let first = path.split("::").next().unwrap_or(path).replace('_', "-");
    match tests.get(first.as_str()) {
        Some(own) if path.contains("::") => own.contains(name),
        _ => tests.values().any(|all| all.contains(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
#[test]
fn a_rule_holds() {}
fn helper() {}
#[tokio::test(flavor = \"multi_thread\")]
async fn a_wait_ends() {}
proptest! {
    #[test]
    fn never_panics(bytes: Vec<u8>) {}
}
";

    fn tests() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
        BTreeMap::from([("selfsame-did", tests_in(TEXT).into_iter().collect())])
    }

    #[test]
    fn tests_are_found_by_their_attribute() {
        assert_eq!(
            tests_in(TEXT),
            ["a_rule_holds", "a_wait_ends", "never_panics"]
        );
    }

    #[test]
    fn a_row_that_names_no_test_or_an_unknown_one_is_found() {
        let document = "\
| § | rule | positive test | negative test |
|---|---|---|---|
| 1 | a `claim` | `a_rule_holds` | `selfsame_did::key::never_panics` |
| 2 | b | `gone` | |
";
        let findings = check_document(document, &tests());
        assert_eq!(findings.len(), 2);
        assert!(findings.iter().all(|(line, _)| *line == 4));
    }

    #[test]
    fn a_test_that_running_text_names_and_that_is_gone_is_found() {
        let document = "\
A promise (`a_rule_holds`), a command (`cargo test`), a setting (`max_status_age`).
Another (`a_rule_that_is_gone`).
";
        let findings = check_text(document, &tests());
        assert_eq!(findings, [(2, no_test("a_rule_that_is_gone"))]);
    }

    #[test]
    fn a_test_of_another_crate_does_not_count() {
        let mut tests = tests();
        tests.insert("selfsame-net", BTreeSet::new());
        assert!(!exists("selfsame-net::a_rule_holds", &tests));
        assert!(exists("selfsame-did::a_rule_holds", &tests));
        assert!(!exists("helper", &tests));
    }
}
