//! The list of connections, with a search.

use askama::Template;
use selfsame_agent_view::connection::ConnectionView;

use crate::PageBase;
use crate::words;

/// What the list is searched for.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ConnectionSearch {
    /// A part of a name.
    pub name: String,
    /// A group of states: `connected`, `waiting` or `ended`; empty for any.
    pub state: String,
}

/// The groups of states, with their words.
const GROUPS: [(&str, &str); 3] = [
    ("connected", "Connected"),
    ("waiting", "Not connected yet"),
    ("ended", "Ended"),
];

impl ConnectionSearch {
    /// Whether everything fits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.name.is_empty() && self.state.is_empty()
    }

    /// Whether a connection fits: a part of its name, in any case, and its state.
    #[must_use]
    pub fn fits(&self, view: &ConnectionView) -> bool {
        let sought = self.name.to_lowercase();
        let names = [&view.alias, &view.their_label];
        let mut names = names.into_iter().flatten();
        let is_named =
            self.name.is_empty() || names.any(|name| name.to_lowercase().contains(&sought));
        let state = words::of_connection(view.rfc23_state).class;
        is_named && (self.state.is_empty() || self.state == state)
    }

    /// The groups of states: name, words, and whether it is chosen.
    fn groups(&self) -> impl Iterator<Item = (&'static str, &'static str, bool)> {
        let groups = GROUPS.into_iter();
        groups.map(|(name, words)| (name, words, self.state == name))
    }
}

/// The list of connections.
#[derive(Template)]
#[template(path = "connections.html")]
pub struct ConnectionsContent {
    /// What all pages have.
    pub base: PageBase,
    /// What it is searched for.
    pub search: ConnectionSearch,
    /// The connections.
    pub found: Vec<ConnectionView>,
    /// The cursor of the next page.
    pub next: Option<String>,
    /// Whether this is the first page.
    pub is_first: bool,
}

#[cfg(test)]
pub(crate) mod tests {
    use selfsame_agent_view::connection::PassedView;
    use selfsame_aries::connection::{Accepting, InvitationMode};

    use super::*;

    /// A connection with a peer of this name.
    pub fn connection(name: &str, state: &'static str) -> ConnectionView {
        ConnectionView {
            connection_id: "c1".to_owned(),
            state: "active",
            rfc23_state: state,
            their_role: "invitee",
            their_label: Some(name.to_owned()),
            my_did: Some("did:peer:4zQmOurs".to_owned()),
            their_did: Some("did:peer:4zQmTheirs".to_owned()),
            alias: None,
            invitation_key: None,
            invitation_msg_id: "i1".to_owned(),
            invitation_mode: InvitationMode::Once,
            connection_protocol: "didexchange/1.1".to_owned(),
            request_id: None,
            their_public_did: None,
            accept: Accepting::Auto,
            error_msg: None,
            created_at: "2026-11-21T09:30:00Z".to_owned(),
            updated_at: "2026-11-21T09:31:00Z".to_owned(),
            history: vec![PassedView {
                state: "invitation-sent",
                at: "2026-11-21T09:30:00Z".to_owned(),
            }],
        }
    }

    fn page(search: ConnectionSearch, found: Vec<ConnectionView>) -> String {
        let content = ConnectionsContent {
            base: PageBase {
                here: "/o/acme".to_owned(),
                form: "token".to_owned(),
                rights: crate::PageRights::ALL,
            },
            search,
            found,
            next: Some("cursor".to_owned()),
            is_first: true,
        };
        content.render().unwrap()
    }

    #[test]
    fn a_connection_fits_by_a_part_of_its_name_in_any_case_and_by_its_state() {
        let search = |name: &str, state: &str| ConnectionSearch {
            name: name.to_owned(),
            state: state.to_owned(),
        };
        let view = connection("Pharmacy at the Lake", "completed");
        assert!(search("", "").fits(&view) && search("LAKE", "connected").fits(&view));
        assert!(!search("lakes", "").fits(&view) && !search("lake", "ended").fits(&view));
        let named = ConnectionView {
            alias: Some("Ward 3".to_owned()),
            ..view
        };
        assert!(search("ward", "").fits(&named) && search("lake", "").fits(&named));
    }

    #[test]
    fn the_list_leads_to_each_connection_and_to_the_next_page_of_the_same_search() {
        let search = ConnectionSearch {
            name: "a&b".to_owned(),
            state: "connected".to_owned(),
        };
        let page = page(search, vec![connection("<b>Lake</b>", "completed")]);
        assert!(page.contains("/o/acme/agent/connections/c1"), "{page}");
        assert!(
            !page.contains("<b>Lake</b>") && page.contains("Lake"),
            "{page}"
        );
        assert!(
            page.contains("q=a%26b") && page.contains("state=connected"),
            "{page}"
        );
        assert!(page.contains("after=cursor"), "{page}");
    }

    #[test]
    fn an_empty_list_says_what_to_do_next() {
        let page = page(ConnectionSearch::default(), Vec::new());
        assert!(page.contains("Make an invitation"), "{page}");
    }
}
