//! The seam: what an index takes, and the questions that it answers.

use std::fmt;

use async_trait::async_trait;
use selfsame_book::facts::{BookFacts, RelatedTopic, TopicKey};
use selfsame_book::query::{Alternatives, Facet, Ordering};

use crate::error::IndexResult;
use crate::numbers::{AskedNumbers, NumberHolders};

/// The name of a book: that of its organisation's records.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct BookName(String);

/// A change of an index.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexChange {
    /// A credential was entered. One that is indexed already changes nothing.
    Enter(Box<IndexedEntry>),
    /// A credential was revoked.
    Revoke {
        /// Which one.
        credential_id: String,
        /// When, in seconds from 1970.
        at: i64,
    },
    /// A credential was erased: nothing of it stays, in the index or in the file.
    Remove {
        /// Which one.
        credential_id: String,
    },
}

/// An entered credential, as it is indexed.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedEntry {
    /// Its identifier in the book.
    pub credential_id: String,
    /// The id of its type.
    pub type_id: String,
    /// Who issued it.
    pub issuer: String,
    /// What it says.
    pub facts: BookFacts,
    /// From when it holds, in seconds from 1970.
    pub effective: i64,
    /// When it was entered, in seconds from 1970.
    pub entered: i64,
}

/// A topic.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedTopic {
    /// Its number.
    pub id: i64,
    /// What it is.
    pub key: TopicKey,
    /// When its first credential was entered.
    pub created: i64,
    /// When its latest credential was entered.
    pub updated: i64,
    /// The credential that founds it: the earliest of those in force that can be the first one.
    pub main: IndexedCredential,
    /// The set of that credential.
    pub main_set: IndexedSet,
    /// Its names, of credentials in force; at most [`FACTS_MAX`].
    pub names: Vec<IndexedFact>,
    /// Its addresses, likewise.
    pub addresses: Vec<IndexedFact>,
    /// Its attributes, likewise.
    pub attributes: Vec<IndexedFact>,
}

/// A fact of a credential in force.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IndexedFact {
    /// The type of the name or of the attribute.
    pub kind: String,
    /// The name, the value, or the address in one line.
    pub text: String,
    /// The parts of an address as JSON, or whether an attribute is a facet.
    pub body: String,
    /// The number of a credential that says so.
    pub credential: i64,
    /// The id of the type of that credential.
    pub type_id: String,
}

/// A credential of a topic.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IndexedCredential {
    /// Its number.
    pub id: i64,
    /// Its identifier.
    pub credential_id: String,
    /// The number of its topic.
    pub topic: i64,
    /// The number of its set.
    pub set: i64,
    /// The id of its type.
    pub type_id: String,
    /// Who issued it.
    pub issuer: String,
    /// From when it holds.
    pub effective: i64,
    /// Until when it holds, if it says so.
    pub expires: Option<i64>,
    /// When it was entered.
    pub entered: i64,
    /// Whether it says that the topic is no longer active.
    pub inactive: bool,
    /// When it was revoked, if it was.
    pub revoked: Option<i64>,
    /// Whether it is the one in force of its set.
    pub latest: bool,
}

/// Credentials that replace one another.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IndexedSet {
    /// Its number.
    pub id: i64,
    /// The number of its topic.
    pub topic: i64,
    /// The number of the one in force.
    pub latest: i64,
    /// When its first credential was entered.
    pub created: i64,
    /// When its latest credential was entered.
    pub updated: i64,
    /// The earliest effective date.
    pub first_effective: i64,
    /// The latest effective date.
    pub last_effective: i64,
}

/// A topic to which another one is related.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Neighbour {
    /// What one is to the other.
    pub relation: RelatedTopic,
    /// Whether the relation begins at the other topic.
    pub is_from_other: bool,
    /// The number of the other topic; it need not be in the book.
    pub other: i64,
    /// A name of the other topic, if the book has one.
    pub name: Option<String>,
}

/// What a search found.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FoundTopics {
    /// The numbers of the topics, best first; at most as many as a search counts.
    pub ids: Vec<i64>,
    /// Whether there are more.
    pub and_more: bool,
    /// Whether words were read as others that are written similarly.
    pub corrected: bool,
}

/// A text that begins like what is typed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Beginning {
    /// The number of its topic.
    pub topic: i64,
    /// What it is.
    pub kind: TextKind,
    /// The text.
    pub text: String,
    /// The type of the name.
    pub label: String,
    /// The words of the text.
    pub normal: String,
}

/// What a text of a topic is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum TextKind {
    /// A name.
    Name,
    /// An address.
    Address,
    /// Its number or name in the register that it comes from.
    Source,
    /// A further fact, which is not searched.
    Attribute,
}

/// A word of the index.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KnownWord {
    /// The word.
    pub word: String,
    /// The number of texts that have it.
    pub uses: i64,
}

/// A value that topics can be filtered by, with the number of topics.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FacetCount {
    /// The facet, as [`Facet`] is written.
    pub facet: String,
    /// The number of topics that have it.
    pub count: i64,
}

/// A page of a list that goes on after a number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AfterNumber {
    /// The number of the last one of the previous page; the first page without it.
    pub after: Option<i64>,
    /// The maximum number.
    pub limit: usize,
}

/// Maximum number of names, addresses or attributes that are shown of a topic.
pub const FACTS_MAX: usize = 100;

/// An index of books.
#[async_trait]
pub trait BookIndex: Send + Sync {
    /// Whether any process may index what another one has committed.
    fn is_shared(&self) -> bool {
        false
    }

    /// What was indexed last; `None` for an empty index.
    async fn cursor(&self, book: &BookName) -> IndexResult<Option<String>>;

    /// Makes changes, all or none, and notes how far the records were read, if the changes were read there. A change that
    /// was made before changes nothing, nor does an entry of which a number is that of another name.
    async fn apply(
        &self,
        book: &BookName,
        changes: Vec<IndexChange>,
        cursor: Option<&str>,
    ) -> IndexResult<()>;

    /// Removes everything of a book, so that it is built anew.
    async fn clear(&self, book: &BookName) -> IndexResult<()>;

    /// The topics that have a word of each group and all facets, in an order of the index's own.
    async fn having(
        &self,
        book: &BookName,
        wanted: &WantedTopics,
        limit: usize,
    ) -> IndexResult<Vec<i64>>;

    /// Those of these topics that have a word of each group and all facets.
    async fn having_of(
        &self,
        book: &BookName,
        wanted: &WantedTopics,
        of: &[i64],
    ) -> IndexResult<Vec<i64>>;

    /// These topics in another order.
    async fn ordered(
        &self,
        book: &BookName,
        of: &[i64],
        ordering: Ordering,
    ) -> IndexResult<Vec<i64>>;

    /// The texts whose words begin like this, in the order of the alphabet.
    async fn beginning(
        &self,
        book: &BookName,
        normal: &str,
        limit: usize,
    ) -> IndexResult<Vec<Beginning>>;

    /// The searched texts of these topics.
    async fn texts(&self, book: &BookName, of: &[i64]) -> IndexResult<Vec<Beginning>>;

    /// Whether the index has a word, or one that begins with it.
    async fn knows(&self, book: &BookName, word: &str, is_beginning: bool) -> IndexResult<bool>;

    /// Words that share many groups of three characters with this one, and are about as long.
    async fn similar(
        &self,
        book: &BookName,
        word: &str,
        limit: usize,
    ) -> IndexResult<Vec<KnownWord>>;

    /// The most frequent facets of these topics.
    async fn facets(
        &self,
        book: &BookName,
        of: &[i64],
        limit: usize,
    ) -> IndexResult<Vec<FacetCount>>;

    /// These topics, in this order. Unknown ones are left out.
    async fn topics(&self, book: &BookName, of: &[i64]) -> IndexResult<Vec<IndexedTopic>>;

    /// The numbers of all topics, in order.
    async fn all_topics(&self, book: &BookName, page: AfterNumber) -> IndexResult<Vec<i64>>;

    /// The sets of a topic, those with the latest effective date first. `after` is the number of a set.
    async fn sets(
        &self,
        book: &BookName,
        topic: i64,
        page: AfterNumber,
    ) -> IndexResult<Vec<IndexedSet>>;

    /// The credentials of a set, the one with the latest effective date first.
    async fn credentials(
        &self,
        book: &BookName,
        set: i64,
        limit: usize,
    ) -> IndexResult<Vec<IndexedCredential>>;

    /// A credential.
    async fn credential(
        &self,
        book: &BookName,
        credential_id: &str,
    ) -> IndexResult<Option<IndexedCredential>>;

    /// What has these numbers.
    async fn holders(&self, book: &BookName, asked: &AskedNumbers) -> IndexResult<NumberHolders>;

    /// The topics to which a topic is related.
    async fn neighbours(
        &self,
        book: &BookName,
        topic: i64,
        limit: usize,
    ) -> IndexResult<Vec<Neighbour>>;
}

/// What topics must have.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct WantedTopics {
    /// A word of each group.
    pub words: Vec<Alternatives>,
    /// All of these.
    pub facets: Vec<Facet>,
}

impl BookName {
    /// The book of this tenant.
    #[must_use]
    pub fn of(tenant: &str) -> Self {
        Self(tenant.to_owned())
    }

    /// The tenant.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BookName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl TextKind {
    /// Its letter in an index.
    #[must_use]
    pub const fn letter(self) -> &'static str {
        match self {
            Self::Name => "n",
            Self::Address => "a",
            Self::Source => "s",
            Self::Attribute => "t",
        }
    }

    /// The kind with this letter.
    #[must_use]
    pub fn of_letter(letter: &str) -> Option<Self> {
        let all = [Self::Name, Self::Address, Self::Source, Self::Attribute];
        all.into_iter().find(|kind| kind.letter() == letter)
    }
}
