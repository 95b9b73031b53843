//! The requests that wait for an approval, and the decision about one.

use askama::Template;
use selfsame_approvals::view::{Approval, ApprovalState};
use selfsame_driver::Reason;

use crate::PageBase;

/// The requests in a state.
#[derive(Template)]
#[template(path = "approvals.html")]
pub struct ApprovalsContent {
    /// What all pages have.
    pub base: PageBase,
    /// The state.
    pub state: ApprovalState,
    /// The requests, newest first.
    pub found: Vec<ApprovalLine>,
    /// The cursor of the next page.
    pub next: Option<String>,
}

/// A request with the title of its type.
pub struct ApprovalLine {
    /// The title of its type.
    pub title: String,
    /// The request.
    pub one: Approval,
}

/// One request, and the forms that decide about it.
#[derive(Template)]
#[template(path = "approval.html")]
pub struct ApprovalContent {
    /// What all pages have.
    pub base: PageBase,
    /// The request.
    pub line: ApprovalLine,
    /// What the credential will say.
    pub claims: Vec<SaidClaim>,
    /// Whether the version of the type that was asked for is gone, so that the claims stand under their own names.
    pub is_plain: bool,
    /// Why the decision was not taken.
    pub wrong: Option<Reason>,
}

/// A claim for people.
pub struct SaidClaim {
    /// Its label.
    pub label: String,
    /// Its value.
    pub value: String,
}

/// A state to choose.
struct StateChoice {
    name: &'static str,
    text: &'static str,
    is_chosen: bool,
}

impl ApprovalsContent {
    fn states(&self) -> Vec<StateChoice> {
        let choice = |state: ApprovalState| StateChoice {
            name: state.as_str(),
            text: text(state),
            is_chosen: self.state == state,
        };
        ApprovalState::ALL.map(choice).into()
    }

    fn is_waiting(&self) -> bool {
        self.state == ApprovalState::Waiting
    }
}

impl ApprovalLine {
    /// Whose it is, or else what.
    fn named(&self) -> &str {
        self.one.label.as_deref().unwrap_or(&self.title)
    }

    fn is_waiting(&self) -> bool {
        self.one.state == ApprovalState::Waiting
    }

    fn told(&self) -> &'static str {
        text(self.one.state)
    }

    /// Which badge its state has.
    fn class(&self) -> &'static str {
        match self.one.state {
            ApprovalState::Waiting => "pending",
            ApprovalState::Approved | ApprovalState::Issued => "active",
            ApprovalState::Refused => "revoked",
        }
    }
}

impl ApprovalContent {
    fn told(&self) -> Option<String> {
        self.wrong.as_ref().map(selfsame_catalogue::english)
    }
}

fn text(state: ApprovalState) -> &'static str {
    match state {
        ApprovalState::Waiting => "waiting",
        ApprovalState::Approved => "approved, not fetched yet",
        ApprovalState::Refused => "refused",
        ApprovalState::Issued => "issued",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approval(state: &str) -> Approval {
        let one = serde_json::json!({
            "id": "a1", "type": "badge", "format": "dc+sd-jwt", "offer": "o1", "label": "Ada <b>",
            "copies": 2, "state": state, "asked": "2026-11-30T10:00:00Z",
            "expires": "2026-12-30T10:00:00Z", "reason": "Not known here.",
        });
        serde_json::from_value(one).unwrap()
    }

    fn content(state: &str) -> String {
        crate::render(&made(state)).unwrap()
    }

    fn made(state: &str) -> ApprovalContent {
        ApprovalContent {
            base: PageBase::default(),
            line: ApprovalLine {
                title: "Badge".to_owned(),
                one: approval(state),
            },
            claims: vec![SaidClaim {
                label: "Name".to_owned(),
                value: "Ada Lovelace".to_owned(),
            }],
            is_plain: false,
            wrong: None,
        }
    }

    #[test]
    fn the_page_says_that_the_type_of_the_claims_is_gone_or_that_there_are_none() {
        let (gone, none) = ("is gone", "no claims");
        let usual = content("waiting");
        assert!(!usual.contains(gone) && !usual.contains(none), "{usual}");
        let plain = ApprovalContent {
            is_plain: true,
            ..made("waiting")
        };
        let plain = crate::render(&plain).unwrap();
        assert!(plain.contains(gone) && plain.contains("Ada Lovelace"));
        for (state, is_said) in [("waiting", true), ("refused", false)] {
            let empty = ApprovalContent {
                claims: Vec::new(),
                is_plain: true,
                ..made(state)
            };
            let empty = crate::render(&empty).unwrap();
            assert_eq!(empty.contains(none), is_said, "{empty}");
            assert!(!empty.contains(gone), "{empty}");
        }
    }

    #[test]
    fn a_request_that_waits_has_both_decisions_and_one_that_was_decided_has_none() {
        let waiting = content("waiting");
        for part in [
            r#"action="/issuer/approvals/a1/approve""#,
            r#"action="/issuer/approvals/a1/refuse""#,
            "Ada Lovelace",
        ] {
            assert!(waiting.contains(part), "{part}: {waiting}");
        }
        assert!(!waiting.contains("Ada <b>"), "{waiting}");
        let refused = content("refused");
        assert!(!refused.contains("<form"), "{refused}");
        assert!(refused.contains("Not known here."), "{refused}");
    }

    #[test]
    fn a_list_says_which_state_it_shows() {
        let shown = |state| {
            let content = ApprovalsContent {
                base: PageBase::default(),
                state,
                found: Vec::new(),
                next: None,
            };
            crate::render(&content).unwrap()
        };
        assert!(shown(ApprovalState::Waiting).contains("No request waits."));
        let refused = shown(ApprovalState::Refused);
        assert!(
            refused.contains("?state=refused\" aria-current=\"page\""),
            "{refused}"
        );
    }
}
