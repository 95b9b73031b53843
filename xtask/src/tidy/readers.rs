//! Readers: a change of a file runs the tests of every crate that names it by its path.

use crate::{
    changed::{
        plan::{Part, Scope, plan},
        reach::{DOC, Reach, UNIT, is_below, is_suite, reach},
        readers::{ROWS, Readers, Row},
    },
    source::Source,
    workspace::Workspace,
};

use super::Finding;

/// Where the code of a file ends and its tests begin.
const TESTS: &[&str] = &["#[cfg(test)]", "#[cfg(doctest)]"];

/// Where a path is written.
struct Place<'a> {
    source: &'a Source,
    line: usize,
    is_code: bool,
}

const TABLE: &str = "xtask/src/changed/readers.rs";

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings: Vec<Finding> = (ROWS.iter())
        .filter_map(|row| outdated(row, workspace))
        .collect();
    // The paths in xtask are those of its checks.
    let crates = (workspace.sources.iter()).filter(|source| source.package != "xtask");
    for source in crates {
        let mut is_code = true;
        for (number, line) in (1..).zip(source.text.lines()) {
            is_code &= !TESTS.iter().any(|mark| line.contains(mark));
            let place = Place {
                source,
                line: number,
                is_code,
            };
            for literal in literals(line) {
                let mut files = files(literal, source, workspace).into_iter();
                findings.extend(files.find_map(|file| unknown(file, &place, workspace)));
            }
        }
    }
    findings
}

/// The finding that a row names a file or a reader that is gone.
fn outdated(row: &Row, workspace: &Workspace) -> Option<Finding> {
    let mut texts = workspace.texts.iter();
    if !texts.any(|text| is_below(&text.path, row.path)) {
        let message = format!("`{}` is gone; remove its row", row.path);
        return Some(Finding::new(TABLE, message));
    }
    let Readers::These(readers) = row.readers else {
        return None;
    };
    let mut readers = readers.iter();
    let gone = readers.find(|reader| !is_reader(reader, workspace))?;
    let message = format!("`{}` has the reader `{gone}`, which is gone", row.path);
    Some(Finding::new(TABLE, message))
}

fn is_reader(reader: &str, workspace: &Workspace) -> bool {
    let (name, suite) = reader.split_once('/').unwrap_or((reader, UNIT));
    let mut packages = workspace.packages.iter();
    packages.any(|package| {
        package.name == name
            && ([UNIT, DOC].contains(&suite) || is_suite(&package.folder, suite, workspace))
    })
}

/// The texts between quotes in a line.
fn literals(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').skip(1).step_by(2)
}

/// The files that a literal stands for: one, or those of a folder.
fn files<'w>(literal: &str, source: &Source, workspace: &'w Workspace) -> Vec<&'w str> {
    // A path may begin with the crate's folder, and end with a name that is put in.
    let literal = literal.strip_prefix("{}").unwrap_or(literal);
    let written = literal.split_once('{').map_or(literal, |(head, _)| head);
    if !written.contains('/') || written.trim_matches(['/', '.']).is_empty() {
        return Vec::new();
    }
    let package = (workspace.packages.iter()).find(|package| package.name == source.package);
    let folder = package.map_or("", |package| &package.folder);
    let beside = source
        .path
        .rsplit_once('/')
        .map_or("", |(beside, _)| beside);
    let inside = written.trim_start_matches('/');
    let from_root = inside.starts_with("vectors/").then(|| inside.to_owned());
    let from_file = (inside == written).then(|| resolve(beside, written));
    let paths = [from_file.flatten(), resolve(folder, inside), from_root];
    let mut found = Vec::new();
    for path in paths.into_iter().flatten() {
        let below = format!("{path}/");
        let texts = workspace.texts.iter().map(|text| text.path.as_str());
        // Who names a folder does not mean the document that explains it.
        let in_folder = |text: &str| text.starts_with(&below) && !text.ends_with(".md");
        found.extend(texts.filter(|text| *text == path || in_folder(text)));
    }
    found
}

/// A path from the root; `None` if it leads out of the checkout.
fn resolve(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop()?,
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The finding that a change of this file would not run the tests of who names it.
fn unknown(file: &str, place: &Place<'_>, workspace: &Workspace) -> Option<Finding> {
    let Scope::Part(part) = plan(&[file.to_owned()], workspace) else {
        return None;
    };
    let missing = missing(&part, place, workspace)?;
    let message = format!(
        "names {file}, but `cargo xtask test --changed` does not run {missing} for it; say so in {TABLE}"
    );
    Some(Finding::at(&place.source.path, place.line, message))
}

/// What does not run, though it reads a file whose change runs this part.
fn missing(part: &Part, place: &Place<'_>, workspace: &Workspace) -> Option<String> {
    let package = &place.source.package;
    let Reach::These(own) = reach(&place.source.path, workspace) else {
        return None;
    };
    let built = part.documented.contains(package);
    if own.code.contains(package) {
        let tests = [UNIT, DOC].map(|suite| format!("{package}/{suite}"));
        let tested = !place.is_code && tests.iter().any(|suite| part.suites.has(suite));
        return (!built && !tested).then(|| package.clone());
    }
    let missing = own.suites.iter().find(|suite| !part.suites.has(suite));
    missing.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use crate::workspace::{Package, Text};

    use super::*;

    /// A crate that reads vectors, with one file each of code, of tests, and of an integration test.
    fn workspace(code: &str, tests: &str, integration: &str) -> Workspace {
        let folder = "crates/selfsame-did";
        let file = |inside: &str, text: &str| {
            Source::parse("selfsame-did", folder, &format!("{folder}/{inside}"), text).unwrap()
        };
        let mut sources = vec![
            file("src/lib.rs", &format!("{code}\n#[cfg(test)]\nmod tests;")),
            file("src/tests.rs", tests),
            file("tests/all.rs", integration),
        ];
        crate::source::mark_tests(&mut sources);
        let path = "vectors/did/did-key.json".to_owned();
        let text = String::new();
        Workspace {
            root: PathBuf::new(),
            packages: vec![Package {
                name: "selfsame-did".to_owned(),
                manifest_path: PathBuf::from("Cargo.toml"),
                dependencies: Vec::new(),
                folder: folder.to_owned(),
            }],
            shared: Vec::new(),
            texts: vec![Text { path, text }],
            sources,
        }
    }

    fn findings(workspace: &Workspace) -> Vec<Finding> {
        let mut findings = check(workspace);
        findings.retain(|finding| finding.path != TABLE);
        findings
    }

    #[test]
    fn a_reader_that_the_table_names_is_known() {
        let tests = r#"const A: &str = include_str!("../../../vectors/did/did-key.json");"#;
        assert_eq!(findings(&workspace("", tests, "")), []);
    }

    #[test]
    fn a_reader_that_the_table_does_not_name_is_found() {
        let integration = r#"const A: &str = include_str!("../../../vectors/did/did-key.json");"#;
        let found = findings(&workspace("", "", integration));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].message.contains("does not run selfsame-did/all"));
    }

    #[test]
    fn code_that_reads_a_file_of_tests_is_found() {
        let code = r#"const A: &str = include_str!("../../../vectors/did/did-key.json");"#;
        let found = findings(&workspace(code, "", ""));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0]
                .message
                .contains("does not run selfsame-did for it")
        );
    }

    #[test]
    fn a_path_is_found_however_it_is_put_together() {
        for literal in [
            r#""../../vectors/did""#,
            r#""/../../vectors/did/""#,
            r#""{}/../../vectors/did/{name}.json""#,
            r#""vectors/did/did-key.json""#,
        ] {
            let integration = format!("const A: &str = {literal};");
            let found = findings(&workspace("", "", &integration));
            assert_eq!(found.len(), 1, "{literal}: {found:?}");
        }
    }

    #[test]
    fn a_row_of_what_is_gone_is_found() {
        let found = check(&workspace("", "", ""));
        let gone = |path: &str| {
            let message = format!("`{path}` is gone; remove its row");
            found.iter().any(|finding| finding.message == message)
        };
        assert!(gone("docs/tls-library.md") && !gone("vectors/did/"));
        let reader = "`vectors/did/` has the reader `selfsame-crypto/keys`, which is gone";
        assert!(found.iter().any(|finding| finding.message == reader));
    }
}
