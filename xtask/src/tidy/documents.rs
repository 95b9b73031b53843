//! Documents: the required ones exist, and they stay short enough to be read.

use crate::workspace::Workspace;

use super::Finding;

/// The required documents, with the maximum number of lines for each.
const DOCUMENTS: &[(&str, Option<usize>)] = &[
    ("ARCHITECTURE.md", Some(150)),
    ("CHANGELOG.md", None),
    ("CONTRIBUTING.md", None),
    ("LICENSE", None),
    ("README.md", Some(150)),
    ("SECURITY.md", None),
    ("docs/conformance.md", None),
    ("docs/dependencies.md", None),
];
const CRATE_README: usize = 20;
const DECISION: usize = 60;

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings: Vec<Finding> = DOCUMENTS
        .iter()
        .filter_map(|(path, cap)| check_document(path, workspace.text(path), *cap))
        .collect();
    for package in workspace
        .packages
        .iter()
        .filter(|package| package.folder.starts_with("crates/"))
    {
        let path = format!("{}/README.md", package.folder);
        findings.extend(check_document(
            &path,
            workspace.text(&path),
            Some(CRATE_README),
        ));
    }
    for text in workspace
        .texts
        .iter()
        .filter(|text| text.path.starts_with("docs/adr/"))
    {
        findings.extend(check_document(&text.path, Some(&text.text), Some(DECISION)));
    }
    findings
}

fn check_document(path: &str, text: Option<&str>, cap: Option<usize>) -> Option<Finding> {
    let Some(text) = text else {
        return Some(Finding::new(path, "is missing; write it"));
    };
    let lines = text.lines().count();
    let cap = cap.filter(|cap| lines > *cap)?;
    Some(Finding::new(
        path,
        format!("{lines} lines, cap {cap}; say less, or move detail to docs/"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_there_and_short() {
        assert!(check_document("a.md", None, None).is_some());
        assert!(check_document("a.md", Some("a\nb\n"), Some(2)).is_none());
        assert!(check_document("a.md", Some("a\nb\nc\n"), Some(2)).is_some());
    }
}
