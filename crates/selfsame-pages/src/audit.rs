//! The page of an organisation's audit trail.

pub mod acts;

use askama::Template;
use selfsame_audit::{AuditEntry, AuditFilter, AuditResult, ChainAnchor, ChainHead};
use selfsame_driver::paging::Listing;

use crate::Frame;

/// The audit trail of an organisation.
#[derive(Template)]
#[template(path = "audit.html")]
pub struct AuditPage {
    frame: Frame,
    sought: Sought,
    rows: Vec<AuditRow>,
    next: Option<String>,
    head: ChainHead,
    anchor: Option<ChainAnchor>,
}

/// What that page shows.
pub struct ShownTrail {
    /// The filter, as it was typed.
    pub filter: AuditFilter,
    /// The entries that it admits.
    pub entries: Listing<AuditEntry>,
    /// The head of the chain.
    pub head: ChainHead,
    /// Its newest anchor.
    pub anchor: Option<ChainAnchor>,
}

/// The fields of the filter, as they were typed.
struct Sought {
    actor: String,
    act: String,
    object: String,
    since: String,
    until: String,
}

struct AuditRow {
    entry: AuditEntry,
    /// The act in words, if it is known.
    words: Option<String>,
    /// Why it was refused, if it was.
    refused: Option<String>,
}

impl AuditPage {
    /// The page of a trail; `words` says what an act is.
    pub fn of(frame: Frame, trail: ShownTrail, words: impl Fn(&str) -> Option<String>) -> Self {
        let ShownTrail {
            filter,
            entries,
            head,
            anchor,
        } = trail;
        let row = |entry: AuditEntry| AuditRow {
            words: words(&entry.act),
            refused: match &entry.result {
                AuditResult::Done => None,
                AuditResult::Refused(reason) => Some(reason.replace('-', " ")),
            },
            entry,
        };
        let sought = Sought::of(filter);
        Self {
            frame: frame.titled("Audit trail"),
            next: entries.next.map(|next| sought.query(&next)),
            rows: entries.items.into_iter().map(row).collect(),
            sought,
            head,
            anchor,
        }
    }
}

impl Sought {
    fn of(filter: AuditFilter) -> Self {
        Self {
            actor: filter.actor.unwrap_or_default(),
            act: filter.act.unwrap_or_default(),
            object: filter.object.unwrap_or_default(),
            since: filter.since.unwrap_or_default(),
            until: filter.until.unwrap_or_default(),
        }
    }

    fn pairs(&self) -> [(&'static str, &str); 5] {
        [
            ("actor", &self.actor),
            ("act", &self.act),
            ("object", &self.object),
            ("since", &self.since),
            ("until", &self.until),
        ]
    }

    fn is_empty(&self) -> bool {
        self.pairs().iter().all(|(_, value)| value.is_empty())
    }

    /// The query of the page after this one.
    fn query(&self, after: &str) -> String {
        let filled = self
            .pairs()
            .into_iter()
            .filter(|(_, value)| !value.is_empty());
        url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(filled)
            .append_pair("after", after)
            .finish()
    }
}
