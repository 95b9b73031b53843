//! Size: caps on files, functions, handlers, crates and a crate's public items. Tests are not counted.

use crate::{source::Source, workspace::Workspace};

use super::{Finding, layers};

const FILE: usize = 600;
const FUNCTION: usize = 70;
const HANDLER: usize = 25;
const CRATE: usize = 8_000;
/// The decision record that gives the reason of each raised cap, and its number.
const DECISION: &str = "docs/adr/0013-crates-above-the-cap.md";
/// Lines by which a raised cap may exceed its crate. Caps only fall, so a cap follows a crate that shrinks.
const SLACK: usize = 300;
/// Raised caps.
const RAISED: [(&str, usize); 3] = [
    ("crates/selfsame-anoncreds", 11_200),
    ("crates/selfsame-store", 9_000),
    ("crates/selfsame-tls", 11_700),
];
const MAIN: usize = 60;
const PUBLIC_ITEMS: usize = 25;

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let product: Vec<&Source> = workspace
        .sources
        .iter()
        .filter(|source| !source.test_only)
        .collect();
    let mut findings: Vec<Finding> = product
        .iter()
        .flat_map(|source| check_source(source))
        .collect();
    for package in workspace
        .packages
        .iter()
        .filter(|package| !layers::is_aside(&package.name))
    {
        let own = product
            .iter()
            .filter(|source| source.package == package.name);
        findings.extend(check_crate(
            &package.folder,
            own.map(|source| source.lines).sum(),
        ));
    }
    let decision = workspace.text(DECISION).unwrap_or_default();
    findings.extend(check_decision(decision, &RAISED));
    findings
}

fn check_crate(folder: &str, lines: usize) -> Option<Finding> {
    let raised = RAISED.iter().find(|(raised, _)| *raised == folder);
    match raised {
        None if lines > CRATE => {
            let message = format!("{lines} lines, cap {CRATE}; cut the crate along its modules");
            Some(Finding::new(folder, message))
        }
        None => None,
        Some((_, cap)) => check_raised(folder, lines, *cap),
    }
}

fn check_raised(folder: &str, lines: usize, cap: usize) -> Option<Finding> {
    let message = match lines {
        _ if lines > cap => format!("{lines} lines, cap {cap}; cut the crate along its modules"),
        _ if lines <= CRATE => format!("{lines} lines: it needs no raised cap any more"),
        _ if lines + SLACK < cap => {
            let lower = lines.next_multiple_of(100);
            format!("{lines} lines, cap {cap}: lower the cap to {lower} here and in {DECISION}")
        }
        _ => return None,
    };
    Some(Finding::new(folder, message))
}

/// Raised caps that the decision record does not state. A raise is a decision, with its reason.
fn check_decision(decision: &str, raised: &[(&str, usize)]) -> Vec<Finding> {
    let unstated = raised.iter().filter(|(folder, cap)| {
        let name = folder.trim_start_matches("crates/");
        let number = format!("{},{:03}", cap / 1_000, cap % 1_000);
        let mut lines = decision.lines();
        !lines.any(|line| line.contains(&format!("`{name}`")) && line.contains(&number))
    });
    unstated
        .map(|(folder, cap)| {
            let message =
                format!("the raised cap {cap} of {folder} is not stated, with its reason");
            Finding::new(DECISION, message)
        })
        .collect()
}

fn check_source(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (path, lines) = (&source.path, source.lines);
    if lines > FILE {
        findings.push(Finding::new(
            path,
            format!("{lines} lines, cap {FILE} (300 wanted); split it by noun"),
        ));
    }
    if path == "crates/selfsame/src/main.rs" && lines > MAIN {
        findings.push(Finding::new(
            path,
            format!("{lines} lines, cap {MAIN}; move the rest to src/cmd"),
        ));
    }
    for function in &source.functions {
        let (cap, advice) = match is_handler(source, function.is_async) {
            true => (
                HANDLER,
                "parse, call one use case, render; the rest belongs to a use case or a helper",
            ),
            false => (FUNCTION, "40 wanted; give its parts names"),
        };
        if function.lines > cap {
            let message = format!(
                "`{}` has {} lines, cap {cap}: {advice}",
                function.name, function.lines
            );
            findings.push(Finding::at(path, function.line, message));
        }
    }
    if path.ends_with("/src/lib.rs") {
        findings.extend(check_root(source));
    }
    findings
}

/// Whether a function is a handler: an asynchronous function of the endpoints, or of the server's API or pages.
fn is_handler(source: &Source, is_async: bool) -> bool {
    let handlers = [
        "crates/selfsame-acapy/src/operations/",
        "crates/selfsame-agent-ui/src/",
        "crates/selfsame-book-ui/src/",
        "crates/selfsame-dc-api-ui/src/",
        "crates/selfsame-endpoints/src/",
        "crates/selfsame-esignet/src/",
        "crates/selfsame-issuer-ui/src/",
        "crates/selfsame-server/src/api",
        "crates/selfsame-server/src/ui",
        "crates/selfsame-sign-in-ui/src/",
        "crates/selfsame-vc-api/src/",
        "crates/selfsame-webhooks-ui/src/",
        "crates/selfsame-wire-ui/src/",
    ];
    is_async && handlers.iter().any(|place| source.path.starts_with(place))
}

fn check_root(source: &Source) -> Vec<Finding> {
    let message = "name what is public; a glob hides how much it is";
    let mut findings: Vec<Finding> = source
        .public_globs
        .iter()
        .map(|line| Finding::at(&source.path, *line, message))
        .collect();
    if source.public_items > PUBLIC_ITEMS {
        let message = format!(
            "{} public items at the root, cap {PUBLIC_ITEMS}; leave some in their modules",
            source.public_items
        );
        findings.push(Finding::new(&source.path, message));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<Finding> {
        let mut parts = path.splitn(3, '/');
        let folder = format!("{}/{}", parts.next().unwrap(), parts.next().unwrap());
        check_source(&Source::parse("x", &folder, path, text).unwrap())
    }

    fn function(head: &str, lines: usize) -> String {
        format!("{head} {{\n{}}}\n", "    step();\n".repeat(lines - 2))
    }

    #[test]
    fn a_function_may_have_seventy_lines_and_no_more() {
        assert_eq!(findings("crates/x/src/a.rs", &function("fn a()", 70)), []);
        assert_eq!(
            findings("crates/x/src/a.rs", &function("fn a()", 71)).len(),
            1
        );
    }

    #[test]
    fn a_handler_may_have_twenty_five_lines_and_no_more() {
        let path = "crates/selfsame-server/src/api/token.rs";
        assert_eq!(findings(path, &function("pub async fn a()", 25)), []);
        assert_eq!(findings(path, &function("pub async fn a()", 26)).len(), 1);
        assert_eq!(findings(path, &function("fn a()", 26)), []);
    }

    #[test]
    fn a_file_may_have_six_hundred_lines_and_no_more() {
        assert_eq!(findings("crates/x/src/a.rs", &"//\n".repeat(600)), []);
        assert_eq!(findings("crates/x/src/a.rs", &"//\n".repeat(601)).len(), 1);
    }

    #[test]
    fn a_crate_may_have_eight_thousand_lines_and_no_more() {
        assert_eq!(check_crate("crates/x", 8_000), None);
        assert!(check_crate("crates/x", 8_001).is_some());
    }

    #[test]
    fn a_raised_cap_falls_with_its_crate_and_is_stated_in_a_decision() {
        let is_fine = |lines| check_raised("crates/x", lines, 12_000).is_none();
        assert!(is_fine(12_000) && is_fine(11_700));
        assert!(!is_fine(12_001) && !is_fine(11_699) && !is_fine(8_000));
        let raised = [("crates/x", 12_000)];
        let stated = "- `x` may have 12,000 lines.\n";
        assert_eq!(check_decision(stated, &raised), []);
        assert_eq!(
            check_decision("- `x` may have 12,500 lines.\n", &raised).len(),
            1
        );
        assert_eq!(check_decision("", &raised).len(), 1);
    }

    #[test]
    fn a_crate_may_show_twenty_five_items_and_no_more() {
        assert_eq!(
            findings("crates/x/src/lib.rs", &"pub struct A;\n".repeat(25)),
            []
        );
        assert_eq!(
            findings("crates/x/src/lib.rs", &"pub struct A;\n".repeat(26)).len(),
            1
        );
        assert_eq!(findings("crates/x/src/lib.rs", "pub use a::*;\n").len(), 1);
    }

    #[test]
    fn the_binary_starts_in_few_lines() {
        assert_eq!(
            findings("crates/selfsame/src/main.rs", &"//\n".repeat(61)).len(),
            1
        );
    }
}
