//! What a batch of changes leaves to be done at its end: topics to index again, and words that are used more or less.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{OptionalExtension as _, Transaction, params};
use selfsame_book::query::{Facet, FacetKind};
use selfsame_book::text::{trigrams, words};

use crate::error::IndexResult;

/// The first character that stands for a facet: one of a private plane, so that no word has it.
const FACET: u32 = 0xf_0000;
/// The number of characters there are for facets.
const FACETS_MAX: i64 = 65_000;
/// Maximum number of texts of one kind, and of facets, by which a topic is found.
const SEARCHED_MAX: i64 = 200;

/// What a batch has changed.
pub(super) struct Changed<'t> {
    pub transaction: &'t Transaction<'t>,
    pub topics: BTreeSet<i64>,
    /// Facets that a topic no longer has. One that no topic has any more is forgotten.
    pub facets: BTreeSet<i64>,
    words: BTreeMap<String, i64>,
}

impl<'t> Changed<'t> {
    pub fn new(transaction: &'t Transaction<'t>) -> Self {
        Self {
            transaction,
            topics: BTreeSet::new(),
            facets: BTreeSet::new(),
            words: BTreeMap::new(),
        }
    }

    /// A text is used once more, or once less.
    pub fn count_words(&mut self, text: &str, by: i64) {
        for word in words(text) {
            let uses = self.words.entry(word).or_default();
            *uses = uses.saturating_add(by);
        }
    }

    /// Does what is left to be done.
    pub fn finish(self) -> IndexResult<()> {
        for (word, by) in self.words.iter().filter(|(_, by)| **by != 0) {
            use_word(self.transaction, word, *by)?;
        }
        for topic in &self.topics {
            index(self.transaction, *topic)?;
        }
        for facet in &self.facets {
            forget_facet(self.transaction, *facet)?;
        }
        Ok(())
    }
}

/// Counts the uses of a word. A word that is used no more is forgotten.
fn use_word(transaction: &Transaction<'_>, word: &str, by: i64) -> IndexResult<()> {
    let mut known = transaction.prepare_cached("SELECT id, uses FROM words WHERE word = ?1")?;
    let known = known
        .query_row([word], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
        })
        .optional()?;
    let length = i64::try_from(word.chars().count()).unwrap_or(i64::MAX);
    match known {
        Some((id, uses)) if uses.saturating_add(by) <= 0 => {
            transaction
                .prepare_cached("DELETE FROM words WHERE id = ?1")?
                .execute([id])?;
            let mut forget = transaction.prepare_cached(
                "DELETE FROM grams WHERE gram = ?1 AND length = ?2 AND word = ?3",
            )?;
            for gram in trigrams(word) {
                forget.execute(params![gram, length, id])?;
            }
        }
        Some((id, _)) => {
            transaction
                .prepare_cached("UPDATE words SET uses = uses + ?2 WHERE id = ?1")?
                .execute([id, by])?;
        }
        None if by > 0 => {
            let mut learn = transaction
                .prepare_cached("INSERT INTO words (word, uses) VALUES (?1, ?2) RETURNING id")?;
            let id: i64 = learn.query_row(params![word, by], |row| row.get(0))?;
            let mut note = transaction
                .prepare_cached("INSERT INTO grams (gram, length, word) VALUES (?1, ?2, ?3)")?;
            for gram in trigrams(word) {
                note.execute(params![gram, length, id])?;
            }
        }
        None => {}
    }
    Ok(())
}

/// The number of a facet; `None` if there are too many facets to filter by this one too.
pub(super) fn facet_number(transaction: &Transaction<'_>, facet: &str) -> IndexResult<Option<i64>> {
    let mut known = transaction.prepare_cached("SELECT id FROM facets WHERE facet = ?1")?;
    if let Some(id) = known.query_row([facet], |row| row.get(0)).optional()? {
        return Ok(Some(id));
    }
    let mut new = transaction.prepare_cached(
        "INSERT INTO facets (facet) SELECT ?1 WHERE (SELECT coalesce(max(id), 0) FROM facets) < ?2
         RETURNING id",
    )?;
    let id = new
        .query_row(params![facet, FACETS_MAX], |row| row.get(0))
        .optional()?;
    if id.is_none() {
        tracing::warn!("a book has too many values to filter by; further ones are left out");
    }
    Ok(id)
}

/// Forgets a facet that no topic has any more.
fn forget_facet(transaction: &Transaction<'_>, number: i64) -> IndexResult<()> {
    let Some(word) = facet_word(number) else {
        return Ok(());
    };
    let mut used =
        transaction.prepare_cached("SELECT EXISTS (SELECT 1 FROM search WHERE search MATCH ?1)")?;
    let is_used: bool = used.query_row([format!("{{facets}} : \"{word}\"")], |row| row.get(0))?;
    if !is_used {
        transaction
            .prepare_cached("DELETE FROM facets WHERE id = ?1")?
            .execute([number])?;
    }
    Ok(())
}

/// The word that stands for a facet in the full-text index.
pub(super) fn facet_word(number: i64) -> Option<char> {
    char::from_u32(FACET.checked_add(u32::try_from(number).ok()?)?)
}

/// Writes the document of a topic, by which it is found, unless it is as before.
fn index(transaction: &Transaction<'_>, topic: i64) -> IndexResult<()> {
    let before = document(transaction, topic)?;
    let now = composed(transaction, topic)?;
    if before == now {
        return Ok(());
    }
    if let Some(before) = &before {
        transaction
            .prepare_cached(
                "INSERT INTO search (search, rowid, names, addresses, facets)
                 VALUES ('delete', ?1, ?2, ?3, ?4)",
            )?
            .execute(params![
                topic,
                before.names,
                before.addresses,
                before.facets
            ])?;
    }
    let Some(now) = now else {
        transaction
            .prepare_cached("DELETE FROM documents WHERE topic = ?1")?
            .execute([topic])?;
        return Ok(());
    };
    transaction
        .prepare_cached(
            "INSERT INTO documents (topic, names, addresses, facets) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET names = ?2, addresses = ?3, facets = ?4",
        )?
        .execute(params![topic, now.names, now.addresses, now.facets])?;
    transaction
        .prepare_cached(
            "INSERT INTO search (rowid, names, addresses, facets) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![topic, now.names, now.addresses, now.facets])?;
    Ok(())
}

/// What a topic is found by.
#[derive(Eq, PartialEq)]
struct Document {
    names: String,
    addresses: String,
    facets: String,
}

fn document(transaction: &Transaction<'_>, topic: i64) -> IndexResult<Option<Document>> {
    let mut read = transaction
        .prepare_cached("SELECT names, addresses, facets FROM documents WHERE topic = ?1")?;
    let document = read.query_row([topic], |row| {
        Ok(Document {
            names: row.get(0)?,
            addresses: row.get(1)?,
            facets: row.get(2)?,
        })
    });
    Ok(document.optional()?)
}

/// The document of a topic as its facts are now; `None` if the topic is no longer there.
fn composed(transaction: &Transaction<'_>, topic: i64) -> IndexResult<Option<Document>> {
    let mut main = transaction.prepare_cached(
        "SELECT c.type_id, c.inactive, c.revoked IS NOT NULL
         FROM topics JOIN credentials c ON c.id = topics.main WHERE topics.id = ?1",
    )?;
    let main = main
        .query_row([topic], |row| {
            Ok((
                row.get::<_, String>(0)?,
                row.get::<_, bool>(1)?,
                row.get::<_, bool>(2)?,
            ))
        })
        .optional()?;
    let Some((type_id, inactive, revoked)) = main else {
        return Ok(None);
    };
    let of_kind = |kind: &str| -> IndexResult<String> {
        let mut texts = transaction
            .prepare_cached("SELECT normal FROM facts WHERE topic = ?1 AND kind = ?2 LIMIT ?3")?;
        let texts = texts.query_map(params![topic, kind, SEARCHED_MAX], |row| row.get(0))?;
        let texts: Vec<String> = texts.collect::<rusqlite::Result<_>>()?;
        Ok(texts.join(" "))
    };
    let status = [
        (
            FacetKind::Type,
            selfsame_book::number::credential_type(&type_id).to_string(),
        ),
        (FacetKind::Inactive, inactive.to_string()),
        (FacetKind::Revoked, revoked.to_string()),
    ];
    let mut facets = String::new();
    for (kind, value) in status {
        let facet = Facet { kind, value };
        let number = facet_number(transaction, &facet.to_string())?;
        facets.extend(number.and_then(facet_word));
        facets.push(' ');
    }
    let mut others =
        transaction.prepare_cached("SELECT facet FROM tokens WHERE topic = ?1 LIMIT ?2")?;
    let others = others.query_map([topic, SEARCHED_MAX], |row| row.get::<_, i64>(0))?;
    for number in others {
        facets.extend(facet_word(number?));
        facets.push(' ');
    }
    Ok(Some(Document {
        names: format!("{} {}", of_kind("n")?, of_kind("s")?),
        addresses: of_kind("a")?,
        facets,
    }))
}
