//! What a check stands on: an index, and a book in it.

use std::sync::Arc;

use selfsame_book::facts::{
    AddressFact, AttributeFact, BookFacts, NameFact, RelatedTopic, TopicKey,
};
use selfsame_book::query::{FacetKind, SearchQuery};
use selfsame_book_index::search::{Suggestion, autocomplete, search};
use selfsame_book_index::{
    BookIndex, BookName, FoundTopics, IndexChange, IndexedEntry, IndexedTopic, PostgresIndex,
    SqliteIndex,
};
use selfsame_postgres::Address;
use tempfile::TempDir;

use crate::server::Server;

pub struct Ground {
    pub index: Arc<dyn BookIndex>,
    pub book: BookName,
    /// Where the files are until the check is over.
    _folder: Option<TempDir>,
}

impl Ground {
    pub fn file() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            index: Arc::new(SqliteIndex::new(folder.path())),
            book: BookName::of("organisation/acme"),
            _folder: Some(folder),
        }
    }

    pub fn memory() -> Self {
        Self {
            index: Arc::new(SqliteIndex::in_memory()),
            book: BookName::of("organisation/acme"),
            _folder: None,
        }
    }

    pub fn database() -> Self {
        let address = Address::parse(&Server::shared().fresh()).unwrap();
        Self {
            index: Arc::new(PostgresIndex::new(&address, 4).unwrap()),
            book: BookName::of("organisation/acme"),
            _folder: None,
        }
    }

    pub async fn apply(&self, changes: Vec<IndexChange>) {
        self.index
            .apply(&self.book, changes, Some("1"))
            .await
            .unwrap();
    }

    pub async fn found(&self, text: &str) -> Vec<String> {
        self.found_by(SearchQuery::of(text).unwrap()).await
    }

    pub async fn found_by(&self, query: SearchQuery) -> Vec<String> {
        let found = self.search(query).await;
        let topics = self.index.topics(&self.book, &found.ids).await.unwrap();
        topics
            .into_iter()
            .map(|topic| topic.key.source_id)
            .collect()
    }

    pub async fn search(&self, query: SearchQuery) -> FoundTopics {
        search(&*self.index, &self.book, &query).await.unwrap()
    }

    pub async fn suggested(&self, text: &str) -> Vec<String> {
        let query = SearchQuery::of(text).unwrap();
        let found = autocomplete(&*self.index, &self.book, &query, 10)
            .await
            .unwrap();
        found
            .into_iter()
            .map(|Suggestion { text, .. }| text.text)
            .collect()
    }

    pub async fn topic(&self, source_id: &str) -> Option<IndexedTopic> {
        let id = selfsame_book::number::topic(&key(source_id));
        self.index.topics(&self.book, &[id]).await.unwrap().pop()
    }
}

pub fn key(source_id: &str) -> TopicKey {
    TopicKey {
        kind: "registration".to_owned(),
        source_id: source_id.to_owned(),
    }
}

/// The first credential of a topic.
pub fn registration(source_id: &str, name: &str) -> IndexedEntry {
    let mut facts = BookFacts::about(key(source_id));
    facts.names = vec![NameFact {
        kind: "entity_name".to_owned(),
        text: name.to_owned(),
    }];
    facts.cardinality = "[]".to_owned();
    IndexedEntry {
        credential_id: format!("registration of {source_id}, {name}"),
        type_id: "registration".to_owned(),
        issuer: "did:web:registry.example".to_owned(),
        facts,
        effective: 1_000,
        entered: 2_000,
    }
}

/// A permit about a topic.
pub fn permit(source_id: &str, number: &str, at: i64) -> IndexedEntry {
    let mut facts = BookFacts::about(key(source_id));
    facts.founds = false;
    facts.cardinality = format!("[\"{number}\"]");
    facts.addresses = vec![AddressFact {
        civic_address: Some(format!("{number} Main Street")),
        city: Some("Victoria".to_owned()),
        ..AddressFact::default()
    }];
    facts.attributes = vec![AttributeFact {
        kind: "permit_kind".to_owned(),
        is_facet: true,
        value: "food".to_owned(),
    }];
    IndexedEntry {
        credential_id: format!("permit {number} of {source_id} at {at}"),
        type_id: "permit".to_owned(),
        issuer: "did:web:health.example".to_owned(),
        facts,
        effective: at,
        entered: at + 10,
    }
}

pub fn related(mut entry: IndexedEntry, relation: &str, other: &str) -> IndexedEntry {
    entry.facts.related.push(RelatedTopic {
        relation: relation.to_owned(),
        topic: key(other),
    });
    entry
}

pub fn enter(entry: IndexedEntry) -> IndexChange {
    IndexChange::Enter(Box::new(entry))
}

pub fn remove(entry: &IndexedEntry) -> IndexChange {
    IndexChange::Remove {
        credential_id: entry.credential_id.clone(),
    }
}

pub fn category(query: SearchQuery, value: &str) -> SearchQuery {
    query.filtered(FacetKind::Category, format!("permit_kind::{value}"))
}
