//! Questions of a search.

use std::collections::BTreeSet;

use selfsame_book::query::{Alternatives, Ordering};
use selfsame_book::text::{WORD_MAX, errors_forgiven};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::{OpenedBook, begin_search, trigrams};
use crate::backend::{AfterNumber, Beginning, FacetCount, KnownWord, TextKind, WantedTopics};
use crate::error::IndexResult;

/// The texts of a topic that a search is compared with.
const TEXTS_MAX: i64 = 20;
/// The most words that stand for a beginning in a query.
const SPELT_OUT: usize = 64;

/// The words that stand for the facets; `None` if no topic has one of them.
async fn facet_words(
    opened: &OpenedBook,
    wanted: &WantedTopics,
) -> IndexResult<Option<Vec<String>>> {
    let asked: BTreeSet<String> = wanted.facets.iter().map(ToString::to_string).collect();
    let asked: Vec<String> = asked.into_iter().collect();
    if asked.is_empty() {
        return Ok(Some(Vec::new()));
    }
    // A text with the character zero is in no index.
    if asked.iter().any(|facet| facet.contains('\0')) {
        return Ok(None);
    }
    let find = "SELECT id FROM $.facets WHERE facet = ANY ($1)";
    let found = opened.rows(find, &[(&asked, Type::TEXT_ARRAY)]).await?;
    if found.len() < asked.len() {
        return Ok(None);
    }
    // No word has a colon.
    let words = found.iter().map(|row| format!(":{}", row.get::<_, i32>(0)));
    Ok(Some(words.collect()))
}

/// The same groups, in which the words that begin as typed stand for a beginning that few words have: the topics of each
/// need not be listed to find those that have the other words too.
async fn spelt_out(opened: &OpenedBook, groups: &[Alternatives]) -> IndexResult<Vec<Alternatives>> {
    let mut spelt = groups.to_vec();
    for group in spelt.iter_mut().filter(|group| group.is_beginning) {
        let Some(beginning) = group.words.last() else {
            continue;
        };
        let find = "SELECT word FROM $.words WHERE word >= $1 AND word < $2 LIMIT $3";
        let end = format!("{beginning}\u{10ffff}");
        let most = sql(SPELT_OUT.saturating_add(1));
        let parameters: [super::Parameter<'_>; 3] = [
            (beginning, Type::TEXT),
            (&end, Type::TEXT),
            (&most, Type::INT8),
        ];
        let known = opened.rows(find, &parameters).await?;
        if known.len() <= SPELT_OUT {
            group
                .words
                .extend(known.iter().map(|row| row.get::<_, String>(0)));
            group.is_beginning = false;
        }
    }
    Ok(spelt)
}

/// The query for what is wanted; empty for nothing. Words have letters and digits only, and stand in quotation marks.
fn query(groups: &[Alternatives], facets: &[String]) -> String {
    let group = |group: &Alternatives| {
        let last = group.words.len().saturating_sub(1);
        let words = group.words.iter().enumerate();
        let words = words.map(|(place, word)| match place == last && group.is_beginning {
            true => format!("'{word}':*"),
            false => format!("'{word}'"),
        });
        let words: Vec<String> = words.collect();
        format!("({})", words.join(" | "))
    };
    let facet = |word: &String| format!("'{word}'");
    let parts: Vec<String> = groups
        .iter()
        .map(group)
        .chain(facets.iter().map(facet))
        .collect();
    parts.join(" & ")
}

pub(super) async fn having(
    mut opened: OpenedBook,
    wanted: &WantedTopics,
    limit: usize,
) -> IndexResult<Vec<i64>> {
    let Some(facets) = facet_words(&opened, wanted).await? else {
        return Ok(Vec::new());
    };
    let query = query(&spelt_out(&opened, &wanted.words).await?, &facets);
    if query.is_empty() {
        let all = "SELECT id FROM $.topics ORDER BY id LIMIT $1";
        return Ok(ids(opened.rows(all, &[(&sql(limit), Type::INT8)]).await?));
    }
    let schema = opened.schema.clone();
    let transaction = opened.client.transaction().await?;
    begin_search(&transaction).await?;
    let statement =
        format!("SELECT id FROM {schema}.topics WHERE search @@ $1::text::tsquery LIMIT $2");
    let parameters: [super::Parameter<'_>; 2] = [(&query, Type::TEXT), (&sql(limit), Type::INT8)];
    let mut found = ids(transaction.query_typed(&statement, &parameters).await?);
    transaction.commit().await?;
    found.sort_unstable();
    Ok(found)
}

pub(super) async fn having_of(
    opened: &OpenedBook,
    wanted: &WantedTopics,
    of: &[i64],
) -> IndexResult<Vec<i64>> {
    let Some(facets) = facet_words(opened, wanted).await? else {
        return Ok(Vec::new());
    };
    let query = query(&wanted.words, &facets);
    if query.is_empty() || of.is_empty() {
        return Ok(of.to_vec());
    }
    let statement = "SELECT topics.id FROM unnest($2) WITH ORDINALITY AS own (id, place)
        JOIN $.topics ON topics.id = own.id WHERE search @@ $1::text::tsquery ORDER BY own.place";
    let parameters: [super::Parameter<'_>; 2] = [(&query, Type::TEXT), (&of, Type::INT8_ARRAY)];
    Ok(ids(opened.rows(statement, &parameters).await?))
}

pub(super) async fn ordered(
    opened: &OpenedBook,
    of: &[i64],
    ordering: Ordering,
) -> IndexResult<Vec<i64>> {
    let order = match ordering {
        Ordering::Score => return Ok(of.to_vec()),
        Ordering::EffectiveDate => "effective",
        Ordering::EffectiveDateDescending => "effective DESC",
        Ordering::RevokedDate => "revoked NULLS LAST",
        Ordering::RevokedDateDescending => "revoked DESC NULLS LAST",
    };
    let statement = format!("SELECT id FROM $.topics WHERE id = ANY ($1) ORDER BY {order}, id");
    Ok(ids(opened
        .rows(&statement, &[(&of, Type::INT8_ARRAY)])
        .await?))
}

pub(super) async fn beginning(
    opened: &OpenedBook,
    normal: &str,
    limit: usize,
) -> IndexResult<Vec<Beginning>> {
    if normal.is_empty() {
        return Ok(Vec::new());
    }
    let statement = "SELECT topic, kind, text, label, normal FROM $.facts
        WHERE searched AND normal >= $1 AND normal < $2 ORDER BY normal, topic LIMIT $3";
    let end = format!("{normal}\u{10ffff}");
    let parameters: [super::Parameter<'_>; 3] = [
        (&normal, Type::TEXT),
        (&end, Type::TEXT),
        (&sql(limit), Type::INT8),
    ];
    let rows = opened.rows(statement, &parameters).await?;
    Ok(rows.iter().filter_map(text).collect())
}

pub(super) async fn texts(opened: &OpenedBook, of: &[i64]) -> IndexResult<Vec<Beginning>> {
    let statement = "SELECT found.topic, found.kind, found.text, found.label, found.normal
        FROM unnest($1) WITH ORDINALITY AS own (id, place), unnest(array['n', 'a', 's']) WITH ORDINALITY AS kinds (kind, rank),
        LATERAL (SELECT topic, kind, text, label, normal FROM $.facts
            WHERE topic = own.id AND facts.kind = kinds.kind COLLATE \"C\" ORDER BY label, text LIMIT $2) AS found
        ORDER BY own.place, kinds.rank";
    let parameters: [super::Parameter<'_>; 2] = [(&of, Type::INT8_ARRAY), (&TEXTS_MAX, Type::INT8)];
    let rows = opened.rows(statement, &parameters).await?;
    Ok(rows.iter().filter_map(text).collect())
}

fn text(row: &Row) -> Option<Beginning> {
    Some(Beginning {
        topic: row.get(0),
        kind: TextKind::of_letter(row.get(1))?,
        text: row.get(2),
        label: row.get(3),
        normal: row.get(4),
    })
}

pub(super) async fn knows(
    opened: &OpenedBook,
    word: &str,
    is_beginning: bool,
) -> IndexResult<bool> {
    let end = format!("{word}\u{10ffff}");
    let statement = match is_beginning {
        true => "SELECT EXISTS (SELECT FROM $.words WHERE word >= $1 AND word < $2)",
        false => "SELECT EXISTS (SELECT FROM $.words WHERE word = $1 AND $2 <> '')",
    };
    let parameters: [super::Parameter<'_>; 2] = [(&word, Type::TEXT), (&end, Type::TEXT)];
    let row = opened.row(statement, &parameters).await?;
    Ok(row.is_some_and(|row| row.get(0)))
}

pub(super) async fn similar(
    mut opened: OpenedBook,
    word: &str,
    limit: usize,
) -> IndexResult<Vec<KnownWord>> {
    let length = word.chars().take(WORD_MAX).count();
    let apart = errors_forgiven(word);
    let (least, most) = (
        sql(length.saturating_sub(apart)),
        sql(length.saturating_add(apart)),
    );
    let schema = opened.schema.clone();
    let trigrams = trigrams(&opened.client).await?;
    let transaction = opened.client.transaction().await?;
    begin_search(&transaction).await?;
    // Of a short word with two letters exchanged, few groups are left.
    transaction
        .batch_execute("SET LOCAL pg_trgm.similarity_threshold = 0.1")
        .await?;
    let statement = format!(
        "SELECT word, uses FROM {schema}.words
         WHERE word OPERATOR({trigrams}.%) $1 AND length(word) BETWEEN $2 AND $3
         ORDER BY {trigrams}.similarity(word, $1) DESC, uses DESC, word LIMIT $4"
    );
    let parameters: [super::Parameter<'_>; 4] = [
        (&word, Type::TEXT),
        (&least, Type::INT8),
        (&most, Type::INT8),
        (&sql(limit), Type::INT8),
    ];
    let rows = transaction.query_typed(&statement, &parameters).await?;
    transaction.commit().await?;
    let known = rows.iter().map(|row| KnownWord {
        word: row.get(0),
        uses: row.get(1),
    });
    Ok(known.collect())
}

pub(super) async fn facets(
    opened: &OpenedBook,
    of: &[i64],
    limit: usize,
) -> IndexResult<Vec<FacetCount>> {
    let statement = "SELECT facets.facet, counted.topics FROM (
            SELECT tokens.facet AS id, count(*) AS topics FROM unnest($1) AS own JOIN $.tokens ON tokens.topic = own
            GROUP BY tokens.facet ORDER BY topics DESC, tokens.facet LIMIT $2
        ) AS counted JOIN $.facets ON facets.id = counted.id ORDER BY counted.topics DESC, facets.facet COLLATE \"C\"";
    let parameters: [super::Parameter<'_>; 2] =
        [(&of, Type::INT8_ARRAY), (&sql(limit), Type::INT8)];
    let rows = opened.rows(statement, &parameters).await?;
    let counted = rows.iter().map(|row| FacetCount {
        facet: row.get(0),
        count: row.get(1),
    });
    Ok(counted.collect())
}

pub(super) async fn all_topics(opened: &OpenedBook, page: AfterNumber) -> IndexResult<Vec<i64>> {
    let statement = "SELECT id FROM $.topics WHERE id > $1 ORDER BY id LIMIT $2";
    let parameters: [super::Parameter<'_>; 2] = [
        (&page.after.unwrap_or(-1), Type::INT8),
        (&sql(page.limit), Type::INT8),
    ];
    Ok(ids(opened.rows(statement, &parameters).await?))
}

fn ids(rows: Vec<Row>) -> Vec<i64> {
    rows.into_iter().map(|row| row.get(0)).collect()
}

/// A number as SQL takes it.
pub(super) fn sql(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
