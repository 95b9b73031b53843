//! What can be searched for, with its bounds.

use std::fmt;

use crate::text::{normal, words};

/// Maximum number of bytes of what is searched for.
pub const TEXT_MAX: usize = 256;
/// Maximum number of its words. Further words are left out.
pub const WORDS_MAX: usize = 10;
/// Maximum number of filters.
pub const FILTERS_MAX: usize = 20;
/// Maximum number of topics that a search counts, orders and leafs through.
pub const FOUND_MAX: usize = 10_000;
/// Maximum number of results on a page.
pub const PAGE_MAX: usize = 100;

/// A search for topics.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SearchQuery {
    /// The words that topics must have; the last one may be the beginning of a word.
    pub words: Vec<String>,
    /// The words as they stand in a name.
    pub normal: String,
    /// What topics must have beside the words.
    pub filters: Vec<Facet>,
    /// The order.
    pub ordering: Ordering,
    /// Whether the last word is a whole one.
    pub is_whole: bool,
    /// Whether words with typing errors are forgiven even if there are results without.
    pub fuzzy: bool,
}

/// The order of results.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Ordering {
    /// Those that fit best first.
    #[default]
    Score,
    /// The earliest effective date first.
    EffectiveDate,
    /// The latest effective date first.
    EffectiveDateDescending,
    /// The earliest revocation first.
    RevokedDate,
    /// The latest revocation first.
    RevokedDateDescending,
}

/// What topics are filtered by.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum FacetKind {
    /// A value of an attribute: `name::value`.
    Category,
    /// The number of an issuer of one of its credentials.
    Issuer,
    /// The number of the type of the credential that founds the topic.
    Type,
    /// The number of the type of one of its credentials.
    CredentialType,
    /// Whether it is no longer active: `true` or `false`.
    Inactive,
    /// Whether the credential that founds it is revoked: `true` or `false`.
    Revoked,
}

/// A value that topics are filtered by.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Facet {
    /// Of what it is a value.
    pub kind: FacetKind,
    /// The value.
    pub value: String,
}

/// A word that may be written differently: one of these, and whether it is the beginning of a word.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Alternatives {
    /// The words.
    pub words: Vec<String>,
    /// Whether words that begin with the last of them fit too.
    pub is_beginning: bool,
}

/// The search text is too long.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TooLong;

impl SearchQuery {
    /// A search for this text.
    ///
    /// # Errors
    /// If it is longer than [`TEXT_MAX`] bytes.
    pub fn of(text: &str) -> Result<Self, TooLong> {
        if text.len() > TEXT_MAX {
            return Err(TooLong);
        }
        let mut words = words(text);
        words.truncate(WORDS_MAX);
        let ends = text.chars().next_back();
        Ok(Self {
            words,
            normal: normal(text),
            is_whole: ends.is_some_and(char::is_whitespace),
            ..Self::default()
        })
    }

    /// This search with a filter. Filters beyond [`FILTERS_MAX`] are left out.
    #[must_use]
    pub fn filtered(mut self, kind: FacetKind, value: impl Into<String>) -> Self {
        let value = value.into();
        if self.filters.len() < FILTERS_MAX {
            self.filters.push(Facet { kind, value });
        }
        self
    }

    /// Its words without alternatives.
    #[must_use]
    pub fn groups(&self) -> Vec<Alternatives> {
        let last = self.words.len().saturating_sub(1);
        let words = self.words.iter().enumerate();
        let group = |(place, word): (usize, &String)| Alternatives {
            words: vec![word.clone()],
            is_beginning: place == last && !self.is_whole && is_beginning(word),
        };
        words.map(group).collect()
    }
}

/// Whether a last word is long enough to be looked for as the beginning of a word.
fn is_beginning(word: &str) -> bool {
    word.chars().nth(1).is_some()
}

impl FacetKind {
    /// Its letter in an index.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Category => 'c',
            Self::Issuer => 'i',
            Self::Type => 't',
            Self::CredentialType => 'k',
            Self::Inactive => 'x',
            Self::Revoked => 'r',
        }
    }

    /// The kind with this letter.
    #[must_use]
    pub fn of_letter(letter: char) -> Option<Self> {
        let all = [
            Self::Category,
            Self::Issuer,
            Self::Type,
            Self::CredentialType,
            Self::Inactive,
            Self::Revoked,
        ];
        all.into_iter().find(|kind| kind.letter() == letter)
    }
}

impl fmt::Display for Facet {
    /// As an index writes it: the letter of its kind, a colon, the value.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.kind.letter(), self.value)
    }
}

impl Ordering {
    /// The order with this name, which begins with `-` for the descending one.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "" | "score" | "-score" => Some(Self::Score),
            "effective_date" => Some(Self::EffectiveDate),
            "-effective_date" => Some(Self::EffectiveDateDescending),
            "revoked_date" => Some(Self::RevokedDate),
            "-revoked_date" => Some(Self::RevokedDateDescending),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_is_a_beginning_unless_a_blank_or_one_letter_ends_it() {
        let beginnings = |text: &str| {
            let groups = SearchQuery::of(text).unwrap().groups();
            groups
                .iter()
                .map(|one| one.is_beginning)
                .collect::<Vec<_>>()
        };
        assert_eq!(beginnings("blue whal"), [false, true]);
        assert_eq!(beginnings("blue whale "), [false, false]);
        assert_eq!(beginnings("blue w"), [false, false]);
        assert_eq!(beginnings(""), [false; 0]);
    }

    #[test]
    fn a_search_is_bounded() {
        assert_eq!(SearchQuery::of(&"x".repeat(TEXT_MAX + 1)), Err(TooLong));
        let many = SearchQuery::of(&"a ".repeat(100)).unwrap();
        assert_eq!(many.words.len(), WORDS_MAX);
        let filtered = (0..100).fold(many, |query, number: usize| {
            query.filtered(FacetKind::Issuer, number.to_string())
        });
        assert_eq!(filtered.filters.len(), FILTERS_MAX);
    }
}
