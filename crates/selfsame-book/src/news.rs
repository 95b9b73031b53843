//! What is told of a new entry, and which entries a subscriber wants to hear of.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::entry::EntryRecord;
use crate::facts::{BookFacts, TopicKey};
use crate::mapping::BookMapping;

/// The kind of the records of news, and of the events that tell that there is news.
pub const NEWS: &str = "book_news";
/// Seconds for which news is kept: events are kept for seven days, and an event is sent for three.
pub const NEWS_SECONDS: u64 = 11 * 86_400;

/// What is told of a new entry. Its record has the identifier of the entry.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct BookNews {
    /// What the entry is about.
    pub topic: TopicKey,
    /// The id of its credential type.
    pub type_id: String,
    /// Who issued its credential.
    pub issuer: String,
    /// Whether it is the first entry about its topic.
    pub is_first: bool,
    /// The claims that the book shows: the path of each, joined by full stops, and its value.
    pub shown: Map<String, Value>,
}

impl BookNews {
    /// What is told of an entry with these facts.
    #[must_use]
    pub fn of(entry: &EntryRecord, facts: &BookFacts, mapping: &BookMapping) -> Self {
        Self {
            topic: facts.topic.clone(),
            type_id: entry.type_id.clone(),
            issuer: entry.issuer.clone(),
            is_first: false,
            shown: mapping.shown(&entry.claims),
        }
    }
}

/// Which entries a subscriber wants to hear of: the kinds that OrgBook's web hooks have.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NewsWanted {
    /// The first entry about each topic.
    NewTopics,
    /// All entries about a topic.
    Topic(WantedTopic),
    /// The entries about a topic that are of one type.
    Stream {
        /// The topic.
        topic: WantedTopic,
        /// The id of the type.
        type_id: String,
    },
}

/// A topic, which the book need not have yet.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct WantedTopic {
    /// Its number or name in the register that it comes from.
    pub source_id: String,
    /// The type of the topic; any if absent.
    // A wish for a topic is stored with its own kind as the member `kind`.
    #[serde(
        default,
        rename = "topic_type",
        alias = "kind",
        skip_serializing_if = "Option::is_none"
    )]
    pub kind: Option<String>,
}

impl NewsWanted {
    /// Whether this news is wanted.
    #[must_use]
    pub fn wants(&self, news: &BookNews) -> bool {
        match self {
            Self::NewTopics => news.is_first,
            Self::Topic(topic) => topic.is(&news.topic),
            Self::Stream { topic, type_id } => topic.is(&news.topic) && *type_id == news.type_id,
        }
    }

    /// The name of its kind, as OrgBook has it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NewTopics => "New",
            Self::Topic(_) => "Topic",
            Self::Stream { .. } => "Stream",
        }
    }

    /// The topic, if it is about one.
    #[must_use]
    pub const fn topic(&self) -> Option<&WantedTopic> {
        match self {
            Self::NewTopics => None,
            Self::Topic(topic) | Self::Stream { topic, .. } => Some(topic),
        }
    }

    /// The type, if it is about one.
    #[must_use]
    pub fn type_id(&self) -> Option<&str> {
        match self {
            Self::Stream { type_id, .. } => Some(type_id),
            Self::NewTopics | Self::Topic(_) => None,
        }
    }
}

impl WantedTopic {
    fn is(&self, topic: &TopicKey) -> bool {
        let is_kind = self.kind.as_ref().is_none_or(|kind| *kind == topic.kind);
        is_kind && self.source_id == topic.source_id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn news(kind: &str, source_id: &str, type_id: &str) -> BookNews {
        BookNews {
            topic: TopicKey {
                kind: kind.to_owned(),
                source_id: source_id.to_owned(),
            },
            type_id: type_id.to_owned(),
            issuer: "did:example:1".to_owned(),
            is_first: false,
            shown: Map::new(),
        }
    }

    fn topic(kind: Option<&str>) -> WantedTopic {
        WantedTopic {
            source_id: "BC1".to_owned(),
            kind: kind.map(str::to_owned),
        }
    }

    #[test]
    fn a_wish_reads_back_as_it_was_stored() {
        for kind in [None, Some("registration")] {
            let stream = NewsWanted::Stream {
                topic: topic(kind),
                type_id: "permit".to_owned(),
            };
            for wanted in [
                NewsWanted::NewTopics,
                NewsWanted::Topic(topic(kind)),
                stream,
            ] {
                let stored = serde_json::to_string(&wanted).unwrap();
                let read: NewsWanted = serde_json::from_str(&stored).unwrap();
                assert_eq!(read, wanted, "{stored}");
            }
        }
        // A stream that was stored with the topic's kind under that name.
        let stored = r#"{"kind":"stream","topic":{"source_id":"BC1","kind":"registration"},"type_id":"permit"}"#;
        let read: NewsWanted = serde_json::from_str(stored).unwrap();
        assert_eq!(read.topic(), Some(&topic(Some("registration"))));
    }

    #[test]
    fn a_subscriber_hears_of_what_it_wants_and_of_nothing_else() {
        let of_topic = NewsWanted::Topic(topic(None));
        let of_kind = NewsWanted::Topic(topic(Some("registration")));
        let stream = NewsWanted::Stream {
            topic: topic(None),
            type_id: "permit".to_owned(),
        };
        let wanted = [NewsWanted::NewTopics, of_topic, of_kind, stream];
        let heard = |news: &BookNews| wanted.each_ref().map(|one| one.wants(news));
        let first = BookNews {
            is_first: true,
            ..news("registration", "BC1", "registration")
        };
        assert_eq!(heard(&first), [true, true, true, false]);
        let later = news("registration", "BC1", "permit");
        assert_eq!(heard(&later), [false, true, true, true]);
        let other_kind = news("ship", "BC1", "permit");
        assert_eq!(heard(&other_kind), [false, true, false, true]);
        let other = news("registration", "BC11", "permit");
        assert_eq!(heard(&other), [false; 4]);
    }
}
