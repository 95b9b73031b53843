//! What was received, and what was shown: to which verifier, when, which claims.

use askama::Template;
use selfsame_driver::paging::Listing;
use selfsame_wallet_view::entries::HistoryEntry;

use crate::Frame;

/// The history of a wallet.
#[derive(Template)]
#[template(path = "wallet_history.html")]
pub struct HistoryPage {
    frame: Frame,
    entries: Vec<HistoryEntry>,
    next: Option<String>,
}

impl HistoryPage {
    /// The page with these entries.
    pub fn of(frame: Frame, listed: Listing<HistoryEntry>) -> Self {
        Self {
            frame: frame.titled("History"),
            entries: listed.items,
            next: listed.next,
        }
    }
}

/// What happened, in words for people.
fn verb(what: &str) -> &'static str {
    match what {
        "received" => "Received",
        "shared" => "Shown",
        "declined" => "Declined",
        _ => "Failed",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_others_are_called_cannot_turn_the_history_around() {
        let entry = json!({"id": "one", "at": "2026-01-01T00:00:00Z", "what": "failed",
            "party": "https://a.example/\u{202e}moc.knab", "cards": ["\u{202e}card"],
            "claims": ["\u{2066}claim"], "reason": "no \u{202e}more"});
        let page = HistoryPage {
            frame: Frame::of_visitor(),
            entries: vec![serde_json::from_value(entry).unwrap()],
            next: None,
        };
        let shown = page.render().unwrap();
        assert!(!shown.contains(['\u{202e}', '\u{2066}']), "{shown}");
        for named in ["https://a.example/moc.knab", "card", "claim", "no more"] {
            assert!(shown.contains(&format!("<bdi>{named}</bdi>")), "{shown}");
        }
    }
}
