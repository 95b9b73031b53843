//! Questions of a search.

use rusqlite::{Connection, OptionalExtension as _, params};
use selfsame_book::query::{Alternatives, Ordering};
use selfsame_book::text::{errors_forgiven, trigrams};

use super::changed::facet_word;
use crate::backend::{AfterNumber, Beginning, FacetCount, KnownWord, TextKind, WantedTopics};
use crate::error::IndexResult;

/// The texts of a topic that a search is compared with.
const TEXTS_MAX: i64 = 20;

/// Where the records were read to.
pub(super) fn cursor(connection: &Connection) -> IndexResult<Option<String>> {
    let mut read = connection.prepare_cached("SELECT cursor FROM state")?;
    Ok(read.query_row([], |row| row.get(0)).optional()?)
}

/// The words that stand for the facets; `None` if no topic has one of them.
fn facet_words(connection: &Connection, wanted: &WantedTopics) -> IndexResult<Option<Vec<String>>> {
    let mut words = Vec::new();
    let mut read = connection.prepare_cached("SELECT id FROM facets WHERE facet = ?1")?;
    for facet in &wanted.facets {
        let number = read
            .query_row([facet.to_string()], |row| row.get::<_, i64>(0))
            .optional()?;
        match number.and_then(facet_word) {
            Some(word) => words.push(word.to_string()),
            None => return Ok(None),
        }
    }
    Ok(Some(words))
}

/// The expression of FTS5 for what is wanted. Words have letters and digits only, and stand in quotation marks.
fn expression(groups: &[Alternatives], facets: &[String]) -> String {
    let group = |group: &Alternatives| {
        let last = group.words.len().saturating_sub(1);
        let words = group.words.iter().enumerate();
        let words = words.map(|(place, word)| match place == last && group.is_beginning {
            true => format!("\"{word}\" *"),
            false => format!("\"{word}\""),
        });
        let words: Vec<String> = words.collect();
        format!("{{names addresses}} : ({})", words.join(" OR "))
    };
    let facet = |word: &String| format!("{{facets}} : \"{word}\"");
    let parts: Vec<String> = groups
        .iter()
        .map(group)
        .chain(facets.iter().map(facet))
        .collect();
    parts.join(" AND ")
}

pub(super) fn having(
    connection: &Connection,
    wanted: &WantedTopics,
    limit: usize,
) -> IndexResult<Vec<i64>> {
    let Some(facets) = facet_words(connection, wanted)? else {
        return Ok(Vec::new());
    };
    let limit = sql(limit);
    if wanted.words.is_empty() && facets.is_empty() {
        let mut all = connection.prepare_cached("SELECT id FROM topics ORDER BY id LIMIT ?1")?;
        let all = all.query_map([limit], |row| row.get(0))?;
        return Ok(all.collect::<rusqlite::Result<_>>()?);
    }
    let expression = expression(&wanted.words, &facets);
    let mut matching =
        connection.prepare_cached("SELECT rowid FROM search WHERE search MATCH ?1 LIMIT ?2")?;
    let matching = matching.query_map(params![expression, limit], |row| row.get(0))?;
    Ok(matching.collect::<rusqlite::Result<_>>()?)
}

/// Reads the documents of the topics, which costs less than to ask the full-text index for each.
pub(super) fn having_of(
    connection: &Connection,
    wanted: &WantedTopics,
    of: &[i64],
) -> IndexResult<Vec<i64>> {
    let Some(facets) = facet_words(connection, wanted)? else {
        return Ok(Vec::new());
    };
    let mut read = connection
        .prepare_cached("SELECT names, addresses, facets FROM documents WHERE topic = ?1")?;
    let mut having = Vec::new();
    for topic in of {
        let mut rows = read.query([topic])?;
        let Some(row) = rows.next()? else {
            continue;
        };
        let column =
            |at: usize| Ok::<_, rusqlite::Error>(row.get_ref(at)?.as_str().unwrap_or_default());
        let (names, addresses, own) = (column(0)?, column(1)?, column(2)?);
        let has_word = |group: &Alternatives| {
            let mut words = names.split(' ').chain(addresses.split(' '));
            words.any(|word| fits(group, word))
        };
        let has_facet = |facet: &String| own.split(' ').any(|one| one == facet);
        if wanted.words.iter().all(has_word) && facets.iter().all(has_facet) {
            having.push(*topic);
        }
    }
    Ok(having)
}

/// Whether a word is one of a group.
fn fits(group: &Alternatives, word: &str) -> bool {
    let is_one = group.words.iter().any(|one| one == word);
    let last = group.words.last().filter(|_| group.is_beginning);
    is_one || last.is_some_and(|last| word.starts_with(last.as_str()))
}

pub(super) fn ordered(
    connection: &Connection,
    of: &[i64],
    ordering: Ordering,
) -> IndexResult<Vec<i64>> {
    let order = match ordering {
        Ordering::Score => return Ok(of.to_vec()),
        Ordering::EffectiveDate => "topics.effective",
        Ordering::EffectiveDateDescending => "topics.effective DESC",
        Ordering::RevokedDate => "topics.revoked NULLS LAST",
        Ordering::RevokedDateDescending => "topics.revoked DESC NULLS LAST",
    };
    let query = format!(
        "SELECT topics.id FROM json_each(?1) AS own CROSS JOIN topics ON topics.id = own.value
         ORDER BY {order}, topics.id"
    );
    let mut ordered = connection.prepare_cached(&query)?;
    let ordered = ordered.query_map([serde_json::to_string(of)?], |row| row.get(0))?;
    Ok(ordered.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn beginning(
    connection: &Connection,
    normal: &str,
    limit: usize,
) -> IndexResult<Vec<Beginning>> {
    if normal.is_empty() {
        return Ok(Vec::new());
    }
    let mut read = connection.prepare_cached(
        "SELECT topic, kind, text, label, normal FROM facts
         WHERE searched = 1 AND normal >= ?1 AND normal < ?2 ORDER BY normal, topic LIMIT ?3",
    )?;
    let end = format!("{normal}\u{10ffff}");
    let mut rows = read.query(params![normal, end, sql(limit)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.extend(text(row)?);
    }
    Ok(found)
}

pub(super) fn texts(connection: &Connection, of: &[i64]) -> IndexResult<Vec<Beginning>> {
    let mut read = connection.prepare_cached(
        "SELECT topic, kind, text, label, normal FROM facts
         WHERE topic = ?1 AND kind = ?2 LIMIT ?3",
    )?;
    let mut found = Vec::new();
    for topic in of {
        for kind in [TextKind::Name, TextKind::Address, TextKind::Source] {
            let mut rows = read.query(params![topic, kind.letter(), TEXTS_MAX])?;
            while let Some(row) = rows.next()? {
                found.extend(text(row)?);
            }
        }
    }
    Ok(found)
}

fn text(row: &rusqlite::Row<'_>) -> IndexResult<Option<Beginning>> {
    let kind = TextKind::of_letter(row.get_ref(1)?.as_str().unwrap_or_default());
    let Some(kind) = kind else {
        return Ok(None);
    };
    Ok(Some(Beginning {
        topic: row.get(0)?,
        kind,
        text: row.get(2)?,
        label: row.get(3)?,
        normal: row.get(4)?,
    }))
}

pub(super) fn knows(connection: &Connection, word: &str, is_beginning: bool) -> IndexResult<bool> {
    let end = match is_beginning {
        true => format!("{word}\u{10ffff}"),
        false => format!("{word}\u{0}"),
    };
    let mut known = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM words WHERE word >= ?1 AND word < ?2)")?;
    Ok(known.query_row([word, &end], |row| row.get(0))?)
}

pub(super) fn similar(
    connection: &Connection,
    word: &str,
    limit: usize,
) -> IndexResult<Vec<KnownWord>> {
    let length = word.chars().count();
    let apart = errors_forgiven(word);
    let mut read = connection.prepare_cached(
        "SELECT words.word, words.uses FROM (
            SELECT grams.word AS id, count(*) AS shared
            FROM json_each(?1) AS own CROSS JOIN grams ON grams.gram = own.value
            WHERE grams.length BETWEEN ?2 AND ?3
            GROUP BY grams.word ORDER BY shared DESC LIMIT ?4
         ) AS near JOIN words ON words.id = near.id ORDER BY near.shared DESC, words.uses DESC",
    )?;
    let grams = serde_json::to_string(&trigrams(word))?;
    let (least, most) = (length.saturating_sub(apart), length.saturating_add(apart));
    let words = read.query_map(params![grams, sql(least), sql(most), sql(limit)], |row| {
        Ok(KnownWord {
            word: row.get(0)?,
            uses: row.get(1)?,
        })
    })?;
    Ok(words.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn facets(
    connection: &Connection,
    of: &[i64],
    limit: usize,
) -> IndexResult<Vec<FacetCount>> {
    let mut read = connection.prepare_cached(
        "SELECT facets.facet, counted.topics FROM (
            SELECT tokens.facet AS id, count(*) AS topics
            FROM json_each(?1) AS own CROSS JOIN tokens ON tokens.topic = own.value
            GROUP BY tokens.facet ORDER BY topics DESC, tokens.facet LIMIT ?2
         ) AS counted JOIN facets ON facets.id = counted.id ORDER BY counted.topics DESC, facets.facet",
    )?;
    let counted = read.query_map(params![serde_json::to_string(of)?, sql(limit)], |row| {
        Ok(FacetCount {
            facet: row.get(0)?,
            count: row.get(1)?,
        })
    })?;
    Ok(counted.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn all_topics(connection: &Connection, page: AfterNumber) -> IndexResult<Vec<i64>> {
    let mut read =
        connection.prepare_cached("SELECT id FROM topics WHERE id > ?1 ORDER BY id LIMIT ?2")?;
    let topics = read.query_map([page.after.unwrap_or(-1), sql(page.limit)], |row| {
        row.get(0)
    })?;
    Ok(topics.collect::<rusqlite::Result<_>>()?)
}

/// A number as SQL takes it.
pub(super) fn sql(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
