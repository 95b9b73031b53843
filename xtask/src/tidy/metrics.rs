//! Metrics: each one that the sources record is explained in the documentation, and no other is. Alerts and dashboards ask
//! for no other either.

use std::collections::BTreeSet;

use crate::workspace::{Text, Workspace};

use super::Finding;

const PAGE: &str = "docs/monitoring.md";
/// Files that ask for metrics.
const ASKING: [&str; 2] = [
    "deploy/prometheus/alerts.yml",
    "deploy/grafana/selfsame.json",
];
/// What Prometheus adds to the name of a histogram.
const OF_HISTOGRAMS: [&str; 3] = ["_bucket", "_sum", "_count"];
/// A file that records metrics calls one of these.
const MACROS: [&str; 3] = ["counter!(", "gauge!(", "histogram!("];
/// Written in pieces, so that this file does not match itself.
const PREFIX: &str = concat!("self", "same_");

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let is_source = |text: &&Text| text.path.starts_with("crates/") && text.path.contains("/src/");
    let sources = workspace.texts.iter().filter(is_source);
    let recorded: BTreeSet<&str> = sources.flat_map(|text| recorded(&text.text)).collect();
    let page = workspace.texts.iter().find(|text| text.path == PAGE);
    let page = page.map(|page| page.text.as_str()).unwrap_or_default();
    let asking = workspace.texts.iter();
    let asking = asking.filter(|text| ASKING.contains(&text.path.as_str()));
    let mut findings = compared(&recorded, &explained(page));
    findings.extend(asking.flat_map(|text| unrecorded(text, &recorded)));
    findings
}

/// The names in a file that no source records.
fn unrecorded(asking: &Text, recorded: &BTreeSet<&str>) -> Vec<Finding> {
    let words = asking
        .text
        .split(|letter: char| !letter.is_ascii_lowercase() && letter != '_');
    let asked: BTreeSet<&str> = words.filter(|word| word.starts_with(PREFIX)).collect();
    let is_recorded = |name: &&str| {
        let of_histogram = OF_HISTOGRAMS.iter();
        let mut whole = of_histogram.filter_map(|added| name.strip_suffix(added));
        recorded.contains(*name) || whole.any(|whole| recorded.contains(whole))
    };
    let unknown = asked.into_iter().filter(|name| !is_recorded(name));
    let message = |name| format!("`{name}` is asked for, but not recorded");
    unknown
        .map(|name| Finding::new(&asking.path, message(name)))
        .collect()
}

fn compared(recorded: &BTreeSet<&str>, explained: &BTreeSet<&str>) -> Vec<Finding> {
    let missing = recorded.difference(explained);
    let missing = missing.map(|name| format!("`{name}` is recorded: explain it here"));
    let gone = explained.difference(recorded);
    let gone = gone.map(|name| format!("`{name}` is not recorded any more: remove it"));
    missing
        .chain(gone)
        .map(|message| Finding::new(PAGE, message))
        .collect()
}

/// The names of metrics in a source file.
fn recorded(source: &str) -> BTreeSet<&str> {
    match MACROS.iter().any(|name| source.contains(name)) {
        true => names(source, '"'),
        false => BTreeSet::new(),
    }
}

/// The names of metrics in the tables of a page.
fn explained(page: &str) -> BTreeSet<&str> {
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    rows.flat_map(|row| names(row, '`')).collect()
}

/// The names between two of these marks.
fn names(text: &str, mark: char) -> BTreeSet<&str> {
    let between = text.split(mark);
    let is_name = |part: &&str| {
        part.starts_with(PREFIX)
            && part
                .chars()
                .all(|letter| letter.is_ascii_lowercase() || letter == '_')
    };
    between.filter(is_name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(rest: &str) -> String {
        format!("{PREFIX}{rest}")
    }

    #[test]
    fn a_metric_that_no_page_explains_is_found_and_so_is_one_that_is_gone() {
        let (new, old) = (name("new_total"), name("old"));
        let source = format!("fn note() {{ metrics::counter!(\"{new}\").increment(1); }}");
        let page = format!("| metric |\n|---|\n| `{old}` | It was. |\n");
        let findings = compared(&recorded(&source), &explained(&page));
        let messages: Vec<&str> = findings
            .iter()
            .map(|found| found.message.as_str())
            .collect();
        assert_eq!(messages.len(), 2, "{messages:?}");
        assert!(messages.iter().any(|said| said.contains(&new)));
        assert!(messages.iter().any(|said| said.contains(&old)));
        let page = format!("| `{new}` | It is. |");
        assert_eq!(compared(&recorded(&source), &explained(&page)), []);
    }

    #[test]
    fn an_alert_that_asks_for_a_metric_that_is_not_recorded_is_found() {
        let (known, unknown) = (name("known"), name("unknown_total"));
        let asking = Text {
            path: ASKING[0].to_owned(),
            text: format!("expr: rate({known}_count[5m]) / {known} + {unknown}{{a=\"b\"}}"),
        };
        let findings = unrecorded(&asking, &BTreeSet::from([known.as_str()]));
        assert_eq!(findings.len(), 1);
        assert!(findings[0].message.contains(&unknown));
    }

    #[test]
    fn a_name_in_a_file_without_metrics_is_no_metric() {
        let source = format!("const COOKIE: &str = \"{}\";", name("did"));
        assert!(recorded(&source).is_empty());
    }
}
