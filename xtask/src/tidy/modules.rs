//! Modules: each says what it owns; there is no `mod.rs`, and no silenced lint or ignored test without a reason.

use crate::{source::Source, workspace::Workspace};

use super::{Finding, layers};

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    workspace.sources.iter().flat_map(check_source).collect()
}

fn check_source(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut complain = |message: &str| findings.push(Finding::new(&source.path, message));
    if source.path.ends_with("/mod.rs") {
        complain("call it after its folder: foo.rs beside foo/, not foo/mod.rs");
    }
    // `foo/tests.rs` owns the tests of `foo`, as its name says.
    let names_itself = source.test_only && source.path.ends_with("/tests.rs");
    if !names_itself && source.module_doc.first().is_none_or(String::is_empty) {
        complain("begin with one `//!` line that says what this module owns");
    }
    let is_root = source.path.ends_with("/src/lib.rs");
    let doc = source.module_doc.join(" ").to_lowercase();
    if is_root
        && !layers::is_aside(&source.package)
        && !(doc.contains("owns") && doc.contains("not own"))
    {
        complain("say in `//!` what this crate owns and what it does not own");
    }
    for (line, text) in (1..).zip(source.text.lines()) {
        findings.extend(complaint(text).map(|message| Finding::at(&source.path, line, message)));
    }
    findings
}

/// The problem with one line, if there is one.
fn complaint(line: &str) -> Option<&'static str> {
    let line = line.trim_start();
    let attribute = line.starts_with("#[") || line.starts_with("#![");
    let opens =
        |name: &str| line.contains(&format!("[{name}(")) || line.contains(&format!(", {name}("));
    if attribute
        && (opens("allow") || opens("expect"))
        && line.ends_with(")]")
        && !line.contains("reason")
    {
        return Some("a silenced lint needs `reason = \"…\"`; better, mend what it found");
    }
    if line == "#[ignore]" {
        return Some("say what an ignored test needs: `#[ignore = \"needs …\"]`");
    }
    let fence = line.trim_start_matches(['/', '!', ' ']);
    let is_doc = line.starts_with("///") || line.starts_with("//!");
    (is_doc && fence.starts_with("```ignore"))
        .then_some("an example that does not compile is `text`; one that must not run is `no_run`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(package: &str, path: &str, text: &str) -> Vec<String> {
        let source = Source::parse(package, "crates/x", path, text).unwrap();
        check_source(&source)
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    #[test]
    fn a_module_says_what_it_owns() {
        assert_eq!(messages("x", "crates/x/src/a.rs", "//! Owns a.\n").len(), 0);
        assert_eq!(
            messages("x", "crates/x/src/a.rs", "// A.\nfn a() {}\n").len(),
            1
        );
        assert_eq!(
            messages("x", "crates/x/src/a.rs", "//!\nfn a() {}\n").len(),
            1
        );
    }

    #[test]
    fn a_crate_says_what_it_does_not_own() {
        assert_eq!(
            messages("x", "crates/x/src/lib.rs", "//! Owns: a.\n").len(),
            1
        );
        assert_eq!(
            messages(
                "x",
                "crates/x/src/lib.rs",
                "//! Owns: a.\n//! Does not own: b.\n"
            )
            .len(),
            0
        );
    }

    #[test]
    fn a_module_is_named_after_its_noun() {
        assert_eq!(
            messages("x", "crates/x/src/a/mod.rs", "//! Owns a.\n").len(),
            1
        );
    }

    #[test]
    fn silence_needs_a_reason() {
        assert!(complaint("#[allow(dead_code)]").is_some());
        assert!(complaint("#![cfg_attr(test, allow(dead_code))]").is_some());
        assert!(complaint("#[allow(dead_code, reason = \"read by tests\")]").is_none());
        assert!(complaint("    #[ignore]").is_some());
        assert!(complaint("#[ignore = \"needs Chromium\"]").is_none());
        assert!(complaint("/// ```ignore").is_some());
    }
}
