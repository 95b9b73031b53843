//! Dependencies: each is used, is declared once for the workspace, and has a line in docs/dependencies.md.

use std::collections::BTreeSet;

use crate::{
    source::Source,
    workspace::{Package, Workspace},
};

use super::Finding;

const DOCUMENT: &str = "docs/dependencies.md";

/// Crates whose name in code differs from their name in the manifest.
const CALLED: &[(&str, &str)] = &[("rustls-webpki", "webpki")];

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let document = workspace.text(DOCUMENT).unwrap_or_default();
    let mut findings = described(&workspace.shared, document);
    findings.extend(
        workspace
            .packages
            .iter()
            .flat_map(|package| unused(package, &workspace.sources)),
    );
    let used = workspace
        .packages
        .iter()
        .flat_map(|package| &package.dependencies);
    let used: BTreeSet<&str> = used.map(|dependency| dependency.name.as_str()).collect();
    let idle = workspace
        .shared
        .iter()
        .filter(|name| !used.contains(name.as_str()));
    findings.extend(
        idle.map(|name| Finding::new("Cargo.toml", format!("no member uses `{name}`; remove it"))),
    );
    for package in &workspace.packages {
        let path = format!("{}/Cargo.toml", package.folder);
        findings.extend(
            workspace
                .text(&path)
                .into_iter()
                .flat_map(|text| own_versions(&path, text)),
        );
    }
    findings
}

/// Checks that each shared dependency has a line that begins with its name, and that each such line has a dependency.
fn described(shared: &[String], document: &str) -> Vec<Finding> {
    let rows: Vec<(usize, &str)> = (1..)
        .zip(document.lines())
        .filter_map(|(line, text)| Some((line, text.strip_prefix("| `")?.split_once('`')?.0)))
        .collect();
    let missing = shared
        .iter()
        .filter(|name| rows.iter().all(|(_, row)| row != name));
    let missing = missing.map(|name| {
        Finding::new(
            DOCUMENT,
            format!("add a line for `{name}`: why this one, and what it costs"),
        )
    });
    let stale = rows
        .iter()
        .filter(|(_, row)| shared.iter().all(|name| name != row));
    let stale = stale.map(|(line, row)| {
        Finding::at(
            DOCUMENT,
            *line,
            format!("`{row}` is no dependency; remove its line"),
        )
    });
    missing.chain(stale).collect()
}

/// Dependencies of a package that none of its files names.
fn unused(package: &Package, sources: &[Source]) -> Vec<Finding> {
    let own: Vec<&Source> = sources
        .iter()
        .filter(|source| source.package == package.name)
        .collect();
    let is_idle = |name: &str| {
        let called = CALLED
            .iter()
            .find(|(manifest, _)| *manifest == name)
            .map(|(_, code)| (*code).to_owned());
        let called = called.unwrap_or_else(|| name.replace('-', "_"));
        own.iter().all(|source| !names(&source.text, &called))
    };
    let idle = package
        .dependencies
        .iter()
        .filter(|dependency| is_idle(&dependency.name));
    let manifest = format!("{}/Cargo.toml", package.folder);
    idle.map(|dependency| {
        Finding::new(
            manifest.clone(),
            format!("`{}` is not used; remove it", dependency.name),
        )
    })
    .collect()
}

/// Whether the text contains `word` as a whole word.
fn names(text: &str, word: &str) -> bool {
    let inside = |letter: Option<char>| {
        letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
    };
    text.match_indices(word).any(|(at, _)| {
        let (before, from) = text.split_at(at);
        let after = from.get(word.len()..).and_then(|rest| rest.chars().next());
        !inside(before.chars().next_back()) && !inside(after)
    })
}

/// Dependencies for which a member states its own version.
fn own_versions(path: &str, manifest: &str) -> Vec<Finding> {
    let parsed: toml::Table = manifest.parse().unwrap_or_default();
    let sections = ["dependencies", "dev-dependencies", "build-dependencies"];
    let entries = sections
        .iter()
        .filter_map(|section| parsed.get(*section)?.as_table())
        .flatten();
    let own = entries.filter(|(_, value)| value.get("workspace").is_none());
    own.map(|(name, _)| {
        Finding::new(
            path,
            format!("write `{name}.workspace = true` and its version in the root Cargo.toml"),
        )
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_without_a_line_is_found_and_so_is_a_line_without_a_dependency() {
        let shared = ["url".to_owned(), "serde".to_owned()];
        let findings = described(
            &shared,
            "| `serde` | why | cost |\n| `gone` | why | cost |\n",
        );
        assert_eq!(findings.len(), 2);
        assert!(findings[0].message.contains("`url`"));
        assert_eq!(findings[1].line, Some(2));
    }

    #[test]
    fn a_name_counts_only_as_a_word() {
        assert!(names("use url::Url;", "url"));
        assert!(!names("let base_url = curl();", "url"));
    }

    #[test]
    fn a_version_of_ones_own_is_found() {
        let manifest = "[dependencies]\nurl.workspace = true\nserde = \"1\"\n[dev-dependencies]\nx = { version = \"1\" }\n";
        let findings = own_versions("Cargo.toml", manifest);
        assert_eq!(findings.len(), 2);
    }
}
