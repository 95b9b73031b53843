//! An entry: what its credential says, and what its verification found.

use askama::Template;
use selfsame_book_view::v4::ShownCredential;
use selfsame_book_view::{ProvenEntry, VerifiedEntry};
use serde_json::Value;

/// A credential of the book.
#[derive(Template)]
#[template(path = "entry.html")]
pub struct EntryContent {
    /// What the paths of the organisation's pages begin with.
    pub here: String,
    /// The credential.
    pub credential: ShownCredential,
    /// The number of its topic.
    pub topic: i64,
    /// What its verification found, if it was verified now.
    pub verified: Option<VerifiedEntry>,
    /// What the verifier said to which it was proven just now.
    pub proven: Option<ProvenEntry>,
}

impl EntryContent {
    /// The claims, each with its value as a text.
    fn claims(&self) -> Vec<ShownClaim> {
        let claims = self.credential.raw_data.iter();
        let shown = |(name, value): (&String, &Value)| ShownClaim {
            name: name.replace(['_', '.'], " "),
            value: match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            },
        };
        claims.map(shown).collect()
    }
}

/// A claim as it is shown.
struct ShownClaim {
    name: String,
    value: String,
}

#[allow(clippy::ref_option, reason = "the form in which the template gives it")]
/// The mark of a rule: kept, broken, or not checked.
fn mark(passed: &Option<bool>) -> &'static str {
    match passed {
        Some(true) => "✓",
        Some(false) => "✗",
        None => "–",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::topic::tests::kind;

    #[test]
    fn an_entry_without_a_credential_says_so_when_it_is_verified() {
        let credential = ShownCredential {
            id: 1,
            credential_type: kind(),
            credential_id: "00000000-0000-4000-8000-000000000000".to_owned(),
            credential_def_id: None,
            effective_date: "2026-01-01T00:00:00Z".to_owned(),
            inactive: false,
            latest: true,
            revoked: false,
            revoked_date: None,
            revoked_by: None,
            attributes: Vec::new(),
            names: Vec::new(),
            raw_data: json!({"entity_name": "<i>Whale</i>"})
                .as_object()
                .cloned()
                .unwrap(),
        };
        let verified = VerifiedEntry {
            credential_id: credential.credential_id.clone(),
            has_credential: false,
            verdict: None,
        };
        let content = EntryContent {
            here: String::new(),
            credential,
            topic: 7,
            verified: Some(verified),
            proven: Some(ProvenEntry {
                redirect_uri: Some("https://verifier.example/?a=1&b=\"".to_owned()),
            }),
        };
        let page = content.render().unwrap();
        assert!(
            page.contains("href=\"https://verifier.example/?a=1&#38;b=&#34;\""),
            "{page}"
        );
        assert!(page.contains("has no credential"), "{page}");
        assert!(page.contains("issuer suspended"), "{page}");
        assert!(
            page.contains("&#60;i&#62;Whale") && !page.contains("<i>"),
            "{page}"
        );
    }
}
