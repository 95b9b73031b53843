//! DID methods: each has one file or folder in a crate, and code elsewhere asks the table of methods what a method can
//! do. A name of a method in other code is a finding.

use crate::{source::Source, workspace::Workspace};

use super::{Finding, layers};

/// The table of methods. The files in the folder of the same name are the methods.
const TABLE: &str = "crates/selfsame-did/src/method.rs";
const FOLDER: &str = "crates/selfsame-did/src/method/";
/// The page that says how each method is resolved.
const PAGE: &str = "docs/resolution.md";
/// Methods whose names also mean other things. Such a word is a finding only where it is compared.
const ORDINARY: [&str; 6] = ["indy", "jwk", "key", "peer", "selfsame", "web"];
/// Where the names of methods may stand: below this path, for this reason.
const ALLOWED: [(&str, &str); 8] = [
    (FOLDER, "the methods"),
    (
        "crates/selfsame-webvh/src/",
        "the logs of a method, which has a crate of its own",
    ),
    (
        "crates/selfsame-accounts/src/wanted.rs",
        "words that are no passwords",
    ),
    (
        "crates/selfsame-wallet/src/technical.rs",
        "members of a credential",
    ),
    (
        "crates/selfsame-tls/src/profile.rs",
        "the numbers of methods in each profile of TLS",
    ),
    (
        "crates/selfsame-proxy/src/figures.rs",
        "the label of a figure: whose fault it was",
    ),
    (
        "crates/selfsame-endpoints/src/routes.rs",
        "the names of specifications",
    ),
    (
        "crates/selfsame-bench/src/",
        "a measurement names the methods that it compares",
    ),
];

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let methods = methods(&workspace.sources);
    let table = workspace.text(TABLE).unwrap_or_default();
    let page = workspace.text(PAGE).unwrap_or_default();
    let mut findings: Vec<Finding> = methods
        .iter()
        .flat_map(|method| check_method(method, table, page))
        .collect();
    let product = workspace.sources.iter();
    let product = product.filter(|source| !source.test_only && !layers::is_aside(&source.package));
    let named: Vec<Finding> = product
        .flat_map(|source| check_source(source, &methods))
        .collect();
    for (path, _) in ALLOWED {
        if path != FOLDER && !named.iter().any(|finding| finding.path.starts_with(path)) {
            let message = format!("{path} names no DID method: take it out of methods.rs");
            findings.push(Finding::new("xtask/src/tidy/methods.rs", message));
        }
    }
    let elsewhere = named
        .into_iter()
        .filter(|finding| !is_allowed(&finding.path));
    findings.extend(elsewhere);
    findings
}

fn is_allowed(path: &str) -> bool {
    ALLOWED.iter().any(|(allowed, _)| path.starts_with(allowed))
}

/// The names of the methods: of the files in their folder.
fn methods(sources: &[Source]) -> Vec<&str> {
    let product = sources.iter().filter(|source| !source.test_only);
    let files = product.filter_map(|source| source.path.strip_prefix(FOLDER)?.strip_suffix(".rs"));
    files.filter(|name| !name.contains('/')).collect()
}

/// Whether a method is in the table and on the page.
fn check_method(method: &str, table: &str, page: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !table.contains(&format!("&{method}::METHOD")) {
        let message = format!("`METHODS` does not list {method}::METHOD");
        findings.push(Finding::new(TABLE, message));
    }
    if !page.contains(&format!("`did:{method}`")) {
        let message = format!("say here how `did:{method}` is resolved, created and changed");
        findings.push(Finding::new(PAGE, message));
    }
    findings
}

/// Where code names a method.
fn check_source(source: &Source, methods: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for literal in &source.literals {
        let is_named = |method: &&&str| {
            let scheme = literal.text.strip_prefix("did:");
            let rest = scheme.and_then(|rest| rest.strip_prefix(**method));
            let begins = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'));
            let is_meant = literal.is_compared || !ORDINARY.contains(*method);
            begins || (is_meant && literal.text == ***method)
        };
        if let Some(method) = methods.iter().find(is_named) {
            let message = format!(
                "this names the DID method {method}: ask `selfsame_did::method::METHODS` or `Did::origin` what is \
                 meant, or move it into the folder of the method"
            );
            findings.push(Finding::at(&source.path, literal.line, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const METHODS: [&str; 3] = ["key", "web", "cheqd"];

    fn lines(text: &str) -> Vec<usize> {
        let source = Source::parse("x", "crates/x", "crates/x/src/a.rs", text).unwrap();
        let findings = check_source(&source, &METHODS);
        findings.iter().filter_map(|finding| finding.line).collect()
    }

    #[test]
    fn a_name_that_is_compared_is_found() {
        assert_eq!(
            lines("fn f(d: Did) -> bool {\n d.method() == \"web\" }"),
            [2]
        );
        assert_eq!(lines("fn f(d: &str) -> bool { matches!(d, \"key\") }"), [1]);
        assert_eq!(
            lines("fn f(d: &str) -> u8 { match d { \"key\" => 1, _ => 2 } }"),
            [1]
        );
        assert_eq!(lines("const M: [&str; 2] = [\"key\",\n\"jwt\"];"), [1]);
    }

    #[test]
    fn the_beginning_of_a_did_is_found_wherever_it_is() {
        assert_eq!(
            lines("fn f(n: &str) -> String { format!(\"did:web:{n}\") }"),
            [1]
        );
        assert_eq!(lines("const P: &str = \"did:key\";"), [1]);
        assert_eq!(lines("const M: &str = \"cheqd\";"), [1]);
    }

    #[test]
    fn words_with_another_meaning_and_sentences_are_no_names() {
        for text in [
            "fn f(v: &Value) -> Option<&Value> { v.get(\"key\") }",
            "fn f() -> Value { json!({ \"key\": 1 }) }",
            "const HINT: &str = \"such as did:web:issuer.example\";",
            "const OTHER: &str = \"did:webs:x\";",
            "/// `did:key` is resolved here.\nfn f() {}",
            "#[cfg(test)]\nmod tests { const A: &str = \"did:key:z\"; }",
        ] {
            assert_eq!(lines(text), [0; 0], "{text}");
        }
    }

    #[test]
    fn a_method_stands_in_the_table_and_on_the_page() {
        let table = "&web::METHOD,";
        assert_eq!(check_method("web", table, "| `did:web` | the host |"), []);
        assert_eq!(
            check_method("ion", table, "| `did:web` | the host |").len(),
            2
        );
    }
}
