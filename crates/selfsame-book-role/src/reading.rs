//! Searches of a book, and what is shown of what they find.

mod asked;
mod issuers;
mod older;
mod registers;
mod shapes;

use std::collections::{BTreeSet, HashMap};

use selfsame_book::number;
use selfsame_book::query::FacetKind;
use selfsame_book_index::backend::{AfterNumber, TextKind};
use selfsame_book_index::search::{self, Suggestion, autocomplete, facets};
use selfsame_book_index::{IndexedSet, IndexedTopic};
use selfsame_driver::{Error, ErrorKind, Result};

use crate::books::{Book, failed};
use selfsame_book_view::v4::{
    CountedFacet, FacetFields, FacetLists, FacetedSearch, FoundTopic, FuzzyTopic, ResultPage,
    ShownCredential, ShownSet, ShownTopic, ShownType, SuggestedText, Suggestions,
};
use selfsame_book_view::{
    BrowsedBook, EntryRule, EntryVerdict, ShownNeighbour, TopicRange, VerifiedEntry,
};
use selfsame_openid_view::verifier::CredentialVerdict;
use shapes::Shapes;

pub use asked::Search;

/// Number of suggestions.
const SUGGESTIONS: usize = 10;
/// Number of sets of a topic that one answer has.
pub const SETS_MAX: usize = 100;
/// Number of credentials of a set that one answer has.
const HISTORY_MAX: usize = 20;
/// Number of topics to which a topic is related that are shown.
const NEIGHBOURS_MAX: usize = 100;

/// The number after the greatest one of a topic.
const NUMBERS: i64 = 1 << 52;
/// How many topics are looked at to learn how many there are, and how many times as many a range has.
const SAMPLE: usize = 1_000;
const TOPICS_A_RANGE_OF_SAMPLES: i64 = 5;
/// Maximum number of ranges: that of a site map's index.
const RANGES_MAX: i64 = 10_000;

impl Book {
    /// The topics that fit a search.
    ///
    /// # Errors
    /// `Unavailable` if it would take too long; the store's and the index's.
    pub async fn search(&self, search: &Search) -> Result<ResultPage<FoundTopic>> {
        let shapes = self.shapes().await?;
        let found = search::search(self.index(), &self.name, &search.query);
        let found = found.await.map_err(failed)?;
        let topics = self.topics(search.window(&found.ids)).await?;
        let shown = topics.iter().map(|topic| shapes.found(topic)).collect();
        let path = self.roles.organisation().url("api/v4/search/topic")?;
        Ok(search.page(&path, &found.ids, shown))
    }

    /// How many topics of a search have which facets, with the topics.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub async fn facets(&self, search: &Search) -> Result<FacetedSearch> {
        Ok(self.browse(search).await?.facets)
    }

    /// The same, with whether words were read as similar ones.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub async fn browse(&self, search: &Search) -> Result<BrowsedBook> {
        let shapes = self.shapes().await?;
        let found = search::search(self.index(), &self.name, &search.query);
        let found = found.await.map_err(failed)?;
        let counted = facets(self.index(), &self.name, &found);
        let mut lists = FacetLists::default();
        for one in counted.await.map_err(failed)? {
            let Some((letter, value)) = one.facet.split_once(':') else {
                continue;
            };
            let kind = letter.chars().next().and_then(FacetKind::of_letter);
            let (list, text) = match kind {
                Some(FacetKind::Category) => (&mut lists.category, None),
                Some(FacetKind::Issuer) => (&mut lists.issuer_id, None),
                Some(FacetKind::CredentialType) => {
                    (&mut lists.credential_type_id, shapes.title_of_number(value))
                }
                _ => continue,
            };
            list.push(CountedFacet {
                value: value.to_owned(),
                count: one.count,
                text,
            });
        }
        let topics = self.topics(search.window(&found.ids)).await?;
        let shown = topics.iter().map(|topic| shapes.found(topic)).collect();
        let path = self
            .roles
            .organisation()
            .url("api/v4/search/topic/facets")?;
        let facets = FacetedSearch {
            facets: FacetFields { fields: lists },
            objects: search.page(&path, &found.ids, shown),
        };
        Ok(BrowsedBook {
            facets,
            corrected: found.corrected,
        })
    }

    /// Texts that complete what is typed.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub async fn autocomplete(&self, search: &Search) -> Result<Suggestions> {
        let shapes = self.shapes().await?;
        let found = autocomplete(self.index(), &self.name, &search.query, SUGGESTIONS);
        let found = found.await.map_err(failed)?;
        let topics: BTreeSet<i64> = found.iter().map(|one| one.text.topic).collect();
        let topics: Vec<i64> = topics.into_iter().collect();
        let topics = self.topics(&topics).await?.into_iter();
        let topics: HashMap<i64, IndexedTopic> = topics.map(|topic| (topic.id, topic)).collect();
        let mut results = Vec::new();
        for Suggestion { text, score } in found {
            let Some(topic) = topics.get(&text.topic).cloned() else {
                continue;
            };
            let (kind, sub_type) = match text.kind {
                TextKind::Name => ("name", text.label),
                TextKind::Address => ("address", "civic_address".to_owned()),
                TextKind::Source | TextKind::Attribute => ("topic", "source_id".to_owned()),
            };
            results.push(SuggestedText {
                id: topic.id,
                kind: kind.to_owned(),
                sub_type,
                value: text.text,
                score,
                credential_type: shapes.title(&topic.main.type_id),
                credential_id: topic.main.credential_id,
                names: topic.names.into_iter().map(|name| name.text).collect(),
                topic_source_id: topic.key.source_id,
                topic_type: topic.key.kind,
            });
        }
        Ok(Suggestions {
            total: results.len(),
            first_index: 1,
            last_index: results.len(),
            results,
        })
    }

    /// The topics that fit if typing errors are forgiven in each word.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub async fn fuzzy(&self, search: &Search) -> Result<Vec<FuzzyTopic>> {
        self.settle().await?;
        let mut query = search.query.clone();
        query.fuzzy = true;
        let found = search::search(self.index(), &self.name, &query);
        let found = found.await.map_err(failed)?;
        let topics = self.topics(search.window(&found.ids)).await?;
        let shown = topics.into_iter().map(|topic| FuzzyTopic {
            id: topic.id,
            topic_issuer_id: number::issuer(&topic.main.issuer),
            topic_type_id: number::credential_type(&topic.main.type_id),
            topic_names: topic.names.into_iter().map(|name| name.text).collect(),
            topic_inactive: topic.main.inactive,
            topic_revoked: topic.main.revoked.is_some(),
            topic_source_id: topic.key.source_id,
        });
        Ok(shown.collect())
    }

    /// A topic.
    ///
    /// # Errors
    /// `NotFound`; the index's.
    pub async fn topic(&self, id: i64) -> Result<ShownTopic> {
        let topic = self.topic_indexed(id).await?;
        let neighbours = self.index().neighbours(&self.name, id, NEIGHBOURS_MAX);
        let neighbours = neighbours.await.map_err(failed)?;
        let (from, to): (Vec<_>, Vec<_>) = neighbours.iter().partition(|one| one.is_from_other);
        Ok(ShownTopic {
            id,
            create_timestamp: shapes::time(topic.created),
            update_timestamp: shapes::time(topic.updated),
            source_id: topic.key.source_id,
            kind: topic.key.kind,
            related_to: to.iter().map(|one| one.other).collect(),
            related_from: from.iter().map(|one| one.other).collect(),
        })
    }

    /// A topic as searches show it.
    ///
    /// # Errors
    /// `NotFound`; the store's and the index's.
    pub async fn found(&self, topic: i64) -> Result<FoundTopic> {
        let topic = self.topic_indexed(topic).await?;
        Ok(self.shapes().await?.found(&topic))
    }

    /// The topics to which a topic is related.
    ///
    /// # Errors
    /// The index's.
    pub async fn neighbours(&self, topic: i64) -> Result<Vec<ShownNeighbour>> {
        let found = self.index().neighbours(&self.name, topic, NEIGHBOURS_MAX);
        let found = found.await.map_err(failed)?;
        let shown = found.into_iter().map(|one| ShownNeighbour {
            id: one.other,
            relation: one.relation.relation.replace('_', " "),
            is_from_other: one.is_from_other,
            name: one.name,
            source_id: one.relation.topic.source_id,
        });
        Ok(shown.collect())
    }

    /// Ranges of numbers that have some thousand topics each, and all together. Numbers are spread evenly, so the first
    /// ones tell how many there are.
    ///
    /// # Errors
    /// The index's.
    pub async fn topic_ranges(&self) -> Result<Vec<TopicRange>> {
        let first = self
            .topics_in(
                TopicRange {
                    from: 0,
                    to: NUMBERS,
                },
                SAMPLE,
            )
            .await?;
        let last = first.last().copied().unwrap_or(NUMBERS).max(1);
        let parts = match first.len() < SAMPLE {
            true => 1,
            false => (NUMBERS / last / TOPICS_A_RANGE_OF_SAMPLES).clamp(1, RANGES_MAX),
        };
        let at = |part: i64| (NUMBERS / parts).saturating_mul(part);
        let range = |part: i64| TopicRange {
            from: at(part),
            to: if part + 1 == parts {
                NUMBERS
            } else {
                at(part + 1)
            },
        };
        Ok((0..parts).map(range).collect())
    }

    /// The numbers of the topics of a range, at most `limit`.
    ///
    /// # Errors
    /// The index's.
    pub async fn topics_in(&self, range: TopicRange, limit: usize) -> Result<Vec<i64>> {
        self.settle().await?;
        let page = AfterNumber {
            after: Some(range.from.saturating_sub(1)),
            limit,
        };
        let topics = self.index().all_topics(&self.name, page);
        let mut topics = topics.await.map_err(failed)?;
        topics.retain(|topic| *topic < range.to);
        Ok(topics)
    }

    /// The number of the topic of a credential.
    ///
    /// # Errors
    /// `NotFound`; the index's.
    pub async fn topic_of(&self, credential_id: &str) -> Result<i64> {
        let found = self.index().credential(&self.name, credential_id);
        let found = found.await.map_err(failed)?;
        let unknown = || Error::not_found("book-entry-unknown");
        Ok(found.ok_or_else(unknown)?.topic)
    }

    /// The sets of a topic with their credentials, the newest first.
    ///
    /// # Errors
    /// `NotFound`; the store's and the index's.
    pub async fn sets(&self, topic: i64, after: Option<i64>) -> Result<Vec<ShownSet>> {
        self.topic_indexed(topic).await?;
        let shapes = self.shapes().await?;
        let page = AfterNumber {
            after,
            limit: SETS_MAX,
        };
        let sets = self.index().sets(&self.name, topic, page);
        let mut shown = Vec::new();
        for set in sets.await.map_err(failed)? {
            shown.push(self.set(&shapes, &set).await?);
        }
        Ok(shown)
    }

    async fn set(&self, shapes: &Shapes, set: &IndexedSet) -> Result<ShownSet> {
        let credentials = self.index().credentials(&self.name, set.id, HISTORY_MAX);
        let mut shown = Vec::new();
        for credential in credentials.await.map_err(failed)? {
            // One that is erased at this moment is left out.
            match self.entry(&credential.credential_id).await {
                Ok((_, entry)) => shown.push(shapes.credential(&credential, &entry)),
                Err(error) if matches!(error.kind, ErrorKind::Gone | ErrorKind::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(ShownSet {
            credentials: Some(shown),
            ..shapes::set(set)
        })
    }

    /// A credential.
    ///
    /// # Errors
    /// `NotFound`; `Gone` if it is erased.
    pub async fn credential(&self, credential_id: &str) -> Result<ShownCredential> {
        let (_, entry) = self.entry(credential_id).await?;
        let indexed = self.index().credential(&self.name, credential_id);
        let indexed = indexed.await.map_err(failed)?;
        let indexed = indexed.ok_or_else(|| Error::not_found("book-entry-unknown"))?;
        Ok(self.shapes().await?.credential(&indexed, &entry))
    }

    /// The credential types that appear in the book.
    ///
    /// # Errors
    /// The store's.
    pub async fn credential_types(&self) -> Result<Vec<ShownType>> {
        Ok(self.shapes().await?.types())
    }

    /// Verifies the credential of an entry now.
    ///
    /// # Errors
    /// `NotFound`; `Gone` if it is erased; the verifier's.
    pub async fn verify(&self, credential_id: &str) -> Result<VerifiedEntry> {
        let (_, entry) = self.entry(credential_id).await?;
        let verdict = match (&entry.credential, &entry.held) {
            (Some(credential), _) => Some(verdict(self.roles.verify(credential).await?)),
            (None, Some(held)) => self.verify_held(&entry, held).await?,
            (None, None) => None,
        };
        Ok(VerifiedEntry {
            credential_id: entry.credential_id,
            has_credential: verdict.is_some(),
            verdict,
        })
    }

    /// What the shapes of an answer need; with the first one, the index is brought up to the records.
    async fn shapes(&self) -> Result<Shapes> {
        self.settle().await?;
        let names = self.roles.names().unwrap_or_default();
        Ok(Shapes {
            types: self.types().await?,
            standings: self.standings(names).await?,
            title: self.roles.title(),
        })
    }

    async fn topics(&self, of: &[i64]) -> Result<Vec<IndexedTopic>> {
        let topics = self.index().topics(&self.name, of);
        topics.await.map_err(failed)
    }

    async fn topic_indexed(&self, id: i64) -> Result<IndexedTopic> {
        self.settle().await?;
        let found = self.topics(&[id]).await?.into_iter().next();
        found.ok_or_else(|| Error::not_found("book-topic-absent"))
    }
}

/// A verdict without claims: the entry shows those that the book may show.
fn verdict(found: CredentialVerdict) -> EntryVerdict {
    let rules = found.rules.into_iter().map(|rule| EntryRule {
        name: rule.name.into_owned(),
        passed: rule.passed,
        paragraph: rule.paragraph.into_owned(),
        detail: rule.detail,
    });
    EntryVerdict {
        outcome: found.outcome.as_str().to_owned(),
        rules: rules.collect(),
        status_as_of: found.status_as_of,
    }
}
