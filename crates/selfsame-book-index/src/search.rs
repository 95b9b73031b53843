//! Searches, made of the questions that each index answers: ranking, typing errors, autocompletion, facets.

use std::collections::{HashMap, HashSet};

use selfsame_book::query::{Alternatives, FOUND_MAX, Ordering, SearchQuery};
use selfsame_book::text::{distance, errors_forgiven, words};

use crate::backend::{
    Beginning, BookIndex, BookName, FacetCount, FoundTopics, TextKind, WantedTopics,
};
use crate::error::IndexResult;

/// How many names that begin like the search are looked at.
const BEGINNINGS: usize = 200;
/// How many topics are ranked by how well their names fit.
const RANKED: usize = 300;
/// How many similar words are compared with a word.
const SIMILAR: usize = 100;
/// How many similar words stand in for a word.
const STAND_INS: usize = 5;
/// How many topics autocompletion looks at beside names that begin like what is typed.
const SUGGESTED_OF: usize = 50;
/// How many facets are counted.
const FACETS_MAX: usize = 200;

/// A text that completes what is typed.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// The text.
    pub text: Beginning,
    /// How well it fits, from 0 to 1.
    pub score: f64,
}

/// The topics that fit a search. Typing errors are forgiven if nothing fits without, or if the search asks for that.
///
/// # Errors
/// Those of the index.
pub async fn search(
    index: &dyn BookIndex,
    book: &BookName,
    query: &SearchQuery,
) -> IndexResult<FoundTopics> {
    let mut wanted = WantedTopics {
        words: query.groups(),
        facets: query.filters.clone(),
    };
    if query.fuzzy {
        let mut found = corrected(index, book, query, &mut wanted).await?;
        found.corrected = true;
        return Ok(found);
    }
    let found = fitting(index, book, query, &wanted).await?;
    if found.ids.is_empty() && !wanted.words.is_empty() {
        return corrected(index, book, query, &mut wanted).await;
    }
    Ok(found)
}

/// The topics that fit if words with typing errors are read as similar ones.
async fn corrected(
    index: &dyn BookIndex,
    book: &BookName,
    query: &SearchQuery,
    wanted: &mut WantedTopics,
) -> IndexResult<FoundTopics> {
    let mut corrected = false;
    for group in &mut wanted.words {
        corrected |= correct(index, book, group, query.fuzzy).await?;
    }
    if !corrected && !query.fuzzy {
        return Ok(FoundTopics::default());
    }
    let mut found = fitting(index, book, query, wanted).await?;
    found.corrected = corrected;
    Ok(found)
}

/// Puts similar words beside a word that the index does not have; with `always`, also beside one that it has. Returns
/// whether there are some.
async fn correct(
    index: &dyn BookIndex,
    book: &BookName,
    group: &mut Alternatives,
    always: bool,
) -> IndexResult<bool> {
    let Some(word) = group.words.first().cloned() else {
        return Ok(false);
    };
    let most = errors_forgiven(&word);
    let is_known = index.knows(book, &word, group.is_beginning).await?;
    if most == 0 || is_known && !always {
        return Ok(false);
    }
    let similar = index.similar(book, &word, SIMILAR).await?;
    let near = similar.into_iter().filter_map(|other| {
        let apart = distance(&word, &other.word, most)?;
        (apart > 0).then_some((apart, other))
    });
    let mut near: Vec<_> = near.collect();
    near.sort_by(|one, other| {
        let by_use = other.1.uses.cmp(&one.1.uses);
        one.0.cmp(&other.0).then(by_use)
    });
    near.truncate(STAND_INS);
    let has_some = !near.is_empty();
    // The word itself stays last: it alone may be the beginning of another one.
    let own = std::mem::take(&mut group.words);
    group.words = near.into_iter().map(|(_, other)| other.word).collect();
    group.words.extend(own);
    Ok(has_some)
}

async fn fitting(
    index: &dyn BookIndex,
    book: &BookName,
    query: &SearchQuery,
    wanted: &WantedTopics,
) -> IndexResult<FoundTopics> {
    let mut ids = index
        .having(book, wanted, FOUND_MAX.saturating_add(1))
        .await?;
    let and_more = ids.len() > FOUND_MAX;
    ids.truncate(FOUND_MAX);
    let ids = match query.ordering {
        Ordering::Score if wanted.words.is_empty() => ids,
        Ordering::Score => ranked(index, book, query, Fitting { wanted, ids }).await?,
        other => index.ordered(book, &ids, other).await?,
    };
    Ok(FoundTopics {
        ids,
        and_more,
        corrected: false,
    })
}

/// What fits a search, in the order of the index.
struct Fitting<'a> {
    wanted: &'a WantedTopics,
    ids: Vec<i64>,
}

/// Topics in the order in which they fit: those with the very name first, then those whose name begins so, then those
/// of whose name the words are the greatest part.
async fn ranked(
    index: &dyn BookIndex,
    book: &BookName,
    query: &SearchQuery,
    Fitting { wanted, ids }: Fitting<'_>,
) -> IndexResult<Vec<i64>> {
    let begin = index.beginning(book, &query.normal, BEGINNINGS).await?;
    let mut seen = HashSet::new();
    let begin: Vec<i64> = begin
        .iter()
        .map(|text| text.topic)
        .filter(|topic| seen.insert(*topic))
        .collect();
    // A topic that begins so may be beyond those that were found.
    let mut best = index.having_of(book, wanted, &begin).await?;
    let known: HashSet<i64> = best.iter().copied().collect();
    let others = ids.iter().copied().filter(|topic| !known.contains(topic));
    best.extend(others.take(RANKED.saturating_sub(best.len())));
    let texts = index.texts(book, &best).await?;
    let mut scores: HashMap<i64, f64> = HashMap::new();
    for text in &texts {
        let score = score(query, text);
        let best = scores.entry(text.topic).or_default();
        *best = best.max(score);
    }
    let of = |topic: &i64| scores.get(topic).copied().unwrap_or_default();
    best.sort_by(|one, other| of(other).total_cmp(&of(one)).then(one.cmp(other)));
    let first: HashSet<i64> = best.iter().copied().collect();
    best.extend(ids.into_iter().filter(|topic| !first.contains(topic)));
    best.truncate(FOUND_MAX);
    Ok(best)
}

/// How well a text fits a search, from 0 to 1.
fn score(query: &SearchQuery, text: &Beginning) -> f64 {
    let weight = match text.kind {
        TextKind::Name | TextKind::Source => 1.0,
        TextKind::Address | TextKind::Attribute => 0.5,
    };
    if text.normal == query.normal {
        return weight;
    }
    let own = words(&text.text);
    let last = query.words.len().saturating_sub(1);
    let fits = |(place, word): (usize, &String)| {
        own.iter()
            .any(|own| match place == last && !query.is_whole {
                true => own.starts_with(word.as_str()),
                false => own == word,
            })
    };
    let fitting = query.words.iter().enumerate().filter(|word| fits(*word));
    let begins = text.normal.starts_with(&query.normal);
    let part = ratio(fitting.count(), own.len().max(query.words.len()));
    weight * (0.5 * part + if begins { 0.4 } else { 0.0 })
}

fn ratio(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    number(part) / number(whole.max(1))
}

/// Texts that complete what is typed, best first.
///
/// # Errors
/// Those of the index.
pub async fn autocomplete(
    index: &dyn BookIndex,
    book: &BookName,
    query: &SearchQuery,
    limit: usize,
) -> IndexResult<Vec<Suggestion>> {
    if query.words.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = WantedTopics {
        words: query.groups(),
        facets: query.filters.clone(),
    };
    let mut texts = index.beginning(book, &query.normal, BEGINNINGS).await?;
    if !query.filters.is_empty() {
        let only = WantedTopics {
            words: Vec::new(),
            facets: wanted.facets.clone(),
        };
        let topics: Vec<i64> = texts.iter().map(|text| text.topic).collect();
        let allowed = index.having_of(book, &only, &topics).await?;
        let allowed: HashSet<i64> = allowed.into_iter().collect();
        texts.retain(|text| allowed.contains(&text.topic));
    }
    if texts.len() < limit {
        let more = index.having(book, &wanted, SUGGESTED_OF).await?;
        texts.extend(index.texts(book, &more).await?);
    }
    let suggest = |text: Beginning| Suggestion {
        score: score(query, &text),
        text,
    };
    let mut found: Vec<Suggestion> = texts.into_iter().map(suggest).collect();
    found.retain(|one| one.score > 0.0);
    found.sort_by(|one, other| {
        let by_text = one.text.normal.cmp(&other.text.normal);
        let by_topic = one.text.topic.cmp(&other.text.topic);
        other
            .score
            .total_cmp(&one.score)
            .then(by_text)
            .then(by_topic)
    });
    let mut seen = HashSet::new();
    found.retain(|one| seen.insert((one.text.topic, one.text.kind, one.text.text.clone())));
    found.truncate(limit);
    Ok(found)
}

/// How many of the found topics have which facets.
///
/// # Errors
/// Those of the index.
pub async fn facets(
    index: &dyn BookIndex,
    book: &BookName,
    found: &FoundTopics,
) -> IndexResult<Vec<FacetCount>> {
    index.facets(book, &found.ids, FACETS_MAX).await
}
