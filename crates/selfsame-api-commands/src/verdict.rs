//! A verdict as the terminal shows it.

use selfsame_openid::view::verifier::{CredentialVerdict, NamedCredential};
use selfsame_terminal::output::{RuleLine, rule_lines};

/// The verdict: what was shown, and a table of each rule, its result, its detail, and its paragraph.
pub fn verdict_table(verdict: &CredentialVerdict) -> Vec<String> {
    let mut lines = vec![verdict.outcome.as_str().to_uppercase()];
    lines.extend(verdict.credential.iter().flat_map(named));
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

/// What the credential is, who issued it, and until when it is valid.
fn named(one: &NamedCredential) -> Vec<String> {
    let title = match &one.title {
        Some(title) => format!("{title} ({})", one.kind),
        None => one.kind.clone(),
    };
    let issuer = match (&one.issuer_name, &one.issuer) {
        (Some(name), Some(issuer)) => format!("{name} ({issuer})"),
        (None, Some(issuer)) => issuer.clone(),
        (_, None) => "the holder of the certificate that signed it".to_owned(),
    };
    let until = match &one.valid_until {
        Some(until) => format!("valid until {until}"),
        None => "does not expire".to_owned(),
    };
    vec![
        format!("  {title}"),
        format!("  issued by {issuer}"),
        format!("  {until}"),
    ]
}

#[cfg(test)]
mod tests {
    use selfsame_credential::verdict::Outcome;

    use super::*;

    #[test]
    fn a_verdict_says_what_was_shown_before_its_rules() {
        let lines = verdict_table(&CredentialVerdict {
            query: String::new(),
            outcome: Outcome::Valid,
            credential: Some(NamedCredential {
                kind: "urn:example:rx".to_owned(),
                title: Some("Drug prescription".to_owned()),
                issuer: Some("did:web:clinic.example".to_owned()),
                issuer_name: Some("Clinic".to_owned()),
                valid_until: Some("2027-03-01T12:00:00Z".to_owned()),
            }),
            rules: Vec::new(),
            status_as_of: None,
            claims: None,
        });
        assert_eq!(
            lines,
            [
                "VALID",
                "  Drug prescription (urn:example:rx)",
                "  issued by Clinic (did:web:clinic.example)",
                "  valid until 2027-03-01T12:00:00Z",
            ]
        );
    }
}
