//! A verdict as the terminal shows it.

use selfsame_openid::view::verifier::CredentialVerdict;
use selfsame_terminal::output::{RuleLine, rule_lines};

/// The verdict as a table: each rule, its result, its detail, and its paragraph.
pub fn verdict_table(verdict: &CredentialVerdict) -> Vec<String> {
    let mut lines = vec![verdict.outcome.as_str().to_uppercase()];
    let rules = verdict.rules.iter();
    lines.extend(rule_lines(rules.map(|rule| RuleLine {
        name: &rule.name,
        passed: rule.passed,
        detail: &rule.detail,
        paragraph: &rule.paragraph,
    })));
    if let Some(as_of) = &verdict.status_as_of {
        lines.push(format!("  status as of {as_of}"));
    }
    lines
}
