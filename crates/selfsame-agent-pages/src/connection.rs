//! One connection: who the peer is, what it can do, what was exchanged with it, and what can be done.

use askama::Template;
use selfsame_agent_view::connection::ConnectionView;
use selfsame_agent_view::seen::ExchangeSight;

use crate::PageBase;

/// A connection.
#[derive(Template)]
#[template(path = "connection.html")]
pub struct ConnectionContent {
    /// What all pages have.
    pub base: PageBase,
    /// The connection.
    pub view: ConnectionView,
    /// Where the peer gets its messages, if that is known.
    pub their_endpoint: Option<String>,
    /// The protocols that the peer said it speaks; `None` if it was not asked, or has not answered.
    pub protocols: Option<Vec<String>>,
    /// The newest issuings with it; `None` if the person may not see them.
    pub issuing: Option<Vec<ExchangeSight>>,
    /// The newest proofs with it; `None` if the person may not see them.
    pub proofs: Option<Vec<ExchangeSight>>,
    /// The newest texts that came and went, the oldest first.
    pub texts: Vec<ShownText>,
    /// What was just done.
    pub done: Option<ConnectionAct>,
}

/// A text on the page of its connection.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ShownText {
    /// The text.
    pub content: String,
    /// Whether this agent sent it.
    pub is_ours: bool,
    /// When it came or went, RFC 3339.
    pub at: String,
}

/// What was just done with a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ConnectionAct {
    /// A trust ping was sent.
    Pinged,
    /// A text was sent.
    Written,
    /// The peer was asked what it can do.
    Asked,
}

impl ConnectionAct {
    /// The act with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "pinged" => Self::Pinged,
            "written" => Self::Written,
            "asked" => Self::Asked,
            _ => return None,
        })
    }

    /// What is said of it.
    fn told(self) -> &'static str {
        match self {
            Self::Pinged => "The ping is on its way.",
            Self::Written => "The message is on its way.",
            Self::Asked => "The question is on its way. What the peer answers appears below.",
        }
    }
}

impl ConnectionContent {
    /// Whether messages can be sent.
    fn is_ready(&self) -> bool {
        ["response-sent", "response-received", "completed"].contains(&self.view.rfc23_state)
    }

    /// What this agent can go on with; `None` if the peer has to act, or nothing is left to do.
    fn step(&self) -> Option<&'static str> {
        match self.view.rfc23_state {
            "invitation-received" => Some("Ask to connect"),
            "request-received" => Some("Let it connect"),
            _ => None,
        }
    }

    /// The exchanges of both kinds that the person may see.
    fn exchanges(&self) -> Vec<ListedExchange<'_>> {
        let issuing = self.issuing.iter().flatten();
        let issuing = issuing.map(|sight| ListedExchange {
            what: "Issuing",
            path: "issuing",
            sight,
        });
        let proofs = self.proofs.iter().flatten();
        let proofs = proofs.map(|sight| ListedExchange {
            what: "Proof",
            path: "proofs",
            sight,
        });
        let mut all: Vec<_> = issuing.chain(proofs).collect();
        all.sort_by(|a, b| b.sight.created_at.cmp(&a.sight.created_at));
        all
    }
}

/// An exchange on the page of its connection.
struct ListedExchange<'a> {
    what: &'static str,
    path: &'static str,
    sight: &'a ExchangeSight,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageRights;
    use crate::connections::tests::connection;
    use crate::exchange::tests::sight;

    fn content(state: &'static str) -> ConnectionContent {
        ConnectionContent {
            base: PageBase {
                here: String::new(),
                form: "token".to_owned(),
                rights: PageRights::ALL,
            },
            view: connection("Lake", state),
            their_endpoint: Some("https://lake.example/".to_owned()),
            protocols: None,
            issuing: Some(vec![sight("done")]),
            proofs: None,
            texts: Vec::new(),
            done: None,
        }
    }

    #[test]
    fn a_connection_is_shown_with_its_history_and_its_exchanges() {
        let page = content("completed").render().unwrap();
        assert!(page.contains("did:peer:4zQmTheirs") && page.contains("invited, no answer yet"));
        assert!(
            page.contains("/agent/issuing/x1") && page.contains("Send a ping"),
            "{page}"
        );
        assert!(page.contains("was not asked"), "{page}");
    }

    #[test]
    fn the_texts_of_both_sides_stand_in_their_order_and_are_inert() {
        let text = |content: &str, is_ours| ShownText {
            content: content.to_owned(),
            is_ours,
            at: "2026-11-21T09:30:00Z".to_owned(),
        };
        let texts = vec![text("Are you there?", true), text("<b>Yes</b>", false)];
        let content = ConnectionContent {
            texts,
            ..content("completed")
        };
        let page = content.render().unwrap();
        let at = |part: &str| page.find(part).unwrap_or_else(|| panic!("{part}: {page}"));
        assert!(at("Are you there?") < at("&#60;b&#62;Yes"));
        assert!(at("From this agent") < at("From <bdi>Lake"));
    }

    #[test]
    fn only_a_connection_that_waits_for_this_agent_can_be_gone_on_with() {
        let page = |state| content(state).render().unwrap();
        assert!(page("request-received").contains("Let it connect"));
        assert!(page("invitation-received").contains("Ask to connect"));
        let waits = page("request-sent");
        assert!(
            !waits.contains("/accept\"") && !waits.contains("Send a ping"),
            "{waits}"
        );
    }

    #[test]
    fn who_may_only_look_sees_no_form() {
        let mut only = content("completed");
        only.base.rights.connect = false;
        assert!(!only.render().unwrap().contains("<form"));
    }

    #[test]
    fn the_protocols_of_the_peer_are_listed() {
        let protocols = Some(vec!["https://didcomm.org/trust_ping/1.0".to_owned()]);
        let content = ConnectionContent {
            protocols,
            done: ConnectionAct::named("pinged"),
            ..content("completed")
        };
        let page = content.render().unwrap();
        assert!(page.contains("trust_ping/1.0") && page.contains("The ping is on its way."));
    }
}
