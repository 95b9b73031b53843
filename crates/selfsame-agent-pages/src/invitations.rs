//! Invitations: the list with the forms to make and to accept one, and one invitation to show to a peer.

use askama::Template;
use selfsame_agent_view::out_of_band::OobView;

use crate::{PageBase, WrongEntry};

/// The invitations.
#[derive(Template)]
#[template(path = "invitations.html")]
pub struct InvitationsContent {
    /// What all pages have.
    pub base: PageBase,
    /// The agent's own name.
    pub label: String,
    /// The invitation that was pasted.
    pub pasted: String,
    /// The name that was typed for its sender.
    pub alias: String,
    /// What is wrong with a form.
    pub wrong: WrongEntry,
    /// The invitations of out-of-band, made and received, newest first.
    pub listed: Vec<OobView>,
    /// The cursor of the next page.
    pub next: Option<String>,
}

/// An invitation to show to a peer.
#[derive(Template)]
#[template(path = "invitation.html")]
pub struct InvitationContent {
    /// What all pages have.
    pub base: PageBase,
    /// The identifier of its record; `None` for one of connections 1.0, which is shown once.
    pub oob_id: Option<String>,
    /// How it calls the agent.
    pub label: String,
    /// The invitation as a link.
    pub link: String,
    /// The link as a QR code, drawn as SVG; empty if it is too long.
    pub qr: String,
    /// The invitation itself, as JSON.
    pub text: String,
    /// The connection that it led to, or that waits for its answer.
    pub connection_id: Option<String>,
}

/// The label of an invitation.
fn label(one: &OobView) -> &str {
    let label = one.invitation.get("label").and_then(|label| label.as_str());
    label.unwrap_or("An invitation without a name")
}

impl InvitationsContent {
    /// What an invitation is, in words.
    fn what(&self, one: &OobView) -> &'static str {
        match (one.is_made_here(), one.multi_use) {
            (true, true) => "made, for many",
            (true, false) => "made, for one",
            (false, _) => "accepted",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageRights;

    fn base() -> PageBase {
        PageBase {
            here: "/o/acme".to_owned(),
            form: "token".to_owned(),
            rights: PageRights::ALL,
        }
    }

    #[test]
    fn an_invitation_is_shown_as_a_code_a_link_and_a_text() {
        let content = InvitationContent {
            base: base(),
            oob_id: Some("o1".to_owned()),
            label: "Acme".to_owned(),
            link: "https://acme.example/?oob=abc&x=1".to_owned(),
            qr: "<svg class=\"code\"></svg>".to_owned(),
            text: "{\"label\": \"<Acme>\"}".to_owned(),
            connection_id: Some("c1".to_owned()),
        };
        let page = content.render().unwrap();
        assert!(page.contains("<svg class=\"code\"></svg>"), "{page}");
        assert!(
            page.contains("https://acme.example/?oob=abc&#38;x=1"),
            "{page}"
        );
        assert!(
            !page.contains("<Acme>") && page.contains("/agent/connections/c1"),
            "{page}"
        );
        assert!(page.contains("/agent/invitations/o1/remove"), "{page}");
        let once = InvitationContent {
            oob_id: None,
            qr: String::new(),
            base: base(),
            ..content
        };
        let page = once.render().unwrap();
        assert!(
            !page.contains("/remove") && page.contains("too long for a QR code"),
            "{page}"
        );
    }

    #[test]
    fn a_form_that_is_refused_keeps_what_was_typed_and_says_what_is_wrong() {
        let content = InvitationsContent {
            base: base(),
            label: "Acme".to_owned(),
            pasted: "no link".to_owned(),
            alias: "Ward 3".to_owned(),
            wrong: WrongEntry {
                field: "invitation".to_owned(),
                told: "This is no invitation.".to_owned(),
            },
            listed: Vec::new(),
            next: None,
        };
        let page = content.render().unwrap();
        assert!(
            page.contains("Ward 3") && page.contains(">no link</textarea>"),
            "{page}"
        );
        assert!(page.contains("invitation-problem") && page.contains("This is no invitation."));
        assert!(page.contains("No invitations yet"), "{page}");
    }
}
