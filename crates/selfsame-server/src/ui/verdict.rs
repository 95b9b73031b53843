//! A verdict for people: what it means, rule by rule, and what was shown.

use selfsame_app::view::verifier::{CredentialVerdict, RuleLine};
use selfsame_app::view::wallet::ClaimLine;
use selfsame_credential::verdict::Outcome;
use serde_json::Value;

/// The outcome's name on the wire.
pub fn word(outcome: &Outcome) -> &'static str {
    outcome.as_str()
}

/// Whether a verifier may act on it.
pub fn holds(outcome: &Outcome) -> bool {
    *outcome == Outcome::Valid
}

/// The outcome for people.
pub fn headline(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Valid => "Valid",
        Outcome::Revoked => "Revoked",
        Outcome::Suspended => "Suspended",
        Outcome::Expired => "Expired",
        Outcome::NotYetValid => "Not yet valid",
        Outcome::Untrusted => "Issuer not trusted",
        Outcome::Unverifiable => "Could not be checked",
        Outcome::Invalid => "Invalid",
    }
}

/// What the outcome means.
pub fn explained(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Valid => {
            "Genuine, current, and shown by its holder. Every rule that applies holds."
        }
        Outcome::Revoked => "Genuine, but its issuer has withdrawn it for good.",
        Outcome::Suspended => "Genuine, but its issuer has withdrawn it for now.",
        Outcome::Expired => "Genuine, but its time is over.",
        Outcome::NotYetValid => "Genuine, but its time has not come.",
        Outcome::Untrusted => "Genuine, but its issuer is not among those this verifier trusts.",
        Outcome::Unverifiable => {
            "Something needed for the check was not to be had. It may be worth another try."
        }
        Outcome::Invalid => "Forged, altered, or shown in a wrong way. Do not rely on it.",
    }
}

/// The rules with those that fail before all others.
pub fn failed_first(rules: &[RuleLine]) -> Vec<&RuleLine> {
    let (failed, others): (Vec<_>, Vec<_>) =
        rules.iter().partition(|rule| rule.passed == Some(false));
    failed.into_iter().chain(others).collect()
}

/// The class of a rule's line.
pub fn rule_class(passed: &Option<bool>) -> &'static str {
    match passed {
        Some(true) => "holds",
        Some(false) => "fails",
        None => "open",
    }
}

/// The mark of a rule's line.
pub fn rule_mark(passed: &Option<bool>) -> &'static str {
    match passed {
        Some(true) => "✓",
        Some(false) => "✗",
        None => "–",
    }
}

/// The mark for those who hear it.
pub fn rule_word(passed: &Option<bool>) -> &'static str {
    match passed {
        Some(true) => "holds",
        Some(false) => "fails",
        None => "does not apply",
    }
}

/// The claims of a presentation, flattened into lines; technical members left out.
pub fn shown(verdict: &CredentialVerdict) -> Option<Vec<ClaimLine>> {
    const TECHNICAL: [&str; 11] = [
        "iss", "iat", "nbf", "exp", "vct", "cnf", "status", "sub", "jti", "_sd_alg", "id",
    ];
    let Some(Value::Object(claims)) = &verdict.claims else {
        return None;
    };
    let claims = claims
        .get("vc")
        .and_then(Value::as_object)
        .unwrap_or(claims);
    let claims = claims
        .get("credentialSubject")
        .and_then(Value::as_object)
        .unwrap_or(claims);
    let mut lines = Vec::new();
    for (name, value) in claims
        .iter()
        .filter(|(name, _)| !TECHNICAL.contains(&name.as_str()))
    {
        flatten(name, value, &mut lines);
    }
    (!lines.is_empty()).then_some(lines)
}

fn flatten(label: &str, value: &Value, lines: &mut Vec<ClaimLine>) {
    let mut line = |value: String| {
        lines.push(ClaimLine {
            path: Vec::new(),
            label: super::words(label),
            value,
        })
    };
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                flatten(&format!("{label} · {name}"), value, lines);
            }
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            for (number, item) in (1..).zip(items) {
                flatten(&format!("{label} {number}"), item, lines);
            }
        }
        Value::Array(items) => line(items.iter().map(plain).collect::<Vec<_>>().join(", ")),
        other => line(plain(other)),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn shown_claims_are_flat_and_leave_out_what_is_technical() {
        let verdict = CredentialVerdict {
            query: String::new(),
            outcome: Outcome::Valid,
            rules: Vec::new(),
            status_as_of: None,
            claims: Some(
                json!({"iss": "x", "cnf": {}, "patient": {"given_name": "Maja"}, "doses": [{"number": 1}], "done": true}),
            ),
        };
        let lines: Vec<_> = shown(&verdict)
            .unwrap()
            .into_iter()
            .map(|line| (line.label, line.value))
            .collect();
        let line = |label: &str, value: &str| (label.to_owned(), value.to_owned());
        assert_eq!(lines.len(), 3);
        for expected in [
            line("patient · given name", "Maja"),
            line("doses 1 · number", "1"),
            line("done", "yes"),
        ] {
            assert!(lines.contains(&expected), "{lines:?}");
        }
    }
}
