//! The lists of issuings and of proofs, with filters.

use askama::Template;
use selfsame_agent_view::seen::ExchangeSight;

use crate::{PageBase, words};

/// Which exchanges a page is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ExchangeKind {
    /// Credentials that are issued, by this agent or to it.
    Issuing,
    /// Presentations, to this agent or by it.
    Proofs,
}

impl ExchangeKind {
    /// Its part of the address.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Issuing => "issuing",
            Self::Proofs => "proofs",
        }
    }

    /// The title of the list.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Issuing => "Issuing",
            Self::Proofs => "Proofs",
        }
    }

    fn lead(self) -> &'static str {
        match self {
            Self::Issuing => "Credentials that this agent issues or receives.",
            Self::Proofs => "Presentations that this agent asks for or gives.",
        }
    }

    fn empty(self) -> &'static str {
        match self {
            Self::Issuing => {
                "Nothing was issued yet. A controller issues by the admin API: POST /issue-credential-2.0/send, to a connection. Exchanges that are removed once they are done do not appear: set preserve_exchange_records, or send auto_remove: false."
            }
            Self::Proofs => {
                "Nothing was proven yet. A controller asks by the admin API: POST /present-proof-2.0/send-request, on a connection. Exchanges that are removed once they are done do not appear: set preserve_exchange_records, or send auto_remove: false."
            }
        }
    }

    fn roles(self) -> [&'static str; 2] {
        match self {
            Self::Issuing => ["issuer", "holder"],
            Self::Proofs => ["verifier", "prover"],
        }
    }

    /// The groups of states, with their words.
    fn groups(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Issuing => &[
                ("waiting", "Under way"),
                ("done", "Done"),
                ("revoked", "Revoked"),
                ("ended", "Ended early"),
            ],
            Self::Proofs => &[
                ("waiting", "Under way"),
                ("done", "Done"),
                ("ended", "Ended early"),
            ],
        }
    }
}

/// What the list is searched for; what is empty may be anything.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ExchangeSearch {
    /// Who this agent is.
    pub role: String,
    /// A group of states: `waiting`, `done`, `revoked` or `ended`.
    pub state: String,
    /// The identifier of a connection.
    pub connection: String,
}

impl ExchangeSearch {
    /// Whether everything fits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether an exchange fits by its role and its state. Its connection is what was looked for.
    #[must_use]
    pub fn fits(&self, sight: &ExchangeSight) -> bool {
        let state = words::of_exchange(sight.state).class;
        let is_any = |wanted: &str, is: &str| wanted.is_empty() || wanted == is;
        is_any(&self.role, &sight.role) && is_any(&self.state, state)
    }
}

/// An exchange of the list, with the name of the peer if it is known.
pub struct NamedExchange {
    /// The exchange.
    pub sight: ExchangeSight,
    /// The peer's name.
    pub peer: Option<String>,
}

/// The list of the exchanges of one kind.
#[derive(Template)]
#[template(path = "exchanges.html")]
pub struct ExchangesContent {
    /// What all pages have.
    pub base: PageBase,
    /// Which exchanges.
    pub kind: ExchangeKind,
    /// What they are searched for.
    pub search: ExchangeSearch,
    /// The exchanges.
    pub found: Vec<NamedExchange>,
    /// The cursor of the next page.
    pub next: Option<String>,
    /// Whether this is the first page.
    pub is_first: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageRights;
    use crate::exchange::tests::sight;

    #[test]
    fn an_exchange_fits_by_its_role_and_the_group_of_its_state() {
        let search = |role: &str, state: &str| ExchangeSearch {
            role: role.to_owned(),
            state: state.to_owned(),
            connection: "c1".to_owned(),
        };
        let offered = sight("offer-sent");
        assert!(search("", "").fits(&offered) && search("issuer", "waiting").fits(&offered));
        assert!(!search("holder", "").fits(&offered) && !search("", "done").fits(&offered));
    }

    #[test]
    fn the_list_names_the_peer_and_keeps_its_filters() {
        let content = |found, search| ExchangesContent {
            base: PageBase {
                rights: PageRights::ALL,
                ..PageBase::default()
            },
            kind: ExchangeKind::Proofs,
            search,
            found,
            next: Some("older".to_owned()),
            is_first: true,
        };
        let one = NamedExchange {
            sight: sight("done"),
            peer: Some("Lake & Co".to_owned()),
        };
        let search = ExchangeSearch {
            role: "verifier".to_owned(),
            ..ExchangeSearch::default()
        };
        let page = content(vec![one], search).render().unwrap();
        assert!(
            page.contains("/agent/proofs/x1") && page.contains("Lake &#38; Co"),
            "{page}"
        );
        assert!(
            page.contains("role=verifier") && page.contains("after=older"),
            "{page}"
        );
        let empty = content(Vec::new(), ExchangeSearch::default());
        let empty = ExchangesContent {
            next: None,
            ..empty
        };
        assert!(empty.render().unwrap().contains("send-request"));
    }
}
